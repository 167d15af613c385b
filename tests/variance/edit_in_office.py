"""Edits of a workbook in running LibreOffice, by its own interface; run by a Python that has `uno`, not imported.

    python3 edit_in_office.py SOFFICE PROFILE_URI BOOK EDITS.json OUT…

EDITS is a list of [sheet, cell, value]. OUT0 is the book saved without an edit, OUT1 after the first, and so on, each
calculated as it is after the edit.
"""

import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException


def main(soffice: str, profile: str, book: str, edits: str, *outs: str) -> None:
    """Open, edit, save; LibreOffice ends with the script."""
    pipe = f"gpuecon{uuid.uuid4().hex}"
    accept = f"--accept=pipe,name={pipe};urp;"
    office = subprocess.Popen([soffice, f"-env:UserInstallation={profile}", "--headless", "--norestore", accept])
    try:
        here = uno.getComponentContext()
        resolver = here.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", here)
        end = time.monotonic() + 120
        while True:
            try:
                there = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
                break
            except NoConnectException:  # it is still starting
                if time.monotonic() > end or office.poll() is not None:
                    raise
                time.sleep(0.2)
        desktop = there.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", there)
        document = desktop.loadComponentFromURL(Path(book).as_uri(), "_blank", 0, (PropertyValue("Hidden", 0, True, 0),))
        save = (PropertyValue("FilterName", 0, "Calc MS Excel 2007 XML", 0),)
        document.storeToURL(Path(outs[0]).as_uri(), save)
        for (sheet, cell, value), out in zip(json.loads(Path(edits).read_text()), outs[1:], strict=True):
            target = document.Sheets.getByName(sheet).getCellRangeByName(cell)
            if isinstance(value, str):
                target.String = value
            else:
                target.Value = value
            document.storeToURL(Path(out).as_uri(), save)
        document.close(True)
        desktop.terminate()
        office.wait(60)
    finally:
        if office.poll() is None:
            office.kill()


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)  # the bridge's own threads may hang on the closed pipe
