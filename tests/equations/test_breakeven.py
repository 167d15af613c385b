"""Break-even: the published figures, the exact form, never cheaper."""

from __future__ import annotations

import numpy as np
import pytest

from gpuecon_xl.equations import breakeven as b


@pytest.mark.parametrize(("rel", "use"), [(0.60, 0.507), (0.65, 0.468), (0.70, 0.435)])
def test_published_break_even(rel: float, use: float) -> None:
    """Tokens pro Sekunde pro Euro, Kentino Wiki, 2026-05: 14,400 against 1.80 an hour: 0.51 to 0.43, "about 50 %"."""
    assert b.breakeven_use_stated(14_400, b.rent_per_use(1.80, 26_280, rel)) == pytest.approx(use, abs=0.0006)


def test_exact_form_meets_the_rent() -> None:
    fixed, per_use, rent = 11_751.0, 4415.0, b.rent_per_use(1.80, 26_280, 0.65)
    use = b.breakeven_use(fixed, per_use, rent)
    assert fixed + per_use * use == pytest.approx(rent * use, rel=1e-12)
    assert 0 < use < 1


@pytest.mark.parametrize(
    ("fixed", "per_use", "rent", "use"),
    [
        (100, 50, 150, 1.0),  # just at full use
        (100, 50, 149, -1),
        (100, 50, 50, -1),  # rent costs no more than the electricity
        (100, 50, 10, -1),
        (0, 50, 100, 0.0),  # already owned: from the first hour
        (0, 50, 50, -1),
    ],
)
def test_exact_form_at_the_edges(fixed: float, per_use: float, rent: float, use: float) -> None:
    assert b.breakeven_use(fixed, per_use, rent) == use
    assert b.breakeven_use(np.array([fixed] * 2), per_use, rent).tolist() == [use] * 2


def test_stated_form_at_the_edges() -> None:
    assert b.breakeven_use_stated(100, 100) == 1
    assert b.breakeven_use_stated(101, 100) == -1


@pytest.mark.parametrize(("outlay", "months"), [(8500, 5.3), (8500 * 1.8, 9.5)])
def test_published_payback(outlay: float, months: float) -> None:
    """Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09: against 2.20 an hour, day and night."""
    assert b.payback_months(outlay, 2.20, 0) == pytest.approx(months, abs=0.05)


def test_payback_never() -> None:
    assert b.payback_months(8500, 0.1, 73) == -1
    assert b.payback_months(8500, 0.1, 100) == -1
    assert b.payback_months(0, 1, 100) == 0


def test_published_electricity_of_a_month() -> None:
    """Same text: 700 W, 720 h: 504 kWh, 126 EUR."""
    assert b.electricity_month(700, 720, 1) == pytest.approx(504)
    assert b.electricity_month(700, 720, 0.25) == pytest.approx(126)
    assert b.electricity_month(700, 720, 0.25) * 1.16 == pytest.approx(146.16)


def test_tokens_of_a_month() -> None:
    assert b.breakeven_tokens_g_month(502, 0.22) == pytest.approx(2.2818, abs=1e-4)
    assert b.breakeven_tokens_g_month(0, 0.22) == 0


def test_base_and_burst() -> None:
    assert b.base_and_burst_month(2, 1.3, 100, 2) == pytest.approx(2 * 1.3 * 730 + 200)
    assert b.base_and_burst_month(2, 1.3, 0, 2) == pytest.approx(1898)


def test_running_cost() -> None:
    # electricity of full use over the tokens of full use
    assert b.running_cost_mtok(2649.02, 1000, 26_280, 2) == pytest.approx(2 * 2649.02 / (1000 * 26_280 * 3600) * 1e6)
    assert b.running_cost_mtok(0, 1000, 26_280, 2) == 0
