"""Formulas of the template: functions of Excel 2007, no volatile ones, no constants, the same text in every language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from parts import formulas, head, tokens
from parts import parts as parts_of

from gpuecon_xl.lang import LANGUAGES
from gpuecon_xl.units import ALL

# What the template may use: functions of Excel 2007, none that differs between engines or needs an add-in.
EXCEL_2007 = frozenset(
    [
        "ABS",
        "AND",
        "AVERAGE",
        "CEILING",
        "COUNT",
        "COUNTA",
        "COUNTBLANK",
        "COUNTIF",
        "COUNTIFS",
        "DATE",
        "EXP",
        "FALSE",
        "FIND",
        "FLOOR",
        "IF",
        "IFERROR",
        "INDEX",
        "INT",
        "IRR",
        "ISBLANK",
        "ISERROR",
        "ISNA",
        "ISNUMBER",
        "ISTEXT",
        "LARGE",
        "LEFT",
        "LEN",
        "LN",
        "LOG",
        "LOOKUP",
        "LOWER",
        "MATCH",
        "MAX",
        "MID",
        "MIN",
        "MOD",
        "MONTH",
        "NA",
        "NOT",
        "OR",
        "POWER",
        "RANK",
        "RIGHT",
        "ROUND",
        "ROUNDDOWN",
        "ROUNDUP",
        "ROW",
        "SEARCH",
        "SIGN",
        "SMALL",
        "SQRT",
        "SUBSTITUTE",
        "SUBTOTAL",
        "SUM",
        "SUMIF",
        "SUMIFS",
        "SUMPRODUCT",
        "TEXT",
        "TRIM",
        "TRUE",
        "UPPER",
        "VALUE",
        "VLOOKUP",
        "YEAR",
    ]
)
VOLATILE = frozenset(["INDIRECT", "OFFSET", "NOW", "TODAY", "RAND", "RANDBETWEEN", "INFO", "CELL"])
ROUND_DIGITS = 9
LONGEST = 1_400


@pytest.fixture(scope="module")
def used(books: dict[str, Any]) -> dict[str, list[str]]:
    return formulas(books["en"])


def test_there_are_formulas_to_look_at(used: dict[str, list[str]]) -> None:
    assert len(used) > 500
    assert sum(map(len, used.values())) > 20_000


def test_functions_are_of_the_2007_set_and_none_is_volatile(used: dict[str, list[str]]) -> None:
    names = {t.text.upper() for f in used for t in tokens(f) if t.kind == "function"}
    assert names >= {"IF", "INDEX", "MATCH", "SUMPRODUCT", "ROUND"}
    assert names <= EXCEL_2007, sorted(names - EXCEL_2007)
    assert not names & VOLATILE
    assert not EXCEL_2007 & VOLATILE


def test_no_constant_inside_a_formula(used: dict[str, list[str]]) -> None:
    wrong = []
    for f, cells in used.items():
        for t in tokens(f):
            if t.kind != "number":
                continue
            digits = t.function == "ROUND" and t.argument == 1 and float(t.text) == ROUND_DIGITS
            if not digits and float(t.text) not in ALL:
                wrong.append(f"{t.text} in {cells[0]} and {len(cells) - 1} more: {f[:160]}")
    assert not wrong, head(sorted(wrong), 40)


def test_length(used: dict[str, list[str]]) -> None:
    assert not [(cells[0], len(f)) for f, cells in used.items() if len(f) > LONGEST]


def test_references_are_whole(used: dict[str, list[str]], books: dict[str, Any]) -> None:
    book = books["en"]
    columns = {(t.name, c.name) for ws in book.worksheets for t in ws.tables.values() for c in t.tableColumns}
    names = set(book.defined_names)
    wrong = []
    for f, cells in used.items():
        for t in tokens(f):
            if t.kind == "reference" and "!" not in t.text:
                table, _, rest = t.text.partition("[")
                column = rest.removeprefix("[#This Row],[").rstrip("]")
                if (table, column) not in columns:
                    wrong.append(f"{t.text} in {cells[0]}")
            elif (t.kind == "name" and t.text not in names and t.text not in ("TRUE", "FALSE")) or t.kind == "error":
                wrong.append(f"{t.text} in {cells[0]}")
            elif t.kind == "reference":
                wrong.append(f"{t.text} in {cells[0]}: an address, not a table's column or a name")
    assert not wrong, head(wrong)


def test_a_this_row_reference_stays_in_its_table(used: dict[str, list[str]], books: dict[str, Any]) -> None:
    from openpyxl.utils import range_boundaries
    from openpyxl.utils.cell import coordinate_from_string

    where = {t.name: (ws.title, range_boundaries(t.ref)) for ws in books["en"].worksheets for t in ws.tables.values()}
    wrong = []
    for f, cells in used.items():
        for table in {t.text.partition("[")[0] for t in tokens(f) if "#This Row" in t.text}:
            sheet, (_, top, _, bottom) = where[table]
            for cell in cells:
                title, _, address = cell.rpartition("!")
                if title != sheet or not top < coordinate_from_string(address)[1] <= bottom:
                    wrong.append(f"{table} of this row in {cell}")
    assert not wrong, head(wrong)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_short_this_row_no_array_formula_no_link_no_macro(templates: dict[str, Path], lang: str) -> None:
    parts = parts_of(templates[lang])
    assert not [n for n in parts if "external" in n.lower() or "vba" in n.lower() or n.endswith(".bin") or "connections" in n.lower()]
    for name, body in parts.items():
        if not name.endswith((".xml", ".rels")):
            continue
        assert b'TargetMode="External"' not in body or name.startswith("xl/worksheets/_rels/"), name
        if name.startswith("xl/worksheets/sheet"):
            assert b"[@" not in body, name
            assert b't="array"' not in body, name
            assert b' cm="' not in body, name
            assert b'<f t="' not in body, name
            assert b"_xlfn" not in body, name
            assert b"_xlws" not in body, name
            assert b"_xlpm" not in body, name


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_address_outside_in_links(templates: dict[str, Path], lang: str) -> None:
    outside = [n for n, body in parts_of(templates[lang]).items() if n.endswith(".rels") and b'TargetMode="External"' in body]
    assert not outside


@pytest.mark.parametrize("lang", ["de", "da"])
def test_formulas_are_the_same_in_every_language(books: dict[str, Any], lang: str) -> None:
    one, other = books["en"], books[lang]
    assert len(one.worksheets) == len(other.worksheets)
    for a, b in zip(one.worksheets, other.worksheets, strict=True):
        here = {c.coordinate: c.value for row in a.iter_rows() for c in row if c.data_type == "f"}
        there = {c.coordinate: c.value for row in b.iter_rows() for c in row if c.data_type == "f"}
        assert here == there, f"{a.title}: {head([k for k in here.keys() | there.keys() if here.get(k) != there.get(k)])}"


@pytest.mark.parametrize("lang", ["de", "da"])
def test_tables_and_names_are_the_same_in_every_language(books: dict[str, Any], lang: str) -> None:
    def told(book: Any) -> list[tuple[str, str, tuple[str, ...]]]:
        return [(t.name, t.ref, tuple(c.name for c in t.tableColumns)) for ws in book.worksheets for t in ws.tables.values()]

    def places(book: Any) -> dict[str, str]:
        return {n: d.attr_text.rpartition("!")[2] for n, d in book.defined_names.items()}

    assert told(books["en"]) == told(books[lang])
    assert places(books["en"]) == places(books[lang])
