"""Draws: the same seed the same figures, the middle is the typical case when ranges are symmetric, owning wins as counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpuecon_xl as gx
from gpuecon_xl import money
from gpuecon_xl.catalog import Catalog, shipped
from gpuecon_xl.montecarlo import draw

WORKLOAD, BUILD = "70B fp8 start-up", "4x PRO 6000 Server"
DRAWN = {"price_eur", "electricity_eur_kwh", "pue", "maintenance_share_year", "chassis_eur_gpu", "utilization", "output_tok_s", "rate_hour"}


def symmetric(width: float) -> Catalog:
    """Facts whose ranges are as wide below as above."""
    assumptions = []
    for r in shipped().rows("assumptions"):
        ranged = r["name"] in (*money.DEARER, *money.CHEAPER, "utilization") and r["value"]
        assumptions.append({**r, "low": r["value"] * (1 - width), "high": r["value"] * (1 + width)} if ranged else r)
    prices = [{**r, "low": r["typical"] * (1 - width), "high": r["typical"] * (1 + width)} if r["typical"] else r for r in shipped().rows("prices")]
    bands = [{**r, "band_low": 1 - width, "band_high": 1 + width} for r in shipped().rows("efficiency")]
    rates = [{**r, "rate_low": r["rate_hour"] * (1 - width), "rate_high": r["rate_hour"] * (1 + width)} for r in shipped().rows("cloud_rates")]
    return Catalog({**shipped().tables, "assumptions": assumptions, "prices": prices, "efficiency": bands, "cloud_rates": rates}, "test")


def one_price() -> Catalog:
    """The shipped facts without ranges of prices."""
    rows = [{**r, "low": None, "high": None} for r in shipped().rows("prices")]
    return Catalog({**shipped().tables, "prices": rows}, "test")


def test_every_range_is_drawn_and_nothing_that_is_off() -> None:
    found = gx.risk(draws=1000)
    assert {r.name for r in found.ranges} == DRAWN
    assert all(r.low < r.high and r.low <= r.typical <= r.high for r in found.ranges)
    assert found.draws == 1000
    assert found.as_of == "2026-11-30"
    assert sum(share for _, _, share in found.bars) == pytest.approx(0.99, abs=0.005)


def test_the_typical_case_is_that_of_the_functions() -> None:
    found = gx.risk(WORKLOAD, BUILD, draws=10)
    assert found.outcomes["build_tco_eur"]["typical"] == pytest.approx(gx.tco3y("RTX PRO 6000 Server", 4), rel=1e-12)
    load = shipped().find("workloads", WORKLOAD)
    tokens = {"input_tokens": load["input_tokens"], "output_tokens": load["output_tokens"]}
    context = load["input_tokens"] + load["output_tokens"]
    cost = gx.cost_per_mtok(load["model"], "RTX PRO 6000 Server", load["precision"], load["batch"], context, 4, options=tokens)
    assert found.outcomes["cost_eur_mtok"]["typical"] == pytest.approx(cost, rel=1e-12)
    months = gx.cash_flow(WORKLOAD, BUILD).months
    assert found.outcomes["rent_eur"]["typical"] == pytest.approx(sum(months["rent_month_eur"]), rel=1e-9)


def test_the_middle_converges_to_the_typical_case() -> None:
    """The narrower the symmetric ranges, the closer; what is linear is met at any width but for chance."""
    apart = []
    for width in (0.3, 0.1, 0.03):
        found = gx.risk(WORKLOAD, BUILD, draws=1_000_000, catalog=symmetric(width))
        cost = found.outcomes["cost_eur_mtok"]
        apart.append(abs(cost["p50"] / cost["typical"] - 1))
        total = found.outcomes["build_tco_eur"]
        assert total["p50"] == pytest.approx(total["typical"], rel=0.005 * width / 0.03)
        assert cost["p10"] < cost["p50"] < cost["p90"]
    assert apart[0] > apart[1] > apart[2]
    assert apart[2] < 5e-4


def test_quantiles_of_one_range_are_those_of_a_triangle() -> None:
    """Only the price is drawn: the inverse of the triangle's distribution, put through the total cost."""
    fixed = {n: shipped().assumption(n) for n in (*money.TCO_INPUTS,)}
    found = gx.risk(WORKLOAD, BUILD, "H100 SXM reserved 1 year", draws=1_000_000, options={**fixed, "tok_s": 1000})  # one rate, no range
    (price,) = found.ranges
    low, peak, high = price.low, price.typical, price.high
    for q in draw.QUANTILES:
        p = q / 100
        at = (
            low + (p * (high - low) * (peak - low)) ** 0.5
            if p < (peak - low) / (high - low)
            else high - ((1 - p) * (high - low) * (high - peak)) ** 0.5
        )
        want = 4 * gx.tco3y("RTX PRO 6000 Server", price=at)
        assert found.outcomes["build_tco_eur"][f"p{q}"] == pytest.approx(want, rel=1e-3)


def test_the_same_seed_gives_the_same_draws() -> None:
    one, two, other = (gx.risk(draws=5000, seed=s) for s in (7, 7, 8))
    assert one == two
    assert one.bars == two.bars
    assert one.outcomes != other.outcomes


def test_rent_is_drawn_from_its_range_in_euro() -> None:
    """Only the rent is drawn: the inverse of the triangle from 2.00 over 2.50 to 4.00 dollars, for as many tokens."""
    fixed = {n: shipped().assumption(n) for n in money.TCO_INPUTS}
    found = gx.risk(WORKLOAD, BUILD, "H100 SXM discount cloud", draws=1_000_000, options={**fixed, "tok_s": 1000}, catalog=one_price())
    (rent,) = found.ranges
    usd, hours = shipped().assumption("usd_per_eur"), 26_280
    assert (rent.name, rent.low, rent.typical, rent.high) == ("rate_hour", *(pytest.approx(x / usd) for x in (2.0, 2.5, 4.0)))
    for q, at in ((10, 2 + (0.1 * 2 * 0.5) ** 0.5), (50, 4 - (0.5 * 2 * 1.5) ** 0.5), (90, 4 - (0.1 * 2 * 1.5) ** 0.5)):
        want = at / usd * hours * shipped().assumption("rel_stated") * 4 * shipped().assumption("utilization")
        assert found.outcomes["rent_eur"][f"p{q}"] == pytest.approx(want, rel=1e-3)


@pytest.mark.parametrize(("rate", "wins"), [("H100 SXM discount cloud", (0.8, 1.0)), ("RTX 3060 LowCostGPU on-demand", (0.0, 0.05))])
def test_owning_wins_where_rent_is_dear(rate: str, wins: tuple[float, float]) -> None:
    if not any(r["rate"] == rate for r in shipped().rows("cloud_rates")):
        rate = min(shipped().rows("cloud_rates"), key=lambda r: r["rate_hour"])["rate"]
    found = gx.risk(rate=rate, draws=20_000)
    assert wins[0] <= found.own_wins <= wins[1]


def test_owning_and_renting_tie_at_break_even() -> None:
    """At the break-even use the typical saving is 0, and with symmetric ranges owning wins about half of the draws."""
    even = gx.cash_flow(WORKLOAD, BUILD).rent.even_use
    found = gx.risk(WORKLOAD, BUILD, draws=200_000, options={"utilization": even}, catalog=symmetric(0.1))
    assert found.outcomes["saved_eur"]["typical"] == pytest.approx(0, abs=1e-6)
    assert found.own_wins == pytest.approx(0.5, abs=0.02)


def test_draws_come_from_the_equations() -> None:
    """A handful of draws, one by one through the public function."""
    rows = gx.risk(WORKLOAD, BUILD, draws=3, seed=11)
    generator = np.random.default_rng(11)
    drawn = {r.name: generator.triangular(r.low, r.typical, r.high, 3) for r in rows.ranges}
    costs = []
    for i in range(3):
        options = {n: float(v[i]) for n, v in drawn.items() if n not in ("price_eur", "output_tok_s", "utilization", "rate_hour")}
        price, use = float(drawn["price_eur"][i]), float(drawn["utilization"][i])
        costs.append(4 * gx.tco3y("RTX PRO 6000 Server", utilization=use, price=price, options=options))
    assert rows.outcomes["build_tco_eur"]["p50"] == pytest.approx(sorted(costs)[1], rel=1e-12)
    assert rows.outcomes["build_tco_eur"]["mean"] == pytest.approx(sum(costs) / 3, rel=1e-12)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"draws": 0}, "draws is 0"),
        ({"draws": 1.5}, "whole number"),
        ({"seed": -1}, "seed is -1"),
        ({"build": "no such"}, "build 'no such'"),
        ({"options": "case=low"}, "option case"),
        ({"options": "currency=USD"}, "option currency"),
        ({"options": "utilization=0"}, "utilization is 0"),
    ],
)
def test_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(gx.GpueconError, match=message):
        gx.risk(**more)
