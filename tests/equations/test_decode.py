"""Decode: hand-computed steps, the ideal roofline, what bounds it."""

from __future__ import annotations

import numpy as np
import pytest

from gpuecon_xl.equations import decode as d


def test_sequences_spread_over_replicas() -> None:
    assert d.sequences_replica(64, 8) == 8
    assert d.sequences_replica(3, 8) == 1  # five replicas stand idle
    assert d.sequences_replica(3, 0) == 3
    assert d.micro_batch(8, 2, 1) == 4
    assert d.micro_batch(1, 4, 1) == 1
    assert d.micro_batch(8, 2, 0) == 8  # all pass together


def test_context_mean() -> None:
    assert d.context_mean(1000, 200) == 1100
    assert d.context_mean(0, 200) == 100


def test_experts_touched() -> None:
    assert d.experts_touched(d.expert_missed_ln(128, 8), 1) == pytest.approx(8 / 128)
    assert d.experts_touched(d.expert_missed_ln(128, 8), 2) == pytest.approx(1 - (120 / 128) ** 2)
    assert d.experts_touched(d.expert_missed_ln(128, 8), 1000) == pytest.approx(1)
    assert d.experts_touched(d.expert_missed_ln(8, 8), 1) == pytest.approx(1, abs=2e-9)
    assert d.experts_touched(d.expert_missed_ln(0, 0), 7) == 0  # a dense model


def test_experts_touched_of_any_batch_is_a_share() -> None:
    got = d.experts_touched(d.expert_missed_ln(np.array([0.0, 8, 64, 512]), np.array([0.0, 2, 6, 8])), 1e6)
    assert got.tolist() == [0, 1, 1, 1]


def test_weights_read() -> None:
    assert d.head_weights_gb(128_000, 4096, 1, 2) == pytest.approx(1.048576)
    # overhead of loading is not read
    assert d.expert_read_gb(20.6, 0.5, 1.03) == pytest.approx(10)
    assert d.weights_read_gb(10.3, 10, 1.03, 1) == pytest.approx(21)


def test_cache_read() -> None:
    width = 2 * 8 * 128
    assert d.kv_read_gb_sequence(1, 1000, 0, 32, width, 0, 0, 2, 0) == pytest.approx(1000 * 32 * width * 2 / 1e9)
    windowed = d.kv_read_gb_sequence(1, 1000, 128, 16, width, 16, width, 2, 0)
    assert windowed == pytest.approx((1000 * 16 + 128 * 16) * width * 2 / 1e9)
    assert d.kv_read_gb_sequence(1, 0, 0, 32, width, 0, 0, 2, 0.5) == 1  # a state is read and written
    assert d.kv_read_gb_sequence(0, 1000, 0, 32, width, 0, 0, 2, 0.5) == 0


def test_times_of_parts() -> None:
    assert d.decode_weights_s(70, 0, 1, 1792, 1, 1) == pytest.approx(70 / 1792)
    assert d.decode_weights_s(70, 0, 2, 1792, 0.5, 1) == pytest.approx(70 / 1792)
    assert d.decode_weights_s(70, 60, 1, 1000, 0.5, 0.25) == pytest.approx(0.02 + 0.24)  # experts at their own rate
    assert d.decode_kv_s(10, 0.1, 1000, 0.5) == pytest.approx(0.002)
    assert d.decode_gflop_token(70) == 140


def test_attention_arithmetic() -> None:
    # 2 · 2 · heads · head_dim · context · layers
    assert d.attention_gflop_token(32, 128, 0, 1000, 32, 0, 0, 1) == pytest.approx(4 * 32 * 128 * 1000 * 32 / 1e9)
    assert d.attention_gflop_token(32, 128, 512, 1000, 32, 0, 0, 1) == pytest.approx(4 * 32 * 512 * 1000 * 32 / 1e9)
    assert d.attention_gflop_token(32, 128, 0, 1000, 0, 32, 100, 1) == pytest.approx(4 * 32 * 128 * 100 * 32 / 1e9)
    assert d.attention_gflop_token(0, 0, 0, 1000, 0, 0, 0, 1) == 0
    assert d.attention_gflop_token(32, 128, 0, 1000, 32, 0, 0, 0) == 0


def test_compute_time() -> None:
    linear = d.decode_linear_s(10, 140, 2, 1000, 0.5)
    attention = d.decode_attention_s(10, 20, 2, 500, 0.25)
    assert linear == pytest.approx(10 * 140 / 1000 / (2 * 0.5 * 1000))
    assert attention == pytest.approx(10 * 20 / 500 / (2 * 0.25 * 1000))
    assert d.decode_compute_s(linear, attention) == linear + attention


def test_shares_of_the_peak_stay_below_the_most() -> None:
    assert d.expert_read_efficiency(0.8, 0.5, 0.95) == pytest.approx(0.4)
    assert d.expert_read_efficiency(0.8, 1.5, 0.95) == 0.95
    assert d.attention_efficiency(0.8, 0.5, 0.95) == pytest.approx(0.4)
    assert d.decode_linear_efficiency(0.5, 3, 0.95) == 0.95


def test_linear_layers_of_experts_and_of_narrow_models() -> None:
    assert d.linear_efficiency(0.6, 0, 0.5, 1) == 0.6
    assert d.linear_efficiency(0.6, 8, 0.5, 1) == pytest.approx(0.3)
    assert d.linear_efficiency(0.6, 0, 0.5, 0.5) == pytest.approx(0.3)
    assert d.width_factor(8192, 4096, 0.5) == 1
    assert d.width_factor(1024, 4096, 0.5) == pytest.approx(0.5)
    assert d.width_factor(1024, 4096, 0) == 1


def test_cache_reads() -> None:
    plain = (0.02, 512, 0.9)  # kv_low_factor, latent: unused
    assert d.cache_read_efficiency(0.8, 2, 0.5, 0, 0.1, 0.95, 32, 32, 0.3) == pytest.approx(0.8)
    assert d.cache_read_efficiency(0.8, 1, 0.5, 0, 0.1, 0.95, 32, 32, 0.3) == pytest.approx(0.4)
    # four heads share a cache head: 4^-0.5
    assert d.cache_read_efficiency(0.8, 2, 0.5, 0, 0.1, 0.95, 32, 8, 0.5) == pytest.approx(0.4)
    assert d.cache_read_efficiency(0.8, 2, 0.5, 0, 0.1, 0.95, 32, 8, 0) == pytest.approx(0.8)
    # a latent cache has a factor of its own and no heads to share
    assert d.cache_read_efficiency(0.8, 1, *plain, 0.95, 128, 1, 0.5) == pytest.approx(0.8 * 0.9)
    assert d.cache_read_efficiency(0.8, 2, 0.5, 0, 0.1, 0.95, 0, 0, 0.5) == pytest.approx(0.8)  # no attention at all


def test_fixed_times() -> None:
    assert d.fixed_step_s(32, 30, 0, 50, 1) == pytest.approx(0.00196)
    assert d.fixed_step_s(32, 30, 16, 50, 1) == pytest.approx(0.00276)
    assert d.fixed_step_s(32, 0, 0, 0, 0) == 0
    assert d.host_step_s(64, 10) == pytest.approx(0.00064)


@pytest.mark.parametrize(("overlap", "seconds"), [(1, 3), (0, 5), (0.5, 4)])
def test_linear_layers(overlap: float, seconds: float) -> None:
    assert d.linear_step_s(3, 2, overlap) == seconds
    assert d.linear_step_s(2, 3, overlap) == seconds


def test_roofline() -> None:
    # weights 3, cache 2, linear 2, attention 1: linear layers and attention follow one another
    assert d.roofline_step_s(d.linear_step_s(3, 2, 0), 3, 2, 2, 1, 0) == 8
    assert d.roofline_step_s(d.linear_step_s(3, 2, 0.5), 3, 2, 2, 1, 0.5) == 7
    assert d.roofline_step_s(d.linear_step_s(3, 2, 1), 3, 2, 2, 1, 1) == 5  # ideal: all reads against all arithmetic
    assert d.roofline_step_s(d.linear_step_s(1, 5, 1), 1, 1, 5, 2, 1) == 7


def test_step() -> None:
    assert d.decode_step_s(0.02, 0.002, 0.003, 0.001, 2, 0) == pytest.approx(0.026)
    assert d.decode_step_s(0.02, 0.002, 0.0, 0.0, 1, 0) == pytest.approx(0.022)


def test_stated_factor_replaces_the_links() -> None:
    """Tokens pro Sekunde pro Euro, Kentino Wiki, 2026-05: 0.55 a card over PCIe on eight cards, 4.4 times one card."""
    one = d.decode_step_s(0.08, 0, 0, 0, 1, 0.55)
    eight = d.decode_step_s(0.08 / 8, 0, 0, 0.005, 8, 0.55)
    assert one == 0.08
    assert one / eight == pytest.approx(4.4)
    # fixed times are part of what is scaled
    one = d.decode_step_s(0.08, 0.01, 0.002, 0, 1, 0.55)
    eight = d.decode_step_s(0.08 / 8, 0.01, 0.002, 0.005, 8, 0.55)
    assert one / eight == pytest.approx(4.4)


@pytest.mark.parametrize(
    ("parts", "answer"),
    [
        ((2, 1, 1, 0), "memory"),
        ((1, 1, 2, 2), "memory"),  # a tie goes to memory, then to compute
        ((1, 0, 2, 2), "compute"),
        ((1, 0, 2, 3), "link"),
        ((0, 0, 0, 0), "memory"),
    ],
)
def test_bound(parts: tuple[float, ...], answer: str) -> None:
    assert d.bound(*parts) == answer
    assert d.bound(*(np.array([p, p]) for p in parts)).tolist() == [answer] * 2


def test_single_stream_of_the_ideal_roofline() -> None:
    """GPU-Auswahl für KI-Workloads, Kentino Wiki, 2026-05: bandwidth over size, times 0.6 to 0.8."""
    assert 0.6 * 300 / 4.5 <= 1 / d.decode_weights_s(4.5, 0, 1, 300, 0.7, 1) <= 0.8 * 300 / 4.5
