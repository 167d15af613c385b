"""Errors that a user sees: one sentence each, saying what was wrong, where, and what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class GpueconError(Exception):
    """Any refusal of this product."""


class NameNotFound(GpueconError, LookupError):
    """A card, model, precision, engine, option or other name that is not in the catalogue."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class BadValue(GpueconError, ValueError):
    """A value that cannot be used."""


class BadFile(GpueconError, ValueError):
    """A file that cannot be used; `problems` names every place."""

    def __init__(self, message: str, problems: Iterable[str] = ()) -> None:
        self.problems = list(problems)
        super().__init__(message)

    def __str__(self) -> str:
        if len(self.problems) <= 1:
            return str(self.args[0])
        return "\n".join([str(self.args[0]), *(f"  {p}" for p in self.problems)])


def nearest(name: str, known: Iterable[str], count: int = 3) -> str:
    """The nearest known names, as they end a message."""
    names = list(known)
    lower = {n.lower(): n for n in names}
    close = difflib.get_close_matches(name.lower(), list(lower), n=count, cutoff=0.4)
    if not close:
        close = [n for n in lower if name.lower()[:3] and name.lower()[:3] in n][:count]
    return ", ".join(lower[c] for c in close) if close else ", ".join(names[:count])
