"""Values that stand beside formulas: missing, no longer what the formula gives, errors.

Here: each formula computed from the values that are stored in the cells it reads, so that only the cell at fault is told, not all that
follow from it. Not here: formulas (`formulas`), the computing (`cells`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from gpuecon_xl.audit.findings import Findings, runs
from gpuecon_xl.audit.inputs import ERRORS
from gpuecon_xl.audit.shape import Cell, Shape
from gpuecon_xl.cells import CellError, Cells, TableValues, needs, plain, serial
from gpuecon_xl.ops import Expr
from gpuecon_xl.reader import named_cell, values_of

REL = 1e-6  # two programs calculate alike; what differs more is another value
ABS = 1e-7  # sums of figures in the millions that cancel out


def check_stored(shape: Shape, found: Findings, odd: set[Cell]) -> None:
    """Find them."""
    cells = [(ws.title, *at) for ws in shape.book.formulas.worksheets for at, c in ws._cells.items() if c.data_type == "f"]
    empty = {at for at in cells if is_empty(shape, at)}
    computed: dict[Cell, Any] = {}
    nothing = len(empty) == len(cells)
    if nothing and cells:
        first = cells[0][0]
        found.add("stale", first, min(at[1:] for at in cells if at[0] == first), "no_values", count=len(cells))
        if not odd and shape.current and not found.any_of("name", "table", "broken"):
            computed = _computed(shape)  # nothing is stored: the core says what would be
    errors = {at: e for at in cells if (e := _error(shape, at, computed)) is not None}
    stale, roots, followers = _recomputed(shape, odd, errors, computed)
    if not nothing:
        hollow = {at for at, (was, _) in stale.items() if at in empty and was in (None, "")} | (empty & odd & _inputs(shape))
        for title in dict.fromkeys(at[0] for at in hollow):
            here = [at[1:] for at in hollow if at[0] == title]
            found.add("stale", title, min(here), "some_values", count=len(here))
        if not hollow:  # what reads a cell without a value is not told on top
            _tell_stale(found, stale)
    for cells_ in _columns(roots):
        at, code = cells_[0], errors[cells_[0]].code
        found.add("error", at[0], at[1:], count=len(cells_), found=code, followers=sum(followers.get(c, 0) for c in cells_))


def _tell_stale(found: Findings, stale: dict[Cell, tuple[Any, Any]]) -> None:
    # a program that counts with numbers typed as text shows a value where Excel shows an error; the text is told already
    lenient = found.any_of("text_number", "unit", "range")
    told = {at for at, (was, value) in stale.items() if not (lenient and isinstance(value, CellError))}
    for cells in _columns(told):
        was, value = stale[cells[0]]
        found.add("stale", cells[0][0], cells[0][1:], count=len(cells), due=str(plain(value)), found="" if was is None else was)


def _columns(cells: Iterable[Cell]) -> Iterator[list[Cell]]:
    """Neighbours in one column together: what happened to one row happened to the next."""
    by_column: dict[tuple[str, int], list[int]] = {}
    for sheet, row, column in cells:
        by_column.setdefault((sheet, column), []).append(row)
    for (sheet, column), rows in by_column.items():
        for first, last in runs(rows):
            yield [(sheet, row, column) for row in range(first, last + 1)]


def is_empty(shape: Shape, at: Cell) -> bool:
    """Whether nothing is stored beside a formula; some programs store an empty text in this way too."""
    cell = shape.cached(at)
    return cell is None or (cell.value is None and cell.data_type == "n")


def _inputs(shape: Shape) -> set[Cell]:
    """All input cells."""
    out: set[Cell] = set()
    for name, (_, t) in shape.tables.items():
        region = shape.book.regions.get(name)
        for c in t.columns if region is not None else ():
            if region is not None and c.kind == "input" and c.name in region.columns:
                out |= {(region.sheet, region.first + r, region.columns[c.name]) for r in range(region.count)}
    return out


def _computed(shape: Shape) -> dict[Cell, Any]:
    """What the core computes for each formula cell; empty when an input cannot be computed with."""
    from gpuecon_xl.errors import GpueconError

    try:
        values = values_of(shape.book)
    except GpueconError:
        return {}
    out: dict[Cell, Any] = {}
    for title, by_address in values.items():
        if title == "unknown":
            continue
        ws = shape.book.formulas[title]
        for address, value in by_address.items():
            cell = ws[address]
            out[(title, cell.row, cell.column)] = value
    return out


def _error(shape: Shape, at: Cell, computed: dict[Cell, Any]) -> CellError | None:
    """The error that a cell shows, an object of its own for each cell."""
    cell = shape.cached(at)
    value = computed.get(at) if at in computed else None if cell is None else cell.value
    return CellError(value) if isinstance(value, str) and value in ERRORS else None


def _recomputed(
    shape: Shape, odd: set[Cell], errors: dict[Cell, CellError], computed: dict[Cell, Any]
) -> tuple[dict[Cell, tuple[Any, Any]], set[Cell], Counter[Cell]]:
    """Cells whose stored value is not what their formula gives; errors that do not come from another cell; how many follow from each."""
    stored = _as_stored(shape, errors, computed)
    owner = {id(e): at for at, e in errors.items()}
    stale: dict[Cell, tuple[Any, Any]] = {}
    comes_from: dict[Cell, Cell] = {}
    evaluated: set[Cell] = set()
    for at, value in _values(shape, stored):
        if at in odd:
            continue
        evaluated.add(at)
        mine = errors.get(at)
        if isinstance(value, CellError) and mine is not None:
            source = owner.get(id(value))
            if source is not None and source != at:
                comes_from[at] = source
            continue
        cell = shape.cached(at)
        has = mine if mine is not None else computed.get(at) if at in computed else None if cell is None else cell.value
        if mine is None and not alike(has, value):  # an error is told as one, whatever the formula should give
            stale[at] = (has, value)
    for at in errors.keys() - evaluated:
        if (source := _read_error(shape, at, errors)) is not None:
            comes_from[at] = source
    roots = {at for at in errors if at not in comes_from}
    followers: Counter[Cell] = Counter()
    for at in comes_from:
        seen = {at}
        top = comes_from[at]
        while top in comes_from and top not in seen:
            seen.add(top)
            top = comes_from[top]
        followers[top] += 1
    return stale, roots, followers


def _read_error(shape: Shape, at: Cell, errors: dict[Cell, CellError]) -> Cell | None:
    """A cell with an error that a formula reads."""
    for a in shape.where.areas(shape.formula_at(at), *at):
        if (a.top, a.left) == (a.bottom, a.right):
            inside: Iterable[Cell] = [(a.sheet, a.top, a.left)]
        else:
            inside = (e for e in errors if e[0] == a.sheet and a.top <= e[1] <= a.bottom and a.left <= e[2] <= a.right)
        source = next((e for e in inside if e in errors and e != at), None)
        if source is not None:
            return source
    return None


def _as_stored(shape: Shape, errors: dict[Cell, CellError], computed: dict[Cell, Any]) -> Cells:
    """All tables with their stored values; nothing left to compute."""
    tables: dict[str, TableValues] = {}
    for name, region in shape.where.regions.items():
        ws = shape.book.values[region.sheet]._cells
        columns: dict[str, list[Any]] = {}
        for column, number in region.columns.items():
            values: list[Any] = []
            for row in range(region.first, region.first + region.count):
                at = (region.sheet, row, number)
                cell = ws.get((row, number))
                value = errors.get(at) or computed.get(at, None if cell is None else cell.value)
                if value is None and shape.formula_at(at):
                    value = ""
                if isinstance(value, str) and value in ERRORS:
                    value = CellError(value)
                values.append(_as_number(value))
            columns[column] = values
        tables[name] = TableValues(name, region.count, columns, {})
    names: dict[str, Any] = {}
    for name in shape.book.formulas.defined_names:
        target = named_cell(shape.book, name)
        if target is not None:
            value = _as_number(shape.book.values[target[0]].cell(*target[1:]).value)
            names[name] = errors.get(target) or (CellError(value) if isinstance(value, str) and value in ERRORS else value)
    return Cells(tables, names)


def _as_number(value: Any) -> Any:
    value = serial(value)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _values(shape: Shape, stored: Cells) -> Iterator[tuple[Cell, Any]]:
    """The value of each cell whose formula is known."""
    columns: dict[int, tuple[Expr, str, list[Cell]]] = {}
    for at, wanted in shape.wanted.items():
        e = wanted.expression
        if e is None:
            continue
        if id(e) in columns:
            columns[id(e)][2].append(at)
        else:
            columns[id(e)] = (e, wanted.table, [at])
    for e, table, cells in columns.values():
        if not _computable(e, stored):
            continue
        region = shape.book.regions.get(table)
        run = stored.by_row(e)
        for at in cells:
            yield at, run(at[1] - region.first if region is not None else 0)


def _computable(e: Expr, stored: Cells) -> bool:
    """Whether the book has every cell that an expression reads; a function of the add-in is not called."""
    for table, column in needs(e):
        if table not in stored.tables or column not in stored.tables[table].columns:
            return False
    return not any(op in ("called", "whole") or (op == "name" and args[0] not in stored.names) for op, args in _nodes(e))


def _nodes(e: Expr) -> Iterable[tuple[str, Any]]:
    yield e.op, e.args
    for a in e.args:
        if isinstance(a, Expr):
            yield from _nodes(a)


def alike(stored: Any, value: Any) -> bool:
    """Whether a stored value is what the formula gives."""
    stored, value = _as_number(stored), _as_number(value)
    if isinstance(value, CellError) or isinstance(stored, CellError):
        return isinstance(value, CellError) and isinstance(stored, CellError)
    if value is None or value == "":
        return stored is None or stored == ""
    if isinstance(value, bool) or isinstance(stored, bool):
        return stored is value
    if isinstance(value, float) and isinstance(stored, float):
        return abs(value - stored) <= max(REL * max(abs(value), abs(stored)), ABS)
    return bool(stored == value)
