"""The vocabulary of sheets: books, sheets, tables, columns, charts.

Here: what a sheet module says, and how an equation's parameters find their cells. Not here: files and looks (`writer`),
values (`cells`), what stands on each sheet (the other modules of this package).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gpuecon_xl import graph
from gpuecon_xl.ops import Expr, col, equal, index, lift, name, this, where
from gpuecon_xl.quantity import REGISTRY
from gpuecon_xl.schema import Field

SPARE_ROWS = 25  # blank rows that each input table ships


@dataclass
class Column:
    """A column of a table.

    kind: ``input`` (edited by people), ``fixed`` (a constant of the layout), ``formula``.
    """

    name: str
    kind: str
    fmt: str = "general"
    width: int = 12
    unit: str = ""
    field: Field | None = None
    formula: Expr | list[Expr | None] | None = None
    label: str = ""  # key of the label's text; the column's own name when empty
    heading: Expr | None = None  # a live label instead
    fmts: tuple[str, ...] = ()  # a format of its own for each row


@dataclass
class TableSpec:
    """A table: its name in the workbook, its columns, its rows.

    guard: column that is blank in rows without content; formulas of such rows give "".
    rows: values of input and fixed columns. scale: columns that carry a colour scale, by kind.
    """

    name: str
    columns: list[Column] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    guard: str = ""
    joins: list[tuple[str, Expr]] = field(default_factory=list)
    given: dict[str, Expr] = field(default_factory=dict)
    title: str = ""
    note: str = ""
    scale: dict[str, str] = field(default_factory=dict)
    catalog_table: str = ""  # the catalogue's table that an input table holds
    spare: int = 0  # blank rows at the end
    spill: bool = False  # the last column may run on over the empty cells beside it
    written_in: dict[str, tuple[str, ...]] = field(default_factory=dict)  # equations that stand inside another one's formula
    _made: list[tuple[Expr, str]] = field(default_factory=list)

    # ---- building ----

    def column(self, wanted: str) -> Column:
        """A column by name."""
        return next(c for c in self.columns if c.name == wanted)

    def has(self, wanted: str) -> bool:
        """Whether a column of that name exists."""
        return any(c.name == wanted for c in self.columns)

    def cell(self, column: str) -> Expr:
        """The cell of a column in the same row."""
        if not self.has(column):
            raise KeyError(f"{self.name} has no column {column}")
        return this(self.name, column)

    def fixed(self, column: str, values: Sequence[Any], fmt: str = "general", width: int = 12, unit: str = "", label: str = "") -> TableSpec:
        """Add a column of constants."""
        while len(self.rows) < len(values):
            self.rows.append({})
        for row, value in zip(self.rows, values, strict=False):
            row[column] = value
        self.columns.append(Column(column, "fixed", fmt, width, unit, label=label))
        return self

    def inputs(
        self, column: str, values: Sequence[Any], fmt: str = "general", width: int = 12, unit: str = "", described: Field | None = None
    ) -> TableSpec:
        """Add a column that people edit."""
        self.fixed(column, values, fmt, width, unit)
        self.columns[-1].kind = "input"
        self.columns[-1].field = described
        return self

    def formula(
        self,
        column: str,
        expression: Any,
        fmt: str = "general",
        width: int = 12,
        unit: str = "",
        label: str = "",
        guarded: bool = True,
        heading: Expr | None = None,
    ) -> TableSpec:
        """Add a computed column; in a row whose guard is blank it gives ""."""
        e = lift(expression)
        if guarded and self.guard and column != self.guard:
            e = where(equal(this(self.name, self.guard), ""), "", e)
        self.columns.append(Column(column, "formula", fmt, width, unit, formula=e, label=label, heading=heading))
        return self

    def each(
        self, column: str, expressions: Sequence[Any], fmt: str = "general", width: int = 12, unit: str = "", fmts: Sequence[str] = ()
    ) -> TableSpec:
        """Add a column with a formula of its own in each row (None leaves the cell empty)."""
        self.columns.append(
            Column(column, "formula", fmt, width, unit, formula=[None if e is None else lift(e) for e in expressions], fmts=tuple(fmts))
        )
        return self

    def quantity(self, quantity: str, fmt: str = "", width: int = 12, as_: str = "", **given: Any) -> TableSpec:
        """Add an equation as a column; its parameters become cells of this row, joined rows, names or inlined equations."""
        q = REGISTRY[quantity]
        return self.formula(as_ or quantity, self.expression(quantity, **given), fmt or _format(q.unit), width, q.unit, label=quantity)

    def expression(self, quantity: str, **given: Any) -> Expr:
        """An equation over this table's cells."""
        extra = {k: lift(v) for k, v in given.items()}
        inside: list[str] = []

        def known(e: Expr) -> Expr:
            inside.extend(n for made, n in self._made if made is e)
            return e

        def leaf(parameter: str) -> Expr:
            if parameter in extra:
                return known(extra[parameter])
            if self.has(parameter):
                return this(self.name, parameter)
            if parameter in self.given:
                return known(self.given[parameter])
            for table, row in self.joins:
                if parameter in JOINABLE.get(table, ()):
                    return index(col(table, parameter), row)
            if parameter in ASSUMPTIONS:
                return name(parameter)
            if parameter in REGISTRY:
                inside.append(parameter)
                return graph.substitute(graph.traced(parameter), leaf)
            raise KeyError(f"{self.name}: nothing gives {parameter}, which {quantity} needs")

        made = graph.substitute(graph.traced(quantity), leaf)
        self._made.append((made, quantity))
        self.written_in[quantity] = tuple(dict.fromkeys(inside))
        return made

    def joined(self, column: str) -> Expr:
        """The cell of a joined row."""
        for table, row in self.joins:
            if column in JOINABLE.get(table, ()):
                return index(col(table, column), row)
        raise KeyError(f"{self.name} joins no table with {column}")

    def lead(self, *columns: str) -> TableSpec:
        """Put these columns first, in this order; workings follow."""
        front = {c: i for i, c in enumerate(columns)}
        for c in columns:
            self.column(c)
        self.columns.sort(key=lambda c: front.get(c.name, len(front)))
        return self


def _format(unit: str) -> str:
    base = unit.split("/")[0].strip()
    if unit == "text":
        return "text"
    if unit in ("s",):
        return "seconds"
    if unit == "1":
        return "ratio"
    if base in ("EUR", "money"):
        return "rate" if "token" in unit else "money"
    if base in ("sequence", "replica", "card", "token", "1e6 output tokens", "µs", "W", "h", "month"):
        return "one" if unit in ("µs", "month") else "whole"
    return "one"


# Columns of tables that rows may be joined to, and names of assumptions; filled by the book before its sheets are made.
JOINABLE: dict[str, tuple[str, ...]] = {}
ASSUMPTIONS: set[str] = set()


@dataclass
class Chart:
    """A chart over columns of a table.

    kind: ``column``, ``bar``, ``line``, ``stacked`` or ``scatter``. Series: (column, key of its label).
    rows: first and last row of the table shown (0-based), None for all.
    """

    kind: str
    table: str
    categories: str
    series: list[tuple[str, str]]
    title: str
    x_title: str
    y_title: str
    rows: tuple[int, int] | None = None
    width: int = 590
    height: int = 380
    y_format: str = ""
    side: int = 0  # 0 at the left, 1 beside it


@dataclass
class Block:
    """Something placed on a sheet: a table, a chart, or lines of text."""

    kind: str  # table, chart, text
    content: Any
    row: int
    column: int = 0


@dataclass
class SheetSpec:
    """A sheet: key of its title and purpose, whether people edit it, its blocks."""

    key: str
    editable: bool
    blocks: list[Block] = field(default_factory=list)
    landscape: bool = True
    freeze_columns: int = 1
    print_columns: int = 0  # columns of the print area, 0 for all
    tab: str = "calc"  # colour of the tab: input, calc, result, info

    FIRST_ROW = 4  # rows above: title, purpose, master check, blank

    def table(self, spec: TableSpec, row: int | None = None, column: int = 0) -> TableSpec:
        """Place a table below everything so far, or at a row and column; rows above it hold its title, labels and units."""
        self.blocks.append(Block("table", spec, self.next_row() if row is None else row, column))
        return spec

    def text(self, key: str, row: int | None = None, column: int = 0) -> None:
        """Place a line of text."""
        self.blocks.append(Block("text", key, self.next_row() if row is None else row, column))

    def chart(self, *charts: Chart) -> None:
        """Place a chart, or two side by side, below everything so far."""
        row = self.next_row()
        for side, c in enumerate(charts):
            c.side = side
            self.blocks.append(Block("chart", c, row))

    def next_row(self) -> int:
        """First free row."""
        last = self.FIRST_ROW
        for b in self.blocks:
            last = max(last, b.row + height(b))
        return last

    def tables(self) -> list[tuple[TableSpec, int, int]]:
        """Tables with the row of their header and their first column."""
        return [(b.content, b.row + HEAD_ROWS, b.column) for b in self.blocks if b.kind == "table"]


HEAD_ROWS = 3  # above a table's header: title, labels, units


def height(block: Block) -> int:
    """Rows that a block takes, with a blank row after it."""
    if block.kind == "table":
        return HEAD_ROWS + 1 + len(block.content.rows) + 2
    if block.kind == "chart":
        return int(block.content.height // 20 + 2)
    return 1


@dataclass
class BookSpec:
    """A workbook: its sheets in order, its names, its language."""

    sheets: list[SheetSpec]
    lang: str
    flavour: str = "plain"

    def all_tables(self) -> dict[str, tuple[SheetSpec, TableSpec, int, int]]:
        """Every table by name, with its sheet, header row and first column."""
        return {t.name: (s, t, r, c) for s in self.sheets for t, r, c in s.tables()}
