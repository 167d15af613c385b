"""What a book should look like: where its formulas stand and how they read.

Here: the template's tables laid over the book's; for a book of another layout, its own columns. Not here: what is made of a difference
(`formulas`, `surface`). A book of the layout that this version writes (property gpuecon_layout) is held against the template. Another
one (an older version) is held against itself: the formula that a column has in most of its rows is the column's.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from gpuecon_xl import formula
from gpuecon_xl.audit.references import Where, spelled
from gpuecon_xl.catalog import shipped
from gpuecon_xl.lang import Texts
from gpuecon_xl.ops import Expr
from gpuecon_xl.reader import OpenBook, Region, named_cell
from gpuecon_xl.sheets import book as books
from gpuecon_xl.sheets.digest import layout
from gpuecon_xl.sheets.model import BookSpec, Column, SheetSpec, TableSpec

Cell = tuple[str, int, int]  # sheet, row, column

MASTER_AT = (3, 2)  # where the master check stands on every sheet
LABELS_ABOVE = 3  # rows from a table's first row up to its labels
MOST = 2  # a column's formula is the one of more than one in two rows


@dataclass(frozen=True)
class Wanted:
    """A cell that holds a formula: its text; `expression` where the template's is known.

    text is empty where only known is that some formula is due.
    """

    text: str
    expression: Expr | None = None
    table: str = ""
    column: str = ""


@dataclass
class Shape:
    """A book beside what it should be."""

    book: OpenBook
    spec: BookSpec
    current: bool  # of the layout that this version writes
    version: str
    where: Where
    wanted: dict[Cell, Wanted] = field(default_factory=dict)
    sheets: dict[str, str] = field(default_factory=dict)  # key of a sheet: its title in the book
    tables: dict[str, tuple[SheetSpec, TableSpec]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # a workbook looks through all its sheets for each title
        self._cells = {ws.title: ws._cells for ws in self.book.formulas.worksheets}
        self._cached = {ws.title: ws._cells for ws in self.book.values.worksheets}

    def cell(self, at: Cell) -> Any:
        """The cell as it stands, or None."""
        return self._cells[at[0]].get(at[1:])

    def formula_at(self, at: Cell) -> str:
        """The formula of a cell, empty when it holds none."""
        return formula_text(self.cell(at))

    def cached(self, at: Cell) -> Any:
        """The cell with the value that was stored, or None."""
        return self._cached[at[0]].get(at[1:])

    def column(self, table: str, column: str) -> Column | None:
        """What the template knows of a column."""
        known = self.tables.get(table)
        return next((c for c in known[1].columns if c.name == column), None) if known is not None else None


def formula_text(cell: Any) -> str:
    """The formula of a cell, array formulas too; empty when it holds none."""
    if cell is None or cell.data_type != "f":
        return ""
    value = cell.value
    if isinstance(value, str):
        return value
    text = str(getattr(value, "text", None) or "")
    return text if text.startswith("=") else f"={text}"


def shape_of(book: OpenBook, texts: Texts) -> Shape:
    """Lay the template over a book."""
    spec = books.build(shipped(), book.lang, book.flavour)
    properties = {p.name: str(p.value) for p in book.formulas.custom_doc_props.props}
    placed = spec.all_tables()
    current = properties.get("gpuecon_layout") == layout(spec)
    titles = book.formulas.sheetnames
    sheets: dict[str, str] = {}
    for s, t, _, _ in placed.values():
        if t.name in book.regions:
            sheets.setdefault(s.key, book.regions[t.name].sheet)
    for s in spec.sheets:
        if s.key not in sheets and books.title(texts, s) in titles:
            sheets[s.key] = books.title(texts, s)
    regions = dict(book.regions)
    for name, (s, t, header, first) in placed.items():
        if name not in regions and s.key in sheets:  # a table that is gone: references to its cells still mean them
            regions[name] = Region(sheets[s.key], header + 2, len(t.rows), {c.name: first + 1 + i for i, c in enumerate(t.columns)})
    names = {n: named_cell(book, n) for n in book.formulas.defined_names}
    for ws in book.formulas.worksheets:
        names |= {n: None for n in ws.defined_names if n not in names}
    shape = Shape(book, spec, current, properties.get("gpuecon_version", ""), Where(regions, names, titles), sheets=sheets)
    shape.tables = {n: (s, t if current else as_made(book, n, t)) for n, (s, t, _, _) in placed.items()}
    for name, region in book.regions.items():
        for column, at in region.columns.items():
            _expect(shape, name, region, column, at)
    _expect_free(shape)
    return shape


def as_made(book: OpenBook, name: str, t: TableSpec) -> TableSpec:
    """A table as an older book has it: what people edit today may have been a formula then."""
    region = book.regions.get(name)
    if region is None:
        return t
    cells = book.formulas[region.sheet]._cells

    def computed(column: str) -> bool:
        at = region.columns.get(column)
        rows = range(region.first, region.first + region.count)
        return at is not None and sum(bool(formula_text(cells.get((r, at)))) for r in rows) * MOST > region.count

    return replace(t, columns=[c for c in t.columns if c.kind != "input" or not computed(c.name)])


def _expect(shape: Shape, table: str, region: Region, column: str, at: int) -> None:
    """Say what the cells of a column should hold."""
    known = shape.column(table, column)
    cells: list[Cell] = [(region.sheet, region.first + r, at) for r in range(region.count)]
    if shape.current:
        if known is not None and known.formula is not None:
            _expect_known(shape, table, known, cells)
        return
    if known is not None and known.kind == "input":
        return
    texts = [shape.formula_at(c) for c in cells]
    filled = sum(map(bool, texts))
    spellings = Counter(spelled(t, c[1], c[2]) for t, c in zip(texts, cells, strict=True) if t)
    most, count = spellings.most_common(1)[0] if spellings else ((), 0)
    uniform = known is not None and not isinstance(known.formula, list)  # of a column that is not known, only that formulas stand in it
    if uniform and region.count > 1 and count * MOST > region.count:
        sample = next(i for i, t in enumerate(texts) if t and spelled(t, cells[i][1], cells[i][2]) == most)
        e = _expression(shape, known, texts[sample], cells[sample])
        for c in cells:
            shape.wanted[c] = Wanted(moved(texts[sample], cells[sample], c), e, table, column)
    elif filled * MOST > region.count or (known is not None and known.kind == "formula" and region.count == 1):
        own = known.formula if known is not None and isinstance(known.formula, list) and len(known.formula) == region.count else None
        for i, (c, t) in enumerate(zip(cells, texts, strict=True)):
            e = own[i] if own is not None else known.formula if known is not None and isinstance(known.formula, Expr) else None
            e = _expression(shape, known, t, c, e) if t else e
            shape.wanted[c] = Wanted(t or ("" if e is None else "=" + formula.text(e)), e, table, column)


def moved(text: str, origin: Cell, target: Cell) -> str:
    """A formula as it reads when it is filled from one cell into another."""
    if origin == target:
        return text
    from openpyxl.formula.translate import Translator

    from gpuecon_xl.audit.findings import address

    if not any(t[0] == "area" for t in spelled(text, origin[1], origin[2])):
        return text
    return str(Translator(text, origin=address(*origin[1:])).translate_formula(address(*target[1:])))


def _expression(shape: Shape, known: Column | None, text: str, at: Cell, e: Expr | None = None) -> Expr | None:
    """The template's expression, if the book's formula still is the template's."""
    if e is None and known is not None and isinstance(known.formula, Expr):
        e = known.formula
    return e if e is not None and shape.where.same(text, "=" + formula.text(e), *at) else None


def _expect_known(shape: Shape, table: str, known: Column, cells: list[Cell]) -> None:
    if isinstance(known.formula, list):
        for c, e in zip(cells, known.formula, strict=False):
            if e is not None:
                shape.wanted[c] = Wanted("=" + formula.text(e), e, table, known.name)
    elif known.formula is not None:
        wanted = Wanted("=" + formula.text(known.formula), known.formula, table, known.name)
        for c in cells:
            shape.wanted[c] = wanted


def _expect_free(shape: Shape) -> None:
    """Formula cells outside tables: the master check of each sheet, live labels."""
    master = "=" + formula.text(books.MASTER)
    for s in shape.spec.sheets:
        title = shape.sheets.get(s.key)
        regions = [(t, shape.book.regions[t.name]) for t, _, _ in s.tables() if t.name in shape.book.regions]
        if title is None or not regions:
            continue
        head = min(r.first for _, r in regions)
        top = [at for at in shape.book.formulas[title]._cells if at[0] < head]  # rows may have been put in above
        spot = next((at for at in top if shape.where.same(shape.formula_at((title, *at)), master, title, *at)), MASTER_AT)
        shape.wanted[(title, *spot)] = Wanted(master, books.MASTER)
        for t, r in regions if shape.current else ():
            for c in t.columns:
                if c.heading is not None and c.name in r.columns:
                    at = (title, r.first - LABELS_ABOVE, r.columns[c.name])
                    shape.wanted[at] = Wanted("=" + formula.text(c.heading), c.heading)
