"""Names, tables, links to other files, what is hidden, what is protected.

Here: what a reviewer does not see in the cells. Not here: formulas (`formulas`), inputs (`inputs`).
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from typing import Any

from gpuecon_xl.audit.findings import Findings, address, runs
from gpuecon_xl.audit.references import outside
from gpuecon_xl.audit.shape import Shape, formula_text
from gpuecon_xl.catalog import shipped
from gpuecon_xl.reader import Region, named_cell
from gpuecon_xl.schema import BY_BOOK_NAME
from gpuecon_xl.sheets import book as books
from gpuecon_xl.sheets.model import TableSpec

_LINKS = re.compile(r"^xl/(externalLinks/externalLink\d+\.xml|connections\.xml|queryTables/.+\.xml)$")


def check_names(shape: Shape, found: Findings) -> None:
    """Names that are gone, point elsewhere, or lead nowhere."""
    book = shape.book
    region = book.regions.get("Assumptions")
    defined = [(n, d, "") for n, d in book.formulas.defined_names.items()]
    defined += [(n, d, ws.title) for ws in book.formulas.worksheets for n, d in ws.defined_names.items()]
    rows: dict[str, tuple[str, int, int]] = {}
    if region is not None and "value" in region.columns and "name" in region.columns:
        for r in range(region.count):
            rows.setdefault(str(book.raw(region, "name", r) or "").strip(), (region.sheet, region.first + r, region.columns["value"]))
    for name in shipped().assumptions:
        at = rows.get(name)
        if at is None:
            if shape.current and region is not None:
                found.add("name", region.sheet, (region.first - 1, region.columns.get("name", 1)), "name_row", name=name)
            continue
        due = found.texts("audit.name_due", name=name, place=f"{at[0]}!{address(*at[1:])}")
        if name not in book.formulas.defined_names:
            found.add("name", at[0], at[1:], "name_gone", due=due, name=name)
            continue
        text = str(book.formulas.defined_names[name].attr_text or "")
        points = named_cell(book, name)
        if points != at and "#REF!" not in text.upper():
            where = f"{points[0]}!{address(*points[1:])}" if points is not None else text
            found.add("name", at[0], at[1:], "name_moved", due=due, name=name, found=where)
    for name, d, sheet in defined:
        text = str(d.attr_text or "")
        at = rows.get(name) if not sheet else None
        title = at[0] if at is not None else sheet or str(book.formulas.sheetnames[0])
        cell = at[1:] if at is not None else None
        if "#REF!" in text.upper():
            found.add("broken", title, cell, "broken_name", name=name, found=text)
        elif outside("=" + text):
            found.add("external", title, cell, "external_name", name=name, found=text)


def check_tables(shape: Shape, found: Findings) -> None:
    """Tables that are gone or have lost columns or rows."""
    book = shape.book
    for name, (s, t) in shape.tables.items():
        region = book.regions.get(name)
        if region is None:
            if shape.current or name in BY_BOOK_NAME:
                fallback = shape.where.regions.get(name)
                title = fallback.sheet if fallback is not None else books.title(found.texts, s)
                at = (fallback.first - 1, min(fallback.columns.values())) if fallback is not None else None
                found.add("table", title, at, "table_gone", table=name)
            continue
        key = BY_BOOK_NAME[name].key if name in BY_BOOK_NAME else ""
        for c in t.columns:
            if c.name not in region.columns and (shape.current or c.name == key):
                _lost_column(found, t, region, c.name)
        computed = any(c.kind != "input" for c in t.columns) and not t.catalog_table
        if shape.current and computed and region.count < len(t.rows):
            first = min(region.columns.values())
            found.add("table", region.sheet, (region.first - 1, first), "rows_gone", table=name, found=region.count, rows=len(t.rows))
    if not shape.current:
        _odd_heads(shape, found)


def _lost_column(found: Findings, t: TableSpec, region: Region, column: str) -> None:
    """A column that is not there; where it should be there may stand another head."""
    order = [c.name for c in t.columns]
    left = min(region.columns.values())
    at = left + order.index(column)
    stands = next((h for h, n in region.columns.items() if n == at), "")
    if stands in order:  # columns have moved up
        found.add("table", region.sheet, (region.first - 1, at), "column_gone", due=column, table=t.name, column=column)
    else:
        found.add("table", region.sheet, (region.first - 1, at), "column_renamed", due=column, table=t.name, column=column, found=stands)


def _odd_heads(shape: Shape, found: Findings) -> None:
    """Heads that are not what the table itself says they are."""
    for ws in shape.book.formulas.worksheets:
        for t in ws.tables.values():
            region = shape.book.regions.get(t.name)
            if region is None:
                continue
            left = min(region.columns.values(), default=1)
            for i, c in enumerate(t.tableColumns):
                stands = str(ws.cell(region.first - 1, left + i).value or "").strip()
                if stands != str(c.name).strip():
                    at = (region.first - 1, left + i)
                    found.add("table", ws.title, at, "column_renamed", due=str(c.name), table=t.name, column=c.name, found=stands)


# ------------------------------------------------------------------------------------------------ other files


def check_links(shape: Shape, found: Findings) -> None:
    """Links to other files that no formula names, and validations or formats that read other files."""
    book = shape.book
    with zipfile.ZipFile(book.path) as package:
        parts = [n for n in package.namelist() if _LINKS.match(n)]
        targets = [t for n in parts for t in _targets(package, n)]
    if parts and not found.any_of("external"):
        found.add("external", book.formulas.sheetnames[0], None, "external_part", count=len(parts), found=", ".join(targets) or parts[0])
    for ws in book.formulas.worksheets:
        rules: list[tuple[str, str]] = [(str(v.sqref), str(f)) for v in ws.data_validations.dataValidation for f in (v.formula1, v.formula2) if f]
        rules += [(str(c.sqref), str(f)) for c in ws.conditional_formatting for r in c.rules for f in r.formula or ()]
        for cells, text in rules:
            at = _first_of(cells)
            if "#REF!" in text:
                found.add("broken", ws.title, at, "broken_rule", found=text)
            elif outside("=" + text.removeprefix("=")):
                found.add("external", ws.title, at, "external_rule", found=text)


def _targets(package: zipfile.ZipFile, part: str) -> Iterator[str]:
    folder, _, name = part.rpartition("/")
    rels = f"{folder}/_rels/{name}.rels"
    if rels in package.namelist():
        yield from re.findall(r'Target="([^"]*)"', package.read(rels).decode("utf-8", "replace"))


def _first_of(cells: str) -> tuple[int, int]:
    from openpyxl.utils import range_boundaries

    left, top, _, _ = range_boundaries(cells.split()[0])
    return top or 1, left or 1


# ------------------------------------------------------------------------------------------------ hidden


def check_hidden(shape: Shape, found: Findings) -> None:
    """Sheets, rows and columns with content that nobody sees; the template hides none."""
    for ws in shape.book.formulas.worksheets:
        if ws.sheet_state != "visible":
            found.add("hidden", ws.title, (1, 1), "hidden_sheet", title=ws.title)
        filled = [at for at, cell in ws._cells.items() if cell.value is not None]
        rows, columns = {r for r, _ in filled}, {c for _, c in filled}
        flat = {r for r, d in ws.row_dimensions.items() if d.hidden or d.height == 0} & rows
        if ws.sheet_format.zeroHeight:
            flat |= rows - {r for r, d in ws.row_dimensions.items() if not d.hidden}
        narrow = {c for d in ws.column_dimensions.values() if d.hidden or d.width == 0 for c in range(d.min or 0, (d.max or 0) + 1)} & columns
        filtered = bool(ws.auto_filter.filterColumn) or any(t.autoFilter is not None and t.autoFilter.filterColumn for t in ws.tables.values())
        for first, last in runs(flat):
            found.add("hidden", ws.title, (first, 1), "hidden_filter" if filtered else "hidden_rows", count=last - first + 1, rows=_span(first, last))
        for first, last in runs(narrow):
            span = _span(address(1, first).rstrip("1"), address(1, last).rstrip("1"))
            found.add("hidden", ws.title, (1, first), "hidden_columns", count=last - first + 1, columns=span)


def _span(first: object, last: object) -> str:
    return str(first) if first == last else f"{first}–{last}"


# ------------------------------------------------------------------------------------------------ protection


def check_protection(shape: Shape, found: Findings) -> None:
    """Formulas that anybody can overwrite, inputs that nobody can change."""
    locked: dict[int, bool] = {}

    def is_locked(cell: Any) -> bool:
        style = cell._style.protectionId
        if style not in locked:
            locked[style] = bool(cell.protection.locked)
        return locked[style]

    open_: dict[tuple[str, int], set[int]] = {}
    shut: dict[tuple[str, int], set[int]] = {}
    for at in shape.wanted:
        cell = shape.cell(at)
        if cell is not None and formula_text(cell) and not is_locked(cell):
            open_.setdefault((at[0], at[2]), set()).add(at[1])
    for name, (s, t) in shape.tables.items():
        region = shape.book.regions.get(name)
        if region is None:
            continue
        ws = shape.book.formulas[region.sheet]
        if not s.editable and not ws.protection.sheet:
            first = min((at[1:] for at in shape.wanted if at[0] == region.sheet), default=(region.first, 1))
            found.add("unprotected", region.sheet, first, "unprotected_sheet")
        inputs = [region.columns[c.name] for c in t.columns if c.kind == "input" and c.name in region.columns]
        for row in range(region.first, region.first + region.count):
            there = {column: cell for column in inputs if (cell := ws._cells.get((row, column))) is not None}
            closed = [column for column, cell in there.items() if is_locked(cell)]
            # a row that was added below has no look of its own: all of it counts as locked, which matters on a protected sheet only
            for column in closed if ws.protection.sheet or len(closed) < len(there) else ():
                shut.setdefault((region.sheet, column), set()).add(row)
    for cells, kind in ((open_, "unprotected"), (shut, "locked")):
        for (title, column), rows in cells.items():
            for top, last in runs(rows):
                found.add(kind, title, (top, column), count=last - top + 1)
