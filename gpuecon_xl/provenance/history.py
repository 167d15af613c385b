"""Prices by date: every price that the catalogue ever held, each with its source.

Here: reading ``catalog/history/prices.csv``, which only ever grows, and picking a card's rows. Not here: the prices that count today
(``catalog/prices.csv``, `catalog`).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from gpuecon_xl.catalog import MAX_FILE_BYTES, Row, key_of, parse_cell, shipped, shipped_folder, summed_up
from gpuecon_xl.errors import BadFile, NameNotFound, nearest
from gpuecon_xl.schema import TABLES

COLUMNS = ("gpu", "low", "typical", "high", "currency", "channel", "source", "as_of", "confidence")

# A dated price says at least which card, how much, in which money, from where and when.
NEEDED = ("gpu", "typical", "currency", "source", "as_of")


def shipped_history() -> Path:
    """Where the shipped history lies."""
    return shipped_folder() / "history" / "prices.csv"


def read_history(path: Path | None = None) -> list[Row]:
    """Every dated price, in the file's order, checked.

    Parameters
    ----------
    path : a history of your own with the same header row; the shipped one when not given.

    Raises
    ------
    BadFile
        Naming every line and column that cannot be used.
    """
    path = shipped_history() if path is None else path
    if not path.is_file():
        raise BadFile(f"{path}: no such file; the path of a CSV file with dated prices is due")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise BadFile(f"{path} has {path.stat().st_size} bytes; at most {MAX_FILE_BYTES} are read")
    problems: list[str] = []
    rows: list[Row] = []
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            missing = [c for c in COLUMNS if c not in (reader.fieldnames or [])]
            if missing:
                raise BadFile(f"{path} line 1 lacks the column {', '.join(missing)}; the header {','.join(COLUMNS)} is due")
            for line in reader:
                rows.append(_row(line, f"{path.name} line {reader.line_num}", problems))
    except UnicodeDecodeError:
        raise BadFile(f"{path} is not UTF-8 text; save it as CSV UTF-8") from None
    except csv.Error as error:
        raise BadFile(f"{path} is no CSV file ({error}); one with the header {','.join(COLUMNS)} is due") from None
    if problems:
        raise BadFile(summed_up(str(path), problems), problems)
    return rows


def _row(line: dict[str, str], place: str, problems: list[str]) -> Row:
    row: Row = {}
    for column in COLUMNS:
        value, problem = parse_cell(line[column], TABLES["prices"].by_name[column])
        if problem is None and value is None and column in NEEDED:
            problem = "is empty; a dated price needs it"
        if problem is not None:
            problems.append(f"{place} column {column} {problem}")
        row[column] = value
    return row


def prices_by_date(gpu: str | None = None, path: Path | None = None) -> list[Row]:
    """Dated prices of one card, or of every card, oldest first within a card and currency.

    Parameters
    ----------
    gpu : name or alias of a card; every card when not given.

    Raises
    ------
    NameNotFound
        For a card that the catalogue does not know, or that never had a price.
    """
    rows = read_history(path)
    if gpu is not None:
        known = {key_of(r["gpu"]) for r in rows}
        card = gpu if key_of(gpu) in known else str(shipped().find("gpus", gpu)["gpu"])
        rows = [r for r in rows if key_of(r["gpu"]) == key_of(card)]
        if not rows:
            raise NameNotFound(
                f"no price of {card} is in the history; nearest with one: {nearest(card, sorted({r['gpu'] for r in read_history(path)}))}"
            )
    order = {card: n for n, card in enumerate(dict.fromkeys(r["gpu"] for r in rows))}
    return sorted(rows, key=lambda r: (order[r["gpu"]], r["currency"], r["as_of"]))


def courses(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    """Rows of each card and currency that have at least two dates: what a line can be drawn through."""
    found: dict[tuple[str, str], list[Row]] = {}
    for r in rows:
        found.setdefault((r["gpu"], r["currency"]), []).append(r)
    return {k: v for k, v in found.items() if len({r["as_of"] for r in v}) > 1}
