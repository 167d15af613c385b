"""A quote request, checked: every problem named by file, line and field, all at once.

Here: what the fields mean together, as far as the request alone can say. Not here: prices and predictions (`offer`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from gpuecon_xl.errors import BadValue
from gpuecon_xl.quote import fields, vat
from gpuecon_xl.quote.seller import Company, Seller, block, localised
from gpuecon_xl.quote.source import NO_HEAD, Source

KINDS = ("build", "gpu", "workload", "chassis", "item")


@dataclass(frozen=True)
class Request:
    """A request whose fields are checked; `head` has the seller's defaults filled in."""

    src: Source
    company: Company
    head: Mapping[str, Any]
    customer: Mapping[str, Any]
    lines: list[dict[str, Any]]
    economics: Mapping[str, Any]
    vat: str
    vat_rate: Decimal


def read(src: Source, seller: Seller, today: dt.date) -> tuple[Request | None, list[str]]:
    """The request, or what is wrong with it."""
    problems: list[str] = []
    tree = src.tree
    head = block(src, tree, fields.REQUEST, problems, also=("customer", "line", "economics", NO_HEAD))
    if NO_HEAD in tree:
        problems.append(f"{src.at()} has a cell without a head; every value is due below the name of its field")
    for name, value in seller.defaults.items():
        if name == "valid_days" and "valid_until" in head:
            continue
        head.setdefault(name, value)
    head.setdefault("language", "en")
    head.setdefault("currency", "EUR")
    head.setdefault("binding", False)
    head.setdefault("discount", Decimal(0))
    head.setdefault("date", today)
    if "customer" not in tree:
        problems.append(f"{src.at('customer')} is missing; name and country of the customer are due")
    customer = block(src, tree["customer"], fields.CUSTOMER, problems, "customer") if "customer" in tree else {}
    economics = block(src, tree["economics"], fields.ECONOMICS, problems, "economics") if "economics" in tree else {}
    lines = _lines(src, tree, problems)
    _dates(src, head, problems)
    try:
        company = seller.company(head.get("seller"))
    except BadValue as error:
        problems.append(f"{src.at('seller')} {error}")
        company = seller.companies[""]
    if problems:
        return None, problems
    for name in ("delivery", "payment", "warranty"):
        if name in head:
            head[name] = localised(head[name], head["language"])
    treatment, rate = _vat(src, head, customer, company, problems)
    _economics(src, economics, problems)
    if problems:
        return None, problems
    return Request(src, company, head, customer, lines, economics, treatment, rate), []


def _lines(src: Source, tree: Mapping[str, Any], problems: list[str]) -> list[dict[str, Any]]:
    given = tree.get("line")
    if given is None or given == []:
        problems.append(f"{src.at('line')} is missing; at least one line that is offered is due")
        return []
    if not isinstance(given, list):
        problems.append(f"{src.at('line')} is no list; [[line]] is due")
        return []
    if len(given) > fields.MOST_LINES:
        problems.append(f"{src.at('line')} has {len(given)} entries; at most {fields.MOST_LINES} are due")
        return []
    out = []
    for i, entry in enumerate(given):
        line = block(src, entry, fields.LINE, problems, "line", i)
        out.append(line)
        if not isinstance(entry, Mapping):
            continue
        kinds = [k for k in KINDS if k in entry]
        if len(kinds) != 1:
            problems.append(f"{src.at('line', i)} has {' and '.join(kinds) or 'nothing that is offered'}; one of {', '.join(KINDS)} is due")
            continue
        kind = kinds[0]
        if "count" in entry and kind not in ("gpu", "chassis"):
            problems.append(f"{src.at('line', i, 'count')} goes with gpu or chassis; quantity says how many of a {kind}")
        if "list_price" in entry and "margin" in entry:
            problems.append(f"{src.at('line', i, 'margin')} stands beside list_price; one of them is due")
        if kind == "item" and "list_price" not in entry and "cost" not in entry:
            problems.append(f"{src.at('line', i, 'list_price')} is missing; the workbook has no price of an item")
    return out


def _dates(src: Source, head: dict[str, Any], problems: list[str]) -> None:
    if "valid_until" in head and "valid_days" in head:
        problems.append(f"{src.at('valid_days')} stands beside valid_until; one of them is due")
    if "valid_until" not in head:
        head["valid_until"] = head["date"] + dt.timedelta(days=head.get("valid_days", 30))
    elif head["valid_until"] < head["date"]:
        problems.append(f"{src.at('valid_until')} is {head['valid_until']}, before the offer's date {head['date']}; a later day is due")


def _vat(src: Source, head: Mapping[str, Any], customer: dict[str, Any], company: Company, problems: list[str]) -> tuple[str, Decimal]:
    number = customer.get("vat_id")
    if number is not None and customer["country"] in vat.countries():
        try:
            customer["vat_id"] = number = vat.checked_number(number, customer["country"])
        except BadValue as error:
            problems.append(f"{src.at('customer', 'vat_id')} {error}")
            return "domestic", Decimal(0)
    try:
        treatment = vat.treatment(head.get("vat"), company.country, customer["country"], number)
    except BadValue as error:
        problems.append(f"{src.at('vat')} {error}")
        return "domestic", Decimal(0)
    if treatment != "domestic":
        return treatment, Decimal(0)
    rate = company.values.get("vat_rate")
    return treatment, rate if rate is not None else vat.standard_rate(company.country) or Decimal(0)


def _economics(src: Source, given: Mapping[str, Any], problems: list[str]) -> None:
    if not given:
        return
    if "workload" not in given and "model" not in given:
        problems.append(f"{src.at('economics', 'model')} is missing; a model, or a workload of the workbook, is due")
    for pair in (("api_in", "api_out"), ("api_out", "api_in")):
        if pair[0] in given and pair[1] not in given:
            problems.append(f"{src.at('economics', pair[1])} is missing; both prices of the API are due")
    if "cloud_gpu" in given and "cloud_hour" not in given:
        problems.append(f"{src.at('economics', 'cloud_gpu')} goes with cloud_hour; the rate per card and hour is due")
