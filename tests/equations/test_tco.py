"""Total cost: the published figures to the printed digits, parts that add up, zeros."""

from __future__ import annotations

import numpy as np
import pytest

from gpuecon_xl.equations import finance as f
from gpuecon_xl.equations import tco as t


@pytest.mark.parametrize(("watt", "euro"), [(72, 317.88), (300, 1324.51), (575, 2538.65), (600, 2649.02)])
def test_published_electricity(watt: float, euro: float) -> None:
    """Tokens pro Sekunde pro Euro, Kentino Wiki, 2026-05: 60 % use, 0.20 EUR/kWh, PUE 1.4, three years."""
    got = t.electricity_eur(t.mean_power_w(watt, 0.6, 0, 0), t.horizon_h(3), 0.20, 1.4)
    assert got == pytest.approx(euro, abs=0.005)


def _tco(price: float, watt: float, use: float, **more: float) -> tuple[float, float, float]:
    v = {"idle": 0.0, "tariff": 0.2, "pue": 1.4, "chassis": 1000.0, "maintenance": 0.05, "years": 3.0}
    v |= {"host": 0.0, "colo": 0.0, "licence": 0.0, "staff": 0.0, "residual": 0.0}
    v |= {"failures": 0.0, "kw_month": 0.0, "loan": 0.0, "rate": 0.0, "resale_start": 0.0, "decline": 0.0}
    v |= more
    hours = t.horizon_h(v["years"])
    capex = t.capex_eur(price, v["chassis"])
    maintenance = t.maintenance_eur(price, v["maintenance"], v["years"])
    running = t.running_eur(v["colo"], v["licence"], v["staff"], v["years"])
    residual = t.residual_eur(price, v["residual"], f.resale_share(v["resale_start"], v["decline"], v["years"]))
    months = f.horizon_months(v["years"])
    more = (
        t.spares_eur(price, v["failures"], v["years"]),
        t.hosting_eur(watt, v["host"], v["kw_month"], v["years"]),
        f.interest_eur(capex, v["loan"], f.crf_month(v["rate"], months), months),
    )
    idle = t.electricity_idle_eur(watt, v["idle"], v["host"], hours, v["tariff"], v["pue"])
    electricity = t.electricity_eur(t.mean_power_w(watt, use, v["idle"], v["host"]), hours, v["tariff"], v["pue"])
    return (
        t.tco_eur(capex, electricity, maintenance, running, *more, residual),
        t.tco_fixed_eur(capex, maintenance, running, *more, residual, idle),
        t.tco_per_use_eur(watt, v["idle"], hours, v["tariff"], v["pue"]),
    )


def test_published_total() -> None:
    """Same text: a PRO 6000 Server about 14,400 EUR, eight about 115,000 EUR (implied price 9,349 EUR)."""
    got = _tco(9349, 600, 0.6)[0]
    assert got == pytest.approx(14_400, abs=1)
    assert got * 8 == pytest.approx(115_000, rel=0.005)


def test_published_total_of_an_l4() -> None:
    """Same text: 4,428 EUR (implied price 2,704 EUR)."""
    assert _tco(2704, 72, 0.6)[0] == pytest.approx(4428, abs=1)


@pytest.mark.parametrize("use", [0, 0.3, 0.6, 1])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"idle": 0.2, "host": 80.0, "residual": 0.1, "colo": 300.0, "licence": 1000.0, "staff": 50.0},
        {"failures": 0.03, "kw_month": 120.0, "loan": 0.7, "rate": 0.06, "resale_start": 0.8, "decline": 0.3},
    ],
)
def test_fixed_and_per_use_are_the_total(use: float, more: dict[str, float]) -> None:
    total, fixed, per_use = _tco(5000, 350, use, **more)
    assert fixed + per_use * use == pytest.approx(total, rel=1e-12)
    assert fixed == pytest.approx(_tco(5000, 350, 0, **more)[0])


def test_everything_optional_is_zero() -> None:
    assert t.running_eur(0, 0, 0, 3) == 0
    assert t.residual_eur(5000, 0, 0) == 0
    assert t.spares_eur(5000, 0, 3) == t.hosting_eur(600, 50, 0, 3) == 0
    assert t.maintenance_eur(0, 0.05, 3) == 0
    assert t.electricity_eur(300, 26_280, 0, 1.4) == 0
    assert _tco(0, 0, 0)[0] == 1000


def test_optional_parts_count() -> None:
    assert t.running_eur(100, 20, 3, 3) == 369
    assert t.residual_eur(5000, 0.2, 0) == t.residual_eur(5000, 0, 0.2) == 1000
    assert t.spares_eur(5000, 0.02, 3) == pytest.approx(300)
    assert t.hosting_eur(600, 150, 200, 3) == pytest.approx(0.75 * 200 * 36)
    assert _tco(5000, 300, 0.6, residual=0.2)[0] == pytest.approx(_tco(5000, 300, 0.6)[0] - 1000)


def test_idle_power() -> None:
    assert t.mean_power_w(600, 0.6, 0, 0) == pytest.approx(360)
    assert t.mean_power_w(600, 0, 0.1, 0) == pytest.approx(60)
    assert t.mean_power_w(600, 1, 0.1, 0) == pytest.approx(600)
    assert t.mean_power_w(600, 0.5, 0.1, 0) == pytest.approx(60 + 0.5 * 540)


def test_currency() -> None:
    assert t.price_eur(1160, "USD", 1.16) == pytest.approx(1000)
    assert t.price_eur(1160, "EUR", 1.16) == 1160
    assert t.price_eur(np.array([116.0, 116.0]), np.array(["USD", "EUR"]), 1.16).tolist() == pytest.approx([100, 116])
