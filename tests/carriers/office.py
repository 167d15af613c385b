"""LibreOffice with the extension, without installing it anywhere: workbooks are recalculated in a private profile."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import xlsxwriter
from oracles import _ALWAYS_RECALCULATE, SOFFICE, cached_values, python_with_uno

from gpuecon_xl.carriers.libreoffice import build_oxt


def absent() -> str:
    """What is missing for these tests; empty when nothing is."""
    if SOFFICE is None:
        return "soffice is not on the path"
    program = Path(SOFFICE).resolve().parent
    if not any((program / name).exists() for name in ("pythonloader.py", "libpythonloaderlo.so")) or python_with_uno() is None:
        return "LibreOffice cannot run Python: python3-uno or libreoffice-script-provider-python is missing"
    return ""


class Office:
    """The extension unpacked in a folder that only this profile looks into; nothing is left when the folder is removed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.oxt = folder / "gpuecon.oxt"
        build_oxt(self.oxt)
        with zipfile.ZipFile(self.oxt) as archive:
            archive.extractall(folder / "extensions" / "gpuecon")
        user = folder / "profile" / "user"
        user.mkdir(parents=True)
        (user / "registrymodifications.xcu").write_text(_ALWAYS_RECALCULATE, encoding="utf-8")

    def command(self, *arguments: str) -> list[str]:
        """A command line of LibreOffice in this profile."""
        assert SOFFICE is not None
        places = {"UserInstallation": self.folder / "profile", "BUNDLED_EXTENSIONS": self.folder / "extensions"}
        return [SOFFICE, *(f"-env:{k}={v.as_uri()}" for k, v in places.items()), "--headless", "--norestore", *arguments]

    def recalculated(self, book: Path) -> dict[str, dict[str, Any]]:
        """Values of a workbook after LibreOffice has computed every cell."""
        out = self.folder / "out"
        out.mkdir(exist_ok=True)
        (out / book.name).unlink(missing_ok=True)
        # LibreOffice looks for its Python on the path: one of a virtual environment would lack the bridge
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))} | {"PATH": "/usr/local/bin:/usr/bin:/bin"}
        command = self.command("--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", str(out), str(book))
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
        assert (out / book.name).exists(), done.stderr or done.stdout
        return cached_values(out / book.name)

    def column(self, formulas: Sequence[str], cells: dict[str, Any] | None = None) -> list[Any]:
        """Values of formulas, one below the other, beside the given cells ("D3": value)."""
        book = self.folder / "column.xlsx"
        with xlsxwriter.Workbook(book) as made:
            sheet = made.add_worksheet("S")
            for address, value in (cells or {}).items():
                (sheet.write_formula if isinstance(value, str) and value.startswith("=") else sheet.write)(address, value)
            for row, formula in enumerate(formulas):
                sheet.write_formula(row, 0, formula, None, "stale")
        values = self.recalculated(book)["S"]
        return [values.get(f"A{row}") for row in range(1, len(formulas) + 1)]

    def array(self, formula: str, area: str, cells: dict[str, Any]) -> dict[str, Any]:
        """Values of the cells of an array formula's area."""
        book = self.folder / "array.xlsx"
        with xlsxwriter.Workbook(book) as made:
            sheet = made.add_worksheet("S")
            for address, value in cells.items():
                sheet.write(address, value)
            sheet.write_array_formula(area, "{" + formula + "}", None, "stale")
        return self.recalculated(book)["S"]

    def close(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)
