"""The command `gpuecon plan`.

Here: arguments, files that are written, what is told and its JSON. Not here: the search (`search`), the workbook (`sheet`).
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuecon_xl.errors import BadValue
from gpuecon_xl.files import check_target, named, written_whole

if TYPE_CHECKING:
    from gpuecon_xl.catalog import Catalog
    from gpuecon_xl.planning.answer import Plan, Ranked
    from gpuecon_xl.planning.words import Words

Busy = Callable[[str], AbstractContextManager[None]]
Table = Callable[..., None]
_FLAGS = ("ecc", "no_consumer", "datacenter")
_NUMBERS = ("ttft_ms", "tpot_ms", "slots", "max_w", "max_cards", "budget", "headroom")
_REQUIRED = ("model", "users", "input", "output")
_SHOWN = 12  # builds of the front on the terminal; file and JSON have all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    for name, metavar, text in (
        ("model", "NAME", "name, alias or repository of a model"),
        ("users", "NUMBER", "requests that must run at once"),
        ("input", "NUMBER", "input tokens of a request"),
        ("output", "NUMBER", "output tokens of a request"),
    ):
        parser.add_argument(f"--{name}", metavar=metavar, help=f"{text}; required")
    parser.add_argument("--ttft-ms", metavar="NUMBER", help="mean time to first token, at most")
    parser.add_argument("--tpot-ms", metavar="NUMBER", help="mean time between tokens while serving, prompts of others included, at most")
    parser.add_argument("--ecc", action="store_true", help="only cards with ECC memory")
    parser.add_argument("--no-consumer", action="store_true", help="no consumer cards")
    parser.add_argument("--datacenter", action="store_true", help="only cards made for data centres")
    parser.add_argument("--slots", metavar="NUMBER", help="expansion slots, at most; cards of another form are then out")
    parser.add_argument("--max-w", metavar="NUMBER", help="rated power of all cards in watts, at most")
    parser.add_argument("--max-cards", metavar="NUMBER", help="cards, at most; not given: the assumption plan_cards_max")
    parser.add_argument("--budget", metavar="NUMBER", help="purchase of cards and chassis in EUR, at most")
    parser.add_argument("--headroom", metavar="NUMBER", help="share of the memory that stays free; not given: the assumption headroom_wanted")
    parser.add_argument("--gpu", metavar="NAMES", help="cards that may be chosen, separated by commas; not given: all with a sourced price")
    parser.add_argument("--precision", metavar="NAMES", help="formats of the weights that may be chosen; not given: all that the engine loads")
    parser.add_argument("--kv", metavar="NAMES", help="formats of the cache that may be chosen; not given: all that the engine has")
    parser.add_argument("--engine", metavar="NAME", help='serving engine, "vLLM" or "vLLM 0.12.0"; not given: the assumption engine')
    parser.add_argument("--options", action="append", metavar="TEXT", help='"key=value; key=value": any assumption, mode or case; may be repeated')
    parser.add_argument("-o", "--out", metavar="OUT.xlsx", help="workbook to write: answer, front, the others with reasons, steps")
    parser.add_argument("--csv", metavar="OUT.csv", help="every candidate with its figures and the reason why it lost")
    parser.add_argument("--lang", default="en", metavar="LANG", help="en, de or da; not given: en")
    parser.add_argument("--force", action="store_true", help="overwrite what exists")


def run(args: argparse.Namespace, catalog: Callable[[argparse.Namespace], Catalog], busy: Busy, show: Callable[[Any], None], table: Table) -> None:
    """Do it; `catalog` reads what --catalog names, `show` prints JSON, `table` prints a table."""
    from gpuecon_xl import functions
    from gpuecon_xl.lang import language
    from gpuecon_xl.throughput import parse_number, parse_options

    missing = [f"--{n}" for n in _REQUIRED if getattr(args, n) is None]
    if missing:
        raise BadValue(f"{', '.join(missing)} is missing; gpuecon plan --help shows an example")
    lang = language(args.lang)
    kinds = (("out", "-o", ".xlsx"), ("csv", "--csv", ".csv"))
    given = {kind: getattr(args, kind) for kind, _, _ in kinds}
    targets = {k: None if given[k] is None else named(given[k], option, suffix, "plan") for k, option, suffix in kinds}
    for target in targets.values():
        if target is not None:
            check_target(target, args.force)
    load_of = {n: parse_number(getattr(args, n), n) for n in ("users", "input", "output")}
    limits: dict[str, Any] = {n: None if getattr(args, n) is None else parse_number(getattr(args, n), n.replace("_", "-")) for n in _NUMBERS}
    limits |= {n: getattr(args, n) for n in _FLAGS}
    held = catalog(args)
    options = parse_options("; ".join(args.options or ()), held)
    with busy("Comparing candidates"):
        from gpuecon_xl.planning.words import Words

        plan = functions.plan(args.model, load_of["users"], load_of["input"], load_of["output"], gpu=args.gpu, precision=args.precision, kv=args.kv,
                              engine=args.engine, options=options, catalog=held, **limits)  # fmt: skip
        words = Words(lang)
        written = _files(plan, words, targets)
    if args.json:
        show({**told(plan, words), "files": written})
        return
    _print(plan, words, table)
    for path, counts in written.items():
        print(f"{path}: {counts['rows']} rows, {counts['bytes'] / 1e3:.0f} kB")


def _files(plan: Plan, words: Words, targets: dict[str, Path | None]) -> dict[str, dict[str, int]]:
    written: dict[str, dict[str, int]] = {}
    out, every = targets["out"], targets["csv"]
    if out is not None:
        from gpuecon_xl.planning.sheet import write_plan

        written[str(out)] = write_plan(out, plan, words)
    if every is not None:
        written[str(every)] = write_candidates(every, plan)
    return written


def told(plan: Plan, words: Words) -> dict[str, Any]:
    """The plan for JSON."""
    q = plan.question
    return {
        "question": {
            "model": q.model["model"],
            "users": q.users,
            "input_tokens": q.input_tokens,
            "output_tokens": q.output_tokens,
            "engine": q.engine["engine"],
            "mode": q.mode,
            "case": q.case,
            "limits": dict(q.limits),
            "options": dict(q.assumptions),
        },
        "unit": "EUR/1e6 output tokens",
        "candidates": len(plan.candidates),
        "kept": len(plan.ranked),
        "broken": plan.broken_counts,
        "winner": plan.winner.to_dict(),
        "recheck": {name: {"search": a, "function": b} for name, (a, b) in plan.recheck().items()},
        "front": [_entry(e, words) for e in plan.front],
        "others": [_entry(e, words) for e in plan.best_of_each],
        "steps": [{"quantity": n, "value": v if isinstance(v, str) else float(v), "unit": u, "equation": e} for n, v, u, e in plan.steps()],
        "left_out": [{"name": name, "reason": why} for name, why in q.left_out],
        "basis": "estimated",
        "note": f"{words('note_quality')} {words('note_estimate')}",
    }


def _entry(entry: Ranked, words: Words) -> dict[str, Any]:
    r = entry.reason
    return {
        **entry.build.to_dict(),
        "rank": entry.rank or None,
        "reason": r.code,
        "by": r.by.named() if r.by is not None else None,
        "more_cost": r.cost,
        "more_time": r.time,
        "more_power": r.power,
        "broken": [{k: v if not isinstance(v, float) or v < float("inf") else None for k, v in b.__dict__.items()} for b in r.broken],
        "why": words.why(r),
    }


def _print(plan: Plan, words: Words, table: Table) -> None:
    for line in (words.question(plan), *words.answer(plan)):
        print(line)
    columns = (("cost_eur_mtok", 3), ("answer_s", 1), ("ttft_ms", 0), ("tpot_ms", 1), ("power_w", 0), ("outlay_eur", 0))

    def row(entry: Ranked) -> tuple[str, ...]:
        return (words.build(entry.build), *(words.number(getattr(entry.build, c), d) for c, d in columns))

    heads = (words("gpu"), *(words(c) for c, _ in columns))
    table(heads, map(row, plan.front[:_SHOWN]), right=range(1, 1 + len(columns)), title=words("table_front"))
    seen: dict[str, Any] = {}
    for entry in plan.best_of_each:
        seen.setdefault(entry.build.gpu, entry)
    rest = [e for e in seen.values() if e.reason.code not in ("winner", "front")]
    if rest:
        table((words("gpu"), words("why")), ((words.build(e.build), words.why(e.reason)) for e in rest), title=words("table_cards"))


def write_candidates(path: Path, plan: Plan) -> dict[str, int]:
    """Every candidate as a row: figures, rank, and why it lost: the build that beats it, or the limits and by how much."""
    c, q, ways = plan.candidates, plan.question, plan.candidates.layouts
    width = c.shape[1]
    numbers = {name: values.tolist() for name, values in c.columns.items() if name != "ttft_s"}
    over = {code: values.tolist() for code, values in c.excess.items()}
    layout = list(zip(*(column.astype(int).tolist() for column in (ways.gpus, ways.tp, ways.pp, ways.replicas)), strict=True))
    rank = plan.rank.tolist()
    names: dict[int, str] = {-1: ""}
    from gpuecon_xl.planning.builds import build_at

    with written_whole(path) as (part,), part.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(
            ["gpu", "precision", "kv", "gpus", "tp", "pp", "replicas", *numbers, "rank", "reason", "beaten_by", *(f"over_{k}" for k in over)]
        )
        for place in range(len(c)):
            card, precision, kv = c.combos[place // width]
            beaten = plan.beaten_by(rank[place]) if rank[place] else -1
            if beaten not in names:
                names[beaten] = build_at(c, beaten).named()
            reason = "limits" if not rank[place] else "winner" if rank[place] == 1 else "front" if beaten < 0 else "dominated"
            out.writerow([q.cards[card]["gpu"], q.precisions[precision]["precision"], q.kvs[kv]["precision"], *layout[place % width],
                          *(_number(v[place]) for v in numbers.values()), rank[place] or "", reason, names[beaten],
                          *("" if v[place] == 0 else _number(v[place]) for v in over.values())])  # fmt: skip
    return {"rows": len(c), "bytes": path.stat().st_size}


def _number(value: float) -> str:
    """Nine digits that matter; what is beyond every number stays blank in figures and is said as never."""
    return f"{value:.9g}" if value < float("inf") else "never"
