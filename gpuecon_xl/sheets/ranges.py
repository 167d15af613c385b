"""Ranges: the low and the high case of what owning costs, as tables and columns.

Here: which end of each range a case takes, and how other sheets read a case. Not here: the tables that compute total cost
in a case (`money`), the same cases in the core (`gpuecon_xl.money`), one driver at a time (Sensitivity).
"""

from __future__ import annotations

from typing import Any

from gpuecon_xl.money import CHEAPER, DEARER
from gpuecon_xl.ops import Expr, col, equal, index, lift, match, maximum, minimum, name, where
from gpuecon_xl.sheets.model import TableSpec
from gpuecon_xl.units import TINY

ENDS = ("low", "high")


def end_of(table: str, column: str, row: Expr, end: str) -> Expr:
    """The low or high case of a row: two rows of a table of ends stand for each."""
    return index(col(table, column), row + row - 1 if end == "low" else row + row)


def case_of(column: str, end: Any) -> Expr:
    """What an assumption is in a case: 1 low, 2 high."""
    return index(col("Cases", column), end)


def rate_of_end(row: Expr, end: str) -> Expr:
    """The low or high rent per hour of a row of Rates, in its currency; without a range the rate itself."""
    rate, bound = index(col("Rates", "rate_hour"), row), index(col("Rates", f"rate_{end}"), row)
    return lift(where(equal(bound, ""), rate, (minimum if end == "low" else maximum)(rate, bound)))


def cases_table() -> TableSpec:
    """Low and high case: each assumption with a range at the end that makes owning cheaper or dearer; what is 0 is off and stays so."""
    t = TableSpec("Cases", title="table.cases", note="note.cases")
    t.fixed("case", list(ENDS), "text", 8)
    is_low = equal(t.cell("case"), "low")

    def moved(driver: str, dearer: bool) -> Expr:
        row = match(driver, col("Assumptions", "name"))
        low, high, value = index(col("Assumptions", "low"), row), index(col("Assumptions", "high"), row), name(driver)
        down = where(equal(low, ""), value, minimum(value, low))
        up = where(equal(high, ""), value, maximum(value, high))
        return lift(where(equal(value, 0), 0, where(is_low, down, up) if dearer else where(is_low, up, down)))

    for driver in DEARER:
        t.formula(driver, moved(driver, True), "auto", 12)
    for driver in CHEAPER:
        t.formula(driver, moved(driver, False), "auto", 12)
    for column, dearer in (("use_of_tco", True), ("use_of_cost", False)):
        t.formula(column, t.expression("mean_use", utilization=moved("utilization", dearer)), "pct", 10, "1")
    return t


def cost_of_end(t: TableSpec, table: str, row: Expr, end: str, tok_s: Expr, gpus: Expr) -> Expr:
    """Cost of a million output tokens in a case: its total cost at its use over the tokens of the band's other end."""
    use = case_of("use_of_cost", 1 if end == "low" else 2)
    tco = end_of(table, "tco_fixed_eur", row, end) + end_of(table, "tco_per_use_eur", row, end) * use
    tokens = t.expression("tokens_served_m", output_tok_s=tok_s, utilization=use, horizon_h=t.expression("horizon_h"))
    return t.expression("cost_eur_mtok", tco_eur=tco, gpus=gpus, tokens_served_m=maximum(tokens, TINY))
