"""Prefill: hand-computed prompts."""

from __future__ import annotations

import pytest

from gpuecon_xl.equations import decode as d
from gpuecon_xl.equations import prefill as p


def test_prompt_tokens() -> None:
    assert p.prompt_tokens(1000, 0) == 1000
    assert p.prompt_tokens(1000, 600) == 400
    assert p.prompt_tokens(1000, 1000) == 1  # the last token is always computed
    assert p.prompt_tokens(1000, 5000) == 1


def test_arithmetic_leaves_the_head_out() -> None:
    assert p.prefill_gflop_token(8, 1) == 14
    assert p.prefill_gflop_token(1, 2) == 0


def test_attention_is_a_triangle() -> None:
    # the sum over a prompt of S tokens is 2 · heads · head_dim · S² a layer
    per_token = p.prefill_attention_gflop_token(32, 128, 10, 0, 0, 2000, 0)
    assert per_token * 2000 == pytest.approx(2 * 32 * 128 * 2000**2 * 10 / 1e9)
    # with p tokens cached: 2 · heads · head_dim · (S² - p²)
    per_token = p.prefill_attention_gflop_token(32, 128, 10, 0, 0, 2000, 500)
    assert per_token * 1500 == pytest.approx(2 * 32 * 128 * (2000**2 - 500**2) * 10 / 1e9)


def test_windowed_attention_sees_the_window() -> None:
    got = p.prefill_attention_gflop_token(32, 128, 0, 10, 100, 2000, 0)
    assert got == pytest.approx(4 * 32 * 128 * 100 * 10 / 1e9)


def test_time_of_a_token() -> None:
    linear = p.prefill_linear_s_token(16, 1000, 2, 0.5)
    assert linear == pytest.approx(16 / 1000 / 1000)
    alone = linear + 4 / 500 / (2 * 0.25 * 1000)
    assert p.prefill_s_token(linear, 4, 2, 500, 0.25, 1e-6, 1e-7, 1, 0) == pytest.approx(alone + 1.1e-6)
    assert p.prefill_s_token(linear, 4, 2, 500, 0.25, 1e-6, 1e-7, 0, 0) == pytest.approx(alone)


def test_shares_of_the_peak() -> None:
    assert p.prefill_linear_efficiency(0.5, 1.5, 0.95) == pytest.approx(0.75)
    assert p.prefill_linear_efficiency(0.5, 3, 0.95) == 0.95
    assert p.prefill_attention_efficiency(0.4, 1.5, 0.95) == pytest.approx(0.6)


def test_stated_factor_replaces_the_links() -> None:
    linear = p.prefill_linear_s_token(16, 1000, 2, 0.5)
    alone = p.prefill_s_token(linear, 4, 2, 500, 0.5, 1e-6, 1e-7, 0, 0)
    assert p.prefill_s_token(linear, 4, 2, 500, 0.5, 1e-6, 1e-7, 1, 0.5) == pytest.approx(alone / 0.5)
    one_card = p.prefill_s_token(linear, 4, 1, 500, 0.5, 0, 0, 1, 0)
    assert p.prefill_s_token(linear, 4, 1, 500, 0.5, 0, 0, 1, 0.5) == one_card


def test_passes_of_a_prompt() -> None:
    assert p.prefill_chunks(512, 512) == 1
    assert p.prefill_chunks(513, 512) == 2
    assert p.prefill_chunks(1, 8192) == 1


def test_weights_are_read_once_a_pass() -> None:
    dense, sparse = d.expert_missed_ln(0, 0), d.expert_missed_ln(128, 8)
    assert p.prefill_weights_s(10, 0, dense, 100, 1, 1, 1000, 1, 1) == pytest.approx(0.01)
    assert p.prefill_weights_s(10, 0, dense, 100, 4, 1, 1000, 1, 1) == pytest.approx(0.04)
    assert p.prefill_weights_s(10, 100, sparse, 1, 1, 1, 1000, 1, 1) == pytest.approx(0.01 + 0.1 * 8 / 128)
    assert p.prefill_weights_s(10, 100, sparse, 100_000, 1, 1, 1000, 1, 1) == pytest.approx(0.11)
    assert p.prefill_weights_s(10, 100, sparse, 100_000, 1, 2, 1000, 0.5, 0.25) == pytest.approx(0.01 + 0.2)


def test_passes_follow_one_another_through_the_pipeline() -> None:
    """GPipe, arXiv 1811.06965: m passes over p stages take m + p - 1 stage times instead of m · p."""
    assert p.pipeline_fill(1, 1) == 1
    assert p.pipeline_fill(1, 4) == 1  # one pass: nothing to overlap
    assert p.pipeline_fill(8, 4) == pytest.approx(11 / 32)
    assert p.pipeline_fill(1e9, 4) == pytest.approx(0.25)


def test_a_prompt() -> None:
    # arithmetic 0.1, reads 0.02, attention and links 1e-5 a token, two passes of fixed 0.002 and start-up 0.001
    assert p.prefill_s(1000, 1.1e-4, 1e-4, 0.02, 0, 2, 0.002, 0.001, 1, 1) == pytest.approx(0.12 + 0.01 + 0.006)
    assert p.prefill_s(1000, 1.1e-4, 1e-4, 0.02, 1, 2, 0.002, 0.001, 1, 1) == pytest.approx(0.1 + 0.01 + 0.006)
    assert p.prefill_s(1000, 1.1e-4, 1e-4, 0.02, 1, 2, 0.002, 0.001, 0, 1) == pytest.approx(0.1 + 0.01 + 0.004)
    assert p.prefill_s(1000, 1.1e-4, 1e-4, 0.02, 0, 2, 0.002, 0.001, 1, 0.5) == pytest.approx(0.136 / 2)


def test_short_prompts_are_bound_by_the_weights() -> None:
    assert p.prefill_s(10, 1e-4, 1e-4, 0.02, 1, 1, 0.002, 0.001, 1, 1) == pytest.approx(0.023)


def test_rate_of_the_build() -> None:
    assert p.prefill_tok_s(4, 1000, 0.1) == 40_000
    assert p.prefill_tok_s(0, 1000, 0.1) == 0
