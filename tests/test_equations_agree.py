"""Every equation means the same in Python, in numpy, as a traced expression and as a formula in two spreadsheet engines."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xlsxwriter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles import cached_values, formualizer_values, needs_libreoffice, same, soffice_convert
from ranges import Range, consistent, random_row, range_of

from gpuecon_xl import formula, graph, ops, units
from gpuecon_xl.cells import Cells, TableValues
from gpuecon_xl.ops import Expr
from gpuecon_xl.quantity import REGISTRY, Quantity

NAMES = sorted(REGISTRY)
TIGHT = 1e-12
ROWS = 4  # rows of one example
BOOK_ROWS = 12


def _strategy(r: Range) -> st.SearchStrategy[Any]:
    if r.texts:
        return st.sampled_from(r.texts)
    numbers: st.SearchStrategy[Any] = (
        st.integers(int(r.low), int(r.high)).map(float) if r.whole else st.floats(r.low, r.high, allow_nan=False, allow_subnormal=False)
    )
    return st.one_of(st.just(0.0), numbers) if r.zero else numbers


def _rows(q: Quantity) -> st.SearchStrategy[list[dict[str, Any]]]:
    one = st.fixed_dictionaries({p: _strategy(range_of(p)) for p in q.parameters}).map(consistent)
    return st.lists(one, min_size=ROWS, max_size=ROWS)


def _close(a: Any, b: Any, rel: float) -> bool:
    """Equal text, or numbers that differ by at most `rel` of the larger; no allowance near 0 beyond rounding of sums."""
    if isinstance(a, str) or isinstance(b, str):
        return bool(a == b)
    return bool(abs(float(a) - float(b)) <= rel * max(abs(float(a)), abs(float(b)), 1e-3))


def _in_cells(q: Quantity, rows: list[dict[str, Any]]) -> list[Any]:
    expression = graph.substitute(graph.traced(q.name), lambda p: ops.this("Equation", p))
    columns = {p: [row[p] for row in rows] for p in q.parameters}
    cells = Cells({"Equation": TableValues("Equation", len(rows), columns, {"result": expression})}, {})
    return cells.tables["Equation"].columns["result"]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, deadline=None, database=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_python_numpy_and_cells(name: str, data: st.DataObject) -> None:
    q = REGISTRY[name]
    rows = data.draw(_rows(q))
    python = [q.function(*(row[p] for p in q.parameters)) for row in rows]
    for value in python:
        assert isinstance(value, str | int | float), f"{value!r} is no number"
        assert not isinstance(value, float) or np.isfinite(value)
    with np.errstate(all="raise", under="ignore"):  # a share that vanishes is 0
        array = q.function(*(np.array([row[p] for row in rows]) for p in q.parameters))
    assert array.shape == (ROWS,)
    cells = _in_cells(q, rows)
    for row, a, b, c in zip(rows, python, array.tolist(), cells, strict=True):
        assert _close(a, b, TIGHT), f"Python {a!r}, numpy {b!r} for {row}"
        assert isinstance(c, str | float), f"the cell is {c!r} for {row}"
        assert _close(a, c, TIGHT), f"Python {a!r}, cell {c!r} for {row}"


@pytest.mark.parametrize("name", NAMES)
def test_scalars_broadcast_with_arrays(name: str) -> None:
    """One argument an array, the others scalars: the same as element by element."""
    q = REGISTRY[name]
    rnd = random.Random(name)
    row = random_row(q.parameters, rnd)
    for p in q.parameters:
        r = range_of(p)
        if p in ("experts", "experts_active"):
            continue  # the two go together
        values = [r.pick(rnd) for _ in range(3)]
        got = q.function(*(np.array(values) if n == p else row[n] for n in q.parameters))
        want = [q.function(*(v if n == p else row[n] for n in q.parameters)) for v in values]
        assert all(_close(a, b, TIGHT) for a, b in zip(np.broadcast_to(got, 3).tolist(), want, strict=True)), p


@pytest.mark.parametrize("name", NAMES)
def test_described(name: str) -> None:
    q = REGISTRY[name]
    assert q.unit
    assert q.equation
    assert q.summary.endswith((".", ";", ":")) or q.summary
    assert q.source, f"{name} names no source"


def _leaves(e: Expr) -> Iterator[Expr]:
    if e.op in ("num", "text", "bool", "arg"):
        yield e
        return
    for a in e.args:
        yield from _leaves(a)


@pytest.mark.parametrize("name", NAMES)
def test_no_number_but_unit_factors(name: str) -> None:
    """Measured, assumed and quoted numbers stand in the catalogue, not in an equation; -1 says "never"."""
    numbers = {abs(e.args[0]) for e in _leaves(graph.traced(name)) if e.op == "num"}
    allowed = units.ALL | {1 / u for u in units.ALL if u} | {1 - 1 / units.GIGA} | {units.FLOP_PER_MAC * units.KEY_AND_VALUE}
    assert numbers <= allowed, f"{sorted(numbers - allowed)}"


@pytest.mark.parametrize("name", NAMES)
def test_formula_text(name: str) -> None:
    """Short enough to read, of functions that Excel 2007 has."""
    text = formula.text(graph.substitute(graph.traced(name), lambda p: ops.this("T", p)))
    import re

    used = set(re.findall(r"\b([A-Z][A-Z0-9.]+)\(", text))
    assert used <= {"IF", "MIN", "MAX", "AND", "OR", "ROUND", "CEILING", "EXP", "LN", "FLOOR"}, used
    assert len(text) < 8000


# ------------------------------------------------------------------------------------------------ plans


def test_plan_is_step_by_step() -> None:
    """A compiled plan gives what the equations give when called one after the other."""
    outputs = ("tco_eur", "tco_fixed_eur", "tco_per_use_eur")
    inputs = tuple(sorted(graph.parameters_of(outputs)))
    rnd = random.Random(1)
    for _ in range(20):
        known = {n: range_of(n).pick(rnd) or 1.0 for n in inputs}  # no zeros: whole plans divide by sums of them
        done = dict(known)
        for q in graph.order(outputs, inputs):
            done[q.name] = q.function(*(done[p] for p in q.parameters))
        assert graph.plan(outputs, inputs)(*known.values()) == tuple(done[o] for o in outputs)


def test_staged_plan_is_the_whole_plan() -> None:
    outputs = ("batch_max", "headroom")
    inputs = tuple(sorted(graph.parameters_of(outputs)))
    varying = ("batch", "input_tokens", "output_tokens", "gpus", "tp", "pp")
    fixed = tuple(n for n in inputs if n not in varying)
    carried, second = graph.staged(outputs, fixed, varying)
    assert second == carried + varying
    rnd = random.Random(2)
    for _ in range(20):
        known = {n: range_of(n).pick(rnd) or 1.0 for n in (*inputs, *varying)}
        first = graph.plan(carried, fixed)(*(known[n] for n in fixed))
        got = graph.plan(outputs, second)(*first, *(known[n] for n in varying))
        assert got == graph.plan(outputs, inputs)(*(known[n] for n in inputs))


def test_unknown_name_is_refused() -> None:
    with pytest.raises(graph.GraphError, match="neither an input nor a quantity"):
        graph.order(["tco_eur"], [])
    with pytest.raises(graph.GraphError, match="no_such_thing"):
        graph.order(["no_such_thing"], [])


def test_if_in_an_equation_is_refused() -> None:
    with pytest.raises(TypeError, match=r"ops\.where"):
        bool(Expr("arg", "a") > 0)


# ------------------------------------------------------------------------------------------------ operations


@pytest.mark.parametrize(
    ("value", "up", "down"),
    [(3.0, 3, 3), (3.0000000001, 3, 3), (2.9999999999, 3, 3), (3.00000001, 4, 3), (2.99999999, 3, 2), (0.0, 0, 0), (-0.5, 0, -1)],
)
def test_rounding_ignores_dust(value: float, up: float, down: float) -> None:
    assert ops.ceil(value) == ops.ceil(np.array([value]))[0] == up
    assert ops.floor(value) == ops.floor(np.array([value]))[0] == down


@given(whole=st.integers(0, 2**53))
@settings(max_examples=300, deadline=None, database=None, derandomize=True)
def test_rounding_keeps_whole_numbers(whole: int) -> None:
    value = float(whole)
    column = TableValues("T", 1, {"a": [value]}, {"up": ops.ceil(ops.this("T", "a")), "down": ops.floor(ops.this("T", "a"))})
    cells = Cells({"T": column}, {}).tables["T"].columns
    assert ops.ceil(value) == ops.floor(value) == value
    assert ops.ceil(np.array([value]))[0] == ops.floor(np.array([value]))[0] == value
    assert cells["up"] == cells["down"] == [value]


@given(st.floats(0, 1e6), st.integers(0, 9))
@settings(max_examples=300, deadline=None, database=None, derandomize=True)
def test_round_half_away_from_zero(value: float, digits: int) -> None:
    from decimal import ROUND_HALF_UP, Decimal

    from gpuecon_xl.cells import round_half_up

    want = float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
    assert abs(round_half_up(value, digits) - want) <= 1e-15 * max(1.0, value)
    assert round_half_up(-value, digits) == -round_half_up(value, digits)


# ------------------------------------------------------------------------------------------------ one book of all equations


def _write(path: Path) -> dict[str, tuple[str, Any, dict[str, Any]]]:
    """A book with a table for each equation; what each formula cell must hold: equation, value, inputs."""
    wanted: dict[str, tuple[str, Any, dict[str, Any]]] = {}
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("Equations")
        top = 0
        for name in NAMES:
            q = REGISTRY[name]
            rnd = random.Random(f"book {name}")
            rows = [random_row(q.parameters, rnd) for _ in range(BOOK_ROWS)]
            table = f"Of_{name}"
            last = len(q.parameters)
            columns = [{"header": p} for p in (*q.parameters, f"{name}_result")]
            sheet.add_table(top, 0, top + BOOK_ROWS, last, {"name": table, "columns": columns, "autofilter": False})
            text = "=" + formula.text(graph.substitute(graph.traced(name), lambda p, t=table: ops.this(t, p)))
            for r, row in enumerate(rows, start=top + 1):
                for k, p in enumerate(q.parameters):
                    sheet.write(r, k, row[p]) if not isinstance(row[p], str) else sheet.write_string(r, k, row[p])
                sheet.write_formula(r, last, text, None, -777)  # a stale value that a reader must not trust
                wanted[xlsxwriter.utility.xl_rowcol_to_cell(r, last)] = (name, q.function(*row.values()), row)
            top += BOOK_ROWS + 2
    return wanted


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, tuple[str, Any, dict[str, Any]]]]:
    path = tmp_path_factory.mktemp("equations") / "equations.xlsx"
    return path, _write(path)


def _judge(got: dict[str, Any], wanted: dict[str, tuple[str, Any, dict[str, Any]]]) -> None:
    wrong = [
        f"{name} ({cell}): engine {got.get(cell)!r}, Python {value!r} for {row}"
        for cell, (name, value, row) in wanted.items()
        if not same(got.get(cell), value, 1e-9)
    ]
    assert len(wanted) == BOOK_ROWS * len(NAMES)
    assert not wrong, f"{len(wrong)} cells differ:\n" + "\n".join(wrong[:20])


def test_formulas_in_formualizer(book: tuple[Path, dict[str, Any]]) -> None:
    path, wanted = book
    _judge(formualizer_values(path)["Equations"], wanted)


@needs_libreoffice
@pytest.mark.libreoffice
def test_formulas_in_libreoffice(book: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    path, wanted = book
    _judge(cached_values(soffice_convert([path], tmp_path)[path])["Equations"], wanted)
