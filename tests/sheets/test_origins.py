"""Sources leads to the rows that rest on a source; Prices says how old each price is."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pytest
from edits import Edited
from openpyxl.utils import range_boundaries

from gpuecon_xl.catalog import shipped
from gpuecon_xl.lang import LANGUAGES, load
from gpuecon_xl.reader import book_values, open_book
from gpuecon_xl.schema import TABLES
from gpuecon_xl.sheets.info import origin


def table(book: Any, name: str) -> list[dict[str, Any]]:
    """Cells of a table, row by row."""
    ws = next(ws for ws in book.worksheets if name in ws.tables)
    left, top, right, bottom = range_boundaries(ws.tables[name].ref)
    heads = [ws.cell(top, c).value for c in range(left, right + 1)]
    return [{h: ws.cell(r, left + i) for i, h in enumerate(heads)} for r in range(top + 1, bottom + 1)]


def origins(cell: Any) -> list[str]:
    """The sources of a row; files of one repository are one source."""
    return [origin(s.strip()) for s in str(cell.value).split(" ; ")]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_each_source_leads_to_its_first_row(books: dict[str, Any], lang: str) -> None:
    book, texts = books[lang], load(lang)
    titles = {texts(f"table.{name}"): t for name, t in TABLES.items()}
    counted = dict.fromkeys(TABLES, 0)
    for row in table(book, "SourceList"):
        used = re.fullmatch(r"(.+) \((\d+)\)", row["used_in"].value)
        assert used is not None
        kind = titles[used[1]]
        sheet, _, cell = row["first"].value.rpartition("!")
        assert row["first"].hyperlink.location == f"'{sheet}'!{cell}"
        assert row["source"].value in origins(book[sheet][cell]), (row["first"].value, book[sheet][cell].value)
        of_kind = [origins(r["source"]) for r in table(book, kind.book_name) if r["source"].value]
        assert sum(row["source"].value in s for s in of_kind) == int(used[2])
        assert next(r["source"].coordinate for r in table(book, kind.book_name) if row["source"].value in origins(r["source"])) == cell
        counted[kind.name] += int(used[2])
    for name, count in counted.items():
        assert count >= sum(bool(r["source"]) for r in shipped().rows(name)), name


def ages(path: Path) -> list[tuple[Any, Any, Any]]:
    """Card, age and state of every row of PriceAge, as the core computes them."""
    book = open_book(path)
    region = book.regions["PriceAge"]
    values = book_values(path)[region.sheet]
    return [tuple(values[book.place(region, c, r).partition("!")[2]] for c in ("gpu", "age_days", "age_state")) for r in range(region.count)]  # type: ignore[misc]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_age_of_each_price(templates: dict[str, Path], lang: str) -> None:
    texts, today, limit = load(lang), shipped().assumptions["as_of"], shipped().assumptions["price_age_days_max"]
    want = []
    for r in shipped().rows("prices"):
        days = (today - r["as_of"]).days
        want.append((r["gpu"], days, texts("word.price_old" if days > limit else "word.price_fresh")))
    found = ages(templates[lang])
    assert found[: len(want)] == want
    assert set(found[len(want) :]) == {("", "", "")}
    assert {texts("word.price_old"), texts("word.price_fresh")} == {w[2] for w in want}


def test_age_follows_the_inputs(templates: dict[str, Path], tmp_path: Path) -> None:
    e = Edited(templates["en"])
    e.put("Prices", "L4", "as_of", dt.date(2026, 11, 29))
    e.put("Prices", "L40", "as_of", None)
    e.put("Assumptions", "price_age_days_max", "value", 0)
    found = {gpu: (age, state) for gpu, age, state in ages(e.save(tmp_path / "edited.xlsx"))}
    assert found["L4"] == (1, "older than the limit")
    assert found["L40"] == ("", "no valid date")


def test_old_dates_are_marked_in_the_table_itself(books: dict[str, Any]) -> None:
    for book in books.values():
        ws = next(ws for ws in book.worksheets if "Prices" in ws.tables)
        first, *_, last = (r["as_of"].coordinate for r in table(book, "Prices"))
        rules = [rule for area in ws.conditional_formatting if str(area.sqref) == f"{first}:{last}" for rule in area.rules]
        assert [r.formula for r in rules] == [[f'AND($A9<>"",IF(ISNUMBER(${first}),as_of-${first}>price_age_days_max,TRUE))']]
