"""The value of every formula cell of a workbook, computed in Python from the same expressions that give its formulas.

Here: the Excel meaning of each operation (blank, text, TRUE, errors), column by column in the order they need each other.
Not here: the text of a formula (`formula`), which columns there are (``sheets/``), files (`writer`, `reader`).
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpuecon_xl.ops import DECIMALS, Expr, irr
from gpuecon_xl.units import MONTHS_YEAR


class CellError:
    """An error value in a cell."""

    __slots__ = ("code",)

    def __init__(self, code: str) -> None:
        self.code = code

    def __repr__(self) -> str:
        return self.code


VALUE, NA, DIV0, NUM, REF = (CellError(c) for c in ("#VALUE!", "#N/A", "#DIV/0!", "#NUM!", "#REF!"))


class _Raised(Exception):
    def __init__(self, error: CellError) -> None:
        self.error = error


_EPOCH = dt.datetime(1899, 12, 30)


def serial(value: Any) -> Any:
    """A date as Excel counts it; anything else as it is."""
    if isinstance(value, dt.datetime):
        return (value - _EPOCH).total_seconds() / 86_400
    if isinstance(value, dt.date):
        return float((dt.datetime(value.year, value.month, value.day) - _EPOCH).days)
    return value


# ---- the meaning of operations; short names, as they stand in generated code ----


def _n(v: Any) -> float:
    t = type(v)
    if t is float:
        return v  # type: ignore[no-any-return]
    if v is None:
        return 0.0
    if t is int or t is bool:
        return float(v)
    if t is CellError:
        raise _Raised(v)
    raise _Raised(VALUE)


def _g(v: Any) -> Any:
    if type(v) is CellError:
        raise _Raised(v)
    return v


def _order(v: Any) -> tuple[int, Any]:
    if isinstance(v, bool):
        return 2, v
    if isinstance(v, str):
        return 1, v.lower()
    return 0, v


def _pair(a: Any, b: Any) -> tuple[Any, Any]:
    a, b = _g(a), _g(b)
    if a is None:
        a = "" if isinstance(b, str) else False if isinstance(b, bool) else 0.0
    if b is None:
        b = "" if isinstance(a, str) else False if isinstance(a, bool) else 0.0
    return _order(a), _order(b)


def _eq(a: Any, b: Any) -> bool:
    x, y = _pair(a, b)
    return bool(x == y)


def _lt(a: Any, b: Any) -> bool:
    x, y = _pair(a, b)
    return bool(x < y)


def _le(a: Any, b: Any) -> bool:
    x, y = _pair(a, b)
    return bool(x <= y)


def _t(v: Any) -> bool:
    if type(v) is bool:
        return v
    return _n(v) != 0


def _and(a: Any, b: Any) -> bool:
    return bool(_t(a) & _t(b))


def _or(a: Any, b: Any) -> bool:
    return bool(_t(a) | _t(b))


def _div(a: float, b: float) -> float:
    if b == 0:
        raise _Raised(DIV0)
    return a / b


def _pow(a: float, b: float) -> float:
    if a == 0 and b <= 0:
        raise _Raised(NUM if b == 0 else DIV0)
    out = a**b
    if isinstance(out, complex):
        raise _Raised(NUM)
    return float(out)


def round_half_up(value: float, digits: int) -> float:
    """Excel's ROUND: half away from zero, on the decimal that a person sees."""
    if value == 0 or not math.isfinite(value):
        return value
    scaled = abs(value) * 10**digits
    whole = math.floor(scaled + 0.5)
    # 0.5 - 1ulp added up: trust the shortest decimal form
    if abs(scaled + 0.5 - round(scaled + 0.5)) < 1e-9 * max(1.0, scaled):
        from decimal import ROUND_HALF_UP, Decimal

        exact = Decimal(repr(abs(value))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
        return math.copysign(float(exact), value)
    return math.copysign(whole / 10**digits, value)


def _ceil(a: float) -> float:
    return float(math.ceil(round_half_up(a, DECIMALS)))


def _floor(a: float) -> float:
    return float(math.floor(round_half_up(a, DECIMALS)))


def _log2(a: float) -> float:
    if a <= 0:
        raise _Raised(NUM)
    return math.log(a) / math.log(2)


def _ln(a: float) -> float:
    if a <= 0:
        raise _Raised(NUM)
    return math.log(a)


def _exp(a: float) -> float:
    return math.exp(a) if a > -745 else 0.0


def _index(column: list[Any], row: Any) -> Any:
    i = int(_n(row))
    if i < 1 or i > len(column):
        raise _Raised(REF if i else VALUE)
    return _g(column[i - 1])


def _key(v: Any) -> Any:
    return v.lower() if isinstance(v, str) else v


def _match(value: Any, column: list[Any], cache: dict[int, dict[Any, int]]) -> float:
    value = _g(value)
    table = cache.get(id(column))
    if table is None:
        table = {}
        for i, v in enumerate(column):
            if v is not None and type(v) is not CellError:
                table.setdefault((type(v) is bool, isinstance(v, str), _key(v)), i + 1)
        cache[id(column)] = table
    if value is None:
        value = 0.0
    found = table.get((type(value) is bool, isinstance(value, str), _key(value)))
    if found is None:
        raise _Raised(NA)
    return float(found)


def _iferror(first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    try:
        return _g(first())
    except _Raised:
        return second()
    except (ZeroDivisionError, OverflowError, ValueError):
        return second()


def _numbers(column: list[Any]) -> list[float]:
    out = []
    for v in column:
        if type(v) is float or type(v) is int:
            out.append(float(v))
        elif type(v) is CellError:
            raise _Raised(v)
    return out


def _sum(column: list[Any]) -> float:
    return math.fsum(_numbers(column))


def _maxcol(column: list[Any]) -> float:
    return max(_numbers(column), default=0.0)


def _mincol(column: list[Any]) -> float:
    return min(_numbers(column), default=0.0)


def _large(column: list[Any], k: float) -> float:
    values = sorted(_numbers(column), reverse=True)
    if not 1 <= k <= len(values):
        raise _Raised(NUM)
    return values[int(k) - 1]


def _count(column: list[Any]) -> float:
    return float(sum(type(v) is float or type(v) is int for v in column))


def _countif(column: list[Any], value: Any) -> float:
    want = _key(_g(value))
    if want is None:
        want = 0.0
    text = isinstance(want, str)
    return float(sum(isinstance(v, str) == text and type(v) is not bool and v is not None and _key(v) == want for v in column
                     if type(v) is not CellError))  # fmt: skip


def _rank(group: list[Any], key: list[Any], order: list[Any], g: Any, k: Any, o: Any) -> float:
    for column in (group, key, order):
        for v in column:
            if type(v) is CellError:
                raise _Raised(v)
    g, k, o = _g(g), _g(k), _g(o)
    rank = 1
    for gi, ki, oi in zip(group, key, order, strict=True):
        if gi == g and _eq(gi, g):
            if type(ki) is float and type(k) is float:
                less, same = ki < k, ki == k
            else:
                less, same = _lt(ki, k), _eq(ki, k)
            if less or (same and _lt(oi, o)):
                rank += 1
    return float(rank)


def _countifs2(first: list[Any], one: Any, second: list[Any], two: Any) -> float:
    count = 0
    for a, b in zip(first, second, strict=True):
        if type(a) is CellError or type(b) is CellError:
            raise _Raised(a if type(a) is CellError else b)
        count += _eq(a, one) and _eq(b, two)
    return float(count)


def _blank(v: Any) -> bool:
    return _eq(v, "")


def _counttext(column: list[Any]) -> float:
    return float(sum(not _blank(v) for v in column))


def _countprice(price: list[Any], source: list[Any]) -> float:
    return float(sum(not _blank(p) and _blank(s) for p, s in zip(price, source, strict=True)))


def _countorder(low: list[Any], middle: list[Any], high: list[Any]) -> float:
    count = 0
    for lo, mid, hi in zip(low, middle, high, strict=True):
        count += not _blank(lo) and not _blank(mid) and _lt(mid, lo)
        count += not _blank(hi) and not _blank(mid) and _lt(hi, mid)
    return float(count)


def _countold(dates: list[Any], limit: float) -> float:
    return float(sum(not _blank(d) and _lt(d, limit) for d in dates))


def _irr_of(column: list[Any]) -> float:
    return float(irr(_numbers(column)))


def _dot(first: list[Any], second: list[Any]) -> float:
    products = []
    for a, b in zip(first, second, strict=True):
        if type(a) is CellError or type(b) is CellError:
            raise _Raised(a if type(a) is CellError else b)
        if isinstance(a, int | float) and isinstance(b, int | float) and not isinstance(a, bool) and not isinstance(b, bool):
            products.append(float(a) * float(b))
    return math.fsum(products)


def _sumupto(key: list[Any], last: float, summed: list[Any]) -> float:
    picked = [s for k, s in zip(key, summed, strict=True) if type(k) is float and k <= last]
    return math.fsum(_numbers(picked))


def _countabove(column: list[Any], value: float) -> float:
    return float(sum(type(v) is float and v > value for v in column))


def _monthstart(date: float, months: float) -> float:
    day = _EPOCH + dt.timedelta(days=int(date))
    years, month = divmod(day.month - 1 + int(months), MONTHS_YEAR)
    return float(serial(dt.date(day.year + years, month + 1, 1)))


def _called(function: str, arguments: list[Any]) -> Any:
    from gpuecon_xl.carriers.arguments import Refused, answer

    found = answer(function, arguments)
    if isinstance(found, Refused):
        raise _Raised(NA if found.code == "#N/A" else VALUE)
    return found[0][0] if isinstance(found, list) else found


def _whole(table: TableValues) -> list[list[Any]]:
    columns = list(table.columns)
    return [columns, *([table.columns[c][r] for c in columns] for r in range(table.count))]


def _counterr(column: list[Any]) -> float:
    return float(sum(type(v) is CellError for v in column))


def _text(v: Any) -> str:
    v = _g(v)
    if v is None:
        return ""
    if isinstance(v, bool):
        return "TRUE" if v else "FALSE"
    if isinstance(v, str):
        return v
    if v == int(v) and abs(v) < 1e15:
        return str(int(v))
    return f"{v:.15g}"


def _join(*parts: Any) -> str:
    return "".join(map(_text, parts))


def _na() -> Any:
    raise _Raised(NA)


_SPACE: dict[str, Any] = {k: v for k, v in globals().items() if k.startswith("_") and callable(v)} | {"_r": round_half_up}

# operation -> (code with {0}, {1}…, kinds of its arguments, kind of its result); n number, a any, c column
_CODE: dict[str, tuple[str, str, str]] = {
    "add": ("({0}+{1})", "nn", "n"), "sub": ("({0}-{1})", "nn", "n"), "mul": ("({0}*{1})", "nn", "n"),
    "div": ("_div({0},{1})", "nn", "n"), "pow": ("_pow({0},{1})", "nn", "n"), "neg": ("(-{0})", "n", "n"),
    "min": ("min({0},{1})", "nn", "n"), "max": ("max({0},{1})", "nn", "n"),
    "ceil": ("_ceil({0})", "n", "n"), "floor": ("_floor({0})", "n", "n"), "round9": (f"_r({{0}},{DECIMALS})", "n", "n"),
    "log2": ("_log2({0})", "n", "n"), "exp": ("_exp({0})", "n", "n"), "ln": ("_ln({0})", "n", "n"),
    "and": ("_and({0},{1})", "aa", "a"), "or": ("_or({0},{1})", "aa", "a"),
    "where": ("({1} if _t({0}) else {2})", "aaa", "a"),
    "index": ("_index({0},{1})", "ca", "a"), "match": ("_match({0},{1},_cache)", "ac", "n"),
    "iferror": ("_iferror(lambda:{0},lambda:{1})", "aa", "a"),
    "sum": ("_sum({0})", "c", "n"), "count": ("_count({0})", "c", "n"), "countif": ("_countif({0},{1})", "ca", "n"),
    "rank": ("_rank({0},{1},{2},{3},{4},{5})", "cccaaa", "n"),
    "counterr": ("_counterr({0})", "c", "n"),
    "maxcol": ("_maxcol({0})", "c", "n"), "mincol": ("_mincol({0})", "c", "n"), "large": ("_large({0},{1})", "cn", "n"),
    "countifs2": ("_countifs2({0},{1},{2},{3})", "caca", "n"),
    "counttext": ("_counttext({0})", "c", "n"), "countprice": ("_countprice({0},{1})", "cc", "n"),
    "countorder": ("_countorder({0},{1},{2})", "ccc", "n"), "countold": ("_countold({0},{1})", "cn", "n"),
    "irr": ("_irr_of({0})", "c", "n"), "dot": ("_dot({0},{1})", "cc", "n"), "sumupto": ("_sumupto({0},{1},{2})", "cnc", "n"),
    "countabove": ("_countabove({0},{1})", "cn", "n"), "monthstart": ("_monthstart({0},{1})", "nn", "n"),
    "na": ("_na()", "", "a"),
}  # fmt: skip


@dataclass
class TableValues:
    """Values of one table: a list for each column; computed columns are filled in."""

    name: str
    count: int
    columns: dict[str, list[Any]]
    formulas: dict[str, Expr | list[Expr | None]] = field(default_factory=dict)


class Cells:
    """All tables of a workbook, computed.

    Parameters
    ----------
    tables : by name; `formulas` of each says which columns are computed (one expression, or one for each row).
    names : values of the workbook's names.
    """

    def __init__(self, tables: Mapping[str, TableValues], names: Mapping[str, Any]) -> None:
        self.tables = dict(tables)
        self.names = {k: serial(v) for k, v in names.items()}
        self._cache: dict[int, dict[Any, int]] = {}
        self._done: set[tuple[str, str]] = set()
        for t in self.tables.values():
            for c in t.formulas:
                t.columns[c] = [None] * t.count
        for t in self.tables.values():
            for c in t.formulas:
                self._column(t.name, c, ())

    def _column(self, table: str, column: str, path: tuple[tuple[str, str], ...]) -> None:
        here = (table, column)
        if here in self._done or table not in self.tables or column not in self.tables[table].formulas:
            return
        if here in path:
            raise ValueError(f"circular: {' -> '.join('.'.join(p) for p in (*path, here))}")
        t = self.tables[table]
        formula = t.formulas[column]
        expressions = formula if isinstance(formula, list) else [formula]
        for e in expressions:
            if e is not None:
                for need in needs(e):
                    if need != here:
                        self._column(*need, (*path, here))
        out = t.columns[column]
        if isinstance(formula, list):
            for r, e in enumerate(formula):
                out[r] = self._evaluate(self._compile(e), r) if e is not None else None
        else:
            run = self._compile(formula)
            for r in range(t.count):
                out[r] = self._evaluate(run, r)
        self._cache.pop(id(out), None)
        self._done.add(here)

    @staticmethod
    def _evaluate(run: Callable[[int], Any], row: int) -> Any:
        try:
            v = run(row)
        except _Raised as raised:
            return raised.error
        except ZeroDivisionError:
            return DIV0
        except (OverflowError, ValueError):
            return NUM
        if v is None:
            return 0.0
        if type(v) is float and not math.isfinite(v):
            return NUM
        return v

    def evaluate(self, expression: Expr) -> Any:
        """The value of a free expression (no row of its own)."""
        for need in needs(expression):
            self._column(*need, ())
        return self._evaluate(self._compile(expression), 0)

    def by_row(self, expression: Expr) -> Callable[[int], Any]:
        """A column's expression as a function of the row, over the columns as they stand; nothing is filled in."""
        run = self._compile(expression)
        return lambda row: self._evaluate(run, row)

    def _compile(self, expression: Expr) -> Callable[[int], Any]:
        space = dict(_SPACE)
        space["_cache"] = self._cache
        lists: dict[int, str] = {}

        def listed(table: str, column: str) -> str:
            if table not in self.tables or column not in self.tables[table].columns:
                raise KeyError(f"{table}[{column}] does not exist")
            values = self.tables[table].columns[column]
            name = lists.setdefault(id(values), f"L{len(lists)}")
            space[name] = values
            return name

        def code(e: Expr, want: str) -> str:
            op, a = e.op, e.args
            if op == "num":
                return repr(float(a[0]))
            if op in ("text", "bool"):
                return repr(a[0])
            if op == "col":
                return listed(*a)
            if op == "this":
                body, kind = f"{listed(*a)}[r]", "a"
                return f"_n({body})" if want == "n" else f"_g({body})"
            if op == "name":
                if a[0] not in self.names:
                    raise KeyError(f"the name {a[0]} does not exist")
                space[f"N_{a[0]}"] = self.names[a[0]]
                body, kind = f"N_{a[0]}", "a"
            elif op in ("lt", "le", "gt", "ge", "eq"):
                x, y = (a[1], a[0]) if op in ("gt", "ge") else (a[0], a[1])
                if op != "eq" and _numeric(x) and _numeric(y):
                    body = f"({code(x, 'n')}{'<' if op in ('lt', 'gt') else '<='}{code(y, 'n')})"
                else:
                    fn = {"lt": "_lt", "gt": "_lt", "le": "_le", "ge": "_le", "eq": "_eq"}[op]
                    body = f"{fn}({code(x, 'a')},{code(y, 'a')})"
                kind = "a"
            elif op == "join":
                body, kind = f"_join({','.join(code(x, 'a') for x in a)})", "a"
            elif op == "called":
                body, kind = f"_called({a[0].args[0]!r},[{','.join(code(x, 'a') for x in a[2:])}])", "a"
            elif op == "missing":
                return "None"
            elif op == "whole":
                space[f"T_{a[0]}"] = self.tables[a[0]]
                return f"_whole(T_{a[0]})"
            elif op == "shown":
                body, kind = f"_r({code(a[0], 'n')},{a[1].args[0]})", "n"
            elif op == "where" and want == "n":
                return f"({code(a[1], 'n')} if _t({code(a[0], 'a')}) else {code(a[2], 'n')})"
            else:
                pattern, wants, kind = _CODE[op]
                body = pattern.format(*(code(x, w) for x, w in zip(a, wants, strict=True)))
            return f"_n({body})" if want == "n" and kind != "n" else body

        source = f"def run(r):\n    return {code(expression, 'a')}"
        exec(source, space)  # noqa: S102  (made of our own operations; names and columns are checked identifiers)
        return space["run"]  # type: ignore[no-any-return]


_NUMERIC_OPS = frozenset(op for op, (_, _, kind) in _CODE.items() if kind == "n") | {"num"}


def _numeric(e: Expr) -> bool:
    return e.op in _NUMERIC_OPS


def needs(e: Expr) -> set[tuple[str, str]]:
    """Columns that an expression reads."""
    if e.op in ("this", "col"):
        return {(e.args[0], e.args[1])}
    if e.op in ("num", "text", "bool", "name", "arg", "whole", "missing"):
        return set()
    out: set[tuple[str, str]] = set()
    for a in e.args:
        out |= needs(a)
    return out


def names_in(e: Expr) -> set[str]:
    """Names of the workbook that an expression reads."""
    if e.op == "name":
        return {e.args[0]}
    return set().union(*(names_in(a) for a in e.args if isinstance(a, Expr)))


def plain(value: Any) -> Any:
    """A cell's value as JSON and XlsxWriter take it: errors as text, whole numbers as int, None as empty text."""
    if value is None:
        return ""
    if isinstance(value, CellError):
        return value.code
    if isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        return int(value)
    return value
