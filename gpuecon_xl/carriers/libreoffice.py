"""The functions in LibreOffice Calc: an extension (.oxt) generated from the table of functions.

Here: what Calc's cells mean where Calc tells less than other carriers, how errors go back, the parts of the extension.
Not here: what a cell means otherwise (`carriers.arguments`), what the functions compute (`functions`). Nothing here imports
LibreOffice's bridge; the generated component does.

What Calc does not tell, and what is made of it
-----------------------------------------------
- A single empty cell arrives as 0.0, as a 0 does. A name, a whole table or options: not given. A required number: refused
  (a true zero is written "0"). An optional number: not given where 0 would be refused anyway (`batch`, `context`, `gpus`,
  `utilization` where tokens divide); 0 where 0 is a good answer (`ZERO`: `price`, `share_out`, other `utilization`). There,
  leave the argument out or write "" for the default; ``A5:A5`` instead of ``A5`` is a range, and in ranges an empty cell is told.
- TRUE arrives as 1, FALSE as 0, a date as its serial number: they cannot be refused.
- A whole table is written ``Prices[[#All]]``: Calc 7.4 does not read ``Prices[#All]``.
- An error in a single cell comes back unchanged without a call; one in a range makes the whole formula Err:504.

What a cell shows
-----------------
#N/A for names that are not in the catalogue, #VALUE! for everything else that is refused, each in its own element of a range.
`GPUECON_WHY` gives the sentence where there is no answer. An answer of several cells needs an array formula. Texts that an
array formula compares at once need ``&""``: Calc takes ``FITS(…;A2:A9)="fits"`` for FALSE, ``FITS(…;A2:A9)&""="fits"`` is
right, and so is a comparison with the cells that the array formula fills.

How one function gives a number or an array
-------------------------------------------
A method declared with the type ``any`` may give a number or a text. Rows given as ``any`` are #VALUE! in Calc, because the
bridge loses the type of a nested sequence; declared as nested sequence, a single text would compare unequal to itself
(``=FITS(…)="fits"`` is FALSE). So rows go back as the result of an XVolatileResult that is ready at once.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from gpuecon_xl import __version__
from gpuecon_xl.carriers import arguments
from gpuecon_xl.functions_table import BY_NAME, FUNCTIONS, cell_name

if TYPE_CHECKING:
    from gpuecon_xl.lang import Texts

IMPLEMENTATION = "GPUECON"
IDENTIFIER = "gpuecon_xl.addin"
WHY = "gpuecon_why"
MINIMUM = "7.4"
PYTHON = (3, 11)

# Optional numbers for which 0 is a good answer: an empty cell cannot be told from it.
ZERO = frozenset(
    [(f.name, a) for f in FUNCTIONS for a in f.arguments if a in ("price", "share_out")]
    + [("tco3y", "utilization"), ("own_cost_month", "utilization")]
)  # fmt: skip

_CODES = {"#N/A": 32767, "#VALUE!": 519}


# ------------------------------------------------------------------------------------------------ between Calc and the core


def error_value(code: str) -> float:
    """The number that Calc shows as an error value: a NaN that carries the error's number."""
    number: float = struct.unpack("<d", struct.pack("<Q", 0x7FF8_0000_0000_0000 | _CODES[code]))[0]
    return number


def cells_given(function: str, raw: Sequence[Any]) -> list[Any]:
    """Arguments as the core takes them: a single 0.0 that stands for an empty cell becomes None.

    Parameters
    ----------
    function : name as in the table of functions.  raw : arguments in order; a range is rows of cells, a missing one None.
    """
    entry = BY_NAME[function]
    given = []
    for i, value in enumerate(raw):
        argument = entry.arguments[i] if i < len(entry.arguments) else ""
        number = i >= entry.required and (function, argument) in ZERO
        given.append(None if isinstance(value, float) and value == 0 and not number else value)
    return given


def cell_answer(function: str, raw: Sequence[Any]) -> Any:
    """The answer to one call from Calc: a number, a text, or a tuple of rows of them.

    Parameters
    ----------
    function : name as in the table of functions, or `WHY`.  raw : arguments in order as Calc hands them over.

    Returns
    -------
    Refused cells are numbers that Calc shows as an error value.
    """
    if function == WHY:
        return _why(raw)
    return _shown(arguments.answer(function, cells_given(function, raw)))


def _why(raw: Sequence[Any]) -> Any:
    """The steps behind an answer; where there is none, the sentence that says why."""
    wanted = str(raw[0]).strip().lower() if raw else ""
    given = [raw[0], *cells_given(wanted, raw[1:])] if wanted in BY_NAME else list(raw)
    found = arguments.why_rows(given)
    return found.sentence if isinstance(found, arguments.Refused) else _shown(found)


def _shown(answer: Any) -> Any:
    if isinstance(answer, list):
        return tuple(tuple(_shown(cell) for cell in row) for row in answer)
    if isinstance(answer, arguments.Refused):
        return error_value(answer.code)
    return answer if isinstance(answer, str) else float(answer)


# ------------------------------------------------------------------------------------------------ the extension


def build_oxt(path: Path, force: bool = False) -> dict[str, int]:
    """Write the extension.

    Parameters
    ----------
    path : file to make, usually ``gpuecon.oxt``; an existing one is kept unless `force`.

    Returns
    -------
    Counts: functions, languages, files, bytes. The same package and catalogue give the same bytes.
    """
    from gpuecon_xl.files import check_target, written_whole
    from gpuecon_xl.lang import LANGUAGES

    check_target(path, force)
    parts = extension_parts()
    with written_whole(path) as (part,), zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            info = zipfile.ZipInfo(name, date_time=(2026, 11, 30, 0, 0, 0))  # a file's dates must not change its bytes
            info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            archive.writestr(info, text.encode("utf-8"))
    return {"functions": len(FUNCTIONS) + 1, "languages": len(LANGUAGES), "files": len(parts), "bytes": path.stat().st_size}


def extension_parts() -> dict[str, str]:
    """Every file of the extension, by its path inside."""
    from gpuecon_xl.carriers.lite import carried
    from gpuecon_xl.lang import LANGUAGES, load

    texts = {lang: load(lang) for lang in LANGUAGES}
    own = Path(__file__)
    package = {**carried(), f"gpuecon_xl/carriers/{own.name}": own.read_text(encoding="utf-8")}
    return {
        "META-INF/manifest.xml": _manifest(),
        "description.xml": _description(texts),
        **{f"about_{lang}.txt": text("addin.about") + "\n" for lang, text in texts.items()},
        "XGpuecon.idl": _interface(),
        "CalcAddIns.xcu": _wizard(texts),
        "gpuecon_addin.py": _component(),
        **{f"pythonpath/{name}": text for name, text in sorted(package.items())},
    }


def _methods() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Method of the interface, by function: its name there and the function's arguments."""
    from gpuecon_xl.carriers.texts import WHY_ARGUMENTS

    held = {f.name: f.arguments for f in FUNCTIONS} | {WHY: WHY_ARGUMENTS}
    return {name: (cell_name(name, "libreoffice").partition(".")[2].lower(), given) for name, given in held.items()}


_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_UNO = "application/vnd.sun.star"


def _manifest() -> str:
    kinds = {
        "XGpuecon.idl": f"{_UNO}.uno-typelibrary;type=RDB",
        "gpuecon_addin.py": f"{_UNO}.uno-component;type=Python",
        "CalcAddIns.xcu": f"{_UNO}.configuration-data",
    }
    rows = "".join(f' <manifest:file-entry manifest:media-type="{kind}" manifest:full-path="{name}"/>\n' for name, kind in kinds.items())
    return f'{_XML}<manifest:manifest xmlns:manifest="http://openoffice.org/2001/manifest">\n{rows}</manifest:manifest>\n'


def _description(texts: dict[str, Texts]) -> str:
    names = "".join(f'  <name lang="{lang}">{escape(text("addin.title"))}</name>\n' for lang, text in texts.items())
    about = "".join(f'  <src lang="{lang}" xlink:href="about_{lang}.txt"/>\n' for lang in texts)
    return (
        f'{_XML}<description xmlns="http://openoffice.org/extensions/description/2006" xmlns:d="http://openoffice.org/extensions/description/2006"\n'
        ' xmlns:l="http://libreoffice.org/extensions/description/2011" xmlns:xlink="http://www.w3.org/1999/xlink">\n'
        f' <identifier value="{IDENTIFIER}"/>\n <version value="{__version__}"/>\n'
        f' <dependencies>\n  <l:LibreOffice-minimal-version value="{MINIMUM}" d:name="LibreOffice {MINIMUM}"/>\n </dependencies>\n'
        f" <display-name>\n{names} </display-name>\n <extension-description>\n{about} </extension-description>\n</description>\n"
    )


def _interface() -> str:
    """The interface: every function a method; its language allows no underscore in a name."""
    lines = []
    for method, given in _methods().values():
        lines.append(f"    any {method}({', '.join(f'[in] any {_parameter(a)}' for a in given)});")
    return "module gpuecon {\n  interface XGpuecon {\n" + "\n".join(lines) + "\n  };\n};\n"


def _parameter(argument: str) -> str:
    return argument.replace("_", "")


def _wizard(texts: dict[str, Texts]) -> str:
    """What the function wizard shows, in three languages."""

    def prop(name: str, values: dict[str, str]) -> str:
        return f'<prop oor:name="{name}">' + "".join(f'<value xml:lang="{lang}">{escape(text)}</value>' for lang, text in values.items()) + "</prop>"

    rows = []
    for function, (method, given) in _methods().items():
        rows.append(f'    <node oor:name="{method}" oor:op="replace">')
        rows.append("     " + prop("DisplayName", dict.fromkeys(texts, function.upper())))
        rows.append("     " + prop("Description", {lang: _purpose(function, text) for lang, text in texts.items()}))
        rows.append('     <prop oor:name="Category"><value>Add-In</value></prop>')
        rows.append('     <node oor:name="Parameters">')
        for argument in given:
            rows.append(f'      <node oor:name="{_parameter(argument)}" oor:op="replace">')
            rows.append("       " + prop("DisplayName", dict.fromkeys(texts, argument)))
            rows.append("       " + prop("Description", {lang: _argument(function, argument, text) for lang, text in texts.items()}))
            rows.append("      </node>")
        rows.append("     </node>\n    </node>")
    body = "\n".join(rows)
    return (
        f'{_XML}<oor:component-data xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema"\n'
        ' oor:name="CalcAddIns" oor:package="org.openoffice.Office">\n'
        f' <node oor:name="AddInInfo">\n  <node oor:name="{IMPLEMENTATION}" oor:op="replace">\n   <node oor:name="AddInFunctions">\n'
        f"{body}\n   </node>\n  </node>\n </node>\n</oor:component-data>\n"
    )


def _purpose(function: str, texts: Texts) -> str:
    if function == WHY:
        return texts("addin.why")
    return f"{texts(f'function.{function}')} {texts('addin.unit', unit=BY_NAME[function].unit)}"


def _argument(function: str, argument: str, texts: Texts) -> str:
    """What an argument means, with its default and a warning where an empty cell is a zero."""
    from gpuecon_xl.carriers.texts import WHY_ARGUMENTS
    from gpuecon_xl.functions_table import _DEFAULTS

    if function == WHY:
        if argument == WHY_ARGUMENTS[0]:
            return texts("addin.why_function")
        return texts("addin.why_argument", number=argument.rpartition("_")[2])
    entry = BY_NAME[function]
    parts = [texts(f"argument.{argument}")]
    if entry.arguments.index(argument) < entry.required:
        parts.append(texts("addin.required"))  # the wizard calls every argument of this kind optional
    default = dict(entry.defaults).get(argument, _DEFAULTS.get(argument, ""))
    if default and entry.arguments.index(argument) >= entry.required:
        left_out = texts("addin.default", value=default)
        parts = [parts[0].partition(f"; {left_out.partition(':')[0]}:")[0], left_out]
    if (function, argument) in ZERO:
        parts.append(texts("addin.zero"))
    return "; ".join(parts)


_COMPONENT = '''\
"""The functions of gpuecon_xl in Calc. Generated; do not edit."""

import os
import sys

if sys.version_info < @PYTHON@:
    raise ImportError("gpuecon_xl needs Python @VERSION@ or later; this LibreOffice runs %d.%d" % sys.version_info[:2])

import uno
import unohelper
from com.sun.star.lang import XServiceInfo
from com.sun.star.sheet import XAddIn, XVolatileResult

try:
    from gpuecon import XGpuecon
except ImportError:  # while the extension is being installed the interface is not known yet
    XGpuecon = None

_own = os.path.join(os.path.dirname(__file__), "pythonpath")
if _own in sys.path:
    sys.path.remove(_own)
sys.path.insert(0, _own)  # before any other copy of the package

from gpuecon_xl.carriers.libreoffice import cell_answer

NAME = "@NAME@"
SERVICES = ("com.sun.star.sheet.AddIn", NAME)
METHODS = @METHODS@
ARGUMENTS = @ARGUMENTS@


class Rows(unohelper.Base, XVolatileResult):
    """An answer of several cells, ready at once."""

    def __init__(self, rows):
        self.rows = rows

    def addResultListener(self, listener):
        event = uno.createUnoStruct("com.sun.star.sheet.ResultEvent")
        event.Value = uno.Any("[][]any", self.rows)
        listener.modified(event)

    def removeResultListener(self, listener):
        pass


_held = {}


def answer(function, cells):
    found = cell_answer(function, cells)
    if not isinstance(found, tuple):
        return found
    # the same question is the same object: Calc keeps one listener for each
    key = function, repr(cells)
    if key not in _held:
        if len(_held) >= 256:
            _held.clear()
        _held[key] = Rows(found)
    return _held[key]


class AddIn(unohelper.Base, XAddIn, XServiceInfo, *([XGpuecon] if XGpuecon else [])):
    def __init__(self, context):
        self.locale = uno.createUnoStruct("com.sun.star.lang.Locale")

@FUNCTIONS@
    def getProgrammaticFuntionName(self, display):
        return next((m for m, name in METHODS.items() if name == display.upper()), "")

    def getDisplayFunctionName(self, method):
        return METHODS.get(method, "")

    def getFunctionDescription(self, method):
        return ""

    def getDisplayArgumentName(self, method, number):
        return ARGUMENTS[method][number]

    def getArgumentDescription(self, method, number):
        return ""

    def getProgrammaticCategoryName(self, method):
        return "Add-In"

    def getDisplayCategoryName(self, method):
        return "Add-In"

    def setLocale(self, locale):
        self.locale = locale

    def getLocale(self):
        return self.locale

    def getImplementationName(self):
        return NAME

    def supportsService(self, service):
        return service in SERVICES

    def getSupportedServiceNames(self):
        return SERVICES


g_ImplementationHelper = unohelper.ImplementationHelper()
g_ImplementationHelper.addImplementation(AddIn, NAME, SERVICES)
'''


def _component() -> str:
    methods = _methods()
    functions = [f'    def {method}(self, *cells):\n        return answer("{name}", cells)\n' for name, (method, _) in methods.items()]
    filled = {
        "PYTHON": repr(PYTHON),
        "VERSION": ".".join(map(str, PYTHON)),
        "NAME": IMPLEMENTATION,
        "METHODS": repr({method: name.upper() for name, (method, _) in methods.items()}),
        "ARGUMENTS": repr(dict(methods.values())),
        "FUNCTIONS": "\n".join(functions),
    }
    text = _COMPONENT
    for key, value in filled.items():
        text = text.replace(f"@{key}@", value)
    return text
