"""The command `gpuecon check`: exit codes, table, fix list, JSON, SARIF; refusals write nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from edits import Edited

from gpuecon_xl.audit.findings import LEVELS
from gpuecon_xl.cli import main


@pytest.fixture(scope="module")
def faulty(templates: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A German book with three faults."""
    e = Edited(templates["de"])
    e.put("Prices", "L4", "source", None)
    e.put("Prices", "L40", "typical", "7.013")
    e.write(e.cell("TcoCards", 2, "tco_eur"), 5_000)
    return e.save(tmp_path_factory.mktemp("check") / "mit Fehlern.xlsx")


def test_clean_book(templates: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(templates["en"]), "--fix-list"]) == 0
    assert capsys.readouterr().out == ""


def test_findings_as_table_in_the_language_of_the_book(faulty: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["check", str(faulty)]) == 1
    out = capsys.readouterr().out
    assert "4 Befunde" in out.splitlines()[0]
    for text in ("Der Wert 5000 wurde über eine Formel geschrieben", "Preise", "hat keine Quelle", "als Text gespeichert", "Zur Kenntnis"):
        assert text in out
    assert main(["check", str(faulty), "--lang", "da"]) == 1
    assert "4 fund" in capsys.readouterr().out.splitlines()[0]


def test_fix_list(faulty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(faulty), "--fix-list", "--lang", "en"]) == 1
    e = Edited(faulty)
    lines = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    place = e.place("TcoCards", 2, "tco_eur")
    assert lines[place] == e.cell("TcoCards", 3, "tco_eur").value  # the formula of the column
    assert lines[e.place("Prices", e.row("Prices", "L40"), "typical")] == "7013"
    assert len(lines) == 4


def test_json_and_sarif(faulty: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = tmp_path / "findings.json", tmp_path / "findings.sarif"
    assert main(["check", str(faulty), "--json", str(one), "--sarif", str(two)]) == 1
    found = json.loads(one.read_text(encoding="utf-8"))
    assert found["counts"] == {"constant": 1, "text_number": 1, "no_source": 1, "stale": 1}
    assert (found["lang"], found["version"], found["against"]) == ("de", "0.1.0", "template")
    assert {k for f in found["findings"] for k in f} == {"kind", "level", "sheet", "cell", "count", "text", "due"}
    capsys.readouterr()
    assert main(["check", str(faulty), "--json", "-"]) == 1
    printed = capsys.readouterr().out
    assert json.loads(printed) == found
    assert main(["check", str(faulty), "--json"]) == 1
    assert capsys.readouterr().out == printed
    log = json.loads(two.read_text(encoding="utf-8"))
    assert log["version"] == "2.1.0"
    run = log["runs"][0]
    rules = [r["id"] for r in run["tool"]["driver"]["rules"]]
    assert rules == list(LEVELS)
    told = [r for r in run["results"] if r["level"] != "note"]
    assert [r["ruleId"] for r in told] == [f["kind"] for f in found["findings"]]
    for result, f in zip(told, found["findings"], strict=True):
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        assert f["text"] in result["message"]["text"]
        place = result["locations"][0]
        assert place["logicalLocations"][0]["fullyQualifiedName"] == f"{f['sheet']}!{f['cell']}"
        assert place["physicalLocation"]["artifactLocation"]["uri"].endswith("mit%20Fehlern.xlsx")
    assert {r["level"] for r in run["results"]} == {"error", "note"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["{d}/nowhere.xlsx"], "no such file"),
        (["{d}"], "folder"),
        (["{d}/notes.xlsx"], "is not an .xlsx workbook"),
        ([""], "BOOK is empty"),
        (["{b}", "--lang", "fr"], "language 'fr' does not exist"),
        (["{b}", "--json", "{d}/no/findings.json"], "does not exist"),
        (["{b}", "--json", "{d}/there.json"], "exists already"),
        (["{b}", "--json", "{b}"], "name of a workbook"),
        (["{b}", "--sarif", ""], "--sarif is empty"),
        (["{b}", "--json", "-", "--sarif", "-"], "cannot both be printed"),
        (["{b}", "--json", "-", "--fix-list"], "--fix-list is printed"),
        (["{b}", "--json", "{d}/a", "--sarif", "{d}/a"], "named twice"),
    ],
)
def test_refusals(words: list[str], told: str, faulty: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.xlsx").write_text("not a workbook")
    (tmp_path / "there.json").write_text("kept")
    before = sorted(p.name for p in tmp_path.iterdir())
    assert main(["check", *(w.format(d=tmp_path, b=faulty) for w in words)]) == 2
    out = capsys.readouterr()
    assert told in out.err
    assert (out.out, len(out.err.splitlines())) == ("", 1)
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    assert (tmp_path / "there.json").read_text() == "kept"


def test_an_existing_file_is_replaced_with_force(faulty: Path, tmp_path: Path) -> None:
    out = tmp_path / "there.json"
    out.write_text("old")
    assert main(["check", str(faulty), "--json", str(out), "--force"]) == 1
    assert json.loads(out.read_text(encoding="utf-8"))["counts"]
    assert [p.name for p in tmp_path.iterdir()] == ["there.json"]


def test_the_book_is_not_changed(faulty: Path) -> None:
    before = faulty.read_bytes(), faulty.stat().st_mtime_ns
    main(["check", str(faulty), "--fix-list"])
    assert (faulty.read_bytes(), faulty.stat().st_mtime_ns) == before
