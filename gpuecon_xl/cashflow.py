"""Owning, renting and an API month by month for one build: what it is worth today, its return, when it has paid.

Here: the equations of `equations.finance` put together over the months, as the sheet Cash-flow does.
Not here: the equations, the sheet (`sheets.finance`), the total cost alone (`functions.tco3y`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gpuecon_xl import graph, money
from gpuecon_xl.equations.breakeven import breakeven_use, rent_per_use
from gpuecon_xl.equations.cost import tokens_served_m
from gpuecon_xl.equations.finance import (
    api_month_eur,
    interest_month_eur,
    irr_year,
    loan_left,
    own_month_eur,
    price_left,
    rent_month_eur,
    saved_month_eur,
)
from gpuecon_xl.equations.tco import price_eur
from gpuecon_xl.errors import BadValue
from gpuecon_xl.functions import _Call, _tokps_call, _use
from gpuecon_xl.ops import DECIMALS, irr, sum_product
from gpuecon_xl.throughput import check_number
from gpuecon_xl.units import MONTHS_YEAR

_SUMS = ("capex_eur", "electricity_eur", "maintenance_eur", "running_eur", "spares_eur", "hosting_eur", "interest_eur", "residual_eur", "tco_eur",
         "tco_fixed_eur", "electricity_idle_eur", "tco_per_use_eur")  # fmt: skip
_RATES = ("horizon_months", "horizon_h", "crf_month", "wacc_year")
_GIVEN = ("pue", "maintenance_share_year", "horizon_years", "residual_share", "idle_share", "host_w_gpu", "failure_share_year", "loan_share",
          "loan_rate_year", "resale_start_share", "resale_decline_year", "electricity_eur_kwh", "chassis_eur_gpu", "colo_eur_year",
          "licence_eur_gpu_year", "staff_eur_gpu_year", "hosting_eur_kw_month", "ramp_months", "tax_rate", "equity_return_year",
          "months_written_off")  # fmt: skip
_OF_MONTH = ("month_from", "month_to", "use_months", "outlay_month_eur", "electricity_month_eur", "upkeep_month_eur", "resale_month_eur",
             "depreciation_month_eur", "tax_shield_eur", "own_after_tax_eur", "own_by_use_eur", "discount_factor")  # fmt: skip


@dataclass(frozen=True)
class Against:
    """Owning instead of another way: worth today [EUR], yearly return, month in which it has paid, break-even use.

    irr_year and payback_month are None when there is none in the horizon; even_use is None when the other way always wins
    or is paid whether used or not.
    """

    npv_eur: float
    irr_year: float | None
    payback_month: int | None
    even_use: float | None


@dataclass(frozen=True)
class CashFlow:
    """The months of a build: columns by name, the purchase first; sums over the horizon; owning against rent and API."""

    months: Mapping[str, list[float]]
    tco_eur: float
    present_eur: float
    rent: Against
    api: Against


def cash_flow(
    workload: str,
    build: str,
    rate: str | None = None,
    api: str | None = None,
    fx: Iterable[tuple[dt.date, float]] = (),
    options: Any = None,
    catalog: Any = None,
) -> CashFlow:
    """Owning, renting and an API month by month, in euro; everything beyond the published model is off by default.

    Parameters
    ----------
    workload, build : names in the catalogue.  rate, api : offers compared with; None are the assumptions' own.
    fx : dollars for a euro from a day on; before the first one, and without any, the assumption `usd_per_eur` holds.
    options : assumptions to replace, and `tok_s` (else that of the fastest layout), as in `functions.tokps`; `case` moves price,
        assumptions and rent (`money.rate_of_case`), not use and tok/s.

    Raises
    ------
    GpueconError
        For a name that is not in the catalogue, a card without a sourced price, a model that does not fit.
    """
    call = _Call(options, catalog)
    held = call.catalog
    load, server = held.find("workloads", workload), held.find("builds", build)
    offer = held.find("cloud_rates", rate or held.assumption("compare_rate"))
    other = held.find("api_prices", api or held.assumption("compare_api"))
    use = _use(call, None, True)
    tok_s = check_number(tok_s_of_build(call, load, server), "tok_s", positive=True)
    basis, rates, given = _basis(call, server, use)
    euro, hours, months = call.number("usd_per_eur"), rates["horizon_h"], rates["horizon_months"]
    hourly = money.rate_of_case(offer, call.get("case", "typical"))
    rented = rent_per_use(price_eur(hourly, offer["currency"], euro) * server["gpus"], hours, call.number("rel_stated"))
    per_mtok = price_eur(other["price_out_mtok"] + other["price_in_mtok"] * load["input_tokens"] / load["output_tokens"], other["currency"], euro)
    bought = per_mtok * tokens_served_m(tok_s, 1, hours)
    known = {**given, **basis, **rates, "utilization": use}
    run = graph.plan(_OF_MONTH, ("month", *known))
    erosion = {"rent": call.number("cloud_erosion_year"), "api": call.number("api_erosion_year")}
    table: dict[str, list[float]] = {}
    dated = sorted(fx)
    month = 0
    while month < months + 1:
        row = dict(zip(_OF_MONTH, run(month, *known.values()), strict=True))
        start, end = row["month_from"], row["month_to"]
        left = [loan_left(given["loan_rate_year"], at, months) for at in (start, end)]
        row["interest_month_eur"] = interest_month_eur(basis["capex_eur"], given["loan_share"], rates["crf_month"], start, end, *left)
        row["own_month_eur"] = own_month_eur(*(row[f"{p}_month_eur"] for p in ("outlay", "electricity", "upkeep", "interest", "resale")))
        day = _month_start(held.assumption("as_of"), month)
        changed = euro / next((r for d, r in reversed(dated) if d <= day), euro)
        price = {
            w: price_left(e, start) * (changed if o["currency"] == "USD" else 1) for (w, e), o in zip(erosion.items(), (offer, other), strict=True)
        }
        row["rent_month_eur"] = rent_month_eur(rented, offer["term"], use, row["use_months"], start, end, months, price["rent"])
        row["api_month_eur"] = api_month_eur(bought, use, row["use_months"], months, price["api"])
        for way in ("rent", "api"):
            row[f"saved_{way}_eur"] = saved_month_eur(row[f"{way}_month_eur"], row["own_after_tax_eur"], given["tax_rate"])
        for name, value in row.items():
            table.setdefault(name, []).append(float(value))
        month += 1
    present = sum_product(table["own_after_tax_eur"], table["discount_factor"])
    against = {w: _against(table, w, use, given["tax_rate"], w == "rent" and offer["term"] == "reserved") for w in ("rent", "api")}
    return CashFlow(table, basis["tco_eur"], present, against["rent"], against["api"])


def tok_s_of_build(call: _Call, load: Mapping[str, Any], server: Mapping[str, Any]) -> float:
    """Output tokens per second of the workload on the build, or the option."""
    call.options.setdefault("input_tokens", load["input_tokens"])
    call.options.setdefault("output_tokens", load["output_tokens"])
    for key, value in (("kv", load["kv"]), ("tp", int(server["tp_wanted"] or 0)), ("pp", int(server["pp_wanted"] or 0))):
        if value:
            call.options.setdefault(key, value)
    context = load["input_tokens"] + load["output_tokens"]
    return _tokps_call(call, load["model"], server["gpu"], load["precision"], load["batch"], context, int(server["gpus"]))


def _basis(call: _Call, server: Mapping[str, Any], use: float) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Sums of the whole build over the horizon, rates, and the assumptions behind them."""
    card = call.catalog.find("gpus", server["gpu"])
    case = call.get("case", "typical")
    price = money.price_of(call.catalog, card, case, "EUR", call.number("usd_per_eur"))
    given = {n: call.number(n) if n in call.options else money.in_case(call.catalog, n, case) for n in _GIVEN}
    if server["chassis_wanted_eur"] and call.get("chassis_eur_gpu") is None:
        given["chassis_eur_gpu"] = float(server["chassis_wanted_eur"])
    inputs = {"price_eur": price, "tdp_w": card["tdp_w"], **given}
    ramp = graph.plan(("ramp_share",), tuple(inputs))(*inputs.values())[0]
    inputs["utilization"] = use * ramp
    names = (*_SUMS, *_RATES)
    found = dict(zip(names, graph.plan(names, tuple(inputs))(*inputs.values()), strict=True))
    return {n: found[n] * server["gpus"] for n in _SUMS}, {n: found[n] for n in _RATES}, given


def _month_start(day: Any, months: int) -> dt.date:
    """The first day of the month that comes `months` after that of a day."""
    if not isinstance(day, dt.date):
        raise BadValue(f"the assumption as_of is {day!r}; a date is due")
    years, month = divmod(day.month - 1 + months, MONTHS_YEAR)
    return dt.date(day.year + years, month + 1, 1)


def _against(table: Mapping[str, list[float]], way: str, use: float, tax_rate: float, paid_unused: bool) -> Against:
    """What owning brings against another way."""
    saved, factor = table[f"saved_{way}_eur"], table["discount_factor"]
    try:
        rate: float | None = float(irr_year(irr(saved)))
    except ValueError:
        rate = None
    total, paid = 0.0, None
    for month, flow in enumerate(saved):
        total += flow
        if paid is None and round(total, DECIMALS) >= 0:
            paid = month
    own, by_use = (sum_product(table[c], factor) for c in ("own_after_tax_eur", "own_by_use_eur"))
    other = sum_product(table[f"{way}_month_eur"], factor) * (1 - tax_rate)
    even = breakeven_use(own - by_use, by_use / use, other / use)
    return Against(sum_product(saved, factor), rate, paid, None if paid_unused or even < 0 else float(even))
