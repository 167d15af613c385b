"""What tells books of one layout from those of another.

Here: the digest that the writer puts into a book's properties and the audit compares. Not here: the layout (`book`).
"""

from __future__ import annotations

import hashlib

from gpuecon_xl import formula
from gpuecon_xl.sheets.model import BookSpec

LAYOUT_DIGITS = 16  # enough to tell layouts apart, short enough to read out


def layout(book: BookSpec) -> str:
    """What tells books of one layout: a digest of every table, column and formula, the same in all languages."""
    digest = hashlib.sha256()
    for _, t, _, _ in book.all_tables().values():
        for c in t.columns:
            each = c.formula if isinstance(c.formula, list) else [c.formula]
            digest.update("\t".join([t.name, c.name, c.kind, *("" if e is None else formula.text(e) for e in each)]).encode() + b"\n")
    return digest.hexdigest()[:LAYOUT_DIGITS]
