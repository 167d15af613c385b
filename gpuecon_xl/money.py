"""Money of owning and renting: prices of the catalogue put into the equations.

Here: price, currency, assumptions, total cost of ownership, break-even. Not here: the equations (``equations/``),
throughput (`throughput`), broadcasting and the public signatures (`functions`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuecon_xl import graph
from gpuecon_xl.catalog import Catalog
from gpuecon_xl.errors import BadValue, NameNotFound
from gpuecon_xl.throughput import check_number

# Assumptions in euro; a call in dollars turns them at the dated rate.
_EURO = ("electricity_eur_kwh", "chassis_eur_gpu", "colo_eur_year", "licence_eur_gpu_year", "staff_eur_gpu_year", "hosting_eur_kw_month")
TCO_INPUTS = ("utilization", "pue", "maintenance_share_year", "horizon_years", "residual_share", "idle_share", "host_w_gpu",
              "failure_share_year", "loan_share", "loan_rate_year", "resale_start_share", "resale_decline_year", *_EURO)  # fmt: skip
TCO_OUTPUTS = ("tco_eur", "tco_fixed_eur", "tco_per_use_eur", "horizon_h")
# Assumptions with a range that `case` moves: those that make owning dearer as they grow, and those that make it cheaper.
# The horizon is a choice, not a range; what is 0 is off and stays off.
DEARER = ("electricity_eur_kwh", "pue", "chassis_eur_gpu", "maintenance_share_year", "colo_eur_year", "licence_eur_gpu_year", "staff_eur_gpu_year",
          "idle_share", "host_w_gpu", "hosting_eur_kw_month", "failure_share_year", "loan_rate_year", "resale_decline_year")  # fmt: skip
CHEAPER = ("residual_share", "resale_start_share")
_ARGUMENTS = ("price_eur", "tdp_w", "utilization")
_FIXED = tuple(n for n in TCO_INPUTS if n != "utilization")
RENT_WINS = "rent always wins"


def price_of(catalog: Catalog, gpu: Mapping[str, Any], case: str, currency: str, usd_per_eur: float) -> float:
    """Purchase price of one card, net, in the currency asked.

    Raises
    ------
    BadValue
        When the catalogue has no sourced price: no source, no price.
    """
    try:
        row = catalog.find("prices", gpu["gpu"])
    except NameNotFound:
        row = {}
    value, source = row.get(case), row.get("source")
    if value is None and case != "typical":
        value = row.get("typical")
    if value is None or not source:
        raise BadValue(f"{gpu['gpu']} has no sourced price in the catalogue; give price, or a row with source in the Prices table")
    return convert(float(value), str(row.get("currency") or "EUR"), currency, usd_per_eur)


def convert(value: float, have: str, want: str, usd_per_eur: float) -> float:
    """A sum in another currency, at the dated rate."""
    if have == want:
        return value
    return value * usd_per_eur if want == "USD" else value / usd_per_eur


def rate_of_case(offer: Mapping[str, Any], case: str) -> float:
    """Rent per card and hour in a case of owning against renting, in the offer's currency.

    In the low case owning is at its cheapest and renting at its dearest, so that a break-even of the low case is the lowest; in
    the high case it is the other way round. An offer without a range has one rate.
    """
    rate = float(offer["rate_hour"])
    low, high = (offer.get(c) for c in ("rate_low", "rate_high"))
    if case == "low" and high is not None:
        return max(rate, float(high))
    if case == "high" and low is not None:
        return min(rate, float(low))
    return rate


def end_of_range(catalog: Catalog, name: str, higher: bool) -> float:
    """The lower or higher end of an assumption's range, never on the other side of its value; 0 is off and stays off."""
    rows = catalog.memo.get("assumption_rows")
    if rows is None:
        rows = catalog.memo["assumption_rows"] = {r["name"]: r for r in catalog.rows("assumptions")}
    value = float(catalog.assumption(name))
    bound: float | None = rows.get(name, {}).get("high" if higher else "low")
    if value == 0 or bound is None:
        return value
    return max(value, bound) if higher else min(value, bound)


def in_case(catalog: Catalog, name: str, case: str) -> float:
    """An assumption as the low, typical or high case of the cost of owning has it."""
    if case == "typical" or name not in DEARER + CHEAPER:
        return float(catalog.assumption(name))
    return end_of_range(catalog, name, (case == "high") == (name in DEARER))


def tco_values(catalog: Catalog, options: Mapping[str, Any], currency: str) -> dict[str, float]:
    """Assumptions of the total cost, in the currency and the case of the call; euro sums given as options are in that currency."""
    case = options.get("case", "typical")
    key = ("tco", currency, case, tuple(sorted((k, v) for k, v in options.items() if k in TCO_INPUTS or k == "usd_per_eur")))
    found = catalog.memo.get(key)
    if found is None:
        rate = options.get("usd_per_eur", catalog.assumption("usd_per_eur"))
        found = {}
        for name in TCO_INPUTS:
            value = options.get(name)
            if value is None:
                value = in_case(catalog, name, case)
                if currency == "USD" and name in _EURO:
                    value = value * rate
            found[name] = float(value)
        catalog.memo[key] = found
    return found


def tco_plan(values: Mapping[str, float], price: Any, tdp_w: Any, utilization: Any) -> tuple[Any, ...]:
    """Total cost of one card, its fixed part, its part at full use, and the hours (`TCO_OUTPUTS`); arrays allowed.

    utilization : mean over the horizon, the ramp included.
    """
    run = graph.plan(TCO_OUTPUTS, (*_ARGUMENTS, *_FIXED))
    return run(price, tdp_w, utilization, *(values[n] for n in _FIXED))


def check_price(price: Any) -> float:
    """A price given by the caller; 0 says already owned."""
    return check_number(price, "price")
