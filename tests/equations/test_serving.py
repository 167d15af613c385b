"""Serving: hand-computed loops, queue, speculation, the published token yield."""

from __future__ import annotations

import pytest

from gpuecon_xl.equations import serving as s


@pytest.mark.parametrize(
    ("accept", "draft", "tokens"),
    [(0, 0, 1), (0.8, 0, 1), (0, 4, 1), (0.5, 1, 1.5), (0.8, 3, 1 + 0.8 + 0.64 + 0.512), (0.95, 8, sum(0.95**k for k in range(9)))],
)
def test_speculation(accept: float, draft: float, tokens: float) -> None:
    assert s.tokens_per_step(accept, draft) == pytest.approx(tokens, rel=1e-9)


def test_certain_acceptance_yields_all_drafted_tokens() -> None:
    """The limit: every drafted token is kept, and one more."""
    assert s.tokens_per_step(0.999999, 4) == pytest.approx(5, rel=1e-4)
    assert s.tokens_per_step(1, 4) == pytest.approx(5, rel=1e-4)


def test_decode_rates() -> None:
    assert s.decode_tok_s_user(1, 0.02) == 50
    assert s.decode_tok_s_user(2.5, 0.02) == 125
    assert s.decode_tok_s(50, 8) == 400
    assert s.decode_tok_s(50, 0) == 0


def test_interleaved_prompts() -> None:
    # 8 sequences; each output token brings 1000 / 250 prompt tokens
    assert s.prompt_tokens_step(8, 1, 1000, 250) == 32
    assert s.prompt_tokens_step(8, 2, 1000, 250) == 64
    # 32 tokens of 10 µs, 8 of them linear: reads 5 ms, decode's arithmetic 1 ms
    whole, linear = 1e-5, 8e-6
    assert s.interleave_s(32, whole, linear, 0.005, 0.001, 0.006, 0, 1, 1, 0) == pytest.approx(32 * whole)
    assert s.interleave_s(32, whole, linear, 0.005, 0.001, 0.006, 0, 2, 1, 0) == pytest.approx(16 * whole)
    # half overlapped: what is added to the shorter of the two counts half
    assert s.interleave_s(32, whole, linear, 0.005, 0.001, 0.0055, 0.5, 1, 1, 0) == pytest.approx(32 * (linear / 2 + whole - linear))
    # the ideal roofline and a stated factor add the prompts' own time
    assert s.interleave_s(32, whole, linear, 0.005, 0.001, 0.005, 1, 1, 1, 0) == pytest.approx(32 * whole)
    assert s.interleave_s(32, whole, linear, 0.005, 0.001, 0.0055, 0.5, 1, 2, 0.55) == pytest.approx(32 * whole)
    assert s.mean_step_s(0.02, 0.005) == 0.025
    assert s.prefill_share(0.005, 0.025) == pytest.approx(0.2)


def test_output_and_total() -> None:
    assert s.output_tok_s(8, 1, 0.025) == 320
    assert s.output_tok_s(8, 1.5, 0.025) == 480
    assert s.total_tok_s(320, 1000, 250) == 1600


def test_first_token_alone() -> None:
    assert s.ttft_s(0.1, 0.3, 0.02, 1, 1, 50, 100, 1, 0.5, 0) == pytest.approx(0.1)
    assert s.ttft_s(0.1, 0.3, 0.02, 1, 1, 50, 100, 1, 0.5, 30) == pytest.approx(0.13)  # the request's own handling


def test_first_token_among_others() -> None:
    # random arrivals wait for prompts: share / (2 · (1 - share)), and half a step
    assert s.ttft_s(0.1, 0.2, 0.02, 8, 8, 320, 250, 8, 0, 0) == pytest.approx(0.1 * (1 + 0.2 / 1.6) + 0.01)
    # arriving together: half of the seven others come first
    assert s.ttft_s(0.1, 0.2, 0.02, 8, 8, 320, 250, 8, 1, 0) == pytest.approx(0.1 * (1 + 3.5) + 0.01)
    assert s.ttft_s(0.1, 0.2, 0.02, 8, 8, 320, 250, 8, 0.5, 0) == pytest.approx(0.1 * (1 + (3.5 + 0.125) / 2) + 0.01)


def test_queue_by_littles_law() -> None:
    waiting = s.ttft_s(0.1, 0.2, 0.02, 18, 8, 320, 250, 8, 0, 0) - s.ttft_s(0.1, 0.2, 0.02, 8, 8, 320, 250, 8, 0, 0)
    assert waiting == pytest.approx(10 * 250 / 320)


def test_wait_is_bounded_when_prompts_fill_the_time() -> None:
    assert s.ttft_s(0.1, 1, 0.02, 8, 8, 320, 250, 8, 0, 0) == pytest.approx(0.1 * (1 + 8 / 2) + 0.01)


def test_band() -> None:
    assert s.output_tok_s_low(100, 0.7) == pytest.approx(70)
    assert s.output_tok_s_high(100, 1.35) == pytest.approx(135)


def test_month() -> None:
    assert s.token_yield_g_month(1000, 1) == pytest.approx(2.628)
    assert s.token_yield_g_month(1000, 0) == 0


@pytest.mark.parametrize(("memory", "bandwidth", "tflops", "stated"), [(96, 1792, 1008, 47.3), (270, 7700, 4500, 751)], ids=["RTX PRO 6000", "B300"])
def test_published_yield(memory: float, bandwidth: float, tflops: float, stated: float) -> None:
    """Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09: Qwen3-30B-A3B, fp8, 3,000 tokens, 70 % use: 47 and 750 G tokens."""
    from gpuecon_xl.equations.memory import breakeven_batch

    kv_bytes_token = 48 * 2 * 4 * 128 * 1  # fp8 cache
    batch = s.yield_batch(memory, 1, 30.5, 1, 1.03, kv_bytes_token, 3000)
    knee = breakeven_batch(tflops, 1, 30.5, 3.3, bandwidth)
    got = s.token_yield_g_month(s.yield_tok_s(knee, batch, bandwidth, 1, 30.5, 1), 0.7)
    assert batch < knee  # bound by memory
    assert got == pytest.approx(stated, rel=0.01)


def test_yield_of_a_model_that_does_not_fit() -> None:
    assert s.yield_batch(24, 1, 70, 1, 1.03, 1e5, 3000) == 0
    assert s.yield_tok_s(280, 0, 300, 1, 70, 1) == 0


def test_deviation() -> None:
    assert s.deviation(110, 100) == pytest.approx(0.1)
