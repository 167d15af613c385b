"""Money over time: the equations equal numpy-financial, sums over the months equal those over the horizon, off is off."""

from __future__ import annotations

import math

import numpy_financial as npf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuecon_xl import ops
from gpuecon_xl.equations import finance as f

MANY = settings(max_examples=200, deadline=None, database=None, derandomize=True)
YEARS = st.floats(0.5, 5)
SHARE = st.floats(0, 1)


def _months(horizon: float) -> list[tuple[float, float]]:
    """Beginning and end of every month of the horizon, the purchase first."""
    return [(f.month_from(m, horizon), f.month_to(m, horizon)) for m in range(math.ceil(horizon) + 1)]


def test_off_is_off() -> None:
    assert f.ramp_share(0, 3) == 1
    assert f.mean_use(0.6, 1) == 0.6
    assert f.interest_eur(5000, 0, f.crf_month(0.08, 36), 36) == 0
    assert f.interest_eur(5000, 1, f.crf_month(0, 36), 36) == pytest.approx(0, abs=1e-9)
    assert f.wacc_year(0, 0, 0, 0) == 0
    assert f.discount_factor(0, 17) == 1
    assert f.price_left(0, 17) == 1
    assert f.resale_share(0, 0, 3) == 0
    assert f.tax_shield_eur(0, 10, 20, 30) == 0


@MANY
@given(st.floats(0.001, 0.3), st.integers(1, 120), st.floats(100, 1e6))
def test_capital_recovery_factor_is_the_payment(rate: float, months: int, loan: float) -> None:
    assert f.crf_month(rate, months) * loan == pytest.approx(-npf.pmt(rate / 12, months, loan), rel=1e-9)


@MANY
@given(st.floats(0.001, 0.3), st.integers(2, 120), st.data())
def test_interest_of_a_month(rate: float, months: int, data: st.DataObject) -> None:
    month = data.draw(st.integers(1, months))
    left = [f.loan_left(rate, at, months) for at in (month - 1, month)]
    assert left[1] == pytest.approx(npf.fv(rate / 12, month, f.crf_month(rate, months), -1), abs=1e-8)
    got = f.interest_month_eur(10_000, 0.5, f.crf_month(rate, months), month - 1, month, *left)
    assert got == pytest.approx(-npf.ipmt(rate / 12, month, months, 5_000), rel=1e-6, abs=1e-6)


@MANY
@given(st.lists(st.floats(0.1, 5_000), min_size=12, max_size=60), st.floats(100, 20_000), st.floats(0, 0.3))
def test_present_value(flows: list[float], outlay: float, wacc: float) -> None:
    """Discounted month by month, as numpy-financial at the monthly rate of the same year."""
    all_flows = [-outlay, *flows]
    got = ops.sum_product(all_flows, [f.discount_factor(wacc, m) for m in range(len(all_flows))])
    assert got == pytest.approx(npf.npv((1 + wacc) ** (1 / 12) - 1, all_flows), rel=1e-9, abs=1e-6)


@MANY
@given(st.lists(st.floats(50, 5_000), min_size=12, max_size=60), st.floats(2, 20))
def test_internal_rate_of_return(flows: list[float], months_to_pay: float) -> None:
    mean = sum(flows) / len(flows)
    all_flows = [-mean * min(months_to_pay, len(flows) * 0.9), *flows]
    got = ops.irr(all_flows)
    assert got == pytest.approx(npf.irr(all_flows), rel=1e-6, abs=1e-9)
    assert npf.npv(got, all_flows) == pytest.approx(0, abs=1e-5 * abs(all_flows[0]))


@pytest.mark.parametrize("flows", [[100.0, 5.0, 5.0], [-100.0, -5.0], [0.0, 0.0, 0.0], [-100.0]])
def test_flows_without_a_rate_are_refused(flows: list[float]) -> None:
    with pytest.raises(ValueError, match="no internal rate"):
        ops.irr(flows)


def test_irr_of_a_year() -> None:
    assert f.irr_year(0.01) == pytest.approx(0.12682503)


@MANY
@given(YEARS, st.floats(6, 96), st.floats(1_000, 1e5), SHARE)
def test_depreciation_is_straight_and_whole(years: float, life: float, capex: float, residual: float) -> None:
    horizon = f.horizon_months(years)
    rows = [f.depreciation_month_eur(capex, capex * residual, life, a, b, horizon) for a, b in _months(horizon)]
    assert sum(rows) == pytest.approx(capex * (1 - residual), rel=1e-9, abs=1e-6)
    if life > 2 and horizon > 2:
        each = (capex - capex * residual) / life  # numpy-financial has no SLN; its definition
        assert rows[1] == pytest.approx(each, rel=1e-9, abs=1e-9)
    assert rows[0] == 0


@MANY
@given(YEARS, st.floats(0, 80), SHARE)
def test_months_of_use_are_those_of_the_mean(years: float, ramp: float, utilization: float) -> None:
    horizon = f.horizon_months(years)
    used = sum(f.use_months(a, b, ramp) for a, b in _months(horizon))
    assert used * utilization == pytest.approx(f.mean_use(utilization, f.ramp_share(ramp, years)) * horizon, rel=1e-9, abs=1e-9)


@MANY
@given(YEARS, st.floats(0.001, 0.3), SHARE)
def test_interest_of_the_months_is_that_of_the_horizon(years: float, rate: float, share: float) -> None:
    horizon = f.horizon_months(years)
    crf = f.crf_month(rate, horizon)
    rows = [f.interest_month_eur(1e5, share, crf, a, b, f.loan_left(rate, a, horizon), f.loan_left(rate, b, horizon)) for a, b in _months(horizon)]
    assert sum(rows) == pytest.approx(f.interest_eur(1e5, share, crf, horizon), rel=1e-6, abs=1e-6)


def test_erosion_and_resale_fall_year_by_year() -> None:
    assert [f.price_left(0.2, m) for m in (0, 12, 24)] == pytest.approx([1, 0.8, 0.64])
    assert f.resale_share(0.8, 0.25, 2) == pytest.approx(0.45)


def test_capital_cost() -> None:
    assert f.wacc_year(0.6, 0.05, 0.3, 0.1) == pytest.approx(0.6 * 0.05 * 0.7 + 0.4 * 0.1)


def test_reserved_rent_is_paid_day_and_night() -> None:
    on_demand, reserved = (f.rent_month_eur(3600, term, 0.5, 1, 3, 4, 36, 1) for term in ("on-demand", "reserved"))
    assert on_demand == pytest.approx(50)
    assert reserved == pytest.approx(100)
