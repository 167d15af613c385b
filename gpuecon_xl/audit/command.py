"""The command ``gpuecon check``: its options, what it prints and writes.

Here: targets checked first, files written whole. Not here: what is found (`whole`), the forms of files (`outputs`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuecon_xl.errors import BadFile
from gpuecon_xl.files import check_target, write_all
from gpuecon_xl.lang import language, load

if TYPE_CHECKING:
    from gpuecon_xl.audit.whole import Audit

STDOUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("book", metavar="BOOK", help="a workbook made by gpuecon template, edited or not")
    parser.add_argument("--fix-list", action="store_true", help="print only what to put where, a line for each place, with a tab between")
    parser.add_argument("--json", nargs="?", const=STDOUT, metavar="FILE", help="findings as JSON into a file; - or no name: print them")
    parser.add_argument("--sarif", metavar="FILE", help="findings as SARIF 2.1.0 into a file; -: print them")
    parser.add_argument("--lang", metavar="LANG", help="en, de or da; not given: the book's own")
    parser.add_argument("--force", action="store_true", help="overwrite what exists")


def run(
    args: argparse.Namespace,
    busy: Callable[[str], AbstractContextManager[None]],
    show: Callable[[Any], None],
    table: Callable[[Sequence[str], Sequence[Sequence[str]]], None],
) -> None:
    """Do it; `busy` shows that work goes on, `show` prints JSON, `table` a table. Findings end in exit code 1."""
    if not args.book.strip():
        raise BadFile("BOOK is empty; the path of a workbook is due")
    path = Path(args.book)
    lang = None if args.lang is None else language(args.lang)
    targets = _targets(args, path)
    from gpuecon_xl.audit.outputs import fix_list, sarif
    from gpuecon_xl.audit.whole import audit_book

    with busy(f"Checking {path.name}"):
        audit = audit_book(path, lang)
    forms: dict[str, Any] = {"json": audit.to_dict(), "sarif": sarif(audit)}
    write_all({target: _document(forms[form]) for form, target in targets.items()})
    printed = [form for form in forms if getattr(args, form) == STDOUT]
    if args.fix_list:
        for line in fix_list(audit):
            print(line)
    elif printed:
        show(forms[printed[0]])
    else:
        _say(audit, table)
    if audit.findings:
        sys.stdout.flush()
        raise SystemExit(1)


def _targets(args: argparse.Namespace, book: Path) -> dict[str, Path]:
    """Files to write, checked."""
    if args.json == STDOUT and args.sarif == STDOUT:
        raise BadFile("--json and --sarif cannot both be printed; the name of a file is due for one of them")
    if args.fix_list and STDOUT in (args.json, args.sarif):
        raise BadFile("--fix-list is printed; the name of a file is due for --json and --sarif beside it")
    targets: dict[str, Path] = {}
    for form in ("json", "sarif"):
        text = getattr(args, form)
        if text is None or text == STDOUT:
            continue
        if not text.strip():
            raise BadFile(f"--{form} is empty; the name of a file is due")
        target = Path(text)
        if target.suffix.lower() in (".xlsx", ".xlsm"):
            raise BadFile(f"{target} is the name of a workbook; a name such as findings.{form} is due, after BOOK")
        check_target(target, args.force)
        if target.resolve() == book.resolve() or target in targets.values():
            raise BadFile(f"{target} is named twice; another name is due")
        targets[form] = target
    return targets


def _document(thing: Any) -> bytes:
    return (json.dumps(thing, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")


def _say(audit: Audit, table: Callable[[Sequence[str], Sequence[Sequence[str]]], None]) -> None:
    texts = load(audit.lang)
    against = texts("audit.against_template") if audit.current else texts("audit.against_itself", version=audit.version or "?")
    print(texts("audit.summary", book=str(audit.path), findings=str(len(audit.findings)), formulas=str(audit.formulas), against=against))
    if audit.findings:
        rows = [(f.sheet, f.cell + (f" (x{f.count})" if f.count > 1 else ""), f.text, f.due) for f in audit.findings]
        table([texts(f"audit.head_{h}") for h in ("sheet", "cell", "text", "due")], rows)
    if audit.notes:
        print(texts("audit.notes"))
        for f in audit.notes:
            print(f"  {f.place}: {f.text}")
