"""The oracles themselves: two engines recalculate, comparison of readers as defined."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
import xlsxwriter
from oracles import SOFFICE, cached_values, formualizer_values, formula_cells, needs_libreoffice, same, soffice_convert


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A small workbook with a table, a name, errors, text, and a stale cached value in every formula cell."""
    path = tmp_path / "small.xlsx"
    with xlsxwriter.Workbook(str(path)) as wb:
        ws = wb.add_worksheet("Cost of it's")
        ws.write_row(0, 0, [0.5])
        wb.define_name("use", "='Cost of it''s'!$A$1")
        ws.add_table(
            2,
            0,
            5,
            3,
            {"name": "Rows", "columns": [{"header": h} for h in ("key", "hours", "cost", "share")], "autofilter": False},
        )
        for r, (key, hours) in enumerate((("a", 2), ("B", 4), ("c", 0)), start=3):
            ws.write_row(r, 0, [key, hours])
            ws.write_formula(r, 2, "=10*use/Rows[[#This Row],[hours]]", None, 99)
            ws.write_formula(r, 3, "=Rows[[#This Row],[hours]]/SUM(Rows[hours])", None, 99)
        other = wb.add_worksheet("Other")
        other.write_formula("A1", '=INDEX(Rows[share],MATCH("b",Rows[key],0))', None, 99)
        other.write_formula("A2", '="use Rows[key]: "&MATCH("a",Rows[key],0)', None, 99)
        other.write_formula("A3", "=IF(use>0,TRUE,FALSE)", None, 99)
        other.write_formula("A4", '=IF(use>1,1,"")', None, 99)
        other.write_formula("A5", '=MATCH("z",Rows[key],0)', None, 99)
    return path


WANTED = {
    "Cost of it's": {"C4": 2.5, "C5": 1.25, "C6": "#DIV/0!", "D4": 1 / 3, "D5": 2 / 3, "D6": 0},
    "Other": {"A1": 2 / 3, "A2": "use Rows[key]: 1", "A3": True, "A4": "", "A5": "#N/A"},
}


def _check(got: dict[str, dict[str, object]], book: Path) -> None:
    cells = formula_cells(book)
    assert {s: set(c) for s, c in cells.items()} == {s: set(c) for s, c in WANTED.items()}
    wrong = [(s, a, got[s].get(a), w) for s, row in WANTED.items() for a, w in row.items() if not same(got[s].get(a), w)]
    assert not wrong


def test_formualizer_recalculates(book: Path) -> None:
    _check(formualizer_values(book), book)


@needs_libreoffice
@pytest.mark.libreoffice
def test_libreoffice_recalculates_stale_values(book: Path, tmp_path: Path) -> None:
    assert cached_values(book)["Other"]["A1"] == 99
    done = soffice_convert([book], tmp_path / "out")
    _check(cached_values(done[book]), book)


@needs_libreoffice
@pytest.mark.libreoffice
def test_file_not_written_raises(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"did not write absent\.xlsx"):
        soffice_convert([tmp_path / "absent.xlsx"], tmp_path / "out")


def test_ci_has_libreoffice() -> None:
    import os

    assert SOFFICE or not os.environ.get("CI"), "in CI LibreOffice must be installed"


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (1.0, 1.0 + 5e-10, True),
        (1.0, 1.0 + 5e-9, False),
        (1e12, 1e12 + 500, True),
        (1e12, 1e12 + 5000, False),
        (1e-12, 5e-12, True),  # absolute below 1
        (1, 1.0, True),
        (None, "", True),
        (None, None, True),
        (None, 0, False),
        ("", 0, False),
        ("#N/A", "#VALUE!", True),
        ("#N/A", 1, False),
        ("#N/A", None, False),
        (True, True, True),
        (True, 1, False),
        (False, None, False),
        ("a", "a", True),
        ("a", "A", False),
        ("1", 1, False),
        (dt.date(2026, 11, 30), 46356, True),
        (dt.datetime(2026, 11, 30, 12), 46356.5, True),
    ],
)
def test_same(a: object, b: object, equal: bool) -> None:
    assert same(a, b) is equal
    assert same(b, a) is equal
