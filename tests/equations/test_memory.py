"""Memory: published sizes of checkpoints, hand-computed caches, classes of fit, edges."""

from __future__ import annotations

import numpy as np
import pytest

from gpuecon_xl import graph, load_catalog
from gpuecon_xl.catalog import shipped
from gpuecon_xl.equations import memory as m
from gpuecon_xl.units import GIB, GIGA, MIB


def _model_value(quantity: str, model: str, precision: str, **more: float) -> float:
    """A quantity from the catalogue's facts of a model and a number format."""
    catalog = load_catalog()
    values = dict(catalog.find_model(model)[0]) | dict(catalog.find("precisions", precision))
    values |= {"weights_overhead": 1.0, "tp": 1.0, "bytes_kv_named": 2.0, "kv_bytes_low": 2.0} | more
    names = tuple(n for n in graph.parameters_of([quantity]) if n in values)
    return float(graph.plan((quantity,), names)(*(values[n] for n in names))[0])


@pytest.mark.parametrize(
    ("model", "precision", "gib"),
    [
        # GiB that vLLM reports when it has loaded the checkpoint
        ("Llama 3.1 8B", "bf16", 14.99),
        ("Qwen3-32B", "bf16", 61.03),
        ("Llama 3.3 70B", "fp8", 67.72),
        ("gpt-oss-20b", "mxfp4", 13.47),
        ("gpt-oss-120b", "mxfp4", 64.38),
    ],
)
def test_weights_as_loaded(model: str, precision: str, gib: float) -> None:
    got = _model_value("weights_gb", model, precision) * GIGA / GIB
    assert got == pytest.approx(gib, rel=0.01)


@pytest.mark.parametrize("model", [r["model"] for r in load_catalog().rows("models")])
def test_parameters_add_up(model: str) -> None:
    """Embedding, experts and the rest are the total: no part is larger than the whole."""
    row = load_catalog().find_model(model)[0]
    embed = m.embed_params_b(row["vocab"], row["hidden"], row["embed_copies"])
    experts = m.expert_params_b(row["hidden"], row["expert_ffn"], row["experts"], row["layers_moe"], row["expert_mats"])
    assert embed + experts <= row["params_b"] * 1.01
    assert row["active_b"] <= row["params_b"]
    assert row["experts_active"] <= row["experts"]


def test_kv_of_mistral_small() -> None:
    """Mistral-Small-24B: 40 layers · 2 · 128 · 8 heads · 2 bytes = 163,840 bytes a token."""
    width = m.kv_width(0, 0, 8, 128, 1)
    assert width == 2048
    assert m.kv_bytes_token(40, width, 0, 0, 2) == 163_840
    assert _model_value("kv_bytes_token", "Mistral Small 24B", "bf16") == 163_840


@pytest.mark.parametrize(
    ("model", "bytes_token"),
    [
        ("Llama 3.1 8B", 32 * 2 * 8 * 128 * 2),  # 131,072
        ("Llama 3.3 70B", 80 * 2 * 8 * 128 * 2),  # 327,680
        ("Qwen3-32B", 64 * 2 * 8 * 128 * 2),  # 262,144; head_dim 128 is its own key, not 5,120 / 64
        ("Qwen3-30B-A3B", 48 * 2 * 4 * 128 * 2),  # 98,304
        ("DeepSeek V3", 61 * (512 + 64) * 2),  # latent attention: 70,272
    ],
)
def test_kv_of_published_configurations(model: str, bytes_token: int) -> None:
    assert _model_value("kv_bytes_token", model, "bf16") == bytes_token


def test_kv_heads_split_over_cards_but_never_below_one() -> None:
    assert m.kv_width(0, 0, 8, 128, 4) == 2 * 2 * 128
    assert m.kv_width(0, 0, 8, 128, 16) == 2 * 1 * 128
    assert m.kv_width(0, 0, 8, 128, 3) == 2 * 3 * 128


def test_latent_attention_is_not_split() -> None:
    assert m.kv_width(512, 64, 128, 128, 1) == m.kv_width(512, 64, 128, 128, 8) == 576


def test_window() -> None:
    assert m.window_kv_width(8, 128, 2) == 1024
    assert m.window_tokens_kept(5000, 4096) == 4096
    assert m.window_tokens_kept(100, 4096) == 100
    assert m.window_tokens_kept(5000, 0) == 5000


def test_windowed_layers_are_allocated_in_full_beside_full_layers() -> None:
    per_token = 2 * 8 * 128
    full = m.kv_gb_sequence(10_000, 1000, 1, 2, per_token, 4, per_token, 2, 0)
    cut = m.kv_gb_sequence(10_000, 1000, 0, 2, per_token, 4, per_token, 2, 0)
    only_window = m.kv_gb_sequence(10_000, 1000, 1, 0, per_token, 4, per_token, 2, 0)
    assert full == pytest.approx(10_000 * 6 * per_token * 2 / GIGA)
    assert cut == pytest.approx((10_000 * 2 + 1000 * 4) * per_token * 2 / GIGA)
    assert only_window == pytest.approx(1000 * 4 * per_token * 2 / GIGA)


def test_constant_state() -> None:
    assert m.state_gb_sequence(100, 1) == pytest.approx(100 * MIB / GIGA)
    assert m.state_gb_sequence(100, 4) == pytest.approx(25 * MIB / GIGA)
    assert m.kv_gb_sequence(0, 0, 0, 32, 2048, 0, 0, 2, 0.25) == 0.25


def test_experts_are_padded() -> None:
    """gpt-oss in mxfp4: 2,880 to 3,072."""
    assert m.expert_ffn_stored(2880, 256) == 3072
    assert m.expert_ffn_stored(3072, 256) == 3072
    assert m.expert_ffn_stored(2880, 1) == 2880
    assert m.expert_ffn_stored(0, 256) == 0


def test_dense_model_has_no_experts() -> None:
    assert m.expert_params_b(4096, 0, 0, 0, 0) == 0
    assert m.expert_weights_gb(4096, 0, 0, 0, 0, 2, 1) == 0
    assert m.bytes_nonexpert(0, 0.5, 2) == 0.5
    assert m.bytes_nonexpert(8, 0.5, 2) == 2
    assert m.nonexpert_params_b(1, 2, 0) == 0


def test_weights_overhead_counts_on_every_part() -> None:
    overhead = 1.03
    assert m.embed_weights_gb(2, 2, overhead) == pytest.approx(4.12)
    assert m.nonexpert_weights_gb(2, 1, overhead) == pytest.approx(2.06)
    assert m.expert_weights_gb(1000, 1000, 10, 10, 3, 1, overhead) == pytest.approx(0.309)
    assert m.weights_gb(1, 2, 3) == 6


def test_capacity_is_not_the_marketing_figure() -> None:
    assert m.capacity_gb(97_887) == pytest.approx(102.64, abs=0.005)  # sold as 96 GB, which are GiB less a reserve
    assert m.engine_memory_gb(100, 0.9, 0.98) == pytest.approx(88.2)


@pytest.mark.parametrize(
    ("experts", "capacity", "tp", "pp", "gib"),
    [
        (0, 80, 1, 1, 5.2 + 0.15),
        (8, 80, 1, 1, 7.4 + 0.15),
        (0, 80, 2, 1, 5.2 + 0.58),
        (0, 80, 1, 2, 5.2 + 0.58),
        (0, 75, 1, 1, 5.2 + 0.15),
        (0, 24, 1, 1, 5.2 / 4 + 0.15),
    ],
)
def test_engine_overhead(experts: float, capacity: float, tp: float, pp: float, gib: float) -> None:
    got = m.engine_overhead_gb(experts, capacity, 5.2, 7.4, 0, 128_256, 75, 0.25, 0.15, 0.58, tp, pp)
    assert got == pytest.approx(gib * GIB / GIGA)


@pytest.mark.parametrize(
    ("experts", "vocab", "gib"),
    # activations at profiling in vLLM 0.19 on H100, https://github.com/llm-d-incubation/llm-d-planner/pull/205:
    # CodeLlama 7B, phi-4, Llama 3.1 8B, Qwen2.5-7B, Gemma 2 27B; Qwen1.5-MoE-A2.7B, Qwen3-30B-A3B, Llama 4 Scout
    [(0, 32_016, 0.77), (0, 100_352, 1.52), (0, 128_256, 1.89), (0, 152_064, 2.21), (0, 256_000, 3.62), (60, 151_936, 2.47), (128, 151_936, 2.68),
     (16, 202_048, 3.19)],
)  # fmt: skip
def test_activations_are_mostly_logits(experts: float, vocab: float, gib: float) -> None:
    r = shipped().find("engines", "vLLM 0.17 to 0.20")
    constants = [r[c] for c in ("activation_dense_gib", "activation_moe_gib", "activation_vocab_gib")]
    got = m.engine_overhead_gb(experts, 85, *constants, vocab, r["large_card_gb"], r["small_card_factor"], 0, 0, 1, 1)
    assert got * GIGA / GIB == pytest.approx(gib, abs=0.15)


def test_sequences() -> None:
    assert m.kv_budget_gb(80, 140, 2, 1, 5) == 5
    assert m.kv_budget_gb(80, 140, 1, 1, 5) == -65
    assert m.sequences_max_replica(10, 1, 0.4, 256) == 25
    assert m.sequences_max_replica(10, 2, 0.4, 256) == 50
    assert m.sequences_max_replica(10, 1, 0.001, 256) == 256
    assert m.sequences_max_replica(-65, 1, 0.4, 256) == 0
    assert m.sequences_max_replica(1.2, 1, 0.4, 256) == 3  # 1.2 / 0.4 is 2.9999999999999996
    assert m.replicas(8, 2, 2) == 2
    assert m.replicas(7, 2, 1) == 3
    assert m.batch_max(25, 3) == 75
    assert m.admitted(100, 75) == 75
    assert m.admitted(10.5, 75) == 10.5
    assert m.admitted(10, 0) == 0
    assert m.context_tokens(700, 300) == 1000


def test_headroom() -> None:
    # 100 GB for the engine: 40 weights, 10 overhead, 3 sequences a replica of 5 each
    assert m.headroom(100, 40, 1, 1, 10, 3, 1, 5) == pytest.approx(0.35)
    assert m.headroom(100, 40, 1, 1, 10, 6, 2, 5) == pytest.approx(0.35)
    assert m.headroom(100, 40, 1, 1, 10, 5, 2, 5) == pytest.approx(0.35)  # five over two replicas is three on one
    assert m.headroom(100, 40, 2, 1, 10, 3, 1, 5) == pytest.approx(0.55)
    assert m.headroom(100, 200, 1, 1, 10, 1, 1, 5) < 0


@pytest.mark.parametrize(("headroom", "answer"), [(1, "fits"), (0.15, "fits"), (0.1499999, "tight"), (0, "tight"), (-1e-12, "no"), (-3, "no")])
def test_fit_class(headroom: float, answer: str) -> None:
    assert m.fit_class(headroom, 0.15) == answer
    assert m.fit_class(np.array([headroom, headroom]), 0.15).tolist() == [answer] * 2


def test_weights_headroom() -> None:
    assert m.weights_headroom(96, 1, 70, 1, 1.03) == pytest.approx((96 - 72.1) / 96)
    assert m.weights_headroom(96, 2, 70, 1, 1.03) == pytest.approx((192 - 72.1) / 192)


@pytest.mark.parametrize(("params", "cards"), [(4, 1), (70, 1), (93.2, 1), (93.3, 2), (117, 2), (671, 8), (753, 9)])
def test_cards_needed(params: float, cards: float) -> None:
    assert m.cards_needed(params, 1, 1.03, 96) == cards


def test_cards_needed_exactly_full() -> None:
    assert m.cards_needed(96, 1, 1, 96) == 1
    assert m.cards_needed(288, 1, 1 / 3, 96) == 1


def test_vram_rule() -> None:
    """USD je Million Tokens, LowCostGPU, 2026-10: 2.4 and 0.62 GB per billion parameters."""
    assert m.vram_rule_gb(70, 2.4) == pytest.approx(168)
    assert m.vram_rule_gb(70, 0.62) == pytest.approx(43.4)


@pytest.mark.parametrize(
    ("kernel", "fp8", "int8", "fp4", "used"),
    [
        ("16", 0, 0, 0, "16"),
        ("fp8", 733, 733, 0, "fp8"),
        ("fp8", 0, 624, 0, "w8"),  # Ampere has no fp8
        ("int8", 0, 624, 0, "int8"),
        ("int8", 733, 0, 0, "w8"),
        ("fp4", 733, 733, 0, "w4"),  # Ada and Hopper have no fp4
        ("fp4", 733, 733, 1871, "fp4"),
        ("w4", 733, 733, 1871, "w4"),
        ("w8", 733, 733, 1871, "w8"),
    ],
)
def test_kernel_used(kernel: str, fp8: float, int8: float, fp4: float, used: str) -> None:
    assert m.kernel_used(kernel, fp8, int8, fp4) == used
    assert m.kernel_used(np.array([kernel] * 2), fp8, int8, fp4).tolist() == [used] * 2


def test_peak_rate() -> None:
    rates = (500, 1000, 1001, 2000)
    assert [m.peak_tflops(k, *rates) for k in ("16", "fp8", "int8", "fp4", "w8", "w4")] == [500, 1000, 1001, 2000, 500, 500]


@pytest.mark.parametrize(("tflops", "batch"), [(1008, 281.25), (936, 261.16)])
def test_breakeven_batch(tflops: float, batch: float) -> None:
    """Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09: about 280, dense 32B in fp8 on RTX PRO 6000."""
    assert m.breakeven_batch(tflops, 1, 32.76, 32.76, 1792) == pytest.approx(batch, abs=0.005)
    # a mixture of experts reads all experts for few active ones
    assert m.breakeven_batch(tflops, 1, 30, 3, 1792) == pytest.approx(10 * batch, rel=1e-4)


@pytest.mark.parametrize(
    ("named", "kernel", "engine", "bytes_"),
    [
        (0, "16", 1, 2),
        (0, "fp8", 1, 1),  # a checkpoint in fp8 brings an fp8 cache with this engine
        (0, "fp4", 1, 1),
        (0, "fp8", 2, 2),
        (0, "w4", 1, 2),
        (2, "fp8", 1, 2),  # what is asked for counts
        (0.5625, "16", 2, 0.5625),
    ],
)
def test_bytes_of_the_cache(named: float, kernel: str, engine: float, bytes_: float) -> None:
    assert m.bytes_kv(named, kernel, engine) == bytes_


def test_peak_of_ggufs_blocks() -> None:
    """llama.cpp multiplies quantised blocks in int8 where the card has a rate for it."""
    assert m.peak_tflops("gguf", 71, 0, 285, 0) == 285
    assert m.peak_tflops("gguf", 125, 0, 0, 0) == 125
    assert m.peak_tflops("w4", 71, 0, 285, 0) == 71
