"""A book of an older layout, kept as it was made: it is held against its own columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from edits import Edited
from faults import Planted
from openpyxl.styles import Protection

from gpuecon_xl.audit.whole import audit_book

OLD = Path(__file__).resolve().parent.parent / "data" / "gpuecon-en-2026-11.xlsx"

# Tables of the old book as it was made; the layout of today may have others.
MADE_WITH = {"TcoCards": "tco_eur", "Candidates": "output_tok_s", "Fleet": "build_tco_eur", "Cost": "cost_eur_mtok", "Matrix": "recommended"}


def test_it_is_clean_and_known_as_old() -> None:
    audit = audit_book(OLD)
    assert audit.findings == []
    assert not audit.current
    assert audit.version == "0.1.0"
    assert audit.formulas > 45_000


def places(path: Path) -> set[Planted]:
    return {Planted(f.kind, f.place) for f in audit_book(path).findings if f.kind != "stale"}


def test_faults_in_its_columns(tmp_path: Path) -> None:
    e = Edited(OLD)
    planted = set()
    for i, (table, column) in enumerate(MADE_WITH.items()):
        c = e.cell(table, i, column)
        changes: tuple[Any, ...] = (1234.5, None, f"{c.value}*1.1", "=#REF!", "typed")
        e.write(c, changes[i])
        planted.add(Planted(("constant", "constant", "formula", "broken", "constant")[i], e.place(table, i, column)))
    e.write(e.where["Fleet"][0]["B3"], "OK")
    planted.add(Planted("constant", f"{e.where['Fleet'][0].title}!B3"))
    assert places(e.save(tmp_path / "old.xlsx")) == planted


def test_faults_that_need_no_layout(tmp_path: Path) -> None:
    e = Edited(OLD)
    planted = {
        Planted("text_number", e.put("Prices", "L4", "typical", "2704")),
        Planted("range", e.put("Assumptions", "utilization", "value", 1.5)),
        Planted("no_source", e.put("Prices", "L40", "source", "")),
        Planted("volatile", e.put("Assumptions", "as_of", "value", "=TODAY()")),
        Planted("external", e.put("Rates", e.cell("Rates", 0, "rate").value, "rate_hour", "='[rates.xlsx]Sheet1'!$B$2")),
    }
    del e.book.defined_names["pue"]
    planted.add(Planted("name", e.place("Assumptions", e.row("Assumptions", "pue"), "value")))
    cell = e.cell("Candidates", 30, "rank")
    cell.protection = Protection(locked=False)
    planted.add(Planted("unprotected", f"{cell.parent.title}!{cell.coordinate}"))
    e.where["Checks"][0].sheet_state = "hidden"
    planted.add(Planted("hidden", f"{e.where['Checks'][0].title}!A1"))
    found = places(e.save(tmp_path / "old.xlsx"))
    assert planted <= found
    assert {p.kind for p in found - planted} <= {"broken"}  # formulas that use the name that is gone


def test_a_column_that_today_does_not_know(tmp_path: Path) -> None:
    """A figure that a later version dropped: that a formula is due is known from its neighbours."""
    e = Edited(OLD)
    for r in range(-1, e.count("Fleet")):
        c = e.cell("Fleet", r, "power_w")
        e.write(c, "old_power_w" if r < 0 else c.value)
    next(c for c in e.where["Fleet"][1].tableColumns if c.name == "power_w").name = "old_power_w"
    c = e.cell("Fleet", 5, "old_power_w")
    e.write(c, 400)
    assert Planted("constant", f"{c.parent.title}!{c.coordinate}") in places(e.save(tmp_path / "old.xlsx"))
