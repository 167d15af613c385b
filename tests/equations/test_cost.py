"""Cost of tokens: the published figures to the printed digits, hand-computed values."""

from __future__ import annotations

import pytest

from gpuecon_xl.equations import cost as c


def test_published_cost_on_an_l4() -> None:
    """Tokens pro Sekunde pro Euro, Kentino Wiki, 2026-05: 650 tok/s at 60 %: 36.9 billion tokens, 0.12 EUR a million."""
    tokens = c.tokens_served_m(650, 0.6, 26_280)
    assert tokens == pytest.approx(36_897, abs=1)
    assert c.cost_eur_mtok(4428, 1, tokens) == pytest.approx(0.12, abs=0.0005)
    assert c.cost_eur_mtok(4428, 8, tokens * 8) == pytest.approx(0.12, abs=0.0005)


@pytest.mark.parametrize(
    ("rate", "tok_s", "usd"),
    [
        (0.354, 2200, 0.0447),
        (0.481, 2800, 0.0477),
        (0.058, 900, 0.0179),
        (0.481, 1500, 0.0891),
        (0.354, 700, 0.1405),
        (1.811, 2400, 0.2096),
        (0.281, 350, 0.2230),
        (1.811, 1200, 0.4192),
        (3.131, 2000, 0.4349),
        (3.131, 600, 1.4495),
    ],
)
def test_published_rent_per_mtok(rate: float, tok_s: float, usd: float) -> None:
    """USD je Million Tokens, LowCostGPU, 2026-10."""
    assert c.rent_cost_mtok(rate, tok_s) == pytest.approx(usd, abs=0.00005001)


@pytest.mark.parametrize(("rate", "usd"), [(12.29, 322_981), (2.50, 65_700), (1.80, 47_304)])
def test_published_rent_of_three_years(rate: float, usd: float) -> None:
    """Tokens pro Sekunde pro Euro, Kentino Wiki, 2026-05."""
    assert c.rent_horizon(rate, 26_280) == pytest.approx(usd, abs=0.5)


@pytest.mark.parametrize(("into", "out", "blended"), [(0.1, 0.5, 0.22), (0.75, 3.75, 1.65), (2, 10, 4.4), (4, 20, 8.8)])
def test_published_blended_prices(into: float, out: float, blended: float) -> None:
    """Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09: 30 % output."""
    assert c.blended_price_mtok(into, out, 0.3) == pytest.approx(blended, rel=1e-12)


def test_blended_price_at_the_ends() -> None:
    assert c.blended_price_mtok(2, 10, 0) == 2
    assert c.blended_price_mtok(2, 10, 1) == 10
    assert c.blended_price_mtok(0, 0, 0.3) == 0


def test_own_month() -> None:
    """Same text: 8,500 · 1.8 / 36 + 600 W · 0.7 · 730 h · 0.25 = about 502."""
    assert c.own_cost_month(8500, 1.8, 36, 600, 0.7, 0.25) == pytest.approx(425 + 76.65)
    assert c.own_cost_month(0, 1.8, 36, 600, 0, 0.25) == 0


def test_own_month_per_mtok() -> None:
    # 47.3 billion tokens for 501.65: the published 0.0106
    assert c.own_cost_month_mtok(501.65, 47.3) == pytest.approx(0.0106, abs=0.00005)
    assert c.verdict(0.0106, 0.22) == pytest.approx(-0.9518, abs=0.0001)
    assert c.verdict(1, 1) == 0


def test_own_cost_beside_an_api() -> None:
    assert c.cost_all_tokens_mtok(0.4, 0.3) == pytest.approx(0.12)


def test_per_euro_and_watt() -> None:
    assert c.tok_s_per_keur(1000, 2500, 2) == 200
    assert c.tok_s_per_w(1000, 250, 2) == 2


def test_per_year_and_month() -> None:
    assert c.cost_eur_year(9000, 2, 3) == 6000
    assert c.cost_eur_month(9000, 2, 3) == 500
