"""A plan over the whole catalogue against bare numpy and against scalar calls, as ratios measured in one run.

`pytest tests/bench -s` shows the ratios.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpuecon_xl as gx

CANDIDATES = 200_000
PASSES = 100  # multiplications over as many numbers as there are candidates
NUMPY_LIMIT = 60.0  # times that
SCALAR_LIMIT = 0.1  # of a scalar call, for each candidate


def best(call: Callable[[], Any], times: int = 3) -> float:
    found = []
    for _ in range(times):
        gc.collect()
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)


def test_plan_over_the_whole_catalogue(benchmark: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Question, search, ranking, front, the best of each card and format, every reason of those."""

    def ours() -> gx.Plan:
        plan = gx.plan("Llama 3.3 70B", 64, 1024, 256, tpot_ms=60, options="plan_cards_max=80")
        assert plan.best_of_each
        assert plan.front
        return plan

    plan = ours()
    count = len(plan.candidates)
    assert count >= CANDIDATES
    numbers = np.linspace(1, 2, count)

    def numpy_alone() -> Any:
        out = numbers
        for _ in range(PASSES):
            out = out * numbers
        return out

    def scalar() -> Any:
        return gx.predict(
            "Llama 3.3 70B", plan.winner.gpu, plan.winner.precision, batch=64, gpus=plan.winner.gpus, tp=plan.winner.tp, pp=plan.winner.pp
        )

    scalar()
    with np.errstate(over="ignore"):
        whole, bare = best(ours, 5), best(numpy_alone, 5)
    one = best(lambda: [scalar() for _ in range(200)]) / 200
    with capsys.disabled():
        print(f"\n  plan, {count} candidates: {whole / bare:.1f} times {PASSES} multiplications in numpy, "
              f"{whole / count / one:.4f} of a scalar prediction for each candidate")  # fmt: skip
    assert whole / bare <= NUMPY_LIMIT
    assert whole / count / one <= SCALAR_LIMIT
    assert benchmark.pedantic(ours, rounds=1).winner == plan.winner
