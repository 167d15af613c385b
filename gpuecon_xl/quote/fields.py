"""What may stand in a quote request and in a seller file: one description for checks, CSV heads and the JSON schema.

Here: fields, the check of one value, the JSON schema. Not here: reading files (`source`), what the fields mean together (`request`).
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from gpuecon_xl.errors import nearest
from gpuecon_xl.lang import LANGUAGES

MOST_LINES = 100
MOST_MONEY = Decimal(10) ** 9
CENT = 2  # decimals of a price
CURRENCIES = ("EUR", "USD")
TREATMENTS = ("domestic", "eu", "export")


@dataclass(frozen=True)
class Field:
    """A field: name, kind and bounds; what is private never reaches a customer's file.

    kind: ``text`` (one line), ``lines`` (several), ``number``, ``whole``, ``share`` (0 to 1, or with %), ``date``, ``choice``, ``flag``,
    ``country`` (two letters), ``texts`` (a list of texts), ``local`` (a text, or one for each language).
    """

    name: str
    kind: str
    help: str
    required: bool = False
    low: Decimal | None = None
    high: Decimal | None = None
    above: bool = False  # `low` itself is not allowed
    places: int = 6  # decimals at most
    choices: tuple[str, ...] = ()
    limit: int = 200  # characters at most


def _money(name: str, text: str, low: int = 0) -> Field:
    return Field(name, "number", text, low=Decimal(low), high=MOST_MONEY, places=CENT)


def _count(name: str, text: str, high: int = 100_000) -> Field:
    return Field(name, "whole", text, low=Decimal(1), high=Decimal(high))


_ADDRESS = (
    Field("street", "text", "street and number", limit=120),
    Field("extra", "text", "second line of the address", limit=120),
    Field("postcode", "text", "postcode", limit=20),
    Field("city", "text", "town", limit=80),
)

REQUEST = (
    Field("id", "text", "a name of your own for this request; keeps its number when the row changes", limit=80),
    Field("seller", "text", "which company of the seller file offers; not given: its [seller]", limit=40),
    Field("number", "text", "offer number; not given: the next of the counter, or one made from the content", limit=40),
    Field("language", "choice", "language of the offer", choices=LANGUAGES),
    Field("currency", "choice", "currency of every price of the request", choices=CURRENCIES),
    Field("date", "date", "date of the offer; not given: today"),
    Field("valid_until", "date", "last day of validity"),
    Field("valid_days", "whole", "days of validity, instead of valid_until", low=Decimal(0), high=Decimal(730)),
    Field("binding", "flag", "true: binding until valid_until; false: subject to change"),
    Field("vat", "choice", "domestic, eu (reverse charge) or export; not given: from the countries and the VAT number", choices=TREATMENTS),
    Field("discount", "share", "discount on the sum of all lines, 0.03 or 3 %", low=Decimal(0), high=Decimal(1), places=6),
    Field("margin", "share", "share of the selling price, for lines without list_price; private", low=Decimal(0), high=Decimal("0.95")),
    Field("delivery", "local", "terms of delivery", limit=600),
    Field("payment", "local", "terms of payment", limit=600),
    Field("warranty", "local", "warranty", limit=600),
    Field("notes", "lines", "further text for the customer", limit=3000),
)
CUSTOMER = (
    Field("name", "text", "company or person", required=True, limit=160),
    Field("contact", "text", "person addressed", limit=120),
    Field("department", "text", "department", limit=120),
    *_ADDRESS,
    Field("country", "country", "two letters, such as DE", required=True),
    Field("vat_id", "text", "VAT number with its country, such as DK12345678", limit=24),
    Field("number", "text", "customer number", limit=40),
    Field("email", "text", "e-mail address", limit=120),
)
LINE = (
    Field("build", "text", "a build of the workbook", limit=120),
    Field("gpu", "text", "a card of the workbook", limit=120),
    Field("workload", "text", "a workload of the workbook; the build that its Matrix recommends is offered", limit=120),
    Field("chassis", "text", "a server without cards", limit=200),
    Field("item", "text", "a service or anything else", limit=200),
    _count("count", "cards of the line, with gpu; places for cards, with chassis"),
    Field("quantity", "number", "how many of the line; not given: 1", low=Decimal(0), high=Decimal(10) ** 6, above=True, places=3),
    Field("unit", "text", "unit of the quantity; not given: pieces", limit=12),
    Field("description", "lines", "what the customer reads below the line's title", limit=1200),
    _money("list_price", "net price of one, shown to the customer"),
    Field(
        "margin", "share", "share of the selling price; makes the list price from the purchase price; private", low=Decimal(0), high=Decimal("0.95")
    ),
    Field("cost", "number", "net purchase price of one, instead of the workbook's; private", low=Decimal(0), high=MOST_MONEY),
    Field("discount", "share", "discount of the line, 0.05 or 5 %", low=Decimal(0), high=Decimal(1), places=6),
)
ECONOMICS = (
    Field("workload", "text", "a workload of the workbook: model, format, requests and tokens", limit=120),
    Field("model", "text", "model", limit=120),
    Field("precision", "text", "number format of the weights", limit=40),
    Field("kv", "text", "number format of the cache", limit=40),
    Field("batch", "number", "requests at once, whole build", low=Decimal(0), high=Decimal(10) ** 6, above=True),
    _count("input_tokens", "input tokens of a request", 10_000_000),
    _count("output_tokens", "output tokens of a request", 10_000_000),
    Field("gpu", "text", "card that the page is about; not given: the first of the lines", limit=120),
    Field("output_tok_s", "number", "measured tokens per second of the whole build", low=Decimal("0.001"), high=Decimal(10) ** 9),
    Field("electricity_kwh", "number", "the customer's price of electricity per kWh", low=Decimal(0), high=Decimal(100)),
    Field("pue", "number", "power of the room over power of the machines", low=Decimal(1), high=Decimal(5)),
    Field("utilization", "share", "share of the time at work", low=Decimal("0.001"), high=Decimal(1)),
    Field("horizon_years", "number", "years", low=Decimal("0.1"), high=Decimal(20)),
    Field("maintenance_share_year", "share", "maintenance a year, share of the hardware's price", low=Decimal(0), high=Decimal(1)),
    Field("space_card_year", "number", "rack space for each card and year", low=Decimal(0), high=MOST_MONEY),
    Field("staff_card_year", "number", "staff for each card and year", low=Decimal(0), high=MOST_MONEY),
    Field("licence_card_year", "number", "licences for each card and year", low=Decimal(0), high=MOST_MONEY),
    Field("cloud", "text", "a cloud rate of the workbook, or with cloud_hour a name of your own", limit=120),
    Field("cloud_hour", "number", "rent for each card and hour", low=Decimal(0), high=Decimal(10) ** 5, above=True),
    Field("cloud_gpu", "text", "card that is rented; not given: the offered one", limit=120),
    Field("api", "text", "an API of the workbook, or with api_in and api_out a name of your own", limit=120),
    Field("api_in", "number", "price of a million input tokens", low=Decimal(0), high=Decimal(10) ** 5),
    Field("api_out", "number", "price of a million output tokens", low=Decimal(0), high=Decimal(10) ** 5),
)
SELLER = (
    Field("name", "text", "company, with its legal form", required=True, limit=160),
    Field("slogan", "local", "line below the name", limit=120),
    *_ADDRESS,
    Field("country", "country", "two letters, such as DE", required=True),
    Field("phone", "text", "telephone", limit=40),
    Field("email", "text", "e-mail address", limit=120),
    Field("web", "text", "web address", limit=120),
    Field("contact", "text", "person who signs", limit=120),
    Field("role", "local", "role of that person", limit=120),
    Field("legal_form", "text", "legal form", limit=120),
    Field("seat", "text", "registered seat", limit=80),
    Field("register", "text", "register court and number", limit=120),
    Field("managing_directors", "texts", "managing directors", limit=120),
    Field("chair", "text", "chair of the supervisory board", limit=120),
    Field("vat_id", "text", "VAT number with its country", limit=24),
    Field("cvr", "text", "Danish business number, eight digits", limit=12),
    Field("tax_number", "text", "tax number", limit=40),
    Field("bank", "text", "bank", limit=120),
    Field("iban", "text", "IBAN", limit=42),
    Field("bic", "text", "BIC", limit=15),
    Field("vat_rate", "share", "domestic rate of VAT; not given: the standard rate of the country", low=Decimal(0), high=Decimal(1)),
    Field("logo", "text", "picture (PNG or JPEG) beside the seller file", limit=200),
    Field("texts", "text", "folder beside the seller file with texts of your own: en.toml, de.toml, da.toml", limit=200),
)
_DEFAULTED = ("language", "currency", "valid_days", "binding", "discount", "margin", "delivery", "payment", "warranty")
DEFAULTS = tuple(f for f in REQUEST if f.name in _DEFAULTED)
NUMBERING = (
    Field("prefix", "text", "what stands before the number, such as Q-2026-", limit=20),
    Field("digits", "whole", "digits of the number", low=Decimal(1), high=Decimal(9)),
    Field("start", "whole", "first number", low=Decimal(1), high=Decimal(999_999_999)),
    Field("counter", "text", "counter file beside the seller file", limit=200),
)
PRIVATE = frozenset(("margin", "cost", "id", "seller"))

_TRUE, _FALSE = frozenset(("true", "yes", "1", "ja")), frozenset(("false", "no", "0", "nein", "nej"))
# What changes the direction of the text, or takes no room: not seen by who reads, and makes two names look like one.
_HIDDEN = frozenset("\u061c\u180e\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufeff")


def _text(value: Any, f: Field) -> tuple[Any, str]:
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        return None, f"is {_short(value)}; a text is due"
    text = unicodedata.normalize("NFC", str(value)).replace("\r\n", "\n").strip()
    many = f.kind in ("lines", "local")
    for c in text:
        if c in _HIDDEN or (unicodedata.category(c) in ("Cc", "Cs", "Co", "Cn") and not (many and c in "\n\t")):
            return None, f"has the character U+{ord(c):04X}; text that can be seen{' and lines' if many else ' in one line'} is due"
    if len(text) > f.limit:
        return None, f"has {len(text)} characters; at most {f.limit} are due"
    if all(c.isspace() or unicodedata.category(c) == "Cf" for c in text):
        return (None, "is empty; a text is due") if f.required else (None, "")
    return text.replace("\t", "    "), ""


def _number(value: Any, f: Field) -> tuple[Any, str]:
    wanted = wanted_number(f)
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        return None, f"is {_short(value)}; {wanted} is due"
    text = str(value).strip().replace("\u00a0", " ")
    percent = f.kind == "share" and text.endswith("%")
    body = text[:-1].strip() if percent else text
    if isinstance(value, str):
        if not re.fullmatch(r"[+-]?(\d{1,30}([.,]\d{0,20})?|[.,]\d{1,20})", body, re.ASCII):
            return None, f"is {_short(value)}; {wanted} is due"
        body = body.replace(",", ".")
    try:
        number = Decimal(body)
    except InvalidOperation:
        return None, f"is {_short(value)}; {wanted} is due"
    if not number.is_finite() or number.adjusted() > 30:
        return None, f"is {_short(value)}; {wanted} is due"
    if percent:
        number /= 100
    number = number.normalize() if number else Decimal(0)
    exponent = int(number.as_tuple().exponent)
    outside = (f.low is not None and (number < f.low or (f.above and number == f.low))) or (f.high is not None and number > f.high)
    if outside or (f.kind == "whole" and exponent < 0) or -exponent > (20 if f.name == "cost" else f.places + 2 * percent):
        return None, f"is {_short(value)}; {wanted} is due"
    return int(number) if f.kind == "whole" else number, ""


def wanted_number(f: Field) -> str:
    """What a number must be, as it ends a message."""
    what = {"whole": "a whole number", "share": "a share such as 0.05 or 5 %"}.get(f.kind, "a number")
    if f.low is not None and f.high is not None:
        what += f" {'above' if f.above else 'from'} {f.low:f} {'and up to' if f.above else 'to'} {f.high:f}"
    if f.kind == "number" and f.name != "cost":
        what += f" with at most {f.places} decimals"
    return what


def _date(value: Any, f: Field) -> tuple[Any, str]:
    if isinstance(value, dt.datetime):
        value = value.date()
    if isinstance(value, str):
        german = re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d{4})", value.strip())
        try:
            value = dt.date(*map(int, reversed(german.groups()))) if german else dt.date.fromisoformat(value.strip())
        except ValueError:
            return None, f"is {_short(value)}; a date such as 2026-11-30 is due"
    if not isinstance(value, dt.date):
        return None, f"is {_short(value)}; a date such as 2026-11-30 is due"
    return (value, "") if 2000 <= value.year <= 2100 else (None, f"is {value}; a date from 2000 to 2100 is due")


def _choice(value: Any, f: Field) -> tuple[Any, str]:
    found = next((c for c in f.choices if isinstance(value, str) and c.lower() == value.strip().lower()), None)
    return (found, "") if found else (None, f"is {_short(value)}; one of {', '.join(f.choices)} is due")


def _flag(value: Any, f: Field) -> tuple[Any, str]:
    if isinstance(value, bool):
        return value, ""
    low = str(value).strip().lower()
    return (low in _TRUE, "") if low in _TRUE | _FALSE else (None, f"is {_short(value)}; true or false is due")


def _country(value: Any, f: Field) -> tuple[Any, str]:
    from gpuecon_xl.quote import vat

    code = str(value).strip().upper()
    if isinstance(value, str) and re.fullmatch(r"[A-Z]{2}", code) and vat.is_country(code):
        return ("GR" if code == "EL" else code), ""
    return None, f"is {_short(value)}; a country of two letters such as DE is due"


def _texts(value: Any, f: Field) -> tuple[Any, str]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or len(items) > 20:
        return None, f"is {_short(value)}; a list of at most 20 texts is due"
    out = []
    for item in items:
        text, problem = _text(item, f)
        if problem or text is None:
            return None, problem or "holds an empty text; a text is due"
        out.append(text)
    return tuple(out), ""


def _local(value: Any, f: Field) -> tuple[Any, str]:
    if not isinstance(value, Mapping):
        return _text(value, f)
    out = {}
    for language, text in value.items():
        if language not in LANGUAGES:
            return None, f"has the language {_short(language)}; {', '.join(LANGUAGES)} are due"
        out[language], problem = _text(text, f)
        if problem:
            return None, f"({language}) {problem}"
    return out, ""


_CHECKS: dict[str, Callable[[Any, Field], tuple[Any, str]]] = {
    "text": _text, "lines": _text, "number": _number, "whole": _number, "share": _number, "date": _date, "choice": _choice, "flag": _flag,
    "country": _country, "texts": _texts, "local": _local,
}  # fmt: skip


def _short(value: Any) -> str:
    text = repr(str(value) if isinstance(value, Decimal | dt.date) else value)
    return text if len(text) <= 42 else text[:40] + "…"


def check(value: Any, f: Field) -> tuple[Any, str]:
    """A field's value, or what is wrong with it as the rest of a sentence."""
    return _CHECKS[f.kind](value, f)


def unknown(name: str, known: tuple[Field, ...], also: tuple[str, ...] = ()) -> str:
    """The refusal of a field that does not exist."""
    return f"is no field; nearest: {nearest(str(name)[:60], [*(f.name for f in known), *also])}"


def _json_type(f: Field) -> dict[str, Any]:
    if f.kind in ("number", "share", "whole"):
        out: dict[str, Any] = {"type": "integer" if f.kind == "whole" else "number"}
        if f.low is not None:
            out["exclusiveMinimum" if f.above else "minimum"] = float(f.low) if f.low % 1 else int(f.low)
        if f.high is not None:
            out["maximum"] = float(f.high) if f.high % 1 else int(f.high)
        if f.kind == "share":
            out = {"anyOf": [out, {"type": "string", "pattern": r"^[0-9]+([.,][0-9]+)? ?%$"}]}
        return out
    text: dict[str, Any] = {"type": "string", "maxLength": f.limit}
    return {
        "text": text, "lines": text, "flag": {"type": "boolean"}, "choice": {"enum": list(f.choices)},
        "country": {"type": "string", "pattern": "^[A-Z]{2}$"}, "texts": {"type": "array", "items": text, "maxItems": 20},
        "date": {"type": "string", "format": "date"},
        "local": {"anyOf": [text, {"type": "object", "properties": dict.fromkeys(LANGUAGES, text), "additionalProperties": False}]},
    }[f.kind]  # fmt: skip


def _object(block: tuple[Field, ...], **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object", "additionalProperties": False,
                            "properties": {f.name: {"description": f.help, **_json_type(f)} for f in block} | more}  # fmt: skip
    required = [f.name for f in block if f.required]
    return made | ({"required": required} if required else {})


def json_schema() -> dict[str, Any]:
    """The JSON schema of a quote request, for editors of TOML and YAML."""
    lines = {"type": "array", "minItems": 1, "maxItems": MOST_LINES, "items": _object(LINE), "description": "what is offered"}
    whole = _object(REQUEST, customer=_object(CUSTOMER), line=lines, economics=_object(ECONOMICS))
    return {"$schema": "http://json-schema.org/draft-07/schema#", "title": "gpuecon quote request", **whole, "required": ["customer", "line"]}
