"""A stand-in for xlwings inside xlwings Lite: it hands cells to functions as Lite does, and runs a list of calls.

It is copied beside main.py under the name xlwings and uses the standard library only, so that it runs in a plain Python and
in Pyodide. What it imitates: an empty single cell or a missing argument gives the parameter's default, "" is None, an error
value is None unless `err_to_str` asks for its text, `ndim=2` gives rows, without it a row or a column is a flat list.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from typing import Any

FUNCTIONS: dict[str, Any] = {}


def func(function: Any) -> Any:
    """Register a function; `arg` below it has set the options of its arguments."""
    FUNCTIONS[function.__name__] = function
    return function


def arg(name: str, **options: Any) -> Any:
    """Options of an argument."""

    def wrapped(function: Any) -> Any:
        if not hasattr(function, "lite"):
            function.lite = {}
        function.lite[name] = options
        return function

    return wrapped


def ret(**options: Any) -> Any:
    """Options of the answer; none is imitated."""
    return lambda function: function


def _cell(value: Any, options: dict[str, Any]) -> Any:
    if isinstance(value, dict):  # an error value
        return value["basicValue"] if options.get("err_to_str") else None
    return None if value == "" else value


def _argument(value: Any, options: dict[str, Any]) -> Any:
    rows = [[_cell(v, options) for v in row] for row in (value if isinstance(value, list) else [[value]])]
    if options.get("ndim") == 2:
        return rows
    if len(rows) == 1:
        return rows[0][0] if len(rows[0]) == 1 else rows[0]
    return [row[0] for row in rows] if len(rows[0]) == 1 else rows


def call(function: Any, cells: list[Any]) -> Any:
    """The answer to one call, or {"refused": sentence}."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    defaults = dict(zip(names[len(names) - len(function.__defaults__ or ()) :], function.__defaults__ or (), strict=True))
    given = []
    for name, value in zip(names, cells, strict=False):
        while isinstance(value, list) and len(value) == 1 and len(value[0]) == 1:
            value = value[0][0]
        given.append(defaults.get(name) if value is None else _argument(value, function.lite[name]))
    given += [defaults.get(n) for n in names[len(given) :]]  # Excel sends every argument
    try:
        return function(*given)
    except ValueError as refusal:
        return {"refused": str(refusal), "kind": type(refusal).__name__}


def run(text: str) -> str:
    """Load main.py, which lies on the path, and answer a list of calls [function, cells], both as JSON."""
    start = time.perf_counter()
    before = set(sys.modules)
    main = importlib.import_module("main")
    loaded = time.perf_counter() - start
    answers, seconds = [], []
    for name, cells in json.loads(text):
        start = time.perf_counter()
        answers.append(call(getattr(main, name), cells))
        seconds.append(time.perf_counter() - start)
    places = {m: str(getattr(sys.modules[m], "__file__", "")) for m in sorted(set(sys.modules) - before) if m.startswith("gpuecon_xl")}
    heavy = [m for m in ("numpy", "pandas", "openpyxl", "xlsxwriter", "rich") if m in sys.modules]
    return json.dumps(
        {
            "python": sys.version.split()[0],
            "answers": answers,
            "seconds": seconds,
            "load": loaded,
            "places": places,
            "heavy": heavy,
            "registered": {n: {"arguments": f.lite, "help": f.__doc__} for n, f in FUNCTIONS.items()},
        }
    )
