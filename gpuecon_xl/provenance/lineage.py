"""What a cell of a workbook is made of: its equation, the cells that it reads, and so on down to inputs with their sources.

Here: the walk from cell to cell, over the expressions that the sheets are written from, so that a book may have been saved by any program.
Of a choice (IF, IFERROR) only the way that was taken is followed; of a look-up the one cell that was found. Not here: which cell a text
means (`place`), how all this is printed (`sentences`).
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gpuecon_xl import formula
from gpuecon_xl.audit.references import Where
from gpuecon_xl.audit.shape import formula_text
from gpuecon_xl.catalog import parse_cell, shipped
from gpuecon_xl.cells import CellError, plain
from gpuecon_xl.errors import BadValue
from gpuecon_xl.lang import load
from gpuecon_xl.ops import Expr
from gpuecon_xl.provenance.place import Spot, nearest_spot, spot_in, spot_of, table_at
from gpuecon_xl.quantity import REGISTRY, Quantity
from gpuecon_xl.reader import OpenBook, cells_of, checked_book, named_cell, wanted_assumption
from gpuecon_xl.schema import BY_BOOK_NAME, Field
from gpuecon_xl.sheets import book as books
from gpuecon_xl.sheets.model import Column, TableSpec

# Why a cell is read: its value counts, it decides which way is taken, or it only tells where the value stands.
VALUE, CONDITION, ROW = "value", "condition", "row"

# What a cell holds.
FORMULA, INPUT, FIXED, RANGE, EMPTY = "formula", "input", "fixed", "range", "empty"

_MONEY = frozenset(("money", "rate"))
_NAMING = 3  # so many columns name a row of a computed table
_SAME = 1e-9  # stored and computed value, relative


class Cell(NamedTuple):
    """A table's cell; rows count from 0."""

    table: str
    column: str
    row: int


class Span(NamedTuple):
    """A table's whole column, or the whole table when the column is empty."""

    table: str
    column: str


class Free(NamedTuple):
    """A formula outside of tables: the master check, a live label."""

    spot: Spot
    expression: Expr


Target = Cell | Span | Free


@dataclass
class Figure:
    """A cell and what it is made of.

    role : why the cell above reads it.  kind : formula, input, fixed, range or empty.  inputs : what it reads, as deep as was asked for.
    below : whether it reads more than `inputs` shows.  again : shown in full at another place of the same answer.
    """

    cell: str
    kind: str
    role: str = VALUE
    table: str = ""
    row: str = ""
    column: str = ""
    label: str = ""
    value: Any = None
    unit: str = ""
    count: int = 1
    formula: str = ""
    equation: str = ""
    function: str = ""
    meaning: str = ""
    equation_source: str = ""
    inside: list[str] = field(default_factory=list)
    source: str = ""
    as_of: str = ""
    confidence: str = ""
    note: str = ""
    remarks: list[tuple[str, str]] = field(default_factory=list)
    inputs: list[Figure] = field(default_factory=list)
    below: bool = False
    again: bool = False


@dataclass(frozen=True)
class Origin:
    """A source with how many inputs rest on it; `sample` is the first of their cells."""

    source: str
    as_of: str
    confidence: str
    inputs: int
    sample: str


@dataclass(frozen=True)
class Lineage:
    """The answer: the figure, every source under it however deep, and how many cells lie under it.

    unsourced : inputs that have no source, such as choices and switches.
    """

    book: str
    lang: str
    figure: Figure
    origins: list[Origin]
    cells: int
    inputs: int
    unsourced: int


def lineage_of(book: OpenBook, cell: str, depth: int | None = 1) -> Lineage:
    """What a cell is made of.

    Parameters
    ----------
    cell : a sheet, by its title in the book or in any of the languages, and a cell: ``Cost!F12``.
    depth : how many levels of inputs are shown; None: down to the inputs that people edit.

    Raises
    ------
    BadValue, NameNotFound
        For a cell that holds nothing of ours, with the nearest that does; for a sheet that does not exist.
    """
    return _Walk(book).answer(cell, depth)


def read_lineage(path: Any, cell: str, depth: int | None = 1) -> Lineage:
    """`lineage_of` for a file."""
    return lineage_of(checked_book(path), cell, depth)


class _Walk:
    def __init__(self, book: OpenBook) -> None:
        self.book = book
        self.spec, self.cells = cells_of(book)
        self.texts = load(book.lang)
        self.tables: dict[str, TableSpec] = {n: t for n, (_, t, _, _) in self.spec.all_tables().items()}
        self.names = {n: named_cell(book, n) for n in book.formulas.defined_names}
        self.where = Where(book.regions, self.names, book.formulas.sheetnames)
        self._runs: dict[int, tuple[Expr, Callable[[int], Any]]] = {}
        self._reads: dict[Cell | Span, dict[Target, str]] = {}

    def answer(self, cell: str, depth: int | None) -> Lineage:
        spot = spot_of(cell, self.book, self.spec)
        top = self.target(spot)
        figure = self.figure(top, VALUE, depth, set())
        under = list(self.under(top))
        inputs = [self.shown(t) for t in under if isinstance(t, Cell) and self.kind(t) == INPUT]
        counted = Counter((f.source, f.as_of, f.confidence) for f in inputs if f.source)
        first: dict[tuple[str, str, str], str] = {}
        for f in inputs:
            first.setdefault((f.source, f.as_of, f.confidence), f.cell)
        origins = [Origin(*key, n, first[key]) for key, n in counted.most_common()]
        return Lineage(str(self.book.path), self.book.lang, figure, origins, len(under), len(inputs), sum(not f.source for f in inputs))

    # ---- which cell ----

    def target(self, spot: Spot) -> Cell | Free:
        """The cell of ours at a place."""
        found = table_at(self.book, spot)
        if found is not None:
            name, row, column = found
            t = self.tables.get(name)
            if t is not None and t.has(column):
                return Cell(name, column, row)
            known = ", ".join(c.name for c in t.columns[:_NAMING]) if t is not None else ", ".join(list(self.tables)[:_NAMING])
            what = f"column {column[:40]!r} of table {name}" if t is not None else f"table {name[:40]!r}"
            raise BadValue(f"{spot} stands in {what}, which is your own and not explained; a cell of one of ours is due, such as {known}")
        text = formula_text(self.book.formulas[spot.sheet].cell(spot.row, spot.column))
        for spots in books.free_cells(self.spec).values() if text else ():
            for _, _, e in spots:
                if self.where.same(text, "=" + formula.text(e), spot.sheet, spot.row, spot.column):
                    return Free(spot, e)
        near = nearest_spot(self.book, spot)
        due = f"nearest: {near}" if near is not None else "a cell of a sheet with tables is due"
        raise BadValue(f"{spot} stands outside of every table, so nothing is known of it; {due}")

    # ---- what is known of one cell ----

    def kind(self, t: Target) -> str:
        if isinstance(t, Span):
            return RANGE
        if isinstance(t, Free):
            return FORMULA
        kind = self.tables[t.table].column(t.column).kind
        if kind == FORMULA:
            return FORMULA if self.expression(t) is not None else EMPTY
        blank = self.book.raw(self.book.regions[t.table], t.column, t.row) in (None, "") if self.present(t.table, t.column) else True
        return EMPTY if blank and kind == FIXED else kind

    def present(self, table: str, column: str) -> bool:
        """Whether the book still has the column."""
        return table in self.book.regions and column in self.book.regions[table].columns

    def expression(self, t: Cell) -> Expr | None:
        """What a computed cell says, without the guard of blank rows."""
        spec = self.tables[t.table]
        e = spec.column(t.column).formula
        if isinstance(e, list):
            return e[t.row] if t.row < len(e) else None
        guarded = e is not None and e.op == "where" and e.args[0].op == "eq" and e.args[0].args[0].op == "this"
        if e is not None and guarded and e.args[0].args[0].args == (spec.name, spec.guard) and e.args[1].op == "text" and not e.args[1].args[0]:
            return e if self.run(e.args[0], t.row) is True else e.args[2]
        return e

    def run(self, e: Expr, row: int) -> Any:
        """The value of an expression in a row."""
        found = self._runs.get(id(e))
        if found is None:
            found = self._runs[id(e)] = (e, self.cells.by_row(e))
        return found[1](row)

    def taken(self, e: Expr, row: int) -> Expr:
        """The way that choices lead to."""
        while e.op in ("where", "iferror"):
            if e.op == "where":
                held = self.run(e.args[0], row)
                if isinstance(held, CellError):
                    return e
                e = e.args[1] if held else e.args[2]
            else:
                e = e.args[1] if isinstance(self.run(e.args[0], row), CellError) else e.args[0]
        return e

    def quantity(self, t: Cell) -> Quantity | None:
        """The equation of a column; None for one that only looks up or puts together."""
        c = self.tables[t.table].column(t.column)
        if c.label in REGISTRY:
            return REGISTRY[c.label]
        e = self.expression(t)
        if c.name not in REGISTRY or e is None or self.taken(e, t.row).op in ("index", "text", "num", "name", "this"):
            return None
        return REGISTRY[c.name]

    def shown(self, t: Target, role: str = VALUE) -> Figure:
        """A cell with all that is known of it, without what it reads."""
        if isinstance(t, Span):
            return self.span(t, role)
        if isinstance(t, Free):
            value = plain(self.cells.evaluate(t.expression))
            found = Figure(str(t.spot), FORMULA, role, value=value, formula="=" + formula.text(t.expression))
            self.remark_stored(found, t.spot, value)
            return found
        spec = self.tables[t.table]
        c = spec.column(t.column)
        kind = self.kind(t)
        spot = spot_in(self.book.regions[t.table], t.column, t.row) if self.present(t.table, t.column) else None
        found = Figure(str(spot) if spot is not None else f"{t.table}[{t.column}]", kind, role, t.table, self.named(spec, t.row), t.column)
        found.label, found.unit = self.label(c), self.unit(spec, c, t.row)
        if c.kind == FORMULA:
            self.computed(found, t, c, spot)
        else:
            found.value = self.typed(t, c)
            if kind == INPUT:
                self.origin(found, t, c)
        return found

    def span(self, t: Span, role: str) -> Figure:
        region = self.book.regions[t.table]
        columns = sorted(region.columns.values()) if not t.column else [region.columns[t.column]]
        first, last = Spot(region.sheet, region.first, columns[0]), Spot(region.sheet, region.first + region.count - 1, columns[-1])
        found = Figure(f"{first}:{last.cell}", RANGE, role, t.table, column=t.column, count=region.count)
        if t.column:
            c = self.tables[t.table].column(t.column)
            found.label, found.unit = self.label(c), c.unit
        return found

    def computed(self, found: Figure, t: Cell, c: Column, spot: Spot | None) -> None:
        value = self.cells.tables[t.table].columns[t.column][t.row]
        found.value = _day(value) if c.fmt == "date" and isinstance(value, float) else plain(value)
        e = c.formula[t.row] if isinstance(c.formula, list) and t.row < len(c.formula) else c.formula
        if not isinstance(e, Expr):
            return
        found.formula = "=" + formula.text(e)
        q = self.quantity(t)
        if q is not None:
            found.equation, found.meaning, found.equation_source = q.equation, q.summary, q.source
            found.function = f"{q.function.__module__}.{q.function.__name__}"
            found.inside = [f"{n} = {REGISTRY[n].equation}" for n in self.written_in(t.table, q.name)]
        if spot is not None:
            stands = self.book.formulas[spot.sheet].cell(spot.row, spot.column)
            text = formula_text(stands)
            if not text:
                found.remarks.append(("overwritten", "" if stands.value is None else str(stands.value)))
            elif not self.where.same(text, found.formula, spot.sheet, spot.row, spot.column):
                found.remarks.append(("altered", text))
            else:
                self.remark_stored(found, spot, plain(value))

    def written_in(self, table: str, quantity: str) -> list[str]:
        """Equations inside an equation's formula, and inside those."""
        found: dict[str, None] = {}
        stack = [quantity]
        while stack:
            for n in self.tables[table].written_in.get(stack.pop(), ()):
                if n not in found:
                    found[n] = None
                    stack.append(n)
        return list(found)

    def remark_stored(self, found: Figure, spot: Spot, value: Any) -> None:
        """Say so when the file holds another value than the formula gives."""
        stored = self.book.values[spot.sheet].cell(spot.row, spot.column).value
        if stored is None:
            if value != "":
                found.remarks.append(("not_stored", ""))
            return
        stored = _day(stored) if isinstance(stored, dt.date) else stored
        numbers = isinstance(stored, int | float) and isinstance(value, int | float)
        same = abs(stored - value) <= _SAME * max(abs(stored), abs(value)) if numbers else stored in (value, found.value)
        if not same:
            found.remarks.append(("stored", str(stored)))

    def typed(self, t: Cell, c: Column) -> Any:
        """What stands in a cell that is no formula of ours."""
        if not self.present(t.table, t.column):
            return None
        value = self.book.raw(self.book.regions[t.table], t.column, t.row)
        return _day(value) if isinstance(value, dt.date) else value

    def named(self, spec: TableSpec, row: int) -> str:
        """What a row is about."""
        columns = self.cells.tables[spec.name].columns
        if spec.catalog_table:
            return str(plain(columns[BY_BOOK_NAME[spec.name].key][row]))
        words = []
        for c in spec.columns[:_NAMING]:
            value = columns[c.name][row]
            if not isinstance(value, str) or not value:
                break
            words.append(value)
        return " · ".join(words) or str(row + 1)

    def label(self, c: Column) -> str:
        if c.heading is not None:
            return str(plain(self.cells.evaluate(c.heading)))
        key = c.label or c.name
        return self.texts.get(key if key.startswith("label.") else f"label.{key}") or c.name

    def unit(self, spec: TableSpec, c: Column, row: int) -> str:
        columns = self.cells.tables[spec.name].columns
        if spec.name == "Assumptions" and c.name in ("value", "low", "high"):
            return str(columns["unit"][row] or "")
        if c.fmt in _MONEY and "currency" in columns and isinstance(columns["currency"][row], str):
            return f"{columns['currency'][row]} {c.unit}".strip()
        return c.unit

    def origin(self, found: Figure, t: Cell, c: Column) -> None:
        """Source, date, confidence and note of an input, and whether it is the shipped one."""
        region = self.book.regions[t.table]
        for column in ("source", "as_of", "confidence", "note"):
            if column in region.columns:
                value = self.book.raw(region, column, t.row)
                setattr(found, column, "" if value is None else str(_day(value) if isinstance(value, dt.date) else value))
        table = BY_BOOK_NAME.get(t.table)
        if t.table == "Assumptions":
            found.meaning = self.texts.get(f"assumption.{found.row}") or ""
        if table is None:
            return
        row = next((r for r in shipped().rows(table.name) if str(r[table.key]).lower() == found.row.lower()), None)
        if row is None:
            if found.row:
                found.remarks.append(("new_row", ""))
            return
        wanted = wanted_assumption(found.row) if t.table == "Assumptions" and t.column == "value" else c.field
        ours = row.get(t.column)
        if wanted is not None and not _equal(parse_cell(self.book.raw(region, t.column, t.row), wanted)[0], ours, wanted):
            found.remarks.append(("edited", "" if ours is None else str(plain(ours) if isinstance(ours, float) else ours)))

    # ---- what a cell reads ----

    def reads(self, t: Target) -> dict[Target, str]:
        """Cells that a cell reads, each once, with the weightiest reason."""
        if isinstance(t, Free):
            return _once(self.leaves(t.expression, 0, VALUE))
        found = self._reads.get(t)
        if found is None:
            found = self._reads[t] = self._read(t)
        return found

    def _read(self, t: Cell | Span) -> dict[Target, str]:
        if isinstance(t, Span):
            spec = self.tables[t.table]
            if not t.column:
                return {Span(t.table, c.name): VALUE for c in spec.columns}
            return {Cell(t.table, t.column, r): VALUE for r in range(self.book.regions[t.table].count) if self.filled(t, r)}
        if self.kind(t) != FORMULA:
            return {}
        e = self.expression(t)
        return _once(self.leaves(e, t.row, VALUE)) if e is not None else {}

    def filled(self, t: Span, row: int) -> bool:
        return self.cells.tables[t.table].columns[t.column][row] not in (None, "")

    def leaves(self, e: Expr, row: int, role: str) -> Iterator[tuple[Target, str]]:
        """Cells in an expression; of what is not reached, nothing."""
        op, a = e.op, e.args
        if op in ("num", "text", "bool", "arg", "missing", "na"):
            return
        if op == "this":
            yield Cell(a[0], a[1], row), role
        elif op == "col":
            yield Span(a[0], a[1]), role
        elif op == "whole":
            yield Span(a[0], ""), role
        elif op == "name":
            at = self.named_row(a[0])
            if at is not None:
                yield Cell("Assumptions", "value", at), role
        elif op == "where":
            held = self.run(a[0], row)
            yield from self.leaves(a[0], row, CONDITION if role == VALUE else role)
            if not isinstance(held, CellError):
                yield from self.leaves(a[1] if held else a[2], row, role)
        elif op == "iferror":
            failed = isinstance(self.run(a[0], row), CellError)
            if failed:
                yield from self.leaves(a[0], row, CONDITION if role == VALUE else role)
            yield from self.leaves(a[1] if failed else a[0], row, role)
        elif op == "index" and a[0].op == "col":
            yield from self.looked_up(a[0], a[1], row, role)
        elif op == "match":
            yield from self.leaves(a[0], row, role)
            found = self.found_at(a[1], self.run(e, row))
            ranked = self.tables[found.table].column(found.column).kind == FORMULA  # a place that was computed decides which row it is
            yield found, CONDITION if ranked and role != ROW else ROW
        elif op == "shown":
            yield from self.leaves(a[0], row, role)
        else:
            for part in a:
                yield from self.leaves(part, row, role)

    def looked_up(self, column: Expr, at: Expr, row: int, role: str) -> Iterator[tuple[Target, str]]:
        if column.args[0] == "Words":  # a word of the book's language: its code counts
            yield from self.leaves(at.args[0] if at.op == "match" else at, row, role)
            return
        number = self.run(at, row)
        yield self.found_at(column, number), role
        yield from self.leaves(at, row, role if isinstance(number, CellError) else ROW)

    def found_at(self, column: Expr, number: Any) -> Cell | Span:
        """The cell with a number in a column; the column when there is none."""
        table, name = column.args
        if isinstance(number, float) and 1 <= number <= self.book.regions[table].count:
            return Cell(table, name, int(number) - 1)
        return Span(table, name)

    def named_row(self, name: str) -> int | None:
        """The row of Assumptions that a name points at."""
        names = self.cells.tables["Assumptions"].columns["name"]
        return next((r for r, n in enumerate(names) if isinstance(n, str) and n.strip() == name), None)

    # ---- answers ----

    def figure(self, t: Target, role: str, depth: int | None, seen: set[Target]) -> Figure:
        """A cell and what it reads, to a depth; what was shown before is not opened again."""
        found = self.shown(t, role)
        reads = self.reads(t)
        if depth == 0 or role == ROW or isinstance(t, Span):
            found.below = bool(reads)
            return found
        if t in seen and reads:
            found.again = True
            return found
        seen.add(t)
        found.inputs = [self.figure(i, r, None if depth is None else depth - 1, seen) for i, r in reads.items()]
        return found

    def under(self, top: Target) -> Iterator[Target]:
        """Every cell that counts under one, itself first; what only tells where a value stands does not count."""
        seen: set[Target] = {top}
        stack = [top]
        while stack:
            t = stack.pop()
            if not isinstance(t, Span):
                yield t
            for i, role in reversed(self.reads(t).items()):
                if role != ROW and i not in seen:
                    seen.add(i)
                    stack.append(i)


def _once(leaves: Iterator[tuple[Target, str]]) -> dict[Target, str]:
    weight = (VALUE, CONDITION, ROW)
    found: dict[Target, str] = {}
    for t, role in leaves:
        if t not in found or weight.index(role) < weight.index(found[t]):
            found[t] = role
    return dict(sorted(found.items(), key=lambda item: weight.index(item[1])))


def _day(value: Any) -> Any:
    """A date as people write it everywhere."""
    if isinstance(value, dt.datetime):
        return value.date().isoformat()
    if isinstance(value, dt.date):
        return value.isoformat()
    return (dt.date(1899, 12, 30) + dt.timedelta(days=int(value))).isoformat()


def _equal(have: Any, ours: Any, f: Field) -> bool:
    if f.numeric or isinstance(ours, float):
        return isinstance(have or 0.0, float) and isinstance(ours or 0.0, float) and abs((have or 0.0) - (ours or 0.0)) <= _SAME * abs(ours or 0.0)
    return (have or None) == (ours or None)
