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
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

from gpuecon_xl import functions as python
from gpuecon_xl.catalog import as_catalog
from gpuecon_xl.errors import BadValue, GpueconError, NameNotFound, nearest
from gpuecon_xl.functions_table import BY_NAME, NAME_ARGUMENTS, Function

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


def blank(value: Any) -> bool:
    """Whether a cell's content counts as not given."""
    return value is None or (isinstance(value, str) and not value.strip())


def _cells(value: Any) -> Sequence[Sequence[Any]] | None:
    """A range as rows of equal width; None for a single value."""
    if not isinstance(value, list | tuple):
        return None
    kinds = set(map(type, value))
    if not kinds & {list, tuple}:  # a flat list is one row
        return [value]
    rows = value if kinds <= {list, tuple} else [r if isinstance(r, list | tuple) else [r] for r in value]
    widths = set(map(len, rows))
    return rows if len(widths) == 1 else [[*r, *[None] * (max(widths) - len(r))] for r in rows]


def _trimmed(rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
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
    if rows is not None and len(rows) == 1 and len(rows[0]) == 1:
        value, rows = rows[0][0], None
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


def why_rows(raw: Sequence[Any]) -> list[list[Any]] | Refused:
    """The steps behind one answer, for cells.

    Parameters
    ----------
    raw : name of the function, then its arguments as in `answer`; each a single cell, apart from options and catalog.

    Returns
    -------
    Rows of quantity, value, unit, equation, the answer in the last one; a `Refused` where there is no answer. A function
    whose steps are not kept gives its answer alone.
    """
    try:
        return _why_rows(raw)
    except GpueconError as error:
        return Refused.of(error)


def _why_rows(raw: Sequence[Any]) -> list[list[Any]] | Refused:
    from gpuecon_xl import explain

    wanted = _single(raw[0] if raw else None, "function")
    if blank(wanted):
        raise BadValue("function is empty; the name of a function is due")
    entry = BY_NAME.get(name(wanted, "function").lower())
    if entry is None:
        raise NameNotFound(f"function {str(wanted)[:40]!r} does not exist; nearest: {nearest(str(wanted), [f.excel for f in BY_NAME.values()])}")
    given = list(raw[1:])
    while given and blank(_first(given[-1])):
        given.pop()
    if len(given) > len(entry.arguments):
        raise BadValue(f"{entry.excel} takes {len(entry.arguments)} arguments, not {len(given)}")
    values = dict(zip(entry.arguments, given, strict=False))
    fixed: dict[str, Any] = {k: values.pop(k) for k in ("options", "catalog") if k in values}
    single: dict[str, Any] = {k: _single(v, k) for k, v in values.items()}
    if entry.name not in explain.EXPLAINED:
        found = answer(entry.name, [fixed.get(a, single.get(a)) for a in entry.arguments])
        if isinstance(found, list):
            raise BadValue(f"{entry.excel} gives a list, which has no steps; one of {', '.join(f.upper() for f in explain.EXPLAINED)} is due")
        return found if isinstance(found, Refused) else [[entry.name, found, entry.unit, "the answer"]]
    converted = _converted(entry, single)
    if "options" in fixed:
        converted["options"] = options_of(fixed["options"])
    if "catalog" in fixed:
        converted["catalog"] = catalog_of(fixed["catalog"])
    return [["" if v is None else v for v in step] for step in explain.why(entry.name, **converted)]


def _first(value: Any) -> Any:
    """A single cell's content; anything that is given for a larger range."""
    rows = _cells(value)
    return value if rows is None else rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 else rows or None


def _single(value: Any, what: str) -> Any:
    found = _first(value)
    if isinstance(found, list | tuple):
        raise BadValue(f"{what} is a range of {len(found)}x{len(found[0])} cells; one answer is explained at a time, so one cell is due")
    return found


def _answer(entry: Function, raw: Sequence[Any]) -> Any:
    if len(raw) > len(entry.arguments):
        raise BadValue(f"{entry.excel} takes {len(entry.arguments)} arguments, not {len(raw)}")
    given = dict(zip(entry.arguments, raw, strict=False))
    fixed: dict[str, Any] = {}
    if "options" in entry.arguments:
        fixed["options"] = options_of(given.pop("options", None))
    if "catalog" in entry.arguments:
        fixed["catalog"] = catalog_of(given.pop("catalog", None))
    ranges: dict[str, Sequence[Sequence[Any]]] = {}
    single: dict[str, Any] = {}
    for argument in _cell_arguments(entry):
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


_EMPTY: Any = object()  # stands for a blank cell


def _read(argument: str, value: Any) -> Any:
    """A cell's content as its argument takes it; `_EMPTY` for a blank one, a `Refused` for what cannot be read."""
    if blank(value):
        return _EMPTY
    try:
        return _named_or_number(argument, value)
    except GpueconError as error:
        return Refused.of(error)


def _named_or_number(argument: str, value: Any) -> Any:
    """Read a cell by what its argument is; `api` is a name or a blended price."""
    if argument in NAME_ARGUMENTS and not (argument == "api" and isinstance(value, int | float)):
        return name(value, argument)
    return number(value, argument)


def _needed(argument: str) -> BadValue:
    return BadValue(f"{argument} is empty; {'a name' if argument in NAME_ARGUMENTS else 'a number'} is due")


def _cell_arguments(entry: Function) -> list[str]:
    return [a for a in entry.arguments if a not in ("options", "catalog")]


def _converted(entry: Function, values: dict[str, Any]) -> dict[str, Any]:
    """Arguments of one call: defaults where nothing is given, numbers and names read by the rules."""
    out = {}
    for i, argument in enumerate(_cell_arguments(entry)):
        value = values.get(argument)
        if not blank(value):
            out[argument] = _named_or_number(argument, value)
        elif i < entry.required:
            raise _needed(argument)
    return out


def _shape(ranges: dict[str, Sequence[Sequence[Any]]]) -> tuple[int, int]:
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


def _flat(rows: Sequence[Sequence[Any]], height: int, width: int) -> list[Any]:
    """A range, broadcast to a shape, row by row."""
    if len(rows) == height and len(rows[0]) == width:
        return list(chain.from_iterable(rows))
    wide = [row if len(row) > 1 else [row[0]] * width for row in rows]
    return list(chain.from_iterable(wide if len(wide) > 1 else wide * height))


def _read_column(argument: str, cells: list[Any]) -> tuple[list[Any], bool]:
    """A column of cells as `_read` sees them, each kind of content read once; whether some are blank or refused."""
    kinds = set(map(type, cells))
    if kinds <= {float, int} and argument not in NAME_ARGUMENTS:
        return cells, False
    keys = cells if kinds == {str} else list(zip(map(type, cells), cells, strict=True))  # TRUE is no 1
    known = {key: _read(argument, key if kinds == {str} else key[1]) for key in set(keys)}
    return list(map(known.__getitem__, keys)), any(v is _EMPTY or isinstance(v, Refused) for v in known.values())


def _many(
    entry: Function,
    function: Callable[..., Any],
    single: dict[str, Any],
    ranges: dict[str, Sequence[Sequence[Any]]],
    height: int,
    width: int,
    fixed: dict[str, Any],
) -> list[list[Any]]:
    """Answers to a range: column by column as far as possible, since a sheet may hand over thousands of rows."""
    count = height * width
    arguments = _cell_arguments(entry)
    shared = {a: _read(a, single[a]) for a in arguments if a in single}
    columns: dict[str, list[Any]] = {}
    doubtful = any(isinstance(v, Refused) for v in shared.values()) or any(shared.get(a) is _EMPTY for a in arguments[: entry.required])
    for argument, rows in ranges.items():
        columns[argument], troubled = _read_column(argument, _flat(rows, height, width))
        doubtful = doubtful or troubled
    answers: list[Any] = [None] * count
    todo: Sequence[int] = range(count)
    # a row is blank when what it should name is blank, whatever stands beside the range
    naming = [k for k, a in enumerate(arguments[: entry.required]) if a in columns] or list(range(entry.required))
    if doubtful:
        todo = good = []
        for i in range(count):
            values = [columns[a][i] if a in columns else shared[a] for a in arguments]
            if all(values[k] is _EMPTY for k in naming):
                answers[i] = ""  # a blank row of a range stays blank
                continue
            for k, v in enumerate(values):
                if isinstance(v, Refused):
                    answers[i] = v
                    break
                if v is _EMPTY and k < entry.required:
                    answers[i] = Refused.of(_needed(arguments[k]))
                    break
            else:
                good.append(i)
    given = {a: v for a, v in shared.items() if v is not _EMPTY}
    if len(todo) >= MANY and importlib.util.find_spec("numpy") is not None and entry.name in python.ARRAY_FORMS:
        if doubtful:
            defaults = {n: p.default for n, p in inspect.signature(function).parameters.items()}
            columns = {a: [defaults[a] if c[i] is _EMPTY else c[i] for i in todo] for a, c in columns.items()}
        found = python.answers_of(entry.name, {**given, **columns}, **fixed)
        if python.Refusal in set(map(type, found)):
            found = [Refused.of(v.error) if isinstance(v, python.Refusal) else v for v in found]
        if not doubtful:
            answers = found
        else:
            for i, value in zip(todo, found, strict=True):
                answers[i] = value
    else:
        memo: dict[Any, Any] = {}
        for i in todo:
            key = tuple(c[i] for c in columns.values())
            if key not in memo:
                call = {a: v for a, v in zip(columns, key, strict=True) if v is not _EMPTY}
                try:
                    memo[key] = function(**given, **call, **fixed)
                except GpueconError as error:
                    memo[key] = Refused.of(error)
            answers[i] = memo[key]
    return [[v] for v in answers] if width == 1 else [answers[r * width : (r + 1) * width] for r in range(height)]
