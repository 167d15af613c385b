"""What a check finds: one finding for each place, in the language asked for.

Here: the finding, its kinds, collecting them. Not here: how anything is found (the other modules), files of findings (`outputs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from openpyxl.utils import get_column_letter

from gpuecon_xl.lang import Texts

# Kinds of findings, and how much they weigh; a note alone leaves a book clean.
LEVELS = {
    "constant": "error", "formula": "error", "fixed": "error", "name": "error", "table": "error", "broken": "error", "external": "error",
    "volatile": "warning", "hidden": "warning", "text_number": "error", "range": "error", "missing": "error", "unknown": "error",
    "unit": "error", "no_source": "error", "old_price": "warning", "locked": "warning", "unprotected": "warning", "stale": "error",
    "error": "error", "circular": "error",
}  # fmt: skip
NOTE = "note"

MAX_SHOWN = 120  # characters of a cell's content in a sentence


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be.

    kind: a key of `LEVELS`. level: ``error``, ``warning`` or ``note``. cell: the first cell, empty where no cell is meant.
    count: cells that it holds for. text: a sentence. due: what it should be; a formula begins with ``=``.
    """

    kind: str
    level: str
    sheet: str
    cell: str
    text: str
    due: str
    count: int = 1

    @property
    def place(self) -> str:
        """Sheet and cell as formulas write them."""
        return f"{self.sheet}!{self.cell}" if self.cell else self.sheet


def address(row: int, column: int) -> str:
    """A cell as people write it."""
    return f"{get_column_letter(column)}{row}"


def printable(text: str) -> str:
    """A text of a user's file on one line, without characters that steer a terminal."""
    return "".join(c if c.isprintable() else " " for c in text)


def shown(value: object) -> str:
    """A cell's content in a sentence: short, on one line."""
    text = " ".join(printable(f"{value:.12g}" if isinstance(value, float) else str(value)).split())
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"


def runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Neighbouring numbers as first and last."""
    for _, group in groupby(enumerate(sorted(numbers)), key=lambda x: x[1] - x[0]):
        pair = [n for _, n in group]
        yield pair[0], pair[-1]


@dataclass
class Findings:
    """All findings of a book, with their sentences."""

    texts: Texts
    sheets: list[str]
    found: list[tuple[int, int, int, Finding]] = field(default_factory=list)

    def add(
        self,
        kind: str,
        sheet: str,
        at: tuple[int, int] | None,
        sentence: str = "",
        *,
        due: str = "",
        count: int = 1,
        note: bool = False,
        **values: object,
    ) -> None:
        """Add a finding.

        Parameters
        ----------
        at : row and column; None where no cell is meant.  sentence : key of its text, the kind when not given.
        due : what it should be, as it stands; not given, the text of the sentence's key with ``_due``.
        """
        shorts = {k: shown(v) for k, v in values.items()}
        key = sentence or kind
        should = printable(due) if due else self.texts(f"audit.{key}_due", **shorts)
        row, column = at or (0, 0)
        made = Finding(
            kind, NOTE if note else LEVELS[kind], sheet, address(row, column) if at else "", self.texts(f"audit.{key}", **shorts), should, count
        )
        where = self.sheets.index(sheet) if sheet in self.sheets else len(self.sheets)
        self.found.append((where, row, column, made))

    def sorted(self) -> list[Finding]:
        """In the order of the book: sheet, row, column; each once."""
        ordered = sorted(self.found, key=lambda x: (x[0], x[1], x[2], list(LEVELS).index(x[3].kind)))
        return list(dict.fromkeys(f for _, _, _, f in ordered))

    def any_of(self, *kinds: str) -> bool:
        """Whether something of these kinds was found."""
        return any(f.kind in kinds for _, _, _, f in self.found)
