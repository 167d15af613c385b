"""A workbook as PDF, by LibreOffice."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from gpuecon_xl.errors import BadFile

_SECONDS = 120
_PLACES = ("/Applications/LibreOffice.app/Contents/MacOS/soffice", "C:/Program Files/LibreOffice/program/soffice.exe")


def office() -> str:
    """LibreOffice's program.

    Raises
    ------
    BadFile
        When there is none.
    """
    found = shutil.which("soffice") or shutil.which("libreoffice") or next((p for p in _PLACES if Path(p).exists()), None)
    if found is None:
        raise BadFile("a PDF needs LibreOffice, which is not found; install it, or leave out --pdf")
    return found


def pdf_bytes(workbook: bytes) -> bytes:
    """The workbook, printed; LibreOffice runs with a profile of its own."""
    program = office()
    with tempfile.TemporaryDirectory(prefix="gpuecon-") as name:
        folder = Path(name)
        (folder / "report.xlsx").write_bytes(workbook)
        profile = (folder / "profile").as_uri()
        command = [program, f"-env:UserInstallation={profile}", "--headless", "--norestore", "--convert-to", "pdf", "--outdir", name, "report.xlsx"]
        try:
            subprocess.run(command, cwd=folder, capture_output=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise BadFile(f"LibreOffice made no PDF within {_SECONDS} seconds; close it if it runs, and try again") from None
        made = folder / "report.pdf"
        if not made.exists():
            raise BadFile("LibreOffice made no PDF; try again, or leave out --pdf")
        return made.read_bytes()
