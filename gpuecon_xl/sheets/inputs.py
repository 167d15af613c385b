"""The sheets that people edit: one table of the catalogue each, or two or three that belong together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gpuecon_xl.catalog import Catalog
from gpuecon_xl.lang import Texts
from gpuecon_xl.ops import col, equal, if_error, index, name, where, word
from gpuecon_xl.schema import TABLES, Field, Table
from gpuecon_xl.sheets.model import SPARE_ROWS, Column, SheetSpec, TableSpec

_FMT = {"count": "whole", "number": "auto", "date": "date"}


def input_table(catalog: Catalog, name: str, texts: Texts) -> TableSpec:
    """A table of the catalogue as an input table, with its blank rows."""
    table = TABLES[name]
    rows = [shown_row(table, row) for row in catalog.rows(name)]
    spare = 0 if name == "assumptions" else SPARE_ROWS
    rows += [{} for _ in range(spare)]
    columns = [
        Column(f.name, "input", f.fmt or _FMT.get(f.kind, "text" if f.kind != "any" else "auto"), f.width, f.unit, f)
        for f in table.fields
        if f.in_book
    ]
    spec = TableSpec(table.book_name, columns, rows, title=f"table.{name}", catalog_table=name, spare=spare)
    if name == "assumptions":
        spec.fixed("meaning", [texts.get(f"assumption.{r['name']}") or "" for r in rows], "text", 70)
    return spec


def shown_row(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """A row as people see it: an optional zero that only means "none" stays blank."""
    return {f.name: _shown(f, row.get(f.name), row) for f in table.fields if f.in_book}


def _shown(f: Field, value: Any, row: dict[str, Any]) -> Any:
    if f.numeric and value == 0 and not f.required and f.name not in ("low", "typical", "high", "value", "step_ms", "window_alloc_full", "n"):
        return None
    return value


def sheet(key: str, catalog: Catalog, texts: Texts, names: Iterable[str], freeze: int = 1) -> SheetSpec:
    """An input sheet: its tables side by side, so that each can grow downwards."""
    spec = SheetSpec(key, True, freeze_columns=freeze, tab="input")
    column = 0
    for wanted in names:
        table = input_table(catalog, wanted, texts)
        spec.table(table, row=SheetSpec.FIRST_ROW, column=column)
        column += len(table.columns) + 1
    return spec


def price_age_table(count: int) -> TableSpec:
    """How old each price is on the day of the book, against the limit of Assumptions; a row beside each row of Prices."""
    t = TableSpec("PriceAge", guard="gpu", title="table.price_age", note="note.price_age")
    t.fixed("n", [float(i + 1) for i in range(count)], "whole", 5)
    gpu, date = (index(col("Prices", c), t.cell("n")) for c in ("gpu", "as_of"))
    t.formula("gpu", where(equal(gpu, ""), "", gpu), "text", 32, guarded=False)
    t.formula("age_days", where(equal(date, ""), "", if_error(name("as_of") - date, "")), "whole", 12, "day")
    age = t.cell("age_days")
    state = where(equal(age, ""), word("price_undated"), where(age > name("price_age_days_max"), word("price_old"), word("price_fresh")))
    t.formula("age_state", state, "status", 22)
    return t.lead("gpu", "age_days", "age_state")


def prices_sheet(catalog: Catalog, texts: Texts) -> SheetSpec:
    """Prices, and beside them how old they are."""
    s = sheet("prices", catalog, texts, ("prices",))
    prices, _, first = s.tables()[0]
    s.table(price_age_table(len(prices.rows)), row=SheetSpec.FIRST_ROW, column=first + len(prices.columns) + 1)
    return s


def input_sheets(catalog: Catalog, texts: Texts) -> list[SheetSpec]:
    """All input sheets in order."""
    return [
        sheet("assumptions", catalog, texts, ("assumptions",)),
        prices_sheet(catalog, texts),
        sheet("cards", catalog, texts, ("gpus",)),
        sheet("models", catalog, texts, ("models",)),
        sheet("constants", catalog, texts, ("precisions", "links", "engines", "efficiency"), freeze=0),
        sheet("market", catalog, texts, ("cloud_rates", "api_prices", "open_weight"), freeze=0),
        sheet("workloads", catalog, texts, ("workloads",)),
        sheet("builds", catalog, texts, ("builds",)),
    ]


def benchmarks_sheet(catalog: Catalog, texts: Texts) -> SheetSpec:
    """Published measurements."""
    return sheet("benchmarks", catalog, texts, ("benchmarks",))
