"""Books as people edit them, recalculated by LibreOffice: the core agrees cell by cell, the money adds up, `check` raises no false alarm."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from alarms import Truth, false_alarms
from edits import KINDS, Edited, edited_books
from oracles import cached_values, differences, is_error, needs_libreoffice, soffice_convert
from reconciled import sums_of

from gpuecon_xl.audit.whole import audit_book
from gpuecon_xl.reader import book_values

EDITED = 20  # books in the default run
EDITED_LONG = 200  # more with -m long
LOT = 4  # books that one test edits and LibreOffice takes in one call
REL = 1e-9


@dataclass
class Reading:
    """One edited book: what was edited, what is wrong, how many cells and sums there are."""

    name: str
    edits: list[str]
    differ: list[str]
    unknown: list[str]
    unequal: list[str]
    alarms: list[str]
    findings: int
    cells: int
    errors: int
    sums: dict[str, int]

    def told(self) -> str:
        wrong = {k: v[:4] for k, v in vars(self).items() if k in ("differ", "unknown", "unequal", "alarms") and v}
        return f"{self.name}: {wrong} after {'; '.join(self.edits)[:600]}" if wrong else ""


def readings(templates: dict[str, Path], cells: dict[str, dict[str, list[str]]], folder: Path, seeds: range) -> list[Reading]:
    """Edit, recalculate, compare; files are deleted as soon as they are compared. Edits touch no formula: `cells` are the templates'."""
    books = edited_books(templates, folder, seeds)
    found = []
    for path, office in soffice_convert(list(books), folder / "office").items():
        mine, shown, core = cells[path.stem[-2:]], cached_values(office), book_values(path)
        truth = Truth(shown, path)
        sums = sums_of(truth.e, shown)
        unknown = [f"{s}!{a}" for s, row in mine.items() for a in row if a not in core[s]]
        errors = sum(is_error(v) for row in core.values() for v in row.values())
        audit = audit_book(office)
        found.append(
            Reading(path.name, books[path], differences(shown, core, mine, REL), unknown, sums.wrong, false_alarms(audit, truth),
                    len(audit.findings), sum(map(len, mine.values())), errors, sums.compared)
        )  # fmt: skip
        path.unlink()
        office.unlink()
    return found


def check(found: list[Reading]) -> None:
    told = "\n".join(t for r in found if (t := r.told()))
    assert not told, told
    assert all(r.errors < r.cells / 5 for r in found)  # most cells stay figures
    assert all(r.sums.get("TCO", 0) > 30 and r.sums.get("Cost", 0) > 30 for r in found), [r.sums for r in found]
    assert any(r.sums.get("Cash-flow", 0) >= 8 for r in found), [r.sums for r in found]


@needs_libreoffice
@pytest.mark.libreoffice
@pytest.mark.parametrize("first", range(0, EDITED, LOT))
def test_edited_books(templates: dict[str, Path], formulas: dict[str, dict[str, list[str]]], tmp_path: Path, first: int) -> None:
    found = readings(templates, formulas, tmp_path, range(first, first + LOT))
    assert len(found) == LOT
    check(found)
    assert any(r.errors for r in found)  # rows that cannot be computed are among them


@needs_libreoffice
@pytest.mark.libreoffice
@pytest.mark.long
@pytest.mark.parametrize("first", range(EDITED, EDITED + EDITED_LONG, LOT))
def test_many_edited_books(templates: dict[str, Path], formulas: dict[str, dict[str, list[str]]], tmp_path: Path, first: int) -> None:
    found = readings(templates, formulas, tmp_path, range(first, first + LOT))
    check(found)
    # some books are in order and nothing is found in them; the lot that ends last, in whatever process, knows all counts
    counts = templates["en"].parent
    (counts / f"in_order-{first}-{sum(not r.findings for r in found)}").touch()
    told = [p.name.split("-") for p in counts.glob("in_order-*")]
    if len(told) == EDITED_LONG / LOT:
        assert sum(int(n) for _, _, n in told) > EDITED_LONG / 20


def test_every_kind_of_edit_is_made() -> None:
    def kinds(seeds: range) -> set[Any]:
        return {KINDS[(seed * 5 + i) % len(KINDS)] for seed in seeds for i in range(5)}

    assert kinds(range(EDITED)) == kinds(range(EDITED, EDITED + EDITED_LONG)) == set(KINDS)


@pytest.mark.parametrize(("table", "row", "column"), [("TcoCards", 0, "tco_eur"), ("Fleet", 2, "build_tco_eur"), ("Cost", 3, "cost_eur_mtok"),
                                                      ("CashFlow", 5, "own_month_eur"), ("CashBasis", 0, "cost_eur_mtok")])  # fmt: skip
def test_a_sum_that_does_not_hold_is_found(templates: dict[str, Path], core: dict[str, Any], table: str, row: int, column: str) -> None:
    e = Edited(templates["en"])
    shown = cached_values(templates["en"])
    assert sums_of(e, shown).wrong == []
    c = e.cell(table, row, column)
    shown[c.parent.title][c.coordinate] += 0.02
    assert sums_of(e, shown).wrong
