"""TCO, Cost, Perf per Euro, Rent, Own vs API, Break-even: what it costs."""

from __future__ import annotations

from gpuecon_xl.catalog import Catalog
from gpuecon_xl.money import CHEAPER, DEARER
from gpuecon_xl.ops import (
    Expr,
    col,
    either,
    equal,
    if_error,
    index,
    join,
    lift,
    look_up,
    match,
    maximum,
    name,
    not_available,
    where,
    words,
)
from gpuecon_xl.sheets.candidates import BUILD_SLOTS
from gpuecon_xl.sheets.model import SPARE_ROWS, Chart, SheetSpec, TableSpec
from gpuecon_xl.sheets.ranges import ENDS, case_of, cases_table, cost_of_end, end_of, rate_of_end
from gpuecon_xl.sheets.throughput import LONG, SPEED_BATCHES, SPEED_CARDS, SPEED_MODELS
from gpuecon_xl.throughput import ENGINE_INPUTS
from gpuecon_xl.units import MEGA, MONTHS_YEAR, TINY


def sourced_price(row: Expr) -> Expr:
    """Typical price of a row of Prices; #N/A without price or source: no source, no price."""
    price, source = index(col("Prices", "typical"), row), index(col("Prices", "source"), row)
    return lift(where(either(equal(price, ""), equal(source, "")), not_available(), price))


def tco_cards_table(count: int) -> TableSpec:
    """Total cost of ownership of one card of each kind that has a price."""
    t = TableSpec("TcoCards", guard="gpu", title="table.tco_cards", note="note.tco")
    t.fixed("n", [float(i + 1) for i in range(count)], "whole", 5)
    own = index(col("Prices", "gpu"), t.cell("n"))
    t.formula("gpu", where(equal(own, ""), "", own), "text", 32, guarded=False)
    t.formula("gpu_row", match(t.cell("gpu"), col("Cards", "gpu")), "whole", LONG)
    t.joins += [("Cards", t.cell("gpu_row"))]
    t.quantity("price_eur", "money", 12, price=sourced_price(t.cell("n")), currency=index(col("Prices", "currency"), t.cell("n")))
    t.given["chassis_eur_gpu"] = name("chassis_eur_gpu")
    tco_parts(t)
    t.formula("tco_low_eur", end_of("TcoEnds", "tco_eur", t.cell("n"), "low"), "money", 12, "EUR")
    t.formula("tco_high_eur", end_of("TcoEnds", "tco_eur", t.cell("n"), "high"), "money", 12, "EUR")
    t.formula("electricity_share", t.cell("electricity_eur") / t.cell("tco_eur"), "pct", LONG, "1")
    return t.lead("gpu", "price_eur", "capex_eur", "electricity_eur", "maintenance_eur", "running_eur", "spares_eur", "hosting_eur", "interest_eur",
                  "residual_eur", "tco_eur", "tco_low_eur", "tco_high_eur", "electricity_share", "tco_fixed_eur", "tco_per_use_eur")  # fmt: skip


def ends_table(table: str, of: str, key: str, count: int) -> TableSpec:
    """Total cost of each row of TcoCards or Fleet in the low and in the high case, two rows for each."""
    t = TableSpec(table, guard=key, title=f"table.{table.lower()}", note="note.ends")
    t.fixed("n", [float(i + 1) for i in range(count) for _ in ENDS], "whole", 5)
    t.fixed("end", [float(e + 1) for _ in range(count) for e in range(len(ENDS))], "whole", 6)
    n, end = t.cell("n"), t.cell("end")
    t.formula(key, index(col(of, key), n), "text", 30, guarded=False)
    t.formula("case", where(equal(end, 1), "low", "high"), "text", 8)
    price_row = n if of == "TcoCards" else index(col(of, "price_row"), n)
    t.joins.append(("Cards", index(col(of, "gpu_row"), n)))
    ranged = index(col("Prices", "low"), price_row), index(col("Prices", "high"), price_row)
    given = where(equal(end, 1), ranged[0], ranged[1])
    t.formula("price", where(equal(given, ""), "", given), "money", 12, "per card, net")
    exchanged = t.expression("price_eur", price=t.cell("price"), currency=index(col("Prices", "currency"), price_row))
    typical = index(col(of, "price_eur"), n)
    t.formula("price_eur", where(equal(t.cell("price"), ""), typical, exchanged + 0 * typical), "money", 12, "EUR")
    for driver in DEARER + CHEAPER:
        t.given[driver] = case_of(driver, end)
    if of == "Fleet":
        own = index(col("Builds", "chassis_wanted_eur"), n)
        t.formula("chassis_eur_gpu", where(equal(own, ""), case_of("chassis_eur_gpu", end), own), "money", 12, "EUR")
    t.given["utilization"] = case_of("use_of_tco", end)
    tco_parts(t)
    return t.lead(key, "case", "price_eur", "tco_eur", "tco_fixed_eur", "tco_per_use_eur")


def tco_parts(t: TableSpec) -> None:
    """The parts of the total cost as columns, and the split into fixed and per use."""
    t.given["horizon_h"] = t.expression("horizon_h")
    t.given.setdefault("utilization", used())
    for part in ("capex_eur", "electricity_eur", "maintenance_eur", "running_eur", "spares_eur", "hosting_eur", "interest_eur", "residual_eur",
                 "tco_eur", "electricity_idle_eur", "tco_fixed_eur", "tco_per_use_eur"):  # fmt: skip
        t.quantity(part, "money", 12)


def used() -> Expr:
    """Mean share of the time at work over the horizon, the ramp included."""
    return index(col("MeanUse", "mean_use"), 1)


def mean_use_table() -> TableSpec:
    """Utilisation, what the ramp takes off it, what is left over the horizon."""
    t = TableSpec("MeanUse", title="table.mean_use", note="note.mean_use")
    t.formula("utilization", name("utilization"), "pct", 12, "1")
    t.rows.append({})
    t.quantity("ramp_share", "pct", 12)
    t.quantity("mean_use", "pct", 12)
    return t


def fleet_table() -> TableSpec:
    """Each build: its card, its cost, its memory; read by Candidates."""
    t = TableSpec("Fleet", guard="build", title="table.fleet", note="note.fleet")
    t.fixed("n", [float(i + 1) for i in range(BUILD_SLOTS)], "whole", 5)
    own = index(col("Builds", "build"), t.cell("n"))
    t.formula("build", where(equal(own, ""), "", own), "text", 26, guarded=False)
    t.joins.append(("Builds", t.cell("n")))
    gpu = index(col("Builds", "gpu"), t.cell("n"))
    t.formula("gpu_row", match(gpu, col("Cards", "gpu")), "whole", LONG)
    t.formula("price_row", match(gpu, col("Prices", "gpu")), "whole", LONG)
    t.joins.append(("Cards", t.cell("gpu_row")))
    t.formula("link_row", match(t.joined("link"), col("Links", "link")), "whole", LONG)
    t.formula("engine_row", match(name("engine"), col("Engines", "engine")), "whole", LONG)
    t.joins += [("Links", t.cell("link_row")), ("Engines", t.cell("engine_row"))]
    for column in ("alpha_pair_us", "alpha_power", "bus_pair_gb_s", "bus_power"):
        t.formula(column, t.joined(column), "one", LONG)
    for column in ENGINE_INPUTS:
        if column != "memory_share":  # only the engine's memory needs it
            t.formula(column, t.joined(column), "one", LONG)
    t.quantity("capacity_gb", "one", LONG)
    t.quantity("engine_memory_gb", "one", LONG)
    t.quantity(
        "engine_overhead_gb", "one", LONG, as_="overhead_dense_gb", experts=0, vocab=0, tp=1, pp=1, nontorch_one_gib=t.cell("nontorch_many_gib")
    )
    t.quantity("engine_overhead_gb", "one", LONG, as_="overhead_moe_gb", experts=1, vocab=0, tp=1, pp=1, nontorch_one_gib=t.cell("nontorch_many_gib"))
    t.quantity(
        "engine_overhead_gb", "one", LONG, as_="overhead_vocab_gb", experts=0, activation_dense_gib=0, vocab=MEGA, tp=1, pp=1, nontorch_one_gib=0
    )
    t.quantity("price_eur", "money", 12, price=sourced_price(t.cell("price_row")), currency=index(col("Prices", "currency"), t.cell("price_row")))
    wanted = t.joined("chassis_wanted_eur")
    t.formula("chassis_eur_gpu", where(equal(wanted, ""), name("chassis_eur_gpu"), wanted), "money", 12, "EUR")
    tco_parts(t)
    t.quantity("power_w", "whole", LONG)
    t.quantity("outlay_eur", "money", 12)
    t.formula("build_tco_eur", t.cell("tco_eur") * t.joined("gpus"), "money", 12, "EUR")
    return t.lead(
        "build",
        "price_eur",
        "chassis_eur_gpu",
        "capex_eur",
        "electricity_eur",
        "maintenance_eur",
        "running_eur",
        "spares_eur",
        "hosting_eur",
        "interest_eur",
        "residual_eur",
        "tco_eur",
        "outlay_eur",
        "build_tco_eur",
        "power_w",
    )


def tco_sheet(catalog: Catalog) -> SheetSpec:
    """Total cost of ownership, card by card and build by build."""
    s = SheetSpec("tco", False, freeze_columns=1, tab="result", print_columns=15)
    parts = [
        (c, f"label.{c}") for c in ("capex_eur", "electricity_eur", "maintenance_eur", "running_eur", "spares_eur", "hosting_eur", "interest_eur")
    ]
    count = len(catalog.rows("prices"))
    s.chart(Chart("stacked", "TcoCards", "gpu", parts, "chart.tco", "axis.gpu", "axis.eur", rows=(0, min(count, 8) - 1), width=900, height=380))
    s.table(tco_cards_table(count + SPARE_ROWS))
    s.table(fleet_table())
    s.table(mean_use_table())
    s.table(cases_table())
    s.table(ends_table("TcoEnds", "TcoCards", "gpu", count + SPARE_ROWS))
    s.table(ends_table("FleetEnds", "Fleet", "build", BUILD_SLOTS))
    return s


def speed_row(t: TableSpec, count: int) -> Expr:
    """Rows of the Speed table, one to one."""
    t.fixed("n", [float(i + 1) for i in range(count)], "whole", 5)
    return t.cell("n")


def cost_table(count: int) -> TableSpec:
    """Cost of a million output tokens for each row of Speed; a measured tok/s of your own goes before the prediction."""
    t = TableSpec("Cost", guard="gpu", title="table.cost", note="note.cost")
    n = speed_row(t, count)
    for column, width in (("gpu", 30), ("model", 20), ("precision", 10)):
        own = index(col("Speed", column), n)
        t.formula(column, where(equal(own, ""), "", own), "text", width, guarded=column != "gpu")
    t.formula("batch", index(col("Speed", "batch"), n), "whole", 8, "request")
    t.formula("gpus", index(col("Speed", "gpus"), n), "whole", 7, "card")
    t.inputs("tok_s_measured", [None] * count, "whole", 11, "token/s")
    predicted = index(col("Speed", "output_tok_s"), n)
    t.formula("output_tok_s", where(t.cell("tok_s_measured") > 0, t.cell("tok_s_measured"), predicted), "whole", 10, "token/s")
    t.formula("tco_row", match(t.cell("gpu"), col("TcoCards", "gpu")), "whole", LONG)
    t.joins.append(("TcoCards", t.cell("tco_row")))
    for column in ("price_eur", "tco_eur", "tco_fixed_eur", "tco_per_use_eur"):
        t.formula(column, t.joined(column), "money", 12, "EUR")
    t.given["horizon_h"], t.given["utilization"] = t.expression("horizon_h"), used()
    t.quantity("tokens_served_m", "whole", 12)
    runs = t.cell("output_tok_s") > 0
    t.formula(
        "cost_eur_mtok",
        where(runs, t.expression("cost_eur_mtok", tokens_served_m=maximum(t.cell("tokens_served_m"), TINY)), words("no_fit")),
        "rate",
        12,
        "EUR/1e6 output tokens",
    )
    for end, other in (("low", "high"), ("high", "low")):
        tok_s = lift(where(t.cell("tok_s_measured") > 0, t.cell("tok_s_measured"), index(col("Speed", f"output_tok_s_{other}"), n)))
        cost = cost_of_end(t, "TcoEnds", t.cell("tco_row"), end, tok_s, t.cell("gpus"))
        t.formula(f"cost_{end}_eur_mtok", where(runs, cost, words("no_fit")), "rate", 12, "EUR/1e6 output tokens")
    for part in ("usage_cost_mtok", "idle_cost_mtok"):
        split = t.expression(part, tokens_served_m=maximum(t.cell("tokens_served_m"), TINY))
        t.formula(part, where(runs, split, words("no_fit")), "rate", 12, "EUR/1e6 output tokens")
    t.formula(
        "running_cost_mtok",
        where(runs, t.expression("running_cost_mtok", output_tok_s=maximum(t.cell("output_tok_s"), TINY)), words("no_fit")),
        "rate",
        12,
        "EUR/1e6 output tokens",
    )
    return t.lead("gpu", "model", "precision", "batch", "gpus", "tok_s_measured", "output_tok_s", "price_eur", "tco_eur", "tokens_served_m",
                  "cost_eur_mtok", "usage_cost_mtok", "idle_cost_mtok", "cost_low_eur_mtok", "cost_high_eur_mtok", "running_cost_mtok")  # fmt: skip


def cost_sheet() -> SheetSpec:
    """Cost per million tokens, card by card."""
    s = SheetSpec("cost", False, freeze_columns=3, tab="result", print_columns=16)
    one_batch = len(SPEED_MODELS) * len(SPEED_CARDS)
    s.chart(
        Chart("bar", "Cost", "gpu", [("cost_eur_mtok", "label.cost_eur_mtok")], "chart.cost_8b", "axis.gpu", "axis.eur_mtok",
              rows=(one_batch, one_batch + len(SPEED_CARDS) - 1), y_format="0.00"),
        curve_chart(),
    )  # fmt: skip
    s.table(cost_table(one_batch * len(SPEED_BATCHES)))
    return s


def perf_sheet() -> SheetSpec:
    """Throughput for each thousand euro and each watt."""
    count = len(SPEED_MODELS) * len(SPEED_CARDS) * len(SPEED_BATCHES)
    t = TableSpec("PerfEuro", guard="gpu", title="table.perf", note="note.perf")
    n = speed_row(t, count)
    for column, width in (("gpu", 30), ("model", 20), ("precision", 10)):
        t.formula(column, index(col("Cost", column), n), "text", width, guarded=column != "gpu")
    for column, fmt in (("batch", "whole"), ("gpus", "whole"), ("output_tok_s", "whole"), ("price_eur", "money")):
        t.formula(column, index(col("Cost", column), n), fmt, 10, {"price_eur": "EUR", "output_tok_s": "token/s"}.get(column, ""))
    t.given["tdp_w"] = look_up(t.cell("gpu"), col("Cards", "gpu"), col("Cards", "tdp_w"))
    t.formula("tdp_w", t.given["tdp_w"], "whole", 8, "W")
    t.quantity("tok_s_per_keur", "one", 12)
    t.quantity("tok_s_per_w", "small", 12)
    t.lead("gpu", "model", "precision", "batch", "gpus", "output_tok_s", "price_eur", "tdp_w", "tok_s_per_keur", "tok_s_per_w")
    s = SheetSpec("perf", False, freeze_columns=3, tab="result")
    one_batch = len(SPEED_MODELS) * len(SPEED_CARDS)
    at = one_batch, one_batch + len(SPEED_CARDS) - 1
    s.chart(
        Chart("bar", "PerfEuro", "gpu", [("tok_s_per_keur", "label.tok_s_per_keur")], "chart.per_keur", "axis.gpu", "axis.tok_s_keur", rows=at),
        Chart("bar", "PerfEuro", "gpu", [("tok_s_per_w", "label.tok_s_per_w")], "chart.per_w", "axis.gpu", "axis.tok_s_w", rows=at, y_format="0.0"),
    )
    s.table(t)
    return s


RENT_ROWS = (
    ("S3.1a", "RTX 4090 LowCostGPU"),
    ("S3.1b", "RTX 5090 LowCostGPU"),
    ("S3.1c", "RTX 3060 LowCostGPU"),
    ("S3.1d", "RTX 5090 LowCostGPU"),
    ("S3.1e", "RTX 4090 LowCostGPU"),
    ("S3.1f", "H100 PCIe LowCostGPU"),
    ("S3.1g", "RTX A6000 LowCostGPU"),
    ("S3.1h", "H100 PCIe LowCostGPU"),
    ("S3.1i", "H200 LowCostGPU"),
    ("S3.1j", "H200 LowCostGPU"),
)


def rent_sheet(catalog: Catalog) -> SheetSpec:
    """Renting by the hour: model, card, rate, tok/s, cost; three years of a slot; reserved base and burst."""
    s = SheetSpec("rent", False, freeze_columns=2, tab="result")
    t = TableSpec("RentCost", guard="id", title="table.rent_cost", note="note.rent")
    t.inputs("id", [r[0] for r in RENT_ROWS], "text", 8)
    rates = [next((r["rate"] for r in catalog.rows("cloud_rates") if str(r["rate"]).startswith(x[1])), x[1]) for x in RENT_ROWS]
    t.inputs("rate", rates, "text", 28)
    t.formula("bench_row", match(t.cell("id"), col("Benchmarks", "id")), "whole", LONG)
    t.formula("rate_row", match(t.cell("rate"), col("Rates", "rate")), "whole", LONG)

    def bench(column: str) -> Expr:
        return index(col("Benchmarks", column), t.cell("bench_row"))

    for column, width in (("model", 18), ("precision", 10), ("gpu", 26)):
        t.formula(column, bench(column), "text", width)
    dollars = where(equal(index(col("Rates", "currency"), t.cell("rate_row")), "USD"), 1, name("usd_per_eur"))
    t.formula("rate_hour", index(col("Rates", "rate_hour"), t.cell("rate_row")) * dollars, "rate", LONG, "USD per GPU-hour")
    t.formula("stated", bench("value") / maximum(bench("gpus"), 1), "whole", LONG, "token/s per card")
    t.quantity("rent_cost_mtok", "rate", 11, tok_s=t.cell("stated"))
    for end in ENDS:
        at = rate_of_end(t.cell("rate_row"), end) * dollars
        t.formula(f"rent_{end}_mtok", t.expression("rent_cost_mtok", rate_hour=at, tok_s=t.cell("stated")), "rate", 11, "USD/1e6 tokens")
    t.formula("reserved_mtok", t.cell("rent_cost_mtok") * name("reserved_factor"), "rate", 11, "USD/1e6 tokens")
    t.formula("interruptible_mtok", t.cell("rent_cost_mtok") * name("interruptible_factor"), "rate", 11, "USD/1e6 tokens")
    predicted = look_up(t.cell("id"), col("Measured", "id"), col("Measured", "output_tok_s")) / maximum(bench("gpus"), 1)
    t.formula("predicted", predicted, "whole", LONG, "token/s per card")
    t.formula("predicted_mtok", if_error(t.expression("rent_cost_mtok", tok_s=t.cell("predicted")), words("no_fit")), "rate", 11, "USD/1e6 tokens")
    s.table(t.lead("rate", "model", "precision", "gpu", "id"))
    count = len(catalog.rows("cloud_rates")) + SPARE_ROWS
    h = TableSpec("RentYears", guard="rate", title="table.rent_years", note="note.rent_years")
    h.fixed("n", [float(i + 1) for i in range(count)], "whole", 5)
    own = index(col("Rates", "rate"), h.cell("n"))
    h.formula("rate", where(equal(own, ""), "", own), "text", 28, guarded=False)
    h.joins.append(("Rates", h.cell("n")))
    for column in ("gpu", "term", "currency"):
        h.formula(column, h.joined(column), "text", 16)
    h.formula("rate_hour", h.joined("rate_hour"), "rate", LONG, "per GPU-hour")
    h.quantity("rent_horizon", "money", 12)
    h.formula("rent_horizon_eur", h.expression("price_eur", price=h.cell("rent_horizon"), currency=h.cell("currency")), "money", 12, "EUR")
    h.formula("rent_eur_hour", h.expression("price_eur", price=h.cell("rate_hour"), currency=h.cell("currency")), "rate", 12, "EUR per GPU-hour")
    for end in ENDS:
        at = h.expression("price_eur", price=rate_of_end(h.cell("n"), end), currency=h.cell("currency"))
        h.formula(f"rent_{end}_eur_hour", at, "rate", 12, "EUR per GPU-hour")
    s.table(h.lead("rate", "gpu", "term", "currency", "rate_hour", "rent_horizon", "rent_horizon_eur", "rent_low_eur_hour", "rent_eur_hour",
                   "rent_high_eur_hour"))  # fmt: skip
    b = TableSpec("BaseBurst", guard="rate", title="table.base_burst", note="note.base_burst")
    b.inputs("rate", ["L40S LowCostGPU", "H100 PCIe LowCostGPU"], "text", 28)
    b.rows[0]["rate"] = next((r["rate"] for r in catalog.rows("cloud_rates") if r["gpu"] == "L40S"), "")
    b.rows[1]["rate"] = next((r["rate"] for r in catalog.rows("cloud_rates") if r["gpu"] == "H100 PCIe"), "")
    b.inputs("base_cards", [2.0, 4.0], "whole", 10, "card")
    b.inputs("burst_card_hours", [200.0, 500.0], "whole", 12, "card-hour/month")
    rate = look_up(b.cell("rate"), col("RentYears", "rate"), col("RentYears", "rent_eur_hour"))
    b.formula("on_demand_rate", rate, "rate", 12, "EUR per GPU-hour")
    b.formula("reserved_rate", b.cell("on_demand_rate") * name("reserved_factor"), "rate", 12, "EUR per GPU-hour")
    b.quantity("base_and_burst_month", "money", 12)
    s.table(b)
    return s


def own_vs_api_sheet(catalog: Catalog) -> SheetSpec:
    """Open weights on own cards against proprietary APIs; own month; break-even tokens."""
    s = SheetSpec("own_vs_api", False, freeze_columns=1, tab="result", print_columns=14)
    count = len(catalog.rows("open_weight")) + SPARE_ROWS
    m = TableSpec("OwnMonth", guard="gpu", title="table.own_month", note="note.own_month")
    m.formula("gpu", name("yield_card"), "text", 32, guarded=False)
    m.rows.append({})
    m.formula("gpu_row", match(m.cell("gpu"), col("Cards", "gpu")), "whole", LONG)
    m.joins.append(("Cards", m.cell("gpu_row")))
    m.formula("price", name("yield_card_price_usd"), "money", 12, "USD")
    m.given["utilization"], m.given["electricity_kwh"] = name("yield_utilization"), name("yield_electricity_kwh")
    m.quantity("own_cost_month", "money", 12)
    m.formula(
        "payback_card",
        m.expression("payback_months", outlay=m.cell("price"), rate_hour=name("yield_rent_hour"), electricity_month=0),
        "one",
        12,
        "month",
    )
    server = m.cell("price") * name("card_to_server")
    m.formula(
        "payback_server", m.expression("payback_months", outlay=server, rate_hour=name("yield_rent_hour"), electricity_month=0), "one", 12, "month"
    )
    power = m.expression("electricity_month", hours_month=m.expression("horizon_h", horizon_years=1) / MONTHS_YEAR)
    m.formula(
        "payback_power", m.expression("payback_months", outlay=server, rate_hour=name("yield_rent_hour"), electricity_month=power), "one", 12, "month"
    )
    s.table(m)
    t = TableSpec("OpenOwn", guard="model", title="table.open_own", note="note.open_own")
    t.fixed("n", [float(i + 1) for i in range(count)], "whole", 5)
    own = index(col("OpenWeight", "model"), t.cell("n"))
    t.formula("model", where(equal(own, ""), "", own), "text", 24, guarded=False)
    t.joins.append(("OpenWeight", t.cell("n")))
    t.formula("api", t.joined("api"), "text", 18)
    t.formula("model_row", match(t.cell("model"), col("Models", "model")), "whole", LONG)
    t.formula("api_row", match(t.cell("api"), col("Apis", "api")), "whole", LONG)
    precision = match(name("fit_precision"), col("Precisions", "precision"))
    t.joins += [("Models", t.cell("model_row")), ("Precisions", precision), ("Apis", t.cell("api_row"))]
    card = index(col("OwnMonth", "gpu_row"), 1)
    for column in ("memory_gb", "bandwidth_gb_s", "tflops_16", "tflops_fp8", "tops_int8", "tflops_fp4"):
        t.given[column] = index(col("Cards", column), card)
    t.formula("params_b", t.joined("params_stated_b"), "one", 9, "1e9")
    t.quantity("cards_needed", "whole", 8)
    t.formula("cards_stated", t.joined("cards_stated"), "whole", 8, "card")
    t.given["cards"] = t.cell("cards_needed")
    t.given["bytes_kv"] = t.joined("bytes_kv")
    t.quantity("kv_width", "whole", 8, tp=1)
    t.quantity("kv_bytes_token", "whole", 10, window_kv_width=t.expression("window_kv_width", tp=1))
    t.quantity("yield_batch", "whole", 9)
    t.quantity("kernel_used", "text", 9)
    t.quantity("peak_tflops", "whole", 9)
    t.quantity("breakeven_batch", "whole", 9, active_b=t.joined("active_b"))
    t.quantity("yield_tok_s", "whole", 10)
    t.quantity("token_yield_g_month", "small", 11, tok_s=t.cell("yield_tok_s"), utilization=name("yield_utilization"))
    t.given["own_cost_month"] = index(col("OwnMonth", "own_cost_month"), 1) * t.cell("cards_needed")
    t.quantity("own_cost_month_mtok", "rate", 11, token_yield_g_month=maximum(t.cell("token_yield_g_month"), TINY))
    t.quantity("blended_price_mtok", "rate", 11)
    t.quantity("verdict", "pct", 9, own_mtok=t.cell("own_cost_month_mtok"), api_mtok=t.cell("blended_price_mtok"))
    t.formula("own_stated_usd_mtok", t.joined("own_stated_usd_mtok"), "rate", 10, "USD/1e6 tokens")
    t.formula("verdict_stated", t.joined("verdict_stated"), "pct", 9, "1")
    t.quantity("breakeven_tokens_g_month", "small", 12, api_mtok=t.cell("blended_price_mtok"))
    s.table(
        t.lead(
            "model",
            "api",
            "params_b",
            "cards_needed",
            "cards_stated",
            "yield_tok_s",
            "token_yield_g_month",
            "own_cost_month_mtok",
            "blended_price_mtok",
            "verdict",
            "own_stated_usd_mtok",
            "verdict_stated",
            "breakeven_tokens_g_month",
            "breakeven_batch",
        )
    )
    return s


def speed_of(gpu: Expr) -> Expr:
    """Predicted tok/s of a card under the load that comparisons look at."""
    return look_up(join(name("compare_load"), "/", gpu), col("Speed", "key"), col("Speed", "output_tok_s"))


def curve_chart() -> Chart:
    """Cost against use: owned, rented, reserved, API."""
    lines = ("own_eur_mtok", "rent_eur_mtok", "reserved_eur_mtok", "api_eur_mtok")
    return Chart("line", "CostCurve", "use", [(c, f"label.{c}") for c in lines], "chart.curve", "axis.use", "axis.eur_mtok", y_format="0.00")


def breakeven_sheet() -> SheetSpec:
    """From which use on owning beats renting; cost against use."""
    s = SheetSpec("breakeven", False, freeze_columns=1, tab="result", print_columns=14)
    v = TableSpec("Versus", guard="gpu", title="table.versus", note="note.versus")
    rows = [
        ("RTX PRO 6000 Blackwell Server", "H100 SXM discount cloud", None),
        ("RTX PRO 6000 Blackwell Server", "H100 SXM reserved 1 year", None),
        ("RTX 5090", "RTX 5090 LowCostGPU on-demand", 1.0),
        ("L4", "L4 LowCostGPU on-demand", 1.0),
        ("RTX PRO 6000 Blackwell Workstation", "RTX PRO 6000 smaller clouds", 1.0),
    ]
    v.inputs("gpu", [r[0] for r in rows], "text", 32)
    v.inputs("rate", [r[1] for r in rows], "text", 30)
    v.inputs("rel_wanted", [r[2] for r in rows], "small", 13, "1")
    v.formula("rel", where(v.cell("rel_wanted") > 0, v.cell("rel_wanted"), name("rel_stated")), "small", 13, "1")
    rate_row = match(v.cell("rate"), col("RentYears", "rate"))
    v.formula("rate_row", rate_row, "whole", LONG)
    rented = index(col("RentYears", "gpu"), v.cell("rate_row"))
    ratio = speed_of(v.cell("gpu")) / speed_of(rented)
    v.formula("rel_predicted", if_error(ratio, words("not_computed")), "small", 14, "1")
    v.formula("tco_row", match(v.cell("gpu"), col("TcoCards", "gpu")), "whole", LONG)
    v.joins.append(("TcoCards", v.cell("tco_row")))
    v.formula("term", index(col("RentYears", "term"), v.cell("rate_row")), "text", 12)
    v.formula("rate_hour", index(col("RentYears", "rent_eur_hour"), v.cell("rate_row")), "rate", 10, "EUR per GPU-hour")
    v.formula("tco_eur", v.joined("tco_eur"), "money", 12, "EUR")
    v.formula("tco_fixed_eur", v.joined("tco_fixed_eur"), "money", 12, "EUR")
    v.formula("tco_per_use_eur", v.joined("tco_per_use_eur"), "money", 12, "EUR")
    v.given["horizon_h"] = v.expression("horizon_h")
    v.quantity("rent_per_use", "money", 14)
    use, stated, mean_use = v.expression("breakeven_use"), v.expression("breakeven_use_stated"), used()
    v.formula("breakeven_use", where(use < 0, words("rent_wins"), use), "pct", 15, "1", label="breakeven_use")
    v.formula("breakeven_use_stated", where(stated < 0, words("rent_wins"), stated), "pct", 12, "1", label="breakeven_use_stated")
    for end in ENDS:
        for part in ("fixed", "per_use"):
            v.formula(f"tco_{part}_{end}_eur", end_of("TcoEnds", f"tco_{part}_eur", v.cell("tco_row"), end), "money", 12, "EUR")
        # the lowest use from which owning pays: owning at its cheapest against the dearest rent
        hourly = index(col("RentYears", f"rent_{'high' if end == 'low' else 'low'}_eur_hour"), v.cell("rate_row"))
        v.formula(f"rent_per_use_{end}", v.expression("rent_per_use", rate_hour=hourly), "money", 12, "EUR")
        own = {f"tco_{part}_eur": v.cell(f"tco_{part}_{end}_eur") for part in ("fixed", "per_use")}
        at = v.expression("breakeven_use", rent_per_use=v.cell(f"rent_per_use_{end}"), **own)
        v.formula(f"breakeven_{end}", where(at < 0, words("rent_wins"), at), "pct", 15, "1")
    by_use = where(use < 0, words("rent_wins"), where(mean_use >= use, words("buy"), words("rent")))
    # a reserved card is paid day and night, used or not
    paid_in_full = where(v.cell("tco_eur") <= v.cell("rent_per_use"), words("buy"), words("rent"))
    v.formula("answer", where(equal(v.cell("term"), "reserved"), paid_in_full, by_use), "strong", 18)
    v.lead("gpu", "rate", "term", "rel_wanted", "rel", "rel_predicted", "rate_hour", "tco_eur", "rent_per_use",
           "breakeven_low", "breakeven_use", "breakeven_high",
           "answer", "breakeven_use_stated")  # fmt: skip
    s.chart(curve_chart())
    s.table(v)
    c = TableSpec("CostCurve", title="table.curve", note="note.curve")
    c.fixed("use", [i / 20 for i in range(2, 21)], "pct", 9, "1")
    at_build, at_candidate = reference_rows()
    c.formula("build_row", at_build, "whole", 8)
    c.formula("candidate_row", at_candidate, "whole", 8)
    fleet, cand = c.cell("build_row"), c.cell("candidate_row")
    tok_s = index(col("Candidates", "output_tok_s"), cand)
    gpus = index(col("Builds", "gpus"), fleet)
    per_card = index(col("Fleet", "tco_fixed_eur"), fleet) + index(col("Fleet", "tco_per_use_eur"), fleet) * c.cell("use")
    c.formula("build_tco_eur", per_card * gpus, "money", 12, "EUR")
    c.formula(
        "tokens_served_m",
        c.expression("tokens_served_m", output_tok_s=tok_s, utilization=c.cell("use"), horizon_h=c.expression("horizon_h")),
        "whole",
        12,
        "1e6 output tokens",
    )
    c.quantity("cost_eur_mtok", "rate", 12, as_="own_eur_mtok", tco_eur=c.cell("build_tco_eur"), gpus=1)
    hourly = look_up(name("compare_rate"), col("RentYears", "rate"), col("RentYears", "rent_eur_hour"))
    rented = tok_s / (gpus * name("rel_stated"))
    c.formula("rent_eur_mtok", c.expression("rent_cost_mtok", rate_hour=hourly, tok_s=rented), "rate", 12, "EUR/1e6 output tokens")
    c.formula("reserved_eur_mtok", c.cell("rent_eur_mtok") * name("reserved_factor") / c.cell("use"), "rate", 12, "EUR/1e6 output tokens")
    api = match(name("compare_api"), col("Apis", "api"))
    i, o = index(col("Workloads", "input_tokens"), reference_workload()), index(col("Workloads", "output_tokens"), reference_workload())
    per_output = index(col("Apis", "price_out_mtok"), api) + index(col("Apis", "price_in_mtok"), api) * i / o
    c.formula(
        "api_eur_mtok", c.expression("price_eur", price=per_output, currency=index(col("Apis", "currency"), api)), "rate", 12, "EUR/1e6 output tokens"
    )
    s.table(c.lead("use", "own_eur_mtok", "rent_eur_mtok", "reserved_eur_mtok", "api_eur_mtok", "build_tco_eur", "tokens_served_m"))
    return s


def reference_workload() -> Expr:
    """Row of the workload that charts and sensitivity look at."""
    return match(name("look_at_workload"), col("Workloads", "workload"))


def reference_rows() -> tuple[Expr, Expr]:
    """Rows, in Builds and in Candidates, of the build and workload that charts and sensitivity look at."""
    fleet = match(name("look_at_build"), col("Builds", "build"))
    cand = match(join(reference_workload(), "/", name("look_at_build")), col("Candidates", "key"))
    return fleet, cand
