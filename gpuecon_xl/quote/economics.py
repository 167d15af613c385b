"""The economics page of an offer: the customer's own case, computed from the same equations as everything else.

Here: inputs with their sources, the steps of the calculation as one description that gives both the number and the formula.
The hardware costs what the customer is offered. Not here: where cells stand (`book`), the offer's lines (`offer`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from gpuecon_xl import formula, functions, money
from gpuecon_xl.catalog import Catalog, key_of
from gpuecon_xl.equations.breakeven import breakeven_use
from gpuecon_xl.equations.cost import cost_eur_mtok, rent_cost_mtok, tokens_served_m
from gpuecon_xl.errors import BadValue
from gpuecon_xl.lang import Texts
from gpuecon_xl.ops import Expr, lift, where
from gpuecon_xl.quantity import REGISTRY
from gpuecon_xl.units import MONTHS_YEAR

CURVE = tuple(i / 10 for i in range(1, 11))  # use, from 10 % to 100 %
MOST_CARDS = 100_000


@dataclass(frozen=True)
class Input:
    """A cell that the customer may change, with its source."""

    name: str
    value: float
    unit: str
    source: str
    as_of: str = ""


@dataclass(frozen=True)
class Fact:
    """A line of what the page is about: text, not computed with."""

    name: str
    value: str | float
    unit: str
    source: str
    as_of: str = ""


@dataclass(frozen=True)
class Step:
    """A computed cell: `run` gives the number from numbers and the traced expression from names."""

    name: str
    parameters: tuple[str, ...]
    run: Callable[..., Any]
    unit: str
    equation: str


@dataclass(frozen=True)
class Economics:
    """The page's content; `card` says which lines of the offer it is about."""

    card: str
    facts: list[Fact]
    inputs: list[Input]
    steps: tuple[Step, ...]
    cloud: str
    api: str
    note: str

    def values(self, hardware: float, cards: float) -> dict[str, Any]:
        """Every number of the page by name."""
        known: dict[str, Any] = {i.name: i.value for i in self.inputs}
        known |= {"hardware": hardware, "gpus": cards}
        for s in self.steps:
            known[s.name] = s.run(*(known[p] for p in s.parameters))
        return known


def cell_name(quantity: str) -> str:
    """A quantity's name in the workbook of an offer, whose currency may be any."""
    return quantity.replace("_eur", "")


# Parts of the total cost that the seller's own books have and an offer does not: they are 0 on its page.
_LEFT_OUT = ("spares_eur", "hosting_eur", "interest_eur", "resale_share")


def _own(quantity: str) -> Step:
    q = REGISTRY[quantity]
    kept, equation = tuple(p for p in q.parameters if p not in _LEFT_OUT), q.equation
    for part in _LEFT_OUT:
        equation = equation.replace(f" + {part}", "")

    def run(*values: Any) -> Any:
        given = dict(zip(kept, values, strict=True))
        return q.function(*(given.get(p, 0) for p in q.parameters))

    return Step(cell_name(quantity), tuple(map(cell_name, kept)), run if len(kept) < len(q.parameters) else q.function, q.unit, _plain(equation))


def _plain(equation: str) -> str:
    return equation.replace("_eur", "")


_COMMON = (
    Step("price", ("hardware", "gpus"), lambda hardware, gpus: hardware / gpus, "EUR", "hardware / gpus"),
    *map(_own, ("capex_eur", "horizon_h", "mean_power_w", "electricity_eur", "maintenance_eur", "running_eur", "residual_eur", "tco_eur",
                "electricity_idle_eur", "tco_fixed_eur", "tco_per_use_eur", "tokens_served_m", "cost_eur_mtok", "cost_eur_month")),
    Step("tco_build", ("tco", "gpus"), lambda tco, gpus: tco * gpus, "EUR", "tco · gpus"),
    Step("tokens_month_m", ("tokens_served_m", "horizon_years"), lambda served, years: served / (years * MONTHS_YEAR), "1e6 output tokens",
         "tokens_served_m / (horizon_years · 12)"),
)  # fmt: skip
_CLOUD = (
    Step("cloud_tok_s", ("output_tok_s", "gpus", "rel"), lambda tok_s, gpus, rel: tok_s / gpus / rel, "token/s", "output_tok_s / gpus / rel"),
    Step("cloud_cost_mtok", ("cloud_rate_hour", "cloud_tok_s"), rent_cost_mtok, "EUR/1e6 output tokens",
         "cloud_rate_hour / (cloud_tok_s · 3,600) · 1e6"),
    Step("rent_per_use", ("cloud_rate_hour", "horizon_h", "rel"), REGISTRY["rent_per_use"].function, "EUR", "cloud_rate_hour · horizon_h · rel"),
    Step("breakeven_cloud", ("tco_fixed", "tco_per_use", "rent_per_use"), breakeven_use, "1", "tco_fixed / (rent_per_use - tco_per_use)"),
)  # fmt: skip
_API = (
    Step("output_share", ("input_tokens", "output_tokens"), lambda i, o: o / (i + o), "1", "output_tokens / (input_tokens + output_tokens)"),
    Step("blended_price_mtok", ("price_in_mtok", "price_out_mtok", "output_share"), REGISTRY["blended_price_mtok"].function,
         "EUR/1e6 tokens (in and out)", REGISTRY["blended_price_mtok"].equation),
    Step("api_cost_mtok", ("blended_price_mtok", "output_share"), lambda blended, share: blended / share, "EUR/1e6 output tokens",
         "blended_price_mtok / output_share"),
    Step("tokens_full_m", ("output_tok_s", "horizon_h"), lambda tok_s, hours: tokens_served_m(tok_s, 1, hours), "1e6 output tokens",
         "output_tok_s · horizon_h · 3,600 / 1e6"),
    Step("api_per_use", ("api_cost_mtok", "tokens_full_m", "gpus"), lambda cost, tokens, gpus: cost * tokens / gpus, "EUR",
         "api_cost_mtok · tokens_full_m / gpus"),
    Step("breakeven_api", ("tco_fixed", "tco_per_use", "api_per_use"), breakeven_use, "1", "tco_fixed / (api_per_use - tco_per_use)"),
)  # fmt: skip


@lru_cache(maxsize=4)
def steps(cloud: bool, api: bool) -> tuple[Step, ...]:
    """The calculation, with or without a cloud rate and an API."""
    return (*_COMMON, *(_CLOUD if cloud else ()), *(_API if api else ()))


@lru_cache(maxsize=256)
def formula_of(step: Step) -> str:
    """A step as formula text, its parameters as names of the workbook."""
    return "=" + formula.text(_without_zeros(lift(step.run(*(Expr("name", p) for p in step.parameters)))))


def _without_zeros(e: Expr) -> Expr:
    """An expression without sums with 0: what is left out of an offer does not show in its formulas."""
    if e.op in ("num", "text", "bool", "name"):
        return e
    args = [_without_zeros(a) for a in e.args]
    if e.op == "add" and args[1].op == "num" and args[1].args[0] == 0:
        return args[0]
    return Expr(e.op, *args)


def use_or_text(value: Any, never: str) -> Any:
    """A break-even as the page shows it: the use, or in words that the other side always wins."""
    return where(value < 0, never, value)


@lru_cache(maxsize=16)
def shown_formula(name: str, never: str) -> str:
    """The formula of `use_or_text`."""
    return "=" + formula.text(use_or_text(Expr("name", name), never))


def own_at(use: Any, fixed: Any, per_use: Any, gpus: Any, tok_s: Any, hours: Any) -> Any:
    """Own cost of a million output tokens at a use."""
    return cost_eur_mtok(fixed + per_use * use, gpus, tokens_served_m(tok_s, use, hours))


CURVE_NAMES = ("tco_fixed", "tco_per_use", "gpus", "output_tok_s", "horizon_h")


@lru_cache(maxsize=64)
def curve_formula(cell: str) -> str:
    """The formula of `own_at` for the use in a cell."""
    return "=" + formula.text(own_at(Expr("name", cell), *(Expr("name", n) for n in CURVE_NAMES)))


# ------------------------------------------------------------------------------------------------ from a request


def covered(lines: Sequence[tuple[str, Decimal]], asked: str | None, catalog: Catalog) -> tuple[str, float]:
    """The card that the page is about, and how many the lines hold.

    Raises
    ------
    GpueconError
        When no line has it, or not a whole number of it.
    """
    wanted = str(catalog.find("gpus", asked)["gpu"]) if asked else next((card for card, _ in lines if card), "")
    count = sum((n for card, n in lines if card == wanted), Decimal(0))
    if not wanted or count <= 0:
        raise BadValue(f"no line has {wanted or 'a card'}; a line with gpu, build or workload is due")
    if count % 1 or count > MOST_CARDS:
        raise BadValue(f"the lines have {count:f} cards {wanted}; a whole number up to {MOST_CARDS} is due")
    return wanted, float(count)


def make(given: Mapping[str, Any], card: tuple[str, float], currency: str, catalog: Catalog, texts: Texts) -> Economics:
    """The page for a card and how many of it, from the request's block.

    Raises
    ------
    GpueconError
        When a name is not in the workbook, or the model does not fit.
    """
    gpu, count = catalog.find("gpus", card[0]), int(card[1])
    load = _load(given, catalog)
    row, told = catalog.find_model(load["model"])
    load |= {"model": str(row["model"]), "precision": str(catalog.find("precisions", load.get("precision") or told or row["precision"])["precision"])}
    unit_money = currency
    predicted, basis, as_of = _tok_s(given, load, str(gpu["gpu"]), count, catalog, texts)
    facts, inputs = _described(load, gpu, count, texts), []

    def assumed(name: str, asked: str, unit: str) -> None:
        row = next(r for r in catalog.rows("assumptions") if r["name"] == name)
        value, source, when = float(row["value"]), str(row["source"] or ""), str(row["as_of"] or "")
        if row["confidence"] == "unverified":
            source, when = texts("quote.unverified"), ""
        if "EUR" in str(row["unit"]):
            value = money.convert(value, "EUR", currency, catalog.assumption("usd_per_eur"))
        if asked in given:
            value, source, when = float(given[asked]), texts("quote.given"), ""
        inputs.append(Input(cell_name(name), value, unit, source, when))

    assumed("electricity_eur_kwh", "electricity_kwh", f"{unit_money}/kWh")
    assumed("utilization", "utilization", "%")
    inputs.append(Input("output_tok_s", predicted, "token/s", basis, as_of))
    assumed("pue", "pue", "")
    assumed("horizon_years", "horizon_years", "year")
    assumed("maintenance_share_year", "maintenance_share_year", "%/year")
    inputs.append(Input("chassis_gpu", 0.0, unit_money, texts("quote.chassis_included")))
    assumed("colo_eur_year", "space_card_year", f"{unit_money}/year")
    assumed("licence_eur_gpu_year", "licence_card_year", f"{unit_money}/year")
    assumed("staff_eur_gpu_year", "staff_card_year", f"{unit_money}/year")
    assumed("residual_share", "", "%")
    assumed("idle_share", "", "%")
    assumed("host_w_gpu", "", "W")
    inputs.append(Input("tdp_w", float(gpu["tdp_w"]), "W", str(gpu["source"]), str(gpu["as_of"])))
    cloud = _cloud(given, load, str(gpu["gpu"]), count, predicted, currency, catalog, texts, inputs)
    api = _api(given, currency, catalog, texts, inputs, load)
    note = texts("quote.tokens_own") if "output_tok_s" in given else texts("quote.tokens_predicted")
    return Economics(str(gpu["gpu"]), facts, inputs, steps(bool(cloud), bool(api)), cloud, api, note)


def _load(given: Mapping[str, Any], catalog: Catalog) -> dict[str, Any]:
    """What has to be served: a workload of the workbook, overridden by the request's own fields."""
    load: dict[str, Any] = {"batch": 32.0, "input_tokens": catalog.assumption("default_input_tokens"),
                            "output_tokens": catalog.assumption("default_output_tokens")}  # fmt: skip
    if "workload" in given:
        row = catalog.find("workloads", given["workload"])
        load |= {k: row[k] for k in ("workload", "model", "precision", "kv", "batch", "input_tokens", "output_tokens") if row.get(k)}
    load |= {k: float(v) if isinstance(v, Decimal | int) else v for k, v in given.items()
             if k in ("model", "precision", "kv", "batch", "input_tokens", "output_tokens")}  # fmt: skip
    return load


def _predict(load: Mapping[str, Any], gpu: str, count: int, catalog: Catalog) -> tuple[float, str, str]:
    """Output tokens per second, the layout and the number format; kept for each case of a catalogue."""
    key = ("quote_tok_s", *(load.get(k) for k in ("model", "precision", "kv", "batch", "input_tokens", "output_tokens")), gpu, count)
    found = catalog.memo.get(key)
    if found is None:
        got = functions.predict(
            load["model"], gpu, load.get("precision"), batch=float(load["batch"]), input_tokens=float(load["input_tokens"]),
            output_tokens=float(load["output_tokens"]), gpus=count, kv=load.get("kv"), catalog=catalog,
        )  # fmt: skip
        found = catalog.memo[key] = (got.output_tok_s, got.basis, got.note)
    return float(found[0]), str(found[1]), str(found[2])


def _tok_s(given: Mapping[str, Any], load: Mapping[str, Any], gpu: str, count: int, catalog: Catalog, texts: Texts) -> tuple[float, str, str]:
    if "output_tok_s" in given:
        return float(given["output_tok_s"]), texts("quote.given_measured"), ""
    value, _, _ = _predict(load, gpu, count, catalog)
    return value, texts("quote.predicted"), str(catalog.assumptions.get("as_of") or "")


def _described(load: Mapping[str, Any], gpu: Mapping[str, Any], count: int, texts: Texts) -> list[Fact]:
    asked = texts("quote.given")
    out = [Fact("workload", load["workload"], "", asked)] if "workload" in load else []
    out.append(Fact("model", str(load["model"]), "", asked))
    out += [Fact("precision", str(load["precision"]), "", asked), Fact("batch", float(load["batch"]), "request", asked),
            Fact("gpu", f"{count} × {gpu['gpu']}", "", texts("quote.this_offer")),
            Fact("memory_gb", float(gpu["memory_gb"]), "GB", str(gpu["source"]), str(gpu["as_of"]))]  # fmt: skip
    return out


def _cloud(given: Mapping[str, Any], load: Mapping[str, Any], gpu: str, count: int, own: float, currency: str, catalog: Catalog, texts: Texts,
           inputs: list[Input]) -> str:  # fmt: skip
    if "cloud" not in given and "cloud_hour" not in given:
        return ""
    if "cloud_hour" in given:
        name, rented = str(given.get("cloud", texts("quote.cloud"))), str(catalog.find("gpus", given.get("cloud_gpu", gpu))["gpu"])
        inputs.append(Input("cloud_rate_hour", float(given["cloud_hour"]), f"{currency}/h", texts("quote.given")))
    else:
        row = catalog.find("cloud_rates", given["cloud"])
        name, rented = str(row["rate"]), str(catalog.find("gpus", row["gpu"])["gpu"])
        rate = money.convert(float(row["rate_hour"]), str(row["currency"] or "EUR"), currency, catalog.assumption("usd_per_eur"))
        inputs.append(Input("cloud_rate_hour", rate, f"{currency}/h", str(row["source"]), str(row["as_of"])))
    rel, why = 1.0, texts("quote.same_card")
    if key_of(rented) != key_of(gpu):
        try:
            rel, why = own / _predict(load, rented, count, catalog)[0], texts("quote.predicted")
        except BadValue as error:
            raise BadValue(f"the rented card: {error}") from None
    inputs.append(Input("rel", rel, "", why))
    return name


def _api(given: Mapping[str, Any], currency: str, catalog: Catalog, texts: Texts, inputs: list[Input], load: Mapping[str, Any]) -> str:
    if "api" not in given and "api_in" not in given:
        return ""
    if "api_in" in given:
        name, source, as_of = str(given.get("api", texts("quote.api"))), texts("quote.given"), ""
        ends = float(given["api_in"]), float(given["api_out"])
        if ends[0] + ends[1] == 0:
            raise BadValue("both prices of the API are 0; a price above 0 is due")
    else:
        row = catalog.find("api_prices", given["api"])
        name, source, as_of = str(row["api"]), str(row["source"]), str(row["as_of"])
        rate = catalog.assumption("usd_per_eur")
        ends = (money.convert(float(row["price_in_mtok"]), str(row["currency"] or "EUR"), currency, rate),
                money.convert(float(row["price_out_mtok"]), str(row["currency"] or "EUR"), currency, rate))  # fmt: skip
    inputs.append(Input("price_in_mtok", ends[0], f"{currency}/1e6", source, as_of))
    inputs.append(Input("price_out_mtok", ends[1], f"{currency}/1e6", source, as_of))
    for name_ in ("input_tokens", "output_tokens"):
        inputs.append(Input(name_, float(load[name_]), "token", texts("quote.given")))
    return name
