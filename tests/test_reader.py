"""The way back: an edited workbook becomes a catalogue, or every problem is named by sheet and cell; the file stays as it is."""

from __future__ import annotations

import datetime as dt
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from edits import Edited, give_values
from oracles import needs_libreoffice, same, soffice_convert

import gpuecon_xl as gx
from gpuecon_xl.catalog import Catalog, load_catalog, shipped
from gpuecon_xl.errors import BadFile
from gpuecon_xl.lang import LANGUAGES
from gpuecon_xl.reader import book_values, parse_local, read_catalog
from gpuecon_xl.schema import BY_BOOK_NAME, TABLES


def read(path: Path) -> Catalog:
    """The catalogue of a workbook; the file must stay as it is, also when it is refused."""
    before, stamp = path.read_bytes(), path.stat().st_mtime_ns
    try:
        return read_catalog(path)
    finally:
        assert path.read_bytes() == before
        assert path.stat().st_mtime_ns == stamp


def refused(path: Path) -> list[str]:
    """Problems of a workbook that must be refused; the message holds each of them."""
    with pytest.raises(BadFile) as caught:
        read(path)
    problems = caught.value.problems or [str(caught.value)]
    assert all(p in str(caught.value) for p in problems)
    return problems


@pytest.fixture(scope="session")
def slim(templates: dict[str, Path], once: Callable[..., Any]) -> dict[str, Path]:
    """The templates' sheets of inputs only: quick to edit; a user may delete the sheets that he does not need."""

    def make(folder: Path) -> dict[str, Path]:
        out = {}
        for lang, path in templates.items():
            book = openpyxl.load_workbook(path)
            for ws in list(book.worksheets):
                if not any(t in BY_BOOK_NAME for t in ws.tables):
                    book.remove(ws)
            out[lang] = folder / f"slim-{lang}.xlsx"
            book.save(out[lang])
        return out

    found: dict[str, Path] = once("slim", make)
    return found


@pytest.fixture
def edit(slim: dict[str, Path], tmp_path: Path) -> Callable[..., Edited]:
    return lambda lang="en": Edited(slim[lang])


def row_of(catalog: Catalog, table: str, name: str) -> dict[str, Any]:
    return next(r for r in catalog.rows(table) if r[TABLES[table].key] == name)


def names(catalog: Catalog, table: str) -> list[str]:
    return [r[TABLES[table].key] for r in catalog.rows(table)]


# ---- unchanged ----


@pytest.mark.parametrize("lang", LANGUAGES)
def test_unchanged_book_is_the_shipped_catalogue(templates: dict[str, Path], lang: str) -> None:
    got = read(templates[lang])
    assert_same(got, shipped())
    assert got.assumptions == shipped().assumptions
    assert [w for w in got.warnings if "!" in w] == []  # nothing in a fresh book needs looking at, but the age of prices may


def assert_same(got: Catalog, wanted: Catalog) -> None:
    assert set(got.tables) == set(wanted.tables) == set(TABLES)
    for table, rows in wanted.tables.items():
        assert names(got, table) == names(wanted, table)
        for a, b in zip(got.rows(table), rows, strict=True):
            assert a == b, (table, {k: (a.get(k), b.get(k)) for k in a.keys() | b.keys() if a.get(k) != b.get(k)})
            assert {k: type(v) for k, v in a.items()} == {k: type(v) for k, v in b.items()}, table


def test_load_catalog_and_functions_take_a_book(templates: dict[str, Path]) -> None:
    path = templates["da"]
    assert gx.tco3y("L4", catalog=str(path)) == gx.tco3y("L4")
    assert gx.tco3y("L4", catalog=path) == gx.tco3y("L4", catalog=load_catalog(path))


# ---- edits that are read ----


@pytest.mark.parametrize("lang", LANGUAGES)
def test_changed_values(edit: Callable[..., Edited], tmp_path: Path, lang: str) -> None:
    e = edit(lang)
    e.put("Prices", "RTX 5090", "typical", 3_111.5)
    e.put("Prices", "L4", "low", None)
    e.put("Prices", "L40", "currency", "USD")
    e.put("Prices", "RTX 4090", "as_of", dt.date(2026, 10, 1))
    e.put("Assumptions", "utilization", "value", 0.45)
    e.put("Assumptions", "engine", "value", "SGLang")
    e.put("Assumptions", "as_of", "value", dt.datetime(2026, 12, 24))
    e.put("Cards", "RTX 5090", "bandwidth_gb_s", 1_800)
    e.put("Models", "Llama 3.1 8B", "layers", 33)
    e.put("Workloads", "8B chat", "need_ecc", "YES")
    e.put("Builds", "1x L4", "gpus", 2)
    got = read(e.save(tmp_path / "x.xlsx"))
    assert row_of(got, "prices", "RTX 5090")["typical"] == 3_111.5
    assert row_of(got, "prices", "L4")["low"] is None
    assert row_of(got, "prices", "L40")["currency"] == "USD"
    assert row_of(got, "prices", "RTX 4090")["as_of"] == dt.date(2026, 10, 1)
    assert got.assumptions == shipped().assumptions | {"utilization": 0.45, "engine": "SGLang", "as_of": dt.date(2026, 12, 24)}
    assert row_of(got, "gpus", "RTX 5090")["bandwidth_gb_s"] == 1_800
    assert row_of(got, "gpus", "RTX 5090")["aliases"] == row_of(shipped(), "gpus", "RTX 5090")["aliases"]
    assert row_of(got, "models", "Llama 3.1 8B")["layers"] == 33
    assert row_of(got, "workloads", "8B chat")["need_ecc"] == "yes"
    assert row_of(got, "builds", "1x L4")["gpus"] == 2
    changed = {(t, i) for t in TABLES for i, (a, b) in enumerate(zip(got.rows(t), shipped().rows(t), strict=True)) if a != b}
    assert len(changed) == 11
    assert gx.tco3y("RTX 5090", catalog=got) == gx.tco3y("RTX 5090", price=3_111.5, options="utilization=0.45")


def test_rows_added_removed_moved_and_holes(edit: Callable[..., Edited], tmp_path: Path) -> None:
    e, base = edit(), shipped()
    e.like("Prices", "L4", gpu="RTX 5060", typical=30_000)
    e.extend("Prices", 4)
    last = e.count("Prices") - 1
    e.add("Prices", row=last, gpu="RTX 5070", typical=41_000, currency="EUR", source="an offer", as_of="2026-11", confidence="stated")
    e.remove("Prices", e.row("Prices", "RTX 4090"))
    e.clear("Prices", e.row("Prices", "L40"))
    e.swap("Builds", 0, 5)
    e.swap("Workloads", 2, 30)  # far down, blank rows in between
    e.like("Cards", "L40S", gpu="My card", memory_gb=64)
    e.add("Rates", rate="mine", gpu="L4", currency="EUR", rate_hour=0.75)
    e.swap("Models", 0, 100)
    got = read(e.save(tmp_path / "x.xlsx"))
    want = [n for n in names(base, "prices") if n not in ("RTX 4090", "L40")] + ["RTX 5060"]
    assert names(got, "prices") == [*want, "RTX 5070"]
    assert row_of(got, "prices", "RTX 5070")["as_of"] == dt.date(2026, 11, 1)
    assert row_of(got, "prices", "RTX 5060")["typical"] == 30_000
    builds = names(base, "builds")
    assert names(got, "builds") == [builds[5], *builds[1:5], builds[0], *builds[6:]]
    loads = names(base, "workloads")
    assert names(got, "workloads") == [*loads[:2], *loads[3:], loads[2]]
    assert {k: v for k, v in row_of(got, "gpus", "My card").items() if v is not None and row_of(base, "gpus", "L40S")[k] != v} == {
        "gpu": "My card",
        "memory_gb": 64.0,
    }
    assert row_of(got, "gpus", "My card")["aliases"] is None
    assert row_of(got, "cloud_rates", "mine")["rate_hour"] == 0.75
    assert row_of(got, "cloud_rates", "mine")["commitment_months"] == 0
    assert sorted(names(got, "models")) == sorted(names(base, "models"))
    assert gx.tco3y("RTX 5070", catalog=got) == gx.tco3y("RTX 5070", price=41_000)
    assert gx.tokps("Llama 3.1 8B", "My card", "fp8", catalog=got) > 0
    with pytest.raises(gx.GpueconError, match="price"):
        gx.tco3y("L40", catalog=got)


def test_blank_price_is_no_price_and_zero_is_free(edit: Callable[..., Edited], tmp_path: Path) -> None:
    e = edit()
    e.put("Prices", "RTX 5090", "typical", None)
    e.put("Prices", "L4", "typical", 0)
    e.put("Prices", "L40", "source", None)
    got = read(e.save(tmp_path / "x.xlsx"))
    assert row_of(got, "prices", "RTX 5090")["typical"] is None
    assert row_of(got, "prices", "L4")["typical"] == 0
    for card in ("RTX 5090", "L40"):
        with pytest.raises(gx.GpueconError, match=card):
            gx.tco3y(card, catalog=got)
    assert gx.tco3y("L4", catalog=got) == gx.tco3y("L4", price=0)
    assert [w for w in got.warnings if "L40 has no source" in w]


def test_renamed_cards(edit: Callable[..., Edited], tmp_path: Path) -> None:
    e = edit()
    for table in ("Cards", "Prices"):
        e.put(table, "RTX 5090", "gpu", "5090 of ours")
    e.put("Cards", "L4", "gpu", "L4 of ours")
    got = read(e.save(tmp_path / "x.xlsx"))
    assert gx.tco3y("5090 of ours", catalog=got) == gx.tco3y("RTX 5090")
    with pytest.raises(LookupError, match="RTX 5090"):
        gx.tco3y("RTX 5090", catalog=got)
    told = [w for w in got.warnings if "1x RTX 5090" in w and "'RTX 5090'" in w]
    assert told, got.warnings
    assert [w for w in got.warnings if "'L4'" in w and "Prices" in w]


# ---- formulas in input cells ----


@pytest.mark.parametrize("lang", LANGUAGES)
def test_formula_with_a_value_is_read_and_without_one_is_refused(edit: Callable[..., Edited], tmp_path: Path, lang: str) -> None:
    e = edit(lang)
    one = e.put("Prices", "RTX 5090", "typical", "=2000*1.4+1")
    two = e.put("Assumptions", "utilization", "value", "=1/4")
    path = e.save(tmp_path / "x.xlsx")
    problems = refused(path)
    assert len(problems) == 2
    assert [p for p in problems if one in p]
    assert [p for p in problems if two in p]
    give_values(path, {tuple(one.split("!")): 2801.0, tuple(two.split("!")): 0.25})
    got = read(path)
    assert row_of(got, "prices", "RTX 5090")["typical"] == 2801
    assert got.assumptions["utilization"] == 0.25


def test_formula_in_an_input_cell_of_a_whole_book(templates: dict[str, Path], tmp_path: Path) -> None:
    """What computes from it uses its value; it is not one of ours, so that it stands under "unknown"."""
    e = Edited(templates["en"])
    place = e.put("Prices", "RTX 5090", "typical", "=2000*1.5")
    path = e.save(tmp_path / "x.xlsx")
    give_values(path, {tuple(place.split("!")): 3000.0})
    values = book_values(path)
    assert values["unknown"] == {place: 3000}
    assert place.split("!")[1] not in values["Prices"]
    row = next(r for r in range(e.count("TcoCards")) if values["TCO"][e.place("TcoCards", r, "gpu").split("!")[1]] == "RTX 5090")
    assert same(values["TCO"][e.place("TcoCards", row, "tco_eur").split("!")[1]], gx.tco3y("RTX 5090", price=3000))


# ---- numbers typed as text ----

TYPED = [
    ("de", "2.800,00 €", 2800),
    ("de", "1.234", 1234),
    ("de", "1,234", 1.234),
    ("de", "2 800,5", 2800.5),
    ("de", "€ 2.800", 2800),
    ("de", "12,5 %", 0.125),
    ("da", "2.800,00 kr.", 2800),
    ("da", "1.234", 1234),
    ("da", "1,5", 1.5),
    ("da", "2.800 EUR", 2800),
    ("en", "2,800.00", 2800),
    ("en", "1.234", 1.234),
    ("en", "1,234", 1234),
    ("en", "$2,800", 2800),
    ("en", "2 800", 2800),
    ("en", "60%", 0.6),
    ("en", "-5", -5),
    ("de", "1.234.567,8", 1234567.8),
    ("en", "1,234,567.8", 1234567.8),
    ("de", "2\u202f800,00\u00a0€", 2800),
]
NO_NUMBERS = [
    ("en", "2.800,00"),
    ("de", "2,800.00"),
    ("da", "2,800.00"),
    ("de", "1.23"),
    ("en", "1,23"),
    ("en", "about 5"),
    ("en", "12,34,567"),
    ("de", "1..2"),
    ("en", ""),
    ("en", "nan"),
    ("en", "inf"),
    ("en", "1e3e3"),
    ("de", "2.8000"),
]


@pytest.mark.parametrize(("lang", "text", "number"), TYPED)
def test_numbers_as_people_write_them(lang: str, text: str, number: float) -> None:
    assert parse_local(text, lang) == pytest.approx(number)


@pytest.mark.parametrize(("lang", "text"), NO_NUMBERS)
def test_text_that_is_no_number_of_that_language(lang: str, text: str) -> None:
    assert parse_local(text, lang) is None


@pytest.mark.parametrize(
    ("lang", "typed", "number"),
    [("de", "2.800,00 €", 2800), ("de", "1.234", 1234), ("da", "1.234", 1234), ("en", "2,800.00", 2800), ("en", "1.234", 1.234)],
)
def test_number_typed_as_text_is_read_with_a_warning(edit: Callable[..., Edited], tmp_path: Path, lang: str, typed: str, number: float) -> None:
    e = edit(lang)
    place = e.put("Prices", "RTX 5090", "typical", typed)
    other = e.put("Assumptions", "chassis_eur_gpu", "value", typed)
    got = read(e.save(tmp_path / "x.xlsx"))
    assert row_of(got, "prices", "RTX 5090")["typical"] == number
    assert got.assumptions["chassis_eur_gpu"] == number
    for p in (place, other):
        assert [w for w in got.warnings if p in w and typed in w], (p, got.warnings)


@pytest.mark.parametrize(("lang", "typed"), [("de", "2,800.00"), ("en", "2.800,00 €"), ("en", "1,23")])
def test_number_of_another_language_is_refused(edit: Callable[..., Edited], tmp_path: Path, lang: str, typed: str) -> None:
    e = edit(lang)
    place = e.put("Prices", "RTX 5090", "typical", typed)
    assert [p for p in refused(e.save(tmp_path / "x.xlsx")) if place in p and typed in p]


# ---- what is refused ----


@pytest.mark.parametrize("lang", LANGUAGES)
def test_all_problems_at_once_by_sheet_and_cell(edit: Callable[..., Edited], tmp_path: Path, lang: str) -> None:
    e = edit(lang)
    places = [
        e.put("Prices", "RTX 5090", "typical", "ask the seller"),
        e.put("Prices", "L4", "low", -1),
        e.put("Prices", "L40", "currency", "DM"),
        e.put("Prices", "RTX 4090", "as_of", "last spring"),
        e.put("Cards", "L4", "memory_gb", "inf"),
        e.put("Cards", "L40", "bandwidth_gb_s", 0),
        e.put("Cards", "L40S", "ecc", "perhaps"),
        e.put("Cards", "RTX 4090", "tdp_w", True),
        e.put("Cards", "RTX 5090", "tflops_16", "nan"),
        e.put("Models", "Llama 3.1 8B", "layers", "many"),
        e.put("Models", "Qwen3-32B", "embed_copies", 3),
        e.put("Assumptions", "utilization", "value", 1.7),
        e.put("Assumptions", "electricity_eur_kwh", "value", -0.2),
        e.put("Assumptions", "pue", "value", "one and a half"),
        e.put("Assumptions", "usd_per_eur", "value", 0),
        e.put("Workloads", "8B chat", "batch", 0),
        e.put("Builds", "1x L4", "gpus", -4),
        e.put("Rates", "H100 SXM discount cloud", "rate_hour", "two"),
        e.put("Builds", "8x L4", "build", "4x L4"),
        e.put("Prices", "RTX PRO 6000 Blackwell Server", "gpu", "RTX*"),
    ]
    problems = refused(e.save(tmp_path / "x.xlsx"))
    absent = [p for p in places if not any(p in told for told in problems)]
    assert not absent, absent
    assert len(problems) == len(places), [p for p in problems if not any(x in p for x in places)]


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 1e308 * 10])
def test_number_that_is_not_finite_in_the_file(edit: Callable[..., Edited], tmp_path: Path, value: float) -> None:
    """Written by a program, not by a person: the file holds no number at all."""
    e = edit()
    e.put("Prices", "RTX 5090", "typical", "=1")
    place = e.place("Prices", e.row("Prices", "RTX 5090"), "typical")
    path = e.save(tmp_path / "x.xlsx")
    give_values(path, {tuple(place.split("!")): value})
    assert [p for p in refused(path) if place in p or "cannot be read" in p]


def test_error_in_an_input_cell(edit: Callable[..., Edited], tmp_path: Path) -> None:
    e = edit()
    place = e.put("Prices", "RTX 5090", "typical", "#DIV/0!")
    assert [p for p in refused(e.save(tmp_path / "x.xlsx")) if place in p and "#DIV/0!" in p]


def test_name_twice_in_another_case(edit: Callable[..., Edited], tmp_path: Path) -> None:
    e = edit()
    e.like("Prices", "L4", gpu="rtx 5090")
    problems = refused(e.save(tmp_path / "x.xlsx"))
    first = e.place("Prices", e.row("Prices", "RTX 5090"), "gpu")
    again = e.place("Prices", e.row("Prices", "rtx 5090"), "gpu")
    assert len(problems) == 1
    assert first in problems[0]
    assert again in problems[0]


@pytest.mark.parametrize(("lang", "table"), [("en", "Prices"), ("de", "Efficiency"), ("da", "Assumptions")])
def test_missing_table(edit: Callable[..., Edited], tmp_path: Path, lang: str, table: str) -> None:
    e = edit(lang)
    del e.where[table][0].tables[table]
    assert [p for p in refused(e.save(tmp_path / "x.xlsx")) if table in p and "gone" in p]


def test_missing_sheet(edit: Callable[..., Edited], tmp_path: Path) -> None:
    e = edit()
    e.book.remove(e.where["Cards"][0])
    assert [p for p in refused(e.save(tmp_path / "x.xlsx")) if "Cards" in p]


def test_computed_table_gone_is_told_by_values(templates: dict[str, Path], slim: dict[str, Path]) -> None:
    with pytest.raises(BadFile, match="Candidates"):
        book_values(slim["en"])


@pytest.mark.parametrize(
    ("table", "column", "fatal"), [("Cards", "memory_gb", True), ("Prices", "gpu", True), ("Cards", "note", False), ("Prices", "channel", False)]
)
def test_deleted_column(edit: Callable[..., Edited], tmp_path: Path, table: str, column: str, fatal: bool) -> None:
    e = edit()
    ws, t = e.where[table]
    left, top, right, bottom = e.span(table)
    at = left + e.heads(table).index(column)
    ws.delete_cols(at)
    t.ref = f"{ws.cell(top, left).coordinate}:{ws.cell(bottom, right - 1).coordinate}"
    t.autoFilter.ref = t.ref
    t.tableColumns = [c for c in t.tableColumns if c.name != column]
    path = e.save(tmp_path / "x.xlsx")
    if fatal:
        assert [p for p in refused(path) if column in p and table in p]
    else:
        got = read(path)
        assert [w for w in got.warnings if column in w and table in w]
        assert all(r[column] is None for r in got.rows(BY_BOOK_NAME[table].name))


def test_deleted_price_column_leaves_no_price(edit: Callable[..., Edited], tmp_path: Path) -> None:
    e = edit()
    ws, _ = e.where["Prices"]
    left, top, _, _ = e.span("Prices")
    ws.cell(top, left + e.heads("Prices").index("typical")).value = "mine"
    e.where["Prices"][1].tableColumns[e.heads("Prices").index("typical")].name = "mine"
    path = e.save(tmp_path / "x.xlsx")
    got = read(path)
    assert [w for w in got.warnings if "typical" in w]
    with pytest.raises(gx.GpueconError, match="price"):
        gx.tco3y("RTX 5090", catalog=got)


def test_columns_moved_and_added(edit: Callable[..., Edited], tmp_path: Path) -> None:
    """Columns are found by their header, not by their place."""
    e = edit()
    ws, t = e.where["Prices"]
    left, top, _, bottom = e.span("Prices")
    heads = e.heads("Prices")
    a, b = heads.index("low"), heads.index("high")
    for r in range(top, bottom + 1):
        one, two = ws.cell(r, left + a), ws.cell(r, left + b)
        one.value, two.value = two.value, one.value
    t.tableColumns[a].name, t.tableColumns[b].name = "high", "low"
    path = e.save(tmp_path / "x.xlsx")
    assert_same(read(path), shipped())


def test_sheets_renamed_and_moved(edit: Callable[..., Edited], tmp_path: Path) -> None:
    e = edit("de")
    ws = e.where["Prices"][0]
    ws.title = "Unsere Preise"
    e.book.move_sheet(ws, -1)
    e.put("Prices", "L4", "typical", -5)
    assert [p for p in refused(e.save(tmp_path / "x.xlsx")) if p.startswith("Unsere Preise!") and "-5" in p]
    e.put("Prices", "L4", "typical", "1.999,50")
    got = read(e.save(tmp_path / "y.xlsx"))
    assert row_of(got, "prices", "L4")["typical"] == 1999.5


@pytest.mark.parametrize("lang", LANGUAGES)
def test_sorted_assumptions_are_refused(edit: Callable[..., Edited], tmp_path: Path, lang: str) -> None:
    e = edit(lang)
    one, other = e.row("Assumptions", "pue"), e.row("Assumptions", "horizon_years")
    e.swap("Assumptions", one, other)
    problems = refused(e.save(tmp_path / "x.xlsx"))
    for name, row in (("pue", other), ("horizon_years", one)):
        assert [p for p in problems if name in p and e.place("Assumptions", row, "value") in p], problems


def test_name_deleted_or_broken(edit: Callable[..., Edited], tmp_path: Path) -> None:
    e = edit()
    del e.book.defined_names["pue"]
    e.book.defined_names["utilization"].attr_text = "#REF!"
    problems = refused(e.save(tmp_path / "x.xlsx"))
    assert [p for p in problems if "pue" in p]
    assert [p for p in problems if "utilization" in p]
    assert len(problems) == 2


# ---- what is warned of ----


def test_doubts_are_told_and_do_not_stop(edit: Callable[..., Edited], tmp_path: Path) -> None:
    e = edit()
    e.put("Prices", "RTX 5090", "low", 9_999)
    e.put("Prices", "L4", "as_of", dt.date(2020, 1, 1))
    e.put("Cards", "L40", "memory_usable_mib", 99_999)
    e.put("Builds", "1x L4", "gpu", "L44")
    e.put("Workloads", "8B chat", "model", "Lama 3 8B")
    half = e.add("Prices", typical=100)
    under = e.where["Prices"][0].cell(e.span("Prices")[3] + 1, 1)
    e.write(under, "Stray card")
    unit = e.put("Cards", "RTX 3060 Ti", "memory_gb", None)
    got = read(e.save(tmp_path / "x.xlsx"))
    for words in (
        ["RTX 5090", "not in order"],
        ["L4 of 2020-01-01"],
        ["L40", "memory"],
        ["1x L4", "L44", "L4"],
        ["8B chat", "Lama 3 8B", "Llama 3 8B"],
        [e.place("Prices", half, "gpu")],
        [f"{under.parent.title}!{under.coordinate}"],
        [unit, "RTX 3060 Ti"],
    ):
        assert [w for w in got.warnings if all(x in w for x in words)], (words, got.warnings)
    assert "Stray card" not in names(got, "prices")
    assert "RTX 3060 Ti" not in names(got, "gpus")
    assert row_of(got, "prices", "RTX 5090")["low"] == 9_999


# ---- hostile and broken files ----


@pytest.fixture(scope="session")
def hostile(slim: dict[str, Path], once: Callable[..., Any]) -> dict[str, Path]:
    def make(folder: Path) -> dict[str, Path]:
        good = slim["en"].read_bytes()
        files = {
            "empty": b"",
            "text": b"hello",
            "cut": good[: len(good) // 2],
            "ole": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 4096,
            "pdf": b"%PDF-1.7\n" + b"x" * 999,
            "cut_tail": good[:-30],
            "noise": good[:2000] + bytes(range(256)) * 20 + good[7120:],
        }
        out = {name: folder / f"{name}.xlsx" for name in files}
        for name, body in files.items():
            out[name].write_bytes(body)
        foreign = openpyxl.Workbook()
        foreign.active.append(["gpu", "typical"])
        foreign.save(folder / "foreign.xlsx")
        parts = _parts(slim["en"])
        _zip(folder / "bomb.xlsx", {"[Content_Types].xml": b" " * 300_000_000, "xl/workbook.xml": b" " * 300_000_000})
        _zip(folder / "sheet_bomb.xlsx", parts | {"xl/worksheets/sheet1.xml": b"<a/>" * 50_000_000})
        laughs = (
            b'<?xml version="1.0"?><!DOCTYPE z [<!ENTITY a "ha">'
            + b"".join(b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(12))
            + b"]><workbook>&m;</workbook>"
        )
        _zip(folder / "laughs.xlsx", parts | {"xl/workbook.xml": laughs})
        outside = b'<?xml version="1.0"?><!DOCTYPE z [<!ENTITY a SYSTEM "file:///etc/hostname">]><workbook>&a;</workbook>'
        _zip(folder / "outside.xlsx", parts | {"xl/workbook.xml": outside})
        _zip(folder / "many.xlsx", {f"xl/x{i}.xml": b"" for i in range(5_000)})
        _zip(folder / "zip.xlsx", {"readme.txt": b"hello"})
        _zip(folder / "no_sheet.xlsx", {k: v for k, v in parts.items() if k != "xl/worksheets/sheet1.xml"})
        _zip(folder / "bad_xml.xlsx", parts | {"xl/worksheets/sheet1.xml": b"<worksheet><sheetData>"})
        return {p.stem: p for p in folder.iterdir()}

    found: dict[str, Path] = once("hostile", make)
    return found


def _parts(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as z:
        return {n: z.read(n) for n in z.namelist()}


def _zip(path: Path, parts: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, body in parts.items():
            z.writestr(name, body)


HOSTILE = [
    "empty",
    "text",
    "cut",
    "cut_tail",
    "noise",
    "ole",
    "pdf",
    "foreign",
    "bomb",
    "sheet_bomb",
    "laughs",
    "outside",
    "many",
    "zip",
    "no_sheet",
    "bad_xml",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_in_one_sentence(hostile: dict[str, Path], name: str) -> None:
    before = hostile[name].read_bytes()
    for call in (read_catalog, book_values, load_catalog):
        with pytest.raises(BadFile) as caught:
            call(hostile[name])
        told = str(caught.value)
        assert hostile[name].name in told
        assert "\n" not in told
        assert "Traceback" not in told
        assert len(told) < 400
    assert hostile[name].read_bytes() == before


def test_password_is_named(hostile: dict[str, Path]) -> None:
    with pytest.raises(BadFile, match="password"):
        read_catalog(hostile["ole"])


def test_folder_and_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="folder"):
        read_catalog(tmp_path)
    with pytest.raises(BadFile, match="no such file"):
        read_catalog(tmp_path / "nowhere.xlsx")
    with pytest.raises(BadFile, match="holds no catalogue"):
        load_catalog(tmp_path)


BOUNDED = """
import sys
from gpuecon_xl.reader import book_values, read_catalog
from gpuecon_xl.errors import BadFile
try:
    {}(sys.argv[1])
except BadFile as e:
    print("refused", e)
else:
    print("read")
"""


def _bounded(call: str, path: Path, seconds: int = 30) -> str:
    """Read in a process of its own with 3 GB of memory and some seconds of processor time at most."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    done = subprocess.run(
        [sys.executable, "-c", BOUNDED.format(call), str(path)], capture_output=True, text=True, timeout=20 * seconds, preexec_fn=limit, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    return done.stdout


@pytest.mark.parametrize("call", ["read_catalog", "book_values"])
@pytest.mark.parametrize("address", ["A1048576", "XFD300"])
def test_a_stray_note_far_away_costs_nothing(templates: dict[str, Path], tmp_path: Path, call: str, address: str) -> None:
    """Ctrl+End, a stray keystroke: a cell in the last row or column must not fill the memory."""
    e = Edited(templates["en"])
    e.where["Prices"][0][address] = "x"
    assert _bounded(call, e.save(tmp_path / "x.xlsx")).strip() == "read"


def test_a_table_of_a_million_rows_is_refused(slim: dict[str, Path], tmp_path: Path) -> None:
    e = Edited(slim["en"])
    t = e.where["Prices"][1]
    t.ref = t.ref.split(":")[0] + ":J1048576"
    t.autoFilter.ref = t.ref
    assert _bounded("read_catalog", e.save(tmp_path / "x.xlsx")).startswith("refused")


# ---- a book that another program saved ----


@needs_libreoffice
@pytest.mark.libreoffice
@pytest.mark.parametrize("lang", ["en", "de"])
def test_book_saved_by_libreoffice(templates: dict[str, Path], core: dict[str, Any], tmp_path: Path, lang: str) -> None:
    saved = soffice_convert([templates[lang]], tmp_path / "office")[templates[lang]]
    assert_same(read(saved), shipped())
    values = book_values(saved)
    wrong = [
        f"{s}!{a}: {v!r} against {values[s].get(a)!r}"
        for s, row in core[lang].items()
        if s != "unknown"
        for a, v in row.items()
        if not same(values[s].get(a), v)
    ]
    assert not wrong, (len(wrong), wrong[:10])
    assert values["unknown"] == {}


def test_book_saved_by_openpyxl(slim: dict[str, Path]) -> None:
    for path in slim.values():
        assert_same(read(path), shipped())
