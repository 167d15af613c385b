"""Answers of aiconfigurator to a list of questions; run by an interpreter that has it, not by this project's.

Here: JSON questions on standard input, JSON answers on standard output. Not here: which questions are asked and how
answers are scored (`compare_predictors`).
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import logging
import sys
from functools import cache
from typing import Any

from aiconfigurator.cli.api import cli_estimate  # type: ignore[import-not-found]
from aiconfigurator.sdk.perf_database import get_latest_database_version  # type: ignore[import-not-found]

MODES = ("SILICON", "HYBRID")  # its measured tables; where they end, its own mixture with formulas
PROGRESS = 100  # questions between two lines of progress


@cache
def newest_tables(system: str, backend: str) -> str | None:
    """Version of the tables that the peer takes by itself; looking it up takes it most of a second."""
    return get_latest_database_version(system=system, backend=backend)  # type: ignore[no-any-return]


@cache
def times(question: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """Times of a replica, or the peer's own words of refusal; experts split like the rest, or else whole."""
    asked = dict(question)
    experts, tp = asked.pop("experts"), asked["tp_size"]
    splits = [dict(moe_tp_size=tp, moe_ep_size=1), dict(moe_tp_size=1, moe_ep_size=tp)] if experts else [{}]
    model, system = asked.pop("model"), asked.pop("system")
    refusal = ""
    for mode in MODES:
        for split in splits:
            try:
                got = cli_estimate(model, system, database_mode=mode, backend_version=newest_tables(system, asked["backend_name"]), **asked, **split)
            except Exception as refused:  # every refusal is counted and shown
                refusal = refusal or f"{type(refused).__name__}: {refused}"[:160]
            else:
                return dict(ttft_ms=float(got.ttft), tpot_ms=float(got.tpot), tables=mode)
    return dict(refused=refusal)


def main() -> None:
    """Read, answer card by card so that its tables are loaded once, write."""
    logging.disable(logging.CRITICAL)
    questions = sorted(json.load(sys.stdin), key=lambda q: (q["system"], q["backend_name"], q["model"]))
    answers = []
    with contextlib.redirect_stdout(sys.stderr):
        for done, question in enumerate(questions, 1):
            row = question.pop("row")
            answers.append(dict(row=row, **times(tuple(question.items()))))
            if done % PROGRESS == 0:
                print(f"aiconfigurator: {done} of {len(questions)}", file=sys.stderr, flush=True)
    json.dump(dict(version=importlib.metadata.version("aiconfigurator"), answers=answers), sys.stdout)


if __name__ == "__main__":
    main()
