"""The whole check of one book.

Here: the order in which things are looked at, and what came of it. Not here: how each is found (the other modules), printing (`command`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuecon_xl import __version__
from gpuecon_xl.audit.findings import LEVELS, NOTE, Finding, Findings
from gpuecon_xl.audit.formulas import check_circles, check_formulas
from gpuecon_xl.audit.inputs import check_inputs
from gpuecon_xl.audit.shape import shape_of
from gpuecon_xl.audit.stored import check_stored
from gpuecon_xl.audit.surface import check_hidden, check_links, check_names, check_protection, check_tables
from gpuecon_xl.lang import load
from gpuecon_xl.reader import open_book


@dataclass(frozen=True)
class Audit:
    """What was found in a book.

    findings : what must be put right.  notes : what to know; a book with notes alone is clean.
    version : of the program that made the book, empty when it does not say.  current : held against this version's template, not
    against the book's own columns.  formulas : formula cells that were looked at.
    """

    path: Path
    lang: str
    version: str
    current: bool
    formulas: int
    findings: list[Finding]
    notes: list[Finding]

    def counts(self) -> dict[str, int]:
        """Findings of each kind, in the order of the kinds."""
        counted = Counter(f.kind for f in self.findings)
        return {k: counted[k] for k in LEVELS if counted[k]}

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it."""

        def plain(f: Finding) -> dict[str, Any]:
            return {"kind": f.kind, "level": f.level, "sheet": f.sheet, "cell": f.cell, "count": f.count, "text": f.text, "due": f.due}

        return {
            "book": str(self.path), "lang": self.lang, "version": self.version, "checked_by": __version__,
            "against": "template" if self.current else "own columns", "formulas": self.formulas, "counts": self.counts(),
            "findings": [plain(f) for f in self.findings], "notes": [plain(f) for f in self.notes],
        }  # fmt: skip


def audit_book(path: str | Path, lang: str | None = None) -> Audit:
    """Check a book that people edited; it is not changed.

    Parameters
    ----------
    lang : language of the sentences; the book's own when not given.

    Raises
    ------
    BadFile
        When the file cannot be read or is none of ours.
    """
    book = open_book(Path(path))
    shape = shape_of(book, load(book.lang))
    found = Findings(load(lang or book.lang), list(book.formulas.sheetnames))
    odd = check_formulas(shape, found)
    check_circles(shape, found, odd)
    check_names(shape, found)
    check_tables(shape, found)
    check_links(shape, found)
    check_hidden(shape, found)
    check_protection(shape, found)
    check_inputs(shape, found)
    check_stored(shape, found, odd)
    ordered = found.sorted()
    return Audit(
        book.path,
        lang or book.lang,
        shape.version,
        shape.current,
        len(shape.wanted),
        [f for f in ordered if f.level != NOTE],
        [f for f in ordered if f.level == NOTE],
    )
