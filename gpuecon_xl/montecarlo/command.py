"""The command ``gpuecon risk``: its options, its checks, what it writes and prints."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gpuecon_xl.errors import BadFile, BadValue
from gpuecon_xl.files import check_target, workbook_named
from gpuecon_xl.lang import language, load
from gpuecon_xl.montecarlo.draw import DRAWS, QUANTILES, SEED, risk


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("--workload", metavar="NAME", help="a workload of the catalogue; not given: the assumption look_at_workload")
    parser.add_argument("--build", metavar="NAME", help="a build of the catalogue; not given: the assumption look_at_build")
    parser.add_argument("--rate", metavar="NAME", help="a rental offer of the catalogue; not given: the assumption compare_rate")
    parser.add_argument("--draws", metavar="NUMBER", default=str(DRAWS), help=f"how many draws; not given: {DRAWS}")
    parser.add_argument("--seed", metavar="NUMBER", default=str(SEED), help=f"the same seed gives the same draws; not given: {SEED}")
    parser.add_argument("--options", action="append", metavar="TEXT", help='"key=value; key=value": what is given here is not drawn; may be repeated')
    parser.add_argument("-o", "--out", metavar="OUT.xlsx", help="a workbook with quantiles, ranges and chart; values only")
    parser.add_argument("--lang", default="en", metavar="LANG", help="language of the workbook: en, de or da; not given: en")
    parser.add_argument("--force", action="store_true", help="overwrite what exists")


def run(
    args: argparse.Namespace,
    busy: Callable[[str], AbstractContextManager[None]],
    show: Callable[[Any], None],
    table: Callable[[Sequence[str], Iterable[Sequence[str]], Iterable[int]], None],
) -> None:
    """Do it; `busy` shows that work goes on, `show` prints JSON, `table` a table."""
    target = None
    if args.out is not None:
        target = workbook_named(args.out, "risk")
        if args.catalog is not None and target.exists() and Path(args.catalog).exists() and target.samefile(args.catalog):
            raise BadFile(f"{target} is the catalogue itself, which is never overwritten; choose another name")
        check_target(target, args.force)
    texts = load(language(args.lang))
    draws, seed = (_whole(text, f"--{what}") for what, text in (("draws", args.draws), ("seed", args.seed)))
    with busy(f"Drawing {draws} times"):
        found = risk(args.workload, args.build, args.rate, draws, seed, "; ".join(args.options) if args.options else None, args.catalog)
        if target is not None:
            from gpuecon_xl.montecarlo.book import write_risk

            write_risk(target, found, texts)
    if args.json:
        show(asdict(found) | ({"file": str(target)} if target is not None else {}))
        return
    print(f"{found.workload}, {found.build}, against {found.rate}: {found.draws} draws, seed {found.seed}, prices and assumptions of {found.as_of}")
    print(f"Owning costs less than renting in {100 * found.own_wins:.1f} % of the draws")
    names = {"build_tco_eur": "Total cost of the build", "cost_eur_mtok": "Cost of a million output tokens", "rent_eur": "Rent of the same tokens",
             "saved_eur": "Saved by owning"}  # fmt: skip
    rows = []
    for name, values in found.outcomes.items():
        digits = 3 if name == "cost_eur_mtok" else 0
        rows.append((names[name], *(f"{values[k]:.{digits}f}" for k in (*(f"p{q}" for q in QUANTILES), "mean", "typical")), "EUR"))
    table(("", *(f"P{q}" for q in QUANTILES), "mean", "typical", ""), rows, (1, 2, 3, 4, 5))
    if target is not None:
        print(f"{target} holds the ranges and the chart")


def _whole(text: str, what: str) -> int:
    if not re.fullmatch(r"\s*\d+\s*", text):
        raise BadValue(f"{what} is {text[:40]!r}; a whole number of at least 0 is due")
    return int(text)
