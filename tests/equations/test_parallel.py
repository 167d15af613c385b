"""Several cards: measured all-reduces, hops, layouts."""

from __future__ import annotations

import pytest

from gpuecon_xl import load_catalog
from gpuecon_xl.equations import parallel as p


@pytest.mark.parametrize(
    ("link", "cards", "alpha_us", "bus_gb_s"),
    [
        # all-reduces measured in isolation at 2, 4 and 8 cards: start-up and bus bandwidth, each as a range
        ("pcie5x16", 2, (4, 7), (37, 37)),
        ("pcie5x16", 4, (13, 13), (24, 29)),
        ("pcie5x16", 8, (25, 25), (23, 23)),
        ("nvlink4", 2, (4.3, 6.4), (265, 270)),
        ("nvlink4", 4, (4.6, 9.8), (308, 315)),
    ],
)
def test_links_against_isolated_all_reduces(link: str, cards: int, alpha_us: tuple[float, float], bus_gb_s: tuple[float, float]) -> None:
    """Links are fitted on whole models, not on bare all-reduces: as vLLM uses them, within a factor of 4 of the bare ones."""
    row = load_catalog().find("links", link)
    engine = load_catalog().find("engines", "vLLM")
    alpha = p.allreduce_alpha_us(row["alpha_pair_us"], engine["alpha_factor"], row["alpha_power"], cards)
    bus = p.allreduce_bus_gb_s(row["bus_pair_gb_s"], engine["bus_factor"], row["bus_power"], cards)
    assert alpha_us[0] / 4 <= alpha <= alpha_us[1] * 4
    assert bus_gb_s[0] / 4 <= bus <= bus_gb_s[1] * 4


def test_power_law() -> None:
    assert p.allreduce_alpha_us(5, 1, 1, 2) == 5
    assert p.allreduce_alpha_us(5, 1, 1, 8) == 20
    assert p.allreduce_alpha_us(5, 2, 1, 8) == 40
    assert p.allreduce_alpha_us(0, 1, 1, 8) == 0
    assert p.allreduce_bus_gb_s(40, 1, -1, 8) == 10
    assert p.allreduce_bus_gb_s(40, 2, -1, 8) == 20


def test_ring_all_reduce() -> None:
    # 2 a layer, 80 layers, 2 · (n - 1) / n · 8,192 · 2 bytes
    assert p.collective_s_token(2, 80, 2, 8192, 40) == pytest.approx(2 * 80 * 2 * 0.5 * 8192 * 2 / 40e9)
    assert p.collective_s_token(2, 80, 8, 8192, 40) == pytest.approx(2 * 80 * 2 * 7 / 8 * 8192 * 2 / 40e9)
    assert p.collective_start_s(2, 80, 10, 2) == pytest.approx(0.0016)


def test_one_card_has_no_links() -> None:
    assert p.collective_s_token(2, 80, 1, 8192, 40) == 0
    assert p.collective_start_s(2, 80, 10, 1) == 0
    assert p.hop_s_token(1, 8192, 40) == 0
    assert p.decode_collective_s(0, 5, 1, 32, 0, 0, 1) == 0


def test_pipeline_hops() -> None:
    assert p.hop_s_token(4, 8192, 40) == pytest.approx(3 * 8192 * 2 / 40e9)
    assert p.decode_collective_s(0.001, 10, 3, 8, 1e-5, 1e-6, 1) == pytest.approx(0.001 + 2e-5 + 8 * 1.1e-5)
    assert p.decode_collective_s(0.001, 10, 3, 8, 1e-5, 1e-6, 0) == 0


def test_cards_that_share_the_weights() -> None:
    # 100 GB a card less 10: 140 GB of weights want 1.56 cards
    assert p.tp_needed(140, 100, 10, 0, 1, 8) == pytest.approx(140 / 90)
    assert p.tp_needed(140, 100, 10, 160, 1, 8) == pytest.approx(140 / 70)
    assert p.tp_needed(140, 100, 10, 1000, 1, 8) == 8  # the cache alone is too large


@pytest.mark.parametrize(
    ("needed", "gpus", "tp"), [(0.2, 8, 1), (1, 8, 1), (1.01, 8, 2), (2, 8, 2), (3, 8, 4), (5, 8, 8), (9, 8, 8), (5, 6, 4), (3, 1, 1)]
)
def test_smallest_group(needed: float, gpus: float, tp: float) -> None:
    assert p.tp_smallest(needed, gpus) == tp


def test_scaling_factor() -> None:
    assert p.scaling_factor(0.08, 8, 0.02) == pytest.approx(0.5)
    assert p.scaling_factor(0.08, 1, 0.08) == 1
