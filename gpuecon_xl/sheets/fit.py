"""Fit: which weights fit which card, and what each workload needs of memory, beside the rule of thumb."""

from __future__ import annotations

from typing import Any

from gpuecon_xl.ops import Expr, col, either, equal, index, look_up, match, minimum, name, where, words
from gpuecon_xl.sheets.model import SheetSpec, TableSpec
from gpuecon_xl.sheets.throughput import LONG, kv_named
from gpuecon_xl.units import BYTES_16_BIT

WORKLOAD_SLOTS = 16
FIT_CARDS = ("B300", "RTX PRO 6000 Blackwell Server", "H200 SXM", "RTX PRO 6000 Blackwell Max-Q", "H100 SXM", "MI355X", "MI300X", "B200",
             "A100 SXM 80GB", "H100 PCIe", "L40S", "RTX 5090", "L40", "RTX 4090", "L4")  # fmt: skip


def need_table() -> TableSpec:
    """What each workload needs: weights, cache, arithmetic; once for each workload, read by Candidates."""
    t = TableSpec("Need", guard="workload", title="table.need", note="note.need")
    t.fixed("n", [float(i + 1) for i in range(WORKLOAD_SLOTS)], "whole", 5)
    own = index(col("Workloads", "workload"), t.cell("n"))
    t.formula("workload", where(equal(own, ""), "", own), "text", 26, guarded=False)
    t.joins.append(("Workloads", t.cell("n")))
    t.formula("model_row", match(t.joined("model"), col("Models", "model")), "whole", LONG)
    t.formula("precision_row", match(t.joined("precision"), col("Precisions", "precision")), "whole", LONG)
    t.joins[:] = [("Models", t.cell("model_row")), ("Precisions", t.cell("precision_row")), ("Workloads", t.cell("n"))]
    engine = match(name("engine"), col("Engines", "engine"))
    named = kv_named(index(col("Workloads", "kv"), t.cell("n")))
    t.quantity("bytes_kv", "small", LONG, bytes_kv_named=named, kv_bytes_low=index(col("Engines", "kv_bytes_low"), engine))
    t.quantity("width_factor", "pct", LONG)
    for q in ("embed_params_b", "expert_params_b", "nonexpert_params_b", "bytes_nonexpert"):
        t.quantity(q, "one", LONG)
    for q in ("expert_weights_gb", "nonexpert_weights_gb", "embed_weights_gb", "weights_gb"):
        t.quantity(q, "one", LONG)
    t.quantity("head_weights_gb", "one", LONG, embed_read_copies=minimum(t.joined("embed_copies"), 1))
    t.quantity("context_tokens", "whole", LONG)
    t.quantity("context_mean", "whole", LONG)
    t.quantity("window_tokens_kept", "whole", LONG)
    t.quantity("prompt_tokens", "whole", LONG)
    alloc = index(col("Engines", "window_alloc_full"), engine)
    t.quantity("kv_width", "whole", LONG, as_="kv_width_one_card", tp=1)
    t.quantity("window_kv_width", "whole", LONG, as_="window_kv_width_one_card", tp=1)
    one: dict[str, Any] = {"kv_width": t.cell("kv_width_one_card"), "window_kv_width": t.cell("window_kv_width_one_card")}
    t.quantity("kv_bytes_token", "whole", LONG, **one)
    t.quantity("kv_gb_sequence", "small", LONG, as_="kv_gb_one_card", tp=1, window_alloc_full=alloc, **one)
    t.quantity("decode_gflop_token", "one", LONG)
    t.quantity("attention_gflop_token", "small", LONG)
    t.quantity("prefill_gflop_token", "one", LONG)
    t.quantity("prefill_attention_gflop_token", "small", LONG)
    four_bit = either(equal(t.joined("kernel"), "w4"), equal(t.joined("kernel"), "fp4"))
    sixteen_bit = equal(t.joined("bytes_weight"), BYTES_16_BIT)
    by_rule = where(four_bit, t.expression("vram_rule_gb", gb_per_b_params=name("gb_per_b_4_bit")), "")
    by_rule = where(sixteen_bit, t.expression("vram_rule_gb", gb_per_b_params=name("gb_per_b_16_bit")), by_rule)
    t.formula("vram_rule_gb", by_rule, "one", LONG, "GB")
    t.formula("need_exact_gb", t.cell("weights_gb") + t.joined("batch") * t.cell("kv_gb_one_card"), "one", LONG, "GB")
    return t.lead("workload", "weights_gb", "kv_gb_one_card", "need_exact_gb", "vram_rule_gb", "context_tokens", "kv_bytes_token")


def fit_cards() -> TableSpec:
    """The cards of the matrix; people may put others in."""
    t = TableSpec("FitCards", guard="gpu", title="table.fit_cards")
    t.fixed("slot", [f"card_{i + 1}" for i in range(len(FIT_CARDS))], "text", 9)
    t.inputs("gpu", list(FIT_CARDS), "text", 30)
    t.formula("memory_gb", index(col("Cards", "memory_gb"), match(t.cell("gpu"), col("Cards", "gpu"))), "whole", 9, "GB")
    return t


def slot(which: str, column: str) -> Expr:
    """A cell of the cards of the matrix."""
    return look_up(which, col("FitCards", "slot"), col("FitCards", column))


def fit_matrix(models: list[str]) -> TableSpec:
    """Weights against memory: three classes, for the precision and number of cards chosen in Assumptions."""
    t = TableSpec("FitMatrix", guard="model", title="table.fit_matrix", note="note.fit_matrix")
    t.inputs("model", [*models, *[None] * 3], "text", 24)
    t.formula("params_b", index(col("Models", "params_b"), match(t.cell("model"), col("Models", "model"))), "one", 9, "1e9")
    t.formula(
        "bytes_weight", index(col("Precisions", "bytes_weight"), match(name("fit_precision"), col("Precisions", "precision"))), "small", 8, "byte"
    )
    for k in range(len(FIT_CARDS)):
        memory = slot(f"card_{k + 1}", "memory_gb")
        left = t.expression("weights_headroom", memory_gb=memory, gpus=name("fit_cards"))
        t.formula(f"card_{k + 1}", words(t.expression("fit_class", headroom=left)), "fit", 9, heading=slot(f"card_{k + 1}", "gpu"))
    return t


def fit_sheet(models: list[str]) -> SheetSpec:
    """Fit of weights and of workloads."""
    s = SheetSpec("fit", False, freeze_columns=1, print_columns=18)
    s.table(fit_matrix(models))
    s.table(need_table())
    s.table(fit_cards())
    return s
