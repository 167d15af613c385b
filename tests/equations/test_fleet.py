"""A build as a whole: hand-computed values."""

from __future__ import annotations

import pytest

from gpuecon_xl.equations import fleet as f


def test_sums_of_cards() -> None:
    assert f.power_w(575, 4) == 2300
    assert f.outlay_eur(3800, 4) == 15_200
    assert f.slots_used(2, 4) == 8


def test_time_of_a_token_counts_the_whole_loop() -> None:
    """64 requests that share 1,280 tokens a second get one each 50 ms, whatever the pure decode step would be."""
    assert f.tpot_ms(64, 1280) == pytest.approx(50)


def test_time_of_an_answer() -> None:
    assert f.answer_s(0.4, 256, 50) == pytest.approx(0.4 + 12.8)
