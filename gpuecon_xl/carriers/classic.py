"""The functions for xlwings' own add-in technique, Excel for Windows: one Python function for each function in the cell.

Here: the table of functions, given to xlwings. Not here: what a cell's content means (`arguments`), what the functions
compute (`gpuecon_xl.functions`), the VBA that calls this module (`vba`).

xlwings takes 0.4 s to import, most of it numpy and pandas. So this module does not import it: when Excel calls, xlwings is
what imports this module, is loaded already and gets its decorators; anywhere else the same functions are plain Python.

Python has no way to hand Excel a true error value through xlwings, so a refusal is a text that begins with the error:
"#N/A GPU 'RTX 9999' is not in the catalogue; nearest: …". The VBA of `vba` makes error values of these texts.

Never run in a real Excel. Tested through the call code of xlwings itself (``XLPython.CallUDF``, its conversions) on Linux
with stand-ins for pywin32 that hand over the values Excel would; the DLL, real variants and threads are not covered.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from gpuecon_xl.carriers.texts import WHY, WHY_ARGUMENTS, WHY_PURPOSE, argument_text, purpose, why_text
from gpuecon_xl.functions_table import CATEGORY, FUNCTIONS, Function

# Error values as COM hands them over; xlwings knows the first seven of them.
_ERRORS = {-2146826281: "#DIV/0!", -2146826246: "#N/A", -2146826259: "#NAME?", -2146826288: "#NULL!", -2146826252: "#NUM!",
           -2146826265: "#REF!", -2146826273: "#VALUE!", -2146826245: "#GETTING_DATA", -2146826243: "#SPILL!", -2146826238: "#CALC!"}  # fmt: skip


def read(value: Any) -> Any:
    """A cell's or range's content as it comes from Excel, with error values as text.

    Numbers in cells are floating point, so a whole number that is an error's code is that error.
    """
    if not isinstance(value, tuple):
        return _ERRORS.get(value, value) if type(value) is int else value
    rows = value if tuple in set(map(type, value)) else (value,)
    if int not in set(map(type, chain.from_iterable(rows))):
        return rows
    return [[_ERRORS.get(v, v) if type(v) is int else v for v in r] for r in rows]


def shown(answer: Any) -> Any:
    """An answer as cells take it: numbers as Excel's own, refusals as text; rows stay rows."""
    from gpuecon_xl.carriers.arguments import Refused

    def cell(value: Any) -> Any:
        if isinstance(value, Refused):
            return f"{value.code} {value.sentence}".strip()
        # Excel refuses whole numbers beyond 32 bits, and it counts in floating point anyway
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value

    if not isinstance(answer, list):
        return cell(answer)
    if set(map(type, chain.from_iterable(answer))) <= {float, str}:
        return answer or ""
    return [[cell(v) for v in row] for row in answer]


def _signature(names: Sequence[str], required: int) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    empty = inspect.Parameter.empty
    return inspect.Signature([inspect.Parameter(n, kind, default=empty if i < required else None) for i, n in enumerate(names)])


def _named(function: Callable[..., Any], name: str, doc: str, signature: inspect.Signature) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    function.__annotations__ = {}
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _in_order(given: tuple[Any, ...], named: dict[str, Any], signature: inspect.Signature) -> tuple[Any, ...]:
    if not named:
        return given
    bound = signature.bind_partial(*given, **named)
    bound.apply_defaults()
    return bound.args


def _function(entry: Function) -> Callable[..., Any]:
    signature = _signature(entry.arguments, entry.required)

    def function(*given: Any, **named: Any) -> Any:
        from gpuecon_xl.carriers.arguments import answer

        return shown(answer(entry.name, _in_order(given, named, signature)))

    return _named(function, entry.excel, purpose(entry), signature)


def _why() -> Callable[..., Any]:
    signature = _signature(WHY_ARGUMENTS, 1)

    def function(*given: Any, **named: Any) -> Any:
        from gpuecon_xl.carriers.arguments import why_rows

        return shown(why_rows(_in_order(given, named, signature)))

    return _named(function, WHY, WHY_PURPOSE, signature)


def _for_excel(xlwings: Any, function: Callable[..., Any], texts: dict[str, str]) -> Callable[..., Any]:
    """A function with what xlwings wants to know; cells come and go as they are, without a visit to each one on the way."""

    class Cells(xlwings.conversion.Converter):  # type: ignore[misc]
        """What Excel hands over, with errors as text."""

        base_type = "raw"

        @classmethod
        def read_value(cls, value: Any, options: Any) -> Any:
            """Content of a cell or range."""
            return read(value)

    class Rows(xlwings.conversion.Converter):  # type: ignore[misc]
        """Answers stay rows and columns, also a single row, which xlwings would flatten on its way out."""

        base_type = "raw"

        @classmethod
        def write_value(cls, value: Any, options: Any) -> Any:
            """What xlwings unpacks once gives the answer."""
            return value if isinstance(value, list) and len(value) > 1 else [[value]]

    for argument, text in texts.items():
        function = xlwings.arg(argument, Cells, doc=text)(function)
    function = xlwings.ret(Rows)(function)
    decorated: Callable[..., Any] = xlwings.func(category=CATEGORY)(function)
    return decorated


def _all() -> dict[str, Callable[..., Any]]:
    found = {f.excel: (_function(f), {a: argument_text(f, a) for a in f.arguments}) for f in FUNCTIONS}
    found[WHY] = (_why(), {a: why_text(a) for a in WHY_ARGUMENTS})
    xlwings = sys.modules.get("xlwings")
    if xlwings is None or not hasattr(xlwings, "func"):
        return {name: function for name, (function, _) in found.items()}
    return {name: _for_excel(xlwings, function, texts) for name, (function, texts) in found.items()}


_FUNCTIONS = _all()
globals().update(_FUNCTIONS)
__all__ = ["shown", *_FUNCTIONS]
