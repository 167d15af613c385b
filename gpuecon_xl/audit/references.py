"""The text of a formula taken apart, so that two ways of writing one formula compare equal.

Here: tokens, references to cells, tables and names, and the areas they mean. Not here: which formula is due where (`shape`).
Excel, LibreOffice and openpyxl write numbers, blanks, function prefixes and references to tables each in their own way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from openpyxl.utils import column_index_from_string

from gpuecon_xl.reader import Region

MAX_ROW, MAX_COLUMN = 1_048_576, 16_384

# A token: its kind, then what it says. Kinds: text, number, function, operator, name, error, other, area, table.
Token = tuple[Any, ...]

_CELL = r"\$?[A-Za-z]{1,3}\$?[0-9]{1,7}"
_SHEET = r"(?:'(?:[^']|'')+'|[^\W\d][\w.]*)"
_BRACKETS = r"\[(?:[^\[\]']|'.|\[(?:[^\[\]']|'.)*\])*\]"
_TOKEN = re.compile(
    rf"""(?P<text>"(?:[^"]|"")*")
    |(?P<outside>\[[^\[\]]+\][\w.\ ]*!{_CELL}(?::{_CELL})?|\[[^\[\]]+\][\w.\ ]*![\w.]+|'[^'\[]*\[[^'\]]*\][^']*'!(?:{_CELL}(?::{_CELL})?|[\w.]+)
        |'file:[^']*'\#?\$?(?:{_SHEET}\.)?(?:{_CELL})?|\w+\|'[^']*'![\w!]+)
    |(?P<error>(?:{_SHEET}!)?\#(?:REF!|N/A|NAME\?|VALUE!|DIV/0!|NUM!|NULL!))
    |(?P<area>(?:{_SHEET}!)?(?:{_CELL}(?::{_CELL})?|\$?[A-Za-z]{{1,3}}:\$?[A-Za-z]{{1,3}}|\$?[0-9]+:\$?[0-9]+)(?![\w(.\[]))
    |(?P<table>(?:[^\W\d][\w.]*)?{_BRACKETS})
    |(?P<function>[^\W\d][\w.]*(?=\())
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>(?:{_SHEET}!)?[^\W\d][\w.\\?]*)
    |(?P<operator><>|<=|>=|[-+*/^&=<>%:(),;{{}}@!])
    |(?P<blank>\s+)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_PREFIX = re.compile(r"^(?:_xlfn\.|_xlws\.|_xludf\.|COM\.MICROSOFT\.|ORG\.OPENOFFICE\.|ORG\.LIBREOFFICE\.)+", re.IGNORECASE)
_ENDS = re.compile(r"(\$?)([A-Za-z]{1,3})?(\$?)([0-9]+)?")

# They answer anew at each recalculation, so that two people never see the same book.
VOLATILE = frozenset(("NOW", "TODAY", "RAND", "RANDBETWEEN", "RANDARRAY", "OFFSET", "INDIRECT", "CELL", "INFO"))


class Area(NamedTuple):
    """A rectangle of cells."""

    sheet: str
    top: int
    left: int
    bottom: int
    right: int


@lru_cache(maxsize=65_536)
def tokens(text: str) -> tuple[Token, ...]:
    """Pieces of a formula, in one way of writing."""
    out: list[Token] = []
    for m in _TOKEN.finditer(text.removeprefix("=")):
        kind, piece = str(m.lastgroup), m[0]
        if kind == "blank":
            continue
        if kind == "number":
            out.append(("number", float(piece)))
        elif kind == "function":
            out.append(("function", _PREFIX.sub("", piece).upper()))
        elif kind == "area":
            out.append(_area(piece))
        elif kind == "table":
            out.append(_table(piece))
        elif kind == "name":
            out.append(("name", piece.rpartition("!")[2].lower()))
        elif kind == "operator":
            out.append(("operator", "," if piece == ";" else piece))
        else:
            out.append((kind, piece))
    return tuple(_without_calls(out))


def _without_calls(pieces: list[Token]) -> Iterator[Token]:
    """TRUE() as TRUE."""
    skip = 0
    for i, t in enumerate(pieces):
        if skip:
            skip -= 1
        elif t in (("function", "TRUE"), ("function", "FALSE")) and pieces[i + 1 : i + 3] == [("operator", "("), ("operator", ")")]:
            skip = 2
            yield ("name", t[1].lower())
        else:
            yield t


def _area(piece: str) -> Token:
    sheet, _, cells = piece.rpartition("!")
    first, _, last = cells.partition(":")
    a, b = _ENDS.fullmatch(first), _ENDS.fullmatch(last or first)
    assert a is not None
    assert b is not None
    ends = []
    for m, row, column in ((a, 1, 1), (b, MAX_ROW, MAX_COLUMN)):
        ends += [int(m[4]) if m[4] else row, column_index_from_string(m[2].upper()) if m[2] else column]
        ends += [bool(m[3]) or not m[4] or (not m[2] and bool(m[1])), bool(m[1]) or not m[2]]
    top, left, top_fixed, left_fixed, bottom, right, bottom_fixed, right_fixed = ends
    title = sheet[1:-1].replace("''", "'") if sheet.startswith("'") else sheet
    return ("area", title, top, left, bottom, right, (top_fixed, left_fixed, bottom_fixed, right_fixed))


def _table(piece: str) -> Token:
    name, _, rest = piece.partition("[")
    inner = rest[:-1]
    part = "data"
    if inner.startswith("@"):
        part, inner = "this", inner[1:]
    pieces = re.findall(r"\[([^\[\]]*)\]", inner) if "[" in inner else [inner]
    columns = []
    for p in pieces:
        if p.startswith("#"):
            part = {"#this row": "this", "#all": "all", "#headers": "headers", "#totals": "totals", "#data": "data"}.get(p.lower(), "gone")
        elif p:
            columns.append(p.lower())
    return ("table", name.lower(), part, columns[0] if columns else "", columns[-1] if columns else "")


def spelled(text: str, row: int, column: int) -> tuple[Token, ...]:
    """The formula as it reads from its cell: references that move with it are told by their distance."""
    pieces = tokens(text)
    if not any(t[0] == "area" for t in pieces):
        return pieces
    return tuple(_moved(t, row, column) if t[0] == "area" else t for t in pieces)


def _moved(t: Token, row: int, column: int) -> Token:
    ends = [(v if fixed else v - base, fixed) for v, fixed, base in zip(t[2:6], t[6], (row, column, row, column), strict=True)]
    return ("area", t[1].lower(), *ends)


@dataclass
class Where:
    """Tables and names of a book: what references mean."""

    regions: Mapping[str, Region]
    names: Mapping[str, tuple[str, int, int] | None]
    sheets: list[str]

    def __post_init__(self) -> None:
        self._regions = {k.lower(): r for k, r in self.regions.items()}
        self._columns = {k.lower(): {c.lower(): n for c, n in r.columns.items()} for k, r in self.regions.items()}
        self._names = {k.lower(): v for k, v in self.names.items()}
        self._sheets = {s.lower(): s for s in self.sheets}

    def own_table(self, sheet: str, row: int, column: int) -> str:
        """The table that a cell stands in, for references without a table's name."""
        for name, r in self._regions.items():
            if r.sheet == sheet and r.first <= row < r.first + r.count and column in r.columns.values():
                return name
        return ""

    def area(self, t: Token, sheet: str, row: int, column: int) -> Area | None:
        """The cells that a token means; None for what is none or does not exist."""
        if t[0] == "area":
            title = self._sheets.get(t[1].lower()) if t[1] else sheet
            return Area(title, *t[2:6]) if title is not None else None
        if t[0] == "name":
            target = self._names.get(t[1])
            return Area(target[0], target[1], target[2], target[1], target[2]) if target is not None else None
        if t[0] != "table" or t[2] == "gone":
            return None
        name = t[1] or self.own_table(sheet, row, column)
        region = self._regions.get(name)
        if region is None or not region.columns:
            return None
        columns = self._columns[name]
        if (t[3] and t[3] not in columns) or (t[4] and t[4] not in columns):
            return None
        left = columns[t[3]] if t[3] else min(columns.values())
        right = columns[t[4]] if t[4] else max(columns.values())
        top, bottom = region.first, region.first + region.count - 1
        if t[2] == "this":
            top = bottom = row
        elif t[2] == "headers":
            top = bottom = region.first - 1
        elif t[2] == "all":
            top -= 1
        return Area(region.sheet, top, left, bottom, right)

    def areas(self, text: str, sheet: str, row: int, column: int) -> list[Area]:
        """Everything that a formula reads."""
        found = (self.area(t, sheet, row, column) for t in tokens(text))
        return [a for a in found if a is not None]

    def resolved(self, text: str, sheet: str, row: int, column: int) -> tuple[Any, ...]:
        """The formula with every reference as the cells it means."""
        return tuple(self.area(t, sheet, row, column) or t for t in tokens(text))

    def same(self, one: str, other: str, sheet: str, row: int, column: int) -> bool:
        """Whether two texts are one formula in this cell."""
        if one == other or tokens(one) == tokens(other):
            return True
        return self.resolved(one, sheet, row, column) == self.resolved(other, sheet, row, column)

    def broken(self, text: str, sheet: str, row: int, column: int) -> str:
        """The first reference that leads nowhere; empty when all lead somewhere."""
        for t in tokens(text):
            if t[0] == "error" and t[1].endswith("#REF!"):
                return str(t[1])
            if t[0] == "name" and t[1] not in self._names and t[1] not in ("true", "false"):
                return str(t[1])
            if t[0] == "area" and self.area(t, sheet, row, column) is None:
                return f"{t[1]}!"
            if t[0] == "table" and self.area(t, sheet, row, column) is None:
                return f"{t[1]}[{t[3]}]"
        return ""


def outside(text: str) -> str:
    """The first reference to another file; empty when there is none."""
    return next((str(t[1]) for t in tokens(text) if t[0] == "outside"), "")


def volatile(text: str) -> str:
    """The first volatile function; empty when there is none."""
    return next((str(t[1]) for t in tokens(text) if t[0] == "function" and t[1] in VOLATILE), "")
