"""What stands where in the template: sheets, tables, names, blank rows, limits of size, protection, validation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from openpyxl.utils import get_column_letter, range_boundaries
from parts import head, parts

from gpuecon_xl.catalog import shipped
from gpuecon_xl.lang import LANGUAGES, load
from gpuecon_xl.schema import BY_BOOK_NAME

SHEETS = [
    "Cover",
    "Assumptions",
    "Prices",
    "Cards",
    "Models",
    "Constants",
    "Market",
    "Workloads",
    "Builds",
    "Throughput",
    "Scaling",
    "Fit",
    "Candidates",
    "TCO",
    "Cost",
    "Perf per Euro",
    "Rent",
    "Own vs API",
    "Break-even",
    "Cash-flow",
    "Matrix",
    "Decision",
    "Benchmarks",
    "Sensitivity",
    "Functions",
    "Checks",
    "Sources",
    "Changes",
]
INPUT_SHEETS = {"Assumptions", "Prices", "Cards", "Models", "Constants", "Market", "Workloads", "Builds", "Benchmarks", "Changes"}

# Columns that people edit on the other sheets; those of the catalogue's tables are all inputs.
MORE_INPUTS = {
    "Measured": {"id"},
    "Speed": {"model", "gpu", "precision", "kv", "batch", "input_tokens", "output_tokens", "gpus"},
    "Scaling": {"gpu", "model", "precision", "kv", "tp", "batch", "input_tokens", "output_tokens"},
    "FitMatrix": {"model"},
    "FitCards": {"gpu"},
    "Cost": {"tok_s_measured"},
    "RentCost": {"rate", "id"},
    "BaseBurst": {"rate", "base_cards", "burst_card_hours"},
    "FxRates": {"date", "usd_per_eur"},
    "Versus": {"gpu", "rate", "rel_wanted"},
    "ChangeLog": {"date", "who", "what"},
}
SPARE_ROWS = 25
INPUT_FONT, INPUT_FILL = "FF1F4FD8", "FFFFF9DB"


def tables(book: Any) -> dict[str, tuple[Any, Any, tuple[int, int, int, int]]]:
    """Tables of a book by name: sheet, table, left, top, right, bottom."""
    return {t.name: (ws, t, range_boundaries(t.ref)) for ws in book.worksheets for t in ws.tables.values()}


def inputs_of(table: str) -> set[str]:
    if table in BY_BOOK_NAME:
        return {f.name for f in BY_BOOK_NAME[table].fields if f.in_book}
    return MORE_INPUTS.get(table, set())


def test_sheets(books: dict[str, Any]) -> None:
    assert books["en"].sheetnames == SHEETS
    for lang in ("de", "da"):
        assert len(books[lang].sheetnames) == len(SHEETS)
        assert books[lang].sheetnames != SHEETS
    for book in books.values():
        assert all(ws.sheet_state == "visible" for ws in book.worksheets)
        assert book.active.title == book.sheetnames[0]


def test_every_input_table_is_there(books: dict[str, Any]) -> None:
    found = tables(books["en"])
    assert set(BY_BOOK_NAME) | set(MORE_INPUTS) <= set(found)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_names_and_headers_are_legal(books: dict[str, Any], lang: str) -> None:
    book = books[lang]
    address = re.compile(r"^[A-Za-z]{1,3}[0-9]+$")
    names = [t.name for ws in book.worksheets for t in ws.tables.values()] + list(book.defined_names)
    assert len({n.lower() for n in names}) == len(names)
    for n in names:
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", n), n
        assert not address.match(n), n
        assert n.lower() not in ("r", "c"), n
        assert not re.fullmatch(r"[rR]\d*[cC]\d*", n), n
    for name, (ws, t, (left, top, right, _)) in tables(book).items():
        heads = [c.name for c in t.tableColumns]
        assert all(re.fullmatch(r"[A-Za-z0-9_]+", h) for h in heads), (name, heads)
        assert len({h.lower() for h in heads}) == len(heads), name
        assert [ws.cell(top, c).value for c in range(left, right + 1)] == heads, name


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_assumption_is_a_name_and_nothing_else_is(books: dict[str, Any], lang: str) -> None:
    book = books[lang]
    assert set(book.defined_names) == set(shipped().assumptions)
    ws, t, (left, top, _, bottom) = tables(book)["Assumptions"]
    heads = [c.name for c in t.tableColumns]
    at = get_column_letter(left + heads.index("value"))
    rows = {ws.cell(r, left + heads.index("name")).value: r for r in range(top + 1, bottom + 1)}
    for name, defined in book.defined_names.items():
        assert defined.attr_text.replace("'", "") == f"{ws.title}!${at}${rows[name]}", name


def test_tables_do_not_overlap_and_blank_cells_lie_between_them(books: dict[str, Any]) -> None:
    for ws in books["en"].worksheets:
        spans = [range_boundaries(t.ref) for t in ws.tables.values()]
        for i, (l1, t1, r1, b1) in enumerate(spans):
            for l2, t2, r2, b2 in spans[i + 1 :]:
                assert r1 + 1 < l2 or r2 + 1 < l1 or b1 + 1 < t2 or b2 + 1 < t1, (ws.title, spans)


def test_nothing_stands_under_a_table_that_grows(books: dict[str, Any]) -> None:
    for name, (ws, _, (left, _, right, bottom)) in tables(books["en"]).items():
        if name in BY_BOOK_NAME:
            under = [c.coordinate for row in ws.iter_rows(bottom + 1, ws.max_row, left, right) for c in row if c.value is not None]
            assert not under, (name, under[:5])


def test_blank_rows(books: dict[str, Any]) -> None:
    for name, (ws, t, (left, top, right, bottom)) in tables(books["en"]).items():
        if name not in BY_BOOK_NAME:
            continue
        filled = [r for r in range(top + 1, bottom + 1) if any(ws.cell(r, c).value is not None for c in range(left, right + 1))]
        key = left + [c.name for c in t.tableColumns].index(BY_BOOK_NAME[name].key)
        assert filled == list(range(top + 1, top + 1 + len(filled))), name
        assert all(ws.cell(r, key).value for r in filled), name
        assert len(filled) == len(shipped().rows(BY_BOOK_NAME[name].name)), name
        assert bottom - top - len(filled) == (0 if name == "Assumptions" else SPARE_ROWS), name


def test_a_blank_row_computes_to_empty_text(books: dict[str, Any], core: dict[str, Any]) -> None:
    """Rows of computed tables whose own row of the input table is blank: nothing but empty text in them."""
    found = tables(books["en"])
    for name, guard in (
        ("TcoCards", "gpu"),
        ("Fleet", "build"),
        ("Need", "workload"),
        ("RentYears", "rate"),
        ("OpenOwn", "model"),
        ("Matrix", "workload"),
        ("Candidates", "key"),
    ):
        ws, t, (left, top, _, bottom) = found[name]
        heads = [c.name for c in t.tableColumns]
        values = core["en"][ws.title]
        blank = 0
        for r in range(top + 1, bottom + 1):
            if values[f"{get_column_letter(left + heads.index(guard))}{r}"] != "":
                continue
            blank += 1
            row = {h: values[f"{get_column_letter(left + i)}{r}"] for i, h in enumerate(heads) if f"{get_column_letter(left + i)}{r}" in values}
            assert set(row.values()) == {""}, (name, r, {k: v for k, v in row.items() if v != ""})
        assert blank, name


def test_size(templates: dict[str, Path], books: dict[str, Any]) -> None:
    rows = {n: (b - t, r - left + 1) for n, (_, _, (left, t, r, b)) in tables(books["en"]).items()}
    assert rows["Need"][0] <= 16
    assert rows["Fleet"][0] <= 40
    assert rows["Candidates"][0] <= 700
    assert rows["Candidates"][1] <= 56
    for path in templates.values():
        assert path.stat().st_size < 1_500_000


@pytest.mark.parametrize("lang", LANGUAGES)
def test_protection_and_looks_of_cells(books: dict[str, Any], lang: str) -> None:
    book = books[lang]
    inputs = {
        (ws.title, r, left + i)
        for name, (ws, t, (left, top, _, bottom)) in tables(book).items()
        for i, c in enumerate(t.tableColumns)
        if c.name in inputs_of(name)
        for r in range(top + 1, bottom + 1)
    }
    assert len(inputs) > 5_000
    wrong, seen = [], {}
    for ws, english in zip(book.worksheets, SHEETS, strict=True):
        assert ws.protection.sheet == (english not in INPUT_SHEETS), english
        assert not ws.protection.password, english
        assert not ws.protection.hashValue, english
        for row in ws.iter_rows():
            for c in row:
                place = (ws.title, c.row, c.column)
                look = seen.get(c._style)
                if look is None:
                    font, fill = c.font, c.fill
                    look = seen[c._style] = (
                        c.protection.locked,
                        font.color.rgb if font.color is not None and font.color.type == "rgb" else None,
                        fill.fgColor.rgb if fill.fill_type == "solid" else None,
                    )
                locked, font_rgb, fill_rgb = look
                if place in inputs:
                    if locked or font_rgb != INPUT_FONT or fill_rgb != INPUT_FILL or c.data_type == "f":
                        wrong.append(f"{ws.title}!{c.coordinate}: an input, but {look}, {c.data_type}")
                elif not locked:
                    wrong.append(f"{ws.title}!{c.coordinate}: unlocked, but no input")
                elif c.data_type == "f" and (fill_rgb == INPUT_FILL or font_rgb == INPUT_FONT):
                    wrong.append(f"{ws.title}!{c.coordinate}: a formula that looks like an input")
    assert not wrong, head(wrong)


def test_validation_on_every_input_column(books: dict[str, Any]) -> None:
    book = books["en"]
    rules = {
        ws.title: [(v, [range_boundaries(str(r)) for r in v.sqref.ranges]) for v in ws.data_validations.dataValidation] for ws in book.worksheets
    }
    wrong = []
    for name, (ws, t, (left, top, _, bottom)) in tables(book).items():
        for i, c in enumerate(t.tableColumns):
            if c.name not in inputs_of(name):
                continue
            column = left + i
            over = [v for v, spans in rules[ws.title] if any(a <= column <= x and b <= top + 1 and bottom <= y for a, b, x, y in spans)]
            if len(over) != 1:
                wrong.append(f"{name}.{c.name}: {len(over)} validations")
                continue
            rule, field = over[0], BY_BOOK_NAME[name].by_name[c.name] if name in BY_BOOK_NAME else None
            if not rule.showInputMessage or not rule.prompt:
                wrong.append(f"{name}.{c.name}: no message")
            if field is not None and field.unit and (load("en").get(f"unit.{field.unit}") or field.unit) not in (rule.prompt or ""):
                wrong.append(f"{name}.{c.name}: the message lacks the unit {field.unit}: {rule.prompt!r}")
            if field is not None and field.numeric and rule.type not in ("decimal", "whole"):
                wrong.append(f"{name}.{c.name}: a number, validated as {rule.type}")
            if field is not None and field.choices and rule.type != "list":
                wrong.append(f"{name}.{c.name}: a choice, validated as {rule.type}")
            if field is not None and field.kind == "date" and rule.type != "date":
                wrong.append(f"{name}.{c.name}: a date, validated as {rule.type}")
    assert not wrong, head(wrong, 40)


def test_lists_of_validation_look_at_the_columns_they_mean(books: dict[str, Any]) -> None:
    for book in books.values():
        columns = {}
        for ws, t, (left, top, _, bottom) in tables(book).values():
            for i, c in enumerate(t.tableColumns):
                letter = get_column_letter(left + i)
                columns[f"{ws.title}!${letter}${top + 1}:${letter}${bottom}"] = (t.name, c.name)
        for ws in book.worksheets:
            for rule in ws.data_validations.dataValidation:
                if rule.type == "list" and "!" in rule.formula1:
                    assert rule.formula1.replace("'", "").lstrip("=") in columns, (ws.title, rule.sqref, rule.formula1)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_charts_have_titles_and_show_cells_that_hold_figures(books: dict[str, Any], templates: dict[str, Path], lang: str) -> None:
    import openpyxl

    cached = openpyxl.load_workbook(templates[lang], data_only=True)
    charts = {n: b.decode() for n, b in parts(templates[lang]).items() if re.match(r"xl/charts/chart\d+\.xml", n)}
    assert len(charts) >= 6
    for name, body in charts.items():
        titles = re.findall(r"<c:title>.*?</c:title>", body, re.S)
        assert len(titles) == 3, f"{name}: a title and two axes' titles are due, {len(titles)} found"
        for ref in re.findall(r"<c:val><c:numRef><c:f>(.*?)</c:f>", body):
            sheet, _, area = ref.rpartition("!")
            ws = cached[sheet.strip("'").replace("''", "'")]
            left, top, right, bottom = range_boundaries(area.replace("$", ""))
            values = [c.value for row in ws.iter_rows(top, bottom, left, right) for c in row]
            assert sum(isinstance(v, int | float) for v in values) >= 2, (name, ref, values)
            assert not [v for v in values if isinstance(v, str) and v.startswith("#")], (name, ref, values)


def test_print_set_up_and_frozen_heads(books: dict[str, Any]) -> None:
    """Each sheet is one page wide; where tables stand side by side, each of them is."""
    for ws in books["en"].worksheets:
        starts = sorted({range_boundaries(t.ref)[0] for t in ws.tables.values()})
        if ws.col_breaks.brk:
            assert [b.id for b in ws.col_breaks.brk] == [s - 1 for s in starts[1:]], ws.title
            assert 30 <= ws.page_setup.scale <= 100, ws.title
        else:
            assert ws.sheet_properties.pageSetUpPr.fitToPage, ws.title
            assert (ws.page_setup.fitToWidth or 1) == 1, ws.title
            assert ws.page_setup.fitToHeight == 0, ws.title
        assert ws.freeze_panes, ws.title
        assert ws.oddHeader.left.text, ws.title
        assert ws.oddFooter.right.text, ws.title


@pytest.mark.parametrize("key", ["constants", "market"])
def test_tables_side_by_side_print_each_from_a_page_of_its_own(books: dict[str, Any], key: str) -> None:
    """All of them on one page would be too small to read."""
    ws = books["en"][load("en")(f"sheet.{key}")]
    assert len(ws.tables) > 2
    assert len(ws.col_breaks.brk) == len(ws.tables) - 1
