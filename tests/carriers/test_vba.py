"""The add-in as a file: its VBA read back by olevba, its parts by openpyxl, its writer against formats that others read."""

from __future__ import annotations

import contextlib
import io
import random
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import olefile
import openpyxl
import pytest

from gpuecon_xl import cli
from gpuecon_xl.carriers import excel_setup, ovba, vba
from gpuecon_xl.carriers.excel_setup import BAD, LOOK, OK, Machine
from gpuecon_xl.carriers.texts import WHY, WHY_ARGUMENTS
from gpuecon_xl.errors import BadFile, BadValue
from gpuecon_xl.functions_table import CATEGORY, FUNCTIONS

with warnings.catch_warnings():  # olevba spells its parser's methods in a way that pyparsing is about to drop
    warnings.simplefilter("ignore")
    from oletools.olevba import VBA_Parser, decompress_stream

KINDS = (".xlam", ".xlsm")
MAIN = {".xlam": "application/vnd.ms-excel.addin.macroEnabled.main+xml", ".xlsm": "application/vnd.ms-excel.sheet.macroEnabled.main+xml"}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("addin")
    for kind in KINDS:
        vba.build_addin(folder / f"gpuecon{kind}", python=r"C:\Py & Co\pythonw.exe")
    return {kind: folder / f"gpuecon{kind}" for kind in KINDS}


def _xml(data: bytes) -> ElementTree.Element:
    return ElementTree.fromstring(data)  # noqa: S314  (made a moment ago by the code under test)


def modules(path: Path) -> dict[str, str]:
    """Source of every module, as olevba reads it."""
    parser = VBA_Parser(str(path))
    found = {name.rpartition(".")[0]: code for _, _, name, code in parser.extract_macros()}
    parser.close()
    return found


# ------------------------------------------------------------------------------------------------ compression and container


@pytest.mark.parametrize(
    "data",
    [b"a", b"#aaabcdefaaaaghijaaaaaklaaamnopqaaaaaaaaaaaarstuvwxyzaaa", b"x" * 4096, b"x" * 4097, b"abcdefgh" * 3000, bytes(range(256)) * 64],
    ids=["one", "published", "chunk", "more", "pattern", "bytes"],
)
def test_compression(data: bytes) -> None:
    packed = ovba.compress(data)
    assert ovba.decompress(packed) == data
    assert bytes(decompress_stream(bytearray(packed))) == data


def test_compression_of_the_published_examples() -> None:
    """[MS-OVBA] 3.2; where the second one could copy from several places, the specification takes another one than we do."""
    plain = bytes.fromhex("0119b000616263646566676800696a6b6c6d6e6f70007172737475762e")
    assert ovba.decompress(plain) == b"abcdefghijklmnopqrstuv."
    assert ovba.compress(b"abcdefghijklmnopqrstuv.") == plain
    text = b"#aaabcdefaaaaghijaaaaaklaaamnopqaaaaaaaaaaaarstuvwxyzaaa"
    packed = bytes.fromhex("012fb000236161616263646582660070616768696a013808616b6c00306d6e6f700671027004107273747576107778797a003c")
    assert ovba.decompress(packed) == text
    assert len(ovba.compress(text)) == len(packed)
    assert ovba.compress(b"a" * 73) == bytes.fromhex("0103b002614500")


def test_compression_of_what_does_not_shrink() -> None:
    data = random.Random(1).randbytes(2 * 4096)
    assert ovba.decompress(ovba.compress(data)) == data == bytes(decompress_stream(bytearray(ovba.compress(data))))


def test_compression_of_real_source() -> None:
    data = (vba.runtime_module() + vba.functions_module()).encode("cp1252")
    assert ovba.decompress(ovba.compress(data)) == data == bytes(decompress_stream(bytearray(ovba.compress(data))))


@pytest.mark.parametrize("data", [b"", b"\x02abc", b"\x01\xff\xff"])
def test_damaged_compression_is_refused_or_ends(data: bytes) -> None:
    with contextlib.suppress(BadFile):
        ovba.decompress(data)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 8, 40])
def test_container_is_read_by_others(count: int) -> None:
    rng = random.Random(count)
    streams = {f"VBA/m{i}": rng.randbytes(rng.choice((0, 1, 63, 64, 65, 4095, 4096, 9000))) for i in range(count)} | {"PROJECT": b"p" * 5000}
    data = ovba.write_container(streams)
    assert ovba.read_container(data) == streams
    other = olefile.OleFileIO(io.BytesIO(data), raise_defects=olefile.DEFECT_POTENTIAL)
    assert {"/".join(p): other.openstream(p).read() for p in other.listdir()} == streams


@pytest.mark.parametrize("data", [b"", b"PK\3\4" + bytes(600), b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"])
def test_no_container_is_refused(data: bytes) -> None:
    with pytest.raises(BadFile):
        ovba.Project(data)


# ------------------------------------------------------------------------------------------------ the VBA


@pytest.mark.parametrize("kind", KINDS)
def test_modules_read_back(packages: dict[str, Path], kind: str) -> None:
    found = modules(packages[kind])
    assert {"ThisWorkbook", "xlwings", "gpuecon", "Dictionary"} <= set(found)
    assert "Module1" not in found
    text = found["gpuecon"].replace("\r\n", "\n")
    assert text.rstrip("\n") == f'Attribute VB_Name = "gpuecon"\n{vba.functions_module()}'.rstrip("\n")
    assert "GpueconRegister" in found["ThisWorkbook"]
    assert 'PROJECT_NAME As String = "gpuecon"' in found["xlwings"]
    assert "BSD 3-clause" in found["xlwings"]


@pytest.mark.parametrize("kind", KINDS)
def test_wrappers_are_those_of_the_table(packages: dict[str, Path], kind: str) -> None:
    raw = ovba.Project(zipfile.ZipFile(packages[kind]).read("xl/vbaProject.bin")).modules["gpuecon"].source
    wanted = {f.excel: (f.arguments, f.required) for f in FUNCTIONS} | {WHY: (WHY_ARGUMENTS, 1)}
    found = {}
    for name, arguments in re.findall(r"^Public Function (\w+)\((.*)\) As Variant$", raw, flags=re.MULTILINE):
        parts = arguments.split(", ")
        names = tuple(p.removeprefix("Optional ").removesuffix(" As Variant") for p in parts)
        required = sum(not p.startswith("Optional ") for p in parts)
        assert all(p.startswith("Optional ") for p in parts[required:])
        found[name] = (names, required)
    assert found == wanted
    for name, (arguments, _) in wanted.items():
        call = f'XLPy.CallUDF("gpuecon_xl.carriers.classic", "{name}", Array({", ".join(arguments)}), ThisWorkbook, Application.Caller)'
        assert (f"    {name} = {call}\n" if name == WHY else f"    {name} = GpueconShown({call})\n") in raw
        assert f'GpueconDescribe "{name}", ' in raw
    assert f'Category:="{CATEGORY}"' in raw


def test_source_keeps_the_limits_of_vba() -> None:
    for source in (vba.functions_module(), vba.runtime_module()):
        assert max(map(len, source.split("\n"))) <= 1023
        source.encode("cp1252")
    lines = vba.functions_module().split("\n")
    assert max(len(m) for m in re.findall(r'"((?:[^"]|"")*)"', "\n".join(lines))) <= 255
    run = longest = 0
    for line in lines:
        run = run + 1 if line.endswith(" _") else 0
        longest = max(longest, run)
    assert longest <= 24
    opened = sum(bool(re.match(r"\s*(Public|Private) (Function|Sub) ", line)) for line in lines)
    assert opened == sum(line in ("End Function", "End Sub") for line in lines)
    depth = {"If": 0, "For": 0}
    for line in (x.strip() for x in lines):
        depth["If"] += line.startswith("If ") and line.endswith(" Then")
        depth["If"] -= line == "End If"
        depth["For"] += line.startswith("For ")
        depth["For"] -= line.startswith("Next")
        assert min(depth.values()) >= 0
    assert depth == {"If": 0, "For": 0}


# ------------------------------------------------------------------------------------------------ the package


@pytest.mark.parametrize("kind", KINDS)
def test_package_is_whole(packages: dict[str, Path], kind: str) -> None:
    with zipfile.ZipFile(packages[kind]) as z:
        assert z.testzip() is None
        names = z.namelist()
        assert len(names) == len(set(names))
        assert names[0] == "[Content_Types].xml"
        types = _xml(z.read("[Content_Types].xml"))
        overrides = {e.get("PartName"): e.get("ContentType") for e in types if e.tag.endswith("Override")}
        defaults = {e.get("Extension") for e in types if e.tag.endswith("Default")}
        assert overrides["/xl/workbook.xml"] == MAIN[kind]
        assert overrides["/xl/vbaProject.bin"] == "application/vnd.ms-office.vbaProject"
        assert {str(p)[1:] for p in overrides} <= set(names)
        assert all(f"/{n}" in overrides or n.rpartition(".")[2] in defaults for n in names)
        for name in names:
            if name.endswith((".xml", ".rels")):
                _xml(z.read(name))
            if name.endswith(".rels"):
                folder = Path(name).parent.parent
                for relation in _xml(z.read(name)):
                    assert (folder / str(relation.get("Target"))).as_posix() in names
        text = b"".join(z.read(n) for n in names)
        assert b"\\Users\\" not in z.read("xl/workbook.xml")
        assert b"Felix" not in text


def as_workbook(path: Path) -> io.BytesIO:
    """A package that openpyxl opens: it knows no add-ins, so an add-in is called a workbook."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as z, zipfile.ZipFile(out, "w") as copy:
        for name in z.namelist():
            copy.writestr(name, z.read(name).replace(MAIN[".xlam"].encode(), MAIN[".xlsm"].encode()))
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_openpyxl_keeps_the_vba(packages: dict[str, Path], kind: str) -> None:
    book = openpyxl.load_workbook(as_workbook(packages[kind]), keep_vba=True)
    settings = {r[0].value: r[1].value for r in book["gpuecon.conf"].iter_rows(max_col=2)}
    assert settings["Interpreter_Win"] == r"C:\Py & Co\pythonw.exe"
    assert settings["Add_Workbook_To_PythonPath"] == "false"
    out = io.BytesIO()
    book.save(out)
    assert zipfile.ZipFile(out).read("xl/vbaProject.bin") == zipfile.ZipFile(packages[kind]).read("xl/vbaProject.bin")


@pytest.mark.parametrize("kind", KINDS)
def test_same_bytes_each_time(packages: dict[str, Path], kind: str, tmp_path: Path) -> None:
    vba.build_addin(tmp_path / f"again{kind}", python=r"C:\Py & Co\pythonw.exe")
    assert (tmp_path / f"again{kind}").read_bytes() == packages[kind].read_bytes()


def test_what_cannot_be_built_leaves_nothing(tmp_path: Path) -> None:
    for name, word in (("a.xls", ".xlam"), ("none/a.xlam", "none")):
        with pytest.raises(BadFile, match=re.escape(word)):
            vba.build_addin(tmp_path / name)
    (tmp_path / "b.xlam").write_bytes(b"mine")
    with pytest.raises(BadFile, match="--force"):
        vba.build_addin(tmp_path / "b.xlam")
    assert [p.name for p in tmp_path.iterdir()] == ["b.xlam"]
    assert (tmp_path / "b.xlam").read_bytes() == b"mine"
    vba.build_addin(tmp_path / "b.xlam", force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["b.xlam"]


# ------------------------------------------------------------------------------------------------ Excel's settings

OFFICE = r"Software\Microsoft\Office\16.0\Excel\InstallRoot", "Path"
SECURITY = r"Software\Microsoft\Office\16.0\Excel\Security"
POLICY = r"Software\Policies\Microsoft\Office\16.0\Excel\Security"


def machine(tmp_path: Path, registry: dict[tuple[str, str], Any] | None = None, **facts: Any) -> Machine:
    """A Windows machine on which all is well, but for what is given."""
    python = tmp_path / "py"
    python.mkdir(exist_ok=True)
    for bits in (32, 64):
        (python / f"xlwings{bits}-{excel_setup._version('xlwings')}.dll").touch()
    (python / "pythonw.exe").touch()
    known = {OFFICE: "C:\\Office", **(registry or {})}
    base: dict[str, Any] = {
        "windows": True, "python": python / "python.exe", "prefixes": (python,), "bits": 64, "env": {"APPDATA": str(tmp_path / "roaming")},
        "registry": lambda path, value: known.get((path, value)), "has_pywin32": True,
    }  # fmt: skip
    return Machine(**{**base, **facts})


def states(m: Machine) -> dict[str, str]:
    return {c.what: c.state for c in excel_setup.checks(m)}


def test_doctor_after_install_finds_nothing(tmp_path: Path) -> None:
    m = machine(tmp_path)
    assert states(m)["XLSTART"] == LOOK
    path, counts = excel_setup.install(machine=m)
    assert path == tmp_path / "roaming/Microsoft/Excel/XLSTART/gpuecon.xlam"
    assert counts["functions"] == len(FUNCTIONS) + 1
    book = openpyxl.load_workbook(as_workbook(path))
    assert book["gpuecon.conf"]["B1"].value == str(tmp_path / "py/pythonw.exe")
    assert set(states(m).values()) == {OK}
    with pytest.raises(BadFile, match="--force"):
        excel_setup.install(machine=m)
    excel_setup.install(force=True, machine=m)


@pytest.mark.parametrize(
    ("registry", "facts", "what", "state", "word"),
    [
        ({OFFICE: None}, {}, "Excel", BAD, "not found"),
        ({}, {"python_version": (3, 10)}, "Python", BAD, "3.11"),
        ({}, {"python": Path("/x/WindowsApps/python.exe")}, "Python", LOOK, "Store"),
        ({}, {"version": lambda _: None}, "xlwings", BAD, "pip install xlwings"),
        ({}, {"version": lambda _: "9.9"}, "xlwings", BAD, "xlwings64-9.9.dll"),
        ({}, {"has_pywin32": False}, "pywin32", BAD, "pip install pywin32"),
        ({(SECURITY, "VBAWarnings"): 4}, {}, "macros", OK, "trusted"),
        ({(SECURITY, "VBAWarnings"): 4, (SECURITY + r"\Trusted Locations", "AllLocationsDisabled"): 1}, {}, "macros", BAD, "trusted"),
        ({(POLICY, "VBAWarnings"): 3, (SECURITY, "VBAWarnings"): 1, (POLICY + r"\Trusted Locations", "AllLocationsDisabled"): 1}, {}, "macros", BAD,
         "trusted"),
        ({(POLICY, "RequireAddinSig"): 1}, {}, "add-ins", BAD, "signed"),
        ({(SECURITY, "DisableAllAddins"): 1}, {}, "add-ins", BAD, "switched off"),
        ({(SECURITY, "AccessVBOM"): 1}, {}, "VBA project access", OK, "does not need"),
        ({}, {"env": {}}, "XLSTART", BAD, "APPDATA"),
        ({}, {"env": {"APPDATA": "/c/od/roaming", "OneDrive": "/C/OD"}}, "OneDrive", LOOK, "XLSTART"),
    ],
)  # fmt: skip
def test_doctor_says_what_to_do(tmp_path: Path, registry: Any, facts: Any, what: str, state: str, word: str) -> None:
    found = next(c for c in excel_setup.checks(machine(tmp_path, registry, **facts)) if c.what == what)
    assert (found.state, word in found.text) == (state, True), found


def test_doctor_knows_an_addin_of_another_version(tmp_path: Path) -> None:
    m = machine(tmp_path)
    path, _ = excel_setup.install(machine=m)
    for bits in (32, 64):
        (tmp_path / f"py/xlwings{bits}-9.9.dll").touch()
    found = next(c for c in excel_setup.checks(machine(tmp_path, version=lambda _: "9.9")) if c.what == "XLSTART")
    assert found.state == BAD
    assert "9.9" in found.text
    path.write_bytes(b"no zip")
    assert states(m)["XLSTART"] == BAD


def test_install_elsewhere_is_refused_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadValue, match="Windows only"):
        excel_setup.install(machine=Machine(windows=False))
    if not Machine().windows:
        assert cli.main(["addin", "install"]) == 2
        assert capsys.readouterr().err.count("\n") == 1
        assert cli.main(["addin", "doctor"]) == 1
        assert "not Windows" in capsys.readouterr().out
        assert states(Machine())["system"] == BAD


@pytest.mark.parametrize(
    ("words", "code", "word"),
    [
        (["build"], 2, "OUT"), (["build", "{d}/a.zip"], 2, ".xlam"), (["build", "{d}/a.xlam", "--libreoffice"], 2, ".oxt"),
        (["build", "{d}/a.oxt", "--python", "py"], 2, "--python"), (["repair"], 2, "doctor"), (["doctor", "x.xlam"], 2, "OUT"),
        (["install", "--libreoffice"], 2, "--libreoffice"), ([], 2, "ACTION"),
        (["build", "{d}/a.xlam"], 0, ""), (["build", "{d}/b.xlsm", "--json"], 0, ""), (["build", "{d}/c.oxt"], 0, ""),
    ],
)  # fmt: skip
def test_the_command(words: list[str], code: int, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["addin", *(w.format(d=tmp_path) for w in words)]) == code
    out = capsys.readouterr()
    assert word in out.err
    assert len(list(tmp_path.iterdir())) == (code == 0)
