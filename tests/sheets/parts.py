"""A workbook's file taken apart: parts, formulas as tokens. No code of the product is used."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

TOKEN = re.compile(
    r"""(?P<text>"(?:[^"]|"")*")
    |(?P<reference>'[^']+'![$A-Z0-9:]+|[A-Za-z_]\w*\[(?:\[[^\[\]]*\][,:]?|[^\[\]])*\])
    |(?P<function>[A-Za-z_][\w.]*(?=\())
    |(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?)
    |(?P<name>[A-Za-z_$][\w.$]*)
    |(?P<error>\#[A-Z/0]+[!?]?)
    |(?P<operator><>|<=|>=|[-+*/^&=<>%:])
    |(?P<open>\()|(?P<close>\))|(?P<comma>,)|(?P<blank>\s+)""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """A piece of a formula; `function` and `argument` say which call it stands in."""

    kind: str
    text: str
    function: str
    argument: int


def tokens(formula: str) -> Iterator[Token]:
    """Pieces of a formula; one that cannot be read raises ValueError."""
    assert formula.startswith("="), formula
    at, calls, pending = 1, [["", 0]], ""
    while at < len(formula):
        m = TOKEN.match(formula, at)
        if m is None:
            raise ValueError(f"cannot read {formula[at : at + 30]!r} of {formula[:80]}")
        kind = str(m.lastgroup)
        if kind == "close":
            calls.pop()
        elif kind == "comma":
            calls[-1][1] += 1  # type: ignore[operator]
        yield Token(kind, m[0], str(calls[-1][0]), int(calls[-1][1]))
        if kind == "function":
            pending = m[0].upper()
        elif kind == "open":
            # brackets that only group stay in the call that they stand in
            calls.append([pending, 0] if pending else ["(", 0])
            pending = ""
        at = m.end()


def formulas(book: Any) -> dict[str, list[str]]:
    """Every different formula of a book, with the cells it stands in."""
    out: dict[str, list[str]] = {}
    for ws in book.worksheets:
        for row in ws.iter_rows():
            for c in row:
                if c.data_type == "f":
                    out.setdefault(c.value if isinstance(c.value, str) else f"={c.value.text}", []).append(f"{ws.title}!{c.coordinate}")
    return out


def parts(path: Path) -> dict[str, bytes]:
    """The parts of a workbook's file."""
    with zipfile.ZipFile(path) as package:
        return {i.filename: package.read(i) for i in package.infolist()}


def head(values: list[Any], count: int = 12) -> str:
    """The first few of a list, for messages."""
    return "\n".join(map(str, values[:count])) + (f"\n… {len(values)} in all" if len(values) > count else "")
