"""A cell explained: what it is, its equation, what it reads, down to sources; in any language, saved by any program, edited."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from edits import Edited

from gpuecon_xl import cli
from gpuecon_xl.catalog import shipped
from gpuecon_xl.provenance.lineage import Figure, lineage_of
from gpuecon_xl.quantity import REGISTRY
from gpuecon_xl.reader import OpenBook, checked_book

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ENGLISH = {"en": "Cost", "de": "Kosten", "da": "Omkostninger"}


@pytest.fixture(scope="module")
def opened(templates: dict[str, Path]) -> dict[str, OpenBook]:
    return {lang: checked_book(path) for lang, path in templates.items()}


def place(book: OpenBook, table: str, column: str, row: int = 0) -> str:
    return book.place(book.regions[table], column, row)


def every(f: Figure) -> Iterator[Figure]:
    yield f
    for i in f.inputs:
        yield from every(i)


def run(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = cli.main(words)
    out = capsys.readouterr()
    return code, out.out, out.err


@pytest.mark.parametrize("lang", ["en", "de", "da"])
def test_cost_of_a_row(opened: dict[str, OpenBook], lang: str) -> None:
    book = opened[lang]
    own = place(book, "Cost", "cost_eur_mtok")
    assert own.startswith(ENGLISH[lang] + "!")
    got = lineage_of(book, own).figure
    assert (got.table, got.column, got.kind) == ("Cost", "cost_eur_mtok", "formula")
    assert got.equation == REGISTRY["cost_eur_mtok"].equation
    assert got.function == "gpuecon_xl.equations.cost.cost_eur_mtok"
    assert got.value == pytest.approx(book.raw(book.regions["Cost"], "cost_eur_mtok", 0), rel=1e-12)
    parts = {i.column: i.value for i in got.inputs if i.role == "value"}
    assert set(parts) == {"tco_eur", "gpus", "tokens_served_m"}
    assert parts["tco_eur"] * parts["gpus"] / parts["tokens_served_m"] == pytest.approx(got.value, rel=1e-12)
    assert not got.remarks
    assert lineage_of(book, f"Cost!{own.partition('!')[2]}").figure == got  # the English title means the sheet in any book


def test_down_to_sources(opened: dict[str, OpenBook]) -> None:
    book = opened["en"]
    found = lineage_of(book, place(book, "TcoCards", "tco_eur"), None)
    inputs = [f for f in every(found.figure) if f.kind == "input" and f.role != "row"]
    assert {f.cell for f in inputs} >= {place(book, "Prices", "typical"), place(book, "Cards", "tdp_w")}
    price = next(f for f in inputs if f.cell == place(book, "Prices", "typical"))
    row = shipped().find("prices", "RTX 5090")
    assert (price.value, price.source, price.as_of, price.confidence) == (row["typical"], row["source"], str(row["as_of"]), row["confidence"])
    assert price.unit == "EUR per card, net"
    assert {f.source for f in inputs if f.source} == {o.source for o in found.origins}
    assert found.inputs == len({f.cell for f in inputs}) == sum(o.inputs for o in found.origins) + found.unsourced
    leaves = [f for f in every(found.figure) if not f.inputs and not f.again and f.role != "row"]
    assert {f.kind for f in leaves} <= {"input", "fixed", "range"}  # all the way down


def test_only_the_way_taken_is_followed(opened: dict[str, OpenBook]) -> None:
    """Without a throughput of one's own the predicted one counts, and the empty cell is what decides."""
    book = opened["en"]
    reads = {i.column: i.role for i in lineage_of(book, place(book, "Cost", "output_tok_s")).figure.inputs}
    assert reads["tok_s_measured"] == "condition"
    assert reads["output_tok_s"] == "value"


def test_equations_inside_a_formula_are_named(opened: dict[str, OpenBook]) -> None:
    book = opened["en"]
    inside = lineage_of(book, place(book, "Candidates", "cost_eur_mtok", 3)).figure.inside
    assert inside == [f"{q} = {REGISTRY[q].equation}" for q in ("tokens_served_m", "horizon_h")]


def test_every_kind_of_cell(opened: dict[str, OpenBook]) -> None:
    """One cell of every column of every table, and every free formula: none fails, every computed one says its value."""
    from gpuecon_xl.provenance.lineage import _Walk
    from gpuecon_xl.provenance.place import spot_of

    book = opened["en"]
    walk = _Walk(book)
    seen = 0
    for name, t in walk.tables.items():
        for c in t.columns:
            target = walk.target(spot_of("'{}'!{}".format(*place(book, name, c.name).split("!")), book, walk.spec))
            found = walk.figure(target, "value", 1, set())
            stored = book.raw(book.regions[name], c.name, 0)
            seen += 1
            if isinstance(stored, int | float) and not isinstance(stored, bool):
                assert found.value == pytest.approx(stored, rel=1e-9), found.cell
            assert not found.remarks, (found.cell, found.remarks)
            if c.formula is not None and c.label in REGISTRY:
                assert found.equation == REGISTRY[c.label].equation
    assert seen > 600
    for title in book.formulas.sheetnames:
        assert walk.figure(walk.target(spot_of(f"'{title}'!B3", book, walk.spec)), "value", 1, set()).inputs


def test_an_edited_book(templates: dict[str, Path], tmp_path: Path) -> None:
    """What was edited, typed over or altered is said; the figure is computed from what stands there."""
    e = Edited(templates["en"])
    e.put("Prices", "RTX 5090", "typical", 2500)
    e.put("Prices", "RTX 5090", "source", "Offer 4711")
    row = e.row("Prices", "RTX 5090")
    e.write(e.cell("TcoCards", row, "electricity_eur"), 1.0)
    c = e.cell("TcoCards", row, "capex_eur")
    e.write(c, f"{c.value}+1")
    path = e.save(tmp_path / "edited.xlsx")
    book = checked_book(path)
    found = lineage_of(book, place(book, "TcoCards", "tco_eur", row), 3)
    by = {f.cell: f for f in every(found.figure)}
    price = by[place(book, "Prices", "typical", row)]
    assert (price.value, price.source, price.remarks) == (2500, "Offer 4711", [("edited", "2800")])
    assert by[place(book, "TcoCards", "electricity_eur", row)].remarks == [("overwritten", "1")]
    assert by[place(book, "TcoCards", "capex_eur", row)].remarks[0][0] == "altered"
    assert found.figure.remarks == [("not_stored", "")]  # openpyxl does not calculate
    assert "Offer 4711" in {o.source for o in found.origins}


@pytest.mark.libreoffice
def test_a_book_that_libreoffice_saved(templates: dict[str, Path], tmp_path: Path, opened: dict[str, OpenBook]) -> None:
    if subprocess.run(["sh", "-c", "command -v soffice"], capture_output=True, check=False).returncode:
        pytest.skip("LibreOffice is not installed")
    subprocess.run(["soffice", "--headless", f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}", "--convert-to", "xlsx", "--outdir",
                    str(tmp_path / "out"), str(templates["de"])], check=True, capture_output=True, timeout=300)  # fmt: skip
    book = checked_book(tmp_path / "out" / templates["de"].name)
    ours = opened["de"]
    got = lineage_of(book, place(ours, "Matrix", "cost_eur_mtok"), 2)
    want = lineage_of(ours, place(ours, "Matrix", "cost_eur_mtok"), 2)
    assert got.figure.remarks == []
    assert (got.figure, got.origins, got.cells) == (want.figure, want.origins, want.cells)


REFUSED = {
    "outside": ("Cost!F9", "nearest: Cost!F30"),
    "no_sheet": ("Costs!F30", "nearest: Cost"),
    "no_cell": ("Cost", "a sheet and a cell such as Cost!F12"),
    "nothing": ("", "a sheet and a cell such as Cost!F12"),
    "far": ("Cost!ZZZ1048576", "nearest: Cost!"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_sentence(templates: dict[str, Path], capsys: pytest.CaptureFixture[str], case: str) -> None:
    words, due = REFUSED[case]
    code, out, err = run(["explain", words, str(templates["en"])], capsys)
    assert (code, out) == (2, "")
    assert due in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("depth", ["-1", "deep", "1.5"])
def test_depth_must_be_a_number(templates: dict[str, Path], capsys: pytest.CaptureFixture[str], depth: str) -> None:
    code, out, err = run(["explain", "Cost!K30", str(templates["en"]), "--depth", depth], capsys)
    assert (code, out) == (2, "")
    assert "--depth" in err


def test_own_column_is_refused(templates: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wb = openpyxl.load_workbook(templates["en"])
    ws = wb["Changes"]
    ws["F9"] = "=1+1"
    wb.save(tmp_path / "own.xlsx")
    code, _, err = run(["explain", "Changes!F9", str(tmp_path / "own.xlsx")], capsys)
    assert code == 2
    assert "nearest: Changes!C9" in err


def test_printed_and_as_json(templates: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(["explain", "Kosten!K30", str(templates["de"]), "--lang", "en", "--depth", "1"], capsys)
    assert code == 0
    assert "Equation: cost_eur_mtok = tco_eur" in out
    assert "It stands on" in out
    code, out, _ = run(["explain", "Kosten!K30", str(templates["de"]), "--json", "--depth", "all"], capsys)
    answer: dict[str, Any] = json.loads(out)
    assert code == 0
    assert answer["equation"] == REGISTRY["cost_eur_mtok"].equation
    assert answer["sources"] == sorted(answer["sources"], key=lambda s: -s["inputs"])
    assert sum(s["inputs"] for s in answer["sources"]) + answer["under"]["without_source"] == answer["under"]["inputs"]
    assert run(["explain", "Kosten!K30", str(templates["de"]), "--depth", "0"], capsys)[1].startswith("Kosten!K30: ")
