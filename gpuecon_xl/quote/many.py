"""Many quotes from a table: in parallel, each file whole or not there, a summary and a log beside them.

Here: which rows are new, changed or done, numbers, workers. Not here: one quote (`offer`, `book`).
The log ``quotes.jsonl`` has one line for each row; a second run with nothing changed writes nothing. While a run works, it
notes each finished file in ``.quotes-run-….jsonl``, so that a run that was killed goes on where it was.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from gpuecon_xl import __version__
from gpuecon_xl.catalog import Catalog
from gpuecon_xl.errors import BadFile
from gpuecon_xl.files import replace_file
from gpuecon_xl.quote import book, fields, numbering, offer, source
from gpuecon_xl.quote.seller import Seller

LOG, SUMMARY, COUNTER = "quotes.jsonl", "summary.xlsx", "numbers.json"
CHUNK = 16
NOTE = re.compile(r"\.quotes-run-\d+\.jsonl")


@dataclass
class Outcome:
    """What a run did."""

    written: int = 0
    unchanged: int = 0
    failed: list[dict[str, Any]] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class _Row:
    src: source.Source
    key: str
    digest: str
    number: str = ""


# ------------------------------------------------------------------------------------------------ workers

_held: dict[str, Any] = {}


def _start(seller: Seller, catalog: Catalog, today: dt.date, folder: str) -> None:
    _held.update(seller=seller, catalog=catalog, today=today, folder=Path(folder))


def _check(rows: list[source.Source]) -> list[tuple[str, str]]:
    """For each row the number that it gives itself, and what is wrong with it."""
    out = []
    for src in rows:
        try:
            out.append((offer.make(src, _held["seller"], _held["catalog"], _held["today"]).number, ""))
        except BadFile as error:
            out.append(("", "; ".join(error.problems) or str(error)))
    return out


def _write(rows: list[tuple[source.Source, str]]) -> list[dict[str, Any]]:
    out = []
    for src, number in rows:
        made = offer.make(src, _held["seller"], _held["catalog"], _held["today"]).numbered(number)
        content = book.workbook(made)
        name = file_name(number)
        replace_file(_held["folder"] / name, content)
        sums = made.totals
        out.append({"file": name, "sha256": hashlib.sha256(content).hexdigest(), "customer": str(made.customer["name"]), "date": str(made.date),
                    "valid_until": str(made.valid_until), "language": made.lang, "currency": made.currency, "net": str(sums.net),
                    "vat": str(sums.vat), "gross": str(sums.gross)})  # fmt: skip
    return out


def file_name(number: str) -> str:
    """A file name from an offer number."""
    safe = re.sub(r"[^\w.\-]+", "_", number, flags=re.ASCII).strip("._") or "offer"
    if safe != number:
        safe += "-" + hashlib.sha256(number.encode()).hexdigest()[:6]
    return f"{safe}.xlsx"


# ------------------------------------------------------------------------------------------------ a run


def run(table: Path, folder: Path, seller: Seller, catalog: Catalog, facts: str, today: dt.date, *, counter: Path | None = None,
        workers: int | None = None, force: bool = False, tell: Callable[[int, int], None] = lambda done, all_: None) -> Outcome:  # fmt: skip
    """Write the quotes of a table into a folder.

    Parameters
    ----------
    facts : digest of the workbook and the seller file: when it changes, every quote is written anew.
    counter : counter file; not given: the seller's, else ``numbers.json`` in the folder.
    force : write also what is done, and what was changed by hand.  tell : called with how many of how many are done.
    """
    if not folder.is_dir():
        raise BadFile(f"{folder}: no such folder; make it first" if not folder.exists() else f"{folder} is a file; the name of a folder is due")
    rows = _rows(table, facts)
    if not rows:
        raise BadFile(f"{table} has no rows; one request a row is due below the heads")
    with numbering.locked(folder / LOG):
        for part in folder.glob(".gpuecon-*.part"):  # of a run that was killed: the lock says that none works here
            part.unlink(missing_ok=True)
        done = {} if force else _done(folder)
        out = Outcome()
        open_: list[_Row] = []
        for row in rows:
            entry = done.get(row.key)
            if entry and entry.get("digest") == row.digest and _same(folder, entry):
                out.unchanged += 1
            else:
                open_.append(row)
        count = workers or os.cpu_count() or 1
        entries: dict[str, dict[str, Any]] = {k: done[k] for k in (r.key for r in rows) if k in done and k not in {r.key for r in open_}}
        if open_:
            _work(open_, entries, out, folder, seller, catalog, today, counter or seller.counter or folder / COUNTER, done, force,
                  min(count, -(-len(open_) // CHUNK)), lambda n: tell(out.unchanged + n, len(rows)))  # fmt: skip
        out.entries = [{**entries[r.key], "row": r.src.row} for r in rows]
        out.failed = [e for e in out.entries if "error" in e]
        _record(folder, out.entries)
    return out


def _rows(table: Path, facts: str) -> list[_Row]:
    out: list[_Row] = []
    seen: dict[str, int] = {}
    for src in source.rows(table):
        tree = src.tree
        customer = tree.get("customer") or {}
        name = str(customer.get("name", "")) if isinstance(customer, dict) else ""
        if tree.get("id"):
            key = f"{tree['id']}|{name}"
        else:
            key = hashlib.sha256(json.dumps(_public(tree), sort_keys=True, default=str).encode()).hexdigest()[:24]
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            key += f"#{seen[key]}"
        digest = hashlib.sha256(json.dumps([tree, facts, __version__], sort_keys=True, default=str).encode()).hexdigest()
        out.append(_Row(src, key, digest))
    return out


def _public(tree: Any) -> Any:
    """A request without its private fields: a new margin is the same quote."""
    if isinstance(tree, dict):
        return {k: _public(v) for k, v in tree.items() if k not in fields.PRIVATE}
    return [_public(v) for v in tree] if isinstance(tree, list) else tree


def _notes(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if NOTE.fullmatch(p.name))


def _done(folder: Path) -> dict[str, dict[str, Any]]:
    """What earlier runs finished, by key; a line cut off by a kill is passed over."""
    out: dict[str, dict[str, Any]] = {}
    for path in (folder / LOG, *_notes(folder)):
        if not path.is_file():
            continue
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                entry = json.loads(line)
                if "error" not in entry:
                    out[str(entry["key"])] = entry
            except (ValueError, KeyError, TypeError):
                continue
    return out


def _same(folder: Path, entry: dict[str, Any]) -> bool:
    path = folder / str(entry.get("file", ""))
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == entry.get("sha256")


def _work(rows: list[_Row], entries: dict[str, dict[str, Any]], out: Outcome, folder: Path, seller: Seller, catalog: Catalog, today: dt.date,
          counter: Path, done: dict[str, dict[str, Any]], force: bool, workers: int, tell: Callable[[int], None]) -> None:  # fmt: skip
    asked = [str(x["workload"]) for r in rows for x in r.src.tree.get("line", []) if isinstance(x, dict) and x.get("workload")]
    if asked:
        _recommend(catalog, asked)
    _start(seller, catalog, today, str(folder))
    note = folder / f".quotes-run-{os.getpid()}.jsonl"
    with _pool(workers, (seller, catalog, today, str(folder))) as submit, note.open("a", encoding="utf-8") as journal:
        good: list[_Row] = []
        for part, checked in submit(_check, _chunks(rows), lambda part: [r.src for r in part]):
            for row, (own, problem) in zip(part, checked, strict=True):
                old = done.get(row.key)
                if not problem and old and not force and (folder / str(old["file"])).is_file() and not _same(folder, old):
                    problem = f"{row.src.at()}: {old['file']} was changed since it was written; move it away, or give --force"
                if problem:
                    entries[row.key] = {"row": row.src.row, "key": row.key, "error": problem}
                else:
                    row.number = own
                    good.append(row)
        good.sort(key=lambda r: r.src.row)
        unnumbered = [r for r in good if not r.number]
        numbered = numbering.numbers(counter, [r.key for r in unnumbered], seller.prefix, seller.digits, seller.start) if unnumbered else []
        for row, number in zip(unnumbered, numbered, strict=True):
            row.number = number
        good = _single(good, entries)
        finished = len(rows) - len(good)
        tell(finished)
        for part, made in submit(_write, _chunks(good), lambda part: [(r.src, r.number) for r in part]):
            for row, entry in zip(part, made, strict=True):
                entries[row.key] = {"row": row.src.row, "key": row.key, "number": row.number, "digest": row.digest, **entry}
                journal.write(json.dumps(entries[row.key], ensure_ascii=False) + "\n")
                out.written += 1
                finished += 1
            journal.flush()
            tell(finished)


def _single(rows: list[_Row], entries: dict[str, dict[str, Any]]) -> list[_Row]:
    """Rows whose number no other row has."""
    taken: dict[str, int] = {e["file"]: e["row"] for e in entries.values() if "file" in e}
    out = []
    for row in rows:
        other = taken.setdefault(file_name(row.number), row.src.row)
        if other != row.src.row:
            problem = f"{row.src.at('number')} is {row.number!r}, as in line {other}; one number for each quote is due"
            entries[row.key] = {"row": row.src.row, "key": row.key, "error": problem}
        else:
            out.append(row)
    return out


def _recommend(catalog: Catalog, workloads: list[str]) -> None:
    """Compute the recommendations once, before the workers are made; a wrong name is told with its row later."""
    from gpuecon_xl.errors import GpueconError
    from gpuecon_xl.recommendation import recommended

    for name in dict.fromkeys(workloads):
        try:
            recommended(catalog, catalog.find("workloads", name))
        except GpueconError:
            continue


def _chunks(rows: list[_Row]) -> Iterator[list[_Row]]:
    for i in range(0, len(rows), CHUNK):
        yield rows[i : i + CHUNK]


class _pool:  # noqa: N801  (used as a function)
    """Workers; with one, the work is done here. At most two chunks wait for each worker, so that memory does not grow."""

    def __init__(self, workers: int, held: tuple[Any, ...]) -> None:
        self.workers = workers
        self.pool = ProcessPoolExecutor(workers, initializer=_start, initargs=held) if workers > 1 else None

    def __enter__(self) -> Callable[..., Iterator[tuple[list[_Row], list[Any]]]]:
        return self.submit

    def __exit__(self, *_: object) -> None:
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)

    def submit(
        self, work: Callable[[Any], list[Any]], parts: Iterable[list[_Row]], argument: Callable[[list[_Row]], Any]
    ) -> Iterator[tuple[list[_Row], list[Any]]]:
        """Each part with what came of it, in any order."""
        if self.pool is None:
            for part in parts:
                yield part, work(argument(part))
            return
        waiting: dict[Future[list[Any]], list[_Row]] = {}
        left = iter(parts)
        while True:
            for part in islice(left, 2 * self.workers - len(waiting)):
                waiting[self.pool.submit(work, argument(part))] = part
            if not waiting:
                return
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield waiting.pop(future), future.result()


# ------------------------------------------------------------------------------------------------ log and summary


def _record(folder: Path, entries: list[dict[str, Any]]) -> None:
    log = "".join(json.dumps(e, ensure_ascii=False, sort_keys=True) + "\n" for e in entries).encode()
    for name, content in ((SUMMARY, summary(entries)), (LOG, log)):
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            replace_file(path, content)
    for note in _notes(folder):  # what they say is in the log now; the lock says that no other run works here
        note.unlink(missing_ok=True)


def summary(entries: list[dict[str, Any]]) -> bytes:
    """The summary book: a line for each row, and what is wrong with those that failed."""
    import xlsxwriter

    out = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(out, options) as wb:
        wb.set_properties({"title": "quotes", "created": dt.datetime(2026, 11, 30)})
        look = {"font_name": "Arial", "font_size": 10, "valign": "top"}
        head, text = wb.add_format({**look, "bold": True, "bg_color": "#DCE6F1", "bottom": 1}), wb.add_format({**look, "text_wrap": True})
        money, bad = wb.add_format({**look, "num_format": "#,##0.00"}), wb.add_format({**look, "text_wrap": True, "font_color": "#B03A48"})
        ws = wb.add_worksheet("Quotes")
        columns = (("row", 7), ("number", 20), ("customer", 40), ("date", 12), ("valid_until", 12), ("currency", 10), ("net", 16), ("vat", 14),
                   ("gross", 16), ("file", 30), ("error", 90))  # fmt: skip
        for i, (name, wide) in enumerate(columns):
            ws.set_column(i, i, wide)
            ws.write_string(0, i, name.replace("_", " "), head)
        for r, entry in enumerate(entries, start=1):
            for i, (name, _) in enumerate(columns):
                value = entry.get(name)
                if name == "row":
                    ws.write_number(r, i, int(entry["row"]), text)
                elif name in ("net", "vat", "gross") and value is not None:
                    ws.write_number(r, i, float(value), money)
                elif value is not None:
                    ws.write_string(r, i, str(value)[:2000], bad if name == "error" else text)
        ws.freeze_panes(1, 3)
        ws.autofilter(0, 0, len(entries), len(columns) - 1)
        ws.set_landscape()
        ws.fit_to_pages(1, 0)
    return out.getvalue()
