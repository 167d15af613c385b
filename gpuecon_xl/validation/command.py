"""The command ``gpuecon validate``: arguments, tables, JSON.

Here: what is printed about errors of predictions. Not here: reading (`measurement`), predictions (`comparison`), figures (`spread`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuecon_xl.units import PERCENT

if TYPE_CHECKING:
    from gpuecon_xl.catalog import Catalog
    from gpuecon_xl.lang import Texts
    from gpuecon_xl.validation.comparison import Compared
    from gpuecon_xl.validation.measurement import Measurements
    from gpuecon_xl.validation.spread import Errors, Figures

_LIMITS = ("max_median", "max_p90")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("file", metavar="FILE.csv", nargs="?", help="measurements, with the columns of catalog/benchmarks.csv or of a public "
                        "collection (gpu_count, batch_or_concurrency, source_url ...); not given: the shipped ones")  # fmt: skip
    parser.add_argument("--by", metavar="NAMES", help="tables to print: class, batch, engine, metric, moe, mode, gpu, model, precision, era, source; "
                        '"class,batch" is two tables, "class+batch" one of every pair; not given: class,batch,engine,metric,moe')  # fmt: skip
    parser.add_argument("--max-median", metavar="NUMBER", help="exit 1 when the median error, each group once, is above this many per cent")
    parser.add_argument("--max-p90", metavar="NUMBER", help="the same for the error that 90 %% of the rows keep within")
    parser.add_argument("--options", action="append", metavar="TEXT", help='"key=value; key=value" as for predict; may be repeated')
    parser.add_argument("--lang", default="en", metavar="LANG", help="en, de or da; not given: en")


def run(args: argparse.Namespace, catalog: Callable[[argparse.Namespace], Catalog], busy: Callable[[str], AbstractContextManager[None]],
        show: Callable[[Any], None], table: Callable[..., None]) -> None:  # fmt: skip
    """Do it; `catalog` reads what --catalog names, `show` prints JSON, `table` prints a table."""
    from gpuecon_xl.lang import language, load
    from gpuecon_xl.throughput import parse_number, parse_options
    from gpuecon_xl.validation.comparison import compare
    from gpuecon_xl.validation.measurement import read_measurements
    from gpuecon_xl.validation.spread import SHOWN, dimensions_of, figures

    texts = load(language(args.lang))
    asked = dimensions_of(args.by if args.by is not None else ",".join(SHOWN))
    limits = {n: parse_number(getattr(args, n), "--" + n.replace("_", "-")) for n in _LIMITS if getattr(args, n) is not None}
    held = catalog(args)
    options = parse_options("; ".join(args.options or ()), held)
    with busy(texts("validate.busy")):
        found = read_measurements(None if args.file is None else Path(args.file), held)
        compared = compare(found.rows, held, options)
    whole = figures(compared)
    errors = whole.by_group
    reached = {"max_median": errors.median * PERCENT, "max_p90": errors.p90 * PERCENT} if errors else {}
    missed = [n for n, most in limits.items() if n not in reached or reached[n] > most]
    if args.json:
        show(told(found, compared, whole, asked, {n: {"limit": limits[n], "reached": reached.get(n)} for n in missed}))
    else:
        _print(found, compared, whole, asked, texts, table)
        for n in missed:
            print(texts(f"validate.missed_{n}", limit=f"{limits[n]:g}", reached=f"{reached[n]:.1f}" if n in reached else "-"))
    if missed:
        raise SystemExit(1)


def told(found: Measurements, compared: Sequence[Compared], whole: Figures, asked: Sequence[Sequence[str]], missed: dict[str, Any]) -> dict[str, Any]:
    """The answer for JSON: shares, not per cent."""
    from gpuecon_xl.validation.spread import JOINED, table_by

    return {
        "measurements": found.origin,
        "unit": "1",
        "all": asdict(whole),
        "by": {
            JOINED.join(names): [{**dict(zip(names, key, strict=True)), **asdict(f)} for key, f in table_by(compared, names).items()]
            for names in asked
        },
        "left_out": {code: {"rows": len(lines), "lines": lines} for code, lines in found.left_out.items()},
        "refused": [{"line": c.measurement.line, "id": c.measurement.id, "reason": c.refusal} for c in compared if c.refusal],
        "missed": missed,
    }


def _print(
    found: Measurements, compared: Sequence[Compared], whole: Figures, asked: Sequence[Sequence[str]], texts: Texts, table: Callable[..., None]
) -> None:
    from gpuecon_xl.validation.spread import table_by

    print(texts("validate.head", file=found.origin, rows=str(whole.rows), predicted=str(whole.predicted), groups=str(whole.groups)))
    heads = [texts(f"validate.column_{n}") for n in ("rows", "groups", "median", "p90", "bias", "in_band", "median", "p90", "bias", "in_band")]
    print(texts("validate.two_ways"))
    for i, names in enumerate([(), *asked]):
        lines = [(texts("validate.all"), *_cells(whole))] if not names else [
            (" · ".join(_class_text(n, code, texts) for n, code in zip(names, key, strict=True)), *_cells(f))
            for key, f in table_by(compared, names).items()
        ]  # fmt: skip
        title = " · ".join(texts(f"validate.by_{n}") for n in names)
        table((title, *heads), lines, right=range(1, len(heads) + 1))
        if i == 0:
            print()
    if found.left_out:
        print(texts("validate.left_out"))
        for code, lines_out in sorted(found.left_out.items(), key=lambda x: -len(x[1])):
            print(f"  {len(lines_out)} · {texts(f'validate.left_{code}')}")
    refused: dict[str, list[int]] = {}
    for c in compared:
        if c.refusal:
            refused.setdefault(c.refusal, []).append(c.measurement.line)
    if refused:
        print(texts("validate.refused"))
        for reason, at in refused.items():
            print(f"  {texts('validate.lines', lines=_spans(at))}: {reason}")


def _class_text(dimension: str, code: str, texts: Texts) -> str:
    return texts.get(f"validate.{dimension}_{code}") or (texts("validate.unknown") if code == "unknown" else code)


def _cells(f: Figures) -> tuple[str, ...]:
    rows = str(f.rows) if f.predicted == f.rows else f"{f.predicted}/{f.rows}"
    return rows, str(f.groups), *_shares(f.by_row), *_shares(f.by_group)


def _shares(e: Errors | None) -> tuple[str, ...]:
    if e is None:
        return ("-",) * 4
    return f"{e.median * PERCENT:.1f}", f"{e.p90 * PERCENT:.1f}", f"{e.bias * PERCENT:+.1f}", f"{e.in_band * PERCENT:.0f}"


def _spans(lines: Sequence[int]) -> str:
    """Lines in a short form: 14, 17-19."""
    spans: list[list[int]] = []
    for line in sorted(lines):
        if spans and line == spans[-1][1] + 1:
            spans[-1][1] = line
        else:
            spans.append([line, line])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
