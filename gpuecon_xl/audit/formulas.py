"""Formulas that were overwritten, altered, broken, or that read what they should not.

Here: every formula cell against what is due there; a user's own formulas. Not here: what is due (`shape`), values (`stored`).
"""

from __future__ import annotations

from collections.abc import Iterator

from gpuecon_xl.audit.findings import Findings, address
from gpuecon_xl.audit.references import Area, outside, volatile
from gpuecon_xl.audit.shape import Cell, Shape, Wanted

MAX_PATH = 6  # cells of a circle that are named


def check_formulas(shape: Shape, found: Findings) -> set[Cell]:
    """Find them; the cells whose formula is not the template's."""
    odd: set[Cell] = set()
    lost: dict[str, list[Cell]] = {}
    for at, wanted in shape.wanted.items():
        cell = shape.cell(at)
        text = shape.formula_at(at)
        if not text:
            _overwritten(shape, found, at, wanted, None if cell is None else cell.value)
            odd.add(at)
        elif wanted.text and not shape.where.same(text, wanted.text, *at):
            odd.add(at)
            if not _faults(shape, found, at, text, wanted.text):
                found.add("formula", at[0], at[1:], due=wanted.text, found=text)
        elif not shape.current and (gone := shape.where.broken(text, *at)):
            lost.setdefault(gone, []).append(at)
    for gone, cells in lost.items():
        found.add("broken", cells[0][0], cells[0][1:], count=len(cells), found=gone)
    for ws in shape.book.formulas.worksheets:
        for (row, column), cell in ws._cells.items():
            at = (ws.title, row, column)
            if cell.data_type == "f" and at not in shape.wanted:
                odd.add(at)
                _faults(shape, found, at, shape.formula_at(at), "")
    _fixed(shape, found)
    return odd


def _overwritten(shape: Shape, found: Findings, at: Cell, wanted: Wanted, value: object) -> None:
    if value is None or value == "":
        found.add("constant", at[0], at[1:], "constant_empty", due=wanted.text or shape_due(found))
    else:
        found.add("constant", at[0], at[1:], due=wanted.text or shape_due(found), found=value)


def shape_due(found: Findings) -> str:
    """What is said where only known is that a formula is due."""
    return found.texts("audit.formula_of_column")


def _faults(shape: Shape, found: Findings, at: Cell, text: str, due: str) -> bool:
    """What is wrong with a formula in itself; whether anything is."""
    gone, other, restless = shape.where.broken(text, *at), outside(text), volatile(text)
    for kind, what in (("broken", gone if not other else ""), ("external", other), ("volatile", restless)):
        if what:
            found.add(kind, at[0], at[1:], due=due, found=what)
    return bool(gone or other or restless)


def _fixed(shape: Shape, found: Findings) -> None:
    """Figures of the layout that formulas count with."""
    if not shape.current:
        return
    for name, (_, t) in shape.tables.items():
        region = shape.book.regions.get(name)
        for c in t.columns if region is not None else ():
            if c.kind != "fixed" or region is None or c.name not in region.columns:
                continue
            for r, row in enumerate(t.rows[: region.count]):
                value = row.get(c.name)
                at = (region.sheet, region.first + r, region.columns[c.name])
                cell = shape.cell(at)
                has = None if cell is None else cell.value
                if isinstance(value, float) and (not isinstance(has, int | float) or abs(has - value) > abs(value) * SAME):
                    found.add("fixed", at[0], at[1:], due=f"{value:.12g}", found="" if has is None else has)


SAME = 1e-12  # a number that was stored and read again


# ------------------------------------------------------------------------------------------------ circles

_Node = tuple[str, int, int] | Area


def check_circles(shape: Shape, found: Findings, odd: set[Cell]) -> None:
    """Cells that depend on themselves; only a formula that is not the template's can close a circle."""
    for circle in _circles(shape, odd):
        cells = sorted(n for n in circle if not isinstance(n, Area))
        first = min((c for c in cells if c in odd), default=cells[0])
        path = ", ".join(f"{s}!{address(r, c)}" for s, r, c in cells[:MAX_PATH]) + (" …" if len(cells) > MAX_PATH else "")
        wanted = shape.wanted.get(first)
        found.add("circular", first[0], first[1:], due=wanted.text if wanted is not None else "", count=len(cells), path=path)


def _reads(shape: Shape, node: _Node) -> list[_Node]:
    """What a cell's formula reads: cells, and larger areas as nodes of their own, which lead on to their formula cells."""
    if isinstance(node, Area):
        cells = shape.book.formulas[node.sheet]._cells
        if (node.bottom - node.top + 1) * (node.right - node.left + 1) > len(cells):
            return [(node.sheet, r, c) for (r, c), cell in cells.items()
                    if cell.data_type == "f" and node.top <= r <= node.bottom and node.left <= c <= node.right]  # fmt: skip
        return [(node.sheet, r, c) for r in range(node.top, node.bottom + 1) for c in range(node.left, node.right + 1)
                if (cell := cells.get((r, c))) is not None and cell.data_type == "f"]  # fmt: skip
    text = shape.formula_at(node)
    out: list[_Node] = []
    for a in shape.where.areas(text, *node) if text else ():
        out.append((a.sheet, a.top, a.left) if (a.top, a.left) == (a.bottom, a.right) else a)
    return out


def _circles(shape: Shape, start: set[Cell]) -> list[list[_Node]]:
    """Strongly connected cells that can be reached from the start (Tarjan's way, without recursion)."""
    index: dict[_Node, int] = {}
    low: dict[_Node, int] = {}
    stack: list[_Node] = []
    held: set[_Node] = set()
    out: list[list[_Node]] = []
    for root in sorted(start):
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        held.add(root)
        work: list[tuple[_Node, Iterator[_Node]]] = [(root, iter(_reads(shape, root)))]
        while work:
            node, rest = work[-1]
            for child in rest:
                if child not in index:
                    index[child] = low[child] = len(index)
                    stack.append(child)
                    held.add(child)
                    work.append((child, iter(_reads(shape, child))))
                    break
                if child in held:
                    low[node] = min(low[node], index[child])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while True:
                        last = stack.pop()
                        held.discard(last)
                        group.append(last)
                        if last == node:
                            break
                    if len(group) > 1 or node in _reads(shape, node):
                        out.append(group)
    return out
