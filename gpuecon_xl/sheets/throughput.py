"""Throughput: the equations of a step as columns, measured beside predicted, single stream and batched; Scaling."""

from __future__ import annotations

from collections.abc import Sequence

from gpuecon_xl.catalog import Catalog
from gpuecon_xl.ops import Expr, both, col, either, equal, if_error, index, join, lift, match, maximum, minimum, name, where, word
from gpuecon_xl.sheets.model import SPARE_ROWS, Chart, SheetSpec, TableSpec

# What the published texts compare: single stream and batched, card by card.
SPEED_MODELS = (("Llama 3.1 8B", "fp8"), ("Qwen2.5-14B", "fp8"), ("Qwen3-32B", "int4-awq"), ("Llama 3.3 70B", "int4-awq"),
                ("Llama 3.3 70B", "fp8"), ("Qwen2.5-VL-72B", "int4-awq"))  # fmt: skip
SPEED_CARDS = ("RTX 5090", "RTX 4090", "RTX PRO 6000 Blackwell Server", "RTX PRO 6000 Blackwell Max-Q", "L40", "L4",
               "H100 SXM")  # fmt: skip
SPEED_BATCHES = (1, 32)
LONG = 11  # width of columns with workings
SHARES_OF_PEAK = ("expert_read_efficiency", "cache_read_efficiency", "linear_efficiency",
                  "decode_linear_efficiency", "attention_efficiency")  # fmt: skip


def rows_of(t: TableSpec) -> None:
    """Look-ups of model, card, formats, link and engine for a table with columns model, gpu, precision and kv."""
    t.formula("model_row", match(t.cell("model"), col("Models", "model")), "whole", LONG)
    t.formula("gpu_row", match(t.cell("gpu"), col("Cards", "gpu")), "whole", LONG)
    t.formula("precision_row", match(t.cell("precision"), col("Precisions", "precision")), "whole", LONG)
    t.formula("engine_row", match(name("engine"), col("Engines", "engine")), "whole", LONG)
    link = index(col("Cards", "link"), t.cell("gpu_row"))
    t.formula("link_row", match(link, col("Links", "link")), "whole", LONG)
    t.joins += [("Models", t.cell("model_row")), ("Cards", t.cell("gpu_row")), ("Precisions", t.cell("precision_row")),
                ("Engines", t.cell("engine_row")), ("Links", t.cell("link_row"))]  # fmt: skip
    t.given["bytes_kv_named"] = kv_named(t.cell("kv"))
    t.quantity("bytes_kv", "small", LONG)
    t.given["embed_read_copies"] = minimum(index(col("Models", "embed_copies"), t.cell("model_row")), 1)


def kv_named(cell: Expr) -> Expr:
    """Bytes of the cache's format; 0 where the cell is blank and the engine decides."""
    return lift(where(equal(cell, ""), 0, index(col("Precisions", "bytes_kv"), match(cell, col("Precisions", "precision")))))


def efficiency_row(t: TableSpec) -> None:
    """Look-up of the measured efficiencies of a card's class in the format that its kernels compute in."""
    t.quantity("kernel_used", "text", LONG)
    key = join(t.joined("efficiency_class"), " ", t.cell("kernel_used"))
    t.formula("efficiency_row", match(key, col("Efficiency", "efficiency_key")), "whole", LONG)
    t.joins.append(("Efficiency", t.cell("efficiency_row")))
    t.quantity("peak_tflops", "whole", LONG)
    for q in SHARES_OF_PEAK:
        t.quantity(q, "pct", LONG)


def weights(t: TableSpec) -> None:
    """Memory of the weights, part by part."""
    for q in ("embed_params_b", "expert_params_b", "nonexpert_params_b", "bytes_nonexpert", "expert_weights_gb", "nonexpert_weights_gb",
              "embed_weights_gb", "weights_gb", "head_weights_gb"):  # fmt: skip
        t.quantity(q, "one", LONG)


def load(t: TableSpec) -> None:
    """Memory: what fits and what is admitted. Needs batch, input_tokens, output_tokens, gpus, tp and pp."""
    t.quantity("replicas", "whole", LONG)
    for q in ("kv_width", "window_kv_width", "context_tokens", "window_tokens_kept"):
        t.quantity(q, "whole", LONG)
    t.quantity("state_gb_sequence", "small", LONG)
    t.quantity("kv_gb_sequence", "small", LONG)
    t.quantity("capacity_gb", "one", LONG)
    t.quantity("engine_memory_gb", "one", LONG)
    t.quantity("engine_overhead_gb", "one", LONG)
    t.quantity("kv_budget_gb", "one", LONG)
    t.quantity("sequences_max_replica", "whole", LONG)
    t.quantity("batch_max", "whole", LONG)
    t.quantity("admitted", "one", LONG)
    t.quantity("headroom", "pct", LONG)
    t.quantity("fit_class", "text", 8)


def decode(t: TableSpec) -> None:
    """Time of one decode step, part by part."""
    t.quantity("context_mean", "whole", LONG)
    t.quantity("experts_touched", "pct", LONG)
    t.quantity("expert_read_gb", "one", LONG)
    t.quantity("weights_read_gb", "one", LONG)
    t.quantity("kv_read_gb_sequence", "small", LONG)
    t.quantity("decode_weights_s", "seconds", LONG)
    t.quantity("decode_kv_s", "seconds", LONG)
    t.quantity("decode_gflop_token", "one", LONG)
    t.quantity("attention_gflop_token", "small", LONG)
    t.quantity("decode_linear_s", "seconds", LONG)
    t.quantity("decode_attention_s", "seconds", LONG)
    t.quantity("linear_step_s", "seconds", LONG)
    if not t.has("allreduce_alpha_us"):
        t.quantity("allreduce_alpha_us", "one", LONG)
        t.quantity("allreduce_bus_gb_s", "one", LONG)
    t.quantity("collective_start_s", "seconds", LONG)
    t.quantity("collective_s_token", "seconds", LONG)
    t.quantity("decode_collective_s", "seconds", LONG)
    t.quantity("fixed_step_s", "seconds", LONG)
    t.quantity("host_step_s", "seconds", LONG)
    t.quantity("roofline_step_s", "seconds", LONG)
    t.quantity("decode_step_s", "seconds", LONG)


def step(t: TableSpec) -> None:
    """Time: the decode step, the prompts that ride along, the serving loop."""
    t.quantity("sequences_replica", "one", LONG)
    t.quantity("micro_batch", "one", LONG)
    decode(t)
    runs_alone(t)
    t.quantity("prompt_tokens", "whole", LONG)
    t.quantity("prefill_gflop_token", "one", LONG)
    t.quantity("prefill_attention_gflop_token", "small", LONG)
    t.quantity("prefill_linear_s_token", "seconds", LONG)
    t.quantity("prefill_s_token", "seconds", LONG)
    t.quantity("prompt_tokens_step", "one", LONG)
    t.quantity("interleave_s", "seconds", LONG)
    t.quantity("output_tok_s", "whole", LONG)


def runs_alone(t: TableSpec) -> None:
    """Speed of one sequence; 0 where not even one fits."""
    alone = where(t.cell("batch_max") >= 1, t.expression("decode_tok_s_user"), 0)
    t.formula("decode_tok_s_user", alone, "one", LONG, "token/s")


def speed_table() -> TableSpec:
    """Single stream and batched, model by card; people may put their own cards and models in."""
    rows = [(b, m, p, c) for b in SPEED_BATCHES for m, p in SPEED_MODELS for c in SPEED_CARDS]
    t = TableSpec("Speed", guard="gpu", title="table.speed", note="note.speed")
    t.inputs("model", [r[1] for r in rows], "text", 20)
    t.inputs("gpu", [r[3] for r in rows], "text", 30)
    t.inputs("precision", [r[2] for r in rows], "text", 10)
    t.inputs("kv", [None] * len(rows), "text", 7)
    t.inputs("batch", [float(r[0]) for r in rows], "whole", 8, "request")
    t.inputs("input_tokens", [1024.0] * len(rows), "whole", 8, "token")
    t.inputs("output_tokens", [256.0] * len(rows), "whole", 8, "token")
    t.inputs("gpus", [1.0] * len(rows), "whole", 7, "card")
    t.given["tp"], t.given["pp"] = t.cell("gpus"), Expr("num", 1)
    t.formula("key", join(t.cell("model"), "/", t.cell("precision"), "/", t.cell("batch"), "/", t.cell("gpu")), "text", 20)
    rows_of(t)
    efficiency_row(t)
    weights(t)
    load(t)
    step(t)
    t.quantity("output_tok_s_low", "whole", LONG)
    t.quantity("output_tok_s_high", "whole", LONG)
    t.quantity("bound", "text", LONG)
    t.formula("measurements", index(col("Efficiency", "n"), t.cell("efficiency_row")), "whole", LONG, "row")
    thin = equal(t.expression("data_class"), "thin")
    t.formula("data_mark", where(thin, word("thin_data"), ""), "text", LONG)
    return t.lead("model", "gpu", "precision", "kv", "batch", "input_tokens", "output_tokens", "gpus", "fit_class", "decode_tok_s_user",
                  "output_tok_s", "output_tok_s_low", "output_tok_s_high", "data_mark", "bound", "batch_max")  # fmt: skip


def measured_table(ids: Sequence[str]) -> TableSpec:
    """Published figures beside the prediction for the same model, card and load; people choose them by their id."""
    t = TableSpec("Measured", guard="model", title="table.measured", note="note.measured")
    t.inputs("id", [*ids, *[None] * SPARE_ROWS], "text", 9)
    blank = equal(t.cell("id"), "")
    t.formula("benchmark_row", where(blank, "", match(t.cell("id"), col("Benchmarks", "id"))), "whole", LONG, guarded=False)
    row = t.cell("benchmark_row")

    def source(column: str) -> Expr:
        return index(col("Benchmarks", column), row)

    def or_blank(e: Expr) -> Expr:
        return lift(where(equal(e, ""), "", e))

    def either_of(e: Expr, otherwise: object) -> Expr:
        return lift(where(equal(e, ""), otherwise, e))

    # without its batch a batched figure says nothing that a prediction could be set beside
    single, total = equal(source("metric"), "decode_tok_s_single"), equal(source("metric"), "total_tok_s")
    loaded = either(single, source("batch") > 0)
    comparable = both(both(equal(source("unit"), "tok/s"), maximum(source("value"), source("low")) > 0), loaded)
    t.formula("model", where(blank, "", where(comparable, or_blank(source("model")), "")), "text", 20, guarded=False)
    t.formula("gpu", source("gpu"), "text", 30)
    t.formula("precision", source("precision"), "text", 10)
    t.formula("kv", or_blank(source("kv")), "text", 7)
    t.formula("gpus", maximum(source("gpus"), 1), "whole", 7, "card")
    t.formula("tp", maximum(source("tp"), 1), "whole", 6, "card")
    t.formula("pp", maximum(source("pp"), 1), "whole", 6, "card")
    t.formula("batch", either_of(source("batch"), 1), "whole", 8, "request")
    t.formula("input_tokens", either_of(source("input_tokens"), name("default_input_tokens")), "whole", 8, "token")
    t.formula("output_tokens", either_of(source("output_tokens"), name("default_output_tokens")), "whole", 8, "token")
    t.formula("stated_low", or_blank(source("low")), "whole", LONG, "token/s")
    t.formula("stated", either_of(source("value"), source("low")), "whole", LONG, "token/s")
    t.formula("stated_high", or_blank(source("high")), "whole", LONG, "token/s")
    rows_of(t)
    efficiency_row(t)
    weights(t)
    load(t)
    step(t)
    t.quantity("prefill_chunks", "whole", LONG)
    t.quantity("prefill_weights_s", "seconds", LONG)
    t.quantity("pipeline_fill", "small", LONG)
    t.quantity("prefill_s", "seconds", LONG)
    t.quantity("prefill_tok_s", "whole", LONG)
    served = where(t.cell("batch_max") >= 1, t.expression("served_tok_s_user"), 0)
    t.formula("served_tok_s_user", served, "one", LONG, "token/s")
    of_one = where(t.cell("batch") > 1, t.cell("served_tok_s_user"), t.cell("decode_tok_s_user"))
    of_all = where(total, t.expression("total_tok_s"), t.cell("output_tok_s"))
    t.formula("predicted", where(single, of_one, of_all), "whole", LONG, "token/s")
    t.quantity("deviation", "pct", LONG, output_tok_s=t.cell("predicted"), stated=t.cell("stated"))
    t.formula("metric", source("metric"), "text", 20)
    t.formula("source", source("source"), "text", 30)
    return t.lead("id", "model", "gpu", "precision", "kv", "batch", "input_tokens", "output_tokens", "gpus", "stated_low", "stated",
                  "stated_high", "predicted", "deviation", "metric", "source")  # fmt: skip


def throughput_sheet(catalog: Catalog) -> SheetSpec:
    """Predicted and measured throughput."""
    s = SheetSpec("throughput", False, freeze_columns=2, print_columns=16)
    count = len(SPEED_MODELS) * len(SPEED_CARDS)
    speed = speed_table()
    measured = measured_table([str(r["id"]) for r in catalog.rows("benchmarks") if r["confidence"] != "measured"])
    seventy = 3 * len(SPEED_CARDS)
    s.chart(
        Chart("bar", "Speed", "gpu", [("decode_tok_s_user", "label.single_stream")], "chart.single_70b", "axis.gpu", "axis.tok_s_user",
              rows=(seventy, seventy + len(SPEED_CARDS) - 1)),
        Chart("bar", "Speed", "gpu", [("output_tok_s", "label.batched")], "chart.batched_8b", "axis.gpu", "axis.tok_s",
              rows=(count, count + len(SPEED_CARDS) - 1)),
    )  # fmt: skip
    s.table(speed)
    s.table(measured)
    return s


SCALING_LINKS = (("RTX 5090", "pcie_host"), ("RTX PRO 6000 Blackwell Server", "pcie5x16"), ("L40S", "pcie4x16"), ("H100 SXM", "nvlink4"))
SCALING_WIDTHS = (1, 2, 4, 8)


def scaling_sheet() -> SheetSpec:
    """What tensor parallelism costs, by link and width."""
    rows = [(c, n) for c, _ in SCALING_LINKS for n in SCALING_WIDTHS]
    t = TableSpec("Scaling", guard="gpu", title="table.scaling", note="note.scaling")
    t.inputs("gpu", [r[0] for r in rows], "text", 30)
    t.inputs("model", ["Llama 3.3 70B"] * len(rows), "text", 18)
    t.inputs("precision", ["int4-awq"] * len(rows), "text", 10)
    t.inputs("kv", [None] * len(rows), "text", 7)
    t.inputs("tp", [float(r[1]) for r in rows], "whole", 6, "card")
    t.inputs("batch", [32.0] * len(rows), "whole", 8, "request")
    t.inputs("input_tokens", [1024.0] * len(rows), "whole", 8, "token")
    t.inputs("output_tokens", [256.0] * len(rows), "whole", 8, "token")
    t.given["gpus"], t.given["pp"] = t.cell("tp"), Expr("num", 1)
    rows_of(t)
    t.formula("link", index(col("Cards", "link"), t.cell("gpu_row")), "text", 14)
    efficiency_row(t)
    weights(t)
    t.quantity("kv_width", "whole", LONG)
    t.quantity("window_kv_width", "whole", LONG)
    t.quantity("state_gb_sequence", "small", LONG)
    t.given["admitted"] = t.cell("batch")
    t.given["replicas"] = Expr("num", 1)
    t.quantity("allreduce_alpha_us", "one", LONG)
    t.quantity("allreduce_bus_gb_s", "one", LONG)
    t.quantity("micro_batch", "one", LONG)
    decode(t)
    one = t.cell("fixed_step_s") + t.cell("host_step_s") + t.cell("tp") * t.cell("roofline_step_s")
    t.formula("step_one_s", one, "seconds", LONG, "s")
    t.quantity("scaling_factor", "pct", LONG)
    t.formula("stated_factor", stated_factor(t), "pct", LONG, "1")
    t.lead("gpu", "model", "precision", "kv", "tp", "batch", "link", "scaling_factor", "stated_factor", "decode_step_s", "step_one_s",
           "decode_collective_s", "allreduce_alpha_us", "allreduce_bus_gb_s")  # fmt: skip
    s = SheetSpec("scaling", False, print_columns=14)
    width = len(SCALING_WIDTHS)
    pcie, nvlink = ((i * width, (i + 1) * width - 1) for i in (1, 3))
    s.chart(
        Chart("column", "Scaling", "tp", [("scaling_factor", "label.scaling_factor")], "chart.scaling_pcie", "axis.cards", "axis.factor",
              rows=pcie, y_format="0%"),
        Chart("column", "Scaling", "tp", [("scaling_factor", "label.scaling_factor")], "chart.scaling_nvlink", "axis.cards", "axis.factor",
              rows=nvlink, y_format="0%"),
    )  # fmt: skip
    s.table(t)
    return s


def stated_factor(t: TableSpec) -> Expr:
    """Factor per card that the published texts state for PCIe; blank where they state none."""
    pcie = if_error(match(join(t.cell("link"), "/", t.cell("tp")), col("StatedFactors", "case")), 0)
    return lift(where(pcie > 0, index(col("StatedFactors", "factor"), maximum(pcie, 1)), ""))


def stated_factors() -> TableSpec:
    """The published factors: two cards over PCIe keep 65 to 70 %, eight keep 55 %."""
    cases = [("pcie_host/2", "tp_factor_2_pcie"), ("pcie_host/8", "tp_factor_8_pcie"), ("pcie5x16/2", "tp_factor_2_pcie"),
             ("pcie5x16/8", "tp_factor_8_pcie"), ("pcie4x16/2", "tp_factor_2_pcie"), ("pcie4x16/8", "tp_factor_8_pcie")]  # fmt: skip
    t = TableSpec("StatedFactors", title="table.stated_factors")
    t.fixed("case", [c for c, _ in cases], "text", 16)
    t.each("factor", [name(n) for _, n in cases], "pct", 10, "1")
    return t
