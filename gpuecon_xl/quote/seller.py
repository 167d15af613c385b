"""The company that offers: its letterhead, what its letters must say by law, its defaults and its numbering.

Here: the seller file (``[seller]``, further companies as ``[sellers.NAME]``, ``[defaults]``, ``[numbering]``). Not here: requests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpuecon_xl.catalog import summed_up
from gpuecon_xl.errors import BadFile, BadValue, nearest
from gpuecon_xl.quote import fields, logo, source, vat

# What a business letter must carry, by country of the company.
# DE: GmbHG section 35a, AktG section 80, HGB section 37a; DK: selskabsloven section 2 (name, home, CVR number).
DUTY = {
    "DE": ("street", "postcode", "city", "legal_form", "seat", "register", "vat_id"),
    "DK": ("street", "postcode", "city", "cvr"),
}
# What is due besides of a company with limited liability, known by its name or legal form.
LIMITED = {
    "DE": (
        re.compile(r"\b(GmbH|UG|AG|SE)\b|beschränkter Haftung|haftungsbeschränkt|Aktiengesellschaft|G\.? ?m\.? ?b\.? ?H\b"),
        ("managing_directors",),
    ),
    "DK": (re.compile(r"\b(ApS|A/S|P/S)(?!\w)|[Aa]npartsselskab|[Aa]ktieselskab"), ("seat",)),
}


@dataclass(frozen=True)
class Company:
    """A company as its letters show it; nothing here is private."""

    name: str
    country: str
    values: Mapping[str, Any]
    logo: bytes = b""

    def get(self, name: str, lang: str = "") -> str:
        """A field as text, "" when it is not given; a text of several languages in `lang`, else in English, else in any."""
        value = self.values.get(name)
        return localised(value, lang) if isinstance(value, Mapping) else "" if value is None else str(value)


@dataclass(frozen=True)
class Seller:
    """A seller file: companies, defaults of requests, numbering."""

    companies: Mapping[str, Company]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    prefix: str = ""
    digits: int = 4
    start: int = 1
    counter: Path | None = None
    texts: Path | None = None

    def company(self, name: str | None) -> Company:
        """A company by its name in the file."""
        found = self.companies.get(name or "")
        if found is None:
            raise BadValue(f"is {name!r}; nearest in the seller file: {nearest(str(name), [c for c in self.companies if c])}")
        return found


def localised(value: Any, lang: str) -> str:
    """A text, or that of one language."""
    if isinstance(value, Mapping):
        return str(value.get(lang) or value.get("en") or next(iter(value.values()), ""))
    return "" if value is None else str(value)


def block(
    src: source.Source, tree: Any, known: tuple[fields.Field, ...], problems: list[str], *place: str | int, also: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The checked fields of one block; every problem is added with its place."""
    out: dict[str, Any] = {}
    if not isinstance(tree, Mapping):
        problems.append(f"{src.at(*place)} is {str(tree)[:40]!r}; fields below it are due")
        return out
    by_name = {f.name: f for f in known}
    for name, value in tree.items():
        if name in also:
            continue
        f = by_name.get(name)
        if f is None:
            problems.append(f"{src.at(*place, str(name)[:60])} {fields.unknown(name, known, also)}")
            continue
        made, problem = fields.check(value, f)
        if problem:
            problems.append(f"{src.at(*place, name)} {problem}")
        elif made is not None:
            out[name] = made
    for f in known:
        if f.required and f.name not in tree:
            problems.append(f"{src.at(*place, f.name)} is missing; {f.help} is due")
    return out


def read_seller(path: Path) -> Seller:
    """The seller file.

    Raises
    ------
    BadFile
        Naming every problem by line and field, all at once.
    """
    if not path.is_file():
        raise BadFile(f"{path}: no such file; a seller file is due, beside the request or by --seller")
    src = source.read(path)
    problems: list[str] = []
    known = ("seller", "sellers", "defaults", "numbering")
    for name in src.tree:
        if name not in known:
            problems.append(f"{src.at(str(name))} is no block; nearest: {nearest(str(name)[:60], known)}")
    if "seller" not in src.tree:
        problems.append(f"{src.name} has no [seller]; the company that offers is due")
    companies: dict[str, Company] = {}
    first = src.tree.get("seller", {})
    texts = _company(src, first, companies, "", problems, "seller")
    others = src.tree.get("sellers", {})
    if not isinstance(others, Mapping):
        problems.append(f"{src.at('sellers')} is no block; [sellers.NAME] is due")
        others = {}
    for name, tree in others.items():
        _company(src, tree, companies, str(name), problems, "sellers", str(name))
    defaults = block(src, src.tree.get("defaults", {}), fields.DEFAULTS, problems, "defaults")
    numbering = block(src, src.tree.get("numbering", {}), fields.NUMBERING, problems, "numbering")
    if problems:
        raise BadFile(summed_up(str(path), problems) if len(problems) > 1 else problems[0], problems)
    counter = numbering.get("counter")
    return Seller(companies, defaults, numbering.get("prefix", ""), numbering.get("digits", 4), numbering.get("start", 1),
                  path.parent / counter if counter else None, path.parent / texts if texts else None)  # fmt: skip


def _company(src: source.Source, tree: Any, companies: dict[str, Company], name: str, problems: list[str], *place: str) -> str:
    values = block(src, tree, fields.SELLER, problems, *place)
    if not isinstance(tree, Mapping):
        return ""
    country = values.get("country", "")
    form, more = LIMITED.get(country, (None, ()))
    limited = form is not None and form.search(f"{values.get('name', '')} {values.get('legal_form', '')}")
    for duty in (*DUTY.get(country, ()), *(more if limited else ())):
        if duty not in tree or values.get(duty, duty) in ("", ()):
            problems.append(f"{src.at(*place, duty)} is missing; a business letter from {country} must carry it")
    if "vat_id" in values:
        try:
            values["vat_id"] = vat.checked_number(values["vat_id"], country if country in vat.countries() else "")
        except BadValue as error:
            if country in vat.countries():
                problems.append(f"{src.at(*place, 'vat_id')} {error}")
    cvr = values.get("cvr")
    if cvr is not None:
        values["cvr"] = "".join(c for c in cvr if c.isdigit())
        if len(values["cvr"]) != 8:
            problems.append(f"{src.at(*place, 'cvr')} is {cvr!r}; 8 digits are due")
    if country and country not in vat.countries() and "vat_rate" not in values:
        problems.append(f"{src.at(*place, 'vat_rate')} is missing; the domestic rate of VAT is due, the product knows those of the EU")
    picture = b""
    if "logo" in values:
        file = src.folder / values["logo"]
        if not file.is_file() or file.stat().st_size > logo.MAX_BYTES:
            problems.append(f"{src.at(*place, 'logo')} is {values['logo'][:40]!r}; a PNG or JPEG file of at most {logo.MAX_BYTES} bytes is due")
        else:
            picture = file.read_bytes()
            try:
                logo.pixels(picture)
            except BadValue as error:
                problems.append(f"{src.at(*place, 'logo')} {error}")
    companies[name] = Company(values.get("name", ""), country, values, picture)
    return str(values.get("texts", ""))
