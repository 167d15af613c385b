"""A PDF beside a workbook, by LibreOffice when it is there.

Here: finding LibreOffice, one conversion in a profile of its own. Not here: what is printed (`book`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gpuecon_xl.errors import BadFile

TIMEOUT_S = 180
_PLACES = ("/Applications/LibreOffice.app/Contents/MacOS/soffice", r"C:\Program Files\LibreOffice\program\soffice.exe")
_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>{locale}</value></prop></item>
</oor:items>
"""
_LOCALES = {"en": "en-GB", "de": "de-DE", "da": "da-DK"}


def office() -> str:
    """The program.

    Raises
    ------
    BadFile
        When it is not there: what to do.
    """
    found = shutil.which("soffice") or shutil.which("libreoffice") or next((p for p in _PLACES if Path(p).exists()), None)
    if found is None:
        raise BadFile("--pdf needs LibreOffice, and soffice is not on the path; install LibreOffice, or print the workbook from Excel")
    return found


def convert(books: Sequence[Path], lang: str, folder: Path) -> list[Path]:
    """PDF files of workbooks, in a folder; the numbers look as in the language.

    Raises
    ------
    BadFile
        When LibreOffice is not there or writes nothing.
    """
    program = office()
    with tempfile.TemporaryDirectory(prefix="gpuecon-office-", ignore_cleanup_errors=True) as home:
        user = Path(home) / "profile" / "user"
        user.mkdir(parents=True)
        (user / "registrymodifications.xcu").write_text(_PROFILE.format(locale=_LOCALES[lang]), encoding="utf-8")
        profile = f"-env:UserInstallation={(Path(home) / 'profile').as_uri()}"
        out = Path(home) / "out"
        try:
            done = subprocess.run([program, profile, "--headless", "--norestore", "--convert-to", "pdf", "--outdir", str(out), *map(str, books)],
                                  capture_output=True, text=True, timeout=TIMEOUT_S + len(books) * 5, check=False)  # fmt: skip
        except subprocess.TimeoutExpired:
            raise BadFile(f"LibreOffice did not answer in {TIMEOUT_S} seconds; try again, or print the workbook from Excel") from None
        made = []
        for book in books:
            part = out / f"{book.stem}.pdf"
            if not part.is_file():
                raise BadFile(f"LibreOffice wrote no PDF of {book.name}: {(done.stderr or done.stdout).strip()[-200:] or 'no message'}")
            target = folder / part.name
            shutil.copyfile(part, folder / f".{part.name}.part")
            os.replace(folder / f".{part.name}.part", target)
            made.append(target)
        return made
