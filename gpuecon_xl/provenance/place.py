"""Which cell of a workbook a text such as ``Cost!F12`` means.

Here: sheets by their title in the book or in any language, cells by table, row and column. Not here: what the cell is made of (`lineage`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpuecon_xl.errors import BadValue, NameNotFound, nearest
from gpuecon_xl.lang import LANGUAGES, load
from gpuecon_xl.reader import OpenBook, Region
from gpuecon_xl.sheets import book as books
from gpuecon_xl.sheets.model import BookSpec

_REFERENCE = re.compile(r"=?\s*(?:'(?P<quoted>(?:[^']|'')+)'|(?P<plain>[^!]+?))\s*[!.]\s*\$?(?P<column>[A-Za-z]{1,3})\$?(?P<row>[0-9]{1,7})\s*")


@dataclass(frozen=True)
class Spot:
    """A cell of the sheet: its title in the book, row and column from 1."""

    sheet: str
    row: int
    column: int

    @property
    def cell(self) -> str:
        """As spreadsheets write it, without the sheet."""
        from openpyxl.utils import get_column_letter

        return f"{get_column_letter(self.column)}{self.row}"

    def __str__(self) -> str:
        sheet = self.sheet if re.fullmatch(r"[^\W\d]\w*", self.sheet) else "'" + self.sheet.replace("'", "''") + "'"
        return f"{sheet}!{self.cell}"


def spot_of(text: str, book: OpenBook, spec: BookSpec) -> Spot:
    """The cell that a text means.

    Raises
    ------
    BadValue, NameNotFound
        When it is no cell, or the book has no such sheet.
    """
    from openpyxl.utils import column_index_from_string

    found = _REFERENCE.fullmatch(text.strip())
    if found is None:
        raise BadValue(f"CELL is {text[:60]!r}; a sheet and a cell such as Cost!F12 or 'Own vs API'!C9 are due")
    wanted = (found["quoted"] or found["plain"]).replace("''", "'").strip()
    titles = _titles(book, spec)
    sheet = titles.get(wanted.casefold())
    if sheet is None:
        raise NameNotFound(f"sheet {wanted[:40]!r} is not in {book.path}; nearest: {nearest(wanted, book.formulas.sheetnames)}")
    return Spot(sheet, int(found["row"]), column_index_from_string(found["column"].upper()))


def _titles(book: OpenBook, spec: BookSpec) -> dict[str, str]:
    """What a sheet may be called, in small letters: its title in the book; that of every language goes behind it."""
    known: dict[str, str] = {}
    own = book.formulas.sheetnames
    for s in spec.sheets:
        names = [books.title(load(lang), s) for lang in LANGUAGES]
        at = next((book.regions[t.name].sheet for t, _, _ in s.tables() if t.name in book.regions), None)
        at = at or next((n for n in names if n in own), None)
        if at is not None:
            known |= {n.casefold(): at for n in (*names, s.key) if n.casefold() not in known}
    return known | {title.casefold(): title for title in own}


def spot_in(region: Region, column: str, row: int) -> Spot:
    """A table's cell; rows count from 0."""
    return Spot(region.sheet, region.first + row, region.columns[column])


def table_at(book: OpenBook, spot: Spot) -> tuple[str, int, str] | None:
    """Table, row (from 0) and column that a cell stands in; None outside of tables."""
    for name, region in book.regions.items():
        if region.sheet == spot.sheet and region.first <= spot.row < region.first + region.count:
            column = next((c for c, n in region.columns.items() if n == spot.column), None)
            if column is not None:
                return name, spot.row - region.first, column
    return None


def nearest_spot(book: OpenBook, spot: Spot) -> Spot | None:
    """The table's cell of the same sheet that is nearest; None on a sheet without tables."""
    near = []
    for region in book.regions.values():
        if region.sheet == spot.sheet and region.count and region.columns:
            row = min(max(spot.row, region.first), region.first + region.count - 1)
            column = min(region.columns.values(), key=lambda c: abs(c - spot.column))
            near.append(Spot(spot.sheet, row, column))
    return min(near, key=lambda s: abs(s.row - spot.row) + abs(s.column - spot.column), default=None)
