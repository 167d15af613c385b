"""What a variance says, in words: places, changes, summary and numbers in a language.

Here: texts of the section [diff] with numbers as people of the language write them. Not here: figures (`attribution`),
tables (`book`, `command`).
"""

from __future__ import annotations

import datetime as dt
import math
import re
from typing import Any

from gpuecon_xl.lang import load
from gpuecon_xl.planning.words import LOCALE
from gpuecon_xl.schema import TABLES
from gpuecon_xl.units import PERCENT
from gpuecon_xl.variance.attribution import Flip, Step, Variance, WorkloadVariance
from gpuecon_xl.variance.changes import CellChange, RowChange

_VALUE = "#,##0.######"
_DIGITS = 4  # digits of a cost that matter
_NAMED = 3  # columns of a row that a label names


class Words:
    """Sentences of one language."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self.texts = load(lang)

    def __call__(self, key: str, **values: str) -> str:
        """A text of the section [diff]."""
        return self.texts(f"diff.{key}", **values)

    def _decimal(self, value: float, pattern: str) -> str:
        from babel.numbers import format_decimal

        return str(format_decimal(value, format=pattern, locale=LOCALE[self.lang])).replace("-", "−")

    def cost(self, value: float | None, signed: bool = False) -> str:
        """A cost with four digits that matter; a dash without a figure."""
        if value is None:
            return "—"
        decimals = "0" * decimals_of(value)
        number = "#,##0" + (f".{decimals}" if decimals else "")
        return self._decimal(value, f"+{number};-{number}" if signed and value else number)

    def percent(self, share: float | None) -> str:
        """A change in per cent, with its sign."""
        if share is None:
            return ""
        return self._decimal(round(share * PERCENT, 1) + 0.0, "+#,##0.0;-#,##0.0") + ("%" if self.lang == "en" else "\u00a0%")

    def value(self, value: Any) -> str:
        """An input as it stands in its cell."""
        if value is None or value == "":
            return self("blank")
        if isinstance(value, dt.date):
            return value.isoformat()
        if isinstance(value, float):
            return self._decimal(value, _VALUE)
        return str(value)

    def build(self, name: str | None) -> str:
        """A build's name, or that there is none."""
        return self("no_build") if name is None else name

    def place(self, change: RowChange) -> str:
        """Sheet and table of a change; one word where both have one name."""
        title = self.texts(f"sheet.{change.sheet}")
        return title if title == change.table else f"{title}, {change.table}"

    def ends(self, change: RowChange, cell: CellChange) -> tuple[str, str]:
        """What stood and what stands in a cell; a whole row is new or gone."""
        if change.kind == "gone":
            return self.value(cell.old), self("row_gone")
        return self("row_new") if change.kind == "new" else self.value(cell.old), self.value(cell.new)

    def source(self, change: RowChange) -> str:
        """Source and date of a row, for a narrow column: of an address its host only."""
        address = re.fullmatch(r"https?://(?:www\.)?([^/\s]+)\S*(.*)", change.source)
        return ", ".join(part for part in (f"{address[1]}{address[2]}" if address else change.source, change.as_of) if part)

    def step(self, step: Step) -> str:
        """A step in a line."""
        if len(step.changes) > 1:
            return self("many", count=str(len(step.changes)))
        (change,) = step.changes
        if change.kind == "edited":
            columns = [c.column for c in change.cells]
            more = f" +{len(columns) - _NAMED}" if len(columns) > _NAMED else ""
            if change.table == TABLES["assumptions"].book_name and columns == ["value"]:
                return change.row
            return f"{change.table} {change.row}: {', '.join(columns[:_NAMED])}{more}"
        if change.kind == "moved":
            return f"{change.table}: {self('moved')}"
        return f"{change.table} {change.row} {self(f'row_{change.kind}')}"

    def flips(self, flips: tuple[Flip, ...]) -> str:
        """Recommendations that changed, each with the number of its change."""
        return "; ".join(f"{f.step}: {self.build(f.old)} → {self.build(f.new)}" for f in flips)

    def flipped(self, found: Variance, workload: WorkloadVariance) -> str:
        """A recommendation that is another one at the end, with the change that brought it."""
        last = workload.flips[-1]
        return self("flipped", workload=workload.workload, old=self.build(workload.build_old), new=self.build(workload.build_new),
                    number=str(last.step), what=self.step(found.steps[last.step - 1]))  # fmt: skip

    def summary(self, found: Variance) -> str:
        """How much changed, in a sentence."""
        names = {"old": found.old, "new": found.new}
        if not found.steps:
            return self("nothing", **names)
        rows = sum(len(s.changes) for s in found.steps)
        inputs = sum(len(c.cells) or 1 for s in found.steps for c in s.changes)
        return self("summary", **names, inputs=str(inputs), rows=str(rows), workloads=str(len(found.workloads)),
                    changed=str(sum(w.changed for w in found.workloads)),
                    flips=str(sum(w.build_old != w.build_new for w in found.workloads)))  # fmt: skip


def decimals_of(value: float) -> int:
    """Decimals that show four digits that matter."""
    return 0 if not value else max(0, _DIGITS - 1 - math.floor(math.log10(abs(value))))
