"""Sensitivity: one driver at a time, two drivers as a grid, break-even against the rent."""

from __future__ import annotations

from gpuecon_xl.ops import Expr, col, equal, index, join, large, lift, look_up, match, maximum, minimum, name, shown, where, words
from gpuecon_xl.sheets.model import Chart, SheetSpec, TableSpec
from gpuecon_xl.sheets.money import reference_rows
from gpuecon_xl.sheets.ranges import ENDS, end_of
from gpuecon_xl.units import GIGA

STEPS = 5  # columns of a grid; found by halving twice
PRICE_STEPS = 7
USES = tuple(i / 10 for i in range(1, 11))
RATE_FACTORS = tuple(i / 10 for i in range(4, 31, 2))

DRIVERS = ("price", "output_tok_s", "utilization", "electricity_eur_kwh", "pue", "chassis_eur_gpu", "maintenance_share_year", "horizon_years",
           "colo_eur_year", "residual_share", "licence_eur_gpu_year", "staff_eur_gpu_year", "idle_share", "host_w_gpu", "hosting_eur_kw_month",
           "failure_share_year", "ramp_months")  # fmt: skip


CASES = ("low", "typical", "high")


def _step(low: Expr, high: Expr, n: Expr, table: str) -> Expr:
    """The n-th of even steps from low to high; the table has as many rows as there are steps."""
    return low + (high - low) * (n - 1) / (Expr("maxcol", col(table, "n")) - 1)


def _look() -> dict[str, Expr]:
    """What the grids look at: one build under one workload."""
    fleet, cand = reference_rows()
    return {"fleet": fleet, "cand": cand, "gpus": index(col("Builds", "gpus"), fleet), "price_row": index(col("Fleet", "price_row"), fleet)}


def steps_table() -> TableSpec:
    """Values that stand above the columns of the grids: tariffs and throughputs in even steps from the low to the high end."""
    t = TableSpec("GridSteps", title="table.grid_steps")
    row = match("electricity_eur_kwh", col("Assumptions", "name"))
    tariff, cand = name("electricity_eur_kwh"), _look()["cand"]
    low, high = (index(col("Assumptions", end), row) for end in ENDS)
    ends = {
        "tariff": (where(equal(low, ""), tariff, minimum(tariff, low)), where(equal(high, ""), tariff, maximum(tariff, high))),
        "tok_s": tuple(index(col("Candidates", f"output_tok_s_{end}"), cand) for end in ENDS),
    }
    for what, (first, last) in ends.items():
        fmt, unit = ("rate", "EUR/kWh") if what == "tariff" else ("whole", "token/s")
        for k, value in ((1, first), (STEPS, last)):
            t.formula(f"{what}_{k}", value, fmt, 12, unit)
        for low_k, k, high_k in ((1, 3, 5), (1, 2, 3), (3, 4, 5)):  # halves, then quarters
            t.formula(f"{what}_{k}", (t.cell(f"{what}_{low_k}") + t.cell(f"{what}_{high_k}")) / 2, fmt, 12, unit)
    t.rows.append({})
    return t.lead(*(f"{what}_{k + 1}" for what in ends for k in range(STEPS)))


def use_tariff_table() -> TableSpec:
    """Cost of a million output tokens: use down, electricity tariff across."""
    t = TableSpec("UseTariff", title="table.use_tariff", note="note.use_tariff", scale={f"step_{k + 1}": "cost" for k in range(STEPS)})
    t.fixed("use", list(USES), "pct", 28, "1")
    look = _look()
    t.joins.append(("Cards", index(col("Fleet", "gpu_row"), look["fleet"])))
    t.given["horizon_h"] = t.expression("horizon_h")
    t.quantity("mean_power_w", "whole", 10, utilization=t.cell("use"))
    rest = index(col("Fleet", "tco_fixed_eur"), look["fleet"]) - index(col("Fleet", "electricity_idle_eur"), look["fleet"])
    t.formula("rest_eur", rest, "money", 12, "EUR")
    t.formula("gpus", look["gpus"], "whole", 8, "card")
    tok_s = index(col("Candidates", "output_tok_s"), look["cand"])
    t.quantity("tokens_served_m", "whole", 12, output_tok_s=tok_s, utilization=t.cell("use"))
    for k in range(STEPS):
        tariff = index(col("GridSteps", f"tariff_{k + 1}"), 1)
        tco = t.cell("rest_eur") + t.expression("electricity_eur", electricity_eur_kwh=tariff)
        t.formula(f"step_{k + 1}", t.expression("cost_eur_mtok", tco_eur=tco), "rate", 12, "EUR/1e6 output tokens",
                  heading=join(shown(tariff, 2), " EUR/kWh"))  # fmt: skip
    return t.lead("use", *(f"step_{k + 1}" for k in range(STEPS)))


def price_speed_table() -> TableSpec:
    """Cost of a million output tokens: price of the card down, throughput of the build across."""
    t = TableSpec("PriceSpeed", title="table.price_speed", note="note.price_speed", scale={f"step_{k + 1}": "cost" for k in range(STEPS)})
    t.fixed("n", [float(i + 1) for i in range(PRICE_STEPS)], "whole", 6)
    look = _look()
    typical = index(col("Fleet", "price_eur"), look["fleet"])
    for end in ENDS:
        of_end = end_of("FleetEnds", "price_eur", look["fleet"], end)
        t.formula(f"price_{end}_eur", of_end, "money", 12, "EUR")
    t.formula("price_eur", _step(t.cell("price_low_eur"), t.cell("price_high_eur"), t.cell("n"), "PriceSpeed"), "money", 28, "EUR")
    t.given["horizon_h"] = t.expression("horizon_h")
    one = {p: t.expression(p, price_eur=1, capex_eur=1) for p in ("interest_eur", "maintenance_eur", "spares_eur", "residual_eur")}
    # every part grows in proportion to the price: one euro of price more is so much of total cost more
    slope = t.expression("tco_eur", capex_eur=1, electricity_eur=0, running_eur=0, hosting_eur=0, **one)
    t.formula("tco_eur", index(col("Fleet", "tco_eur"), look["fleet"]) + (t.cell("price_eur") - typical) * slope, "money", 12, "EUR")
    t.formula("gpus", look["gpus"], "whole", 8, "card")
    for k in range(STEPS):
        tok_s = index(col("GridSteps", f"tok_s_{k + 1}"), 1)
        tokens = t.expression("tokens_served_m", output_tok_s=tok_s, utilization=index(col("MeanUse", "mean_use"), 1))
        t.formula(f"step_{k + 1}", t.expression("cost_eur_mtok", tokens_served_m=tokens), "rate", 12, "EUR/1e6 output tokens",
                  heading=join(shown(tok_s, 0), " tok/s"))  # fmt: skip
    return t.lead("price_eur", *(f"step_{k + 1}" for k in range(STEPS)))


def even_table() -> TableSpec:
    """Break-even use against the rent per hour, in the low, the typical and the high case of owning."""
    t = TableSpec("EvenCurve", title="table.even", note="note.even")
    t.fixed("share", list(RATE_FACTORS), "pct", 9, "1")
    look = _look()
    offer = look_up(name("compare_rate"), col("RentYears", "rate"), col("RentYears", "rent_eur_hour"))
    t.formula("rate_hour", offer * t.cell("share"), "rate", 28, "EUR per GPU-hour")
    t.given["horizon_h"] = t.expression("horizon_h")
    t.quantity("rent_per_use", "money", 12, rel=name("rel_stated"))
    for case in CASES:
        for part in ("fixed", "per_use"):
            of = f"tco_{part}_eur"
            cost = index(col("Fleet", of), look["fleet"]) if case == "typical" else end_of("FleetEnds", of, look["fleet"], case)
            t.formula(f"tco_{part}_{case}_eur", cost, "money", 12, "EUR")
        at = t.expression("breakeven_use", tco_fixed_eur=t.cell(f"tco_fixed_{case}_eur"), tco_per_use_eur=t.cell(f"tco_per_use_{case}_eur"))
        t.formula(f"even_{case}", where(at < 0, 1, at), "pct", 12, "1")
    return t.lead("rate_hour", *(f"even_{c}" for c in CASES))


def sensitivity_sheet() -> SheetSpec:
    """One driver at a time, low and high, sorted: what moves the cost of a million tokens."""
    s = SheetSpec("sensitivity", False, tab="result", print_columns=14)
    t = TableSpec("Scenarios", title="table.scenarios", note="note.scenarios")
    cases = [("base", "base"), *((d, end) for d in DRIVERS for end in ("low", "high"))]
    t.fixed("driver", [c[0] for c in cases], "text", 24)
    t.fixed("end", [c[1] for c in cases], "text", 8)
    at_build, at_candidate = reference_rows()
    t.formula("build_row", at_build, "whole", 8)
    t.formula("candidate_row", at_candidate, "whole", 8)
    fleet, cand = t.cell("build_row"), t.cell("candidate_row")
    price_row = index(col("Fleet", "price_row"), fleet)
    is_low = equal(t.cell("end"), "low")

    def of_range(driver: str, base: Expr, low: Expr, high: Expr) -> Expr:
        low, high = where(equal(low, ""), base, low), where(equal(high, ""), base, high)
        return lift(where(equal(t.cell("driver"), driver), where(is_low, low, high), base))

    currency = index(col("Prices", "currency"), price_row)

    def price(end: str) -> Expr:
        cell = index(col("Prices", end), price_row)
        return lift(where(equal(cell, ""), "", t.expression("price_eur", price=cell, currency=currency)))

    t.formula("price_low_eur", price("low"), "money", 12, "EUR")
    t.formula("price_high_eur", price("high"), "money", 12, "EUR")
    t.formula(
        "price_eur", of_range("price", index(col("Fleet", "price_eur"), fleet), t.cell("price_low_eur"), t.cell("price_high_eur")), "money", 12, "EUR"
    )
    tok_s = of_range("output_tok_s", *(index(col("Candidates", c), cand) for c in ("output_tok_s", "output_tok_s_low", "output_tok_s_high")))
    t.formula("output_tok_s", tok_s, "whole", 12, "token/s")
    for driver in DRIVERS[2:]:
        row = match(driver, col("Assumptions", "name"))
        low, high = index(col("Assumptions", "low"), row), index(col("Assumptions", "high"), row)
        base = index(col("Fleet", driver), fleet) if driver == "chassis_eur_gpu" else name(driver)
        t.formula(driver, of_range(driver, base, low, high), "auto", 12)
    t.joins.append(("Cards", index(col("Fleet", "gpu_row"), fleet)))
    t.given["gpus"] = index(col("Builds", "gpus"), fleet)
    t.quantity("horizon_h", "whole", 10)
    t.quantity("horizon_months", "one", 10)
    t.quantity("mean_use", "pct", 10)
    for part in ("electricity_eur", "maintenance_eur", "running_eur", "spares_eur", "hosting_eur", "interest_eur", "residual_eur", "tco_eur"):
        t.quantity(part, "money", 12, utilization=t.cell("mean_use"))
    t.quantity("tokens_served_m", "whole", 12, utilization=t.cell("mean_use"))
    t.quantity("cost_eur_mtok", "rate", 12)
    d = TableSpec("Tornado", title="table.tornado", note="note.tornado")
    d.fixed("n", [float(i + 1) for i in range(len(DRIVERS))], "whole", 5)
    d.fixed("driver", list(DRIVERS), "text", 24)
    base = index(col("Scenarios", "cost_eur_mtok"), 1)
    first = match(d.cell("driver"), col("Scenarios", "driver"))
    d.formula("at_low", index(col("Scenarios", "cost_eur_mtok"), first), "rate", 12, "EUR/1e6 output tokens")
    d.formula("at_high", index(col("Scenarios", "cost_eur_mtok"), first + 1), "rate", 12, "EUR/1e6 output tokens")
    d.formula(
        "swing",
        maximum(maximum(d.cell("at_low"), d.cell("at_high")), base) - minimum(minimum(d.cell("at_low"), d.cell("at_high")), base),
        "rate",
        12,
        "EUR/1e6 output tokens",
    )
    d.formula("order_key", d.cell("swing") - d.cell("n") / GIGA, "rate", 12)
    o = TableSpec("TornadoSorted", title="table.tornado_sorted", note="note.tornado")
    o.fixed("n", [float(i + 1) for i in range(len(DRIVERS))], "whole", 5)
    o.formula("row", match(large(col("Tornado", "order_key"), o.cell("n")), col("Tornado", "order_key")), "whole", 6)
    which = index(col("Tornado", "driver"), o.cell("row"))
    o.formula("driver", words(join("driver_", which)), "text", 28)
    o.formula("below", index(col("Tornado", "at_low"), o.cell("row")) - base, "signed", 12, "EUR/1e6 output tokens")
    o.formula("above", index(col("Tornado", "at_high"), o.cell("row")) - base, "signed", 12, "EUR/1e6 output tokens")
    o.formula("swing", index(col("Tornado", "swing"), o.cell("row")), "rate", 12, "EUR/1e6 output tokens")
    s.chart(
        Chart(
            "tornado",
            "TornadoSorted",
            "driver",
            [("below", "label.below"), ("above", "label.above")],
            "chart.tornado",
            "axis.driver",
            "axis.change_eur_mtok",
            width=900,
            height=480,
            y_format="0.00",
        )
    )
    steps, by_use, by_price, even = steps_table(), use_tariff_table(), price_speed_table(), even_table()
    s.chart(
        Chart("line", "EvenCurve", "rate_hour", [(f"even_{c}", f"label.even_{c}") for c in CASES], "chart.even", "axis.rent_hour", "axis.use",
              y_format="0%"),
        Chart("line", "UseTariff", "use", [("step_1", "label.lowest_tariff"), (f"step_{STEPS}", "label.highest_tariff")], "chart.use_tariff",
              "axis.use", "axis.eur_mtok", y_format="0.00"),
    )  # fmt: skip
    s.table(o.lead("driver", "below", "above", "swing"))
    for t_ in (by_use, by_price, even, steps):
        s.table(t_)
    s.table(d.lead("driver", "at_low", "at_high", "swing"))
    s.table(t)
    return s
