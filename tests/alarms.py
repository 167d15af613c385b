"""What is true of an edited book, read without the product's code; findings that are not are false alarms.

Here: whether a finding holds. Not here: edits (`edits`), the readers (`oracles`), faults that are to be found (`audit/faults`).
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from edits import Edited
from oracles import is_error

from gpuecon_xl.audit.findings import Finding
from gpuecon_xl.audit.whole import Audit

LOOKED_UP = {("Builds", "gpu"): "Cards", ("Workloads", "model"): "Models", ("Workloads", "precision"): "Precisions", ("Prices", "gpu"): "Cards",
             ("Rates", "gpu"): "Cards"}  # fmt: skip
PRICES = {"Prices": "typical", "Rates": "rate_hour", "Apis": "price_out_mtok"}


class Truth:
    """An edited book and the values that it shows."""

    def __init__(self, shown: dict[str, dict[str, Any]], edited: Path) -> None:
        self.shown = shown
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
    """Findings that do not hold, as one line each."""
    return [f"{f.place} {f.text}" for f in audit.findings if not truth.holds(f)]
