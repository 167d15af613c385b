"""The command line `gpuecon`: one command for each function, and commands for workbooks.

Here: parsing, messages, exit codes, tables and JSON. Not here: what a command computes (`functions`), how a workbook is
written (`writer`) and read (`reader`). What is slow to import is imported where it is used.

Exit codes: 0 done (also for answers such as "no" or "rent always wins"), 1 check, validate or addin doctor found
something, 2 bad input, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from gpuecon_xl import __version__
from gpuecon_xl.errors import BadFile, BadValue, GpueconError, NameNotFound, nearest
from gpuecon_xl.functions_table import FUNCTIONS, NAME_ARGUMENTS, Function

if TYPE_CHECKING:
    from gpuecon_xl.catalog import Catalog

# Python gives these as keywords, so they are not in the table of functions in cells.
PREDICT = Function(
    "predict",
    ("model", "gpu", "precision", "batch", "input_tokens", "output_tokens", "gpus", "tp", "pp", "kv", "engine", "mode", "options", "catalog"),
    2, "token/s", '=PREDICT("Llama 3.1 8B","RTX 5090","fp8",16,1024,256)',
)  # fmt: skip

_TEXT = NAME_ARGUMENTS | {"kv", "engine", "mode"}
_EURO = re.compile(r"\bEUR\b")
_SPEED_OF_LOAD = frozenset(("tokps", "cost_per_mtok", "breakeven_util"))
_OWN_MONEY = frozenset(("tco3y", "cost_per_mtok", "own_cost_month", "price_of"))  # answers in the currency of the call

_ARGUMENT_HELP = {
    "model": "name, alias or repository of a model",
    "gpu": "name or alias of a card",
    "precision": "number format of the weights; not given: the checkpoint's own",
    "batch": "requests at once, whole build",
    "context": "input and output tokens of a request",
    "gpus": "cards, a whole number",
    "utilization": "share of the time at work, 0.6 or 60 %%",
    "price": "net purchase price of one card, 0 for owned; not given: the catalogue's",
    "rate": "rent per GPU-hour",
    "tok_s": "tokens per second of the rented card",
    "price_in": "price of a million input tokens",
    "price_out": "price of a million output tokens",
    "share_out": "share of all tokens that is output; not given: the assumption output_share",
    "params_b": "parameters of the model, billions",
    "input_tokens": "input tokens of a request",
    "output_tokens": "output tokens of a request",
    "tp": "cards that share each layer; not given: the fastest layout that fits",
    "pp": "stages of a pipeline",
    "kv": "format of the cache; not given: 16 bit",
    "engine": 'serving engine, "vLLM" or "vLLM 0.12.0"; not given: the assumption engine',
    "mode": "expected or ceiling",
}

_PREDICT_ROWS = (
    ("output_tok_s", "output, whole build", "token/s"), ("low", "  80 % band from", "token/s"), ("high", "  80 % band to", "token/s"),
    ("basis", "basis", ""), ("decode_tok_s_user", "decode, one user", "token/s"), ("decode_tok_s", "decode, whole build", "token/s"),
    ("total_tok_s", "input and output", "token/s"), ("prefill_tok_s", "prompts alone", "token/s"), ("ttft_s", "time to first token", "s"),
    ("step_s", "one decode step", "s"), ("bound", "bound by", ""), ("fits", "memory", ""), ("headroom", "memory left free", "%"),
    ("batch_max", "largest batch", "sequence"), ("admitted", "admitted", "sequence"), ("weights_gb", "weights", "GB"),
    ("tp", "tensor parallel", "card"), ("pp", "pipeline stages", ""), ("replicas", "replicas", ""), ("note", "note", ""),
)  # fmt: skip

_ERRORS = frozenset(("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!"))

DEMO_CARD, DEMO_MODEL, DEMO_PRECISION = "RTX 5090", "Llama 3.1 8B", "fp8"
DEMO_DISCOUNT = 0.10


# ------------------------------------------------------------------------------------------------ parsers


class _Parser(argparse.ArgumentParser):
    """A parser that refuses in one sentence."""

    wants_help = False  # texts for the help page cost an import; they are made when it is asked for

    def error(self, message: str) -> NoReturn:
        raise BadValue(f"{message}; see {self.prog} --help")


@dataclass(frozen=True)
class Command:
    """A command: what it is for, an example, how its parser is made and what it does."""

    name: str
    purpose: Callable[[], str]
    example: str
    build: Callable[[_Parser], None]
    run: Callable[[argparse.Namespace], None]


def _option(argument: str) -> str:
    return "--" + argument.replace("_", "-")


def _word(text: str) -> str:
    return text if re.fullmatch(r"[\w./+-]+", text) else f'"{text}"'


def cell_example(function: Function) -> str:
    """The example of a function in a cell, as a command."""
    import csv

    inner = function.example.partition("(")[2].rpartition(")")[0]
    words = ["gpuecon", function.name.replace("_", "-")]
    for i, (argument, text) in enumerate(zip(function.arguments, next(csv.reader([inner])), strict=False)):
        if text:
            words += [_word(text)] if i < function.required else [_option(argument), _word(text)]
    return " ".join(words)


def _purpose(function: Function) -> str:
    from gpuecon_xl import functions

    return (getattr(functions, function.name).__doc__ or "").partition("\n")[0].replace("`", "")


def _defaults(function: Function) -> dict[str, Any]:
    """Arguments that may be left out, with their values from the signature."""
    import inspect

    from gpuecon_xl import functions

    signature = inspect.signature(getattr(functions, function.name))
    return {n: p.default for n, p in signature.parameters.items() if p.default is not inspect.Parameter.empty}


def _function_parser(function: Function) -> Callable[[_Parser], None]:
    def build(parser: _Parser) -> None:
        wants_help = parser.wants_help
        defaults = _defaults(function) if wants_help else {}
        for i, argument in enumerate(function.arguments):
            text = _ARGUMENT_HELP.get(argument, "")
            if argument in ("options", "catalog"):
                continue
            if i < function.required:
                parser.add_argument(argument, help=text)
                continue
            if argument == "batch" and function is PREDICT:
                text += ', or "max" for as many as fit'
            default = defaults.get(argument)
            more = f"; not given: {default}" if default is not None else ""
            parser.add_argument(_option(argument), dest=argument, metavar="TEXT" if argument in _TEXT else "NUMBER", help=text + more)
        if "options" in function.arguments:
            parser.add_argument("--options", action="append", metavar="TEXT", help='"key=value; key=value": any assumption, or tp, pp, kv, engine, '
                                "mode, tok_s, case, currency and others; may be repeated")  # fmt: skip
        if "catalog" in function.arguments:
            _add_catalog(parser)
        _add_json(parser)

    return build


def _add_catalog(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--catalog", metavar="PATH", help="an edited workbook or a folder of CSV files instead of the shipped catalogue, or one "
                        "CSV file whose rows are added to it")  # fmt: skip


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_force(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="overwrite what exists")


def _template_parser(parser: _Parser) -> None:
    parser.add_argument("out", metavar="OUT.xlsx", help="file to write")
    parser.add_argument("--lang", default="en", metavar="LANG", help="en, de or da; not given: en")
    parser.add_argument("--flavour", default="plain", metavar="NAME", help="plain, classic, lite or libreoffice; not given: plain")
    _add_catalog(parser)
    _add_force(parser)
    _add_json(parser)


def _book_parser(parser: _Parser) -> None:
    parser.add_argument("book", metavar="BOOK", help="a workbook made by gpuecon template, edited or not")
    _add_json(parser)


def _report_parser(parser: _Parser) -> None:
    from gpuecon_xl.report.command import add_arguments

    add_arguments(parser)
    _add_json(parser)


def _check_parser(parser: _Parser) -> None:
    from gpuecon_xl.audit.command import add_arguments

    add_arguments(parser)


def _explain_parser(parser: _Parser) -> None:
    from gpuecon_xl.provenance.command import add_explain_arguments

    add_explain_arguments(parser)
    _add_json(parser)


def _price_history_parser(parser: _Parser) -> None:
    from gpuecon_xl.provenance.command import add_history_arguments

    add_history_arguments(parser)
    _add_force(parser)
    _add_json(parser)


def _diff_parser(parser: _Parser) -> None:
    from gpuecon_xl.variance.command import add_arguments

    add_arguments(parser)
    _add_json(parser)


def _risk_parser(parser: _Parser) -> None:
    from gpuecon_xl.montecarlo.command import add_arguments

    add_arguments(parser)
    _add_catalog(parser)
    _add_json(parser)


def _plan_parser(parser: _Parser) -> None:
    from gpuecon_xl.planning.command import add_arguments

    add_arguments(parser)
    _add_catalog(parser)
    _add_json(parser)


def _validate_parser(parser: _Parser) -> None:
    from gpuecon_xl.validation.command import add_arguments

    add_arguments(parser)
    _add_catalog(parser)
    _add_json(parser)


def _quote_parser(parser: _Parser) -> None:
    from gpuecon_xl.quote.command import add_quote_arguments

    add_quote_arguments(parser)
    _add_json(parser)


def _quotes_parser(parser: _Parser) -> None:
    from gpuecon_xl.quote.command import add_quotes_arguments

    add_quotes_arguments(parser)
    _add_json(parser)


def _model_parser(parser: _Parser) -> None:
    from gpuecon_xl.huggingface.command import add_arguments

    add_arguments(parser)
    _add_json(parser)


def _addin_parser(parser: _Parser) -> None:
    parser.add_argument("action", metavar="ACTION", help="build, install (into Excel's start folder, Windows only) or doctor (what is in the way)")
    parser.add_argument("out", metavar="OUT", nargs="?", help="file to build: .xlam for Excel, .xlsm a workbook with the functions in it, .oxt")
    parser.add_argument("--libreoffice", action="store_true", help="build the extension for LibreOffice, OUT.oxt")
    parser.add_argument("--python", metavar="PATH", help="the Python that Excel starts; not given: pythonw as found on the user's path")
    _add_force(parser)
    _add_json(parser)


def _demo_parser(parser: _Parser) -> None:
    parser.add_argument("out", metavar="OUT", help="folder to write into, made if missing")
    _add_force(parser)
    _add_json(parser)


# ------------------------------------------------------------------------------------------------ output


def _json(thing: Any) -> None:
    import json

    ascii_only = "utf" not in (getattr(sys.stdout, "encoding", None) or "").lower()
    print(json.dumps(thing, indent=2, ensure_ascii=ascii_only, allow_nan=False, default=_plain_date))


def _plain_date(value: Any) -> str:
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise TypeError(f"{type(value).__name__} is no value for JSON")


def number_text(value: float) -> str:
    """A number for people: six digits that matter, no grouping, no exponent where it can be helped."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    if abs(value) >= 1e5:
        return f"{value:.0f}"
    if abs(value) >= 1000:
        return f"{value:.2f}"
    return f"{value:.6g}"


def _with_unit(value: Any, unit: str) -> str:
    if isinstance(value, str):
        return value
    if unit in ("1", "%"):
        return f"{number_text(round(value * 100, 2))} %"
    return f"{number_text(value)} {unit}".strip()


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = (), title: str | None = None) -> None:
    """A table on stdout; it goes through `print`, so that a closed pipe is met in one place."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120
    console = Console(markup=False, emoji=False, highlight=False, width=width, safe_box=True)
    plain = "utf" not in (getattr(sys.stdout, "encoding", None) or "").lower()
    table = Table(box=box.ASCII if plain else box.SIMPLE, title=title, title_justify="left", show_header=any(heads))
    numeric = set(right)
    for i, head in enumerate(heads):
        table.add_column(head, justify="right" if i in numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    with console.capture() as capture:
        console.print(table)
    print("\n".join(line.rstrip() for line in capture.get().rstrip().splitlines()))


@contextmanager
def _busy(text: str) -> Iterator[None]:
    """A spinner on stderr, from the second on that the work takes, on a terminal only."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    import threading

    shown: list[Any] = []

    def show() -> None:
        from rich.console import Console

        status = Console(stderr=True).status(text)
        status.start()
        shown.append(status)

    timer = threading.Timer(1.0, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for status in shown:
            status.stop()


def _complain(message: str) -> None:
    print(f"gpuecon: {message}", file=sys.stderr)


# ------------------------------------------------------------------------------------------------ functions


def _values(function: Function, args: argparse.Namespace) -> dict[str, Any]:
    """Arguments that were given, numbers as numbers."""
    from gpuecon_xl.throughput import parse_number

    values: dict[str, Any] = {}
    for argument in function.arguments:
        text = getattr(args, argument)
        if argument in ("options", "catalog") or text is None:
            continue
        if argument in _TEXT:
            values[argument] = text.strip()
        elif argument == "batch" and function is PREDICT and text.strip().lower() == "max":
            values[argument] = None
        else:
            values[argument] = parse_number(text.strip(), argument)
    return values


def _catalog(args: argparse.Namespace) -> Catalog:
    from gpuecon_xl.catalog import load_catalog

    path = getattr(args, "catalog", None)
    if path is None:
        return load_catalog()
    if not path.strip():
        raise BadFile("catalog is empty; the path of an edited workbook, of a folder of CSV files or of one CSV file is due")
    with _busy("Reading the catalogue"):
        return load_catalog(path)


def _tidy(value: Any) -> Any:
    """64.0 as 64, as a person writes it."""
    return int(value) if isinstance(value, float) and value == int(value) and abs(value) < 2**53 else value


def _run_function(function: Function) -> Callable[[argparse.Namespace], None]:
    def run(args: argparse.Namespace) -> None:
        from gpuecon_xl import functions
        from gpuecon_xl.throughput import parse_options

        values = _values(function, args)
        catalog = _catalog(args)
        options = parse_options("; ".join(getattr(args, "options", None) or ()), catalog)
        more: dict[str, Any] = {"catalog": catalog} if "catalog" in function.arguments else {}
        if "options" in function.arguments:
            more["options"] = options
        answer = getattr(functions, function.name)(**values, **more)
        if function is PREDICT:
            _print_prediction(answer, args.json)
            return
        _finite(answer)
        unit = function.unit
        if options.get("currency") == "USD" and function.name in _OWN_MONEY:
            unit = _EURO.sub("USD", unit)
        if not args.json:
            print("\n".join(map(str, answer)) if isinstance(answer, list) else _with_unit(answer, unit))
            return
        used = _inputs_used(function, values, options, catalog)
        basis, note = _basis(function, used, values, options, catalog)
        if catalog.warnings and getattr(args, "catalog", None):
            note = "; ".join(filter(None, (note, f"{len(catalog.warnings)} warnings about the catalogue, listed by gpuecon inputs")))
        if "options" in function.arguments:
            used["options"] = {k: _tidy(v) for k, v in options.items()}
        if "catalog" in function.arguments:
            used["catalog"] = args.catalog
        _json({"value": answer, "unit": unit, "inputs": used, "basis": basis, "note": note})

    return run


def _counted(count: int, what: str) -> str:
    """1 warning, 2 warnings."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def _finite(value: Any) -> None:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        raise BadValue("the answer is beyond every number; smaller inputs are due")


def _inputs_used(function: Function, given: Mapping[str, Any], options: Mapping[str, Any], catalog: Catalog) -> dict[str, Any]:
    """Every argument as it was used: names in full, defaults filled in."""
    from gpuecon_xl import functions
    from gpuecon_xl.throughput import setup

    defaults = _defaults(function)
    used = {a: given.get(a, defaults.get(a)) for a in function.arguments if a not in ("options", "catalog")}
    if "model" in used and "gpu" not in used:
        used["model"] = catalog.find_model(used["model"])[0]["model"]
    elif "model" in used:
        facts = setup(catalog, used["model"], used["gpu"], used["precision"], None, None, "expected")
        used.update(model=facts.model["model"], gpu=facts.gpu["gpu"], precision=facts.precision["precision"])
    elif "gpu" in used:
        used["gpu"] = catalog.find("gpus", used["gpu"])["gpu"]
    elif "precision" in used:
        used["precision"] = catalog.find("precisions", used["precision"])["precision"]
    for argument, assumption in (("utilization", "utilization"), ("share_out", "output_share")):
        if argument in used and used[argument] is None:
            used[argument] = options.get(assumption, catalog.assumption(assumption))
    if "price" in used and used["price"] is None:
        used["price"] = functions.price_of(used["gpu"], options=dict(options), catalog=catalog)
    return {k: _tidy(v) for k, v in used.items()}


def _basis(function: Function, used: Mapping[str, Any], given: Mapping[str, Any], options: Mapping[str, Any], catalog: Catalog) -> tuple[str, str]:
    """What an answer stands on: in a word, and in a sentence."""
    price = None
    if "price" in used or function.name == "price_of":
        price = _price_basis(used["gpu"], given.get("price"), catalog)
    if "model" in used and "gpu" in used:
        basis, note = _speed_basis(used, options, catalog) if function.name in _SPEED_OF_LOAD else ("estimated", "")
        return basis, "; ".join(filter(None, (note, price[1] if price else "")))
    if price:
        return price
    if function.name.endswith("_list"):
        return "catalogue", ""
    if function.name in ("recommend", "memory_need_gb"):
        return "estimated", ""
    return ("rule of thumb", "") if function.name == "vram_rule_gb" else ("given", "computed from the numbers given")


def _price_basis(gpu: str, given: float | None, catalog: Catalog) -> tuple[str, str]:
    if given is not None:
        return "given", "price given"
    row = catalog.find("prices", gpu)
    return str(row["confidence"] or "unverified"), f"price of {gpu}: {row['source']}, {row['as_of']}"


def _speed_basis(used: Mapping[str, Any], options: Mapping[str, Any], catalog: Catalog) -> tuple[str, str]:
    from gpuecon_xl import functions

    if "rel" in options:
        return "given", "rel given: no throughput was predicted"
    if "tok_s" in options:
        return "given", "tok_s given: no throughput was predicted, no fit checked"
    tokens_in, tokens_out = options.get("input_tokens"), options.get("output_tokens")
    if tokens_out is None:
        share = options.get("output_share", catalog.assumption("output_share"))
        tokens_out = used["context"] * share if tokens_in is None else used["context"] - tokens_in
    if tokens_in is None:
        tokens_in = used["context"] - tokens_out
    rest = {k: v for k, v in options.items() if k not in ("input_tokens", "output_tokens")}
    p = functions.predict(used["model"], used["gpu"], used["precision"], batch=used["batch"], input_tokens=tokens_in,
                          output_tokens=tokens_out, gpus=used["gpus"], options=rest, catalog=catalog)  # fmt: skip
    return p.basis, p.note


def _print_prediction(prediction: Any, as_json: bool) -> None:
    fields = prediction.to_dict()
    for value in fields.values():
        _finite(value)
    if as_json:
        _json(fields)
        return
    print(_with_unit(fields["output_tok_s"], "token/s"))
    rows = []
    for name, label, unit in _PREDICT_ROWS:
        value = fields[name]
        if value != "":
            shown = value if isinstance(value, str) else number_text(float(f"{value * (100 if unit == '%' else 1):.4g}"))
            rows.append((label, shown, unit))
    _table(("", "", ""), rows, right=(1,))


# ------------------------------------------------------------------------------------------------ workbooks


def _run_template(args: argparse.Namespace) -> None:
    path = _new_book(args.out)
    lang, flavour = args.lang.strip().lower(), args.flavour.strip().lower()
    catalog = _catalog(args)
    with _busy(f"Writing {path.name}"):
        from gpuecon_xl.writer import write_template

        counts = write_template(path, catalog=catalog, lang=lang, flavour=flavour, force=args.force)
    if args.json:
        _json({"file": str(path), "lang": lang, "flavour": flavour, **counts})
        return
    print(f"{path}: {_counts_text(counts)}")


def _counts_text(counts: Mapping[str, int]) -> str:
    parts = [f"{n} {what}" for what, n in counts.items() if what != "bytes"]
    return ", ".join([*parts, f"{counts['bytes'] / 1e6:.2f} MB"] if "bytes" in counts else parts)


def _new_book(text: str) -> Path:
    if not text.strip():
        raise BadFile("OUT is empty; the name of a file such as gpuecon.xlsx is due")
    path = Path(text)
    if path.suffix.lower() != ".xlsx" and not path.is_dir():
        raise BadFile(f"{text} does not end in .xlsx; a name such as gpuecon.xlsx is due")
    return path


def _old_book(text: str) -> Path:
    if not text.strip():
        raise BadFile("BOOK is empty; the path of a workbook is due")
    return Path(text)


def edits(catalog: Catalog, shipped: Catalog) -> list[dict[str, Any]]:
    """Inputs that differ from the shipped ones: table, row, column, from, to.

    A row that is new stands with each of its filled columns, a row that is gone with its key only.
    """
    from gpuecon_xl.schema import TABLES

    changed: list[dict[str, Any]] = []

    def note(row: str, column: str, old: Any, new: Any) -> None:
        changed.append({"table": table.book_name, "row": row, "column": column, "from": _tidy(old), "to": _tidy(new)})

    for table in TABLES.values():
        columns = [f.name for f in table.fields if f.in_book]
        before = {str(r[table.key]): r for r in shipped.rows(table.name)}
        after = {str(r[table.key]): r for r in catalog.rows(table.name)}
        for key, row in after.items():
            old = before.get(key)
            for column in columns:
                had, has = (old or {}).get(column), row.get(column)
                empty = old is None and (has in (None, "") or has == 0)
                if not empty and not _same(had, has):
                    note(key, column, had, has)
        for key in before:
            if key not in after:
                note(key, table.key, key, None)
    return changed


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):
        return abs(a - b) <= 1e-12 * max(abs(a), abs(b))
    return bool((a or None) == (b or None)) if isinstance(a, str | None) and isinstance(b, str | None) else bool(a == b)


def _shown(value: Any) -> str:
    if value is None or value == "":
        return "(blank)"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _edit_row(edit: Mapping[str, Any]) -> tuple[str, ...]:
    """An edit as a row of the table; the key of a row tells that the row is new or gone."""
    from gpuecon_xl.schema import BY_BOOK_NAME

    old, new = _shown(edit["from"]), _shown(edit["to"])
    if edit["column"] == BY_BOOK_NAME[edit["table"]].key:
        old, new = ("(new row)", new) if edit["from"] is None else (old, "(row gone)")
    return edit["table"], edit["row"], edit["column"], old, new


def _run_inputs(args: argparse.Namespace) -> None:
    path = _old_book(args.book)
    with _busy(f"Reading {path.name}"):
        from gpuecon_xl.catalog import shipped
        from gpuecon_xl.reader import read_catalog

        catalog = read_catalog(path)
        changed = edits(catalog, shipped())
    counts = {"changed": len(changed), "warnings": len(catalog.warnings), "tables": len(catalog.tables),
              "rows": sum(len(rows) for rows in catalog.tables.values())}  # fmt: skip
    if args.json:
        _json({"changed": changed, "warnings": list(catalog.warnings), "counts": counts})
        return
    print(f"{path}: {counts['rows']} rows in {counts['tables']} tables, {_counted(len(changed), 'input')} differing from the shipped ones")
    if changed:
        _table(("table", "row", "column", "from", "to"), map(_edit_row, changed), right=(3, 4))
    if catalog.warnings:
        print(f"{_counted(len(catalog.warnings), 'warning')}:")
        for warning in catalog.warnings:
            print(f"  {warning}")


def _run_values(args: argparse.Namespace) -> None:
    path = _old_book(args.book)
    with _busy(f"Computing {path.name}"):
        from gpuecon_xl.reader import book_values

        values: Mapping[str, Any] = book_values(path)
    if args.json:
        _json(values)
        return
    rows, total, wrong = [], 0, 0
    for title, cells in values.items():
        if title == "unknown":
            continue
        bad = [f"{cell} {v}" for cell, v in cells.items() if isinstance(v, str) and v in _ERRORS]
        blank = sum(v == "" for v in cells.values())
        total, wrong = total + len(cells), wrong + len(bad)
        more = f" and {len(bad) - 3} more" if len(bad) > 3 else ""
        rows.append((title, str(len(cells)), str(blank), str(len(bad)), ", ".join(bad[:3]) + more))
    print(f"{path}: {total} formula cells, {wrong} errors")
    _table(("sheet", "formulas", "blank", "errors", "where"), rows, right=(1, 2, 3))
    own = _how_many(values.get("unknown") or {})
    if own:
        print(f'{own} formulas of your own are not computed; --json lists them under "unknown"')


def _how_many(unknown: Any) -> int:
    if isinstance(unknown, Mapping):
        return sum(len(v) if isinstance(v, Mapping | list) else 1 for v in unknown.values())
    return len(unknown)


def _run_diff(args: argparse.Namespace) -> None:
    from gpuecon_xl.variance.command import run

    run(args, _busy, _json, _table)


def _run_risk(args: argparse.Namespace) -> None:
    from gpuecon_xl.montecarlo.command import run

    run(args, _busy, _json, _table)


def _run_quote(args: argparse.Namespace) -> None:
    from gpuecon_xl.quote.command import run_quote

    run_quote(args, _busy, _json)


def _run_quotes(args: argparse.Namespace) -> None:
    from gpuecon_xl.quote.command import run_quotes

    run_quotes(args, _busy, _json)


def _run_report(args: argparse.Namespace) -> None:
    from gpuecon_xl.report.command import run

    run(args, _busy, _json)


def _run_check(args: argparse.Namespace) -> None:
    from gpuecon_xl.audit.command import run

    run(args, _busy, _json, _table)


def _run_explain(args: argparse.Namespace) -> None:
    from gpuecon_xl.provenance.command import run_explain

    run_explain(args, _busy, _json, _table, number_text)


def _run_price_history(args: argparse.Namespace) -> None:
    from gpuecon_xl.provenance.command import run_history

    run_history(args, _busy, _json, _table, number_text)


def _run_plan(args: argparse.Namespace) -> None:
    from gpuecon_xl.planning.command import run

    run(args, _catalog, _busy, _json, _table)


def _run_validate(args: argparse.Namespace) -> None:
    from gpuecon_xl.validation.command import run

    run(args, _catalog, _busy, _json, _table)


def _run_model(args: argparse.Namespace) -> None:
    from gpuecon_xl.huggingface.command import run

    run(args, _json)


# ------------------------------------------------------------------------------------------------ add-ins


def _run_addin(args: argparse.Namespace) -> None:
    action = args.action.strip().lower()
    known = {"build": _addin_build, "install": _addin_install, "doctor": _addin_doctor}
    if action not in known:
        raise NameNotFound(f"addin {args.action[:40]!r} does not exist; one of {', '.join(known)} is due")
    if action != "build":
        for given, what in ((args.out, "OUT"), (args.libreoffice, "--libreoffice"), (args.python, "--python")):
            if given:
                raise BadValue(f"{what} is given, but addin {action} takes none; leave it out")
    known[action](args)


def _addin_build(args: argparse.Namespace) -> None:
    if not (args.out or "").strip():
        raise BadFile("OUT is empty; the name of a file such as gpuecon.xlam is due")
    path = Path(args.out)
    extension = path.suffix.lower() == ".oxt"
    if args.libreoffice and not extension:
        raise BadFile(f"{args.out} does not end in .oxt; a name such as gpuecon.oxt is due with --libreoffice")
    if extension and args.python is not None:
        raise BadValue("--python is for Excel; LibreOffice brings its own Python, leave it out")
    with _busy(f"Writing {path.name}"):
        if extension:
            from gpuecon_xl.carriers.libreoffice import build_oxt

            counts = build_oxt(path, args.force)
        else:
            from gpuecon_xl.carriers.vba import build_addin

            counts = build_addin(path, args.force, *([args.python] if args.python is not None else []))
    _say_addin(path, counts, args.json)


def _addin_install(args: argparse.Namespace) -> None:
    from gpuecon_xl.carriers.excel_setup import install

    path, counts = install(args.force)
    _say_addin(path, counts, args.json)
    if not args.json:
        print("Close Excel and start it again; the functions are then in every workbook. What may be in the way:")
        _addin_doctor(args)


def _say_addin(path: Path, counts: Mapping[str, int], as_json: bool) -> None:
    if as_json:
        _json({"file": str(path), **counts})
    else:
        print(f"{path}: {_counts_text(counts)}")


def _addin_doctor(args: argparse.Namespace) -> None:
    from gpuecon_xl.carriers.excel_setup import BAD, checks

    found = checks()
    if args.json:
        _json({"checks": [{"what": c.what, "state": c.state, "text": c.text} for c in found]})
    else:
        _table(("check", "state", "what to know"), [(c.what, c.state, c.text) for c in found])
    if any(c.state == BAD for c in found):
        raise SystemExit(1)


# ------------------------------------------------------------------------------------------------ the demo


def _run_demo(args: argparse.Namespace) -> None:
    if not args.out.strip():
        raise BadFile("OUT is empty; the name of a folder is due")
    folder = Path(args.out)
    if folder.exists() and not folder.is_dir():
        raise BadFile(f"{folder} is a file; the name of a folder is due")
    with _busy("Making the demo"):
        made, changed, figures, computed = _make_demo(folder, args.force)
    if args.json:
        _json({"files": {p.name: c for p, c in made.items()}, "folder": str(folder), "changed": changed, "figures": figures, "computed": computed})
        return
    _table(("file", "what it holds"), [(str(p), _counts_text(c) if c else "the first one, with one price edited") for p, c in made.items()])
    for c in changed:
        print(f"Edited: {c['table']}, {c['row']}, {c['column']}: {_shown(c['from'])} -> {_shown(c['to'])}; "
              f"{computed['formulas']} formula cells computed from it, {computed['errors']} errors")  # fmt: skip
    rows = [(f["figure"], *(_with_unit(v if isinstance(v, str) else round(v, 4), f["unit"]) for v in (f["shipped"], f["edited"]))) for f in figures]
    _table((f"{DEMO_CARD}, {DEMO_MODEL} {DEMO_PRECISION}, batch 32", "shipped price", "edited price"), rows, right=(1, 2))
    plain, edited = (_word(str(folder / name)) for name in ("gpuecon-en.xlsx", "gpuecon-en-edited.xlsx"))
    print("Go on: open", plain, "in Excel or LibreOffice, change a yellow cell, save it under another name, then")
    print(f"  gpuecon inputs {edited}")
    print(f"  gpuecon values {edited} --json")
    print(f'  gpuecon tco3y "{DEMO_CARD}" --catalog {edited}')


def _make_demo(folder: Path, force: bool) -> tuple[dict[Path, dict[str, int]], list[dict[str, Any]], list[dict[str, Any]], dict[str, int]]:
    """The demo's files, the edit read back, the headline figures before and after it."""
    import tempfile

    from gpuecon_xl.catalog import shipped
    from gpuecon_xl.files import check_target
    from gpuecon_xl.lang import LANGUAGES
    from gpuecon_xl.reader import book_values, read_catalog
    from gpuecon_xl.writer import write_template

    names = [*(f"gpuecon-{lang}.xlsx" for lang in LANGUAGES), "gpuecon-en-edited.xlsx"]
    if folder.is_dir():
        for name in names:
            check_target(folder / name, force)
    counts: dict[Path, dict[str, int]] = {}
    with _made(folder), tempfile.TemporaryDirectory(dir=folder, prefix=".gpuecon-") as work:  # all four, or none
        for lang in LANGUAGES:
            counts[folder / f"gpuecon-{lang}.xlsx"] = write_template(
                Path(work) / f"gpuecon-{lang}.xlsx", catalog=shipped(), lang=lang, flavour="plain", force=False
            )
        edited = Path(work) / names[-1]
        _edit_price(Path(work) / "gpuecon-en.xlsx", edited)
        catalog = read_catalog(edited)
        values = book_values(edited)
        changed = edits(catalog, shipped())
        figures = _headline(shipped(), catalog)
        for name in names:
            os.replace(Path(work) / name, folder / name)
    counts[folder / names[-1]] = {}
    cells = [v for title, sheet in values.items() if title != "unknown" for v in sheet.values()]
    computed = {"formulas": len(cells), "errors": sum(isinstance(v, str) and v in _ERRORS for v in cells)}
    return counts, changed, figures, computed


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """A folder that exists; one that had to be made goes again when the work fails."""
    new = [p for p in (folder, *folder.parents) if not p.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for p in new:
            if p.is_dir() and not any(p.iterdir()):
                p.rmdir()
        raise


def _edit_price(source: Path, target: Path) -> None:
    """A copy of a book in which one card costs less, as a person would edit it."""
    import openpyxl

    book = openpyxl.load_workbook(source)
    for sheet in book.worksheets:
        if "Prices" not in sheet.tables:
            continue
        head, *rows = sheet[sheet.tables["Prices"].ref]
        names = [c.value for c in head]
        row = next(r for r in rows if r[names.index("gpu")].value == DEMO_CARD)
        cell = row[names.index("typical")]
        cell.value = round(cell.value * (1 - DEMO_DISCOUNT), 2)
        book.save(target)
        return
    raise BadFile(f"{source} has no table Prices")


def _headline(before: Catalog, after: Catalog) -> list[dict[str, Any]]:
    from gpuecon_xl import functions, money

    rent = next(r for r in before.rows("cloud_rates") if r["gpu"] == DEMO_CARD)
    rate = money.convert(rent["rate_hour"], rent["currency"], "EUR", before.assumption("usd_per_eur"))

    def figures(catalog: Catalog) -> tuple[Any, ...]:
        return (
            functions.price_of(DEMO_CARD, catalog=catalog),
            functions.tco3y(DEMO_CARD, catalog=catalog),
            functions.cost_per_mtok(DEMO_MODEL, DEMO_CARD, DEMO_PRECISION, catalog=catalog),
            functions.breakeven_util(DEMO_MODEL, DEMO_CARD, rate, DEMO_PRECISION, catalog=catalog),
        )

    labels = (("Price of one card, net", "EUR"), ("Total cost over three years", "EUR"), ("Cost of a million output tokens", "EUR"),
              (f"Break-even use against renting at {rate:.3f} EUR/h", "1"))  # fmt: skip
    return [
        {"figure": label, "unit": unit, "shipped": old, "edited": new}
        for (label, unit), old, new in zip(labels, figures(before), figures(after), strict=True)
    ]


# ------------------------------------------------------------------------------------------------ all commands


def commands() -> dict[str, Command]:
    """Every command by name, in the order of the help page."""
    found = [
        Command("template", lambda: "Write the workbook: inputs to edit, live formulas, charts.", "gpuecon template gpuecon.xlsx --lang de",
                _template_parser, _run_template),
        Command("inputs", lambda: "What was edited in a workbook, against the shipped inputs, and what to look at.", "gpuecon inputs edited.xlsx",
                _book_parser, _run_inputs),
        Command("values", lambda: "Every formula cell of a workbook, computed from its inputs without Excel.", "gpuecon values edited.xlsx --json",
                _book_parser, _run_values),
        Command("check", lambda: "What is wrong in an edited workbook, by sheet and cell, and what it should be.",
                "gpuecon check edited.xlsx --fix-list", _check_parser, _run_check),
        Command("explain", lambda: "What a cell of a workbook is made of: equation, inputs, their sources and dates.",
                'gpuecon explain "Cost!K30" edited.xlsx --depth 2', _explain_parser, _run_explain),
        Command("price-history", lambda: "Prices of a card by date, each with its source.", 'gpuecon price-history "RTX 5090"',
                _price_history_parser, _run_price_history),
        Command("diff", lambda: "Which inputs changed between two workbooks or catalogues, and what each change did to cost and recommendation.",
                "gpuecon diff last.xlsx edited.xlsx -o diff.xlsx", _diff_parser, _run_diff),
        Command("plan", lambda: "The cheapest build for a load within limits, over every card, number, layout and format; why the others lost.",
                'gpuecon plan --model "Llama 3.1 8B" --users 64 --input 1024 --output 256 --tpot-ms 40 --ecc -o plan.xlsx', _plan_parser, _run_plan),
        Command("validate", lambda: "How far predictions are off, by card, batch, engine and metric, against published measurements or yours.",
                "gpuecon validate --by class,batch", _validate_parser, _run_validate),
        Command("risk", lambda: "Draw every range at once: quantiles of the cost, and how often owning beats renting.",
                "gpuecon risk --draws 100000 -o risk.xlsx", _risk_parser, _run_risk),
        Command("quote", lambda: "An offer for a customer from a short request: letter, live economics page, sources.",
                "gpuecon quote request.toml -o offer.xlsx --book edited.xlsx", _quote_parser, _run_quote),
        Command("quotes", lambda: "An offer for each row of a table, in parallel, numbered, with a summary and a log.",
                "gpuecon quotes requests.csv -o offers --book edited.xlsx", _quotes_parser, _run_quotes),
        Command("report", lambda: "What a workbook says, values only, against last month's; also as a mail.",
                "gpuecon report edited.xlsx -o report.xlsx --last last.xlsx --eml report.eml", _report_parser, _run_report),
        Command("model", lambda: "A row of models.csv from a model's config.json, for models that are not in the catalogue.",
                "gpuecon model add config.json --name Qwen/Qwen3-32B --to models.csv", _model_parser, _run_model),
        Command("addin", lambda: "The functions in Excel's and LibreOffice's own cells: build the add-in, install it, find out why it does not work.",
                "gpuecon addin build gpuecon.xlam", _addin_parser, _run_addin),
        Command("demo", lambda: "The main job in one go: three workbooks, an edited price, its figures.", "gpuecon demo out",
                _demo_parser, _run_demo),
    ]  # fmt: skip

    def of(function: Function) -> Command:
        return Command(function.name.replace("_", "-"), lambda: _purpose(function), cell_example(function), _function_parser(function),
                       _run_function(function))  # fmt: skip

    own, companions = FUNCTIONS[:5], FUNCTIONS[5:]
    return {c.name: c for c in [*found[:1], *map(of, own), of(PREDICT), *found[1:], *map(of, companions)]}


def _help_page(known: Mapping[str, Command]) -> str:
    import textwrap

    lines = ["usage: gpuecon COMMAND … [--json]", "", "Economics of LLM inference on GPUs.", "", "commands:"]
    for c in known.values():
        lines += textwrap.wrap(c.purpose(), 100, initial_indent=f"  {c.name:<18} ", subsequent_indent=" " * 21)
    lines += ["", "  gpuecon COMMAND --help   arguments and an example", "  gpuecon --version        the version", "",
              'Numbers: point or comma, "60 %" allowed, no grouping: 2704 or 2704,50.',
              "Exit: 0 done, 1 check, validate or addin doctor found something, 2 bad input (one sentence on stderr, nothing written).",
              "--debug shows where an unexpected fault came from.",
              "", "example:", f"  {known['cost-per-mtok'].example}"]  # fmt: skip
    return "\n".join(lines)


# A negative number, or what is none, is a value and not an option; a blank before it tells argparse so.
_NEGATIVE = re.compile(r"-([\d.,].*|inf.*|nan)", re.IGNORECASE)


def _dispatch(words: list[str]) -> None:
    known = commands()
    if not words:
        raise BadValue("a command is due, such as template or tokps; see gpuecon --help")
    name, rest = words[0], words[1:]
    if name in ("-h", "--help", "help"):
        print(_help_page(known))
        return
    if name in ("-V", "--version"):
        print(f"gpuecon {__version__}")
        return
    command = known.get(name.replace("_", "-").lower())
    if command is None:
        if name.startswith("-"):
            raise BadValue(f"{name[:40]!r} stands where a command is due, such as template or tokps; see gpuecon --help")
        raise NameNotFound(f"command {name[:40]!r} does not exist; nearest: {nearest(name, known)}; see gpuecon --help")
    wants_help = any(w in ("-h", "--help") for w in rest)
    parser = _Parser(
        prog=f"gpuecon {command.name}", description=command.purpose().replace("%", "%%") if wants_help else None, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter, epilog=f"example:\n  {command.example.replace('%', '%%')}",
    )  # fmt: skip
    parser.wants_help = wants_help
    command.build(parser)
    command.run(parser.parse_args([f" {w}" if _NEGATIVE.fullmatch(w) else w for w in rest]))


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show must not end in a traceback
    try:
        try:
            _dispatch([w for w in words if w != "--debug"])
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
        return 0
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _drop_output()
        return 0
    except SystemExit as stop:  # argparse after --help
        return stop.code if isinstance(stop.code, int) else 0
    except BadFile as error:
        _complain(str(error))
    except GpueconError as error:
        _complain(" ".join(str(error).split()))
    except OSError as error:
        _drop_output()
        where = f"{error.filename}: " if error.filename is not None else ""
        _complain(f"{where}{error.strerror or error}")
        _trace(debug)
    except Exception as error:
        _complain(f"unexpected {type(error).__name__} ({' '.join(str(error).split())[:200]}); please report it with the command you gave, "
                  "--debug shows where it came from")  # fmt: skip
        _trace(debug)
    return 2


def _trace(debug: bool) -> None:
    if debug:
        import traceback

        traceback.print_exc()


def _drop_output() -> None:
    """What is left in the buffer has nowhere to go: say nothing more, also not when Python ends."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (OSError, ValueError, AttributeError):
            return


if __name__ == "__main__":
    sys.exit(main())
