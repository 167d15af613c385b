"""The template workbook: every sheet in order, in a language, for a flavour; its values and its free cells."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gpuecon_xl import __version__
from gpuecon_xl.catalog import Catalog
from gpuecon_xl.cells import Cells, TableValues, names_in, needs, serial
from gpuecon_xl.lang import Texts, load
from gpuecon_xl.ops import Expr, col, index
from gpuecon_xl.schema import TABLES
from gpuecon_xl.sheets import candidates, finance, fit, info, inputs, model, money, sensitivity, throughput
from gpuecon_xl.sheets.model import BookSpec, SheetSpec, TableSpec

FLAVOURS = ("plain", "classic", "lite", "libreoffice")


# Shown on every sheet: the master check.
MASTER = index(col("MasterCheck", "result"), 1)


def _declare(catalog: Catalog) -> None:
    model.ASSUMPTIONS.clear()
    model.ASSUMPTIONS.update(str(r["name"]) for r in catalog.rows("assumptions"))
    model.JOINABLE.clear()
    for t in TABLES.values():
        model.JOINABLE[t.book_name] = tuple(f.name for f in t.fields if f.in_book)


def _joinable(*tables: TableSpec) -> None:
    for t in tables:
        model.JOINABLE[t.name] = tuple(c.name for c in t.columns)


def build(catalog: Catalog, lang: str = "en", flavour: str = "plain") -> BookSpec:
    """What stands in the template workbook.

    Parameters
    ----------
    lang : en, de or da.  flavour : plain, classic, lite or libreoffice.
    """
    texts = load(lang)
    _declare(catalog)
    sheets: dict[str, SheetSpec] = {s.key: s for s in inputs.input_sheets(catalog, texts)}
    sheets["benchmarks"] = inputs.benchmarks_sheet(catalog, texts)
    given = list(sheets.values())
    sheets["throughput"] = throughput.throughput_sheet(catalog)
    sheets["scaling"] = throughput.scaling_sheet()
    sheets["scaling"].table(throughput.stated_factors())
    sheets["fit"] = fit.fit_sheet([str(r["model"]) for r in catalog.rows("open_weight")])
    sheets["tco"] = money.tco_sheet(catalog)
    for s in (sheets["fit"], sheets["tco"]):
        _joinable(*(t for t, _, _ in s.tables()))
    sheets["candidates"] = candidates.candidates_sheet()
    sheets["cost"] = money.cost_sheet()
    sheets["perf"] = money.perf_sheet()
    sheets["rent"] = money.rent_sheet(catalog)
    sheets["own_vs_api"] = money.own_vs_api_sheet(catalog)
    sheets["breakeven"] = money.breakeven_sheet()
    sheets["cash_flow"] = finance.cash_flow_sheet()
    sheets["matrix"] = candidates.matrix_sheet()
    sheets["decision"] = info.decision_sheet(texts)
    sheets["sensitivity"] = sensitivity.sensitivity_sheet()
    sheets["functions"] = info.functions_sheet(texts, flavour)
    sheets["checks"] = info.checks_sheet(texts)
    sheets["sources"] = info.sources_sheet(catalog, texts, given)
    sheets["changes"] = info.changes_sheet(__version__, texts)
    sheets["cover"] = info.cover_sheet(catalog, texts)
    return BookSpec([sheets[k] for k in info.SHEET_ORDER], lang, flavour)


def values_of(book: BookSpec, catalog: Catalog, wanted: Iterable[tuple[str, str]] | None = None) -> Cells:
    """Every computed cell of a fresh book, or only the columns wanted, as (table, column), with what they read."""
    read = None if wanted is None else what_is_read(book, wanted).columns
    tables = {}
    for _, t, _, _ in book.all_tables().values():
        columns = {c.name: [serial(r.get(c.name)) for r in t.rows] for c in t.columns if c.kind != "formula"}
        columns = {c: [float(v) if isinstance(v, int) and not isinstance(v, bool) else v for v in vs] for c, vs in columns.items()}
        formulas = {c: f for c, f in formulas_of(t).items() if read is None or (t.name, c) in read}
        tables[t.name] = TableValues(t.name, len(t.rows), columns, formulas)
    return Cells(tables, catalog.assumptions)


class Read(NamedTuple):
    """What formulas read, directly and through others: columns as (table, column), names of the workbook."""

    columns: frozenset[tuple[str, str]]
    names: frozenset[str]


def what_is_read(book: BookSpec, wanted: Iterable[tuple[str, str]]) -> Read:
    """The columns wanted, and every column and name that their formulas read."""
    formulas = {t.name: formulas_of(t) for _, t, _, _ in book.all_tables().values()}
    columns: set[tuple[str, str]] = set()
    names: set[str] = set()
    due = list(wanted)
    while due:
        here = due.pop()
        if here in columns:
            continue
        columns.add(here)
        formula_here = formulas[here[0]].get(here[1])
        for e in formula_here if isinstance(formula_here, list) else [formula_here]:
            if e is not None:
                due += needs(e)
                names |= names_in(e)
    return Read(frozenset(columns), frozenset(names))


def formulas_of(t: TableSpec) -> dict[str, Expr | list[Expr | None]]:
    """Formulas of a table by column."""
    return {c.name: c.formula for c in t.columns if c.formula is not None}


def free_cells(book: BookSpec) -> dict[str, list[tuple[int, int, Expr]]]:
    """Formula cells outside tables, by sheet key: row, column, expression."""
    out: dict[str, list[tuple[int, int, Expr]]] = {}
    for s in book.sheets:
        cells: list[tuple[int, int, Expr]] = [(2, 1, MASTER)]
        for t, header, first in s.tables():
            for k, c in enumerate(t.columns):
                if c.heading is not None:
                    cells.append((header - 2, first + k, c.heading))
        out[s.key] = cells
    return out


def title(texts: Texts, sheet: SheetSpec) -> str:
    """A sheet's title in the book's language."""
    return texts(f"sheet.{sheet.key}")
