"""Faults as people plant them: each in a place that depends on the language of the book, with what a check must say of it.

Here: edits by openpyxl, and by hand in the file where openpyxl cannot. Not here: the check; only names of tables and columns are known.
"""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from edits import Edited
from openpyxl.styles import Protection
from openpyxl.utils import get_column_letter


class Planted(NamedTuple):
    """A kind of finding and where it must stand."""

    kind: str
    place: str


Plant = Callable[[Edited, int], list[Planted]]


def _computed(table: str, column: str, kind: str, change: Callable[[str], Any], row: int = 1) -> Plant:
    """Alter a formula cell; `change` makes the new content from the old formula."""

    def plant(e: Edited, k: int) -> list[Planted]:
        c = e.cell(table, row + k, column)
        assert c.data_type == "f", (table, column)
        e.write(c, change(c.value))
        return [Planted(kind, e.place(table, row + k, column))]

    return plant


def _input(table: str, column: str, kind: str, value: Any, row: int = 1, extra: tuple[str, ...] = ()) -> Plant:
    """Type something into an input; a tuple gives the text of each language."""

    def plant(e: Edited, k: int) -> list[Planted]:
        e.write(e.cell(table, row + k, column), value[k] if isinstance(value, tuple) else value)
        return [Planted(x, e.place(table, row + k, column)) for x in (kind, *extra)]

    return plant


def _assumption(name: str | tuple[str, str, str], kind: str, value: Any) -> Plant:
    def plant(e: Edited, k: int) -> list[Planted]:
        mine = name[k] if isinstance(name, tuple) else name
        return [Planted(kind, e.put("Assumptions", mine, "value", value[k] if isinstance(value, tuple) else value))]

    return plant


def _look(table: str, column: str, kind: str, number_format: str, row: int) -> Plant:
    def plant(e: Edited, k: int) -> list[Planted]:
        e.cell(table, row + k, column).number_format = number_format
        return [Planted(kind, e.place(table, row + k, column))]

    return plant


def _lock(table: str, column: str, kind: str, locked: bool, row: int = 2) -> Plant:
    def plant(e: Edited, k: int) -> list[Planted]:
        e.cell(table, row + k, column).protection = Protection(locked=locked)
        return [Planted(kind, e.place(table, row + k, column))]

    return plant


def _master(e: Edited, k: int) -> list[Planted]:
    ws = e.where[("FitMatrix", "Matrix", "Fleet")[k]][0]
    e.write(ws["B3"], "OK")
    return [Planted("constant", f"{ws.title}!B3")]


def _name_gone(e: Edited, k: int) -> list[Planted]:
    name = ("pue", "maintenance_share_year", "weights_overhead")[k]
    del e.book.defined_names[name]
    return [Planted("name", e.place("Assumptions", e.row("Assumptions", name), "value"))]


def _name_moved(e: Edited, k: int) -> list[Planted]:
    name = ("utilization", "residual_share", "yield_utilization")[k]
    at = e.cell("Assumptions", e.row("Assumptions", name), "value")
    e.book.defined_names[name].attr_text = f"'{at.parent.title}'!${at.column_letter}${at.row + 1}"
    return [Planted("name", f"{at.parent.title}!{at.coordinate}")]


def _name_broken(e: Edited, k: int) -> list[Planted]:
    name = ("idle_share", "host_w_gpu", "card_to_server")[k]
    at = e.cell("Assumptions", e.row("Assumptions", name), "value")
    e.book.defined_names[name].attr_text = f"'{at.parent.title}'!#REF!"
    return [Planted("broken", f"{at.parent.title}!{at.coordinate}")]


def _table_gone(e: Edited, k: int) -> list[Planted]:
    name = ("RentYears", "CostCurve", "StatedFactors")[k]
    ws, _ = e.where[name]
    left, top, _, _ = e.span(name)
    del ws.tables[name]
    return [Planted("table", f"{ws.title}!{get_column_letter(left)}{top}")]


def _head(table: str, column: str, text: str) -> Plant:
    def plant(e: Edited, k: int) -> list[Planted]:
        c = e.cell(table, -1, column)
        e.write(c, text)
        return [Planted("table", f"{c.parent.title}!{c.coordinate}")]

    return plant


def _short(e: Edited, k: int) -> list[Planted]:
    """A computed table that covers fewer rows than it should."""
    name = ("PerfEuro", "Scaling", "TornadoSorted")[k]
    e.extend(name, -2)
    left, top, _, _ = e.span(name)
    return [Planted("table", f"{e.where[name][0].title}!{get_column_letter(left)}{top}")]


def _hidden_row(e: Edited, k: int) -> list[Planted]:
    c = e.cell("Prices", 5 + k, "gpu")
    c.parent.row_dimensions[c.row].hidden = True
    return [Planted("hidden", f"{c.parent.title}!A{c.row}")]


def _hidden_column(e: Edited, k: int) -> list[Planted]:
    c = e.cell(("TcoCards", "Cost", "Versus")[k], 0, ("electricity_eur", "cost_eur_mtok", "rel")[k])
    group = next(d for d in c.parent.column_dimensions.values() if d.min <= c.column <= d.max)  # neighbours of one width are one in the file
    group.hidden = True
    return [Planted("hidden", f"{c.parent.title}!{get_column_letter(group.min)}1")]


def _hidden_sheet(e: Edited, k: int) -> list[Planted]:
    ws = e.where[("Checks", "SourceList", "Benchmarks")[k]][0]
    ws.sheet_state = ("hidden", "veryHidden", "hidden")[k]
    return [Planted("hidden", f"{ws.title}!A1")]


def _unprotected_sheet(e: Edited, k: int) -> list[Planted]:
    ws = e.where[("Fleet", "Candidates", "Matrix")[k]][0]
    ws.protection.sheet = False
    first = min((c.row, c.column, c.coordinate) for row in ws.iter_rows() for c in row if c.data_type == "f")
    return [Planted("unprotected", f"{ws.title}!{first[2]}")]


def _circle_of_one(e: Edited, k: int) -> list[Planted]:
    column = ("running_eur", "tco_fixed_eur", "capex_eur")[k]
    c = e.cell("TcoCards", 7 + k, column)
    e.write(c, f"{c.value}+0*TcoCards[[#This Row],[{column}]]")
    place = e.place("TcoCards", 7 + k, column)
    return [Planted("formula", place), Planted("circular", place)]


def _circle_of_many(e: Edited, k: int) -> list[Planted]:
    """An assumption that a user computes from a result that depends on it."""
    tco = e.cell("Fleet", 1 + k, "build_tco_eur")
    place = e.put("Assumptions", "colo_eur_year", "value", f"='{tco.parent.title}'!{tco.coordinate}/1000000")
    return [Planted("circular", place)]


def _external_own(e: Edited, k: int) -> list[Planted]:
    """A formula of a user's own, on a sheet of a user's own."""
    ws = e.book.create_sheet("My notes")
    ws["B2"] = "='[budget 2026.xlsx]Plan'!$C$4*2"
    return [Planted("external", "My notes!B2")]


def _volatile_own(e: Edited, k: int) -> list[Planted]:
    ws = e.where["ChangeLog"][0]
    cell = ("F4", "G5", "H3")[k]
    ws[cell] = ("=NOW()", "=OFFSET(A1,1,0)", '=INDIRECT("A"&1)')[k]
    return [Planted("volatile", f"{ws.title}!{cell}")]


def _broken_own(e: Edited, k: int) -> list[Planted]:
    ws = e.where["Cards"][0]
    cell = ("AF3", "AG4", "AH2")[k]
    ws[cell] = ("='Last year'!B4", "=NoSuchTable[price]", "=no_such_name*2")[k]
    return [Planted("broken", f"{ws.title}!{cell}")]


def _typed_price(e: Edited, k: int) -> list[Planted]:
    """A price typed as text, as the language writes it."""
    row = _rows_in(e, "EUR")[k]
    c = e.cell("Prices", row, "typical")
    text = f"{c.value:,.2f}"
    e.write(c, (text, text.translate(str.maketrans(",.", ".,")), f"{c.value:.0f}")[k])
    return [Planted("text_number", f"{c.parent.title}!{c.coordinate}")]


def _dollar_sign(e: Edited, k: int) -> list[Planted]:
    """A number format that shows another currency than the row says."""
    c = e.cell("Prices", _rows_in(e, ("EUR", "USD", "EUR")[k])[4], "typical")
    c.number_format = ('"$"#,##0', "#,##0 [$€-407]", r"\$#,##0")[k]
    return [Planted("unit", f"{c.parent.title}!{c.coordinate}")]


def _dollar_text(e: Edited, k: int) -> list[Planted]:
    c = e.cell("Prices", _rows_in(e, "EUR")[5], "high")
    e.write(c, (f"${c.value:,.0f}", f"$ {c.value:.0f}", f"{c.value:.0f} USD")[k])
    return [Planted("unit", f"{c.parent.title}!{c.coordinate}")]


def _rows_in(e: Edited, currency: str) -> list[int]:
    return [r for r in e.rows("Prices") if e.cell("Prices", r, "currency").value == currency]


# Faults that stand side by side in one book and do not touch each other.
SURFACE: tuple[Plant, ...] = (
    _computed("Candidates", "output_tok_s", "constant", lambda f: 1234.5, 60),
    _computed("TcoCards", "tco_eur", "constant", lambda f: 5000, 1),
    _computed("Matrix", "recommended", "constant", lambda f: "4x L40", 3),
    _computed("Cost", "cost_eur_mtok", "constant", lambda f: None, 10),
    _master,
    _computed("Fleet", "build_tco_eur", "formula", lambda f: f"{f}*1.1", 4),
    _computed("Speed", "output_tok_s", "formula", lambda f: f.replace("1e-09", "2e-09").replace("spec_draft", "spec_accept", 1), 12),
    _computed("KeyFigures", "value", "formula", lambda f: "=1+1", 3),
    _computed("Need", "weights_gb", "formula", lambda f: f"MAX({f[1:]},1)".join(("=", "")), 2),
    _name_gone,
    _name_moved,
    _name_broken,
    _table_gone,
    _short,
    _head("Links", "note", "remarks"),
    _computed("OpenOwn", "own_cost_month_mtok", "broken", lambda f: "=#REF!*2", 1),
    _broken_own,
    _external_own,
    _input("Rates", "rate_hour", "external", "='[rates.xlsx]Sheet1'!$B$2", 3),
    _volatile_own,
    _assumption("as_of", "volatile", "=TODAY()"),
    _hidden_row,
    _hidden_column,
    _hidden_sheet,
    _typed_price,
    _assumption("electricity_eur_kwh", "text_number", ("0.25", "0,25", "0,25 EUR")),
    _input("Builds", "gpus", "text_number", "4", 2),
    _input("Cards", "as_of", "text_number", "2026-09-01", 2),
    _input("Cards", "memory_gb", "range", -5, 20),
    _assumption(("headroom_wanted", "output_share", "spec_accept"), "range", 1.7),
    _input("Builds", "gpus", "range", 2.5, 6),
    _input("Speed", "batch", "range", -1, 4),
    _input("Rates", "currency", "range", "GBP", 8),
    _input("Models", "params_b", "missing", None, 9),
    _dollar_sign,
    _look("TcoCards", "running_eur", "unit", "[$$-409]#,##0.00", 3),
    _dollar_text,
    _input("Prices", "source", "no_source", None, 17),
    _input("Apis", "source", "no_source", None, 1),
    _input("Prices", "as_of", "old_price", dt.datetime(2024, 2, 1), 3),
    _input("Links", "bus_pair_gb_s", "error", "#N/A", 2),
    _lock("Prices", "low", "locked", True),
    _lock("Speed", "gpu", "locked", True, 20),
    _lock("Candidates", "rank", "unprotected", False, 100),
    _unprotected_sheet,
    _circle_of_one,
)

# One circle alone: two circles that share cells are one.
CIRCLE: tuple[Plant, ...] = (_circle_of_many,)

# Faults that show only when the book was recalculated; nothing else may show an error in these books than what follows from them.
ERRORS: tuple[Plant, ...] = (
    _computed("CostCurve", "own_eur_mtok", "error", lambda f: "=1/0", 4),
    _computed("RentCost", "rent_cost_mtok", "error", lambda f: '="a"*1', 2),
)


def stored_inputs(path: Path, out: Path, changes: dict[tuple[str, str], float]) -> Path:
    """A copy in which numbers of inputs are exchanged in the file itself: nothing is recalculated."""
    import openpyxl

    titles = openpyxl.load_workbook(path, read_only=True).sheetnames
    with zipfile.ZipFile(path) as package:
        parts = {i.filename: package.read(i) for i in package.infolist()}
    for (title, address), value in changes.items():
        name = f"xl/worksheets/sheet{titles.index(title) + 1}.xml"
        text, count = re.subn(rf'(<c r="{address}"[^>]*><v>)[^<]*(</v>)', rf"\g<1>{value!r}\g<2>", parts[name].decode())
        assert count == 1, (title, address)
        parts[name] = text.encode()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, body in parts.items():
            package.writestr(name, body)
    return out
