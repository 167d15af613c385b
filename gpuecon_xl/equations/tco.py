"""Total cost of ownership of one card over the horizon.

Here: pure functions; money per GPU in the currency of the inputs, net of VAT. Costs are positive.
Not here: cost per token (`cost`), renting against owning (`breakeven`), loan and months (`finance`).
Source of the model: Tokens pro Sekunde pro Euro, Kentino Wiki, 2026-05. The formula box there leaves PUE out, its
tables have it; the tables are right. Everything that the text does not have is an input that is 0 by default.
"""

from __future__ import annotations

from gpuecon_xl.ops import equal, where
from gpuecon_xl.quantity import Num, quantity
from gpuecon_xl.units import HOURS_YEAR, KILO, MONTHS_YEAR


@quantity("EUR", 'currency = "USD" ? price / usd_per_eur : price')
def price_eur(price: Num, currency: Num, usd_per_eur: Num) -> Num:
    """Price of one card in euro.

    Source: ``catalog/prices.csv`` and the dated rate in ``catalog/assumptions.csv``.
    """
    return where(equal(currency, "USD"), price / usd_per_eur, price)


@quantity("W", "tdp_w · (idle_share + utilization · (1 - idle_share)) + host_w_gpu")
def mean_power_w(tdp_w: Num, utilization: Num, idle_share: Num, host_w_gpu: Num) -> Num:
    """Mean power of one card and its share of the host.

    Parameters
    ----------
    idle_share : idle power over rated power; 0 by default, as in the source [1].
    host_w_gpu : power of processors, fans and memory for each card; 0 by default, as in the source [W].

    Source: Kentino Wiki, 2026-05: rated power times utilisation.
    """
    return tdp_w * (idle_share + utilization * (1 - idle_share)) + host_w_gpu


@quantity("h", "8,760 · horizon_years")
def horizon_h(horizon_years: Num) -> Num:
    """Hours of the horizon.

    Source: a year of 8,760 hours.
    """
    return HOURS_YEAR * horizon_years


@quantity("EUR", "mean_power_w / 1,000 · horizon_h · electricity_eur_kwh · pue")
def electricity_eur(mean_power_w: Num, horizon_h: Num, electricity_eur_kwh: Num, pue: Num) -> Num:
    """Electricity of one card over the horizon, cooling and distribution included.

    Source: Kentino Wiki, 2026-05 (L4 318, L40 1,325, RTX 5090 2,540, PRO 6000 2,650 EUR).
    """
    return mean_power_w / KILO * horizon_h * electricity_eur_kwh * pue


@quantity("EUR", "price_eur · maintenance_share_year · horizon_years")
def maintenance_eur(price_eur: Num, maintenance_share_year: Num, horizon_years: Num) -> Num:
    """Maintenance and spares of one card over the horizon.

    Source: Kentino Wiki, 2026-05: about 5 % of the card's price a year.
    """
    return price_eur * maintenance_share_year * horizon_years


@quantity("EUR", "(colo + licence + staff) · horizon_years")
def running_eur(colo_eur_year: Num, licence_eur_gpu_year: Num, staff_eur_gpu_year: Num, horizon_years: Num) -> Num:
    """Space, licences and staff of one card over the horizon; 0 unless given.

    Source: Kentino Wiki, 2026-05 names the share of rack space; licences and staff are the user's.
    """
    return (colo_eur_year + licence_eur_gpu_year + staff_eur_gpu_year) * horizon_years


@quantity("EUR", "price_eur · failure_share_year · horizon_years")
def spares_eur(price_eur: Num, failure_share_year: Num, horizon_years: Num) -> Num:
    """Replacement of cards that fail, for one card over the horizon; 0 unless given.

    Source: the user's failure rate; a failed card is bought anew at its price.
    """
    return price_eur * failure_share_year * horizon_years


@quantity("EUR", "(tdp_w + host_w_gpu) / 1,000 · hosting_eur_kw_month · 12 · horizon_years")
def hosting_eur(tdp_w: Num, host_w_gpu: Num, hosting_eur_kw_month: Num, horizon_years: Num) -> Num:
    """Hosting that is charged by rated power, for one card over the horizon; 0 unless given.

    Source: the user's contract.
    """
    return (tdp_w + host_w_gpu) / KILO * hosting_eur_kw_month * MONTHS_YEAR * horizon_years


@quantity("EUR", "price_eur · (residual_share + resale_share)")
def residual_eur(price_eur: Num, residual_share: Num, resale_share: Num) -> Num:
    """Value of one card at the end of the horizon, as a share or by a curve; 0 unless given.

    Source: the user's; counted as income.
    """
    return price_eur * (residual_share + resale_share)


@quantity("EUR", "price_eur + chassis_eur_gpu")
def capex_eur(price_eur: Num, chassis_eur_gpu: Num) -> Num:
    """Purchase of one card and its share of the chassis.

    Source: Kentino Wiki, 2026-05: 1,000 EUR of chassis for each card.
    """
    return price_eur + chassis_eur_gpu


@quantity("EUR", "capex_eur + electricity_eur + maintenance_eur + running_eur + spares_eur + hosting_eur + interest_eur - residual_eur")
def tco_eur(
    capex_eur: Num,
    electricity_eur: Num,
    maintenance_eur: Num,
    running_eur: Num,
    spares_eur: Num,
    hosting_eur: Num,
    interest_eur: Num,
    residual_eur: Num,
) -> Num:
    """Total cost of ownership of one card over the horizon.

    Source: Kentino Wiki, 2026-05 (PRO 6000 Server 14,400 EUR, eight of them 115,000 EUR).
    """
    return capex_eur + electricity_eur + maintenance_eur + running_eur + spares_eur + hosting_eur + interest_eur - residual_eur


@quantity("EUR", "(tdp_w · idle_share + host_w_gpu) / 1,000 · horizon_h · electricity_eur_kwh · pue")
def electricity_idle_eur(tdp_w: Num, idle_share: Num, host_w_gpu: Num, horizon_h: Num, electricity_eur_kwh: Num, pue: Num) -> Num:
    """Electricity of one card over the horizon that is drawn whether it works or not.

    Source: `electricity_eur` at utilisation 0.
    """
    return (tdp_w * idle_share + host_w_gpu) / KILO * horizon_h * electricity_eur_kwh * pue


@quantity("EUR", "capex_eur + maintenance_eur + running_eur + spares_eur + hosting_eur + interest_eur - residual_eur + electricity_idle_eur")
def tco_fixed_eur(
    capex_eur: Num,
    maintenance_eur: Num,
    running_eur: Num,
    spares_eur: Num,
    hosting_eur: Num,
    interest_eur: Num,
    residual_eur: Num,
    electricity_idle_eur: Num,
) -> Num:
    """The part of the total cost that does not depend on use.

    Source: `tco_eur` at utilisation 0.
    """
    return capex_eur + maintenance_eur + running_eur + spares_eur + hosting_eur + interest_eur - residual_eur + electricity_idle_eur


@quantity("EUR", "tdp_w · (1 - idle_share) / 1,000 · horizon_h · electricity_eur_kwh · pue")
def tco_per_use_eur(tdp_w: Num, idle_share: Num, horizon_h: Num, electricity_eur_kwh: Num, pue: Num) -> Num:
    """The part of the total cost that grows with use, at full use.

    Source: `tco_eur` at utilisation 1 less that at 0.
    """
    return tdp_w * (1 - idle_share) / KILO * horizon_h * electricity_eur_kwh * pue
