"""The command ``gpuecon model``: its options, what it writes and prints.

Here: arguments to a row, and the row to stdout or into a file, written whole or not at all. Not here: the row itself (`row`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpuecon_xl.errors import BadFile, NameNotFound
from gpuecon_xl.files import replace_file
from gpuecon_xl.huggingface import row as rows

ACTIONS = ("add",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("action", metavar="ACTION", help="add: a row of models.csv from a model's configuration file")
    parser.add_argument("config", metavar="CONFIG.json", help="the model's config.json from Hugging Face, a local file")
    parser.add_argument("--name", metavar="TEXT", help="what the model is called, such as Qwen/Qwen3-32B; not given: the name in the file")
    parser.add_argument("--aliases", metavar="TEXT", help='other names, "one | two"')
    parser.add_argument("--index", metavar="INDEX.json", help="the model's model.safetensors.index.json: parameters from its exact bytes")
    parser.add_argument("--source", metavar="TEXT", help="where the file comes from, an address")
    parser.add_argument("--to", metavar="FILE.csv", help="your own file of models to add the row to, made if missing; other commands read it by "
                        "--catalog FILE.csv; not given: print the row")  # fmt: skip


def run(args: argparse.Namespace, show: Callable[[Any], None]) -> None:
    """Do it; `show` prints JSON."""
    if args.action.strip().lower() not in ACTIONS:
        raise NameNotFound(f"model {args.action[:40]!r} does not exist; add is due")
    config, index, target = _path(args.config, "CONFIG.json"), _path(args.index, "--index"), _target(args.to)
    if config is None:
        raise BadFile("CONFIG.json is empty; the path of a model's config.json is due")
    made = rows.checked(rows.model_row(config, index=index, name=args.name, aliases=args.aliases, source=args.source), str(config))
    if target is not None:
        replace_file(target, rows.with_row(target, made))
    if args.json:
        show({"row": made, "file": None if target is None else str(target)})
    elif target is None:
        print(rows.csv_text([made], rows.header_row()), end="")
    else:
        print(f"{target}: {made['model']} added, {made['params_b']:.4g}e9 parameters, {made['precision']}; use it with --catalog {target}")


def _path(text: str | None, what: str) -> Path | None:
    if text is None:
        return None
    if not text.strip():
        raise BadFile(f"{what} is empty; the path of a JSON file is due")
    return Path(text)


def _target(text: str | None) -> Path | None:
    path = _path(text, "--to")
    if path is None:
        return None
    if path.suffix.lower() != ".csv":
        raise BadFile(f"--to {text} does not end in .csv; a name such as models.csv is due")
    if not path.parent.is_dir():
        raise BadFile(f"{path}: the folder {path.parent} does not exist; make it first")
    if path.is_dir():
        raise BadFile(f"{path} is a folder; the name of a file is due")
    return path
