"""`gpuecon risk`: what it prints and writes, what it refuses."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import openpyxl
import pytest

from gpuecon_xl.cli import main
from gpuecon_xl.lang import LANGUAGES, load


def test_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["risk", "--draws", "5000"]) == 0
    out = capsys.readouterr().out
    assert "5000 draws, seed 1" in out
    assert "Owning costs less than renting in" in out
    assert "P90" in out


@pytest.mark.parametrize("lang", LANGUAGES)
def test_workbook_holds_what_json_says(tmp_path: Path, capsys: pytest.CaptureFixture[str], lang: str) -> None:
    path = tmp_path / "risk.xlsx"
    assert main(["risk", "--draws", "5000", "--seed", "3", "-o", str(path), "--lang", lang, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (ws,) = openpyxl.load_workbook(path).worksheets
    rows = {row[0].value: [c.value for c in row] for row in ws.iter_rows() if row[0].value is not None}
    texts = load(lang)
    assert rows[texts("risk.own_wins")][1] == pytest.approx(found["own_wins"])
    for name, values in found["outcomes"].items():
        assert rows[texts(f"risk.{name}")][1:6] == pytest.approx([values[k] for k in ("p10", "p50", "p90", "mean", "typical")])
    for r in found["ranges"]:
        assert rows[texts(f"label.{r['name']}")][1:4] == pytest.approx([r["low"], r["typical"], r["high"]])
    text = " ".join(str(c.value) for row in ws.iter_rows(max_row=4) for c in row)
    assert "5000" in text
    assert " 3" in text
    assert found["as_of"] in text
    assert not [c for row in ws.iter_rows() for c in row if c.data_type == "f"]
    with zipfile.ZipFile(path) as z:
        assert "xl/charts/chart1.xml" in z.namelist()


def test_same_run_same_bytes(tmp_path: Path) -> None:
    paths = [tmp_path / f"{i}.xlsx" for i in range(2)]
    for p in paths:
        assert main(["risk", "--draws", "2000", "-o", str(p)]) == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--draws", "many"], "--draws is 'many'"),
        (["--draws", "0"], "draws is 0"),
        (["-o", "risk.csv"], "does not end in .xlsx"),
        (["-o", "no-such-folder/risk.xlsx"], "does not exist"),
        (["--build", "no such"], "build 'no such'"),
        (["--lang", "fr", "-o", "risk.xlsx"], "fr"),
    ],
)
def test_refused(words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["risk", *words]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_existing_file_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "risk.xlsx"
    path.write_text("mine")
    assert main(["risk", "--draws", "100", "-o", str(path)]) == 2
    assert path.read_text() == "mine"
    assert "--force" in capsys.readouterr().err
