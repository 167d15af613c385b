"""The one layer between cells and functions: what a cell's content means as an argument, and what goes back.

Here: one documented rule for each kind of content, the same answer in every carrier; broadcasting of ranges; refusals as
sentences. Not here: how a carrier gets at cells, or how it shows an error (the carrier modules).

Rules
-----
- omitted, empty cell, empty text: the default; a required argument without content is refused.
- number, Decimal: the number. Number as text: point or comma is the decimal sign; "60 %" is 0.6. A text that English and
  German read differently ("2.800", "1,234") is refused.
- TRUE, FALSE, a date, an error value where a number is due: refused.
- a name: blanks around it and case do not matter; a number (5090) is read as the name it spells.
- a range of one cell is that cell; rows, columns and blocks broadcast against each other, the answer has their shape.
- options: text "tp=2; kv=fp8" or a two-column range. catalog: the range of a whole table with its header row.
"""

from __future__ import annotations

import datetime as dt
import decimal
import importlib.util
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gpuecon_xl import functions as python
from gpuecon_xl.catalog import as_catalog
from gpuecon_xl.errors import BadValue, GpueconError, NameNotFound
from gpuecon_xl.functions_table import BY_NAME, Function

ERROR_TEXTS = frozenset(("#N/A", "#VALUE!", "#REF!", "#DIV/0!", "#NUM!", "#NAME?", "#NULL!", "#SPILL!", "#CALC!", "#GETTING_DATA"))
MANY = 200  # from this many cells on, one array call is faster than single calls


@dataclass(frozen=True)
class Refused:
    """A cell that cannot be answered: the sentence, and the error value that fits it (#N/A for names, else #VALUE!)."""

    sentence: str
    code: str

    @classmethod
    def of(cls, error: GpueconError) -> Refused:
        """A refusal from an error of the package."""
        return cls(" ".join(str(error).split()), "#N/A" if isinstance(error, NameNotFound) else "#VALUE!")


def number(value: Any, what: str) -> Any:
    """A cell's content where a number is due."""
    if isinstance(value, bool):
        raise BadValue(f"{what} is {'TRUE' if value else 'FALSE'}; a number is due")
    if isinstance(value, int | float):
        return value
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, dt.date | dt.datetime | dt.time):
        raise BadValue(f"{what} is a date; a number is due (format the cell as a number)")
    if not isinstance(value, str):
        raise BadValue(f"{what} is {type(value).__name__}; a number is due")
    text = value.strip().replace("\u00a0", " ").replace("\u202f", " ")
    if text in ERROR_TEXTS:
        raise BadValue(f"{what} is the error {text}; mend that cell first")
    percent = text.endswith("%")
    body = text[:-1].strip() if percent else text
    if re.fullmatch(r"[+-]?\d{1,3}[.,]\d{3}", body):
        plain = re.sub(r"[.,]", "", body)
        raise BadValue(f"{what} is the text {text!r}, which English and German read differently; enter {plain} as a number")
    if not re.fullmatch(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", body):
        raise BadValue(f"{what} is the text {text[:40]!r}; a number is due")
    out = float(body.replace(",", "."))
    return out / 100 if percent else out


def name(value: Any, what: str) -> str:
    """A cell's content where a name is due."""
    if isinstance(value, bool):
        raise BadValue(f"{what} is {'TRUE' if value else 'FALSE'}; a name is due")
    if isinstance(value, dt.date | dt.datetime | dt.time):
        raise BadValue(f"{what} is a date; a name is due")
    if isinstance(value, int | float | decimal.Decimal):
        return str(int(value)) if value == int(value) else str(value)
    text = str(value).strip()
    if text in ERROR_TEXTS:
        raise BadValue(f"{what} is the error {text}; mend that cell first")
    return text


_NAMES = frozenset(("model", "gpu", "precision", "workload", "api", "function"))


def blank(value: Any) -> bool:
    """Whether a cell's content counts as not given."""
    return value is None or (isinstance(value, str) and not value.strip())


def _cells(value: Any) -> list[list[Any]] | None:
    """A range as rows; None for a single value."""
    if not isinstance(value, list | tuple):
        return None
    rows = [list(r) if isinstance(r, list | tuple) else [r] for r in value]
    if not any(isinstance(r, list | tuple) for r in value):  # a flat list is one row
        rows = [list(value)]
    width = max((len(r) for r in rows), default=0)
    return [r + [None] * (width - len(r)) for r in rows]


def _trimmed(rows: list[list[Any]]) -> list[list[Any]]:
    return [r for r in rows if not all(blank(v) for v in r)]


def options_of(value: Any) -> Any:
    """Options as a function takes them: None, a text, or pairs."""
    rows = _cells(value)
    if rows is None:
        return None if blank(value) else name(value, "options")
    rows = _trimmed(rows)
    if not rows:
        return None
    if len(rows) == 1 and len(rows[0]) == 1:
        return options_of(rows[0][0])
    if any(len(r) != 2 for r in rows):
        raise BadValue("options: a range of two columns, key and value, is due")
    pairs = tuple((name(k, "options"), v.strip() if isinstance(v, str) else number(v, f"option {k}")) for k, v in rows)
    return _pairs(pairs)


@lru_cache(maxsize=256)
def _pairs(pairs: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    return dict(pairs)


def catalog_of(value: Any) -> Any:
    """The catalogue that a range means; None for the shipped one."""
    rows = _cells(value)
    if rows is None:
        if blank(value):
            return None
        raise BadValue("catalog: the range of a whole table with its header row is due, such as Prices[#All]")
    rows = _trimmed(rows)
    if not rows:
        return None
    return as_catalog(tuple(tuple(_hashable(v) for v in r) for r in rows))


def _hashable(value: Any) -> Any:
    return float(value) if isinstance(value, decimal.Decimal) else value


def answer(function: str, raw: Sequence[Any]) -> Any:
    """The answer to one call from cells.

    Parameters
    ----------
    function : name as in the table of functions.  raw : arguments in order as the carrier hands them over; a range is a
        list of rows, an error value its text ("#N/A"), missing ones may be left out at the end.

    Returns
    -------
    A value, a `Refused`, or rows of them.
    """
    entry = BY_NAME[function]
    try:
        return _answer(entry, raw)
    except GpueconError as error:
        return Refused.of(error)


def _answer(entry: Function, raw: Sequence[Any]) -> Any:
    if len(raw) > len(entry.arguments):
        raise BadValue(f"{entry.excel} takes {len(entry.arguments)} arguments, not {len(raw)}")
    given = dict(zip(entry.arguments, raw, strict=False))
    fixed: dict[str, Any] = {}
    if "options" in entry.arguments:
        fixed["options"] = options_of(given.pop("options", None))
    if "catalog" in entry.arguments:
        fixed["catalog"] = catalog_of(given.pop("catalog", None))
    ranges: dict[str, list[list[Any]]] = {}
    single: dict[str, Any] = {}
    for argument in entry.arguments:
        if argument in ("options", "catalog"):
            continue
        value = given.get(argument)
        rows = _cells(value)
        if rows is not None and len(rows) == 1 and len(rows[0]) == 1:
            value, rows = rows[0][0], None
        if rows is None:
            single[argument] = value
        else:
            ranges[argument] = rows
    function: Callable[..., Any] = getattr(python, entry.name)
    if not ranges:
        found = function(**_converted(entry, single), **fixed)
        return [[v] for v in found] if isinstance(found, list) else found  # a list fills a column
    height, width = _shape(ranges)
    return _many(entry, function, single, ranges, height, width, fixed)


def _converted(entry: Function, values: dict[str, Any]) -> dict[str, Any]:
    """Arguments of one call: defaults where nothing is given, numbers and names read by the rules."""
    out = {}
    for i, argument in enumerate(entry.arguments):
        if argument in ("options", "catalog"):
            continue
        value = values.get(argument)
        if blank(value):
            if i < entry.required:
                raise BadValue(f"{argument} is empty; {'a name' if argument in _NAMES else 'a number'} is due")
            continue
        out[argument] = name(value, argument) if argument in _NAMES else number(value, argument)
    return out


def _shape(ranges: dict[str, list[list[Any]]]) -> tuple[int, int]:
    height = width = 1
    for argument, rows in ranges.items():
        for size, have in ((len(rows), height), (len(rows[0]) if rows else 0, width)):
            if size != 1 and have not in (1, size):
                sizes = ", ".join(f"{a} {len(r)}x{len(r[0])}" for a, r in ranges.items())
                raise BadValue(f"the ranges do not fit each other: {sizes}; equal sizes, one row, one column or one cell are due")
        height, width = max(height, len(rows)), max(width, len(rows[0]) if rows else 0)
        if not rows or not rows[0]:
            raise BadValue(f"{argument} is an empty range; at least one cell is due")
    return height, width


def _at(rows: list[list[Any]], r: int, c: int) -> Any:
    row = rows[r if len(rows) > 1 else 0]
    return row[c if len(row) > 1 else 0]


def _many(
    entry: Function,
    function: Callable[..., Any],
    single: dict[str, Any],
    ranges: dict[str, list[list[Any]]],
    height: int,
    width: int,
    fixed: dict[str, Any],
) -> list[list[Any]]:
    count = height * width
    calls: list[dict[str, Any] | Refused] = []
    memo: dict[Any, Any] = {}
    for r in range(height):
        for c in range(width):
            values = {**single, **{a: _at(rows, r, c) for a, rows in ranges.items()}}
            if all(blank(values.get(a)) for a in entry.arguments[: entry.required]):
                calls.append(Refused("", ""))  # a blank row of a range stays blank
                continue
            try:
                calls.append(_converted(entry, values))
            except GpueconError as error:
                calls.append(Refused.of(error))
    answers: list[Any] = [None] * count
    todo = [i for i, call in enumerate(calls) if not isinstance(call, Refused)]
    if len(todo) >= MANY and importlib.util.find_spec("numpy") is not None and entry.name in python.ARRAY_FORMS:
        names = [a for a in entry.arguments if a not in ("options", "catalog")]
        present = [n for n in names if any(n in calls[i] for i in todo)]  # type: ignore[operator]
        if all(all(n in calls[i] for n in present) for i in todo):  # type: ignore[operator]
            columns = {n: [calls[i][n] for i in todo] for n in present}  # type: ignore[index]
            for i, value in zip(todo, python.answers_of(entry.name, columns, **fixed), strict=True):
                answers[i] = Refused.of(value.error) if isinstance(value, python.Refusal) else value
            todo = []
    for i in todo:
        call = calls[i]
        assert isinstance(call, dict)
        key = tuple(sorted(call.items()))
        if key not in memo:
            try:
                memo[key] = function(**call, **fixed)
            except GpueconError as error:
                memo[key] = Refused.of(error)
        answers[i] = memo[key]
    for i, call in enumerate(calls):
        if isinstance(call, Refused):
            answers[i] = call if call.code else ""
    return [answers[r * width : (r + 1) * width] for r in range(height)]
