"""Many draws from the ranges of prices, assumptions, use and throughput: quantiles of the cost, how often owning wins.

Here: the draws (seeded, all at once as arrays) and what comes of them. Not here: the equations that they go through
(``equations/``), the low and high case (`gpuecon_xl.money`), files (`book`).
Each range is drawn from as a triangle: low, typical as its peak, high; independently of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpuecon_xl import graph, money
from gpuecon_xl.cashflow import tok_s_of_build
from gpuecon_xl.equations.breakeven import rent_per_use
from gpuecon_xl.equations.cost import cost_eur_mtok, tokens_served_m
from gpuecon_xl.equations.finance import mean_use, ramp_share
from gpuecon_xl.equations.tco import price_eur
from gpuecon_xl.errors import BadValue
from gpuecon_xl.functions import _Call, _setup
from gpuecon_xl.throughput import check_number

DRAWS = 1_000_000
MOST_DRAWS = 20_000_000
SEED = 1
QUANTILES = (10, 50, 90)  # per cent
BARS = 40
TAIL = 0.5  # per cent left out of the chart on each side


@dataclass(frozen=True)
class Range:
    """What was drawn from: a name, its low end, peak and high end, its unit."""

    name: str
    low: float
    typical: float
    high: float
    unit: str


@dataclass(frozen=True)
class Risk:
    """What came of the draws.

    outcomes: by name, the quantiles of `QUANTILES`, the mean and the typical case. bars: edges and shares of draws of the
    cost of a million tokens. own_wins: share of draws in which owning costs less than renting the used hours.
    """

    workload: str
    build: str
    rate: str
    draws: int
    seed: int
    as_of: str
    own_wins: float
    ranges: list[Range]
    outcomes: dict[str, dict[str, float]]
    units: dict[str, str]
    bars: list[tuple[float, float, float]] = field(repr=False)


def risk(
    workload: str | None = None,
    build: str | None = None,
    rate: str | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
    options: Any = None,
    catalog: Any = None,
) -> Risk:
    """Draw every range at once: quantiles of total cost, cost per million output tokens and saving, chance that owning wins.

    Parameters
    ----------
    workload, build, rate : names in the catalogue; None are those that the assumptions look at.
    draws : how many.  seed : the same seed gives the same draws.
    options : an assumption given here is not drawn; `tok_s` neither. Without it the throughput is that of the fastest layout.

    Raises
    ------
    GpueconError
        For a name that is not in the catalogue, a card without a sourced price, a model that does not fit, a number that
        is none.
    """
    import numpy as np

    call = _Call(options, catalog)
    held = call.catalog
    count = int(check_number(draws, "draws", positive=True, whole=True, at_most=MOST_DRAWS))
    start = int(check_number(seed, "seed", whole=True))
    if call.get("case") is not None:
        raise BadValue("option case is given; all of each range is drawn, leave it out")
    if call.get("currency", "EUR") != "EUR":
        raise BadValue("option currency is given; euro is what is drawn, leave it out")
    load = held.find("workloads", workload or held.assumption("look_at_workload"))
    server = held.find("builds", build or held.assumption("look_at_build"))
    offer = held.find("cloud_rates", rate or held.assumption("compare_rate"))
    fixed, ranges = _inputs(call, load, server, offer)
    generator = np.random.default_rng(start)
    drawn: dict[str, Any] = dict(fixed)
    for r in ranges:
        drawn[r.name] = generator.triangular(r.low, r.typical, r.high, count)
    typical = {**fixed, **{r.name: r.typical for r in ranges}}
    rel = call.number("rel_stated") if call.get("rel") is None else float(call.get("rel"))
    found, peak = (_outcomes(v, float(server["gpus"]), rel, str(offer["term"])) for v in (drawn, typical))
    outcomes = {}
    for name, values in found.items():
        values = np.broadcast_to(values, count)
        at = np.percentile(values, QUANTILES)
        quantiles = {f"p{q}": float(v) for q, v in zip(QUANTILES, at, strict=True)}
        outcomes[name] = {**quantiles, "mean": float(values.mean()), "typical": float(peak[name])}
    cost = np.broadcast_to(found["cost_eur_mtok"], count)
    ends = np.percentile(cost, (TAIL, 100 - TAIL))
    shares, edges = np.histogram(cost, bins=BARS, range=(float(ends[0]), float(ends[1])))
    bars = [(float(a), float(b), float(n) / count) for a, b, n in zip(edges[:-1], edges[1:], shares, strict=True)]
    wins = float((np.broadcast_to(found["saved_eur"], count) > 0).mean())
    units = {"build_tco_eur": "EUR", "cost_eur_mtok": "EUR/1e6 output tokens", "rent_eur": "EUR", "saved_eur": "EUR"}
    return Risk(str(load["workload"]), str(server["build"]), str(offer["rate"]), count, start, str(held.assumption("as_of")), wins, ranges, outcomes,
                units, bars)  # fmt: skip


def _inputs(call: _Call, load: Mapping[str, Any], server: Mapping[str, Any], offer: Mapping[str, Any]) -> tuple[dict[str, float], list[Range]]:
    """What stays as it is, and what is drawn."""
    held, card = call.catalog, call.catalog.find("gpus", server["gpu"])
    unit = {r["name"]: str(r["unit"] or "") for r in held.rows("assumptions")}
    fixed: dict[str, float] = {"tdp_w": card["tdp_w"], "ramp_months": call.number("ramp_months")}
    ranges: list[Range] = []

    def put(name: str, low: float, typical: float, high: float, of: str) -> None:
        low, high = min(low, typical), max(high, typical)
        if low < high:
            ranges.append(Range(name, low, typical, high, of))
        else:
            fixed[name] = typical

    low, typical, high = (money.price_of(held, card, case, "EUR", call.number("usd_per_eur")) for case in ("low", "typical", "high"))
    put("price_eur", low, typical, high, "EUR")
    for name in money.TCO_INPUTS:
        value = call.number(name)
        own_chassis = server["chassis_wanted_eur"] if name == "chassis_eur_gpu" else None
        if call.get(name) is not None or name == "horizon_years" or name not in (*money.DEARER, *money.CHEAPER, "utilization"):
            fixed[name] = value
        elif own_chassis:
            fixed[name] = float(own_chassis)
        else:
            put(name, money.end_of_range(held, name, False), value, money.end_of_range(held, name, True), unit.get(name, ""))
    if fixed.get("utilization") == 0:
        raise BadValue("utilization is 0; a share above 0 and up to 1 is due, tokens divide the cost")
    measured = call.get("tok_s") is not None
    tok_s = check_number(tok_s_of_build(call, load, server), "tok_s", positive=True)
    if measured:
        fixed["output_tok_s"] = tok_s
    else:
        bands = _setup(call, str(load["model"]), str(server["gpu"]), load["precision"]).values
        put("output_tok_s", tok_s * bands["band_low"], tok_s, tok_s * bands["band_high"], "token/s")
    # the dearest rent is that of the case in which owning is at its cheapest
    low, typical, high = (
        price_eur(money.rate_of_case(offer, case), offer["currency"], call.number("usd_per_eur")) for case in ("high", "typical", "low")
    )
    put("rate_hour", float(low), float(typical), float(high), "EUR/h")
    return fixed, ranges


def _outcomes(values: Mapping[str, Any], gpus: float, rel: float, term: str) -> dict[str, Any]:
    """Total cost, cost per million output tokens, rent and saving of one draw or of many at once."""
    use = mean_use(values["utilization"], ramp_share(values["ramp_months"], values["horizon_years"]))
    given = {**values, "utilization": use}
    tco, _, _, hours = graph.plan(money.TCO_OUTPUTS, tuple(given))(*given.values())
    tokens = tokens_served_m(values["output_tok_s"], use, hours)
    # the rented cards give as many tokens; reserved ones are paid day and night
    rent = rent_per_use(values["rate_hour"], hours, rel) * gpus * (1 if term == "reserved" else use)
    return {"build_tco_eur": tco * gpus, "cost_eur_mtok": cost_eur_mtok(tco, gpus, tokens), "rent_eur": rent, "saved_eur": rent - tco * gpus}
