"""The operations that equations and sheets are made of, each with three meanings.

Here: the expression node ``Expr`` (what tracing yields) and the operations on it: Python float, numpy array,
and Excel (the text is written in `formula`, the cell meaning is computed in `cells`).
Not here: equations (``equations/``), formula text (`formula`), evaluation of a workbook's cells (`cells`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

# Cost comparisons and rounding up ignore differences below this many decimals, on every side.
DECIMALS = 9
HALF_DECIMAL = 0.5e-9

# How spreadsheets look for an internal rate of return: where they begin, when they are content, when they give up.
IRR_GUESS = 0  # a month's rate is small; the 0.1 of spreadsheets is far off for months
IRR_STEP = 1e-7
IRR_TRIES = 20


class Expr:
    """A node of a traced expression: an operation and its arguments, or a leaf.

    Leaves: ``num`` (value), ``text`` (value), ``arg`` (name of an equation's parameter), ``this`` (table, column of the
    same row), ``col`` (table, column as a whole), ``name`` (a workbook name).
    """

    __slots__ = ("args", "op")

    def __init__(self, op: str, *args: Any) -> None:
        self.op = op
        self.args = args

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(repr, self.args))})"

    def __add__(self, other: Any) -> Expr:
        return Expr("add", self, lift(other))

    def __radd__(self, other: Any) -> Expr:
        return Expr("add", lift(other), self)

    def __sub__(self, other: Any) -> Expr:
        return Expr("sub", self, lift(other))

    def __rsub__(self, other: Any) -> Expr:
        return Expr("sub", lift(other), self)

    def __mul__(self, other: Any) -> Expr:
        return Expr("mul", self, lift(other))

    def __rmul__(self, other: Any) -> Expr:
        return Expr("mul", lift(other), self)

    def __truediv__(self, other: Any) -> Expr:
        return Expr("div", self, lift(other))

    def __rtruediv__(self, other: Any) -> Expr:
        return Expr("div", lift(other), self)

    def __pow__(self, other: Any) -> Expr:
        return Expr("pow", self, lift(other))

    def __rpow__(self, other: Any) -> Expr:
        return Expr("pow", lift(other), self)

    def __neg__(self) -> Expr:
        return Expr("neg", self)

    def __lt__(self, other: Any) -> Expr:
        return Expr("lt", self, lift(other))

    def __le__(self, other: Any) -> Expr:
        return Expr("le", self, lift(other))

    def __gt__(self, other: Any) -> Expr:
        return Expr("gt", self, lift(other))

    def __ge__(self, other: Any) -> Expr:
        return Expr("ge", self, lift(other))

    def __bool__(self) -> bool:
        raise TypeError("an equation may not branch with 'if'; use ops.where, so that it can be traced")


def lift(value: Any) -> Expr:
    """A Python constant as a leaf; an Expr as it is."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, bool):
        return Expr("bool", value)
    if isinstance(value, int | float):
        return Expr("num", value)
    if isinstance(value, str):
        return Expr("text", value)
    raise TypeError(f"{value!r} cannot stand in a traced expression")


def _is_array(value: Any) -> bool:
    # The scalar path must not import numpy; an array announces itself by its dtype.
    return hasattr(value, "dtype")


_FAST = frozenset((float, int))


def _pick(name: str, scalar: Callable[..., Any], array: Callable[..., Any]) -> Callable[..., Any]:
    """One function with three meanings, chosen by the type of its arguments."""

    def operation(*args: Any) -> Any:
        for a in args:
            if type(a) in _FAST:
                continue
            if isinstance(a, Expr):
                return Expr(name, *map(lift, args))
            if _is_array(a) and getattr(a, "shape", ()) != ():
                # an Expr behind an array cannot happen: equations are traced with Expr throughout
                return array(*args)
        return scalar(*args)

    operation.__name__ = name
    operation.__doc__ = scalar.__doc__
    return operation


def _min(a: float, b: float) -> float:
    """The smaller of two numbers."""
    return a if a <= b else b


def _max(a: float, b: float) -> float:
    """The larger of two numbers."""
    return a if a >= b else b


def _where(condition: bool, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds, `no` elsewhere."""
    return yes if condition else no


def _ceil(a: float) -> float:
    """The next whole number up, after rounding to nine decimals (so that 3.0000000001 stays 3)."""
    return float(math.ceil(round(a, DECIMALS)))


def _floor(a: float) -> float:
    """The next whole number down, after rounding to nine decimals (so that 2.9999999999 is 3)."""
    return float(math.floor(round(a, DECIMALS)))


def _exp(a: float) -> float:
    """e to the power of a number; 0 where it is too small for a float."""
    return math.exp(a) if a > -745 else 0.0


def _equal(a: Any, b: Any) -> bool:
    """Whether two values are the same."""
    return bool(a == b)


def _both(a: Any, b: Any) -> bool:
    """Whether both conditions hold."""
    return bool(a and b)


def _either(a: Any, b: Any) -> bool:
    """Whether at least one condition holds."""
    return bool(a or b)


def _np(call: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        import numpy as np

        return call(np)(*args)

    return run


minimum = _pick("min", _min, _np(lambda np: np.minimum))
maximum = _pick("max", _max, _np(lambda np: np.maximum))
where = _pick("where", _where, _np(lambda np: np.where))


def _np_whole(np: Any, towards: Any) -> Callable[[Any], Any]:
    """ceil or floor of an array; what is whole to nine decimals stays (np.round would move large whole numbers)."""

    def run(a: Any) -> Any:
        nearest = np.rint(a)
        return np.where(np.abs(a - nearest) <= HALF_DECIMAL, nearest, towards(a))

    return run


ceil = _pick("ceil", _ceil, _np(lambda np: _np_whole(np, np.ceil)))
floor = _pick("floor", _floor, _np(lambda np: _np_whole(np, np.floor)))
exp = _pick("exp", _exp, _np(lambda np: np.exp))
ln = _pick("ln", math.log, _np(lambda np: np.log))
log2 = _pick("log2", math.log2, _np(lambda np: np.log2))
equal = _pick("eq", _equal, _np(lambda np: np.equal))
both = _pick("and", _both, _np(lambda np: np.logical_and))
either = _pick("or", _either, _np(lambda np: np.logical_or))


# ---- the plumbing of a sheet: only ever traced (`formula` gives the text, `cells` the value) ----


def this(table: str, column: str) -> Expr:
    """The cell of `column` in the same row of `table`."""
    return Expr("this", table, column)


def col(table: str, column: str) -> Expr:
    """A whole column of a table."""
    return Expr("col", table, column)


def name(defined: str) -> Expr:
    """A scalar assumption, by its workbook name."""
    return Expr("name", defined)


def index(column: Expr, row: Any) -> Expr:
    """The value in row `row` (1 is the first) of a column."""
    return Expr("index", column, lift(row))


def match(value: Any, column: Expr) -> Expr:
    """The number of the first row of `column` that equals `value`; #N/A when none does."""
    return Expr("match", lift(value), column)


def look_up(value: Any, key: Expr, result: Expr) -> Expr:
    """The value of `result` in the row where `key` equals `value`."""
    return index(result, match(value, key))


def if_error(value: Any, otherwise: Any) -> Expr:
    """`otherwise` where `value` is an error."""
    return Expr("iferror", lift(value), lift(otherwise))


def total(column: Expr) -> Expr:
    """Sum of the numbers of a column."""
    return Expr("sum", column)


def count_if(column: Expr, value: Any) -> Expr:
    """How many cells of a column equal `value`."""
    return Expr("countif", column, lift(value))


def count_numbers(column: Expr) -> Expr:
    """How many cells of a column hold a number."""
    return Expr("count", column)


def rank_in_group(group: Expr, key: Expr, order: Expr, my_group: Any, my_key: Any, my_order: Any) -> Expr:
    """Rank of a row by `key` within its group, 1 is the lowest; among equals the row with the lower `order` first."""
    return Expr("rank", group, key, order, lift(my_group), lift(my_key), lift(my_order))


def count_errors(column: Expr) -> Expr:
    """How many cells of a column are errors."""
    return Expr("counterr", column)


def join(*parts: Any) -> Expr:
    """Texts put together."""
    return Expr("join", *map(lift, parts))


def shown(value: Any, decimals: int) -> Expr:
    """A number rounded to stand inside a text; its decimal sign is that of the program that shows it."""
    return Expr("shown", lift(value), lift(decimals))


def not_available() -> Expr:
    """#N/A: what a cell shows that cannot be answered, such as a cost without a sourced price."""
    return Expr("na")


def count_both(first: Expr, one: Any, second: Expr, two: Any) -> Expr:
    """How many rows have `one` in the first column and `two` in the second."""
    return Expr("countifs2", first, lift(one), second, lift(two))


def word(code: str) -> Expr:
    """A word in the workbook's language, from its table of words."""
    return look_up(code, col("Words", "code"), col("Words", "text"))


def words(code: Any) -> Expr:
    """The word for a code that a cell holds."""
    return look_up(code, col("Words", "code"), col("Words", "text"))


def called(function: str, spelled: str, *arguments: Any) -> Expr:
    """A spreadsheet function of this product in a cell, spelled as the file's flavour needs it."""
    return Expr("called", Expr("text", function), Expr("text", spelled), *map(lift, arguments))


def whole_table(table: str, nested: bool = False) -> Expr:
    """A table with its header row, as the functions' argument `catalog` takes it; `nested` as LibreOffice 7.4 reads it."""
    return Expr("whole", table, True) if nested else Expr("whole", table)


def large(column: Expr, k: Any) -> Expr:
    """The k-th largest number of a column."""
    return Expr("large", column, lift(k))


def largest(column: Expr) -> Expr:
    """Largest number of a column; 0 when there is none."""
    return Expr("maxcol", column)


def smallest(column: Expr) -> Expr:
    """Smallest number of a column; 0 when there is none."""
    return Expr("mincol", column)


def irr(flows: Any) -> Any:
    """Rate at which the flows of equal periods are worth nothing together: of numbers a number, of a column a formula.

    Raises
    ------
    ValueError
        When the search that spreadsheets make finds none: flows of one sign, or far from the rate that it begins with.
    """
    return Expr("irr", flows) if isinstance(flows, Expr) else _irr([float(v) for v in flows])


def _irr(flows: list[float]) -> float:
    rate, step, tries = float(IRR_GUESS), 1.0, 0
    while step > IRR_STEP and tries < IRR_TRIES:
        worth, slope, discount = 0.0, 0.0, 1.0
        for period, flow in enumerate(flows):
            worth += flow / discount
            discount *= 1 + rate
            slope -= period * flow / discount
        if slope == 0 or discount == 0:
            break
        step = abs(worth / slope)
        rate -= worth / slope
        tries += 1
    if step > IRR_STEP or not math.isfinite(rate):
        raise ValueError("the flows have no internal rate of return that a spreadsheet finds")
    return rate


def sum_product(first: Any, second: Any) -> Any:
    """Sum of the products of two columns, row by row; text counts as 0. Of numbers a number, of columns a formula."""
    if isinstance(first, Expr):
        return Expr("dot", first, second)
    return math.fsum(float(a) * float(b) for a, b in zip(first, second, strict=True))


def sum_up_to(key: Expr, last: Any, summed: Expr) -> Expr:
    """Sum of `summed` over the rows whose `key` is at most `last`."""
    return Expr("sumupto", key, lift(last), summed)


def count_above(column: Expr, value: Any) -> Expr:
    """How many numbers of a column are above `value`."""
    return Expr("countabove", column, lift(value))


def month_start(date: Any, months: Any) -> Expr:
    """The first day of the month that comes `months` after that of a date."""
    return Expr("monthstart", lift(date), lift(months))


def rounded(value: Any) -> Expr:
    """A number rounded to nine decimals, as comparisons use it."""
    return Expr("round9", lift(value))
