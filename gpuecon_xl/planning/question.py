"""The question of a plan: model, load, limits, and what may be chosen; checked.

Here: what a caller gives, its bounds and its refusals. Not here: the search (`search`), what an answer says (`answer`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuecon_xl import money, throughput
from gpuecon_xl.catalog import Catalog
from gpuecon_xl.errors import BadValue
from gpuecon_xl.throughput import check_number

# What a plan searches itself, or what would make its figures something else than the answer asked for.
_NOT_FOR_PLANS = {
    "tp": "the plan compares all layouts", "pp": "the plan compares all layouts", "kv": "formats of the cache are given as kv",
    "tok_s": "one measured figure cannot stand for all candidates", "currency": "a plan counts in EUR",
    **dict.fromkeys(("input_tokens", "output_tokens", "context"), "input and output are arguments"),
    **dict.fromkeys(("rent_gpu", "rel", "own_cost"), "a plan compares owned cards"),
}  # fmt: skip


@dataclass(frozen=True)
class Limit:
    """A limit: its code, the column that it bounds, and how.

    kind: ``most`` (at most the value), ``least`` (at least the value), ``yes`` or ``no`` (the card's own mark must be that).
    """

    code: str
    column: str
    kind: str
    unit: str = ""


# In the order in which they are named when several are broken.
LIMITS: tuple[Limit, ...] = (
    Limit("users", "batch_max", "least", "request"),
    Limit("headroom", "headroom", "least", "1"),
    Limit("ttft_ms", "ttft_ms", "most", "ms"),
    Limit("tpot_ms", "tpot_ms", "most", "ms"),
    Limit("ecc", "ecc", "yes"),
    Limit("no_consumer", "consumer", "no"),
    Limit("datacenter", "datacenter", "yes"),
    Limit("slots", "slots_used", "most", "slot"),
    Limit("max_w", "power_w", "most", "W"),
    Limit("max_cards", "gpus", "most", "card"),
    Limit("budget", "outlay_eur", "most", "EUR"),
)


@dataclass(frozen=True)
class Question:
    """A question, checked, with its facts found in a catalogue.

    Attributes
    ----------
    limits : value of each limit that is set, by code.  span : most cards of a build that the search looks at.
    prices : price of one card in EUR, by card; cards for sale without a sourced price stand in `left_out`.
    assumptions : options that replace assumptions.
    """

    catalog: Catalog
    model: Mapping[str, Any]
    users: float
    input_tokens: float
    output_tokens: float
    limits: Mapping[str, float]
    span: int
    cards: tuple[Mapping[str, Any], ...]
    prices: Mapping[str, float]
    precisions: tuple[Mapping[str, Any], ...]
    kvs: tuple[Mapping[str, Any], ...]
    engine: Mapping[str, Any]
    mode: str
    case: str
    assumptions: Mapping[str, Any]
    left_out: tuple[tuple[str, str], ...]  # name and code of the reason

    def takes(self, card: int, precision: int) -> bool:
        """Whether the engine loads a format on a card."""
        return takes(self.precisions[precision], "engines", str(self.engine["family"]), str(self.cards[card]["vendor"]))


def vendors_of(row: Mapping[str, Any], column: str, family: str) -> frozenset[str] | None:
    """Vendors of cards on which an engine takes a format: None is not at all, an empty set is every vendor.

    The cell says ``vLLM (NVIDIA, AMD) | llama.cpp``: an engine without vendors takes it on every card, blank is every engine.
    """
    parts = [p.strip() for p in str(row.get(column) or "").split("|") if p.strip()]
    for part in parts:
        name, _, vendors = part.partition("(")
        if name.strip() == family:
            return frozenset(v.strip() for v in vendors.rstrip(")").split(",") if v.strip())
    return None if parts else frozenset()


def takes(row: Mapping[str, Any], column: str, family: str, vendor: str | None = None) -> bool:
    """Whether an engine takes a format, on a vendor's cards or on any."""
    vendors = vendors_of(row, column, family)
    return vendors is not None and (not vendors or vendor is None or vendor in vendors)


def _named(catalog: Catalog, table: str, names: Sequence[str] | str | None) -> list[Mapping[str, Any]] | None:
    """Rows that a list of names means, each once; a text separates them by commas."""
    if names is None:
        return None
    wanted = [n.strip() for n in names.split(",") if n.strip()] if isinstance(names, str) else list(names)
    if not wanted:
        raise BadValue(f"no name is given for {table}; a name such as {catalog.rows(table)[0][_KEY[table]]} is due, or leave it out")
    rows = {str(r[_KEY[table]]): r for r in (catalog.find(table, n) for n in wanted)}
    return list(rows.values())


_KEY = {"gpus": "gpu", "precisions": "precision"}


def ask(
    catalog: Catalog,
    model: str,
    users: Any,
    input_tokens: Any,
    output_tokens: Any,
    limits: Mapping[str, Any],
    gpus: Sequence[str] | str | None = None,
    precision: Sequence[str] | str | None = None,
    kv: Sequence[str] | str | None = None,
    engine: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Question:
    """Check a question and find its facts.

    Parameters
    ----------
    limits : by code of `LIMITS`; None or False sets none.  gpus, precision, kv : what may be chosen; None is all that
    has a sourced price, and all that the engine can load.  options : parsed, see `throughput.parse_options`.

    Raises
    ------
    NameNotFound, BadValue
        One sentence.
    """
    given = dict(options or {})
    for key, why in _NOT_FOR_PLANS.items():
        if key in given:
            raise BadValue(f"option {key} is given, but {why}; leave it out")
    mode, case = given.pop("mode", "expected"), given.pop("case", "typical")
    if engine is not None and "engine" in given:
        raise BadValue("engine is given as argument and as option; give it once")
    engine_row = throughput.find_engine(catalog, engine if engine is not None else given.pop("engine", None))
    given.pop("engine", None)
    row, told = catalog.find_model(model)
    load = check_number(users, "users", positive=True)
    tokens_in = check_number(input_tokens, "input", positive=True)
    tokens_out = check_number(output_tokens, "output", positive=True)
    longest = row["max_context"]
    if longest and tokens_in + tokens_out > longest:
        raise BadValue(
            f"input and output of {tokens_in + tokens_out:g} tokens are beyond the {longest:g} of {row['model']}; at most {longest:g} is due"
        )
    family = str(engine_row["family"])
    precisions = _named(catalog, "precisions", precision if precision is not None else told)
    kvs = _named(catalog, "precisions", kv)
    for chosen, column, what in ((precisions, "engines", "weights"), (kvs, "kv_engines", "the cache")):
        for r in chosen or ():
            if not takes(r, column, family):
                raise BadValue(f"{family} does not take {what} in {r['precision']}; {str(r[column]).replace(' | ', ', ')} can")
    for r in kvs or ():
        if not r["bytes_kv"]:
            raise BadValue(f"kv {r['precision']!r} is no format of a cache; one of fp16, fp8, int8, q8_0, q4_0, nvfp4 is due")
    every = catalog.rows("precisions")
    left: list[tuple[str, str]] = []
    if precisions is None:
        precisions = [r for r in every if takes(r, "engines", family)]
        left += [(str(r["precision"]), "engine") for r in every if not takes(r, "engines", family)]
    if kvs is None:
        kvs = [r for r in every if r["bytes_kv"] and takes(r, "kv_engines", family)]
    cards, prices, dear = _cards(catalog, _named(catalog, "gpus", gpus), case, given)
    vendors = {str(c["vendor"]): None for c in cards}
    left += [(f"{r['precision']} on {v}", "engine") for r in precisions for v in vendors if not takes(r, "engines", family, v)]
    if not any(takes(r, "engines", family, v) for r in precisions for v in vendors):
        raise BadValue(f"{family} does not take {', '.join(str(r['precision']) for r in precisions)} on cards of {', '.join(vendors)}; "
                       "another format, card or engine is due")  # fmt: skip
    most = _card_count(given.get("plan_cards_max", catalog.assumption("plan_cards_max")), "plan_cards_max")
    bounds = _limits(limits, load, given.get("headroom_wanted", catalog.assumption("headroom_wanted")), most)
    span = int(max(bounds["max_cards"], most))
    return Question(catalog, row, load, tokens_in, tokens_out, bounds, span, tuple(cards), prices, tuple(precisions), tuple(kvs), engine_row,
                    mode, case, given, tuple(left + dear))  # fmt: skip


MOST_CARDS = 512  # of a build; the search's room and time grow with it


def _card_count(value: Any, what: str) -> float:
    count = check_number(value, what, positive=True, whole=True)
    if count > MOST_CARDS:
        raise BadValue(f"{what} is {count:g}; a whole number above 0 and up to {MOST_CARDS} is due")
    return count


def _cards(
    catalog: Catalog, chosen: list[Mapping[str, Any]] | None, case: str, options: Mapping[str, Any]
) -> tuple[list[Mapping[str, Any]], dict[str, float], list[tuple[str, str]]]:
    """Cards that can be bought, their prices, and the others with the reason."""
    rate = float(options.get("usd_per_eur", catalog.assumption("usd_per_eur")))
    cards: list[Mapping[str, Any]] = []
    prices: dict[str, float] = {}
    left: list[tuple[str, str]] = []
    for card in chosen or catalog.rows("gpus"):
        name = str(card["gpu"])
        if card["for_sale"] != "yes":
            if chosen:
                raise BadValue(f"{name} is no longer sold; a card with for_sale yes is due")
            left.append((name, "not_for_sale"))
            continue
        try:
            prices[name] = money.price_of(catalog, card, case, "EUR", rate)
        except BadValue:
            if chosen:
                raise
            left.append((name, "no_price"))
            continue
        cards.append(card)
    if not cards:
        raise BadValue("no card of the catalogue is for sale with a sourced price; a price with its source in the Prices table is due")
    return cards, prices, left


def _limits(given: Mapping[str, Any], users: float, headroom: float, most: float) -> dict[str, float]:
    """Values of the limits that are set; users, headroom and cards always are."""
    known = {limit.code: limit for limit in LIMITS}
    out: dict[str, float] = {}
    for code, value in given.items():
        if value is None or value is False:
            continue
        limit = known[code]
        if limit.kind in ("yes", "no"):
            if value is not True:
                raise BadValue(f"{code} is {value!r}; True or False is due")
            out[code] = 1.0
            continue
        if code == "max_cards":
            out[code] = _card_count(value, code)
        else:
            out[code] = check_number(value, code, positive=code != "headroom", share=code == "headroom", whole=code == "slots")
    out["users"] = users
    out.setdefault("headroom", float(headroom))
    out.setdefault("max_cards", float(most))
    return {limit.code: out[limit.code] for limit in LIMITS if limit.code in out}
