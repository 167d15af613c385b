"""What the customer may see: an offer made from a request, a seller and the workbook's facts.

Here: lines and their prices, terms, number. Purchase prices and margins end here: an `Offer` holds none of them.
Not here: the economics page (`economics`), the file (`book`).
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from gpuecon_xl import money as prices
from gpuecon_xl.catalog import Catalog, summed_up
from gpuecon_xl.errors import BadFile, GpueconError
from gpuecon_xl.lang import Texts, load
from gpuecon_xl.quote import economics, money, request
from gpuecon_xl.quote.economics import Economics
from gpuecon_xl.quote.request import Request
from gpuecon_xl.quote.seller import Company, Seller
from gpuecon_xl.quote.source import Source


@dataclass(frozen=True)
class Line:
    """A line of the offer, its amount rounded."""

    title: str
    detail: str
    quantity: Decimal
    unit: str
    price: Decimal
    discount: Decimal
    amount: Decimal
    card: str = ""  # the card that it holds
    cards: Decimal = Decimal(0)  # how many, all pieces together
    hardware: bool = False


@dataclass(frozen=True)
class Offer:
    """Everything that the customer's file says, and nothing else."""

    company: Company
    lang: str
    currency: str
    number: str
    date: dt.date
    valid_until: dt.date
    binding: bool
    customer: Mapping[str, Any]
    lines: list[Line]
    discount: Decimal
    vat: str
    vat_rate: Decimal
    totals: money.Totals
    terms: Mapping[str, str]
    economics: Economics | None
    texts: Texts = field(compare=False)

    def numbered(self, number: str) -> Offer:
        """The offer with its number."""
        return replace(self, number=number)


def make(src: Source, seller: Seller, catalog: Catalog, today: dt.date) -> Offer:
    """The offer that a request asks for; its number is "" when the request gives none.

    Raises
    ------
    BadFile
        Naming every problem by file, line and field, all at once.
    """
    asked, problems = request.read(src, seller, today)
    if asked is None:
        raise BadFile(summed_up(src.name, problems) if len(problems) > 1 else problems[0], problems)
    head = asked.head
    texts = load(head["language"], seller.texts)
    lines: list[Line] = []
    for i, given in enumerate(asked.lines):
        try:
            lines.append(_line(asked, given, catalog, texts))
        except GpueconError as error:
            kind = next((k for k in request.KINDS if k in given), "item")
            problems.append(f"{src.at('line', i, kind)}: {' '.join(str(error).split())}")
    page: Economics | None = None
    if asked.economics and not problems:
        try:
            covered = economics.covered([(n.card, n.cards) for n in lines], asked.economics.get("gpu"), catalog)
            page = economics.make(asked.economics, covered, head["currency"], catalog, texts)
        except GpueconError as error:
            problems.append(f"{src.at('economics')}: {' '.join(str(error).split())}")
    sums = money.totals([n.amount for n in lines], head["discount"], asked.vat_rate)
    if sums.gross > 10**12:
        problems.append(f"{src.at('line')}: the lines come to more than 1,000,000,000,000; a smaller sum is due")
    if problems:
        raise BadFile(summed_up(src.name, problems) if len(problems) > 1 else problems[0], problems)
    terms = {n: str(head[n]) for n in ("delivery", "payment", "warranty", "notes") if head.get(n)}
    return Offer(asked.company, head["language"], head["currency"], head.get("number", ""), head["date"], head["valid_until"], head["binding"],
                 dict(asked.customer), lines, head["discount"], asked.vat, asked.vat_rate, sums, terms, page, texts)  # fmt: skip


def content_number(offer: Offer) -> str:
    """A number made from what the customer sees, for an offer without a counter."""
    lines = [(n.title, n.detail, n.unit, *(str(x.normalize()) for x in (n.quantity, n.price, n.discount))) for n in offer.lines]
    page = [offer.economics.facts, offer.economics.inputs, offer.economics.cloud, offer.economics.api] if offer.economics else []
    seen = [offer.company.name, offer.lang, offer.currency, str(offer.date), str(offer.valid_until), offer.binding, dict(offer.customer), lines,
            str(offer.discount), offer.vat, str(offer.vat_rate), dict(offer.terms), page]  # fmt: skip
    digest = hashlib.sha256(json.dumps(seen, sort_keys=True, default=str).encode()).hexdigest()
    return f"{offer.date:%Y%m%d}-{digest[:6].upper()}"


def _line(asked: Request, given: Mapping[str, Any], catalog: Catalog, texts: Texts) -> Line:
    kind = next(k for k in request.KINDS if k in given)
    quantity = given.get("quantity", Decimal(1))
    cards, card, cost_of = 0, "", None
    title, detail = str(given[kind]), ""
    if kind in ("build", "workload"):
        build = _build(given, kind, catalog)
        card, cards = str(catalog.find("gpus", build["gpu"])["gpu"]), int(build["gpus"])
        title = str(build["build"])
        detail = _cards_text(cards, card, catalog, texts)
        if kind == "workload":
            detail += "\n" + texts("quote.recommended", workload=str(catalog.find("workloads", given[kind])["workload"]))
        chassis = build["chassis_wanted_eur"]
        per_card = catalog.assumption("chassis_eur_gpu") if chassis in (None, "", 0) else chassis
        cost_of = (cards, card, float(per_card) * cards)
    elif kind == "gpu":
        row = catalog.find("gpus", given["gpu"])
        card, cards = str(row["gpu"]), int(given.get("count", 1))
        title = f"{cards} × {card}" if cards > 1 else card
        detail = _cards_text(cards, card, catalog, texts)
        cost_of = (cards, card, 0.0)
    elif kind == "chassis":
        cost_of = (0, "", float(catalog.assumption("chassis_eur_gpu")) * given.get("count", 1))
        if "count" in given:
            detail = texts("quote.places", count=str(given["count"]))
    own = given.get("description")
    price = given.get("list_price")
    if price is None:
        share = given.get("margin", asked.head.get("margin"))
        if share is None:
            raise BadFile("no list_price and no margin is given, and the seller file has no default margin; one of them is due")
        price = money.list_price(_cost(given, cost_of, asked.head["currency"], catalog), share)
        if price > 10**9:
            raise BadFile("the price is above 1,000,000,000; a smaller one is due")
    discount = given.get("discount", Decimal(0))
    return Line(title, own if own is not None else detail, quantity, given.get("unit", texts("quote.pieces")), price, discount,
                money.amount(quantity, price, discount), card, cards * quantity, kind != "item")  # fmt: skip


def _build(given: Mapping[str, Any], kind: str, catalog: Catalog) -> dict[str, Any]:
    if kind == "build":
        return catalog.find("builds", given["build"])
    from gpuecon_xl.recommendation import recommended

    workload = catalog.find("workloads", given["workload"])
    name = recommended(catalog, workload)
    if name == "none":
        raise BadFile(f"no build keeps every limit of the workload {workload['workload']!r}; a build is due instead")
    return catalog.find("builds", name)


def _cards_text(cards: int, card: str, catalog: Catalog, texts: Texts) -> str:
    memory = f"{catalog.find('gpus', card)['memory_gb']:g}"
    return texts("quote.cards" if cards > 1 else "quote.card", count=str(cards), gpu=card, memory=memory)


def _cost(given: Mapping[str, Any], cost_of: tuple[int, str, float] | None, currency: str, catalog: Catalog) -> Decimal:
    """What the line costs to buy, in the currency of the offer; never leaves this module."""
    if "cost" in given:
        return Decimal(given["cost"])
    assert cost_of is not None  # an item has a cost or a list price
    cards, card, chassis_eur = cost_of
    rate = float(catalog.assumption("usd_per_eur"))
    sum_ = prices.convert(chassis_eur, "EUR", currency, rate)
    if card:
        sum_ += cards * prices.price_of(catalog, catalog.find("gpus", card), "typical", currency, rate)
    return Decimal(repr(sum_))
