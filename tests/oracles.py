"""Independent readers of a workbook: LibreOffice and formualizer, both recalculating every formula.

Here: conversion and recalculation, cached values, the comparison of values of two readers.
Not here: what a workbook holds; no code of the product is used.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.utils import get_column_letter, range_boundaries

SOFFICE = shutil.which("soffice")

# In CI the office must be there: its absence is a failure, not a skip.
needs_libreoffice = pytest.mark.skipif(SOFFICE is None and not os.environ.get("CI"), reason="soffice is not on the path")

_ALWAYS_RECALCULATE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>
"""

PYTHONS = ("/usr/bin/python3", "/usr/lib/libreoffice/program/python")


def python_with_uno() -> str | None:
    """A Python that can drive LibreOffice."""
    for python in PYTHONS:
        if Path(python).exists() and subprocess.run([python, "-c", "import uno"], capture_output=True, check=False).returncode == 0:
            return python
    return None


_profile: dict[int, tempfile.TemporaryDirectory[str]] = {}


def profile() -> Path:
    """The LibreOffice profile of this process, set to recalculate every file that it opens."""
    held = _profile.get(os.getpid())
    if held is None:
        held = _profile[os.getpid()] = tempfile.TemporaryDirectory(prefix="lo_profile_", ignore_cleanup_errors=True)
        user = Path(held.name) / "user"
        user.mkdir()
        (user / "registrymodifications.xcu").write_text(_ALWAYS_RECALCULATE, encoding="utf-8")
    return Path(held.name)


def soffice_convert(paths: Iterable[str | Path], outdir: str | Path, timeout_s: float = 600) -> dict[Path, Path]:
    """Recalculate workbooks by LibreOffice, all in one call; the path of the result by the path given.

    Raises
    ------
    RuntimeError
        When LibreOffice is absent or did not write a file (its exit code is 0 even then).
    """
    if SOFFICE is None:
        raise RuntimeError("soffice is not on the path")
    sources = [Path(p).resolve() for p in paths]
    if len({s.name for s in sources}) != len(sources):
        raise ValueError("two workbooks have the same file name; the results would overwrite each other")
    out = Path(outdir).resolve()
    out.mkdir(parents=True, exist_ok=True)
    results = {s: out / s.name for s in sources}
    for source, result in results.items():
        if source == result:
            raise ValueError(f"{source} would be overwritten by its result")
        result.unlink(missing_ok=True)
    done = subprocess.run(
        [
            SOFFICE,
            f"-env:UserInstallation={profile().as_uri()}",
            "--headless",
            "--convert-to",
            "xlsx:Calc MS Excel 2007 XML",
            "--outdir",
            str(out),
            *map(str, sources),
        ],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    absent = [r.name for r in results.values() if not r.exists()]
    if absent:
        raise RuntimeError(f"LibreOffice did not write {', '.join(absent)}: {(done.stderr or done.stdout).strip()[-400:]}")
    return {Path(p): results[Path(p).resolve()] for p in paths} if isinstance(paths, list | tuple) else results


def cached_values(path: str | Path) -> dict[str, dict[str, Any]]:
    """Values that stand in a file, by sheet and cell: what a previewer shows. Empty cells are left out."""
    book = openpyxl.load_workbook(path, data_only=True)
    return {sheet.title: {c.coordinate: plain(c.value) for row in sheet.iter_rows() for c in row if c.value is not None} for sheet in book.worksheets}


def formula_cells(path: str | Path) -> dict[str, list[str]]:
    """Addresses of all formula cells, by sheet."""
    book = openpyxl.load_workbook(path)
    return {s.title: [c.coordinate for row in s.iter_rows() for c in row if c.data_type == "f"] for s in book.worksheets}


def libreoffice_values(path: str | Path, outdir: str | Path) -> dict[str, dict[str, Any]]:
    """Values of one workbook after LibreOffice has recalculated it."""
    return cached_values(soffice_convert([path], outdir)[Path(path)])


# ------------------------------------------------------------------------------------------------ formualizer

_THIS_ROW = re.compile(r"\b(\w+)\[\[#This Row\],\s*\[([^\[\]]+)\]\]")
_COLUMN = re.compile(r"\b(\w+)\[([^\[\]#]+)\]")
_WORD = re.compile(r"(?<![\w.!$'\[])([A-Za-z_]\w*)(?![\w(!.\]])")
_ERROR_OF_KIND = {
    "Na": "#N/A",
    "Div": "#DIV/0!",
    "Div0": "#DIV/0!",
    "Ref": "#REF!",
    "Value": "#VALUE!",
    "Num": "#NUM!",
    "Name": "#NAME?",
    "Null": "#NULL!",
}


def _quoted(sheet: str) -> str:
    return "'" + sheet.replace("'", "''") + "'"


class _References:
    """Tables and names of a workbook as plain cell references."""

    def __init__(self, book: Any) -> None:
        self.columns: dict[tuple[str, str], tuple[str, str, int, int]] = {}  # -> sheet, letter, first, last row
        self.names: dict[str, str] = {}
        for sheet in book.worksheets:
            for table in sheet.tables.values():
                left, top, _, bottom = range_boundaries(table.ref)
                first = top + (1 if table.headerRowCount is None else table.headerRowCount)
                last = bottom - (table.totalsRowCount or 0)
                for offset, column in enumerate(table.tableColumns):
                    key = (table.displayName.lower(), column.name.lower())
                    self.columns[key] = (_quoted(sheet.title), get_column_letter(left + offset), first, last)
            for text, defined in sheet.defined_names.items():
                self.names.setdefault(text.lower(), defined.attr_text)
        for text, defined in book.defined_names.items():
            self.names[text.lower()] = defined.attr_text

    def plain(self, formula: str, row: int) -> str:
        """A formula in cell references only; text constants are left alone."""
        if "[" not in formula and not self.names:
            return formula
        parts = formula.split('"')
        for i in range(0, len(parts), 2):
            part = parts[i]
            if "[" in part:
                part = _THIS_ROW.sub(lambda m: self._cell(m, row), part)
                part = _COLUMN.sub(self._range, part)
            parts[i] = _WORD.sub(self._name, part)
        return '"'.join(parts)

    def _found(self, m: re.Match[str]) -> tuple[str, str, int, int]:
        try:
            return self.columns[m[1].lower(), m[2].lower()]
        except KeyError:
            raise KeyError(f"{m[0]} names no column of a table") from None

    def _cell(self, m: re.Match[str], row: int) -> str:
        sheet, letter, first, last = self._found(m)
        if not first <= row <= last:
            raise ValueError(f"{m[0]} in row {row}, outside of the table")
        return f"{sheet}!${letter}${row}"

    def _range(self, m: re.Match[str]) -> str:
        sheet, letter, first, last = self._found(m)
        return f"{sheet}!${letter}${first}:${letter}${last}"

    def _name(self, m: re.Match[str]) -> str:
        return self.names.get(m[1].lower(), m[1])


def formualizer_values(path: str | Path) -> dict[str, dict[str, Any]]:
    """Values of every formula cell, recalculated by formualizer; errors are texts such as "#N/A".

    Structured references are replaced by cell references first, because the engine takes a reference to a cell of a
    table as one to the whole table and then sees circles.
    """
    import formualizer

    book = openpyxl.load_workbook(path)
    references = _References(book)
    engine = formualizer.Workbook()
    for sheet in book.worksheets:
        engine.add_sheet(sheet.title)
    wanted: list[tuple[str, int, int, str]] = []
    for sheet in book.worksheets:
        for cells in sheet.iter_rows():
            # batches of neighbours of one kind; an empty cell is left out, a formula put over it would count as empty
            for kind, group in groupby(cells, _kind):
                run = list(group)
                row, column = run[0].row, run[0].column
                if kind == "value":
                    engine.set_values_batch(sheet.title, row, column, [[plain(c.value) for c in run]])
                elif kind == "formula":
                    texts = [references.plain(c.value if isinstance(c.value, str) else c.value.text, c.row) for c in run]
                    engine.set_formulas_batch(sheet.title, row, column, [texts])
                    wanted += [(sheet.title, c.row, c.column, c.coordinate) for c in run]
    engine.evaluate_all()
    out: dict[str, dict[str, Any]] = {s.title: {} for s in book.worksheets}
    for title, row, column, address in wanted:
        out[title][address] = _of_engine(engine.get_value(title, row, column))
    return out


def _kind(cell: Any) -> str:
    return "formula" if cell.data_type == "f" else "empty" if cell.value is None else "value"


def _of_engine(value: Any) -> Any:
    if isinstance(value, dict) and value.get("type") == "Error":
        return _ERROR_OF_KIND.get(str(value.get("kind")), f"#{value.get('kind')}!")
    return plain(value)


# ------------------------------------------------------------------------------------------------ comparison

_EPOCH = dt.datetime(1899, 12, 30)


def plain(value: Any) -> Any:
    """A date as the number that Excel counts it by; anything else as it is."""
    if isinstance(value, dt.datetime):
        return (value - _EPOCH).total_seconds() / 86_400
    if isinstance(value, dt.date):
        return float((dt.datetime(value.year, value.month, value.day) - _EPOCH).days)
    return value


def is_error(value: Any) -> bool:
    """Whether a value is an error of a cell; readers differ in which error."""
    return isinstance(value, str) and value.startswith("#")


def same(a: Any, b: Any, rel: float = 1e-9) -> bool:
    """Whether two readers of a workbook agree on a cell.

    Numbers to `rel` of the larger one (absolute below 1), no value and empty text are one, any error is any error,
    TRUE is not 1, dates count as numbers.
    """
    a, b = plain(a), plain(b)
    if a is None or b is None:
        return (a is None or a == "") and (b is None or b == "")
    if is_error(a) or is_error(b):
        return is_error(a) and is_error(b)
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool) and isinstance(b, bool) and a == b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return bool(abs(a - b) <= rel * max(1.0, abs(a), abs(b)))
    return type(a) is type(b) and bool(a == b)


def differences(
    one: Mapping[str, Mapping[str, Any]], other: Mapping[str, Mapping[str, Any]], cells: Mapping[str, Iterable[str]], rel: float = 1e-9
) -> list[str]:
    """Cells on which two readers differ, as one line each; a cell that a reader does not know counts as empty."""
    out = []
    for sheet, addresses in cells.items():
        for address in addresses:
            a, b = one.get(sheet, {}).get(address), other.get(sheet, {}).get(address)
            if not same(a, b, rel):
                out.append(f"{sheet}!{address}: {a!r} against {b!r}")
    return out
