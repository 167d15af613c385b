"""Books that are in order raise no alarm: fresh ones, saved by other programs, and edited as people may edit them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from edits import Edited, edited_books
from oracles import _References, cached_values, is_error, needs_libreoffice, soffice_convert

from gpuecon_xl.audit.findings import Finding
from gpuecon_xl.audit.whole import Audit, audit_book
from gpuecon_xl.catalog import load_catalog
from gpuecon_xl.lang import LANGUAGES
from gpuecon_xl.writer import write_template

EDITED = 6  # books in the default run
BY_OFFICE = 2  # of them through LibreOffice
EDITED_LONG = 200
LOOKED_UP = {("Builds", "gpu"): "Cards", ("Workloads", "model"): "Models", ("Workloads", "precision"): "Precisions", ("Prices", "gpu"): "Cards",
             ("Rates", "gpu"): "Cards"}  # fmt: skip
PRICES = {"Prices": "typical", "Rates": "rate_hour", "Apis": "price_out_mtok"}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_fresh_book_is_clean(templates: dict[str, Path], lang: str) -> None:
    audit = audit_book(templates[lang])
    assert audit.findings == []
    assert audit.current
    assert audit.formulas > 45_000
    assert {f.kind for f in audit.notes} == {"old_price"}  # the shipped book has old prices and says so


@pytest.mark.parametrize("flavour", ["classic", "lite", "libreoffice"])
def test_a_fresh_book_of_another_flavour_is_clean(tmp_path: Path, flavour: str) -> None:
    path = tmp_path / "book.xlsx"
    write_template(path, catalog=load_catalog(), flavour=flavour)
    audit = audit_book(path)
    assert (audit.findings, audit.current) == ([], True)


@needs_libreoffice
@pytest.mark.libreoffice
def test_saved_by_other_programs(templates: dict[str, Path], tmp_path: Path) -> None:
    copy = Edited(templates["de"]).save(tmp_path / "copy.xlsx")
    assert [f.kind for f in audit_book(copy).findings] == ["stale"]
    office = soffice_convert([copy], tmp_path / "office")[copy]
    assert audit_book(office).findings == []
    again = Edited(office).save(tmp_path / "again.xlsx")
    assert [f.kind for f in audit_book(again).findings] == ["stale"]


def test_a_template_of_an_edited_catalogue_is_clean(templates: dict[str, Path], tmp_path: Path) -> None:
    """Other rows are no other layout: it is held against the template, and there is nothing to tell."""
    e = Edited(templates["en"])
    priced = {e.cell("Prices", r, "gpu").value for r in e.rows("Prices")}
    new = next(n for r in e.rows("Cards") if (n := e.cell("Cards", r, "gpu").value) not in priced)
    e.like("Prices", "L4", gpu=new, as_of=dt.datetime(2026, 11, 1))
    e.remove("Workloads", 2)
    edited = e.save(tmp_path / "edited.xlsx")
    path = tmp_path / "again.xlsx"
    write_template(path, catalog=load_catalog(edited))
    audit = audit_book(path)
    assert (audit.findings, audit.current) == ([], True)


def test_references_written_as_cells(templates: dict[str, Path], tmp_path: Path) -> None:
    """A program that knows no tables writes each reference as cells; the formulas are the same."""
    e = Edited(templates["da"])
    references = _References(e.book)
    for ws in e.book.worksheets:
        for (row, _), c in ws._cells.items():
            if c.data_type == "f":
                c.value = references.plain(c.value, row)
    assert not any("[" in c.value for c in e.where["Candidates"][0]._cells.values() if c.data_type == "f")
    assert [f.kind for f in audit_book(e.save(tmp_path / "cells.xlsx")).findings] == ["stale"]


# ------------------------------------------------------------------------------------------------ edits


class Truth:
    """What is true of an edited book, read without the product's code."""

    def __init__(self, path: Path, edited: Path) -> None:
        self.shown = cached_values(path)
        self.e = Edited(edited)
        self.tables = {name: (ws.title, *self.e.span(name)) for name, (ws, _) in self.e.where.items()}

    def spot(self, f: Finding) -> tuple[str, int, str]:
        """Table, row and column of a finding's cell."""
        c = self.e.book[f.sheet][f.cell]
        for name, (title, left, top, right, bottom) in self.tables.items():
            if title == f.sheet and left <= c.column <= right and top < c.row <= bottom:
                return name, c.row - top - 1, self.e.heads(name)[c.column - left]
        raise AssertionError(f"{f.place} stands in no table")

    def value(self, table: str, row: int, column: str) -> Any:
        return self.e.cell(table, row, column).value

    def holds(self, f: Finding) -> bool:
        """Whether a finding is no false alarm."""
        if f.kind == "error":
            return is_error(self.shown[f.sheet].get(f.cell))
        table, row, column = self.spot(f)
        if f.kind == "no_source":
            return column == "source" and self.value(table, row, column) is None and self.value(table, row, PRICES[table]) is not None
        if f.kind == "missing":
            return self.value(table, row, column) is None
        if f.kind == "unknown":
            other = LOOKED_UP[table, column]
            known = {str(self.value(other, r, self.e.heads(other)[0])).lower() for r in self.e.rows(other)}
            return str(self.value(table, row, column)).lower() not in known
        if f.kind == "range" and table == "Prices":
            low, typical, high = (self.value(table, row, c) for c in ("low", "typical", "high"))
            given = [x for x in (low, typical, high) if x is not None]
            return given != sorted(given)
        if f.kind == "old_price":
            return self.old(self.value(table, row, "as_of"))
        return False

    def old(self, dated: dt.datetime | None) -> bool:
        day, limit = (self.e.value("Assumptions", n, "value") for n in ("as_of", "price_age_days_max"))
        return dated is None or (day - dated).days > limit


def false_alarms(audit: Audit, truth: Truth) -> list[str]:
    return [f"{f.place} {f.text}" for f in audit.findings if not truth.holds(f)]


def audited_by_office(templates: dict[str, Path], folder: Path, seeds: range) -> list[tuple[str, list[str], int]]:
    """Name, false alarms with the edits, and findings of books that LibreOffice recalculated."""
    books = edited_books(templates, folder, seeds)
    out = []
    for path, office in soffice_convert(list(books), folder / "office").items():
        audit = audit_book(office)
        wrong = false_alarms(audit, Truth(office, path))
        out.append((path.name, [*wrong, *books[path]] if wrong else [], len(audit.findings)))
        path.unlink()
        office.unlink()
    return out


@needs_libreoffice
@pytest.mark.libreoffice
def test_edited_books_recalculated_by_libreoffice(templates: dict[str, Path], tmp_path: Path) -> None:
    found = audited_by_office(templates, tmp_path, range(BY_OFFICE))
    assert len(found) == BY_OFFICE
    assert [(name, wrong[:6]) for name, wrong, _ in found if wrong] == []


def test_edited_books_saved_by_openpyxl(templates: dict[str, Path], core: dict[str, Any], once: Callable[..., Any], tmp_path: Path) -> None:
    """Nothing is calculated in them, and that is told once; errors are those that the core computes."""
    from gpuecon_xl.reader import book_values

    books = edited_books(templates, tmp_path, range(BY_OFFICE, EDITED))
    assert len(books) == EDITED - BY_OFFICE
    clean = 0
    for path, edits in books.items():
        audit = audit_book(path)
        assert [f.kind for f in audit.findings].count("stale") == 1
        truth = Truth(path, path)
        truth.shown = book_values(path)
        wrong = [f for f in audit.findings if f.kind != "stale" and not truth.holds(f)]
        assert not wrong, (path.name, [f"{f.place} {f.text}" for f in wrong][:6], edits)
        clean += len(audit.findings) == 1
    assert clean, "not one of the edited books is in order"


@needs_libreoffice
@pytest.mark.libreoffice
@pytest.mark.long
def test_many_edited_books(templates: dict[str, Path], tmp_path: Path) -> None:
    bad: list[tuple[str, list[str]]] = []
    clean = 0
    for first in range(EDITED, EDITED + EDITED_LONG, 20):
        for name, wrong, count in audited_by_office(templates, tmp_path, range(first, first + 20)):
            bad += [(name, wrong[:6])] if wrong else []
            clean += not count
    assert not bad, bad[:5]
    assert clean > EDITED_LONG / 20


def test_what_people_may_do_besides_typing_figures(templates: dict[str, Path], tmp_path: Path) -> None:
    """A sheet and formulas of their own, a formula in an input, a longer table, a currency sign that fits, a note, a wider column."""
    e = Edited(templates["de"])
    own = e.book.create_sheet("Notizen")
    own["A1"], own["A2"], own["A3"] = "Notiz", "=SUM(Prices[typical])", "=A2*2"
    e.extend("Prices", 10)
    e.add("Prices", row=e.count("Prices") - 1, gpu="Our own card", typical=3_000, currency="EUR", source="offer", as_of=dt.datetime(2026, 11, 1))
    e.like("Cards", "L40S", gpu="Our own card")
    row = e.row("Prices", "RTX 5090")
    e.write(e.cell("Prices", row, "typical"), f"=({e.cell('Prices', row, 'low').coordinate}+{e.cell('Prices', row, 'high').coordinate})/2")
    e.cell("Prices", row, "typical").number_format = '#,##0 "€"'
    e.cell("Prices", e.row("Prices", "H100 SXM"), "typical").number_format = "[$$-409]#,##0"
    e.where["Prices"][0].column_dimensions["A"].width = 50
    e.write(e.cell("ChangeLog", 1, "what"), "Preis = Mittel aus $ und €")
    assert [f.kind for f in audit_book(e.save(tmp_path / "own.xlsx")).findings] == ["stale"]
    book = openpyxl.load_workbook(tmp_path / "own.xlsx")
    assert "Notizen" in book.sheetnames
