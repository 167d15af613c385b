"""Excel's side of a call, played on any system: stand-ins for pywin32 and for ranges, so that xlwings' own call code runs.

What Excel hands over is played as pywin32 delivers it: floats, text, booleans, None for an empty cell, whole numbers for error
values and omitted arguments, dates as a kind of datetime, currency as Decimal, ranges as objects with a `Value`.
"""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import datetime as dt
import importlib
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

assert asyncio  # loaded before the system is called Windows, or it would look for Windows' own event loop

OMITTED = -2147352572
ERROR = {
    "#DIV/0!": -2146826281, "#N/A": -2146826246, "#NAME?": -2146826259, "#NULL!": -2146826288, "#NUM!": -2146826252,
    "#REF!": -2146826265, "#VALUE!": -2146826273, "#SPILL!": -2146826243, "#CALC!": -2146826238,
}  # fmt: skip
CLASSIC = "gpuecon_xl.carriers.classic"
_RANGE = "{00020846-0000-0000-C000-000000000046}"
_OURS = ("xlwings", "pythoncom", "pywintypes", "win32", CLASSIC)


class ComError(Exception):
    """pywintypes.com_error."""


class Date(dt.datetime):
    """pywintypes.TimeType."""


class _Dispatch:
    """win32com.client.CDispatch."""


class _Typed:
    def __init__(self, iid: str) -> None:
        self.iid = iid

    def GetTypeInfo(self) -> _Typed:
        return self

    def GetTypeAttr(self) -> _Typed:
        return self


class Range(_Dispatch):
    """A reference to cells, from rows of contents."""

    CLSID = _RANGE

    def __init__(self, rows: list[list[Any]]) -> None:
        self._oleobj_ = _Typed(_RANGE)
        self._rows = tuple(map(tuple, rows))
        self.Row = self.Column = 1
        self.Rows, self.Columns = types.SimpleNamespace(Count=len(rows)), types.SimpleNamespace(Count=len(rows[0]))
        self.Count = len(rows) * len(rows[0])
        self.Application = types.SimpleNamespace(Version="16.0", Hwnd=1, Name="Microsoft Excel")
        self.Worksheet = types.SimpleNamespace(Name="Sheet1", Application=self.Application, Parent=_book(self.Application))

    @property
    def Value(self) -> Any:
        return self._rows[0][0] if self.Count == 1 else self._rows


class _Sheets(list[Any]):
    Count = 0


def _book(application: Any) -> Any:
    return types.SimpleNamespace(Name="model.xlsm", FullName=r"C:\model.xlsm", Application=application, Sheets=_Sheets(), Worksheets=_Sheets())


def _stubs() -> dict[str, types.ModuleType]:
    def module(name: str, **content: Any) -> types.ModuleType:
        made = types.ModuleType(name)
        made.__dict__.update(content)
        return made

    def unwrap(value: Any) -> Any:
        raise ComError(-2147467262, "not one of ours")

    found = {n: module(n) for n in ("win32api", "win32con", "win32gui", "win32event")}
    found["win32process"] = module("win32process", GetWindowThreadProcessId=lambda window: (1, 4242))
    client = module("win32com.client", CDispatch=_Dispatch, CoClassBaseClass=type("CoClassBaseClass", (), {}),
                    DispatchBaseClass=type("DispatchBaseClass", (), {}), Dispatch=lambda o, **_: o, DispatchEx=None,
                    gencache=mock.MagicMock())  # fmt: skip
    util = module("win32com.server.util", unwrap=unwrap, wrap=lambda o, iid=None: o)
    dispatcher, policy = module("win32com.server.dispatcher"), module("win32com.server.policy")
    server = module("win32com.server", util=util, dispatcher=dispatcher, policy=policy)
    return found | {
        "pywintypes": module("pywintypes", com_error=ComError, error=ComError, TimeType=Date, IID=str),
        "pythoncom": module("pythoncom", com_error=ComError, ole_error=ComError, CoInitialize=lambda: None, IID_IDispatch="IDispatch",
                            IID_IEnumVARIANT="IEnumVARIANT", TypeIIDs={"IDispatch": type("PyIDispatch", (), {})}, Empty=None,
                            Missing=object(), ArgNotFound=object(), __file__="pythoncom.dll"),
        "win32com": module("win32com", client=client, server=server), "win32com.client": client, "win32com.server": server,
        "win32com.server.util": util, "win32com.server.dispatcher": dispatcher, "win32com.server.policy": policy,
        "win32timezone": module("win32timezone", TimeZoneInfo=types.SimpleNamespace(utc=lambda: dt.UTC)),
    }  # fmt: skip


def date(year: int, month: int, day: int) -> Date:
    """A date as a cell has it."""
    return Date(year, month, day, tzinfo=dt.UTC)


@contextmanager
def excel() -> Iterator[Callable[..., Any]]:
    """`call(function, *cells)` goes through xlwings' COM server object, as a VBA function would."""
    kept = {n: m for n, m in sys.modules.items() if n.startswith(_OURS)}
    for name in kept:
        del sys.modules[name]
    sys.modules.update(_stubs())
    try:
        with (
            mock.patch.object(sys, "platform", "win32"),
            mock.patch.object(ctypes, "windll", mock.MagicMock(), create=True),
            mock.patch.object(ctypes, "oledll", mock.MagicMock(), create=True),
            mock.patch.object(ctypes, "PyDLL", mock.MagicMock()),
        ):
            server = importlib.import_module("xlwings.com_server")
        atexit.unregister(sys.modules["xlwings._xlwindows"].cleanup)
        xlpython, module = server.XLPython(), importlib.import_module(CLASSIC)
        cell = Range([[None]])

        def call(function: str, *cells: Any) -> Any:
            arity = len(inspect.signature(getattr(module, function)).parameters)
            given = (*cells, *[OMITTED] * (arity - len(cells)))
            return xlpython.CallUDF(CLASSIC, function, given, _book(cell.Application), cell)

        call.module = module  # type: ignore[attr-defined]
        yield call
    finally:
        for name in [n for n in sys.modules if n.startswith(_OURS)]:
            del sys.modules[name]
        sys.modules.update(kept)
