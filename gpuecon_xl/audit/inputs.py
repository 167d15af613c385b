"""Inputs that cannot be relied on: numbers as text, out of range, in the wrong currency, prices without source or too old.

Here: each input cell against its field. Not here: what a field allows (`schema`), typing a value (`catalog`), reading (`reader`).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from gpuecon_xl.audit.findings import Findings, address
from gpuecon_xl.audit.shape import Shape
from gpuecon_xl.catalog import Row, odd_names, parse_cell, shipped
from gpuecon_xl.errors import nearest
from gpuecon_xl.reader import OpenBook, Region, parse_local, wanted_assumption
from gpuecon_xl.schema import ASCENDING, BY_BOOK_NAME, LOOKED_UP, TABLES, Field
from gpuecon_xl.sheets.model import Column, TableSpec

ERRORS = frozenset(("#N/A", "#VALUE!", "#REF!", "#DIV/0!", "#NUM!", "#NAME?", "#NULL!"))

# Tables that hold prices: the column that is a price.
PRICED = {"Prices": "typical", "Rates": "rate_hour", "Apis": "price_out_mtok"}
_MONEY = frozenset(("money", "rate"))
_NUMBER_LOOKS = frozenset(("whole", "one", "small", "rate", "money"))  # inputs of computed sheets: at least 0, as their validation says
_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "USD": "USD", "EUR": "EUR", "GBP": "GBP", "CHF": "CHF", "DKK": "DKK", "KR.": "DKK", "KR": "DKK"}
_SIGN = re.compile(r"\$|€|£|\b(?:USD|EUR|GBP|CHF|DKK)\b|\bkr\b\.?", re.IGNORECASE)
_CURRENCY = re.compile(r"(?<![A-Za-z])(EUR|USD)(?![A-Za-z])", re.IGNORECASE)
_LOCALE = re.compile(r"\[\$-[^\]]*\]")  # says how digits look, not which currency
_COUNTRY = re.compile(r"\[\$([^\]-]+)-[^\]]*\]")


def check_inputs(shape: Shape, found: Findings) -> None:
    """Every input cell of every table."""
    typed: dict[str, list[tuple[int, Row]]] = {}
    for name, (_, t) in shape.tables.items():
        region = shape.book.regions.get(name)
        if region is not None:
            typed[name] = list(_rows(shape, found, t, region))
    for name, rows in typed.items():
        if name in BY_BOOK_NAME:
            _names(shape, found, name, rows)
    _looked_up(shape, found, typed)
    _prices(shape, found, typed)
    _formula_units(shape, found)


def _rows(shape: Shape, found: Findings, t: TableSpec, region: Region) -> Iterator[tuple[int, Row]]:
    """Rows with content, as typed values; what cannot be typed is left out and told."""
    book = shape.book
    columns = [c for c in t.columns if c.kind == "input" and c.name in region.columns]
    for r in range(region.count):
        given = {c.name: book.raw(region, c.name, r) for c in columns}
        if all(v is None or (isinstance(v, str) and not v.strip()) for v in given.values()):
            continue
        row: Row = {}
        key = BY_BOOK_NAME[t.name].key if t.name in BY_BOOK_NAME else ""
        if key in given and str(given[key] or "").strip() == "":
            found.add("missing", region.sheet, (region.first + r, region.columns[key]), column=key)
            continue
        for c in columns:
            at = (region.first + r, region.columns[c.name])
            row[c.name] = _value(shape, found, t, c, given, region.sheet, at)
        yield r, row


def _field(t: TableSpec, c: Column, given: Mapping[str, Any]) -> Field | None:
    """What may stand in an input cell."""
    if t.name == "Assumptions" and c.name == "value":
        return wanted_assumption(str(given.get("name") or "").strip())
    if c.field is None and c.fmt in _NUMBER_LOOKS:
        return Field(c.name, "number", c.unit, low=0.0)
    return c.field


def _value(shape: Shape, found: Findings, t: TableSpec, c: Column, given: Mapping[str, Any], sheet: str, at: tuple[int, int]) -> Any:
    value = given[c.name]
    f = _field(t, c, given)
    formula = bool(shape.formula_at((sheet, *at)))
    if isinstance(value, str) and value.strip() in ERRORS:
        if not formula:  # one that a formula gives is told with the stored values
            found.add("error", sheet, at, "error_input", found=value)
        return None
    if value is None and formula:
        return None  # not calculated: told with the stored values
    due = _currency(t, c, given)
    if value is not None:
        sign = _format_sign(shape, (sheet, *at))
        if due and sign and sign != due and (f is None or f.numeric or f.kind == "any"):
            found.add("unit", sheet, at, "unit_format", shown=sign, currency=due, column=c.name)
    if f is None:
        return value
    if isinstance(value, str) and value.strip() and (f.numeric or f.kind == "any"):
        return _from_text(shape.book, found, f, value.strip(), due, sheet, at)
    if isinstance(value, str) and f.kind == "date" and parse_cell(value, f)[1] is None and value.strip():
        found.add("text_number", sheet, at, "text_date", due=str(parse_cell(value, f)[0]), found=value)
    parsed, problem = parse_cell(value, f)
    if problem is not None:
        empty = value is None or value == ""
        found.add("missing" if empty else "range", sheet, at, due=_due(found, f), found=value, column=c.name)
    return parsed


def _from_text(book: OpenBook, found: Findings, f: Field, text: str, due: str, sheet: str, at: tuple[int, int]) -> Any:
    """A number that was typed as text, or a text where a number is due."""
    number = parse_local(text, book.lang)
    sign = _sign_of(text)
    if number is None:
        if f.kind == "any":
            return text
        found.add("range", sheet, at, due=_due(found, f), found=text, column=f.name)
        return None
    if due and sign and sign != due:
        found.add("unit", sheet, at, "unit_text", found=text, shown=sign, currency=due, column=f.name)
    else:
        found.add("text_number", sheet, at, due=f"{number:.12g}", found=text, column=f.name)
    parsed, problem = parse_cell(number, f)
    if problem is not None:
        found.add("range", sheet, at, due=_due(found, f), found=number, column=f.name)
    return parsed


def _due(found: Findings, f: Field) -> str:
    """What may stand in a field, in a few words."""
    if f.choices:
        return found.texts("audit.due_choice", choices=", ".join(f.choices))
    if f.kind == "date":
        return found.texts("audit.due_date")
    if not f.numeric:
        return found.texts("audit.due_text")
    bounds = ["> 0"] if f.positive else [f">= {f.low:g}"] if f.low is not None else []
    bounds += [f"<= {f.high:g}"] if f.high is not None else []
    word = found.texts("audit.due_count" if f.kind == "count" else "audit.due_number")
    return " ".join(filter(None, (word, ", ".join(bounds), f"[{f.unit}]" if f.unit else "")))


# ------------------------------------------------------------------------------------------------ currencies


def _currency(t: TableSpec, c: Column, given: Mapping[str, Any]) -> str:
    """The currency that a cell's figure is in, empty where it is no money."""
    if c.fmt in _MONEY and "currency" in given:
        return str(given["currency"] or "").strip().upper()
    if t.name == "Assumptions" and c.name in ("value", "low", "high"):
        return _one_currency(str(given.get("unit") or ""))
    return _one_currency(f"{c.name.replace('_', ' ')} {c.unit}")


def _one_currency(text: str) -> str:
    named = {m.upper() for m in _CURRENCY.findall(text)}
    return named.pop() if len(named) == 1 else ""


def _sign_of(text: str) -> str:
    m = _SIGN.search(text)
    return _SIGNS[m[0].upper()] if m is not None else ""


def _format_sign(shape: Shape, at: tuple[str, int, int]) -> str:
    """The currency that a cell's number format shows."""
    cell = shape.cell(at)
    return format_sign(cell.number_format) if cell is not None else ""


def format_sign(number_format: str) -> str:
    """The currency that a number format shows, empty when none."""
    return _sign_of(_COUNTRY.sub(r"\1", _LOCALE.sub("", number_format)).replace("\\", "").replace('"', " "))


def _formula_units(shape: Shape, found: Findings) -> None:
    """Computed figures in euros that are shown with another sign."""
    signs: dict[int, str] = {}
    for at, wanted in shape.wanted.items():
        cell = shape.cell(at)
        known = shape.column(wanted.table, wanted.column) if wanted.table else None
        if cell is None or known is None:
            continue
        look = cell._style.numFmtId
        if look not in signs:
            signs[look] = format_sign(cell.number_format)
        due = _one_currency(known.unit) if signs[look] else ""
        if due and signs[look] != due:
            found.add("unit", at[0], at[1:], "unit_format", shown=signs[look], currency=due, column=known.name)


# ------------------------------------------------------------------------------------------------ rows as a whole


def _at(shape: Shape, table: str, r: int, column: str) -> tuple[str, tuple[int, int]]:
    region = shape.book.regions[table]
    return region.sheet, (region.first + r, region.columns[column])


def _names(shape: Shape, found: Findings, name: str, rows: list[tuple[int, Row]]) -> None:
    """Names that stand twice, or that look-ups would misread."""
    table = BY_BOOK_NAME[name]
    if table.key not in shape.book.regions[name].columns:
        return
    for number, first in odd_names(table, [row for _, row in rows]):
        where = _at(shape, name, rows[number][0], table.key)
        value = rows[number][1][table.key]
        if first is None:
            found.add("range", *where, "wildcard", found=value)
        else:
            found.add("range", *where, "twice", found=value, other=address(*_at(shape, name, rows[first][0], table.key)[1]))


def _looked_up(shape: Shape, found: Findings, typed: Mapping[str, list[tuple[int, Row]]]) -> None:
    """Names that are not in the table where they are looked up."""
    for table, column, other in LOOKED_UP:
        one, two = TABLES[table].book_name, TABLES[other]
        if one not in typed or two.book_name not in typed or two.key not in shape.book.regions[two.book_name].columns:
            continue
        known = [str(row.get(two.key) or "") for _, row in typed[two.book_name]]
        lower = {k.lower() for k in known}
        for r, row in typed[one]:
            value = row.get(column)
            if value and column in shape.book.regions[one].columns and str(value).lower() not in lower:
                found.add("unknown", *_at(shape, one, r, column), found=value, column=column, table=two.book_name, near=nearest(str(value), known, 1))


def _prices(shape: Shape, found: Findings, typed: Mapping[str, list[tuple[int, Row]]]) -> None:
    """Prices out of order, without source, too old."""
    day, limit = _assumption(typed, "as_of"), _assumption(typed, "price_age_days_max")
    for name, column in PRICED.items():
        region = shape.book.regions.get(name)
        for r, row in typed.get(name, ()):
            price = row.get(column)
            if region is None or price is None:
                continue
            of = row.get(BY_BOOK_NAME[name].key)
            if "source" in region.columns and not str(row.get("source") or "").strip():
                found.add("no_source", *_at(shape, name, r, "source"), of=of, price=price)
            _order(shape, found, name, r, row)
            if name != "Prices":
                continue
            if "as_of" not in region.columns or not isinstance(day, dt.date) or not isinstance(limit, float):
                continue
            dated = row.get("as_of")
            where = _at(shape, name, r, "as_of")
            if dated is None:
                if shape.book.raw(region, "as_of", r) is None:
                    found.add("old_price", *where, "no_date", of=of)
            elif (day - dated).days > limit:
                oldest = day - dt.timedelta(days=int(limit))
                found.add(
                    "old_price", *where, of=of, found=dated, days=(day - dated).days, limit=limit, day=oldest, note=(of, dated) in _shipped_old()
                )


def _order(shape: Shape, found: Findings, name: str, r: int, row: Row) -> None:
    ends = [(c, row[c]) for c in ASCENDING.get(BY_BOOK_NAME[name].name, ()) if isinstance(row.get(c), float)]
    for (one, a), (two, b) in pairwise(ends):
        if a > b:
            found.add("range", *_at(shape, name, r, two), "order", found=b, column=two, other=one, least=a)


def _assumption(typed: Mapping[str, list[tuple[int, Row]]], name: str) -> Any:
    value = next((row.get("value") for _, row in typed.get("Assumptions", ()) if row.get("name") == name), None)
    return shipped().assumptions[name] if value is None else value


def _shipped_old() -> set[tuple[Any, Any]]:
    """Prices that are too old already as shipped: known, and said on the sheet Checks."""
    catalog = shipped()
    day, limit = catalog.assumptions["as_of"], catalog.assumptions["price_age_days_max"]
    return {(r["gpu"], r["as_of"]) for r in catalog.rows("prices") if r["as_of"] is not None and (day - r["as_of"]).days > limit}
