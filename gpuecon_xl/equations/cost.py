"""Cost of tokens: owned, rented, bought through an API.

Here: pure functions. Every cost says which tokens: output, or all (input and output).
Not here: total cost of ownership (`tco`), break-even (`breakeven`).
"""

from __future__ import annotations

from gpuecon_xl.quantity import Num, quantity
from gpuecon_xl.units import HOURS_MONTH, KILO, MEGA, MONTHS_YEAR, SECONDS_HOUR


@quantity("1e6 output tokens", "output_tok_s · utilization · horizon_h · 3,600 / 1e6")
def tokens_served_m(output_tok_s: Num, utilization: Num, horizon_h: Num) -> Num:
    """Output tokens of the whole build over the horizon, in millions.

    Source: Tokens pro Sekunde pro Euro, Kentino Wiki, 2026-05 (L4 at 650 tok/s: 36.9 billion).
    """
    return output_tok_s * utilization * horizon_h * SECONDS_HOUR / MEGA


@quantity("EUR/1e6 output tokens", "tco_eur · gpus / tokens_served_m")
def cost_eur_mtok(tco_eur: Num, gpus: Num, tokens_served_m: Num) -> Num:
    """Own cost of a million output tokens.

    Source: Kentino Wiki, 2026-05 (L4: 0.12 EUR).
    """
    return tco_eur * gpus / tokens_served_m


@quantity("EUR/1e6 output tokens", "(tco_fixed_eur · utilization + tco_per_use_eur · utilization) · gpus / tokens_served_m")
def usage_cost_mtok(tco_fixed_eur: Num, tco_per_use_eur: Num, utilization: Num, gpus: Num, tokens_served_m: Num) -> Num:
    """Cost of a million output tokens when they bear the hours that they take, and no idle ones.

    Source: cost by usage; that at full use.
    """
    return (tco_fixed_eur + tco_per_use_eur) * utilization * gpus / tokens_served_m


@quantity("EUR/1e6 output tokens", "tco_fixed_eur · (1 - utilization) · gpus / tokens_served_m")
def idle_cost_mtok(tco_fixed_eur: Num, utilization: Num, gpus: Num, tokens_served_m: Num) -> Num:
    """Cost of the idle hours for each million output tokens; with `usage_cost_mtok` it is the allocated cost, `cost_eur_mtok`.

    Source: fixed cost of the hours without work.
    """
    return tco_fixed_eur * (1 - utilization) * gpus / tokens_served_m


@quantity("money/1e6 tokens", "rate_hour / (tok_s · 3,600) · 1e6")
def rent_cost_mtok(rate_hour: Num, tok_s: Num) -> Num:
    """Cost of a million tokens on a rented card that is always busy.

    Source: USD je Million Tokens, LowCostGPU, 2026-10.
    """
    return rate_hour / (tok_s * SECONDS_HOUR) * MEGA


@quantity("money", "rate_hour · horizon_h")
def rent_horizon(rate_hour: Num, horizon_h: Num) -> Num:
    """Rent of one card over the horizon, day and night.

    Source: Kentino Wiki, 2026-05 (12.29 an hour: 323,000).
    """
    return rate_hour * horizon_h


@quantity("money/1e6 tokens (in and out)", "price_in · (1 - output_share) + price_out · output_share")
def blended_price_mtok(price_in_mtok: Num, price_out_mtok: Num, output_share: Num) -> Num:
    """Price of a million tokens of an API, input and output blended.

    Source: Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09: 30 % output.
    """
    return price_in_mtok * (1 - output_share) + price_out_mtok * output_share


@quantity("money/1e6 tokens (in and out)", "cost_eur_mtok · output_share")
def cost_all_tokens_mtok(cost_eur_mtok: Num, output_share: Num) -> Num:
    """Own cost of a million tokens, input and output counted, to set beside an API's blended price.

    Source: a share `output_share` of all tokens is output.
    """
    return cost_eur_mtok * output_share


@quantity("money/month", "price · card_to_server / months_written_off + electricity of a month")
def own_cost_month(
    price: Num,
    card_to_server: Num,
    months_written_off: Num,
    tdp_w: Num,
    utilization: Num,
    electricity_kwh: Num,
) -> Num:
    """Monthly cost of one owned card: server written off by month, and its electricity.

    Parameters
    ----------
    card_to_server : price of a whole server over that of its cards [1].
    months_written_off : [month].  electricity_kwh : [money/kWh], no PUE, as the source has it.

    Source: Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09 (8,500 · 1.8 / 36 + 76.65 = about 502).
    """
    return price * card_to_server / months_written_off + tdp_w / KILO * utilization * HOURS_MONTH * electricity_kwh


@quantity("money/1e6 tokens", "own_cost_month / (token_yield_g_month · 1,000)")
def own_cost_month_mtok(own_cost_month: Num, token_yield_g_month: Num) -> Num:
    """Cost of a million tokens from monthly cost and monthly yield.

    Source: Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09.
    """
    return own_cost_month / (token_yield_g_month * KILO)


@quantity("1", "own / api - 1")
def verdict(own_mtok: Num, api_mtok: Num) -> Num:
    """Own cost against an API's price: -0.9 says that owning costs 90 % less.

    Source: Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09.
    """
    return own_mtok / api_mtok - 1


@quantity("token/s per 1,000 EUR", "output_tok_s / (price_eur · gpus) · 1,000")
def tok_s_per_keur(output_tok_s: Num, price_eur: Num, gpus: Num) -> Num:
    """Throughput for each thousand euro of card price.

    Source: GPU-Auswahl für KI-Workloads, Kentino Wiki, 2026-05.
    """
    return output_tok_s / (price_eur * gpus) * KILO


@quantity("token/s per W", "output_tok_s / (tdp_w · gpus)")
def tok_s_per_w(output_tok_s: Num, tdp_w: Num, gpus: Num) -> Num:
    """Throughput for each watt of rated power.

    Source: GPU-Auswahl für KI-Workloads, Kentino Wiki, 2026-05.
    """
    return output_tok_s / (tdp_w * gpus)


@quantity("EUR/year", "tco_eur · gpus / horizon_years")
def cost_eur_year(tco_eur: Num, gpus: Num, horizon_years: Num) -> Num:
    """Total cost of the build spread over the years.

    Source: definition.
    """
    return tco_eur * gpus / horizon_years


@quantity("EUR/month", "tco_eur · gpus / (horizon_years · 12)")
def cost_eur_month(tco_eur: Num, gpus: Num, horizon_years: Num) -> Num:
    """Total cost of the build spread over the months.

    Source: definition.
    """
    return tco_eur * gpus / (horizon_years * MONTHS_YEAR)
