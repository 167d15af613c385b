"""The spreadsheet functions in Python, and the table of metadata that every carrier is generated from.

Here: public signatures, arguments told apart from options, broadcasting over lists, arrays and Series.
Not here: throughput (`throughput`), money (`money`), how a spreadsheet hands arguments over (``carriers/``).
The scalar path imports neither numpy nor pandas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

from gpuecon_xl import graph, money
from gpuecon_xl.catalog import Catalog, as_catalog, shipped
from gpuecon_xl.equations.breakeven import breakeven_tokens_g_month, breakeven_use, breakeven_use_stated, rent_per_use
from gpuecon_xl.equations.cost import blended_price_mtok, cost_eur_mtok, rent_cost_mtok, rent_horizon, tokens_served_m
from gpuecon_xl.equations.cost import own_cost_month as own_cost_month_equation
from gpuecon_xl.equations.finance import mean_use, ramp_share
from gpuecon_xl.equations.memory import fit_class, weights_headroom
from gpuecon_xl.equations.memory import vram_rule_gb as vram_rule_equation
from gpuecon_xl.equations.serving import token_yield_g_month
from gpuecon_xl.equations.tco import horizon_h
from gpuecon_xl.errors import BadValue, GpueconError
from gpuecon_xl.throughput import (
    UNLIMITED,
    Prediction,
    Setup,
    best_headroom,
    best_layout,
    check_context,
    check_heads,
    check_layout,
    check_number,
    layouts,
    parse_options,
    predict_one,
    setup,
    too_big,
)
from gpuecon_xl.units import GIGA

if TYPE_CHECKING:
    from gpuecon_xl.planning.answer import Plan

_SCALARS = (str, int, float, type(None))
_NOT_ASSUMPTIONS = frozenset(
    ("tp", "pp", "kv", "engine", "mode", "tok_s", "case", "currency", "rent_gpu", "rel", "own_cost", "input_tokens",
     "output_tokens", "context")
)  # fmt: skip


class _Call:
    """Options of one call, told apart: what steers the call, and what replaces an assumption."""

    __slots__ = ("assumptions", "catalog", "options")

    def __init__(self, options: Any, catalog: Any) -> None:
        self.catalog: Catalog = shipped() if catalog is None else as_catalog(catalog)
        self.options: dict[str, Any] = {} if options is None else parse_options(options, self.catalog)
        self.assumptions: tuple[tuple[str, Any], ...] = ()
        if self.options:
            self.assumptions = tuple(sorted((k, v) for k, v in self.options.items() if k not in _NOT_ASSUMPTIONS))

    def get(self, name: str, default: Any = None) -> Any:
        return self.options.get(name, default)

    def number(self, name: str) -> float:
        """An assumption, or the option that replaces it."""
        value = self.options.get(name)
        return float(self.catalog.assumption(name) if value is None else value)

    def either(self, argument: Any, name: str, default: Any = None) -> Any:
        """An argument or the option of the same name, not both."""
        option = self.options.get(name)
        if argument is not None and option is not None:
            raise BadValue(f"{name} is given as argument and as option; give it once")
        return argument if argument is not None else option if option is not None else default

    def unless(self, argument: Any, name: str, default: Any) -> Any:
        """An argument that was given, else the option of the same name, else the default."""
        option = self.options.get(name)
        if option is None:
            return argument
        if argument != default:
            raise BadValue(f"{name} is given as argument and as option; give it once")
        return option

    def refuse_context_option(self) -> None:
        if "context" in self.options:
            raise BadValue("context is given as argument and as option; give it once")


def _tokens(call: _Call, context: Any) -> tuple[float, float]:
    """Input and output tokens of a request of `context` tokens."""
    call.refuse_context_option()
    total = check_number(context, "context", positive=True)
    tokens_in, tokens_out = call.get("input_tokens"), call.get("output_tokens")
    if tokens_out is None:
        tokens_out = total * call.number("output_share") if tokens_in is None else total - tokens_in
    if tokens_in is None:
        tokens_in = total - tokens_out
    if tokens_in <= 0 or tokens_out <= 0:
        raise BadValue(f"context of {total:g} tokens leaves {min(tokens_in, tokens_out):g} tokens; context must exceed the tokens given as option")
    return tokens_in, tokens_out


def _setup(call: _Call, model: str, gpu: str, precision: str | None) -> Setup:
    get = call.options.get
    return setup(call.catalog, model, gpu, precision, get("kv"), get("engine"), get("mode", "expected"), call.assumptions)


def _finite(function: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse arguments whose answer is no finite number."""

    @wraps(function)
    def checked(*args: Any, **named: Any) -> Any:
        try:
            answer = function(*args, **named)
        except (ZeroDivisionError, OverflowError):
            answer = math.inf
        if isinstance(answer, float) and not math.isfinite(answer):
            raise BadValue("the arguments are so large or so small that the answer is no finite number; arguments of usual size are due")
        return answer

    return checked


# ------------------------------------------------------------------------------------------------ scalar answers


@_finite
def _tokps(model: Any, gpu: Any, precision: Any, batch: Any, context: Any, gpus: Any, options: Any, catalog: Any) -> float:
    call = _Call(options, catalog)
    return _tokps_call(call, model, gpu, precision, batch, context, gpus, call.get("case", "typical"))


def _tokps_call(call: _Call, model: Any, gpu: Any, precision: Any, batch: Any, context: Any, gpus: Any, case: str = "typical") -> float:
    """Throughput of the whole build; the low and high case are the ends of its band. What was measured has no band."""
    s = _setup(call, model, gpu, precision)
    count, tp, pp = check_layout(gpus, call.get("tp"), call.get("pp"))
    check_heads(s, tp)
    asked = check_number(batch, "batch", positive=True)
    tokens_in, tokens_out = _tokens(call, context)
    measured = call.get("tok_s")
    if measured is not None:
        return float(measured)
    check_context(s, tokens_in + tokens_out)
    best = best_layout(s, asked, tokens_in, tokens_out, count, tp, pp)
    if best is None:
        raise too_big(s, count, tokens_in + tokens_out)
    return best[0] * (s.values[f"band_{case}"] if case != "typical" else 1)


@_finite
def _fits(model: Any, gpu: Any, precision: Any, batch: Any, context: Any, gpus: Any, options: Any, catalog: Any) -> str:
    call = _Call(options, catalog)
    s = _setup(call, model, gpu, precision)
    count, tp, pp = check_layout(gpus, call.get("tp"), call.get("pp"))
    check_heads(s, tp)
    asked = check_number(batch, "batch", positive=True)
    tokens_in, tokens_out = _tokens(call, context)
    check_context(s, tokens_in + tokens_out)
    return str(fit_class(best_headroom(s, asked, tokens_in, tokens_out, count, tp, pp), s.values["headroom_wanted"]))


_OTHER = {"low": "high", "high": "low", "typical": "typical"}


def _use(call: _Call, utilization: Any, positive: bool, case: str = "typical") -> float:
    value = call.either(utilization, "utilization")
    if value is None:
        value = call.catalog.assumption("utilization") if case == "typical" else money.end_of_range(call.catalog, "utilization", case == "high")
    return check_number(value, "utilization", share=True, positive=positive)


def _mean_use(call: _Call, utilization: Any, positive: bool) -> float:
    """Share of the time at work as asked, the ramp at the beginning of the horizon taken off.

    In the low case of a total cost the cards work less and draw less; in that of a cost per token (`positive`: tokens
    divide) they work more.
    """
    case = call.get("case", "typical")
    return float(mean_use(_use(call, utilization, positive, _OTHER[case] if positive else case), _ramp(call)))


def _ramp(call: _Call) -> float:
    return float(ramp_share(call.number("ramp_months"), call.number("horizon_years")))


def _price(call: _Call, gpu: Mapping[str, Any], price: Any, currency: str) -> float:
    if price is not None:
        return money.check_price(price)
    return money.price_of(call.catalog, gpu, call.get("case", "typical"), currency, call.number("usd_per_eur"))


def _own(call: _Call, gpu: Any, price: Any, utilization: float) -> tuple[Any, ...]:
    """Total cost of one card, fixed part, part at full use, hours."""
    card = call.catalog.find("gpus", gpu)
    currency = call.get("currency", "EUR")
    values = money.tco_values(call.catalog, call.options, currency)
    return money.tco_plan(values, _price(call, card, price, currency), card["tdp_w"], utilization)


@_finite
def _tco3y(gpu: Any, gpus: Any, utilization: Any, price: Any, options: Any, catalog: Any) -> float:
    call = _Call(options, catalog)
    count = check_layout(gpus, None, None)[0]
    return float(_own(call, gpu, price, _mean_use(call, utilization, False))[0] * count)


@_finite
def _cost_per_mtok(
    model: Any,
    gpu: Any,
    precision: Any,
    batch: Any,
    context: Any,
    gpus: Any,
    utilization: Any,
    price: Any,
    options: Any,
    catalog: Any,
) -> float:
    call = _Call(options, catalog)
    use = _mean_use(call, utilization, True)
    count = check_layout(gpus, call.get("tp"), call.get("pp"))[0]
    tco, _, _, hours = _own(call, gpu, price, use)
    tok_s = _tokps_call(call, model, gpu, precision, batch, context, gpus, _OTHER[call.get("case", "typical")])
    return float(cost_eur_mtok(tco, count, tokens_served_m(tok_s, use, hours)))


@_finite
def _breakeven_util(
    model: Any,
    gpu: Any,
    rate: Any,
    precision: Any,
    batch: Any,
    context: Any,
    gpus: Any,
    price: Any,
    options: Any,
    catalog: Any,
) -> float | str:
    call = _Call(options, catalog)
    rent = check_number(rate, "rate", positive=True)
    use = _mean_use(call, None, False)
    tco, fixed, per_use, hours = _own(call, gpu, price, use)
    rel = call.get("rel")
    if rel is not None and call.get("rent_gpu") is not None:
        raise BadValue("rel and rent_gpu are given; give one of them")
    if rel is None:
        own_tok_s = _tokps_call(call, model, gpu, precision, batch, context, gpus)
        rented = call.get("rent_gpu")
        rel = 1.0
        if rented is not None:
            other = _Call(None, call.catalog)
            other.options = {k: v for k, v in call.options.items() if k not in ("tok_s", "tp", "pp")}
            other.assumptions = call.assumptions
            rel = own_tok_s / _tokps_call(other, model, rented, precision, batch, context, gpus)
    else:  # names and sizes are still checked
        check_heads(_setup(call, model, gpu, precision), check_layout(gpus, call.get("tp"), call.get("pp"))[1])
        check_number(batch, "batch", positive=True)
        _tokens(call, context)
    per_rent = rent_per_use(rent, hours, rel)
    at_use = call.get("own_cost") == "at_assumed_use"
    answer = breakeven_use_stated(tco, per_rent) if at_use else breakeven_use(fixed, per_use, per_rent)
    return money.RENT_WINS if answer < 0 else float(answer)


# ------------------------------------------------------------------------------------------------ broadcasting


@dataclass(frozen=True)
class Refusal:
    """An element of an array call that cannot be answered: why."""

    error: GpueconError


class Grid:
    """Arguments of an array call, broadcast against each other.

    Lists, tuples, numpy arrays and pandas Series count as arrays; the answer comes back in the kind and shape of the
    first of them.
    """

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        import numpy as np

        self.arrays: dict[str, Any] = {}
        self.scalars: dict[str, Any] = {}
        self.kind: Any = list
        self.index: Any = None
        first = True
        for name, value in arguments.items():
            if value is None or isinstance(value, _SCALARS) or not (hasattr(value, "__len__") or hasattr(value, "dtype")):
                self.scalars[name] = value
                continue
            if getattr(value, "shape", None) == ():
                self.scalars[name] = value.item()
                continue
            array = np.empty(0, dtype=object)
            if hasattr(value, "to_numpy"):
                array = value.to_numpy()
                if first:
                    self.index = value.index
            elif isinstance(value, np.ndarray):
                array = value
            else:
                try:
                    array = np.array(value, dtype=object)
                except ValueError:
                    raise BadValue(f"{name}: rows of unequal length; a rectangular range is due") from None
            if first:
                self.kind = "series" if hasattr(value, "to_numpy") else np.ndarray if isinstance(value, np.ndarray) else list
                first = False
            self.arrays[name] = array
        try:
            self.shape = np.broadcast_shapes(*(a.shape for a in self.arrays.values()))
        except ValueError:
            sizes = ", ".join(f"{n} {'x'.join(map(str, a.shape))}" for n, a in self.arrays.items())
            raise BadValue(f"the arrays do not fit each other: {sizes}; equal sizes, or one value, are due") from None
        self.size = int(np.prod(self.shape)) if self.shape else 1
        self.flat = {n: np.broadcast_to(a, self.shape).reshape(-1) for n, a in self.arrays.items()}

    def at(self, i: int) -> dict[str, Any]:
        """Arguments of element `i`, as plain Python values."""
        out = dict(self.scalars)
        for name, array in self.flat.items():
            value = array[i]
            out[name] = value.item() if hasattr(value, "item") else value
        return out

    def numbers(self, name: str) -> tuple[Any, Any]:
        """An argument as floats, and a mask of elements that are no numbers."""
        import numpy as np

        if name in self.scalars:
            value = self.scalars[name]
            good = isinstance(value, int | float) and not isinstance(value, bool)
            number = float(value) if good else float("nan")
            return np.full(self.size, number), np.full(self.size, not good)
        array = self.flat[name]
        if array.dtype.kind in "fiu":
            return array.astype(float), ~np.isfinite(array.astype(float))
        out = np.empty(self.size)
        bad = np.zeros(self.size, dtype=bool)
        for i, value in enumerate(array.tolist()):
            if type(value) is float or type(value) is int:
                out[i] = value
            elif isinstance(value, bool | str) or value is None:
                out[i], bad[i] = np.nan, True
            else:
                try:
                    out[i] = float(value)
                except (TypeError, ValueError):
                    out[i], bad[i] = np.nan, True
        return out, bad | ~np.isfinite(out)

    def codes(self, names: Sequence[str]) -> tuple[Any, list[tuple[Any, ...]]]:
        """Text arguments factorised together: a code for each element, and the combinations."""
        import numpy as np

        if not any(n in self.flat for n in names):
            return np.zeros(self.size, dtype=np.intp), [tuple(self.scalars[n] for n in names)]
        codes = np.zeros(self.size, dtype=np.intp)
        levels: list[list[Any]] = []
        for n in names:
            if n not in self.flat:
                levels.append([self.scalars[n]])
                continue
            column = self.flat[n].tolist()
            try:
                known = {value: i for i, value in enumerate(dict.fromkeys(column))}
            except TypeError:
                raise BadValue(f"{n}: a name is due in every element, not a list of lists") from None
            codes = codes * len(known) + np.fromiter(map(known.__getitem__, column), dtype=np.intp, count=self.size)
            levels.append(list(known))
        used, codes = np.unique(codes, return_inverse=True)
        combos = []
        for code in used.tolist():
            combo: list[Any] = []
            for level in reversed(levels):
                code, at = divmod(code, len(level))
                combo.append(level[at])
            combos.append(tuple(reversed(combo)))
        return codes, combos

    def shaped(self, values: list[Any] | Any) -> Any:
        """The answer in the kind and shape of the first array argument."""
        import numpy as np

        if self.kind is list and len(self.shape) == 1:
            return list(values)
        if self.kind == "series":
            import pandas as pd

            index = self.index if self.index is not None and len(self.index) == self.size else None
            return pd.Series(list(values), index=index)
        array = np.asarray(values, dtype=None if not isinstance(values, list) else object)
        if array.dtype == object and all(isinstance(v, float) for v in array.tolist()):
            array = array.astype(float)
        array = array.reshape(self.shape)
        return array if self.kind is np.ndarray else array.tolist()


def is_array(value: Any) -> bool:
    """Whether an argument is a list, tuple, numpy array or Series, to be broadcast."""
    if isinstance(value, _SCALARS):
        return False
    if isinstance(value, list | tuple):
        return True
    return hasattr(value, "dtype") and getattr(value, "shape", ()) != ()


def answer_all(
    one: Callable[..., Any],
    many: Callable[[Grid, Any, Any], tuple[Any, Any]] | None,
    arguments: Mapping[str, Any],
    options: Any,
    catalog: Any,
) -> tuple[Grid, list[Any]]:
    """Answers of an array call; elements that are refused hold a `Refusal`.

    Parameters
    ----------
    one : the scalar function, by keyword.  many : its array form, giving values and a mask of elements to ask `one`.
    """
    grid = Grid(arguments)
    held = as_catalog(catalog)
    if not grid.size:
        return grid, []
    answers: list[Any]
    if many is None:
        answers, todo = [None] * grid.size, range(grid.size)
    else:
        values, doubtful = many(grid, options, held)
        answers = values.tolist()
        todo = doubtful.nonzero()[0].tolist()
    for i in todo:
        try:
            answers[i] = one(**grid.at(i), options=options, catalog=held)
        except GpueconError as error:
            answers[i] = Refusal(error)
    return grid, answers


def _call_function(
    one: Callable[..., Any],
    many: Callable[[Grid, Any, Any], tuple[Any, Any]] | None,
    arguments: Mapping[str, Any],
    options: Any,
    catalog: Any,
) -> Any:
    grid, answers = answer_all(one, many, arguments, options, catalog)
    refused = [i for i, a in enumerate(answers) if isinstance(a, Refusal)]
    if refused:
        first = answers[refused[0]].error
        kind = type(first)
        raise kind(f"element {refused[0]}{f' and {len(refused) - 1} more' if len(refused) > 1 else ''}: {first}")
    return grid.shaped(answers)


def _layout_columns(call: _Call, gpus: Any) -> list[tuple[int, int]]:
    """Every layout that some number of cards of the call allows."""
    import numpy as np

    tp, pp = call.get("tp"), call.get("pp")
    found: dict[tuple[int, int], None] = {}
    for count in map(int, np.unique(gpus).tolist()):
        for layout in layouts(count, None if tp is None else int(tp), 1 if pp is None else int(pp)):
            found[layout] = None
    return list(found)


def _throughput_many(grid: Grid, call: _Call) -> tuple[Any, Any, Any]:
    """Output tok/s and headroom of every element, and the mask of elements that the scalar function must judge."""
    import numpy as np

    size = grid.size
    codes, combos = grid.codes(("model", "gpu", "precision"))
    batch, bad = grid.numbers("batch")
    context, bad_context = grid.numbers("context")
    gpus, bad_gpus = grid.numbers("gpus")
    bad = bad | bad_context | bad_gpus | ~(batch > 0) | ~(context > 0) | ~(gpus >= 1) | (gpus != np.floor(gpus)) | (gpus > 100_000)
    rows: list[tuple[Any, ...] | None] = []
    limits: list[float] = []
    heads: list[float] = []
    broken: list[bool] = []
    run = None
    for combo in combos:
        try:
            s = _setup(call, *combo)
        except GpueconError:
            rows.append(None)
            limits.append(0.0)
            heads.append(0.0)
            broken.append(True)
            continue
        run = s.quick
        rows.append(s.quick_carried)
        limits.append(s.model["max_context"] or UNLIMITED)
        heads.append(s.model["heads"])
        broken.append(False)
    bad = bad | np.array(broken)[codes]
    tok_s, headroom = np.full(size, np.nan), np.full(size, np.nan)
    share = call.number("output_share")
    tokens_in, tokens_out = call.get("input_tokens"), call.get("output_tokens")
    out = np.full(size, tokens_out) if tokens_out is not None else context * share if tokens_in is None else context - tokens_in
    with np.errstate(invalid="ignore"):
        into = np.full(size, tokens_in) if tokens_in is not None else context - out
    bad = bad | ~(out > 0) | ~(into > 0) | (into + out > np.array(limits)[codes])
    good = np.nonzero(~bad)[0]
    if run is None or not len(good):
        return tok_s, headroom, np.ones(size, dtype=bool)
    width = len(next(r for r in rows if r is not None))
    facts = np.array([r if r is not None else (np.nan,) * width for r in rows], dtype=float)
    of = codes[good]
    # a fact that is the same for all combinations stays one number
    carried = [float(column[0]) if (column == column[0]).all() else np.ascontiguousarray(column)[of] for column in facts.T]
    b, i, o, n = batch[good], into[good], out[good], gpus[good]
    best, room = np.full(len(good), -np.inf), np.full(len(good), -np.inf)
    with np.errstate(all="ignore"):
        for tp, pp in _layout_columns(call, n):
            out_tok_s, most, head = run(*carried, b, i, o, n, float(tp), float(pp))
            fills = (n % (tp * pp) == 0) & (n >= tp * pp) & (np.array(heads)[of] % tp == 0)
            better = fills & (most >= 1) & (np.round(out_tok_s, 9) > np.round(best, 9))
            best = np.where(better, out_tok_s, best)
            room = np.where(fills, np.maximum(room, head), room)
    tok_s[good], headroom[good] = best, room
    return tok_s, headroom, bad


def _tokps_many(grid: Grid, options: Any, catalog: Catalog) -> tuple[Any, Any]:
    import numpy as np

    call = _Call(options, catalog)
    if call.get("tok_s") is not None or call.get("context") is not None or call.get("case", "typical") != "typical":
        return np.zeros(grid.size), np.ones(grid.size, dtype=bool)
    tok_s, _, doubtful = _throughput_many(grid, call)
    return tok_s, doubtful | ~np.isfinite(tok_s)


def _fits_many(grid: Grid, options: Any, catalog: Catalog) -> tuple[Any, Any]:
    import numpy as np

    call = _Call(options, catalog)
    if call.get("context") is not None:
        return np.zeros(grid.size), np.ones(grid.size, dtype=bool)
    _, headroom, doubtful = _throughput_many(grid, call)
    return fit_class(headroom, call.number("headroom_wanted")), doubtful | ~np.isfinite(headroom)


def _tco_many(grid: Grid, call: _Call, positive_use: bool) -> tuple[Any, Any, Any, Any, Any]:
    """Total cost of one card, mean use, hours, the mask of doubtful elements, fixed part and part at full use."""
    import numpy as np

    codes, combos = grid.codes(("gpu",))
    currency = call.get("currency", "EUR")
    given = grid.scalars.get("price", 0) is not None
    power, prices, broken = [], [], []
    for (name,) in combos:
        try:
            card = call.catalog.find("gpus", name)
            power.append(card["tdp_w"])
            prices.append(0.0 if given else _price(call, card, None, currency))
            broken.append(False)
        except GpueconError:
            power.append(np.nan)
            prices.append(np.nan)
            broken.append(True)
    bad = np.array(broken)[codes]
    price = np.array(prices)[codes]
    if given:
        price, bad_price = grid.numbers("price")
        bad = bad | bad_price | ~(price >= 0)
    if grid.scalars.get("utilization", 0) is None:
        case = call.get("case", "typical")
        use = np.full(grid.size, _use(call, None, positive_use, _OTHER[case] if positive_use else case))
    else:
        use, bad_use = grid.numbers("utilization")
        bad = bad | bad_use | ~(use >= 0) | ~(use <= 1) | (positive_use & (use == 0))
        if call.get("utilization") is not None:
            bad = np.ones(grid.size, dtype=bool)
    values = money.tco_values(call.catalog, call.options, currency)
    use = mean_use(use, _ramp(call))
    tco, fixed, per_use, hours = money.tco_plan(values, price, np.array(power)[codes], use)
    return tco, use, hours, bad, (fixed, per_use)


def _tco3y_many(grid: Grid, options: Any, catalog: Catalog) -> tuple[Any, Any]:
    import numpy as np

    call = _Call(options, catalog)
    tco, _, _, bad, _ = _tco_many(grid, call, False)
    gpus, bad_gpus = grid.numbers("gpus")
    total = tco * gpus
    return total, ~np.isfinite(total) | bad | bad_gpus | ~(gpus >= 1) | (gpus != np.floor(gpus)) | (gpus > 100_000)


def _cost_many(grid: Grid, options: Any, catalog: Catalog) -> tuple[Any, Any]:
    import numpy as np

    call = _Call(options, catalog)
    tok_s, doubtful = _tokps_many(grid, options, catalog)
    if doubtful.all():
        return tok_s, doubtful
    tco, use, hours, bad, _ = _tco_many(grid, call, True)
    gpus, _ = grid.numbers("gpus")
    with np.errstate(all="ignore"):
        cost = cost_eur_mtok(tco, gpus, tokens_served_m(tok_s, use, hours))
    return cost, doubtful | bad | ~np.isfinite(cost)


# ------------------------------------------------------------------------------------------------ the public functions


def tokps(
    model: Any,
    gpu: Any,
    precision: Any = None,
    batch: Any = 1,
    context: Any = 4096,
    gpus: Any = 1,
    options: Any = None,
    catalog: Any = None,
) -> Any:
    """Sustained output tokens per second of the whole build, prompts included in the time.

    Parameters
    ----------
    model, gpu : names or aliases.  precision : number format; None is the checkpoint's published one.
    batch : concurrency asked of the whole build [request].  context : input and output tokens of a request [token].
    gpus : all cards.  options : dict, text "tp=2; kv=fp8" or two-column range.  catalog : None, path, table or Catalog.

    Returns
    -------
    float, or the shape of the array arguments [token/s].

    Raises
    ------
    LookupError for names, ValueError for values, each one sentence.

    Equation: `equations.serving.output_tok_s`.
    """
    if not (is_array(model) or is_array(gpu) or is_array(precision) or is_array(batch) or is_array(context) or is_array(gpus)):
        return _tokps(model, gpu, precision, batch, context, gpus, options, catalog)
    arguments = dict(model=model, gpu=gpu, precision=precision, batch=batch, context=context, gpus=gpus)
    return _call_function(_tokps, _tokps_many, arguments, options, catalog)


def fits(
    model: Any,
    gpu: Any,
    precision: Any = None,
    batch: Any = 1,
    context: Any = 4096,
    gpus: Any = 1,
    options: Any = None,
    catalog: Any = None,
) -> Any:
    """Whether weights, cache of the batch asked and engine overhead fit: "fits" (15 % headroom), "tight" or "no".

    Parameters as in `tokps`.  Equation: `equations.memory.fit_class` of `headroom`.
    """
    if not (is_array(model) or is_array(gpu) or is_array(precision) or is_array(batch) or is_array(context) or is_array(gpus)):
        return _fits(model, gpu, precision, batch, context, gpus, options, catalog)
    arguments = dict(model=model, gpu=gpu, precision=precision, batch=batch, context=context, gpus=gpus)
    return _call_function(_fits, _fits_many, arguments, options, catalog)


def tco3y(gpu: Any, gpus: Any = 1, utilization: Any = None, price: Any = None, options: Any = None, catalog: Any = None) -> Any:
    """Total cost of ownership over the horizon (three years), all cards.

    Parameters
    ----------
    gpu : name or alias.  gpus : cards.  utilization : share of the time at work, 0 to 1; None is the assumption.
    price : net purchase price of one card, 0 for owned; None is the catalogue's [EUR, or USD with option currency=USD].

    Equation: `equations.tco.tco_eur`.
    """
    if not (is_array(gpu) or is_array(gpus) or is_array(utilization) or is_array(price)):
        return _tco3y(gpu, gpus, utilization, price, options, catalog)
    arguments = dict(gpu=gpu, gpus=gpus, utilization=utilization, price=price)
    return _call_function(_tco3y, _tco3y_many, arguments, options, catalog)


def cost_per_mtok(
    model: Any,
    gpu: Any,
    precision: Any = None,
    batch: Any = 32,
    context: Any = 4096,
    gpus: Any = 1,
    utilization: Any = None,
    price: Any = None,
    options: Any = None,
    catalog: Any = None,
) -> Any:
    """Own cost of a million OUTPUT tokens.

    Parameters as in `tokps` and `tco3y`.  Equation: `equations.cost.cost_eur_mtok`.
    """
    arguments = dict(model=model, gpu=gpu, precision=precision, batch=batch, context=context, gpus=gpus, utilization=utilization,
                     price=price)  # fmt: skip
    if not any(map(is_array, arguments.values())):
        return _cost_per_mtok(**arguments, options=options, catalog=catalog)
    return _call_function(_cost_per_mtok, _cost_many, arguments, options, catalog)


def breakeven_util(
    model: Any,
    gpu: Any,
    rate: Any,
    precision: Any = None,
    batch: Any = 32,
    context: Any = 4096,
    gpus: Any = 1,
    price: Any = None,
    options: Any = None,
    catalog: Any = None,
) -> Any:
    """Utilisation from which owning is cheaper than renting at `rate`, 0 to 1; "rent always wins" when never.

    Parameters
    ----------
    rate : rent per GPU-hour, only used hours are paid.  Options: ``rent_gpu`` or ``rel`` (tok/s of the owned card over
    the rented one's), ``own_cost=at_assumed_use``.  Others as in `tokps` and `tco3y`.

    Equation: `equations.breakeven.breakeven_use`.
    """
    arguments = dict(model=model, gpu=gpu, rate=rate, precision=precision, batch=batch, context=context, gpus=gpus, price=price)
    if not any(map(is_array, arguments.values())):
        return _breakeven_util(**arguments, options=options, catalog=catalog)
    return _call_function(_breakeven_util, None, arguments, options, catalog)


def predict(
    model: str,
    gpu: str,
    precision: str | None = None,
    *,
    batch: float | None = 1,
    input_tokens: float = 1024,
    output_tokens: float = 256,
    gpus: int = 1,
    tp: int | None = None,
    pp: int = 1,
    kv: str | None = None,
    engine: str | None = None,
    mode: str = "expected",
    options: Any = None,
    catalog: Any = None,
) -> Prediction:
    """Throughput of a model on cards, with its parts and its band.

    Parameters
    ----------
    batch : concurrency asked of the whole build; None is the largest admitted.  input_tokens, output_tokens : of a
    request; a length beyond the model's limit is noted, not refused.  tp, pp : tensor and pipeline parallel; None is the fastest layout that fits.
    kv : format of the cache, None is 16 bit.  engine : family or full string.  mode : "expected" or "ceiling".

    Returns
    -------
    Prediction

    Equations: ``equations/``; constants: ``catalog/efficiency.csv``, ``links.csv``, ``engines.csv``.
    """
    call = _Call(options, catalog)
    call.refuse_context_option()
    if call.get("tok_s") is not None:
        raise BadValue("option tok_s replaces a prediction; predict cannot use it, leave it out")
    return predict_one(
        call.catalog,
        model,
        gpu,
        precision,
        batch,
        call.unless(input_tokens, "input_tokens", 1024),
        call.unless(output_tokens, "output_tokens", 256),
        gpus,
        call.unless(tp, "tp", None),
        call.unless(pp, "pp", 1),
        call.unless(kv, "kv", None),
        call.unless(engine, "engine", None),
        call.unless(mode, "mode", "expected"),
        call.assumptions,
    )


def _each(one: Callable[..., Any], arguments: Mapping[str, Any], options: Any, catalog: Any) -> Any:
    """A companion over scalars or arrays."""
    if any(map(is_array, arguments.values())):
        return _call_function(one, None, arguments, options, catalog)
    return one(**arguments, options=options, catalog=catalog)


def rent3y(rate: Any, options: Any = None, catalog: Any = None) -> Any:
    """Rent of one card over the horizon (three years), day and night, at `rate` per GPU-hour.

    Equation: `equations.cost.rent_horizon`.
    """

    @_finite
    def one(rate: Any, options: Any, catalog: Any) -> float:
        hours = horizon_h(_Call(options, catalog).number("horizon_years"))
        return float(rent_horizon(check_number(rate, "rate", positive=True), hours))

    return _each(one, dict(rate=rate), options, catalog)


def rent_per_mtok(rate: Any, tok_s: Any) -> Any:
    """Cost of a million tokens on a rented card at `rate` per GPU-hour that gives `tok_s` tokens per second.

    Equation: `equations.cost.rent_cost_mtok`.
    """

    @_finite
    def one(rate: Any, tok_s: Any, options: Any, catalog: Any) -> float:
        return float(rent_cost_mtok(check_number(rate, "rate", positive=True), check_number(tok_s, "tok_s", positive=True)))

    return _each(one, dict(rate=rate, tok_s=tok_s), None, None)


def blended_price(price_in: Any, price_out: Any, share_out: Any = None, catalog: Any = None) -> Any:
    """Price of a million tokens of an API, input and output blended; `share_out` of all tokens is output.

    Equation: `equations.cost.blended_price_mtok`.
    """

    @_finite
    def one(price_in: Any, price_out: Any, share_out: Any, options: Any, catalog: Any) -> float:
        share = _Call(options, catalog).number("output_share") if share_out is None else share_out
        return float(blended_price_mtok(check_number(price_in, "price_in"), check_number(price_out, "price_out"),
                                        check_number(share, "share_out", share=True)))  # fmt: skip

    return _each(one, dict(price_in=price_in, price_out=price_out, share_out=share_out), None, catalog)


def breakeven_batch(model: Any, gpu: Any, precision: Any = None, catalog: Any = None) -> Any:
    """Batch at which the ideal roofline turns from memory to compute, B*.

    Equation: `equations.memory.breakeven_batch`.
    """

    @_finite
    def one(model: Any, gpu: Any, precision: Any, options: Any, catalog: Any) -> float:
        s = _setup(_Call(options, catalog), model, gpu, precision)
        return float(graph.plan(("breakeven_batch",), tuple(s.values))(*s.values.values())[0])

    return _each(one, dict(model=model, gpu=gpu, precision=precision), None, catalog)


def token_yield_month(model: Any, gpu: Any, precision: Any = None, utilization: Any = None, options: Any = None, catalog: Any = None) -> Any:
    """Tokens that one card yields in a month of 730 hours with as many sequences as fit.

    Expected mode counts output tokens of the serving loop. Mode ceiling counts decoded tokens of the ideal roofline;
    with option kv_reads=0 that is the published ceiling. Option context: tokens of a request.

    Equation: `equations.serving.token_yield_g_month`.
    """

    @_finite
    def one(model: Any, gpu: Any, precision: Any, utilization: Any, options: Any, catalog: Any) -> float:
        call = _Call(options, catalog)
        use = _use(call, utilization, True)
        context = call.number("context")
        share = call.number("output_share")
        tokens_out = call.get("output_tokens", context * share)
        tokens_in = call.get("input_tokens", context - tokens_out)
        p = predict_one(call.catalog, model, gpu, precision, None, tokens_in, tokens_out, 1, call.get("tp"), call.get("pp"), call.get("kv"),
                        call.get("engine"), call.get("mode", "expected"), call.assumptions)  # fmt: skip
        tok_s = p.decode_tok_s if call.get("mode") == "ceiling" else p.output_tok_s
        return float(token_yield_g_month(tok_s, use) * GIGA)

    return _each(one, dict(model=model, gpu=gpu, precision=precision, utilization=utilization), options, catalog)


def own_cost_month(gpu: Any, price: Any = None, utilization: Any = None, options: Any = None, catalog: Any = None) -> Any:
    """Monthly cost of one owned card: its share of a server written off by month, and electricity without PUE.

    Equation: `equations.cost.own_cost_month`.
    """

    @_finite
    def one(gpu: Any, price: Any, utilization: Any, options: Any, catalog: Any) -> float:
        call = _Call(options, catalog)
        card = call.catalog.find("gpus", gpu)
        currency = call.get("currency", "EUR")
        tariff = money.tco_values(call.catalog, call.options, currency)["electricity_eur_kwh"]
        return float(own_cost_month_equation(_price(call, card, price, currency), call.number("card_to_server"),
                                             call.number("months_written_off"), card["tdp_w"], _use(call, utilization, False), tariff))  # fmt: skip

    return _each(one, dict(gpu=gpu, price=price, utilization=utilization), options, catalog)


def vram_rule_gb(params_b: Any, precision: Any = "fp16", catalog: Any = None) -> Any:
    """Memory by rule of thumb, stated for 16 bit (2.4 GB per billion parameters) and 4 bit (0.62).

    Equation: `equations.memory.vram_rule_gb`.
    """

    @_finite
    def one(params_b: Any, precision: Any, options: Any, catalog: Any) -> float:
        call = _Call(options, catalog)
        row = call.catalog.find("precisions", precision)
        if row["kernel"] in ("w4", "fp4"):
            factor = call.number("gb_per_b_4_bit")
        elif row["bytes_weight"] == 2:
            factor = call.number("gb_per_b_16_bit")
        else:
            raise BadValue(f"precision {row['precision']}: the rule of thumb is stated for 16 bit and 4 bit only")
        return float(vram_rule_equation(check_number(params_b, "params_b", positive=True), factor))

    return _each(one, dict(params_b=params_b, precision=precision), None, catalog)


def weights_class(model: Any, gpu: Any, precision: Any = None, gpus: Any = 1, catalog: Any = None) -> Any:
    """Whether the weights alone, with 3 % overhead, fit the marketing memory: "fits", "tight" or "no".

    Equation: `equations.memory.weights_headroom`; `fits` counts cache and engine too.
    """

    @_finite
    def one(model: Any, gpu: Any, precision: Any, gpus: Any, options: Any, catalog: Any) -> str:
        call = _Call(options, catalog)
        s = _setup(call, model, gpu, precision)
        count = check_layout(gpus, None, None)[0]
        left = weights_headroom(s.gpu["memory_gb"], count, s.model["params_b"], s.precision["bytes_weight"], call.number("weights_factor_stated"))
        return str(fit_class(left, call.number("headroom_wanted")))

    return _each(one, dict(model=model, gpu=gpu, precision=precision, gpus=gpus), None, catalog)


def price_of(gpu: Any, options: Any = None, catalog: Any = None) -> Any:
    """Net purchase price of one card; option case=low, typical or high, currency=EUR or USD."""

    @_finite
    def one(gpu: Any, options: Any, catalog: Any) -> float:
        call = _Call(options, catalog)
        return _price(call, call.catalog.find("gpus", gpu), None, call.get("currency", "EUR"))

    return _each(one, dict(gpu=gpu), options, catalog)


def batch_max(model: Any, gpu: Any, precision: Any = None, context: Any = 4096, gpus: Any = 1, options: Any = None, catalog: Any = None) -> Any:
    """Sequences of full length that the build holds at once, in the fastest layout that fits.

    Equation: `equations.memory.batch_max`.
    """

    @_finite
    def one(model: Any, gpu: Any, precision: Any, context: Any, gpus: Any, options: Any, catalog: Any) -> float:
        call = _Call(options, catalog)
        s = _setup(call, model, gpu, precision)
        count, tp, pp = check_layout(gpus, call.get("tp"), call.get("pp"))
        check_heads(s, tp)
        tokens_in, tokens_out = _tokens(call, context)
        check_context(s, tokens_in + tokens_out)
        best = best_layout(s, UNLIMITED, tokens_in, tokens_out, count, tp, pp)
        if best is None:
            raise too_big(s, count, tokens_in + tokens_out)
        return best[1]

    return _each(one, dict(model=model, gpu=gpu, precision=precision, context=context, gpus=gpus), options, catalog)


def tok_s_user(
    model: Any, gpu: Any, precision: Any = None, batch: Any = 1, context: Any = 4096, gpus: Any = 1, options: Any = None, catalog: Any = None
) -> Any:
    """Pure decode rate that one user sees, in the layout that gives the whole build its most tokens [token/s].

    Equation: `equations.serving.decode_tok_s_user`.
    """

    @_finite
    def one(model: Any, gpu: Any, precision: Any, batch: Any, context: Any, gpus: Any, options: Any, catalog: Any) -> float:
        call = _Call(options, catalog)
        tokens_in, tokens_out = _tokens(call, context)
        check_context(_setup(call, model, gpu, precision), tokens_in + tokens_out)
        p = predict_one(
            call.catalog, model, gpu, precision, check_number(batch, "batch", positive=True), tokens_in, tokens_out, gpus, call.get("tp"),
            call.get("pp", 1), call.get("kv"), call.get("engine"), call.get("mode", "expected"), call.assumptions,
        )  # fmt: skip
        return p.decode_tok_s_user

    arguments = dict(model=model, gpu=gpu, precision=precision, batch=batch, context=context, gpus=gpus)
    return _each(one, arguments, options, catalog)


def memory_need_gb(model: Any, precision: Any = None, batch: Any = 1, context: Any = 4096, options: Any = None, catalog: Any = None) -> Any:
    """Memory that a model needs with its cache on one card: weights and cache of the batch, without engine [GB].

    Equations: `equations.memory.weights_gb`, `kv_gb_sequence`.
    """

    @_finite
    def one(model: Any, precision: Any, batch: Any, context: Any, options: Any, catalog: Any) -> float:
        call = _Call(options, catalog)
        card = str(call.catalog.rows("gpus")[0]["gpu"])  # the card does not matter for the need
        s = _setup(call, model, card, precision)
        tokens_in, tokens_out = _tokens(call, context)
        check_context(s, tokens_in + tokens_out)
        load = {**s.values, "input_tokens": tokens_in, "output_tokens": tokens_out, "tp": 1}
        weights, each = graph.plan(("weights_gb", "kv_gb_sequence"), tuple(load))(*load.values())
        return float(weights + check_number(batch, "batch", positive=True) * each)

    return _each(one, dict(model=model, precision=precision, batch=batch, context=context), options, catalog)


def breakeven_tokens(own_cost_month: Any, api: Any, options: Any = None, catalog: Any = None) -> Any:
    """Tokens a month, input and output, from which owning costs less than an API of the catalogue.

    Parameters
    ----------
    own_cost_month : monthly cost of owning, in the currency of the API's price.  api : name in the catalogue, or a
        blended price per million tokens.

    Equation: `equations.breakeven.breakeven_tokens_g_month`.
    """

    @_finite
    def one(own_cost_month: Any, api: Any, options: Any, catalog: Any) -> float:
        call = _Call(options, catalog)
        if isinstance(api, str):
            row = call.catalog.find("api_prices", api)
            api = blended_price_mtok(row["price_in_mtok"], row["price_out_mtok"], call.number("output_share"))
        price = check_number(api, "api", positive=True)
        return float(breakeven_tokens_g_month(check_number(own_cost_month, "own_cost_month"), price) * GIGA)

    return _each(one, dict(own_cost_month=own_cost_month, api=api), options, catalog)


def recommend(workload: Any, options: Any = None, catalog: Any = None) -> Any:
    """The build of the catalogue with the lowest cost per million output tokens that fits a workload and keeps its limits.

    The same rule and the same layout as the workbook's Matrix. "none" when no build keeps every limit.
    `plan` searches freely over all cards, counts, layouts and formats instead of the listed builds.
    """

    def one(workload: Any, options: Any, catalog: Any) -> str:
        from gpuecon_xl.recommendation import recommended

        call = _Call(options, catalog)
        return recommended(call.catalog, call.catalog.find("workloads", workload))

    return _each(one, dict(workload=workload), options, catalog)


def plan(
    model: str,
    users: float,
    input_tokens: float,
    output_tokens: float,
    *,
    ttft_ms: float | None = None,
    tpot_ms: float | None = None,
    ecc: bool = False,
    no_consumer: bool = False,
    datacenter: bool = False,
    slots: int | None = None,
    max_w: float | None = None,
    max_cards: int | None = None,
    budget: float | None = None,
    headroom: float | None = None,
    gpu: Any = None,
    precision: Any = None,
    kv: Any = None,
    engine: str | None = None,
    options: Any = None,
    catalog: Any = None,
) -> Plan:
    """Which cards, how many and how divided serve a load at the lowest cost per million output tokens within limits.

    Every card for sale with a sourced price, every number of cards, every layout, every format of weights and cache
    that the engine takes is computed in one pass.

    Parameters
    ----------
    users : requests that must run at once.  input_tokens, output_tokens : of a request.
    ttft_ms : mean time to first token, at most.  tpot_ms : mean time between tokens in the serving loop, the prompts of
    other requests included, at most.  ecc, no_consumer, datacenter : marks that the card must have.
    slots, max_w, max_cards, budget : expansion slots, rated watts, cards, EUR of purchase with chassis, at most.
    headroom : share of the engine's memory that must stay free; None is the assumption headroom_wanted.
    gpu, precision, kv : names that may be chosen, a list or a text with commas; None is all.

    Returns
    -------
    Plan
        With winner, front, best_of_each, steps and recheck.

    Raises
    ------
    LookupError for names, ValueError for values and when nothing keeps every limit, each one sentence.
    """
    from gpuecon_xl.planning.answer import Plan
    from gpuecon_xl.planning.question import ask
    from gpuecon_xl.planning.search import search

    held: Catalog = as_catalog(catalog)
    limits = dict(ttft_ms=ttft_ms, tpot_ms=tpot_ms, ecc=ecc, no_consumer=no_consumer, datacenter=datacenter, slots=slots, max_w=max_w,
                  max_cards=max_cards, budget=budget, headroom=headroom)  # fmt: skip
    return Plan(search(ask(held, model, users, input_tokens, output_tokens, limits, gpu, precision, kv, engine, parse_options(options, held))))


def gpu_list(catalog: Any = None) -> list[str]:
    """Names of the cards of the catalogue that are for sale, for drop-down lists."""
    return [str(r["gpu"]) for r in as_catalog(catalog).rows("gpus") if r["for_sale"] == "yes"]


def model_list(catalog: Any = None) -> list[str]:
    """Names of the models of the catalogue, for drop-down lists."""
    return [str(r["model"]) for r in as_catalog(catalog).rows("models")]


def precision_list(catalog: Any = None) -> list[str]:
    """Names of the number formats of the catalogue, for drop-down lists."""
    return [str(r["precision"]) for r in as_catalog(catalog).rows("precisions")]


# Functions that have an array form of their own: scalar function, array form.
ARRAY_FORMS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "tokps": (_tokps, _tokps_many),
    "fits": (_fits, _fits_many),
    "tco3y": (_tco3y, _tco3y_many),
    "cost_per_mtok": (_cost_per_mtok, _cost_many),
}


def answers_of(name: str, columns: Mapping[str, Any], options: Any = None, catalog: Any = None) -> list[Any]:
    """Answers of an array call by name; elements that are refused hold a `Refusal`."""
    import inspect

    public = globals()[name]
    arguments = {k: columns.get(k, p.default) for k, p in inspect.signature(public).parameters.items() if k not in ("options", "catalog")}
    one, many = ARRAY_FORMS[name]
    return answer_all(one, many, arguments, options, catalog)[1]
