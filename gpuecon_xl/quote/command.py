"""The commands `gpuecon quote` and `gpuecon quotes`.

Here: arguments, files that are read and written, what is told. Not here: what a quote says (`offer`, `book`), the run over a table (`many`).
"""

from __future__ import annotations

import argparse
import datetime as dt
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuecon_xl.errors import BadFile

if TYPE_CHECKING:
    from gpuecon_xl.catalog import Catalog
    from gpuecon_xl.quote.seller import Seller

Busy = Callable[[str], AbstractContextManager[None]]


def _shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--book", metavar="BOOK", help="edited workbook with prices, builds and assumptions; not given: the shipped catalogue")
    parser.add_argument("--seller", metavar="FILE", help="seller file; not given: seller.toml beside the request")
    parser.add_argument("--counter", metavar="FILE", help="counter file for offer numbers; not given: the seller file's")
    parser.add_argument("--pdf", action="store_true", help="also a PDF beside the workbook, by LibreOffice")
    parser.add_argument("--force", action="store_true", help="overwrite what exists")


def add_quote_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `gpuecon quote`."""
    parser.add_argument("request", metavar="REQUEST", nargs="?", help="quote request, TOML or YAML")
    parser.add_argument("-o", "--out", metavar="OUT.xlsx", help="workbook to write")
    _shared(parser)
    parser.add_argument("--schema", action="store_true", help="print the JSON schema of a request, for editors, and end")


def add_quotes_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `gpuecon quotes`."""
    parser.add_argument("requests", metavar="REQUESTS", help="CSV or xlsx with one request a row; heads such as customer.name and line1.gpu")
    parser.add_argument("-o", "--out", metavar="DIR", required=True, help="folder to write into")
    _shared(parser)
    parser.add_argument("--workers", metavar="NUMBER", help="processes; not given: one for each core")


def run_quote(args: argparse.Namespace, busy: Busy, print_json: Callable[[Any], None]) -> None:
    """One quote."""
    if args.schema:
        from gpuecon_xl.quote.fields import json_schema

        print_json(json_schema())
        return
    if not args.request or not args.out:
        raise BadFile("a request and -o OUT.xlsx are due; see gpuecon quote --help")
    from gpuecon_xl.files import check_target
    from gpuecon_xl.quote import book, numbering, offer, pdf, source

    request, out = Path(args.request), Path(args.out)
    if out.suffix.lower() != ".xlsx":
        raise BadFile(f"{out} is no name of a workbook; one that ends in .xlsx is due")
    src = source.read(request)
    check_target(out, args.force)
    beside = out.with_suffix(".pdf")
    if args.pdf:
        pdf.office()
        check_target(beside, args.force)
    seller, _ = _seller(args, request)
    catalog, _ = _catalog(args, busy)
    made = offer.make(src, seller, catalog, dt.date.today())
    number = made.number
    if not number:
        counter = Path(args.counter) if args.counter else seller.counter
        key = f"{src.tree.get('id') or request.stem}|{made.customer['name']}"
        number = numbering.numbers(counter, [key], seller.prefix, seller.digits, seller.start)[0] if counter else offer.content_number(made)
    made = made.numbered(number)
    with busy(f"Writing {out.name}"), tempfile.TemporaryDirectory(dir=out.parent, prefix=".gpuecon-") as folder:
        part = Path(folder) / out.name
        part.write_bytes(book.workbook(made))
        if args.pdf:
            os.replace(pdf.convert([part], made.lang, Path(folder))[0], beside)
        os.replace(part, out)
    told = {"file": str(out), "number": number, "customer": made.customer["name"], "net": str(made.totals.net), "vat": str(made.totals.vat),
            "gross": str(made.totals.gross), "currency": made.currency, "pdf": str(beside) if args.pdf else None}  # fmt: skip
    if args.json:
        print_json(told)
        return
    print(f"{out}: offer {number}, net {made.totals.net} {made.currency}, VAT {made.totals.vat}, total {made.totals.gross}")
    if args.pdf:
        print(beside)


def run_quotes(args: argparse.Namespace, busy: Busy, print_json: Callable[[Any], None]) -> None:
    """Many quotes; a row that failed makes the exit code 1."""
    from gpuecon_xl.quote import many, pdf

    table, folder = Path(args.requests), Path(args.out)
    if args.pdf:
        pdf.office()
    workers = _workers(args.workers)
    seller, seller_digest = _seller(args, table)
    catalog, book_digest = _catalog(args, busy)
    with _progress() as tell:
        done = many.run(table, folder, seller, catalog, seller_digest + book_digest, dt.date.today(),
                        counter=Path(args.counter) if args.counter else None, workers=workers, force=args.force, tell=tell)  # fmt: skip
    if args.pdf:
        with busy("Printing"):
            _print_all(folder, done.entries)
    counts = {"written": done.written, "unchanged": done.unchanged, "failed": len(done.failed)}
    if args.json:
        print_json({**counts, "folder": str(folder), "log": many.LOG, "summary": many.SUMMARY, "errors": done.failed})
    else:
        print(f"{folder}: {done.written} written, {done.unchanged} unchanged, {len(done.failed)} failed; see {many.SUMMARY} and {many.LOG}")
        for entry in done.failed:
            print(f"  {entry['error']}")
    if done.failed:
        raise SystemExit(1)


def _print_all(folder: Path, entries: list[dict[str, Any]]) -> None:
    """A PDF beside each workbook that has none, or an older one."""
    from gpuecon_xl.quote import pdf

    wanted: dict[str, list[Path]] = {}
    for entry in entries:
        if "error" in entry:
            continue
        book = folder / str(entry["file"])
        beside = book.with_suffix(".pdf")
        if not beside.is_file() or beside.stat().st_mtime < book.stat().st_mtime:
            wanted.setdefault(str(entry["language"]), []).append(book)
    for lang, books in wanted.items():
        for i in range(0, len(books), 20):
            pdf.convert(books[i : i + 20], lang, folder)


def _workers(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.strip().isdigit() or not 1 <= int(text) <= 256:
        raise BadFile(f"--workers is {text[:20]!r}; a whole number from 1 to 256 is due")
    return int(text)


def _seller(args: argparse.Namespace, request: Path) -> tuple[Seller, str]:
    """The seller file, and a digest of it and of what it names."""
    from gpuecon_xl.quote.seller import read_seller

    path = Path(args.seller) if args.seller else request.parent / "seller.toml"
    seller = read_seller(path)
    digest = hashlib.sha256(path.read_bytes())
    for company in seller.companies.values():
        digest.update(company.logo)
    for file in sorted(seller.texts.glob("*.toml")) if seller.texts and seller.texts.is_dir() else ():
        digest.update(file.read_bytes())
    return seller, digest.hexdigest()


def _catalog(args: argparse.Namespace, busy: Busy) -> tuple[Catalog, str]:
    from gpuecon_xl.catalog import load_catalog

    if args.book is None:
        return load_catalog(), ""
    path = Path(args.book)
    with busy(f"Reading {path.name}"):
        catalog = load_catalog(path)
    return catalog, hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, on a terminal only."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, all_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(TextColumn("Quotes"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, all_: bar.update(task, completed=done, total=all_)
