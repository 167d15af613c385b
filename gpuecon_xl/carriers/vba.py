"""The add-in for Excel for Windows as a file: VBA functions that call `classic`, inside a container of xlwings' own.

Here: the text of the VBA modules, made from the table of functions; the .xlam or .xlsm that holds them. Not here: how a
VBA project is stored (`ovba`), where Excel looks for add-ins (`excel_setup`).

With the modules in the file nobody needs "Import Functions" or "Trust access to the VBA project object model". The VBA
makes true error values of the texts that `classic` gives; GPUECON_WHY leaves the text, so the reason can be read.

Never run in a real Excel: that it opens the file and compiles the modules, that the function wizard shows the texts
(``MacroOptions`` when the workbook opens), and the calls through the DLL of xlwings. What was run: the modules read back
by an independent reader, their signatures against the table, both packages opened by openpyxl (which takes the .xlam only
under the name of a workbook); LibreOffice 7.4 opened the .xlsm and took over its modules, without running them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from gpuecon_xl.carriers.ovba import Project
from gpuecon_xl.carriers.texts import LIMIT, NAMES_LIMIT, WHY, WHY_ARGUMENTS, WHY_PURPOSE, argument_text, purpose, why_text
from gpuecon_xl.errors import BadFile, BadValue
from gpuecon_xl.functions_table import CATEGORY, FUNCTIONS

MODULE = "gpuecon"
PROJECT = "gpuecon_xl"  # a project and a module of it cannot have the same name
CLASSIC = "gpuecon_xl.carriers.classic"
CONTAINERS = {".xlam": "quickstart_addin.xlam", ".xlsm": "quickstart_standalone.xlsm"}

_LINE = 1000  # VBA takes 1023 characters a line

_TAIL = """
Private Function GpueconShown(ByVal found As Variant) As Variant
    ' A refusal is a text that begins with its error value; cells want the error value itself.
    Dim r As Long, c As Long
    If IsArray(found) Then
        For r = LBound(found, 1) To UBound(found, 1)
            For c = LBound(found, 2) To UBound(found, 2)
                found(r, c) = GpueconCell(found(r, c))
            Next c
        Next r
        GpueconShown = found
    Else
        GpueconShown = GpueconCell(found)
    End If
End Function

Private Function GpueconCell(ByVal value As Variant) As Variant
    GpueconCell = value
    If VarType(value) <> vbString Then Exit Function
    If Left$(value, 4) = "#N/A" Then
        GpueconCell = CVErr(xlErrNA)
    ElseIf Left$(value, 7) = "#VALUE!" Then
        GpueconCell = CVErr(xlErrValue)
    End If
End Function

Private Sub GpueconDescribe(ByVal macro As String, ByVal purpose As String, ByVal arguments As Variant)
    Application.MacroOptions Macro:="'" & ThisWorkbook.Name & "'!" & macro, Description:=purpose, _
        Category:="{category}", ArgumentDescriptions:=arguments
End Sub
"""

_OPEN = """
Private Sub Workbook_Open()
    ' Texts of the function wizard, once Excel is at rest; without them the functions work all the same.
    On Error Resume Next
    Application.OnTime Now, "'" & ThisWorkbook.Name & "'!GpueconRegister"
End Sub
"""


# ------------------------------------------------------------------------------------------------ the text of the modules


def _quoted(text: str) -> str:
    """A text as VBA writes it."""
    plain = text.encode("ascii", "replace").decode()
    return '"' + plain.replace('"', '""') + '"'


def _wrapped(lines: Iterable[str]) -> str:
    out = "\n".join(lines)
    long = next((line for line in out.split("\n") if len(line) > _LINE), None)
    if long:
        raise BadValue(f"the VBA line {long[:40]!r} is longer than VBA takes; shorter texts are due")
    return out


def _wrapper(name: str, arguments: Sequence[str], required: int, text: str, raw: bool) -> list[str]:
    """One VBA function; `raw` keeps a refusal's sentence."""
    if sum(map(len, arguments)) + len(arguments) > NAMES_LIMIT:
        raise BadValue(f"the argument names of {name} are longer than Excel's function wizard takes")
    declared = ", ".join(f"{a} As Variant" if i < required else f"Optional {a} As Variant" for i, a in enumerate(arguments))
    call = f'XLPy.CallUDF("{CLASSIC}", "{name}", Array({", ".join(arguments)}), ThisWorkbook, Application.Caller)'
    failure = '"#VALUE! " & Err.Description' if raw else "CVErr(xlErrValue)"
    return [
        "",
        f"Public Function {name}({declared}) As Variant",
        f"Attribute {name}.VB_Description = {_quoted(text)}",
        "    On Error GoTo failed",
        f"    {name} = {call if raw else f'GpueconShown({call})'}",
        "    Exit Function",
        "failed:",
        f"    {name} = {failure}",
        "End Function",
    ]


def _all() -> list[tuple[str, Sequence[str], int, str, list[str]]]:
    """Name, arguments, how many are required, purpose and argument texts of every function."""
    found: list[tuple[str, Sequence[str], int, str, list[str]]] = []
    for f in FUNCTIONS:
        found.append((f.excel, f.arguments, f.required, purpose(f), [argument_text(f, a) for a in f.arguments]))
    found.append((WHY, WHY_ARGUMENTS, 1, WHY_PURPOSE, [why_text(a) for a in WHY_ARGUMENTS]))
    return found


def functions_module() -> str:
    """Source of the module with the functions, without the attribute of its name."""
    lines = ["' Made by gpuecon_xl from its table of functions; changes are lost when it is made again.", "Option Explicit"]
    for name, arguments, required, text, _ in _all():
        lines += _wrapper(name, arguments, required, text, name == WHY)
    lines += [
        "",
        "Public Sub GpueconRegister()",
        "    ' Excel takes no texts for a hidden workbook, so an add-in shows itself for the moment.",
        "    Dim wasAddin As Boolean, screen As Boolean",
        "    On Error Resume Next",
        "    screen = Application.ScreenUpdating",
        "    Application.ScreenUpdating = False",
        "    wasAddin = ThisWorkbook.IsAddin",
        "    If wasAddin Then ThisWorkbook.IsAddin = False",
    ]
    for name, _, _, text, texts in _all():
        lines += [f"    GpueconDescribe {_quoted(name)}, {_quoted(text[:LIMIT])}, Array( _"]
        lines += [f"        {_quoted(t[:LIMIT])}{', _' if i < len(texts) - 1 else ')'}" for i, t in enumerate(texts)]
    lines += [
        "    If wasAddin Then ThisWorkbook.IsAddin = True",
        "    ThisWorkbook.Saved = True",
        "    Application.ScreenUpdating = screen",
        "End Sub",
    ]
    return _wrapped([*lines, _TAIL.format(category=CATEGORY)])


def runtime_module() -> str:
    """Source of xlwings' own VBA, as the installed xlwings has it, told to look at our settings.

    Its functions stay inside the project, so that they neither show in the function wizard nor clash with xlwings' add-in.
    """
    text = _part(_installed() / "xlwings.bas").decode("cp1252").replace("\r\n", "\n")
    text = text.replace('Attribute VB_Name = "xlwings"\n', "", 1)
    found, count = re.subn(r'(Const PROJECT_NAME As String = )"\w+"', rf'\1"{MODULE}"', text)
    if count != 1:
        raise BadFile("the VBA of the installed xlwings is not as known; xlwings 0.33 to 0.37 is due")
    return "Option Private Module\n" + found


# ------------------------------------------------------------------------------------------------ the package


def _installed() -> Path:
    """Folder of the installed xlwings, found without importing it."""
    from importlib.util import find_spec

    spec = find_spec("xlwings")
    if spec is None or not spec.submodule_search_locations:
        raise BadFile("xlwings is not installed; pip install xlwings is due")
    return Path(spec.submodule_search_locations[0])


def _part(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise BadFile(f"xlwings has no {path.name}; another version of xlwings is due (0.33 to 0.37 have it)") from None


def _settings_sheet(sheet: str, python: str) -> str:
    """The sheet that xlwings' VBA reads its settings from: which Python to start, and not to look beside the workbook."""
    rows = [("Interpreter_Win", python), ("PYTHONPATH", ""), ("Conda Path", ""), ("Conda Env", ""), ("Add_Workbook_To_PythonPath", "false")]

    def cell(column: str, row: int, text: str) -> str:
        return f'<c r="{column}{row}" t="inlineStr"><is><t>{escape(text)}</t></is></c>' if text else ""

    data = "".join(f'<row r="{i}">{cell("A", i, key)}{cell("B", i, value)}</row>' for i, (key, value) in enumerate(rows, 1))
    sheet = re.sub(r"<sheetData>.*</sheetData>", lambda _: f"<sheetData>{data}</sheetData>", sheet, flags=re.DOTALL)
    sheet = re.sub(r'<dimension ref="[^"]*"\s*/>', f'<dimension ref="A1:B{len(rows)}"/>', sheet)
    return re.sub(r"<cols>.*?</cols>", '<cols><col min="1" max="2" width="32" customWidth="1"/></cols>', sheet, flags=re.DOTALL)


def project(container: bytes) -> bytes:
    """The VBA project of a container, with our modules in it and the sample macro out of it."""
    found = Project(container)
    found.rename(PROJECT)
    found.modules.pop("Module1", None)
    found.put("xlwings", runtime_module())
    found.put(MODULE, functions_module())
    found.modules["ThisWorkbook"].source = found.modules["ThisWorkbook"].source.rstrip("\n") + "\n" + _OPEN
    return found.to_bytes()


def build_addin(path: Path, force: bool = False, python: str = "pythonw") -> dict[str, int]:
    """Write the add-in (.xlam, for every workbook) or a workbook that has the functions in itself (.xlsm).

    Parameters
    ----------
    path : file to write.  force : overwrite it.  python : the interpreter that Excel starts, a path or a command.

    Returns
    -------
    Counts of functions and bytes. The same bytes for the same xlwings and the same interpreter.
    """
    from gpuecon_xl.files import check_target

    kind = path.suffix.lower()
    if kind not in CONTAINERS:
        raise BadFile(f"{path} does not end in .xlam or .xlsm; a name such as gpuecon.xlam is due")
    check_target(path, force)
    source = _installed() / CONTAINERS[kind]
    _part(source)
    with zipfile.ZipFile(source) as container:
        parts = {name: container.read(name) for name in container.namelist()}
    book = parts["xl/workbook.xml"].decode("utf-8")
    match = re.search(r'<sheet name="_\w+\.conf" sheetId="\d+" r:id="(\w+)"', book)
    target = match and re.search(rf'Id="{match[1]}"[^>]*Target="([^"]+)"', parts["xl/_rels/workbook.xml.rels"].decode("utf-8"))
    if not match or not target:
        raise BadFile(f"{source.name} of the installed xlwings is not as known; xlwings 0.33 to 0.37 is due")
    book = re.sub(r'<sheet name="_\w+\.conf"', f'<sheet name="{MODULE}.conf"', book)
    book = re.sub(r"<mc:AlternateContent.*?</mc:AlternateContent>", "", book, flags=re.DOTALL)  # the folder where the container was made
    parts["xl/workbook.xml"] = book.encode("utf-8")
    name = f"xl/{target[1]}"
    parts[name] = _settings_sheet(parts[name].decode("utf-8"), python).encode("utf-8")
    parts["xl/vbaProject.bin"] = project(parts["xl/vbaProject.bin"])
    core = parts["docProps/core.xml"].decode("utf-8")
    core = re.sub(r"(<dc:creator>|<cp:lastModifiedBy>)[^<]*", r"\1gpuecon_xl", core).replace("<dc:title />", f"<dc:title>{CATEGORY}</dc:title>")
    parts["docProps/core.xml"] = core.encode("utf-8")
    order = sorted(parts, key=lambda n: (n != "[Content_Types].xml", n))
    temporary = path.with_name(f".{path.name}.part")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as package:
            for part in order:
                package.writestr(zipfile.ZipInfo(part, (1980, 1, 1, 0, 0, 0)), parts[part], zipfile.ZIP_DEFLATED)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return {"functions": len(FUNCTIONS) + 1, "bytes": path.stat().st_size}
