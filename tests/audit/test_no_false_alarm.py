"""Books that are in order raise no alarm: fresh ones, saved by other programs, and edited as people may edit them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from alarms import Truth
from edits import Edited, edited_books
from oracles import _References, needs_libreoffice, soffice_convert

from gpuecon_xl.audit.whole import audit_book
from gpuecon_xl.catalog import load_catalog
from gpuecon_xl.lang import LANGUAGES
from gpuecon_xl.writer import write_template

EDITED = range(20, 24)  # seeds; those that LibreOffice recalculates stand in test_edited_books


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


def test_edited_books_saved_by_openpyxl(templates: dict[str, Path], core: dict[str, Any], once: Callable[..., Any], tmp_path: Path) -> None:
    """Nothing is calculated in them, and that is told once; errors are those that the core computes."""
    from gpuecon_xl.reader import book_values

    books = edited_books(templates, tmp_path, EDITED)
    assert len(books) == len(EDITED)
    clean = 0
    for path, edits in books.items():
        audit = audit_book(path)
        assert [f.kind for f in audit.findings].count("stale") == 1
        truth = Truth(book_values(path), path)
        wrong = [f for f in audit.findings if f.kind != "stale" and not truth.holds(f)]
        assert not wrong, (path.name, [f"{f.place} {f.text}" for f in wrong][:6], edits)
        clean += len(audit.findings) == 1
    assert clean, "not one of the edited books is in order"


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
