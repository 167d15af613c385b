"""The commands ``gpuecon explain`` and ``gpuecon price-history``: their options, their checks, what they print and write."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from gpuecon_xl.errors import BadFile, BadValue
from gpuecon_xl.files import check_target, workbook_named
from gpuecon_xl.lang import Texts, language, load

WHOLE = "all"

Busy = Callable[[str], AbstractContextManager[None]]
Show = Callable[[Any], None]
Table = Callable[[Sequence[str], Iterable[Sequence[str]], Iterable[int]], None]
Number = Callable[[float], str]


def add_explain_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gpuecon explain``."""
    parser.add_argument("cell", metavar="CELL", help="a sheet and a cell, Cost!K30 or 'Own vs API'!F18; the sheet as in the book or in English")
    parser.add_argument("book", metavar="BOOK", help="a workbook made by gpuecon template, edited or not")
    parser.add_argument(
        "--depth", metavar="NUMBER", default="1", help=f"levels of inputs to show, or {WHOLE}: down to what people edit; not given: 1"
    )
    parser.add_argument("--lang", metavar="LANG", help="en, de or da; not given: the book's own")


def run_explain(args: argparse.Namespace, busy: Busy, show: Show, table: Table, number: Number) -> None:
    """Do it; `busy` shows that work goes on, `show` prints JSON, `table` a table, `number` writes a number."""
    if not args.book.strip():
        raise BadFile("BOOK is empty; the path of a workbook is due")
    depth = _depth(args.depth.strip())
    texts = _texts(args.lang) if args.lang is not None else None
    path = Path(args.book)
    with busy(f"Reading {path.name}"):
        from gpuecon_xl.provenance import sentences
        from gpuecon_xl.provenance.lineage import read_lineage

        found = read_lineage(path, args.cell, depth)
    texts = texts or load(found.lang)
    if args.json:
        show(sentences.plain(found, texts))
        return
    for line in sentences.head(found.figure, number, texts):
        print(line)
    if found.figure.inputs:
        table(sentences.heads(texts), list(sentences.rows(found.figure, number, texts)), (2,))
    if found.inputs > 1 or found.figure.inputs:
        print(sentences.summary(found, texts))
        if found.origins:
            table(sentences.source_heads(texts), list(sentences.source_rows(found)), (3,))


def _depth(text: str) -> int | None:
    if text.lower() == WHOLE:
        return None
    if not re.fullmatch(r"\d{1,3}", text):
        raise BadValue(f"--depth is {text[:40]!r}; a whole number of at least 0 is due, or {WHOLE}")
    return int(text)


def _texts(lang: str) -> Texts:
    return load(language(lang))


def add_history_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``gpuecon price-history``."""
    parser.add_argument("gpu", metavar="GPU", nargs="?", help="name or alias of a card; not given: every card")
    parser.add_argument("--history", metavar="PATH", help="a CSV file of your own with the header of catalog/history/prices.csv")
    parser.add_argument("-o", "--out", metavar="OUT.xlsx", help="a workbook with the rows, and a chart for each card with at least two dates")
    parser.add_argument("--lang", default="en", metavar="LANG", help="language of the heads and of the workbook: en, de or da; not given: en")


def run_history(args: argparse.Namespace, busy: Busy, show: Show, table: Table, number: Number) -> None:
    """Do it; the parameters are those of `run_explain`."""
    from gpuecon_xl.provenance.history import COLUMNS, courses, prices_by_date

    target = _target(args)
    texts = _texts(args.lang)
    rows = prices_by_date(args.gpu, Path(args.history) if args.history is not None else None)
    if target is not None:
        with busy(f"Writing {target.name}"):
            from gpuecon_xl.provenance.history_book import write_history

            write_history(target, rows, texts)
    drawn = len(courses(rows))
    if args.json:
        show({"prices": [{c: r[c] for c in COLUMNS} for r in rows], **({"file": str(target), "charts": drawn} if target is not None else {})})
        return
    shown = [[number(v) if isinstance(v, float) else str(v or "") for v in (r[c] for c in COLUMNS)] for r in rows]
    table([texts(f"label.{c}") for c in COLUMNS], shown, (1, 2, 3))
    if target is not None:
        print(texts("history.written", file=str(target), rows=str(len(rows)), charts=str(drawn)))
        if not drawn:
            print(texts("history.no_chart"))


def _target(args: argparse.Namespace) -> Path | None:
    if args.out is None:
        return None
    target = workbook_named(args.out, "history")
    check_target(target, args.force)
    return target
