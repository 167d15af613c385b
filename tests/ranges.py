"""Sensible inputs of every equation, by parameter name, for property tests and for the book of all equations.

A parameter without a range of its own takes one by its unit suffix; a name without either is refused, so that a new
equation cannot go untested.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, whole numbers only when `whole`, and 0 beside them when `zero`; or one of `texts`."""

    low: float = 0.0
    high: float = 1.0
    whole: bool = False
    zero: bool = False
    texts: tuple[str, ...] = ()

    def pick(self, rnd: random.Random) -> Any:
        """One value; small numbers are as likely as large ones."""
        if self.texts:
            return rnd.choice(self.texts)
        if self.zero and rnd.random() < 0.2:
            return 0.0
        if self.whole:
            return float(rnd.randint(int(self.low), int(self.high)))
        if self.low > 0 and self.high / self.low > 100:
            return float(self.low * (self.high / self.low) ** rnd.random())
        return rnd.uniform(self.low, self.high)


_SHARE = Range(0.01, 1, zero=True)
_PART = Range(0.05, 1)  # a share that divides

RANGES: dict[str, Range] = {
    **dict.fromkeys(("utilization", "idle_share", "residual_share", "maintenance_share_year", "overlap", "tp_factor"), _SHARE),
    **dict.fromkeys(("small_card_factor", "experts_touched", "output_share"), _SHARE),
    "prefill_share": Range(0.01, 0.99, zero=True),
    "spec_accept": Range(0.01, 0.95, zero=True),
    **dict.fromkeys(("kv_reads", "collectives", "window_alloc_full", "pipeline_batches"), Range(1, 1, zero=True)),
    **dict.fromkeys(("failure_share_year", "loan_share", "tax_rate", "resale_share", "resale_start_share", "resale_decline_year"), _SHARE),
    **dict.fromkeys(("erosion_year", "loan_left_from", "loan_left_to", "ramp_share"), _SHARE),
    **dict.fromkeys(("loan_rate_year", "equity_return_year", "wacc_year"), Range(0.02, 0.3, zero=True)),
    **dict.fromkeys(("cloud_price_left", "api_price_left"), Range(0.1, 2)),
    "crf_month": Range(0.01, 0.1),
    "irr_month": Range(-0.5, 2),
    "ramp_months": Range(1, 48, zero=True),
    "month": Range(0, 60, whole=True),
    **dict.fromkeys(("month_from", "month_at"), Range(1, 47, zero=True)),
    **dict.fromkeys(("month_to", "use_months"), Range(1, 48, zero=True)),
    "hosting_eur_kw_month": Range(10, 400, zero=True),
    "term": Range(texts=("on-demand", "reserved", "interruptible")),
    "api_per_use": Range(100, 500_000),
    "headroom": Range(-1, 1, zero=True),
    "headroom_wanted": Range(0.05, 0.3),
    "expert_missed_ln": Range(-2.0, -0.001),
    "host_w_gpu": Range(0, 200, zero=True),
    **dict.fromkeys(("memory_share", "memory_free_share"), _PART),
    "batch": Range(0.5, 2000),
    **dict.fromkeys(("admitted", "micro_batch", "sequences_replica"), Range(1, 2000)),
    **dict.fromkeys(("batch_max", "sequences_max_replica", "yield_batch"), Range(1, 5000, whole=True, zero=True)),
    "breakeven_batch": Range(10, 5000),
    "max_sequences": Range(1, 1024, whole=True),
    **dict.fromkeys(("gpus", "cards", "base_cards"), Range(1, 64, whole=True)),
    "tp_needed": Range(0.01, 64),
    "tp": Range(1, 16, whole=True),
    "pp": Range(1, 8, whole=True),
    "replicas": Range(1, 64, whole=True),
    "slots": Range(1, 4, whole=True, zero=True),
    "layers": Range(1, 128, whole=True),
    **dict.fromkeys(("layers_full", "layers_window", "layers_moe"), Range(1, 96, whole=True, zero=True)),
    "hidden": Range(64, 18_432, whole=True),
    **dict.fromkeys(("heads", "kv_heads", "window_kv_heads"), Range(1, 128, whole=True, zero=True)),
    **dict.fromkeys(("head_dim", "window_head_dim"), Range(32, 512, whole=True, zero=True)),
    **dict.fromkeys(("kv_width", "window_kv_width"), Range(64, 4096, whole=True, zero=True)),
    "vocab": Range(1000, 260_000, whole=True),
    "embed_copies": Range(1, 2, whole=True, zero=True),
    "embed_read_copies": Range(1, 1, whole=True, zero=True),
    "kv_lora_rank": Range(256, 1024, whole=True, zero=True),
    "rope_dim": Range(32, 128, whole=True, zero=True),
    "window": Range(128, 32_768, whole=True, zero=True),
    "experts": Range(4, 512, whole=True, zero=True),
    "experts_active": Range(1, 16, whole=True),
    **dict.fromkeys(("expert_ffn", "expert_ffn_stored"), Range(256, 16_384, whole=True, zero=True)),
    "expert_mats": Range(2, 3, whole=True),
    "expert_pad": Range(1, 256, whole=True),
    "allreduces_layer": Range(1, 3, whole=True),
    "state_mib": Range(1, 400, zero=True),
    "spec_draft": Range(1, 8, whole=True, zero=True),
    "kv_bytes_token": Range(1000, 5e5),
    **dict.fromkeys(("input_tokens", "output_tokens"), Range(1, 100_000)),
    **dict.fromkeys(("context", "context_mean", "context_tokens", "prompt_tokens", "window_tokens_kept"), Range(1, 131_072)),
    "prefix_tokens": Range(1, 50_000, zero=True),
    "tokens_per_step": Range(1, 8),
    "tokens_served_m": Range(1, 1e7),
    "token_yield_g_month": Range(0.01, 1000),
    **dict.fromkeys(("params_b", "active_b"), Range(0.1, 1000)),
    **dict.fromkeys(("embed_params_b", "expert_params_b", "nonexpert_params_b"), Range(0.01, 700, zero=True)),
    **dict.fromkeys(("bytes_weight", "bytes_embed", "bytes_kv", "bytes_nonexpert", "bytes_nonexpert_moe", "kv_bytes_low"), Range(0.5, 4)),
    "bytes_kv_named": Range(0.5, 4, zero=True),
    **dict.fromkeys(("weights_overhead", "weights_factor_stated"), Range(1, 1.1)),
    "gb_per_b_params": Range(0.5, 3),
    "memory_usable_mib": Range(8000, 300_000),
    "kv_budget_gb": Range(-50, 250),
    "kv_gb_sequence": Range(1e-4, 20),
    "kv_gb_one_card": Range(1e-4, 20),
    **dict.fromkeys(("memory_gb", "engine_memory_gb", "capacity_gb", "large_card_gb"), Range(8, 300)),
    **dict.fromkeys(("engine_overhead_gb", "state_gb_sequence", "kv_read_gb_sequence"), Range(0.001, 10, zero=True)),
    **dict.fromkeys(("tflops_fp8", "tops_int8", "tflops_fp4"), Range(50, 10_000, zero=True)),
    **dict.fromkeys(("tflops_16", "peak_tflops"), Range(20, 10_000)),
    **dict.fromkeys(("attention_gflop_token", "prefill_attention_gflop_token"), Range(0.01, 100, zero=True)),
    **dict.fromkeys(("decode_gflop_token", "prefill_gflop_token"), Range(0.1, 1000)),
    "alpha_power": Range(-1, 2),
    "bus_power": Range(-2, 1),
    "alpha_pair_us": Range(1, 50, zero=True),
    **dict.fromkeys(("allreduce_alpha_us", "layer_us", "layer_moe_us", "sequence_us"), Range(1, 200, zero=True)),
    "prefill_chunk_tokens": Range(128, 16_384, whole=True),
    "prefill_chunks": Range(1, 64, whole=True),
    "prompt_tokens_step": Range(0.01, 10_000),
    "matrix_width_full": Range(512, 8192, whole=True),
    **dict.fromkeys(("matrix_width_power", "kv_sharing_power"), Range(0.05, 1, zero=True)),
    **dict.fromkeys(("efficiency_most", "arrivals_together", "pipeline_fill"), _PART),
    "step_ms": Range(0.1, 10, zero=True),
    **dict.fromkeys(("allreduce_bus_gb_s", "bus_pair_gb_s"), Range(1, 500)),
    "bandwidth_gb_s": Range(100, 10_000),
    **dict.fromkeys(("band_low", "band_high"), Range(0.3, 3)),
    **dict.fromkeys(("pue", "usd_per_eur", "rel"), Range(0.5, 2)),
    "horizon_years": Range(1, 8),
    "horizon_h": Range(8760, 70_000),
    "hours_month": Range(600, 744),
    **dict.fromkeys(("months_written_off", "horizon_months"), Range(12, 84, whole=True)),
    "card_to_server": Range(1, 3),
    **dict.fromkeys(("electricity_eur_kwh", "electricity_kwh"), Range(0.01, 1, zero=True)),
    **dict.fromkeys(("rate_hour", "reserved_rate", "on_demand_rate"), Range(0.05, 20)),
    "burst_card_hours": Range(1, 5000, zero=True),
    **dict.fromkeys(("price_in_mtok", "price_out_mtok"), Range(0.01, 30, zero=True)),
    **dict.fromkeys(("api_mtok", "own_mtok", "cost_eur_mtok"), Range(0.001, 50)),
    **dict.fromkeys(("tdp_w", "mean_power_w"), Range(50, 1500)),
    "price": Range(100, 60_000, zero=True),
    "price_eur": Range(100, 60_000),
    **dict.fromkeys(("tco_fixed_eur", "tco_eur", "capex_eur"), Range(100, 100_000)),
    **dict.fromkeys(("tco_per_use_eur", "maintenance_eur", "running_eur", "residual_eur", "spares_eur", "hosting_eur"), Range(1, 20_000, zero=True)),
    **dict.fromkeys(("rent_per_use", "outlay", "own_cost_month"), Range(100, 500_000)),
    "electricity_month": Range(1, 300, zero=True),
    "stated": Range(1, 10_000),
    **dict.fromkeys(("measurements", "thin_data_rows"), Range(1, 100, whole=True, zero=True)),
    "currency": Range(texts=("EUR", "USD")),
    **dict.fromkeys(("kernel", "kernel_used"), Range(texts=("16", "fp8", "int8", "fp4", "w8", "w4", "gguf", "exl3"))),
}

_BY_SUFFIX: tuple[tuple[str, Range], ...] = (
    ("_tok_s", Range(0.1, 1e5)),
    ("tok_s", Range(0.1, 1e5)),
    ("_tok_s_user", Range(0.1, 1e3)),
    ("_efficiency", _PART),
    ("_share", _SHARE),
    ("_factor", _PART),
    ("_gib", Range(0.1, 10, zero=True)),
    ("_gb", Range(0.01, 700)),
    ("_s", Range(1e-6, 0.5)),
    ("_s_token", Range(1e-9, 1e-3)),
    ("_eur_year", Range(10, 5000, zero=True)),
    ("_eur_gpu_year", Range(10, 5000, zero=True)),
    ("_eur_gpu", Range(10, 5000, zero=True)),
    ("_eur", Range(10, 100_000)),
    ("_mtok", Range(0.001, 50)),
    ("_w", Range(50, 1500)),
    ("_us", Range(1, 200, zero=True)),
    ("_ms", Range(0.1, 10, zero=True)),
)


def range_of(parameter: str) -> Range:
    """The range of a parameter.

    Raises
    ------
    KeyError
        When the name says nothing: add it to RANGES.
    """
    if parameter in RANGES:
        return RANGES[parameter]
    for suffix, found in sorted(_BY_SUFFIX, key=lambda s: -len(s[0])):
        if parameter.endswith(suffix):
            return found
    raise KeyError(f"no range for the parameter {parameter}: add one to RANGES in tests/ranges.py")


def consistent(row: dict[str, Any]) -> dict[str, Any]:
    """A row as facts go together: no more experts used than there are, none used of none."""
    if "experts" in row and "experts_active" in row:
        row["experts_active"] = min(row["experts_active"], row["experts"])
    return row


def random_row(parameters: tuple[str, ...], rnd: random.Random) -> dict[str, Any]:
    """One row of inputs."""
    return consistent({p: range_of(p).pick(rnd) for p in parameters})
