"""Candidates: every workload on every build, the equations as columns; the Matrix recommends from it."""

from __future__ import annotations

from gpuecon_xl.ops import (
    Expr,
    both,
    col,
    count_both,
    either,
    equal,
    if_error,
    index,
    join,
    lift,
    match,
    maximum,
    rank_in_group,
    rounded,
    shown,
    where,
    words,
)
from gpuecon_xl.sheets.fit import WORKLOAD_SLOTS
from gpuecon_xl.sheets.model import Chart, SheetSpec, TableSpec
from gpuecon_xl.sheets.ranges import cost_of_end
from gpuecon_xl.sheets.throughput import LONG, SHARES_OF_PEAK, runs_alone
from gpuecon_xl.units import MEGA, PERCENT

BUILD_SLOTS = 40

# Limits in the order in which they are named when several are broken; codes are words of the workbook's language.
LIMITS_SERVICE = ("memory", "speed", "ecc", "consumer", "datacenter")
LIMITS_ROOM = ("rack", "power", "cards", "budget", "stock")


def candidates_table() -> TableSpec:
    """Workload by build."""
    t = TableSpec("Candidates", guard="key", title="table.candidates", note="note.candidates")
    pairs = [(w + 1, b + 1) for w in range(WORKLOAD_SLOTS) for b in range(BUILD_SLOTS)]
    t.fixed("w", [float(p[0]) for p in pairs], "whole", 5)
    t.fixed("b", [float(p[1]) for p in pairs], "whole", 5)
    w, b = t.cell("w"), t.cell("b")
    workload, build = index(col("Need", "workload"), w), index(col("Fleet", "build"), b)
    t.formula("key", where(either(equal(workload, ""), equal(build, "")), "", join(w, "/", build)), "text", 24, guarded=False)
    t.formula("workload", workload, "text", 24)
    t.formula("build", build, "text", 24)
    t.formula("model_row", index(col("Need", "model_row"), w), "whole", 7)
    t.formula("gpu_row", index(col("Fleet", "gpu_row"), b), "whole", 7)
    t.joins += [("Need", w), ("Fleet", b), ("Workloads", w), ("Builds", b), ("Precisions", index(col("Need", "precision_row"), w)),
                ("Cards", t.cell("gpu_row")), ("Models", t.cell("model_row"))]  # fmt: skip
    t.quantity("kernel_used", "text", 7)
    key = join(t.joined("efficiency_class"), " ", t.cell("kernel_used"))
    t.formula("efficiency_row", match(key, col("Efficiency", "efficiency_key")), "whole", 7)
    t.joins.append(("Efficiency", t.cell("efficiency_row")))
    t.quantity("peak_tflops", "whole", LONG)
    for q in SHARES_OF_PEAK:
        t.quantity(q, "pct", LONG)
    t.formula("pp", maximum(t.joined("pp_wanted"), 1), "whole", 5, "card")
    many = index(col("Fleet", "overhead_dense_gb"), b), index(col("Fleet", "overhead_moe_gb"), b)
    logits = t.joined("vocab") / MEGA * index(col("Fleet", "overhead_vocab_gb"), b)
    room = where(t.joined("experts") > 0, many[1], many[0]) + logits
    t.quantity("tp_needed", "one", LONG, engine_overhead_gb=room)
    t.formula("tp", where(t.joined("tp_wanted") > 0, t.joined("tp_wanted"), t.expression("tp_smallest")), "whole", 5, "card")
    t.given["link_row"] = index(col("Fleet", "link_row"), b)
    t.quantity("replicas", "whole", LONG)
    t.quantity("kv_width", "whole", LONG)
    t.quantity("kv_gb_sequence", "small", LONG)
    for q, fmt in (("engine_overhead_gb", "one"), ("kv_budget_gb", "one"), ("batch_max", "whole"), ("admitted", "one"), ("headroom", "pct"),
                   ("fit_class", "text"), ("sequences_replica", "one"), ("micro_batch", "one")):  # fmt: skip
        t.quantity(q, fmt, LONG)
    for q, fmt in (
        ("expert_read_gb", "one"),
        ("weights_read_gb", "one"),
        ("kv_read_gb_sequence", "small"),
        ("decode_weights_s", "seconds"),
        ("decode_kv_s", "seconds"),
        ("decode_linear_s", "seconds"),
        ("decode_attention_s", "seconds"),
        ("linear_step_s", "seconds"),
        ("collective_s_token", "seconds"),
        ("decode_collective_s", "seconds"),
        ("roofline_step_s", "seconds"),
        ("decode_step_s", "seconds"),
        ("prefill_linear_s_token", "seconds"),
        ("prefill_s_token", "seconds"),
        ("prompt_tokens_step", "one"),
        ("interleave_s", "seconds"),
        ("output_tok_s", "whole"),
    ):
        t.quantity(q, fmt, LONG)
    runs_alone(t)
    t.quantity("output_tok_s_low", "whole", LONG)
    t.quantity("output_tok_s_high", "whole", LONG)
    t.given["utilization"] = index(col("MeanUse", "mean_use"), 1)
    cost = t.expression("cost_eur_mtok", tokens_served_m=t.expression("tokens_served_m"))
    t.formula("cost_eur_mtok", where(t.cell("output_tok_s") > 0, cost, ""), "rate", LONG, "EUR/1e6 output tokens")
    conditions = broken(t)
    t.formula("limit_service", first_of(conditions, LIMITS_SERVICE, Expr("text", "none")), "text", 11)
    rest = first_of(conditions, LIMITS_ROOM, Expr("text", "none"))
    t.formula("limit", where(equal(t.cell("limit_service"), "none"), rest, t.cell("limit_service")), "text", 11)
    rank_cost = if_error(where(equal(t.cell("limit"), "none"), rounded(t.cell("cost_eur_mtok")), ""), "")
    t.formula("rank_cost", rank_cost, "rate", LONG, "EUR/1e6 output tokens")
    rank = rank_in_group(col("Candidates", "w"), col("Candidates", "rank_cost"), col("Candidates", "b"), w, t.cell("rank_cost"), b)
    t.formula("rank", where(equal(t.cell("rank_cost"), ""), "", rank), "whole", 6)
    t.formula("place", where(equal(t.cell("rank"), ""), "", join(w, "/", t.cell("rank"))), "text", 8)
    return t.lead("workload", "build", "tp", "replicas", "fit_class", "batch_max", "decode_tok_s_user", "output_tok_s", "output_tok_s_low",
                  "output_tok_s_high", "cost_eur_mtok", "limit", "rank")  # fmt: skip


def broken(t: TableSpec) -> dict[str, Expr]:
    """For each limit, the condition that a candidate breaks it."""

    def needs(flag: str, has: Expr) -> Expr:
        return lift(both(equal(t.joined(flag), "yes"), has))

    def above(limit: str, value: Expr) -> Expr:
        return lift(both(t.joined(limit) > 0, value > t.joined(limit)))

    return {
        "memory": equal(t.cell("fit_class"), "no"),
        "speed": t.cell("decode_tok_s_user") < t.joined("min_tok_s_user"),
        "ecc": needs("need_ecc", equal(t.joined("ecc"), "no")),
        "consumer": needs("no_consumer", equal(t.joined("consumer"), "yes")),
        "datacenter": needs("need_datacenter", equal(t.joined("datacenter"), "no")),
        # a build without rack units is a tower
        "rack": both(t.joined("max_rack_units") > 0, either(t.joined("rack_units") <= 0, t.joined("rack_units") > t.joined("max_rack_units"))),
        "power": above("max_power_w", t.joined("power_w")),
        "cards": above("max_cards", t.joined("gpus")),
        "budget": above("max_budget_eur", t.joined("outlay_eur")),
        "stock": needs("need_stock", equal(t.joined("stocked"), "no")),
    }


def first_of(conditions: dict[str, Expr], codes: tuple[str, ...], otherwise: Expr) -> Expr:
    """Code of the first condition that holds."""
    out = otherwise
    for code in reversed(codes):
        out = where(conditions[code], code, out)
    return out


def candidates_sheet() -> SheetSpec:
    """The workings behind the Matrix."""
    s = SheetSpec("candidates", False, freeze_columns=2, print_columns=13)
    s.table(candidates_table())
    return s


def matrix_table() -> TableSpec:
    """One row for each workload: recommended build, reason, runner-up, and what the published texts pick."""
    t = TableSpec("Matrix", guard="workload", title="table.matrix", note="note.matrix")
    t.fixed("n", [float(i + 1) for i in range(WORKLOAD_SLOTS)], "whole", 5)
    n = t.cell("n")
    t.formula("workload", index(col("Need", "workload"), n), "text", 26, guarded=False)
    t.joins.append(("Workloads", n))
    for column, width in (("buyer", 22), ("model", 18), ("precision", 10)):
        t.formula(column, where(equal(t.joined(column), ""), "", t.joined(column)), "text", width)
    t.formula("batch", t.joined("batch"), "whole", 9, "request")
    t.formula("pick_row", if_error(match(join(n, "/1"), col("Candidates", "place")), 0), "whole", 8)
    pick, found = t.cell("pick_row"), t.cell("pick_row") > 0

    def of_pick(column: str, otherwise: object = "") -> Expr:
        return lift(where(found, index(col("Candidates", column), maximum(pick, 1)), otherwise))

    t.formula("recommended", of_pick("build", words("nothing_fits")), "strong", 26)
    t.formula("cost_eur_mtok", of_pick("cost_eur_mtok"), "rate", 11, "EUR/1e6 output tokens")
    for end, other in (("low", "high"), ("high", "low")):
        tok_s = index(col("Candidates", f"output_tok_s_{other}"), maximum(pick, 1))
        row = index(col("Candidates", "b"), maximum(pick, 1))
        cost = cost_of_end(t, "FleetEnds", row, end, tok_s, index(col("Builds", "gpus"), row))
        t.formula(f"cost_{end}_eur_mtok", where(found, cost, ""), "rate", 11, "EUR/1e6 output tokens")
    t.formula("output_tok_s", of_pick("output_tok_s"), "whole", 10, "token/s")
    t.formula("decode_tok_s_user", of_pick("decode_tok_s_user"), "one", 10, "token/s")
    fleet = where(found, index(col("Candidates", "b"), maximum(pick, 1)), 0)
    t.formula("build_row", fleet, "whole", 8)
    at = maximum(t.cell("build_row"), 1)
    for column, fmt in (("outlay_eur", "money"), ("build_tco_eur", "money"), ("power_w", "whole")):
        t.formula(column, where(found, index(col("Fleet", column), at), ""), fmt, 12, "W" if column == "power_w" else "EUR")
    t.formula("fit", where(found, words(index(col("Candidates", "fit_class"), maximum(pick, 1))), words("no")), "fit", 9)
    kept = count_both(col("Candidates", "w"), n, col("Candidates", "limit"), "none")
    t.formula("kept", kept, "whole", 9, "build")
    t.formula(
        "reason", where(found, join(words("cheapest_of"), " ", t.cell("kept"), " ", words("that_keep_limits")), words("no_build_keeps")), "text", 40
    )
    t.formula("second_row", if_error(match(join(n, "/2"), col("Candidates", "place")), 0), "whole", 8)
    second, has_second = t.cell("second_row"), t.cell("second_row") > 0
    t.formula("runner_up", where(has_second, index(col("Candidates", "build"), maximum(second, 1)), words("none")), "text", 26)
    more = index(col("Candidates", "cost_eur_mtok"), maximum(second, 1)) / t.cell("cost_eur_mtok") - 1
    t.formula("runner_up_more", where(both(found, has_second), more, ""), "pct", 9, "1")
    stated = t.joined("stated_pick")
    t.formula("stated_pick", where(equal(stated, ""), words("none_stated"), stated), "text", 26)
    t.formula("stated_row", if_error(match(join(n, "/", t.cell("stated_pick")), col("Candidates", "key")), 0), "whole", 8)
    row = maximum(t.cell("stated_row"), 1)
    limit, cost = index(col("Candidates", "limit"), row), index(col("Candidates", "cost_eur_mtok"), row)
    percent = shown((cost / t.cell("cost_eur_mtok") - 1) * PERCENT, 0)
    differs = where(
        equal(limit, "none"),
        join(words("pick_costs"), " ", if_error(percent, "?"), " ", words("percent_more")),
        join(words("breaks_limit"), " ", words(join("limit_", limit))),
    )
    same = where(equal(t.cell("stated_pick"), t.cell("recommended")), words("same_pick"), if_error(differs, words("not_computed")))
    t.formula("difference", where(t.cell("stated_row") > 0, same, ""), "text", 44)
    t.formula("stated_reason", where(equal(t.joined("stated_reason"), ""), "", t.joined("stated_reason")), "text", 40)
    return t.lead(
        "workload",
        "buyer",
        "model",
        "precision",
        "batch",
        "recommended",
        "cost_low_eur_mtok",
        "cost_eur_mtok",
        "cost_high_eur_mtok",
        "outlay_eur",
        "build_tco_eur",
        "power_w",
        "output_tok_s",
        "decode_tok_s_user",
        "fit",
        "reason",
        "runner_up",
        "runner_up_more",
        "stated_pick",
        "difference",
        "stated_reason",
    )


def matrix_sheet() -> SheetSpec:
    """The recommendation for each workload."""
    s = SheetSpec("matrix", False, freeze_columns=1, tab="result", print_columns=18)
    s.table(matrix_table())
    s.chart(Chart("bar", "Matrix", "workload", [("cost_eur_mtok", "label.cost_eur_mtok")], "chart.matrix", "axis.workload", "axis.eur_mtok",
                  rows=(0, 13), height=440, y_format="0.000"))  # fmt: skip
    return s
