"""Cash-flow: owning, renting and an API month by month for one workload on one build; worth today, return, payback."""

from __future__ import annotations

from gpuecon_xl.ops import (
    Expr,
    col,
    count_above,
    count_numbers,
    equal,
    if_error,
    index,
    irr,
    join,
    large,
    lift,
    look_up,
    match,
    month_start,
    name,
    rounded,
    smallest,
    sum_product,
    sum_up_to,
    total,
    where,
    words,
)
from gpuecon_xl.sheets.model import Chart, SheetSpec, TableSpec
from gpuecon_xl.sheets.money import reference_rows, reference_workload, used

MONTHS_SHOWN = 60  # room for a horizon of five years
FX_ROWS = 12
CHART_MONTHS = 36  # of the chart: the horizon as shipped


def basis_table() -> TableSpec:
    """What the months are made of: the build's sums over the horizon, the offers compared with, rates."""
    t = TableSpec("CashBasis", title="table.cash_basis", note="note.cash_basis")
    at_build, at_candidate = reference_rows()
    t.formula("workload", name("look_at_workload"), "text", 24)
    t.rows.append({})
    t.formula("build", name("look_at_build"), "text", 24)
    t.formula("rate", name("compare_rate"), "text", 28)
    t.formula("api", name("compare_api"), "text", 22)
    t.formula("build_row", at_build, "whole", 8)
    t.formula("candidate_row", at_candidate, "whole", 8)
    build = t.cell("build_row")
    t.formula("gpus", index(col("Builds", "gpus"), build), "whole", 8, "card")
    t.formula("output_tok_s", index(col("Candidates", "output_tok_s"), t.cell("candidate_row")), "whole", 12, "token/s")
    for part in ("capex_eur", "electricity_eur", "maintenance_eur", "running_eur", "spares_eur", "hosting_eur", "interest_eur", "residual_eur",
                 "tco_eur", "electricity_idle_eur", "tco_per_use_eur", "tco_fixed_eur"):  # fmt: skip
        t.formula(part, index(col("Fleet", part), build) * t.cell("gpus"), "money", 14, "EUR")
    t.formula("utilization", name("utilization"), "pct", 12, "1")
    t.quantity("horizon_months", "one", 10)
    t.quantity("horizon_h", "whole", 10)
    t.quantity("crf_month", "small", 12)
    t.quantity("wacc_year", "pct", 16)
    offer = match(t.cell("rate"), col("RentYears", "rate"))
    t.formula("term", index(col("RentYears", "term"), offer), "text", 12)
    t.formula("rate_currency", index(col("RentYears", "currency"), offer), "text", 10)
    t.formula("rate_hour", index(col("RentYears", "rent_eur_hour"), offer) * t.cell("gpus"), "rate", 12, "EUR/h")
    t.quantity("rent_per_use", "money", 12, rel=name("rel_stated"))
    api, load = match(t.cell("api"), col("Apis", "api")), reference_workload()
    ratio = index(col("Workloads", "input_tokens"), load) / index(col("Workloads", "output_tokens"), load)
    price = index(col("Apis", "price_out_mtok"), api) + index(col("Apis", "price_in_mtok"), api) * ratio
    t.formula("api_currency", index(col("Apis", "currency"), api), "text", 10)
    t.formula("api_eur_mtok", t.expression("price_eur", price=price, currency=t.cell("api_currency")), "rate", 12, "EUR/1e6 output tokens")
    t.formula("api_per_use", t.cell("api_eur_mtok") * t.expression("tokens_served_m", utilization=1), "money", 12, "EUR")
    t.formula("tokens_served_m", t.expression("tokens_served_m", utilization=used()), "whole", 12, "1e6 output tokens")
    t.quantity("cost_eur_mtok", "rate", 12, gpus=1)
    t.quantity("usage_cost_mtok", "rate", 12, gpus=1, utilization=used())
    t.quantity("idle_cost_mtok", "rate", 12, gpus=1, utilization=used())
    return t.lead("workload", "build", "rate", "api", "tco_eur", "cost_eur_mtok", "usage_cost_mtok", "idle_cost_mtok", "tokens_served_m",
                  "output_tok_s", "wacc_year", "horizon_months")  # fmt: skip


def rates_table() -> TableSpec:
    """Exchange rates from a day on; without a row the rate of the assumptions holds."""
    t = TableSpec("FxRates", title="table.fx_rates", note="note.fx_rates")
    t.inputs("date", [None] * FX_ROWS, "date", 24)
    t.inputs("usd_per_eur", [None] * FX_ROWS, "small", 24, "USD/EUR")
    return t


def months_table() -> TableSpec:
    """One row for the purchase and one for each month of the horizon."""
    t = TableSpec("CashFlow", guard="month", title="table.cash_flow", note="note.cash_flow")
    t.fixed("n", [float(i) for i in range(MONTHS_SHOWN + 1)], "whole", 5)
    for c in ("horizon_months", "capex_eur", "residual_eur", "electricity_idle_eur", "tco_per_use_eur", "maintenance_eur", "running_eur",
              "spares_eur", "hosting_eur", "utilization", "crf_month", "wacc_year", "term", "rent_per_use", "api_per_use"):  # fmt: skip
        t.given[c] = index(col("CashBasis", c), 1)
    n, months = t.cell("n"), t.given["horizon_months"]
    t.formula("month", where(n < months + 1, n, ""), "whole", 7, "month", guarded=False)
    t.formula("date", month_start(name("as_of"), n), "date", 11)
    t.quantity("month_from", "one", 8)
    t.quantity("month_to", "one", 8)
    t.quantity("use_months", "small", 9)
    t.quantity("outlay_month_eur", "money", 12)
    t.quantity("electricity_month_eur", "money", 12)
    t.quantity("upkeep_month_eur", "money", 12)
    t.quantity("loan_left", "pct", 9, as_="loan_left_from", month_at=t.cell("month_from"))
    t.quantity("loan_left", "pct", 9, as_="loan_left_to", month_at=t.cell("month_to"))
    for q in ("interest_month_eur", "resale_month_eur", "own_month_eur", "depreciation_month_eur", "tax_shield_eur", "own_after_tax_eur",
              "own_by_use_eur"):  # fmt: skip
        t.quantity(q, "money", 12)
    dated = look_up(large(col("FxRates", "date"), count_above(col("FxRates", "date"), t.cell("date")) + 1), col("FxRates", "date"),
                    col("FxRates", "usd_per_eur"))  # fmt: skip
    t.formula("usd_per_eur_month", if_error(where(dated > 0, dated, name("usd_per_eur")), name("usd_per_eur")), "small", 9, "USD/EUR")
    for what in ("cloud", "api"):
        left = t.expression("price_left", erosion_year=name(f"{what}_erosion_year"))
        currency = index(col("CashBasis", "rate_currency" if what == "cloud" else "api_currency"), 1)
        exchanged = where(equal(currency, "USD"), name("usd_per_eur") / t.cell("usd_per_eur_month"), 1)
        t.formula(f"{what}_price_left", left * exchanged, "pct", 9, "1")
    t.quantity("rent_month_eur", "money", 12)
    t.quantity("api_month_eur", "money", 12)
    t.quantity("discount_factor", "small", 10)
    for other in ("rent", "api"):
        saved = f"saved_{other}_eur"
        t.formula(saved, t.expression("saved_month_eur", other_month_eur=t.cell(f"{other}_month_eur")), "money", 12, "EUR")
        # also beyond the horizon, where it stays: the chart's line must not fall to 0
        t.formula(f"cumulated_{other}_eur", sum_up_to(col("CashFlow", "n"), n, col("CashFlow", saved)), "money", 12, "EUR", guarded=False)
        paid = where(rounded(t.cell(f"cumulated_{other}_eur")) >= 0, t.cell("month"), "")
        t.formula(f"paid_{other}", paid, "whole", 9, "month")
    return t.lead("n", "date", "outlay_month_eur", "electricity_month_eur", "upkeep_month_eur", "interest_month_eur", "resale_month_eur",
                  "own_month_eur", "rent_month_eur", "api_month_eur", "depreciation_month_eur", "tax_shield_eur", "own_after_tax_eur",
                  "discount_factor", "saved_rent_eur", "cumulated_rent_eur", "saved_api_eur", "cumulated_api_eur")  # fmt: skip


def result_table() -> TableSpec:
    """Owning, renting, API: sums over the horizon, worth today, and what owning brings against each."""
    t = TableSpec("CashResult", title="table.cash_result", note="note.cash_result")
    t.fixed("choice", ["own", "rent", "api"], "text", 10)
    t.formula("way", words(join("way_", t.cell("choice"))), "strong", 24)
    flow, factor, use = "CashFlow", col("CashFlow", "discount_factor"), index(col("CashBasis", "utilization"), 1)

    def present(column: str) -> Expr:
        return lift(sum_product(col(flow, column), factor))

    months = {"own": "own_month_eur", "rent": "rent_month_eur", "api": "api_month_eur"}
    t.each("total_eur", [total(col(flow, c)) for c in months.values()], "money", 14, "EUR")
    worth = [present(c) * (1 - name("tax_rate")) for c in ("rent_month_eur", "api_month_eur")]
    t.each("present_eur", [present("own_after_tax_eur"), *worth], "money", 14, "EUR")
    others = ("rent", "api")
    t.each("npv_eur", [None, *(present(f"saved_{o}_eur") for o in others)], "money", 14, "EUR")
    rates = [t.expression("irr_year", irr_month=irr(col(flow, f"saved_{o}_eur"))) for o in others]
    t.each("irr_year", [None, *(if_error(r, words("none")) for r in rates)], "pct", 14, "1/year")
    paid = [where(count_numbers(col(flow, f"paid_{o}")) > 0, smallest(col(flow, f"paid_{o}")), words("not_in_horizon")) for o in others]
    t.each("payback_month", [None, *paid], "whole", 14, "month")
    by_use = present("own_by_use_eur")
    t.each("own_fixed_eur", [None, *(present("own_after_tax_eur") - by_use for _ in others)], "money", 14, "EUR")
    t.each("own_per_use_eur", [None, *(by_use / use for _ in others)], "money", 14, "EUR")
    t.each("other_per_use_eur", [None, *(w / use for w in worth)], "money", 14, "EUR")
    at = t.expression("breakeven_use", tco_fixed_eur=t.cell("own_fixed_eur"), tco_per_use_eur=t.cell("own_per_use_eur"),
                      rent_per_use=t.cell("other_per_use_eur"))  # fmt: skip
    even = [where(at < 0, words(w), at) for w in ("rent_wins", "api_wins")]
    reserved = equal(index(col("CashBasis", "term"), 1), "reserved")
    t.each("even_use", [None, if_error(where(reserved, words("paid_unused"), even[0]), ""), if_error(even[1], "")], "pct", 14, "1")
    return t.lead("way", "total_eur", "present_eur", "npv_eur", "irr_year", "payback_month", "even_use")


def cash_flow_sheet() -> SheetSpec:
    """One workload on one build over the months: own, rent, API."""
    s = SheetSpec("cash_flow", False, freeze_columns=2, tab="result", print_columns=18)
    lines = [(f"cumulated_{o}_eur", f"label.cumulated_{o}_eur") for o in ("rent", "api")]
    parts = [(c, f"label.{c}") for c in ("own_month_eur", "rent_month_eur", "api_month_eur")]
    s.chart(
        Chart("line", "CashFlow", "n", lines, "chart.cumulated", "axis.month", "axis.saved_eur", rows=(0, CHART_MONTHS)),
        Chart("line", "CashFlow", "n", parts, "chart.months", "axis.month", "axis.month_eur", rows=(1, CHART_MONTHS)),
    )
    s.table(result_table())
    s.table(basis_table())
    s.table(months_table())
    s.table(rates_table())
    return s


def left_to_reconcile() -> Expr:
    """What the months of owning do not add up to of the build's total cost; 0 when they are whole."""
    fleet, _ = reference_rows()
    return total(col("CashFlow", "own_month_eur")) - index(col("Fleet", "build_tco_eur"), fleet)


def left_to_write_off() -> Expr:
    """What depreciation does not write off of purchase less resale; 0 when it is whole."""
    basis = index(col("CashBasis", "capex_eur"), 1) - index(col("CashBasis", "residual_eur"), 1)
    return total(col("CashFlow", "depreciation_month_eur")) - basis


def left_to_allocate() -> Expr:
    """Allocated cost of a million tokens less that by usage and that of idle hours."""
    parts = index(col("CashBasis", "usage_cost_mtok"), 1) + index(col("CashBasis", "idle_cost_mtok"), 1)
    return index(col("CashBasis", "cost_eur_mtok"), 1) - parts
