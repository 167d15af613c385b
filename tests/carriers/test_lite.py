"""xlwings Lite: main.py and the wheel answer as the core does, in a plain Python and in Pyodide; the workbook's parts hold main.py."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import openpyxl
import pytest
from calls import PRICES, calls

from gpuecon_xl.carriers import lite
from gpuecon_xl.carriers.arguments import ERROR_TEXTS, Refused, answer, why_rows
from gpuecon_xl.carriers.texts import WHY_ARGUMENTS
from gpuecon_xl.catalog import Catalog, _load_folder, as_catalog, shipped
from gpuecon_xl.errors import BadFile
from gpuecon_xl.functions_table import BY_NAME, FUNCTIONS
from gpuecon_xl.reader import book_values
from gpuecon_xl.schema import TABLES
from gpuecon_xl.writer import write_template

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BOOK = ROOT / "workbook" / "gpuecon-lite.xlsx"
PYODIDE = {"0.27.5": "3.12", "314.0.7": "3.14"}  # version: its Python
WHY = "gpuecon_why"
WE = "{http://schemas.microsoft.com/office/webextensions/webextension/2010/11}"
MOST_BYTES = 1_000_000


@pytest.fixture(scope="session")
def main_text() -> str:
    return lite.main_py()


@pytest.fixture(scope="session")
def book(once: Callable[..., Any]) -> Path:
    """A template for xlwings Lite; read only."""

    def make(folder: Path) -> Path:
        path = folder / "lite.xlsx"
        write_template(path, catalog=shipped(), flavour="lite")
        path.chmod(0o444)
        return path

    found: Path = once("lite", make)
    return found


# ---- main.py ----


def test_text_is_the_same_every_time_and_small(main_text: str) -> None:
    assert lite.main_py() == main_text
    assert len(main_text.encode()) < MOST_BYTES
    assert max(map(len, main_text.splitlines())) < 500
    compile(main_text, "main.py", "exec", dont_inherit=True)


def test_text_asks_for_nothing_but_xlwings(main_text: str) -> None:
    imported = re.findall(r"^(?:from|import) (\w+)", main_text, re.MULTILINE)
    assert set(imported) - set(sys.stdlib_module_names) == {"xlwings"}
    assert "http" not in main_text.split('_ARCHIVE = """')[0]
    assert lite.REQUIREMENTS.split() == ["xlwings<1.0.0"]


def test_carries_what_is_needed_only() -> None:
    names = set(lite.modules())
    assert {"gpuecon_xl.carriers.arguments", "gpuecon_xl.functions", "gpuecon_xl.sheets.book"} <= names
    assert not names & {f"gpuecon_xl.{m}" for m in ("cli", "reader", "writer", "formula", "carriers.lite")}
    files = lite.carried()
    assert {f"gpuecon_xl/_catalog/{t}.csv" for t in TABLES} <= set(files)
    outside = r"^\s*(?:from|import) (?:xlsxwriter|openpyxl|rich|xlwings)\b"
    assert not [n for n, text in files.items() if re.search(outside, text, re.MULTILINE)]


def _carried_catalog(catalog: Catalog, folder: Path) -> Catalog:
    for name, text in lite.carried(catalog).items():
        if "_catalog/" in name:
            (folder / Path(name).name).write_text(text, encoding="utf-8")
    return _load_folder(folder, None)


@pytest.mark.parametrize("edited", [False, True])
def test_catalogue_is_carried_unchanged(edited: bool, tmp_path: Path) -> None:
    catalog = as_catalog(PRICES[:3]) if edited else shipped()
    found = _carried_catalog(catalog, tmp_path)
    assert found.tables == catalog.tables
    assert found.assumptions == catalog.assumptions


def test_edited_catalogue_goes_into_main(main_text: str) -> None:
    assert lite.main_py(as_catalog(PRICES[:3])) != main_text


# ---- main.py answers as the core does ----


def _as_sent(value: Any) -> Any:
    """A cell's content as Excel sends it to xlwings Lite."""
    if isinstance(value, list):
        return [_as_sent(v) for v in value]
    return {"type": "Error", "basicValue": value} if value in ERROR_TEXTS else value


def _most(function: str) -> int:
    return len(WHY_ARGUMENTS) if function == WHY else len(BY_NAME[function].arguments)


def _possible() -> list[tuple[str, list[Any]]]:
    """The calls that Excel lets a person make: not more arguments than the function has."""
    return [(f, a) for f, a in calls() if len(a) <= _most(f)]


def _wanted() -> list[Any]:
    out: list[Any] = []
    for function, raw in _possible():
        found = why_rows(raw) if function == WHY else answer(function, raw)
        if isinstance(found, Refused):
            out.append({"refused": found.sentence, "kind": "Refusal"})
        elif isinstance(found, list):
            out.append([[v.code if isinstance(v, Refused) else v for v in row] for row in found])
        else:
            out.append(found)
    return out


def _same(got: Any, want: Any) -> bool:
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(_same, got, want))
    if isinstance(want, float) and isinstance(got, int | float) and not isinstance(got, bool):
        return math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-12)
    return type(got) is type(want) and bool(got == want)


def _check(out: dict[str, Any]) -> None:
    """The answers, what was registered, and that nothing heavy was loaded."""
    asked, want = _possible(), _wanted()
    assert len(asked) >= 150
    wrong = [(f, str(a)[:90], str(g)[:120], str(w)[:120]) for (f, a), g, w in zip(asked, out["answers"], want, strict=True) if not _same(g, w)]
    assert not wrong, f"{len(wrong)} of {len(asked)}: {wrong[:5]}"
    assert out["heavy"] == []
    assert set(out["registered"]) == {WHY, *BY_NAME}
    for name, one in out["registered"].items():
        entry = BY_NAME.get(name)
        assert entry is None or tuple(one["arguments"])[::-1] == entry.arguments  # decorators run from below
        assert 20 < len(one["help"]) <= 255
        assert all(10 < len(o["doc"]) <= 255 and o["ndim"] == 2 and o["err_to_str"] for o in one["arguments"].values())


def _check_carried(out: dict[str, Any]) -> None:
    """The package came out of main.py."""
    assert out["places"]
    assert not [p for p in out["places"].values() if str(ROOT) in p or "site-packages" in p]


def _folder(place: Path, main_text: str) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    (place / "main.py").write_text(main_text, encoding="utf-8")
    shutil.copy(HERE / "stand_in.py", place / "xlwings.py")
    (place / "calls.json").write_text(json.dumps([[f, _as_sent(a)] for f, a in _possible()]), encoding="utf-8")
    return place


PLAIN = """
import importlib.util, sys
assert importlib.util.find_spec("gpuecon_xl") is None and importlib.util.find_spec("xlwings") is None
sys.path.insert(0, {folder!r})
import xlwings
with open({folder!r} + "/calls.json", encoding="utf-8") as file:
    text = file.read()
with open({folder!r} + "/answers.json", "w", encoding="utf-8") as file:
    file.write(xlwings.run(text))
"""


def test_plain_python(main_text: str, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    folder = _folder(tmp_path / "project", main_text)
    # -I and -S: neither the working folder nor site-packages can give the package
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", PLAIN.format(folder=str(folder))],
        capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path)}, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    out = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    _check(out)
    _check_carried(out)
    _record(out, record_property)


def _record(out: dict[str, Any], record_property: Callable[[str, object], None]) -> None:
    times = sorted(out["seconds"])
    figures = {
        "python": out["python"],
        "start_s": out.get("started"),
        "load_s": out["load"],
        "median_ms": 1e3 * times[len(times) // 2],
        "slowest_s": times[-1],
    }
    for name, value in figures.items():
        record_property(name, value)
    print(figures)


def _pyodide(version: str) -> Path:
    """The folder of Pyodide's npm package; fetched by npm once, into a cache outside the checkout."""
    base = os.environ.get("GPUECON_PYODIDE_CACHE") or os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    place = Path(base) / "gpuecon_xl" / f"pyodide-{version}"
    package = place / "node_modules" / "pyodide"
    if (package / "pyodide.mjs").is_file():
        return package
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".pyodide-{version}-") as work:
        npm = shutil.which("npm")
        assert npm, "npm is not on the path; Node's own package brings it"
        made = Path(work) / "made"
        made.mkdir()
        command = [npm, "install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--prefix", str(made), f"pyodide@{version}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, f"npm could not install pyodide@{version}: {done.stderr[-1000:]}"
        try:
            made.rename(place)
        except OSError:  # another process was faster
            assert package.is_dir()
    return package


def _in_pyodide(version: str, folder: Path, *wheel: Path) -> dict[str, Any]:
    """What the calls of a folder give in Pyodide under Node; a wheel is installed there first."""
    node = shutil.which("node")
    if node is None:
        assert not os.environ.get("CI"), "Node.js is not on the path; Pyodide needs it"
        pytest.skip("Node.js is not on the path; Pyodide needs it")
    command = [node, str(HERE / "pyodide_run.mjs"), str(_pyodide(version)), str(folder), *map(str, wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder.parent, timeout=300)
    assert done.returncode == 0, (done.stderr or done.stdout)[-3000:]
    out: dict[str, Any] = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    assert out["python"].startswith(PYODIDE[version])
    return out


@pytest.mark.parametrize("version", list(PYODIDE))
def test_pyodide(version: str, main_text: str, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    out = _in_pyodide(version, _folder(tmp_path / "project", main_text))
    _check(out)
    _check_carried(out)
    _record(out, record_property)


@pytest.fixture(scope="session")
def wheel(once: Callable[..., Any]) -> Path:
    """The package as a wheel, built from this checkout."""

    def make(folder: Path) -> Path:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, f"the wheel was not built: {done.stderr[-1000:]}"
        (path,) = folder.glob("*.whl")
        return path

    found: Path = once("wheel", make)
    return found


def test_wheel_is_pure_and_holds_every_file(wheel: Path) -> None:
    """Pyodide takes no other wheel; nothing of the package may be left out."""
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as z:
        held = {n: z.read(n) for n in z.namelist() if ".dist-info/" not in n}
    files = [p for p in (ROOT / "gpuecon_xl").rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    wanted = {p.relative_to(ROOT).as_posix(): p.read_bytes() for p in files}
    wanted |= {f"gpuecon_xl/_catalog/{p.relative_to(ROOT / 'catalog').as_posix()}": p.read_bytes() for p in (ROOT / "catalog").rglob("*.csv")}
    assert held == wanted


@pytest.mark.parametrize("version", list(PYODIDE))
def test_wheel_in_pyodide(version: str, main_text: str, wheel: Path, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """The functions of main.py with the package from the wheel: main.py's own copy is cut off."""
    functions, loader, _ = main_text.partition("\n\ndef _load():")
    assert loader
    thin = f"{functions}\nfrom gpuecon_xl.carriers import arguments as _arguments\n"
    out = _in_pyodide(version, _folder(tmp_path / "project", thin), wheel)
    _check(out)
    assert out["places"]
    assert not [p for p in out["places"].values() if "/site-packages/gpuecon_xl/" not in p]
    _record(out, record_property)


def test_imports_beside_the_real_xlwings(main_text: str, tmp_path: Path) -> None:
    """Outside Excel xlwings' decorators do nothing; here they must exist and take what main.py gives them."""
    (tmp_path / "main.py").write_text(main_text, encoding="utf-8")
    script = "import gpuecon_xl.catalog, main; print(main.price_of('RTX 5090'))"
    run = [sys.executable, "-c", script]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(answer("price_of", ["RTX 5090"]))


def test_loaded_again_and_after_an_update(main_text: str, tmp_path: Path) -> None:
    """Lite loads main.py again after an edit: the same one keeps the package, another one replaces it."""
    folder = _folder(tmp_path / "project", main_text)
    (folder / "main2.py").write_text(lite.main_py(as_catalog(PRICES[:3])), encoding="utf-8")
    script = f"""
import sys
sys.path.insert(0, {str(folder)!r})
import xlwings, main
first = sys.modules["gpuecon_xl.catalog"]
import importlib
importlib.reload(main)
assert sys.modules["gpuecon_xl.catalog"] is first
import main2
assert sys.modules["gpuecon_xl.catalog"] is not first
print(xlwings.call(main.price_of, ["RTX 5090"]), xlwings.call(main2.price_of, ["RTX 5090"]))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=False, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(answer("price_of", ["RTX 5090"])), "2500.0"]


# ---- the workbook ----


def project(path: Path) -> dict[str, Any]:
    """The add-in's settings in a workbook, as a parser reads them."""
    with zipfile.ZipFile(path) as z:
        root = ElementTree.fromstring(z.read("xl/webextensions/webextension1.xml"))  # noqa: S314
    return {str(p.get("name")): json.loads(str(p.get("value"))) for p in root.iter(f"{WE}property")}


def test_parts_hold_main(book: Path, main_text: str) -> None:
    held = project(book)
    assert held == {"main.py": main_text, "requirements.txt": lite.REQUIREMENTS, "pyodideVersion": "0.27.5", "addinVersion": lite.ADDIN}


def test_parts_are_linked(book: Path) -> None:
    with zipfile.ZipFile(book) as z:
        names = z.namelist()
        assert len(names) == len(set(names))
        trees = {n: ElementTree.fromstring(z.read(n)) for n in names if n.endswith((".xml", ".rels"))}  # noqa: S314
    types = {t.get("PartName"): t.get("ContentType") for t in trees["[Content_Types].xml"] if t.get("PartName")}
    assert types["/xl/webextensions/taskpanes.xml"] == "application/vnd.ms-office.webextensiontaskpanes+xml"
    assert types["/xl/webextensions/webextension1.xml"] == "application/vnd.ms-office.webextension+xml"
    assert {str(p).lstrip("/") for p in types} <= set(names)
    roots = {r.get("Id"): r for r in trees["_rels/.rels"]}
    assert len(roots) == len(list(trees["_rels/.rels"]))
    panes = [r for r in roots.values() if str(r.get("Type")).endswith("/2011/relationships/webextensiontaskpanes")]
    assert [r.get("Target") for r in panes] == ["xl/webextensions/taskpanes.xml"]
    inner = list(trees["xl/webextensions/_rels/taskpanes.xml.rels"])
    assert [r.get("Target") for r in inner] == ["webextension1.xml"]
    reference = next(
        trees["xl/webextensions/taskpanes.xml"].iter("{http://schemas.microsoft.com/office/webextensions/taskpanes/2010/11}webextensionref")
    )
    assert reference.get("{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id") == inner[0].get("Id")
    extension = trees["xl/webextensions/webextension1.xml"]
    assert next(extension.iter(f"{WE}reference")).get("id") == "wa200008175"


def test_other_flavours_hold_no_add_in(templates: dict[str, Path]) -> None:
    with zipfile.ZipFile(templates["en"]) as z:
        assert not [n for n in z.namelist() if "webextension" in n]


def test_openpyxl_opens_it_and_formulas_have_the_prefix(book: Path) -> None:
    wb = openpyxl.load_workbook(book)
    formulas = [str(c.value) for ws in wb.worksheets for row in ws.iter_rows() for c in row if c.data_type == "f"]
    with_function = [f for f in formulas if re.search(rf"\b(?:{'|'.join(x.excel for x in FUNCTIONS)})\(", f.replace("_xldudf_", ""))]
    assert len(with_function) >= 15
    assert not [f for f in with_function if re.search(rf"(?<!_xldudf_)\b(?:{'|'.join(x.excel for x in FUNCTIONS)})\(", f)]
    assert {m for f in with_function for m in re.findall(r"_xldudf_(\w+)\(", f)} <= {x.excel for x in FUNCTIONS}


def test_reader_reads_it(book: Path, templates: dict[str, Path]) -> None:
    cells = book_values(book)
    assert cells["unknown"] == {}
    plain = book_values(templates["en"])
    assert set(cells) == set(plain)
    assert {k: v for k, v in cells.items() if k != "Functions"} == {k: v for k, v in plain.items() if k != "Functions"}


def test_live_examples_agree(book: Path) -> None:
    """Each function in a cell stands beside the same figure from the book's formulas."""
    ws = openpyxl.load_workbook(book, data_only=True)["Functions"]
    place = next(t.ref for t in ws.tables.values() if t.displayName == "LiveExamples")
    head, *rows = [[c.value for c in row] for row in ws[place]]
    apart = {f"{row[0]} {i}": row[head.index("apart")] for i, row in enumerate(rows)}
    assert len(apart) >= 15
    assert not {k: v for k, v in apart.items() if not isinstance(v, int | float) or abs(v) > 1e-9}


@pytest.mark.libreoffice
def test_libreoffice_opens_it(book: Path, tmp_path: Path) -> None:
    soffice = shutil.which("soffice")
    if soffice is None:
        assert not os.environ.get("GPUECON_REQUIRE_LIBREOFFICE"), "soffice is not on the path"
        pytest.skip("soffice is not on the path")
    command = [
        soffice,
        f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}",
        "--headless",
        "--convert-to",
        "ods",
        "--outdir",
        str(tmp_path),
        str(book),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    with zipfile.ZipFile(tmp_path / "lite.ods") as z:
        text = z.read("content.xml").decode("utf-8")
    assert done.returncode == 0
    assert text.count("<table:table ") == 28


def _small(path: Path) -> Path:
    wb = openpyxl.Workbook()
    wb.active["A1"] = '=_xldudf_TCO3Y("RTX 5090")'
    wb.save(path)
    return path


def test_inject_is_stable_and_keeps_the_rest(tmp_path: Path) -> None:
    path, text = _small(tmp_path / "a.xlsx"), 'x = "<&>"\n# ünïcode → \t\\n\n'
    with zipfile.ZipFile(path) as z:
        before = {n: z.read(n) for n in z.namelist()}
    copy = tmp_path / "b.xlsx"
    shutil.copy(path, copy)
    lite.inject(path, text)
    lite.inject(copy, text)
    assert path.read_bytes() == copy.read_bytes()
    assert project(path)["main.py"] == text
    with zipfile.ZipFile(path) as z:
        after = {n: z.read(n) for n in z.namelist()}
    changed = {n for n in before if before[n] != after[n]}
    assert changed == {"[Content_Types].xml", "_rels/.rels"}
    assert set(after) - set(before) == set(lite.parts(text))
    lite.inject(path, text)  # again: the same file
    assert path.read_bytes() == copy.read_bytes()
    lite.inject(path, "y = 1\n")
    assert project(path)["main.py"] == "y = 1\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.xlsx", "b.xlsx"]


def test_inject_refuses(tmp_path: Path) -> None:
    bad = tmp_path / "bad.xlsx"
    bad.write_bytes(b"no zip")
    with pytest.raises(BadFile, match=r"not an \.xlsx"):
        lite.inject(bad, "")
    assert bad.read_bytes() == b"no zip"
    with pytest.raises(BadFile, match="cannot be read"):
        lite.inject(tmp_path / "none.xlsx", "")
    with zipfile.ZipFile(bad, "w") as z:
        z.writestr("a.txt", "")
    with pytest.raises(BadFile, match=r"no \.xlsx"):
        lite.inject(bad, "")
    path = _small(tmp_path / "other.xlsx")
    with zipfile.ZipFile(path, "a") as z:
        z.writestr("xl/webextensions/webextension1.xml", "<x/>")
    before = path.read_bytes()
    with pytest.raises(BadFile, match="another add-in"):
        lite.inject(path, "")
    assert path.read_bytes() == before


def test_same_parts_every_time(book: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.xlsx"
    write_template(again, catalog=shipped(), flavour="lite")
    assert again.read_bytes() == book.read_bytes()


def test_checked_in_workbook_holds_the_generated_main(main_text: str) -> None:
    assert project(BOOK)["main.py"] == main_text
