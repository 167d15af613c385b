"""Break-even: from which use on owning is cheaper than renting or an API.

Here: pure functions. Not here: the costs themselves (`tco`, `cost`).
"""

from __future__ import annotations

from gpuecon_xl.ops import both, maximum, where
from gpuecon_xl.quantity import Num, quantity
from gpuecon_xl.units import HOURS_MONTH, KILO, MEGA, SECONDS_HOUR, TINY


@quantity("money", "rate_hour · horizon_h · rel")
def rent_per_use(rate_hour: Num, horizon_h: Num, rel: Num) -> Num:
    """Rent, at full use, of the hours that give as many tokens as the owned card.

    Parameters
    ----------
    rel : tokens per hour of the owned card over the rented one [1].

    Source: Tokens pro Sekunde pro Euro, Kentino Wiki, 2026-05.
    """
    return rate_hour * horizon_h * rel


@quantity("1", "tco_fixed_eur / (rent_per_use - tco_per_use_eur); below 0 or above 1: renting always wins")
def breakeven_use(tco_fixed_eur: Num, tco_per_use_eur: Num, rent_per_use: Num) -> Num:
    """Utilisation at which owning costs what renting the used hours costs; -1 when renting always wins.

    own(U) = fixed + per_use · U and rent(U) = rent_per_use · U meet at U*.

    Source: exact form of Kentino Wiki, 2026-05.
    """
    margin = rent_per_use - tco_per_use_eur
    use = tco_fixed_eur / where(margin > 0, margin, 1)
    return where(both(margin > 0, use <= 1), use, -1)


@quantity("1", "tco_eur / rent_per_use; above 1: renting always wins")
def breakeven_use_stated(tco_eur: Num, rent_per_use: Num) -> Num:
    """Utilisation at which renting costs the total cost at the assumed use; -1 when renting always wins.

    Source: Kentino Wiki, 2026-05: 14,400 / (1.80 · 26,280 · 0.65) = 0.47, "about 50 %".
    """
    use = tco_eur / rent_per_use
    return where(use <= 1, use, -1)


@quantity("month", "outlay / (rate_hour · 730 - electricity of a month)")
def payback_months(outlay: Num, rate_hour: Num, electricity_month: Num) -> Num:
    """Months after which an outlay is repaid by rent not paid, day and night; -1 when never.

    Source: Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09 (8,500 against 2.20 an hour: 5.3 months).
    """
    saved = rate_hour * HOURS_MONTH - electricity_month
    return where(saved > 0, outlay / where(saved > 0, saved, 1), -1)


@quantity("money/month", "tdp_w / 1,000 · hours_month · electricity_kwh")
def electricity_month(tdp_w: Num, hours_month: Num, electricity_kwh: Num) -> Num:
    """Electricity of one card that works day and night for a month.

    Source: Inferenzrechner, 2026-09 (700 W, 720 h, 0.25: 504 kWh, 126 EUR).
    """
    return tdp_w / KILO * hours_month * electricity_kwh


@quantity("1e9 token/month", "own_cost_month / api_mtok / 1,000")
def breakeven_tokens_g_month(own_cost_month: Num, api_mtok: Num) -> Num:
    """Tokens a month, in billions, from which the monthly cost of owning is below an API's price.

    Source: own monthly cost over the blended price.
    """
    return own_cost_month / maximum(api_mtok, TINY) / KILO


@quantity("money/month", "base · reserved + burst · on-demand")
def base_and_burst_month(base_cards: Num, reserved_rate: Num, burst_card_hours: Num, on_demand_rate: Num) -> Num:
    """Monthly rent of reserved cards for the base load and on-demand hours for the peaks.

    Source: USD je Million Tokens, LowCostGPU, 2026-10.
    """
    return base_cards * reserved_rate * HOURS_MONTH + burst_card_hours * on_demand_rate


@quantity("EUR/1e6 output tokens", "tco_per_use over the tokens of full use")
def running_cost_mtok(tco_per_use_eur: Num, output_tok_s: Num, horizon_h: Num, gpus: Num) -> Num:
    """Cost of one more million output tokens on cards that are already paid: electricity alone.

    Source: marginal cost.
    """
    return tco_per_use_eur * gpus / (output_tok_s * horizon_h * SECONDS_HOUR) * MEGA
