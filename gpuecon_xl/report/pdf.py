"""A report's workbook as PDF, in the numbers of its language.

Here: a workbook that is in memory only. Not here: LibreOffice itself (`quote.pdf`).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from gpuecon_xl.quote import pdf


def pdf_bytes(workbook: bytes, lang: str) -> bytes:
    """The workbook, printed.

    Raises
    ------
    BadFile
        When LibreOffice is not there or writes nothing.
    """
    with tempfile.TemporaryDirectory(prefix="gpuecon-") as name:
        book = Path(name) / "report.xlsx"
        book.write_bytes(workbook)
        return pdf.convert([book], lang, Path(name))[0].read_bytes()
