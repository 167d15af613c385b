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
    alone = (16 / 1000 + 4 / 500) / 1000
    assert p.prefill_s_token(16, 4, 2, 1000, 500, 0.5, 1e-6, 1e-7, 1, 0) == pytest.approx(alone + 1.1e-6)
    assert p.prefill_s_token(16, 4, 2, 1000, 500, 0.5, 1e-6, 1e-7, 0, 0) == pytest.approx(alone)


def test_stated_factor_replaces_the_links() -> None:
    assert p.prefill_s_token(16, 4, 2, 1000, 500, 0.5, 1e-6, 1e-7, 1, 0.5) == pytest.approx((16 / 1000 + 4 / 500) / 500)
    one_card = p.prefill_s_token(16, 4, 1, 1000, 500, 0.5, 0, 0, 1, 0)
    assert p.prefill_s_token(16, 4, 1, 1000, 500, 0.5, 0, 0, 1, 0.5) == one_card


def test_weights_are_read_once() -> None:
    assert p.prefill_weights_s(10, 0, d.expert_missed_ln(0, 0), 100, 1, 1000, 1) == pytest.approx(0.01)
    assert p.prefill_weights_s(10, 100, d.expert_missed_ln(128, 8), 1, 1, 1000, 1) == pytest.approx(0.01 + 0.1 * 8 / 128)
    assert p.prefill_weights_s(10, 100, d.expert_missed_ln(128, 8), 100_000, 1, 1000, 1) == pytest.approx(0.11)
    assert p.prefill_weights_s(10, 100, d.expert_missed_ln(128, 8), 100_000, 2, 1000, 0.5) == pytest.approx(0.11)


def test_short_prompts_are_bound_by_the_weights() -> None:
    assert p.prefill_s(10, 1e-4, 0.02, 0.002, 0.001, 1) == pytest.approx(0.023)
    assert p.prefill_s(1000, 1e-4, 0.02, 0.002, 0.001, 1) == pytest.approx(0.103)
    assert p.prefill_s(1000, 1e-4, 0.02, 0.002, 0.001, 0) == pytest.approx(0.102)


def test_rate_of_the_build() -> None:
    assert p.prefill_tok_s(4, 1, 1000, 0.1) == 40_000
    assert p.prefill_tok_s(4, 2, 1000, 0.1) == 80_000
    assert p.prefill_tok_s(0, 1, 1000, 0.1) == 0
