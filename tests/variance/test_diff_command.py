"""`gpuecon diff`: what it prints and writes, what it refuses."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from edits import Edited

import gpuecon_xl as gx
from gpuecon_xl.cli import main
from gpuecon_xl.lang import LANGUAGES, load
from gpuecon_xl.variance.book import MOST_BARS, waterfall
from gpuecon_xl.variance.words import Words

FORMULA = '=HYPERLINK("http://x.example","y")'


@pytest.fixture(scope="module")
def edited(templates: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book with prices, a tariff and a text that looks like a formula."""
    e = Edited(templates["de"])
    e.put("Prices", "RTX 5090", "typical", 4000)
    source = e.where["Prices"][0].cell(e.cell("Prices", e.row("Prices", "RTX 5090"), "source").row, e.cell("Prices", 0, "source").column)
    e.write(source, "our invoice")
    e.put("Assumptions", "electricity_eur_kwh", "value", 0.31)
    e.write(e.cell("Prices", e.row("Prices", "L4"), "note"), FORMULA)
    e.cell("Prices", e.row("Prices", "L4"), "note").data_type = "s"
    return e.save(tmp_path_factory.mktemp("diff") / "edited.xlsx")


def test_prints(edited: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "catalog", str(edited)]) == 0
    out = capsys.readouterr().out
    assert f"catalog → {edited}: 4 inputs in 3 rows changed; 14 of 14 workloads" in out
    assert "+42.9%" in out
    assert "32B reasoning: 2x RTX 5090 → 1x PRO 6000 Workstation, by change 2 (Prices RTX 5090: typical, source)" in out
    assert load("en")("diff.order") in out
    assert load("en")("diff.rest_is") in out


@pytest.mark.parametrize("lang", LANGUAGES)
def test_says_that_nothing_changed(templates: dict[str, Path], lang: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "d.xlsx"
    assert main(["diff", str(templates["da"]), "catalog", "--lang", lang, "-o", str(path)]) == 0
    said = load(lang)("diff.nothing", old=str(templates["da"]), new="catalog")
    assert said in capsys.readouterr().out
    assert said in [c.value for row in openpyxl.load_workbook(path).worksheets[0].iter_rows() for c in row]


def cells(path: Path, title: str) -> list[list[Any]]:
    return [[c.value for c in row] for row in openpyxl.load_workbook(path)[title].iter_rows()]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_workbook_holds_what_json_says(edited: Path, lang: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, texts = tmp_path / "diff.xlsx", load(lang)
    assert main(["diff", "catalog", str(edited), "-o", str(path), "--lang", lang, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["file"] == str(path)
    result = {r[0]: r for r in cells(path, texts("diff.sheet"))}
    effects = cells(path, texts("diff.sheet_effects"))
    head = next(i for i, r in enumerate(effects) if r[0] == texts("diff.number"))
    body = effects[head + 1 :]
    for x in found["workloads"]:
        row = result[x["workload"]]
        assert row[1:5] == pytest.approx([x["cost_old_eur_mtok"], x["cost_new_eur_mtok"], x["change"], x["share"]])
        assert row[5:7] == [x["build_old"], x["build_new"]]
        assert row[8] == x["rest"] == 0
        column = [r[effects[head].index(x["workload"])] for r in body]
        assert column == pytest.approx([x["cost_old_eur_mtok"], *x["effects"], x["rest"], x["cost_new_eur_mtok"]])
        assert math.fsum(column[:-1]) == pytest.approx(column[-1], rel=1e-12)
    inputs = cells(path, texts("diff.sheet_changes"))
    told = [r for r in inputs if isinstance(r[0], int)]
    assert [(r[0], r[2], r[3], r[4]) for r in told] == [
        (s["number"], c["table"], c["row"], cell["column"]) for s in found["steps"] for c in s["changes"] for cell in c["cells"]
    ]
    assert next(r for r in told if r[4] == "typical")[5:9] == [2800, 4000, "per card, net", pytest.approx(4000 / 2800 - 1)]
    book = openpyxl.load_workbook(path)
    assert not [c for ws in book.worksheets for row in ws.iter_rows() for c in row if c.data_type == "f"]
    assert FORMULA in [r[6] for r in told]
    with zipfile.ZipFile(path) as z:
        charts = [n for n in z.namelist() if n.startswith("xl/charts/chart")]
    assert len(charts) == sum(x["change"] is not None and x["change"] != 0 for x in found["workloads"])


def test_waterfall_goes_from_the_old_to_the_new(templates: dict[str, Path], tmp_path: Path) -> None:
    """Each bar begins where the one before ended; more than there is room for end in one bar."""
    e = Edited(templates["en"])
    for name in ("electricity_eur_kwh", "pue", "chassis_eur_gpu", "maintenance_share_year", "horizon_years", "utilization", "output_share",
                 "headroom_wanted", "staff_eur_gpu_year", "licence_eur_gpu_year", "hosting_eur_kw_month", "failure_share_year",
                 "loan_share", "loan_rate_year"):  # fmt: skip
        old = e.value("Assumptions", name, "value")
        e.put("Assumptions", name, "value", old * 0.97 if old else 0.02)
    found = gx.diff_books(templates["en"], e.save(tmp_path / "b.xlsx"))
    words = Words("en")
    most = 0
    for x in found.workloads:
        first, *steps, last = waterfall(found, x, words)
        assert first.total
        assert last.total
        level = first.ends
        assert level == x.cost_old_eur_mtok
        for bar in steps:
            assert bar.begins == pytest.approx(level, rel=1e-12)
            level = bar.ends
        assert last.ends == x.cost_new_eur_mtok == pytest.approx(level, rel=1e-12)
        most = max(most, len(steps))
        assert len(steps) == min(len(x.moved()), MOST_BARS)
    assert most == MOST_BARS


def test_same_variance_same_bytes(edited: Path, tmp_path: Path) -> None:
    paths = [tmp_path / f"{i}.xlsx" for i in range(2)]
    for p in paths:
        assert main(["diff", "catalog", str(edited), "-o", str(p)]) == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_texts_are_the_same_in_every_language() -> None:
    keys = [load(lang).codes("diff.") for lang in LANGUAGES]
    assert keys[0] == keys[1] == keys[2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["catalog", "none.xlsx"], "none.xlsx: no such file"),
        (["", "catalog"], "OLD is empty"),
        (["catalog", " "], "NEW is empty"),
        (["catalog", "catalog", "-o", "diff.csv"], "does not end in .xlsx"),
        (["catalog", "catalog", "-o", "no-such-folder/diff.xlsx"], "does not exist"),
        (["catalog", "catalog", "-o", "diff.xlsx", "--lang", "fr"], "fr"),
        (["catalog"], "NEW"),
    ],
)
def test_refused(words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["diff", *words]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert not said.out
    assert not list(tmp_path.iterdir())


def test_what_is_compared_is_never_overwritten(edited: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = edited.read_bytes()
    assert main(["diff", "catalog", str(edited), "-o", str(edited), "--force"]) == 2
    assert "never overwritten" in capsys.readouterr().err
    assert edited.read_bytes() == before
    other = tmp_path / "mine.xlsx"
    other.write_text("mine")
    assert main(["diff", "catalog", str(edited), "-o", str(other)]) == 2
    assert "--force" in capsys.readouterr().err
    assert other.read_text() == "mine"
