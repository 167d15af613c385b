"""Excel's own add-in path: xlwings' call code with cells as Excel hands them over, against the functions in Python."""

from __future__ import annotations

import datetime as dt
import decimal
import inspect
import io
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fakecom
import pytest
from calls import L8, L70, PRICES, R5, calls
from fakecom import ERROR, OMITTED, Range, date, excel

import gpuecon_xl as gx
from gpuecon_xl import explain
from gpuecon_xl.carriers.arguments import Refused, answer, why_rows
from gpuecon_xl.carriers.texts import LIMIT, NAMES_LIMIT, WHY, WHY_ARGUMENTS
from gpuecon_xl.functions_table import BY_NAME, CATEGORY, FUNCTIONS

Call = Callable[..., Any]


@pytest.fixture(scope="module")
def call() -> Iterator[Call]:
    with excel() as found:
        yield found


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-12)
    return type(a) is type(b) and a == b


def cell(value: Any) -> Any:
    """A content as COM has it."""
    if isinstance(value, list):
        return Range([[cell(v) for v in row] for row in value])
    if isinstance(value, str) and value in ERROR:
        return ERROR[value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def clean(value: Any) -> None:
    """Nothing that a cell cannot show."""
    for v in [x for row in value for x in row] if isinstance(value, list) else [value]:
        assert isinstance(v, float | str | bool), repr(v)
        assert not isinstance(v, float) or math.isfinite(v)


# ------------------------------------------------------------------------------------------------ every kind of content

POSSIBLE = [(f, a) for f, a in calls() if len(a) <= (len(WHY_ARGUMENTS) if f == WHY.lower() else len(BY_NAME[f].arguments))]


@pytest.mark.parametrize(("function", "raw"), POSSIBLE, ids=[f"{f}-{i}" for i, (f, _) in enumerate(POSSIBLE)])
def test_calls_of_all_kinds(call: Call, function: str, raw: list[Any]) -> None:
    got = call(function.upper(), *map(cell, raw))
    want = why_rows(raw) if function == WHY.lower() else answer(function, raw)
    clean(got)

    def check(g: Any, w: Any) -> None:
        if isinstance(w, Refused):
            assert g == f"{w.code} {w.sentence}".strip()
        else:
            assert same(g, float(w) if isinstance(w, int) else w), (g, w)

    if not isinstance(want, list):
        check(got, want)
        return
    assert [len(r) for r in got] == [len(r) for r in want]
    for g, w in zip(got, want, strict=True):
        for x, y in zip(g, w, strict=True):
            check(x, y)


def test_there_are_enough_calls() -> None:
    assert len(POSSIBLE) >= 150


# ------------------------------------------------------------------------------------------------ against Python, by hand

EXACT: list[tuple[str, tuple[Any, ...], Callable[[], Any]]] = [
    ("TCO3Y", (R5,), lambda: gx.tco3y(R5)),
    ("TCO3Y", (Range([["  rtx5090 "]]), OMITTED, Range([[None]]), ""), lambda: gx.tco3y(R5)),
    ("TCO3Y", (5090.0, 2.0), lambda: gx.tco3y(R5, 2)),
    ("TCO3Y", (R5, 1.0, "60 %", Range([[decimal.Decimal("2799.5")]])), lambda: gx.tco3y(R5, 1, 0.6, 2799.5)),
    ("TCO3Y", (R5, 1.0, 0.6, 2800.0, Range([["pue", 1.2], [None, None]])), lambda: gx.tco3y(R5, 1, 0.6, 2800, options={"pue": 1.2})),
    ("TCO3Y", (R5, OMITTED, None, None, None, cell(PRICES)), lambda: gx.tco3y(R5, price=2500)),
    ("TOKPS", (L8, R5, "FP8", 8.0), lambda: gx.tokps(L8, R5, "fp8", 8)),
    ("TOKPS", (L8, R5, "fp8", 8.0, OMITTED, OMITTED, "kv=fp8; engine=vLLM"), lambda: gx.tokps(L8, R5, "fp8", 8, options="kv=fp8; engine=vLLM")),
    ("FITS", (L70, R5, "fp8"), lambda: "no"),
    ("COST_PER_MTOK", ("Llama 3 8B", "L4", "fp8", 64.0, 4096.0, 1.0, 0.6, 2704.0, "tok_s=650"),
     lambda: gx.cost_per_mtok("Llama 3 8B", "L4", "fp8", 64, 4096, 1, 0.6, 2704, "tok_s=650")),
    ("COST_PER_MTOK", (L8, R5, "fp8"), lambda: gx.cost_per_mtok(L8, R5, "fp8", 32)),
    ("BREAKEVEN_UTIL", (L8, "L4", 0.01, "fp8"), lambda: "rent always wins"),
    ("BREAKEVEN_UTIL", (L8, R5, 0.6, "fp8"), lambda: gx.breakeven_util(L8, R5, 0.6, "fp8")),
    ("RENT3Y", ("1,8",), lambda: gx.rent3y(1.8)),
    ("BLENDED_PRICE", (2.0, 10.0, "30%"), lambda: gx.blended_price(2, 10, 0.3)),
    ("BATCH_MAX", (L8, "L40S", "fp8"), lambda: float(gx.batch_max(L8, "L40S", "fp8"))),
    ("TCO3Y", (Range([[R5], ["L4"], ["L40"]]),), lambda: [[gx.tco3y(g)] for g in (R5, "L4", "L40")]),
    ("TCO3Y", (Range([[R5, "L4"]]),), lambda: [[gx.tco3y(R5), gx.tco3y("L4")]]),
    ("TCO3Y", ((R5, "L4"),), lambda: [[gx.tco3y(R5), gx.tco3y("L4")]]),  # an array constant
    ("TCO3Y", (Range([[R5, "L4"]]), Range([[1.0], [2.0]])), lambda: [[gx.tco3y(g, n) for g in (R5, "L4")] for n in (1, 2)]),
    ("TCO3Y", (Range([[R5], [None], ["L4"]]), Range([[1.0], [None], [None]])), lambda: [[gx.tco3y(R5)], [""], [gx.tco3y("L4")]]),
    ("GPU_LIST", (), lambda: [[g] for g in gx.gpu_list()]),
    ("GPUECON_WHY", ("tco3y", R5, 4.0), lambda: [["" if v is None else v for v in s] for s in explain.why("tco3y", gpu=R5, gpus=4)]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "cells", "want"), EXACT, ids=[f"{c[0]}-{i}" for i, c in enumerate(EXACT)])
def test_answers_are_those_of_python(call: Call, function: str, cells: tuple[Any, ...], want: Callable[[], Any]) -> None:
    got, expected = call(function, *cells), want()
    clean(got)
    if not isinstance(expected, list):
        assert same(got, expected)
        return
    assert [len(r) for r in got] == [len(r) for r in expected]
    assert all(same(x, float(y) if isinstance(y, int) else y) for g, w in zip(got, expected, strict=True) for x, y in zip(g, w, strict=True))


REFUSED: list[tuple[tuple[Any, ...], str, str]] = [
    (("RTX 9999",), "#N/A", "nearest"),
    ((Range([[None]]),), "#VALUE!", "gpu is empty"),
    ((), "#VALUE!", "gpu is empty"),
    ((R5, True), "#VALUE!", "TRUE"),
    ((R5, 1.0, 0.6, "abc"), "#VALUE!", "abc"),
    ((R5, 1.0, 0.6, "2.800"), "#VALUE!", "2800"),
    ((R5, -1.0), "#VALUE!", "gpus"),
    ((R5, 1.0, 0.6, Range([[date(2026, 3, 31)]])), "#VALUE!", "date"),
    ((R5, 1.0, 0.6, None, "puw=1.2"), "#N/A", "pue"),
    ((R5, 1.0, 0.6, None, None, "Prices"), "#VALUE!", "table"),
    *(((R5, code), "#VALUE!", name) for name, code in ERROR.items()),
    ((Range([[ERROR["#N/A"]]]),), "#VALUE!", "gpu is the error #N/A"),
]


@pytest.mark.parametrize(("cells", "code", "word"), REFUSED, ids=[w for _, _, w in REFUSED])
def test_a_refusal_is_a_text_that_begins_with_its_error(call: Call, cells: tuple[Any, ...], code: str, word: str) -> None:
    got = call("TCO3Y", *cells)
    assert isinstance(got, str)
    assert got.startswith(f"{code} ")
    assert word in got


def test_only_the_bad_cell_of_a_range_is_refused(call: Call) -> None:
    got = call("TCO3Y", Range([[R5], ["RTX 9999"], [ERROR["#REF!"]], ["L4"]]), Range([[1.0], [1.0], [1.0], [dt.time(1)]]))
    assert same(got[0][0], gx.tco3y(R5))
    assert [r[0].split(" ")[0] for r in got[1:]] == ["#N/A", "#VALUE!", "#VALUE!"]


def test_many_rows_with_blank_and_bad_ones(call: Call) -> None:
    names = [[R5], ["L4"], [None], ["RTX 9999"]] * 100
    counts = [[1.0], [None], [None], [2.0]] * 100
    got = call("TCO3Y", Range(names), Range(counts))
    want = [gx.tco3y(R5), gx.tco3y("L4"), "", answer("tco3y", ["RTX 9999"])]
    for i, (value,) in enumerate(got):
        w = want[i % 4]
        assert value == f"{w.code} {w.sentence}" if isinstance(w, Refused) else same(value, w)


# ------------------------------------------------------------------------------------------------ why


def test_why_ends_in_the_answer_and_tells_of_refusals(call: Call) -> None:
    for entry, arguments in (("cost_per_mtok", (L8, R5, "fp8")), ("tokps", (L8, R5)), ("fits", (L8, R5)), ("breakeven_util", (L8, R5, 0.6))):
        rows = call(WHY, entry.upper(), *arguments)
        assert {len(r) for r in rows} == {4}
        assert same(rows[-1][1], call(entry.upper(), *arguments))
    assert call(WHY, "TCO3Y", "RTX 9999") == call("TCO3Y", "RTX 9999")
    assert call(WHY, "PRICE_OF", "RTX 9999") == call("PRICE_OF", "RTX 9999")
    assert "one cell" in call(WHY, "TCO3Y", Range([[R5, "L4"]]))
    assert call(WHY, "TKPS", L8).startswith("#N/A function 'TKPS'")


# ------------------------------------------------------------------------------------------------ the module


def test_functions_are_those_of_the_table(call: Call) -> None:
    module = call.module  # type: ignore[attr-defined]
    for entry in FUNCTIONS:
        function = getattr(module, entry.excel)
        parameters = inspect.signature(function).parameters
        assert tuple(parameters) == entry.arguments
        assert [p.default for p in parameters.values()][entry.required :] == [None] * (len(entry.arguments) - entry.required)
        facts = function.__xlfunc__
        assert facts["category"] == CATEGORY
        assert facts["name"] == entry.excel
        assert 0 < len(facts["ret"]["doc"]) <= LIMIT
        assert all(0 < len(a["doc"]) <= LIMIT for a in facts["args"])
        assert sum(map(len, entry.arguments)) + len(entry.arguments) <= NAMES_LIMIT
    assert sum(map(len, WHY_ARGUMENTS)) + len(WHY_ARGUMENTS) <= NAMES_LIMIT
    assert hasattr(getattr(module, WHY), "__xlfunc__")


def test_xlwings_can_make_its_own_vba_of_it(call: Call) -> None:
    udfs = sys.modules["xlwings.udfs"]
    out = io.StringIO()
    udfs.generate_vba_wrapper(fakecom.CLASSIC, call.module, out, type("Book", (), {"Name": "a.xlsm"}))  # type: ignore[attr-defined]
    assert out.getvalue().count("End Function") == len(FUNCTIONS) + 1


def test_without_xlwings_the_functions_are_plain_and_quick_to_import() -> None:
    code = (
        "import sys, time; t = time.process_time()\n"
        "from gpuecon_xl.carriers import classic\n"
        "t = time.process_time() - t\n"
        "assert classic.TCO3Y('RTX 5090') == classic.TCO3Y(gpu='RTX 5090', price='')\n"
        "assert classic.TCO3Y('RTX 9999').startswith('#N/A ')\n"
        "assert not {'xlwings', 'numpy', 'pandas'} & set(sys.modules)\n"
        "print(t)"
    )
    times = []
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        times.append(float(done.stdout))
    assert min(times) < 0.15  # seconds; xlwings alone takes 0.4


def test_no_paid_part_of_xlwings_is_named() -> None:
    for file in Path(gx.__file__).parent.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\b(import|from) xlwings(\.pro|\.server|_server)", text), file
