"""A range of 10,000 rows through Excel's call path, against the same array call in Python."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gpuecon_xl as gx

sys.path.insert(0, str(Path(__file__).parents[1] / "carriers"))
from fakecom import OMITTED, Range, excel

ROWS = 10_000
LIMIT = 3.0

CARDS = ["RTX 5090", "L40", "L40S", "H100 SXM"] * (ROWS // 4)
MODELS = ["Llama 3.1 8B", "Llama 3 8B"] * (ROWS // 2)
BATCH = [float(1 + i % 64) for i in range(ROWS)]
PRICE = [1000.0 + i for i in range(ROWS)]


@pytest.fixture(scope="module")
def call() -> Iterator[Callable[..., Any]]:
    with excel() as found:
        yield found


def best(run: Callable[[], Any], times: int = 7) -> float:
    """Shortest processor time of a few runs: neighbours on the machine do not count."""
    found = []
    for _ in range(times):
        gc.collect()
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def column(values: list[Any]) -> Range:
    return Range([[v] for v in values])


CASES: list[tuple[str, tuple[Any, ...], Callable[[], Any]]] = [
    ("TOKPS", (column(MODELS), column(CARDS), "fp8", column(BATCH)), lambda: gx.tokps(MODELS, CARDS, "fp8", BATCH)),
    ("FITS", (column(MODELS), column(CARDS), "fp8", column(BATCH)), lambda: gx.fits(MODELS, CARDS, "fp8", BATCH)),
    ("TCO3Y", (column(CARDS), 1.0, 0.6, column(PRICE)), lambda: gx.tco3y(CARDS, 1, 0.6, PRICE)),
    ("COST_PER_MTOK", (column(MODELS), column(CARDS), "fp8", column(BATCH), OMITTED, OMITTED, 0.6, column(PRICE)),
     lambda: gx.cost_per_mtok(MODELS, CARDS, "fp8", BATCH, 4096, 1, 0.6, PRICE)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "cells", "python"), CASES, ids=[c[0] for c in CASES])
def test_a_range_costs_little_more_than_an_array(
    call: Callable[..., Any], function: str, cells: tuple[Any, ...], python: Callable[[], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert [r[0] for r in call(function, *cells)] == python()
    ratio = best(lambda: call(function, *cells)) / best(python)
    with capsys.disabled():
        print(f"\n  {function}, {ROWS} rows through xlwings: {ratio:.2f} times the array call")
    assert ratio <= LIMIT
