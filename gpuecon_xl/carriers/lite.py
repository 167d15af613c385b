"""The functions in xlwings Lite: one generated ``main.py`` that carries core and catalogue, and its place in a workbook.

Here: the text of main.py, and the parts of an .xlsx in which xlwings Lite keeps it. Not here: what a cell means
(`carriers.arguments`), what the functions compute (`functions`), the add-in itself (from the Office store, not bundled).

How it works
------------
xlwings Lite runs Python inside Excel's browser. It cannot read a wheel from a disk, and this package is published nowhere,
so main.py brings the package along: sources of the modules that the functions need and the catalogue, compressed. When
main.py is loaded they are unpacked into a temporary folder of that browser tab and imported from there. Nothing is
fetched from a network, and neither numpy nor pandas is needed.

What a cell shows
-----------------
- An answer: the number or text; rows spill.
- One cell refused: the function raises, xlwings Lite shows #VALUE! with the sentence on hover. A name that is not in the
  catalogue is #VALUE! too: only by returning the text "#N/A" could it be #N/A, and the sentence with the nearest names
  would be lost.
- A range in which some elements are refused: these elements are #N/A (names) or #VALUE!, without a sentence; ask for one
  of them alone to read it. A blank row gives a blank.

What was tested
---------------
The parts are read back and the workbook is opened by openpyxl and LibreOffice; main.py runs in plain Python and in Pyodide
under Node with a stand-in for xlwings, and so does the wheel in place of main.py's own copy. It was never opened in a real Excel.
"""

from __future__ import annotations

import ast
import base64
import csv
import datetime as dt
import hashlib
import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from gpuecon_xl import __version__
from gpuecon_xl.carriers.texts import WHY, WHY_ARGUMENTS, WHY_PURPOSE, argument_text, purpose, why_text
from gpuecon_xl.catalog import Catalog, shipped
from gpuecon_xl.errors import BadFile
from gpuecon_xl.files import written_whole
from gpuecon_xl.functions_table import FUNCTIONS, Function
from gpuecon_xl.schema import TABLES

PACKAGE = "gpuecon_xl"
HERE = Path(__file__).resolve().parents[1]
ROOTS = ("gpuecon_xl.carriers.arguments",)
# reads files, searches and draws over arrays, which a cell never asks for
LEFT_OUT = frozenset(f"gpuecon_xl.{m}" for m in ("reader", "planning", "montecarlo", "cashflow"))
LINE = 120

# xlwings Lite brings xlwings along and lists it here; nothing else is needed.
REQUIREMENTS = "xlwings<1.0.0\n"
PYODIDE = "0.27.5"
ADDIN = "1.0.0.0-18"
STORE_ID = "wa200008175"
# One for all workbooks: it tells this add-in's instance from another one in the same workbook.
INSTANCE = "{6F0C0B52-5C1B-5D0E-9B5A-3C7C0E6D8F11}"


# ------------------------------------------------------------------------------------------------ what main.py carries


def modules() -> dict[str, Path]:
    """Modules that the functions need and their files, found from import statements, those inside functions too."""
    found: dict[str, Path] = {}
    todo = list(ROOTS)
    while todo:
        name = todo.pop()
        path = _source(name)
        if path is None or name in found or any(name == m or name.startswith(f"{m}.") for m in LEFT_OUT):
            continue
        found[name] = path
        todo.append(name.rpartition(".")[0])
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                todo += [a.name for a in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                todo += [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
    return dict(sorted(found.items()))


def _source(name: str) -> Path | None:
    """The file of a module of this package; None for anything else."""
    first, *rest = name.split(".")
    if first != PACKAGE:
        return None
    place = HERE.joinpath(*rest)
    for path in (place / "__init__.py", place.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def carried(catalog: Catalog | None = None) -> dict[str, str]:
    """Files that main.py carries: modules, English texts, the catalogue."""
    files = {f"{PACKAGE}/{path.relative_to(HERE).as_posix()}": path.read_text(encoding="utf-8") for path in modules().values()}
    files[f"{PACKAGE}/lang/en.toml"] = (HERE / "lang" / "en.toml").read_text(encoding="utf-8")
    held = shipped() if catalog is None else catalog
    files |= {f"{PACKAGE}/_catalog/{name}.csv": _csv(held, name) for name in TABLES}
    return dict(sorted(files.items()))


def _csv(catalog: Catalog, table: str) -> str:
    """A table of the catalogue as the text of a CSV file."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    fields = [f.name for f in TABLES[table].fields]
    writer.writerow(fields)
    rows = list(catalog.rows(table))
    if table == "assumptions":  # an older workbook lacks some; the catalogue holds their shipped value
        have = {r["name"] for r in rows}
        rows += [r for r in shipped().rows(table) if r["name"] not in have]
    writer.writerows([[_text(row.get(f)) for f in fields] for row in rows])
    return out.getvalue()


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return value.isoformat() if isinstance(value, dt.date) else str(value)


# ------------------------------------------------------------------------------------------------ main.py

_HEAD = '''\
"""gpuecon_xl {version}: economics of LLM inference on GPUs, as functions in cells, for xlwings Lite.

Generated; do not edit. Functions come first; the text at the end is the package itself with its catalogue, compressed.
Nothing is fetched from a network.
"""

import base64
import importlib
import json
import os
import sys
import tempfile
import zlib

from xlwings import arg, func

_DIGEST = "{digest}"


class Refusal(ValueError):
    """Why a cell cannot be answered."""


def _shown(found):
    """An answer as cells show it: one refused cell raises, refused elements of a range are error texts."""
    if isinstance(found, _arguments.Refused):
        raise Refusal(found.sentence)
    if isinstance(found, list):
        return [[cell.code if isinstance(cell, _arguments.Refused) else cell for cell in row] for row in found]
    return found


def _answer(function, *cells):
    return _shown(_arguments.answer(function, cells))
'''

_TAIL = '''

def _load():
    """The package, unpacked into a temporary folder of this browser tab and imported from there, once."""
    if getattr(sys.modules.get("{package}"), "__digest__", None) != _DIGEST:
        for name in [m for m in sys.modules if m.partition(".")[0] == "{package}"]:
            del sys.modules[name]
        folder = tempfile.mkdtemp(prefix="{package}-")
        for path, text in json.loads(zlib.decompress(base64.b64decode(_ARCHIVE))).items():
            place = os.path.join(folder, *path.split("/"))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w", encoding="utf-8", newline="\\n") as file:
                file.write(text)
        sys.path.insert(0, folder)
        importlib.invalidate_caches()
        importlib.import_module("{package}").__digest__ = _DIGEST
    return importlib.import_module("{package}.carriers.arguments")


_ARCHIVE = """
{archive}
"""

_arguments = _load()
'''


def main_py(catalog: Catalog | None = None) -> str:
    """The text of main.py: the same for the same package and catalogue.

    Parameters
    ----------
    catalog : facts that the functions use; None is the shipped catalogue.
    """
    raw = json.dumps(carried(catalog), ensure_ascii=False, sort_keys=True).encode("utf-8")
    packed = base64.b64encode(zlib.compress(raw, 9)).decode("ascii")
    lines = [packed[i : i + LINE] for i in range(0, len(packed), LINE)]
    head = _HEAD.format(version=__version__, digest=hashlib.sha256(raw).hexdigest()[:16])
    tail = _TAIL.format(package=PACKAGE, archive="\n".join(lines))
    return "".join([head, *(_function(f) for f in FUNCTIONS), _why(), tail])


def _function(f: Function) -> str:
    """One thin function of main.py."""
    docs = [(a, argument_text(f, a)) for a in f.arguments]
    return _definition(f.name, docs, f.required, f"{purpose(f)} Unit: {f.unit}.", ", ".join([f'_answer("{f.name}"', *f.arguments]) + ")")


def _why() -> str:
    """The function that shows the steps behind an answer."""
    docs = [(a, why_text(a)) for a in WHY_ARGUMENTS]
    return _definition(WHY.lower(), docs, 1, WHY_PURPOSE, f"_shown(_arguments.why_rows([{', '.join(WHY_ARGUMENTS)}]))")


def _definition(name: str, docs: list[tuple[str, str]], required: int, what: str, call: str) -> str:
    signature = [a if i < required else f"{a}=None" for i, (a, _) in enumerate(docs)]
    lines = ["", "", "@func"]
    lines += [f"@arg({json.dumps(a)}, doc={json.dumps(doc, ensure_ascii=False)}, ndim=2, err_to_str=True)" for a, doc in docs]
    lines += [f"def {name}({', '.join(signature)}):", f'    """{what}"""', f"    return {call}", ""]
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------ parts of a workbook

_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.microsoft.com/office"
_FOLDER = "xl/webextensions"
_TASKPANES, _EXTENSION = f"{_FOLDER}/taskpanes.xml", f"{_FOLDER}/webextension1.xml"


def parts(main: str) -> dict[str, str]:
    """The parts of a workbook that hold a project of xlwings Lite, by name."""
    settings = {"main.py": main, "requirements.txt": REQUIREMENTS, "pyodideVersion": PYODIDE, "addinVersion": ADDIN}
    held = "".join(f"<we:property name={quoteattr(k)} value={quoteattr(json.dumps(v, ensure_ascii=False))}/>" for k, v in settings.items())
    extension = (
        f'{_XML}<we:webextension xmlns:we="{_OFFICE}/webextensions/webextension/2010/11" id="{INSTANCE}">'
        f'<we:reference id="{STORE_ID}" version="1.0.0.0" store="en-US" storeType="OMEX"/>'
        f'<we:alternateReferences><we:reference id="{STORE_ID}" version="1.0.0.0" store="{STORE_ID}" storeType="OMEX"/></we:alternateReferences>'
        f'<we:properties>{held}</we:properties><we:bindings/><we:snapshot xmlns:r="{_RELATIONS}"/></we:webextension>'
    )
    taskpanes = (
        f'{_XML}<wetp:taskpanes xmlns:wetp="{_OFFICE}/webextensions/taskpanes/2010/11">'
        f'<wetp:taskpane dockstate="right" visibility="1" width="350" row="1">'
        f'<wetp:webextensionref xmlns:r="{_RELATIONS}" r:id="rId1"/></wetp:taskpane></wetp:taskpanes>'
    )
    relations = (
        f'{_XML}<Relationships xmlns="{_PACKAGE}"><Relationship Id="rId1" '
        f'Type="{_OFFICE}/2011/relationships/webextension" Target="webextension1.xml"/></Relationships>'
    )
    return {_EXTENSION: extension, _TASKPANES: taskpanes, f"{_FOLDER}/_rels/taskpanes.xml.rels": relations}


_ROOT_RELATION = f'<Relationship Id="rIdLite" Type="{_OFFICE}/2011/relationships/webextensiontaskpanes" Target="{_TASKPANES}"/>'
_TYPES = (
    f'<Override PartName="/{_TASKPANES}" ContentType="application/vnd.ms-office.webextensiontaskpanes+xml"/>'
    f'<Override PartName="/{_EXTENSION}" ContentType="application/vnd.ms-office.webextension+xml"/>'
)
_ENDS = {"[Content_Types].xml": (_TYPES, "</Types>"), "_rels/.rels": (_ROOT_RELATION, "</Relationships>")}


def inject(path: Path, main: str | None = None) -> None:
    """Put main.py into a finished workbook, in place; whoever saves it with openpyxl afterwards loses it.

    Parameters
    ----------
    path : an .xlsx; it is replaced when the new one is whole, the other parts stay as they are. A workbook that holds our
        project already gets the new one. The same workbook and main.py give the same bytes.
    main : text of main.py; None is `main_py` of the shipped catalogue.

    Raises
    ------
    BadFile
        When it is no workbook, or holds another add-in's parts.
    """
    new = parts(main_py() if main is None else main)
    try:
        with zipfile.ZipFile(path) as book:
            held = [(info, book.read(info)) for info in book.infolist()]
    except zipfile.BadZipFile:
        raise BadFile(f"{path} is not an .xlsx workbook; a workbook made by this product is due") from None
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}") from None
    contents = {info.filename: data for info, data in held}
    if any(name not in contents for name in (*_ENDS, "xl/workbook.xml")):
        raise BadFile(f"{path} is a zip but no .xlsx workbook; a workbook made by this product is due")
    ours = INSTANCE.encode() in contents.get(_EXTENSION, b"")
    if not ours and any(name.startswith(_FOLDER) for name in contents):
        raise BadFile(f"{path} holds the parts of another add-in; a workbook made by this product is due")
    with written_whole(path) as (part,), zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as out:
        for info, data in held:
            if info.filename in new:
                continue
            if not ours and info.filename in _ENDS:
                more, end = _ENDS[info.filename]
                data = data.decode("utf-8").replace(end, more + end).encode("utf-8")
            out.writestr(_entry(info.filename, info.date_time), data)
        for name, text in new.items():
            out.writestr(_entry(name), text.encode("utf-8"))


def _entry(name: str, when: tuple[int, int, int, int, int, int] = (1980, 1, 1, 0, 0, 0)) -> zipfile.ZipInfo:
    """An entry whose bytes do not depend on clock or system."""
    info = zipfile.ZipInfo(name, when)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 0
    info.external_attr = 0
    return info
