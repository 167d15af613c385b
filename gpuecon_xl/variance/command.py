"""The command ``gpuecon diff``: its options, its checks, what it writes and prints.

Here: targets checked first, tables for the terminal. Not here: figures (`attribution`), words (`words`), the workbook (`book`).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from gpuecon_xl.errors import BadFile
from gpuecon_xl.files import check_target, workbook_named
from gpuecon_xl.lang import language
from gpuecon_xl.variance.attribution import SHIPPED, Variance, WorkloadVariance, diff_books
from gpuecon_xl.variance.words import Words

MOST_TOLD = 5  # effects of a workload that the terminal shows one by one


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    what = f"an edited workbook, a folder of CSV files, a CSV file, or the word {SHIPPED} for the shipped catalogue"
    parser.add_argument("old", metavar="OLD", help=what)
    parser.add_argument("new", metavar="NEW", help="the same")
    parser.add_argument("-o", "--out", metavar="OUT.xlsx", help="a workbook with every change, every effect and waterfall charts; values only")
    parser.add_argument("--lang", default="en", metavar="LANG", help="language of what is printed and written: en, de or da; not given: en")
    parser.add_argument("--force", action="store_true", help="overwrite what exists")


def run(
    args: argparse.Namespace,
    busy: Callable[[str], AbstractContextManager[None]],
    show: Callable[[Any], None],
    table: Callable[[Sequence[str], Iterable[Sequence[str]], Iterable[int]], None],
) -> None:
    """Do it; `busy` shows that work goes on, `show` prints JSON, `table` a table."""
    target = None if args.out is None else _target(args)
    lang = language(args.lang)
    words = Words(lang)
    with busy(f"Comparing {args.old[:60]} and {args.new[:60]}"):
        found = diff_books(args.old, args.new)
        if target is not None:
            from gpuecon_xl.variance.book import write_variance

            write_variance(target, found, words)
    if args.json:
        show(found.to_dict() | ({"file": str(target)} if target is not None else {}))
        return
    _say(found, words, table)
    if target is not None:
        print(words("file", file=str(target)))


def _target(args: argparse.Namespace) -> Path:
    target = workbook_named(args.out, "diff")
    for given in (args.old, args.new):
        if target.exists() and given.strip() and Path(given).exists() and target.samefile(given):
            raise BadFile(f"{target} is one of the two that are compared, which are never overwritten; choose another name")
    check_target(target, args.force)
    return target


def _say(found: Variance, w: Words, table: Callable[[Sequence[str], Iterable[Sequence[str]], Iterable[int]], None]) -> None:
    print(w.summary(found))
    if found.steps:
        heads = [w(k) for k in ("number", "place", "row", "column", "old", "new", "share", "source")]
        table(heads, _inputs(found, w), (4, 5, 6))
        changed = [x for x in found.workloads if x.changed]
        if changed:
            print(w("unit"))
            table([w(k) for k in ("workload", "cost_old", "cost_new", "change", "share", "rest", "build_old", "build_new")],
                  [_result(x, w) for x in changed], (1, 2, 3, 4, 5))  # fmt: skip
            for x in changed:
                if x.build_old != x.build_new:
                    print(w.flipped(found, x))
            print(w("order"))
            heads = [w(k) for k in ("workload", "number", "what", "effect", "after", "then")]
            table(heads, (row for x in changed for row in _effects(found, x, w)), (3, 4))
            print(w("rest_is"))
            if any(None in x.after for x in changed):
                print(w("gap"))
        else:
            print(w("unchanged"))
    if found.warnings:
        print(w("warnings"))
        for warning in found.warnings:
            print(f"  {warning}")


def _inputs(found: Variance, w: Words) -> Iterator[tuple[str, ...]]:
    for step in found.steps:
        for change in step.changes:
            if not change.cells:
                yield str(step.number), w.place(change), change.row or w("moved"), "", "", "", "", ""
            for cell in change.cells:
                old, new = w.ends(change, cell)
                yield str(step.number), w.place(change), change.row, cell.column, old, new, w.percent(cell.share), w.source(change)


def _result(x: WorkloadVariance, w: Words) -> tuple[str, ...]:
    rest = "—" if x.rest is None else w.cost(x.rest)
    return (x.workload, w.cost(x.cost_old_eur_mtok), w.cost(x.cost_new_eur_mtok), w.cost(x.change, signed=True), w.percent(x.share), rest,
            w.build(x.build_old), w.build(x.build_new) if x.build_old != x.build_new else "=")  # fmt: skip


def _effects(found: Variance, x: WorkloadVariance, w: Words) -> Iterator[tuple[str, ...]]:
    """The largest effects and every change of the recommendation in their order, then what the others sum up to."""
    moved = x.moved()
    largest = sorted(moved, key=lambda number: -abs(moved[number]))[: MOST_TOLD if len(moved) > MOST_TOLD + 1 else None]
    flips = {f.step: f for f in x.flips}
    told = {*largest, *flips}
    name = x.workload
    for step, effect, after in zip(found.steps, x.effects, x.after, strict=True):
        if step.number in told:
            then = w.build(flips[step.number].new) if step.number in flips else ""
            yield name, str(step.number), w.step(step), w.cost(effect, signed=True), w.cost(after), then
            name = ""
    small = [e for number, e in moved.items() if number not in told]
    if small:
        yield name, "", w("others", count=str(len(small))), w.cost(math.fsum(small), signed=True), "", ""
