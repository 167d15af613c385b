"""Figures of an edited workbook, each with the cell that it stands in.

Here: a book read and computed by the core, its tables as rows; the same book with the prices of another one. The file is only read.
Not here: what a report says about the figures (`content`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuecon_xl import reader
from gpuecon_xl.catalog import summed_up
from gpuecon_xl.errors import BadFile

# What belongs to a price: these cells go together when the prices of another book are tried.
PRICE_COLUMNS = ("low", "typical", "high", "currency", "source")


@dataclass(frozen=True)
class Figure:
    """A value and the cell of the book that it was read from; a figure that was worked out here has no cell."""

    value: Any
    cell: str = ""

    @property
    def number(self) -> float | None:
        """The value when it is a number."""
        return float(self.value) if isinstance(self.value, int | float) and not isinstance(self.value, bool) else None


Row = dict[str, Figure]


class SourceBook:
    """A workbook of ours, read and computed."""

    def __init__(self, path: Path) -> None:
        self.open = reader.checked_book(path)
        self.lang = self.open.lang
        self._values = reader.values_of(self.open)

    def rows(self, table: str) -> list[Row]:
        """Rows of a table; a formula cell holds what the core computes, any other cell what stands in the file."""
        from openpyxl.utils import get_column_letter

        region = self.open.regions.get(table)
        if region is None:
            raise BadFile(summed_up(str(self.open.path), [f"table {table} is gone; copy the inputs into a new template"]))
        computed = self._values.get(region.sheet, {})
        out = []
        for r in range(region.count):
            row = {}
            for name, column in region.columns.items():
                at = f"{get_column_letter(column)}{region.first + r}"
                value = computed[at] if at in computed else self.open.raw(region, name, r)
                row[name] = Figure(_plain(value), f"{region.sheet}!{at}")
            out.append(row)
        return out

    def by(self, table: str, *keys: str) -> dict[tuple[Any, ...], Row]:
        """Rows of a table by the values of some columns; blank rows left out, the first of equals counts."""
        out: dict[tuple[Any, ...], Row] = {}
        for row in self.rows(table):
            key = tuple(row[k].value for k in keys)
            if key[0] != "":
                out.setdefault(key, row)
        return out

    def assumption(self, name: str) -> Figure:
        """The value of an assumption."""
        row = self.by("Assumptions", "name").get((name,))
        if row is None:
            raise BadFile(f"{self.open.path}: the assumption {name} is missing; restore its row in Assumptions")
        return row["value"]

    @contextmanager
    def prices_of(self, other: SourceBook) -> Iterator[SourceBook]:
        """This book as it would be with the prices of another one; cards that the other does not have keep theirs."""
        region = self.open.regions["Prices"]
        sheet = self.open.sheets[region.sheet]
        theirs = other.by("Prices", "gpu")
        kept: list[tuple[Any, Any]] = []
        before = self._values
        try:
            for r, row in enumerate(self.rows("Prices")):
                price = theirs.get((row["gpu"].value,))
                for column in PRICE_COLUMNS if price is not None else ():
                    if column in region.columns and price is not None and column in price:
                        cell = sheet.cell(region.first + r, region.columns[column])
                        kept.append((cell, cell.value))
                        cell.value = None if price[column].value == "" else price[column].value
            self._values = reader.values_of(self.open)
            yield self
        finally:
            for cell, value in kept:
                cell.value = value
            self._values = before


def _plain(value: Any) -> Any:
    if value is None:
        return ""
    return value.date() if isinstance(value, dt.datetime) else value
