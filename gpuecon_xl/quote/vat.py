"""VAT of an offer: which treatment, which rate, whether a VAT number has its country's form.

Here: the countries of the EU (``vat.csv``: rates and forms, each with source and date).
Not here: texts of the treatments (``lang/``), amounts (`money`).
A number's form is checked, not whether it is registered: that is for VIES. Where sources differ, the wider form stands: no good number is refused.
"""

from __future__ import annotations

import csv
import re
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

from gpuecon_xl.errors import BadValue


@lru_cache(maxsize=1)
def countries() -> dict[str, dict[str, str]]:
    """Countries of the EU by their two letters."""
    with (Path(__file__).parent / "vat.csv").open(newline="", encoding="utf-8") as file:
        return {row["country"]: row for row in csv.DictReader(file)}


@lru_cache(maxsize=1)
def _territories() -> frozenset[str]:
    from babel import Locale

    codes = {str(k) for k in Locale("en").territories}
    return frozenset(k for k in codes if len(k) == 2 and k.isalpha() and k not in ("EU", "EZ", "UN", "ZZ", "QO", "XA", "XB"))


def is_country(code: str) -> bool:
    """Whether two letters name a country; EL is Greece in VAT numbers."""
    return code == "EL" or code in _territories()


def country_name(code: str, lang: str) -> str:
    """A country's name in a language."""
    from babel import Locale

    return str(Locale(lang).territories[code])


def checked_number(text: str, country: str = "") -> str:
    """A VAT number without blanks and dots, in its country's form.

    Raises
    ------
    BadValue
        The rest of a sentence: what is wrong and what would be right.
    """
    plain = re.sub(r"[\s.\-/]", "", text).upper()
    rows = {r["prefix"]: r for r in countries().values()}
    row = rows.get(plain[:2])
    if row is None:
        raise BadValue(f"is {text[:24]!r}; a VAT number that begins with its country in the EU, such as DE and 9 digits, is due")
    if country and row["country"] != country:
        raise BadValue(f"is {text[:24]!r}, a number of {row['country']}; one of {country} is due")
    if not re.fullmatch(row["pattern"], plain[2:], re.ASCII):
        raise BadValue(f"is {text[:24]!r}; {row['prefix']} and {row['shape']} are due")
    return plain


def treatment(asked: str | None, seller: str, customer: str, vat_id: str | None) -> str:
    """The treatment of an offer from `seller` to `customer` (countries); `vat_id` is checked already.

    Raises
    ------
    BadValue
        When what was asked for does not go with the countries or the number: the rest of a sentence.
    """
    inside = customer in countries()
    if asked is None:
        if customer == seller or (inside and not (vat_id and seller in countries())):
            return "domestic"
        return "eu" if inside else "export"
    if asked == "domestic" and customer != seller and not inside:
        raise BadValue(f"is 'domestic', but the customer is in {customer}, outside of the EU; 'export' is due")
    if asked == "eu":
        if seller not in countries() or not inside or customer == seller:
            raise BadValue(f"is 'eu', but seller and customer are in {seller} and {customer}; two different countries of the EU are due")
        if not vat_id:
            raise BadValue("is 'eu', but customer.vat_id is missing; the customer's VAT number is due")
    if asked == "export" and (customer == seller or (inside and seller in countries())):
        raise BadValue(f"is 'export', but the customer is in {customer}; {'domestic' if customer == seller else 'eu or domestic'!r} is due")
    return asked


def standard_rate(country: str) -> Decimal | None:
    """Standard rate of a country of the EU; None elsewhere."""
    row = countries().get(country)
    return Decimal(row["standard_rate"]) if row else None
