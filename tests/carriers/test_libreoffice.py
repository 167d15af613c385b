"""The add-in for LibreOffice: its parts are made from the table of functions, and Calc computes what the core computes."""

from __future__ import annotations

import math
import os
import re
import struct
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import openpyxl
import pytest
from office import Office, absent
from openpyxl.utils import get_column_letter, range_boundaries
from oracles import cached_values

import gpuecon_xl as gx
from gpuecon_xl.carriers import libreoffice
from gpuecon_xl.carriers.arguments import ERROR_TEXTS, Refused, answer, why_rows
from gpuecon_xl.carriers.libreoffice import IMPLEMENTATION, WHY, ZERO, build_oxt, cell_answer, error_value, extension_parts
from gpuecon_xl.catalog import shipped
from gpuecon_xl.errors import BadFile, GpueconError
from gpuecon_xl.functions_table import FUNCTIONS, NAME_ARGUMENTS, cell_name
from gpuecon_xl.lang import LANGUAGES, load
from gpuecon_xl.writer import write_template


def _xml(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)  # noqa: S314  our own text


OOR = "{http://openoffice.org/2001/registry}"
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
NAMES = [f.name for f in FUNCTIONS] + [WHY]
MISSING = absent()
needs_office = pytest.mark.skipif(bool(MISSING) and not os.environ.get("GPUECON_REQUIRE_LIBREOFFICE"), reason=MISSING or "not absent")
pytestmark = pytest.mark.xdist_group("libreoffice_addin")


# ---- parts ----


@pytest.fixture(scope="module")
def parts() -> dict[str, str]:
    return extension_parts()


def test_the_extension_is_whole_and_the_same_each_time(tmp_path: Path) -> None:
    one, two = tmp_path / "one.oxt", tmp_path / "two.oxt"
    counts = build_oxt(one)
    build_oxt(two)
    assert one.read_bytes() == two.read_bytes()
    with zipfile.ZipFile(one) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        catalogue = [n for n in names if n.startswith("pythonpath/gpuecon_xl/_catalog/")]
    assert counts == {"functions": len(FUNCTIONS) + 1, "languages": 3, "files": len(names), "bytes": one.stat().st_size}
    assert {"META-INF/manifest.xml", "description.xml", "CalcAddIns.xcu", "XGpuecon.idl", "gpuecon_addin.py"} <= set(names)
    assert "pythonpath/gpuecon_xl/carriers/libreoffice.py" in names
    assert len(catalogue) >= 10
    assert counts["bytes"] < 500_000
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.oxt", "two.oxt"]


def test_an_existing_file_is_kept_and_a_missing_folder_refused(tmp_path: Path) -> None:
    path = tmp_path / "gpuecon.oxt"
    path.write_bytes(b"mine")
    with pytest.raises(BadFile, match="exists already"):
        build_oxt(path)
    assert path.read_bytes() == b"mine"
    build_oxt(path, force=True)
    assert zipfile.is_zipfile(path)
    with pytest.raises(BadFile, match="does not exist"):
        build_oxt(tmp_path / "no" / "gpuecon.oxt")
    with pytest.raises(BadFile, match="is a folder"):
        build_oxt(tmp_path, force=True)


def test_the_manifest_names_the_files_that_exist(parts: dict[str, str]) -> None:
    root = _xml(parts["META-INF/manifest.xml"])
    space = "{http://openoffice.org/2001/manifest}"
    kinds = {e.get(f"{space}full-path"): e.get(f"{space}media-type") for e in root}
    assert set(kinds) <= set(parts)
    assert {(k or "").partition(";")[0].rpartition(".")[2] for k in kinds.values()} == {"uno-typelibrary", "uno-component", "configuration-data"}


def test_the_description_has_the_version_and_three_languages(parts: dict[str, str]) -> None:
    root = _xml(parts["description.xml"])
    space = {"d": "http://openoffice.org/extensions/description/2006"}
    version = root.find("d:version", space)
    assert version is not None
    assert version.get("value") == gx.__version__
    assert [e.get("lang") for e in root.findall("d:display-name/d:name", space)] == list(LANGUAGES)
    hrefs = [e.get("{http://www.w3.org/1999/xlink}href") or "" for e in root.findall("d:extension-description/d:src", space)]
    assert len({parts[h] for h in hrefs}) == len(LANGUAGES)


def _methods(parts: dict[str, str]) -> dict[str, list[str]]:
    """Methods of the interface and their parameters."""
    found = re.findall(r"^\s*any (\w+)\((.*)\);$", parts["XGpuecon.idl"], re.MULTILINE)
    return {method: re.findall(r"\[in\] any (\w+)", text) for method, text in found}


def test_interface_wizard_component_and_table_agree(parts: dict[str, str]) -> None:
    methods = _methods(parts)
    assert [f"{IMPLEMENTATION}.{m.upper()}" for m in methods] == [cell_name(n, "libreoffice") for n in NAMES]
    assert all(re.fullmatch(r"[a-z][a-z0-9]*", n) for m, given in methods.items() for n in (m, *given))  # no underscore is allowed
    root = _xml(parts["CalcAddIns.xcu"])
    (functions,) = [n for n in root.iter("node") if n.get(f"{OOR}name") == "AddInFunctions"]
    wizard = {n.get(f"{OOR}name"): n for n in functions}
    assert list(wizard) == list(methods)
    for name, (method, node) in zip(NAMES, wizard.items(), strict=True):
        shown = _texts(node, "DisplayName")
        assert shown == dict.fromkeys(LANGUAGES, name.upper())
        (parameters,) = [n for n in node if n.get(f"{OOR}name") == "Parameters"]
        assert [n.get(f"{OOR}name") for n in parameters] == methods[str(method)]
        assert f"    def {method}(self, *cells):\n        return answer({name!r}, cells)\n".replace("'", '"') in parts["gpuecon_addin.py"]
    for f in FUNCTIONS:
        (parameters,) = [n for n in wizard[_method(f.name)] if n.get(f"{OOR}name") == "Parameters"]
        assert [_texts(n, "DisplayName")["en"] for n in parameters] == list(f.arguments)
    compile(parts["gpuecon_addin.py"], "gpuecon_addin.py", "exec")


def _method(function: str) -> str:
    return cell_name(function, "libreoffice").partition(".")[2].lower()


def _texts(node: ElementTree.Element, prop: str) -> dict[str, str]:
    (found,) = [p for p in node.findall("prop") if p.get(f"{OOR}name") == prop]
    return {str(v.get(XML_LANG)): str(v.text) for v in found}


def test_the_wizard_has_its_own_text_in_every_language(parts: dict[str, str]) -> None:
    root = _xml(parts["CalcAddIns.xcu"])
    described = [n for n in root.iter("node") if n.find("prop") is not None]
    assert len(described) > len(NAMES)
    for node in described:
        texts = _texts(node, "Description")
        assert list(texts) == list(LANGUAGES)
        assert len(set(texts.values())) == len(LANGUAGES), texts
        assert all(t.strip() == t and 5 < len(t) < 300 for t in texts.values()), texts
    for lang in LANGUAGES:
        assert {a for f in FUNCTIONS for a in f.arguments} == set(load(lang).codes("argument."))


def test_defaults_stand_in_the_wizard(parts: dict[str, str]) -> None:
    root = _xml(parts["CalcAddIns.xcu"])
    nodes = {n.get(f"{OOR}name"): n for n in root.iter("node")}
    argument = {n.get(f"{OOR}name"): _texts(n, "Description") for n in nodes[_method("cost_per_mtok")].iter("node") if n.get(f"{OOR}name") == "batch"}
    assert argument["batch"]["de"].endswith("; weggelassen: 32")
    (price,) = [_texts(n, "Description") for n in nodes[_method("tco3y")].iter("node") if n.get(f"{OOR}name") == "price"]
    assert price["en"].endswith("; left out: the catalogue's; an empty cell counts as 0 here")


def test_the_extension_runs_without_any_library(tmp_path: Path) -> None:
    build_oxt(tmp_path / "g.oxt")
    with zipfile.ZipFile(tmp_path / "g.oxt") as archive:
        archive.extractall(tmp_path / "x")
    calls = [(f.name, list(_example(f.example))) for f in FUNCTIONS] + [(WHY, ["tco3y", "L4"])]
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'x' / 'pythonpath')!r})\n"
        "from gpuecon_xl.carriers.libreoffice import cell_answer\n"
        f"print([cell_answer(f, a) for f, a in {calls!r}])\n"
        "import gpuecon_xl; print([gpuecon_xl.__file__])\n"
        "print([m for m in ('numpy', 'pandas', 'xlsxwriter', 'openpyxl', 'xlwings', 'rich') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    answers, where, heavy = done.stdout.splitlines()
    assert answers == repr([cell_answer(f, a) for f, a in calls])
    assert str(tmp_path) in where
    assert heavy == "[]"


def _example(text: str) -> tuple[Any, ...]:
    inside = re.fullmatch(r"=\w+\((.*)\)", text)
    assert inside is not None
    found: tuple[Any, ...] = eval(f"({inside[1]},)" if inside[1] else "()", {"__builtins__": {}})  # noqa: S307  our own examples
    return found


# ---- what cells mean ----


def _code(value: Any) -> str:
    """The error value that a NaN carries."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return {32767: "#N/A", 519: "#VALUE!"}[bits & 0xFFFF] if math.isnan(value) else ""


def test_error_values_are_numbers_with_a_payload() -> None:
    assert _code(error_value("#N/A")) == "#N/A"
    assert _code(error_value("#VALUE!")) == "#VALUE!"
    assert _code(cell_answer("tco3y", ["RTX 9999"])) == "#N/A"
    assert _code(cell_answer("tco3y", ["L4", 1.5])) == "#VALUE!"


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.name)
def test_a_zero_counts_as_empty_exactly_where_the_core_refuses_it(f: Any) -> None:
    example = _example(f.example)
    for i, argument in enumerate(f.arguments):
        if argument in ("options", "catalog") or argument in NAME_ARGUMENTS:
            continue
        given = [*example, *[None] * len(f.arguments)][: len(f.arguments)]
        given[i] = 0.0
        refused = isinstance(answer(f.name, given), Refused)
        if i < f.required:
            assert _code(cell_answer(f.name, given)) == "#VALUE!", argument  # an empty cell must not become a figure
            continue
        assert refused != ((f.name, argument) in ZERO), argument
        left_out = [*given[:i], None, *given[i + 1 :]]
        wanted = answer(f.name, left_out if refused else given)
        assert cell_answer(f.name, given) == wanted, argument


def test_a_required_zero_can_be_written_as_text() -> None:
    assert _code(cell_answer("blended_price", [0.0, 10.0, 0.3])) == "#VALUE!"
    assert cell_answer("blended_price", ["0", 10.0, 0.3]) == pytest.approx(3.0)


def test_an_empty_cell_of_a_range_is_told_from_zero() -> None:
    prices = ((2000.0,), ("",), (0.0,))
    given = cell_answer("tco3y", ["L4", None, None, prices])
    assert given == tuple((gx.tco3y("L4", price=p),) for p in (2000.0, None, 0.0))


def test_why_says_the_sentence_where_there_is_no_answer() -> None:
    assert "RTX 9999" in cell_answer(WHY, ["tco3y", "RTX 9999"])
    rows = cell_answer(WHY, ["TCO3Y", "L4", 0.0, 0.6, None, None, None, None, None, None, None])
    assert rows[-1][:2] == ("tco3y", gx.tco3y("L4", utilization=0.6))


# ---- in LibreOffice ----


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    assert not MISSING, MISSING
    held = Office(tmp_path_factory.mktemp("office"))
    yield held
    held.close()


@needs_office
def test_the_template_computes_every_function_as_its_own_formulas(office: Office, tmp_path: Path) -> None:
    path = tmp_path / "template.xlsx"
    write_template(path, catalog=shipped(), flavour="libreoffice")
    cached, fresh = cached_values(path), office.recalculated(path)
    book = openpyxl.load_workbook(path)
    (sheet,) = [s for s in book.worksheets if "LiveExamples" in s.tables]
    table = sheet.tables["LiveExamples"]
    left, top, _, bottom = range_boundaries(table.ref)
    columns = {c.name: get_column_letter(left + i) for i, c in enumerate(table.tableColumns)}
    rows = range(top + 1, bottom + 1)
    assert len(rows) >= 18
    for row in rows:
        cells = {name: f"{letter}{row}" for name, letter in columns.items()}
        assert "GPUECON." in str(sheet[cells["by_function"]].value)
        own, native, kept = (
            fresh[sheet.title][cells["by_function"]],
            fresh[sheet.title][cells["by_formulas"]],
            cached[sheet.title][cells["by_function"]],
        )
        _same(own, native, f"row {row} beside")
        _same(own, kept, f"row {row} kept")
        assert fresh[sheet.title][cells["apart"]] == pytest.approx(0, abs=1e-9)
    errors = [f"{s}!{a}: {v}" for s, cells in fresh.items() for a, v in cells.items() if isinstance(v, str) and v in ERROR_TEXTS]
    assert errors == [f"{s}!{a}: {v}" for s, cells in cached.items() for a, v in cells.items() if isinstance(v, str) and v in ERROR_TEXTS]


def _same(a: Any, b: Any, where: str) -> None:
    if isinstance(a, str) or isinstance(b, str):
        assert a == b, where
        assert a not in ERROR_TEXTS, where
    else:
        assert math.isclose(a, b, rel_tol=1e-12), f"{where}: {a!r} {b!r}"


def _formula(function: str, *arguments: str) -> str:
    return f"={cell_name(function, 'libreoffice')}({','.join(arguments)})"


@needs_office
def test_every_example_gives_what_the_core_gives(office: Office) -> None:
    examples = [re.sub(r"^=\w+", "=" + cell_name(f.name, "libreoffice"), f.example) for f in FUNCTIONS]
    values = office.column(examples)
    for f, value in zip(FUNCTIONS, values, strict=True):
        wanted = answer(f.name, _example(f.example))
        wanted = wanted[0][0] if isinstance(wanted, list) else wanted
        _same(value, wanted, f.name)


GIVEN = {
    "D1": "RTX 5090",
    "D2": "RTX 9999",
    "D3": True,
    "D5": 5090,
    "D6": 0,
    "D7": "2.800",
    "D8": "60 %",
    "D9": "=1/0",
    "D10": "=NA()",
    "D11": "Llama 3.1 8B",
    "E1": "pue",
    "F1": 1.2,
    "E2": "utilization",
    "F2": 0.5,
}  # fmt: skip  D4 is empty
SINGLE = [
    ('TCO3Y("RTX 5090")', {}),
    ("TCO3Y(D1)", {}),
    ("TCO3Y(D5)", {}),
    ("TCO3Y(D1,D4,,,D4,D4)", {}),  # an empty cell for an argument that must not be 0, for options and for the table
    ("TCO3Y(D1,4)", {"gpus": 4}),
    ("TCO3Y(D1,,D8)", {"utilization": 0.6}),
    ('TCO3Y(D1,,"0,5")', {"utilization": 0.5}),
    ("TCO3Y(D1,,D4)", {"utilization": 0.0}),  # cannot be told from 0
    ("TCO3Y(D1,,D4:D4)", {}),  # as a range it can
    ('TCO3Y(D1,,"")', {}),
    ("TCO3Y(D1,,,D6)", {"price": 0.0}),
    ("TCO3Y(D1,D3)", {"gpus": 1}),  # TRUE arrives as 1
    ('TCO3Y(D1,,,,"pue=1.2; utilization=0.5")', {"options": {"pue": 1.2, "utilization": 0.5}}),
    ("TCO3Y(D1,,,,E1:F4)", {"options": {"pue": 1.2, "utilization": 0.5}}),
    ('tco3y("rtx5090")', {}),
]


@needs_office
def test_single_cells_mean_what_the_documentation_says(office: Office) -> None:
    values = office.column([f"={IMPLEMENTATION}.{text}" for text, _ in SINGLE], GIVEN)
    for (text, given), value in zip(SINGLE, values, strict=True):
        _same(value, gx.tco3y("RTX 5090", **given), text)


REFUSED = [
    ('TCO3Y("RTX 9999")', "#N/A"), ("TCO3Y(D2)", "#N/A"), ('TOKPS("Lama 9",D1)', "#N/A"), ('TCO3Y(D1,,,,"puw=1")', "#N/A"),
    ("TCO3Y()", "#VALUE!"), ("TCO3Y(D4)", "#VALUE!"), ("TCO3Y(D1,1.5)", "#VALUE!"), ("TCO3Y(D1,-1)", "#VALUE!"), ("TCO3Y(D1,,,D7)", "#VALUE!"),
    ("TCO3Y(D1,,2)", "#VALUE!"), ("TCO3Y(D1,,,,E1:F1,D1)", "#VALUE!"), ("TCO3Y(D1,,,,D1:F1)", "#VALUE!"), ("BREAKEVENUTIL(D11,D1,D4)", "#VALUE!"),
    ("RENT3Y(D6)", "#VALUE!"), ("BLENDEDPRICE(D4,10)", "#VALUE!"), ('TOKPS("Llama 3.1 405B",D1)', "#VALUE!"),
    ("TCO3Y(D9)", "#DIV/0!"), ("TCO3Y(D10)", "#N/A"), ("TCO3Y(D1,D9)", "#DIV/0!"),
]  # fmt: skip


@needs_office
def test_what_is_refused_shows_the_documented_error_value(office: Office) -> None:
    values = office.column([f"={IMPLEMENTATION}.{text}" for text, _ in REFUSED], GIVEN)
    assert dict(zip([t for t, _ in REFUSED], values, strict=True)) == dict(REFUSED)


@needs_office
def test_an_answer_can_be_used_in_other_formulas(office: Office) -> None:
    fits = _formula("fits", '"Llama 3.1 8B"', '"RTX 5090"', '"fp8"', "8")[1:]
    many = _formula("fits", '"Llama 3.1 8B"', "G1:G2")[1:]
    wrong = _formula("tco3y", '"RTX 9999"')[1:]
    text, figure = gx.fits("Llama 3.1 8B", "RTX 5090", "fp8", 8), gx.tco3y("L4")
    formulas = {
        f'=SUMPRODUCT(({many}&""="fits")*1)': 2,  # without &"" Calc gives 0
        f'=IF({fits}="{text}",1,0)': 1,
        f"=ISNUMBER({_formula('tco3y', 'D1')[1:]})": True,
        f"={_formula('tco3y', 'D1')[1:]}*2": figure * 2,
        f"=IFERROR({wrong},-1)": -1,
        f"=ISNA({wrong})": True,
        f"=SUM({_formula('tco3y', 'G1:G2')[1:]})": figure + gx.tco3y("RTX 5090"),
        f"={_formula('tco3y', 'G1:G2')[1:]}": figure,  # a range in one cell: the first answer
    }
    values = office.column(list(formulas), {"D1": "L4", "G1": "L4", "G2": "RTX 5090"})
    for (formula, wanted), value in zip(formulas.items(), values, strict=True):
        assert value == pytest.approx(wanted, rel=1e-12), formula


CARDS = ("RTX 5090", "L4", "L40S", "RTX PRO 6000 Server", "RTX 9999")


@needs_office
def test_array_formula_over_a_column_of_fifty(office: Office) -> None:
    cells = {f"D{i + 1}": CARDS[i % 5] for i in range(49)} | {f"E{i + 1}": 1 + i for i in range(50) if i != 7}  # D50 and E8 are empty
    formula = _formula("tokps", '"Llama 3.1 8B"', "D1:D50", '"fp8"', "E1:E50")
    values = office.array(formula, "A1:A50", cells)
    for i in range(50):
        card, batch = cells.get(f"D{i + 1}"), cells.get(f"E{i + 1}", 1)
        found = values.get(f"A{i + 1}")
        if card is None:
            assert found in (None, "")  # a blank row of the ranges stays blank
        elif card == "RTX 9999":
            assert found == "#N/A"
        else:
            _same(found, gx.tokps("Llama 3.1 8B", card, "fp8", batch), f"row {i + 1}")


@needs_office
def test_array_formula_over_a_block_and_a_blank_row(office: Office) -> None:
    cells: dict[str, Any] = {"D1": "L4", "D3": "RTX 5090", "F1": 1, "G1": 2}
    values = office.array(_formula("tco3y", "D1:D3", "F1:G1"), "A1:B3", cells)
    for row, card in ((1, "L4"), (3, "RTX 5090")):
        for letter, count in (("A", 1), ("B", 2)):
            _same(values[f"{letter}{row}"], gx.tco3y(card, count), f"{letter}{row}")
    assert values.get("A2") in (None, "")
    assert values.get("B2") in (None, "")


@needs_office
def test_many_cells_in_one_array_formula(office: Office) -> None:
    cells: dict[str, Any] = {f"D{i}": i for i in range(1, 401)}
    values = office.array(_formula("tokps", '"Llama 3.1 8B"', '"L4"', '"fp8"', "D1:D400"), "A1:A400", cells)
    wanted = gx.tokps("Llama 3.1 8B", "L4", "fp8", [float(i) for i in range(1, 401)])
    for i in range(400):
        _same(values[f"A{i + 1}"], wanted[i], f"row {i + 1}")


@needs_office
def test_why_fills_the_rows_behind_an_answer(office: Office) -> None:
    given = ["cost_per_mtok", "Llama 3.1 8B", "L4", "fp8", 64.0]
    wanted = why_rows(given)
    assert isinstance(wanted, list)
    formula = _formula(WHY, '"COST_PER_MTOK"', '"Llama 3.1 8B"', '"L4"', '"fp8"', "64")
    values = office.array(formula, f"A1:D{len(wanted) + 1}", {})
    for r, row in enumerate(wanted, start=1):
        for letter, cell in zip("ABCD", row, strict=True):
            found = values.get(f"{letter}{r}")
            _same("" if found is None else found, float(cell) if isinstance(cell, int) else cell, f"{letter}{r}")
    assert values[f"A{len(wanted) + 1}"] == "#N/A"  # beyond the answer
    sentence = office.column([_formula(WHY, '"tco3y"', '"RTX 9999"')])[0]
    assert "RTX 9999" in sentence


@needs_office
def test_a_list_fills_a_column(office: Office) -> None:
    cards = gx.gpu_list()
    values = office.array(_formula("gpu_list"), f"A1:A{len(cards)}", {})
    assert [values[f"A{i + 1}"] for i in range(len(cards))] == cards


@needs_office
def test_an_edited_table_recalculates_what_reads_it(office: Office) -> None:
    cells: dict[str, Any] = {"D1": "gpu", "E1": "typical", "F1": "source", "D2": "L4", "E2": 1234, "F2": "a quote"}
    (value,) = office.column([_formula("price_of", '"L4"', '""', "D1:F3")], cells)
    assert value == 1234


@needs_office
def test_nothing_stays_installed(office: Office) -> None:
    assert SOFFICE_HOME is None or not list(SOFFICE_HOME.glob("**/*gpuecon*"))
    assert libreoffice.IDENTIFIER not in office.folder.parent.name


SOFFICE_HOME = next((p for p in (Path("/usr/lib/libreoffice/share/extensions"), Path("/opt/libreoffice/share/extensions")) if p.is_dir()), None)


def test_errors_of_the_package_never_reach_calc_as_exceptions() -> None:
    for function in NAMES:
        for given in ([], [None], [0.0] * 3, ["x"] * 11, [(("x", "y"),)] * 2):
            try:
                cell_answer(function, given)
            except GpueconError as error:
                pytest.fail(f"{function}{given}: {error}")
