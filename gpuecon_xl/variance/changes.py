"""What differs between the inputs of two catalogues, row by row, and how one change after another turns the old into the new.

Here: rows compared by name, cells of a row as one change, the order of changes, tables after a change.
Not here: what a change does to a cost (`attribution`), texts (`words`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuecon_xl.catalog import Catalog, Row, shipped
from gpuecon_xl.schema import TABLES, Table
from gpuecon_xl.sheets import book as books

# Rows whose order answers: the first of two builds of one cost wins, and the Matrix has room for so many workloads.
ORDERED = frozenset(("workloads", "builds"))

# Columns that say where a row comes from; of a new row they are told as its source.
ORIGIN = frozenset(("source", "as_of", "confidence"))

Key = tuple[str, int]  # a row's name in small letters, and how many rows of that name stand before it


@dataclass(frozen=True)
class CellChange:
    """One input that changed.

    share: the change as a share of the old value, for numbers. unit: that of the column, for an assumption its own.
    """

    column: str
    old: Any
    new: Any
    unit: str
    share: float | None


@dataclass(frozen=True)
class RowChange:
    """What changed in one row of one table.

    kind: ``edited``, ``new``, ``gone`` or ``moved`` (the rows of the table stand in another order; it has no row).
    sheet: key of the sheet; table: its name in a workbook. source and as_of: of the row as it stands in the new catalogue,
    of a row that is gone, in the old one.
    """

    kind: str
    sheet: str
    table: str
    row: str
    cells: tuple[CellChange, ...]
    source: str
    as_of: str


@dataclass(frozen=True)
class Change:
    """A change with what it takes to make it: the table, the row's key, its new content, the key of the row before it."""

    told: RowChange
    table: str
    key: Key | None
    row: Row | None = None
    after: Key | None = None
    order: tuple[Key, ...] = ()


Tables = Mapping[str, Sequence[Row]]


def complete_tables(catalog: Catalog) -> dict[str, list[Row]]:
    """Tables of a catalogue; an assumption that an older file lacks has its shipped row, as everywhere."""
    known = {r["name"] for r in catalog.rows("assumptions")}
    lacking = [r for r in shipped().rows("assumptions") if r["name"] not in known]
    return {**catalog.tables, "assumptions": [*catalog.rows("assumptions"), *lacking]}


def differences(old: Tables, new: Tables) -> list[Change]:
    """All changes: sheets and tables in the workbook's order, in each the old rows in their order, then new rows in theirs."""
    return [c for sheet, table in _in_order() for c in _of_table(sheet, table, old[table.name], new[table.name])]


def _in_order() -> Iterator[tuple[str, Table]]:
    for sheet, t, _, _ in books.build(shipped()).all_tables().values():
        if t.catalog_table:
            yield sheet.key, TABLES[t.catalog_table]


def _of_table(sheet: str, table: Table, old: Sequence[Row], new: Sequence[Row]) -> Iterator[Change]:
    before, after = by_key(table, old), by_key(table, new)
    for key, row in before.items():
        if key not in after:
            yield Change(_told("gone", sheet, table, row, (_cell(table, table.key, row, None),)), table.name, key)
            continue
        cells = tuple(_cell(table, f.name, row, after[key]) for f in table.fields if f.in_book and differ(row.get(f.name), after[key].get(f.name)))
        if cells:
            yield Change(_told("edited", sheet, table, after[key], cells), table.name, key, after[key])
    last: Key | None = None
    for key, row in after.items():
        if key not in before:
            filled = (f.name for f in table.fields if f.in_book and f.name not in ORIGIN and row.get(f.name) not in (None, "", 0.0))
            yield Change(_told("new", sheet, table, row, tuple(_cell(table, c, None, row) for c in filled)), table.name, key, row, last)
        last = key
    if table.name in ORDERED and [k for k in before if k in after] != [k for k in after if k in before]:
        yield Change(RowChange("moved", sheet, table.book_name, "", (), "", ""), table.name, None, order=tuple(after))


def by_key(table: Table, rows: Sequence[Row]) -> dict[Key, Row]:
    """Rows by name as look-ups find them, without case; rows of one name one after the other."""
    count: dict[str, int] = {}
    out: dict[Key, Row] = {}
    for row in rows:
        name = str(row[table.key]).lower()
        out[name, count.setdefault(name, 0)] = row
        count[name] += 1
    return out


def differ(a: Any, b: Any) -> bool:
    """Whether two cells hold different content; no value and empty text are one."""
    return bool((None if a == "" else a) != (None if b == "" else b))


def _told(kind: str, sheet: str, table: Table, row: Row, cells: tuple[CellChange, ...]) -> RowChange:
    as_of = row.get("as_of")
    return RowChange(kind, sheet, table.book_name, str(row[table.key]), cells, str(row.get("source") or ""),
                     as_of.isoformat() if isinstance(as_of, dt.date) else "")  # fmt: skip


def _cell(table: Table, column: str, old: Row | None, new: Row | None) -> CellChange:
    a, b = ((r or {}).get(column) for r in (old, new))
    unit = table.by_name[column].unit
    if table.name == "assumptions" and column in ("value", "low", "high"):
        unit = str((new or old or {}).get("unit") or "")
    share = b / a - 1 if isinstance(a, int | float) and isinstance(b, int | float) and a else None
    return CellChange(column, a, b, unit, share)


def applied(tables: Tables, change: Change) -> dict[str, list[Row]]:
    """Tables after a change; those given stay as they are."""
    table = TABLES[change.table]
    rows = by_key(table, tables[change.table])
    if change.order:
        rows = {k: rows[k] for k in change.order}
    elif change.row is None:
        del rows[change.key]  # type: ignore[arg-type]
    elif change.key in rows:
        rows[change.key] = change.row
    else:
        listed = list(rows.items())
        at = 1 + list(rows).index(change.after) if change.after in rows else 0
        listed.insert(at, (change.key, change.row))  # type: ignore[arg-type]
        rows = dict(listed)
    return {**{name: list(r) for name, r in tables.items()}, change.table: list(rows.values())}


def reads_cost(change: Change, columns: frozenset[tuple[str, str]], names: frozenset[str]) -> bool:
    """Whether the cost reads anything of a change, given what it reads."""
    told = change.told
    if (
        told.table == TABLES["assumptions"].book_name
        and told.row in names
        and (told.kind != "edited" or any(c.column == "value" for c in told.cells))
    ):
        return True
    if told.kind == "edited":
        return any((told.table, c.column) in columns for c in told.cells)
    return any(table == told.table for table, _ in columns)
