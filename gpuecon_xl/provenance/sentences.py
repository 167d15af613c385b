"""A figure's lineage as people read it and as JSON takes it.

Here: lines, rows of tables, words of a language. Not here: what is found (`lineage`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from gpuecon_xl.lang import Texts
from gpuecon_xl.provenance.lineage import RANGE, Figure, Lineage

_ALWAYS = (
    "cell",
    "kind",
    "role",
    "table",
    "row",
    "column",
    "label",
    "value",
    "unit",
)  # JSON has these of every cell, others where they say something
_FORMULA_SHOWN = 300  # characters; the whole formula is in the cell and in the JSON

UNVERIFIED = "unverified"


def plain(found: Lineage, texts: Texts) -> dict[str, Any]:
    """As JSON takes it."""
    return {
        "book": found.book, "lang": found.lang, **_plain(found.figure, texts),
        "under": {"cells": found.cells, "inputs": found.inputs, "without_source": found.unsourced},
        "sources": [asdict(o) for o in found.origins],
    }  # fmt: skip


def _plain(f: Figure, texts: Texts) -> dict[str, Any]:
    out = {k: v for k, v in asdict(f).items() if k in _ALWAYS or (k not in ("remarks", "inputs", "count") and v)}
    if f.kind == RANGE:
        out["count"] = f.count
    if f.remarks:
        out["remarks"] = [{"kind": kind, "found": found, "text": remark(kind, found, texts)} for kind, found in f.remarks]
    out["inputs"] = [_plain(i, texts) for i in f.inputs]
    return out


def remark(kind: str, found: str, texts: Texts) -> str:
    """What is odd about a cell, in a sentence."""
    return texts(f"explain.{kind}", found=found or texts("explain.nothing"))


def unit_text(unit: str, texts: Texts) -> str:
    """A unit as people of the language write it; a currency in front stays."""
    text = texts.get(f"unit.{unit}")
    if text is None and " " in unit:
        currency, _, rest = unit.partition(" ")
        text = f"{currency} {texts.get(f'unit.{rest}') or rest}"
    return unit if text is None else text


def value_text(f: Figure, number: Callable[[float], str], texts: Texts) -> str:
    """A cell's value; of a range, how many cells it has."""
    if f.kind == RANGE:
        return texts("explain.cells", count=str(f.count))
    if isinstance(f.value, bool):
        return str(f.value).upper()
    if isinstance(f.value, int | float):
        return number(float(f.value))
    return str(f.value) if f.value not in (None, "") else texts("explain.nothing")


def head(f: Figure, number: Callable[[float], str], texts: Texts) -> Iterator[str]:
    """The figure itself, a line for each thing to know."""
    yield f"{f.cell}: {value_text(f, number, texts)} {unit_text(f.unit, texts)}".rstrip()
    if f.table:
        yield "  " + texts("explain.where", label=f.label, row=f.row, column=f.column, table=f.table)
    if f.equation:
        yield "  " + texts("explain.equation", name=f.function.rpartition(".")[2], equation=f.equation)
        yield from (f"    {line}" for line in f.inside)
        yield "  " + texts("explain.function", function=f.function, source=f.equation_source)
    if f.formula:
        cut = len(f.formula) > _FORMULA_SHOWN
        yield "  " + texts("explain.formula", formula=f.formula[:_FORMULA_SHOWN] + (" …" if cut else ""))
    if f.source or f.kind == "input":
        yield "  " + texts("explain.source", source=_origin(f, texts))
    if f.note:
        yield "  " + texts("explain.note", note=f.note)
    for kind, found in f.remarks:
        yield "  " + remark(kind, found, texts)


def _origin(f: Figure, texts: Texts) -> str:
    return ", ".join(filter(None, (f.source or texts("explain.no_source"), f.as_of, f.confidence)))


def heads(texts: Texts) -> list[str]:
    """Heads of the table of inputs."""
    return [texts(f"explain.head_{h}") for h in ("cell", "what", "value", "unit", "why", "from")]


def rows(f: Figure, number: Callable[[float], str], texts: Texts, level: int = 0) -> Iterator[tuple[str, ...]]:
    """A row for each cell that is read, those further down behind their own."""
    for i in f.inputs:
        what = " · ".join(filter(None, (i.label, i.row)))
        if i.equation:
            origin = f"= {i.equation}"
        elif i.kind == "input":
            origin = _origin(i, texts)
        else:
            origin = texts(f"explain.kind_{i.kind}")
        if i.again:
            origin += f" ({texts('explain.again')})"
        origin = "; ".join([origin, *(remark(k, found, texts) for k, found in i.remarks)])
        yield "· " * level + i.cell, what, value_text(i, number, texts), unit_text(i.unit, texts), texts(f"explain.role_{i.role}"), origin
        yield from rows(i, number, texts, level + 1)


def summary(found: Lineage, texts: Texts) -> str:
    """What lies under the figure, in one line."""
    dates = sorted(o.as_of for o in found.origins if o.as_of)
    weak = sum(o.inputs for o in found.origins if o.confidence == UNVERIFIED)
    return texts("explain.under", cells=str(found.cells), inputs=str(found.inputs), sources=str(len({o.source for o in found.origins})),
                 oldest=dates[0] if dates else texts("explain.nothing"), unverified=str(weak), unsourced=str(found.unsourced))  # fmt: skip


def source_heads(texts: Texts) -> list[str]:
    """Heads of the table of sources."""
    return [texts(f"explain.head_{h}") for h in ("source", "as_of", "confidence", "inputs", "first")]


def source_rows(found: Lineage) -> Iterator[tuple[str, ...]]:
    """A row for each source."""
    for o in found.origins:
        yield o.source, o.as_of, o.confidence, str(o.inputs), o.sample
