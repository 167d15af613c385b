"""The template as a file: cached values, bytes, readers of other makers, text that looks like a formula, failed builds."""

from __future__ import annotations

import csv
import datetime as dt
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
import xlsxwriter
from openpyxl.utils import range_boundaries
from oracles import cached_values, differences, formula_cells, is_error

from gpuecon_xl import files, writer
from gpuecon_xl.catalog import Catalog, load_catalog, shipped, shipped_folder
from gpuecon_xl.errors import BadFile, GpueconError
from gpuecon_xl.lang import LANGUAGES
from gpuecon_xl.reader import book_values, read_catalog
from gpuecon_xl.schema import TABLES
from gpuecon_xl.sheets.book import build
from gpuecon_xl.sheets.digest import layout as layout_of

CHECKED_IN = Path(__file__).resolve().parent.parent / "workbook"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_formula_cell_carries_the_value_that_the_core_computes(templates: dict[str, Path], core: dict[str, Any], lang: str) -> None:
    cells = formula_cells(templates[lang])
    cached = cached_values(templates[lang])
    assert sum(map(len, cells.values())) > 20_000
    absent = [f"{s}!{a}" for s, row in cells.items() for a in row if a not in core[lang][s]]
    assert not absent, absent[:10]
    assert core[lang]["unknown"] == {}
    assert not differences(cached, core[lang], cells)[:10]
    # a cell without a cached value is empty for openpyxl: only empty text may be so
    hollow = [f"{s}!{a}" for s, row in cells.items() for a in row if cached[s].get(a) is None and core[lang][s][a] != ""]
    assert not hollow, hollow[:10]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_error_cell(templates: dict[str, Path], lang: str) -> None:
    wrong = [f"{s}!{a}: {v}" for s, row in cached_values(templates[lang]).items() for a, v in row.items() if is_error(v)]
    assert not wrong, wrong[:10]


def test_every_formula_cell_has_a_value_in_the_file(templates: dict[str, Path]) -> None:
    """Empty text too must be stored as such: XlsxWriter's own default is 0."""
    with zipfile.ZipFile(templates["en"]) as z:
        for name in z.namelist():
            if re.match(r"xl/worksheets/sheet\d+\.xml", name):
                body = z.read(name).decode()
                assert body.count("<f>") == len(re.findall(r"</f><v>[^<]*</v></c>", body)), name


def test_values_of_the_command_line_are_those_of_the_core(templates: dict[str, Path], core: dict[str, Any]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gpuecon_xl.cli", "values", str(templates["de"]), "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(json.dumps(core["de"]))


def test_pandas_with_calamine_shows_figures(templates: dict[str, Path]) -> None:
    book = pd.read_excel(templates["en"], sheet_name=None, header=None, engine="calamine")
    assert len(book) == 28
    matrix = book["Matrix"]
    top = matrix.index[matrix[0] == "workload"][0]
    rows = matrix.loc[top + 1 : top + 16].set_axis(matrix.loc[top], axis=1)
    named = rows[rows["workload"].notna() & (rows["workload"] != "")]
    assert list(named["workload"]) == [r["workload"] for r in shipped().rows("workloads")]
    assert (named["cost_eur_mtok"].astype(float) > 0).all()
    assert (named["recommended"].str.len() > 0).all()


def test_read_only_openpyxl_shows_figures(templates: dict[str, Path]) -> None:
    book = openpyxl.load_workbook(templates["da"], data_only=True, read_only=True)
    for ws in book.worksheets:
        values = [v for row in ws.iter_rows(values_only=True) for v in row if v is not None]
        assert values, ws.title
    sheet = book.worksheets[13]
    assert any(isinstance(v, int | float) and v > 1000 for row in sheet.iter_rows(values_only=True) for v in row)
    book.close()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_built_twice_gives_the_same_bytes(templates: dict[str, Path], tmp_path: Path, lang: str) -> None:
    again = tmp_path / "again.xlsx"
    counts = writer.write_template(again, catalog=shipped(), lang=lang)
    assert again.read_bytes() == templates[lang].read_bytes()
    assert counts["sheets"] == 28
    assert counts["bytes"] == again.stat().st_size
    assert counts["formulas"] == sum(map(len, formula_cells(again).values()))


def test_built_in_another_process_gives_the_same_bytes(templates: dict[str, Path], tmp_path: Path) -> None:
    """Another hash seed, another folder, through the command line."""
    out = tmp_path / "x.xlsx"
    command = [sys.executable, "-m", "gpuecon_xl.cli", "template", str(out), "--lang", "de"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={"PYTHONHASHSEED": "77", "PATH": "/usr/bin:/bin", "TZ": "Asia/Tokyo"}, check=False
    )
    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == templates["de"].read_bytes()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_document_properties(templates: dict[str, Path], lang: str) -> None:
    book = openpyxl.load_workbook(templates[lang])
    p = book.properties
    assert p.title
    assert p.creator == "gpuecon_xl"
    assert p.created == p.modified
    assert p.created < dt.datetime.now() + dt.timedelta(days=366)
    properties = {q.name: q.value for q in book.custom_doc_props.props}
    layout = properties.pop("gpuecon_layout")
    assert properties == {"gpuecon_version": "0.1.0", "gpuecon_lang": lang, "gpuecon_flavour": "plain"}
    assert layout == layout_of(build(shipped(), "en"))  # the same in every language
    with zipfile.ZipFile(templates[lang]) as z:
        assert len({i.date_time for i in z.infolist()}) == 1  # no time of the day of the build
        assert {i.date_time[0] for i in z.infolist()} == {1980}


def test_no_path_or_user_of_this_machine_in_the_file(templates: dict[str, Path]) -> None:
    import getpass

    with zipfile.ZipFile(templates["en"]) as z:
        for name in z.namelist():
            body = z.read(name)
            for word in (str(templates["en"].parent), str(Path.home()) + "/", f"/{getpass.getuser()}/"):
                assert word.encode() not in body, (name, word)


# ---- text that looks like a formula ----

DANGEROUS = (
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    '=HYPERLINK("http://x.example","y")',
    "{=1+1}",
    "http://x.example/a",
    "internal:'Cover'!A1",
    "\t=2+2",
    "'=1+1",
    '<b>&amp;"',
    "1e5",
    "TRUE",
)


def overlaid(folder: Path) -> Catalog:
    """A catalogue whose names, notes and sources look like formulas, links, numbers and markup."""
    for name, key in (("gpus", "gpu"), ("prices", "gpu"), ("builds", "build"), ("workloads", "workload")):
        with (shipped_folder() / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for word in DANGEROUS[: 2 if name in ("builds", "workloads") else None]:
            row = {**rows[0], key: word.strip(), "source": word, "description" if name == "workloads" else "note": word}
            if name == "builds":
                row["gpu"] = word
            row.pop("aliases", None)
            rows.append(row)
        for row in rows:
            if "aliases" in rows[0]:
                row.setdefault("aliases", "")
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            out = csv.DictWriter(file, list(rows[0]))
            out.writeheader()
            out.writerows(rows)
    return load_catalog(folder)


def test_text_that_looks_like_a_formula_stays_text(tmp_path: Path, books: dict[str, Any]) -> None:
    (tmp_path / "csv").mkdir()
    catalog = overlaid(tmp_path / "csv")
    path = tmp_path / "odd.xlsx"
    writer.write_template(path, catalog=catalog)
    book = openpyxl.load_workbook(path)
    names, notes = set(), set()
    for ws in book.worksheets:
        tables = [(t, range_boundaries(t.ref)) for t in ws.tables.values()]
        for t, (left, top, _, bottom) in tables:
            if t.name not in ("Cards", "Prices", "Builds", "Workloads"):
                continue
            heads = [c.name for c in t.tableColumns]
            for r in range(top + 1, bottom + 1):
                for i, h in enumerate(heads):
                    c = ws.cell(r, left + i)
                    assert c.data_type != "f", f"{ws.title}!{c.coordinate} {c.value!r} became a formula"
                    assert c.hyperlink is None, f"{ws.title}!{c.coordinate} became a link"
                    if t.name == "Cards" and h == "gpu":
                        names.add(c.value)
                    if t.name == "Cards" and h == "note":
                        notes.add(c.value)
    assert {w.strip() for w in DANGEROUS} <= names
    assert {w.strip() for w in DANGEROUS} <= notes
    # formulas that the book has are those of the template and no others
    known = {c.value for ws in books["en"].worksheets for row in ws.iter_rows() for c in row if c.data_type == "f"}
    strange = [
        f"{ws.title}!{c.coordinate}: {c.value}"
        for ws in book.worksheets
        for row in ws.iter_rows()
        for c in row
        if c.data_type == "f" and c.value not in known
    ]
    assert not strange, strange[:10]
    back = read_catalog(path)
    for table in ("gpus", "prices", "builds", "workloads"):
        key = TABLES[table].key
        assert [r[key] for r in back.rows(table)] == [r[key] for r in catalog.rows(table)], table
    cells = formula_cells(path)
    assert not differences(cached_values(path), book_values(path), cells)[:10]


# ---- files that are there already, builds that fail ----


def test_an_existing_file_is_kept_without_force(templates: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "mine.xlsx"
    path.write_bytes(b"my work")
    with pytest.raises(BadFile, match="--force"):
        writer.write_template(path, catalog=shipped())
    assert path.read_bytes() == b"my work"
    writer.write_template(path, catalog=shipped(), force=True)
    assert path.read_bytes() == templates["en"].read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["mine.xlsx"]


class Stop(Exception):
    """A build stopped half-way."""


@pytest.mark.parametrize("where", ["close", "sheet", "chart", "values", "move"])
def test_a_build_that_fails_half_way_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    path = tmp_path / "mine.xlsx"
    path.write_bytes(b"my work")

    def fail(*_: Any, **__: Any) -> Any:
        raise Stop

    if where == "close":
        monkeypatch.setattr(xlsxwriter.Workbook, "close", fail)
    elif where == "sheet":
        monkeypatch.setattr(xlsxwriter.worksheet.Worksheet, "add_table", fail)
    elif where == "chart":
        monkeypatch.setattr(xlsxwriter.Workbook, "add_chart", fail)
    elif where == "values":
        monkeypatch.setattr(writer.books, "values_of", fail)
    else:
        monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(Stop):
        writer.write_template(path, catalog=shipped(), force=True)
    monkeypatch.undo()
    assert path.read_bytes() == b"my work"
    assert [p.name for p in tmp_path.iterdir()] == ["mine.xlsx"]
    fresh = tmp_path / "fresh.xlsx"
    monkeypatch.setattr(writer.books, "values_of", fail)
    with pytest.raises(Stop):
        writer.write_template(fresh, catalog=shipped())
    assert not fresh.exists()


def test_targets_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="does not exist"):
        writer.write_template(tmp_path / "no" / "such" / "x.xlsx", catalog=shipped())
    with pytest.raises(BadFile, match="is a folder"):
        writer.write_template(tmp_path, catalog=shipped(), force=True)
    with pytest.raises(GpueconError, match="language"):
        writer.write_template(tmp_path / "x.xlsx", catalog=shipped(), lang="xx")
    with pytest.raises(BadFile, match="flavour"):
        writer.write_template(tmp_path / "x.xlsx", catalog=shipped(), flavour="sweet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["H100", "A100", "L40", "T4", "MI300", "tco3", "tbl1", "XFD1", "r", "C", "a b", "1a", "", "a-b", "ä"])
def test_illegal_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be a name"):
        writer.legal_name(name)


# ---- the books that are checked in ----


@pytest.mark.parametrize("lang", LANGUAGES)
def test_checked_in_book_is_the_built_one(templates: dict[str, Path], lang: str) -> None:
    path = CHECKED_IN / f"gpuecon-{lang}.xlsx"
    assert path.is_file(), f"workbook/{path.name} is not checked in; make it with 'gpuecon template'"
    with zipfile.ZipFile(path) as a, zipfile.ZipFile(templates[lang]) as b:
        assert a.namelist() == b.namelist()
        differ = [n for n in a.namelist() if a.read(n) != b.read(n)]
    assert not differ, f"workbook/{path.name} is older than the product: {differ[:5]}; build it anew"
