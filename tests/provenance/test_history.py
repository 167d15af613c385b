"""Prices by date: today's prices stand in the history, what was written stays, a chart only where there is a course."""

from __future__ import annotations

import csv
import datetime as dt
import hashlib
import json
import re
import zipfile
from pathlib import Path

import openpyxl
import pytest

from gpuecon_xl import cli
from gpuecon_xl.catalog import shipped, shipped_folder
from gpuecon_xl.lang import LANGUAGES, load
from gpuecon_xl.provenance.history import COLUMNS, courses, prices_by_date, read_history, shipped_history
from gpuecon_xl.provenance.history_book import write_history

HEAD = ",".join(COLUMNS)

# The first rows of the history as they were written. Rows are added below; these never change.
KEPT_LINES = 24
KEPT = "4f5497ea56bc34051b047732b4a5212812d06a42d022d1820fc177054838ce77"


def own(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "history.csv"
    path.write_text("\n".join((HEAD, *lines)) + "\n", encoding="utf-8")
    return path


COURSE = (
    "RTX 5090,2125,2800,3500,EUR,EU street,Offer A,2026-05,stated",
    "L4,2500,2704,2974,EUR,EU street,Offer A,2026-05,stated",
    "RTX 5090,2600,3190,3900,EUR,EU street,Offer C,2026-11-20,stated",
    "RTX 5090,,2990,,EUR,EU street,Offer B,2026-08,stated",
    "RTX 5090,,3300,,USD,US street,Offer D,2026-08,stated",
)


def test_every_price_of_today_stands_in_the_history() -> None:
    written = [{c: r[c] for c in COLUMNS} for r in read_history()]
    missing = [r["gpu"] for r in shipped().rows("prices") if {c: r[c] for c in COLUMNS} not in written]
    assert not missing, f"add the rows of {', '.join(missing)} to {shipped_history()}; see CONTRIBUTING, A price"


def test_what_was_written_stays() -> None:
    lines = shipped_history().read_text(encoding="utf-8").splitlines()
    assert hashlib.sha256("\n".join(lines[:KEPT_LINES]).encode()).hexdigest() == KEPT


def test_no_price_is_written_twice() -> None:
    with shipped_history().open(newline="", encoding="utf-8") as file:
        rows = [(r["gpu"], r["currency"], r["channel"], r["as_of"], r["source"]) for r in csv.DictReader(file)]
    assert len(set(rows)) == len(rows)
    assert {r[0] for r in rows} <= {str(r["gpu"]) for r in shipped().rows("gpus")}


def test_it_ships() -> None:
    assert shipped_history().is_relative_to(shipped_folder())


def test_rows_of_a_card_by_date(tmp_path: Path) -> None:
    rows = prices_by_date("5090", own(tmp_path, *COURSE))
    assert [(r["currency"], r["as_of"], r["typical"]) for r in rows] == [
        ("EUR", dt.date(2026, 5, 1), 2800.0), ("EUR", dt.date(2026, 8, 1), 2990.0), ("EUR", dt.date(2026, 11, 20), 3190.0),
        ("USD", dt.date(2026, 8, 1), 3300.0),
    ]  # fmt: skip
    assert list(courses(rows)) == [("RTX 5090", "EUR")]


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["price-history", "RTX 5090", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    row = shipped().find("prices", "RTX 5090")
    assert {c: v if c != "as_of" else str(row["as_of"]) for c, v in answer["prices"][-1].items()} == {
        c: row[c] if c != "as_of" else str(row["as_of"]) for c in COLUMNS
    }
    assert cli.main(["price-history", "Arc Pro B60", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["prices"][0]["gpu"] == "Arc Pro B60"
    assert cli.main(["price-history"]) == 0
    assert "Arc" in capsys.readouterr().out  # a narrow terminal breaks names


@pytest.mark.parametrize("lang", LANGUAGES)
def test_chart_only_where_there_are_two_dates(tmp_path: Path, capsys: pytest.CaptureFixture[str], lang: str) -> None:
    out = tmp_path / "out.xlsx"
    assert cli.main(["price-history", "--history", str(own(tmp_path, *COURSE)), "-o", str(out), "--lang", lang]) == 0
    ws = openpyxl.load_workbook(out).active
    assert ws is not None
    assert len(ws._charts) == 1
    with zipfile.ZipFile(out) as package:
        chart = package.read("xl/charts/chart1.xml").decode()
    areas = re.findall(r"<c:yVal><c:numRef><c:f>'[^']+'!\$C\$(\d+):\$C\$(\d+)", chart)
    assert [ws.cell(r, 3).value for r in range(int(areas[0][0]), int(areas[0][1]) + 1)] == [2800, 2990, 3190]
    assert cli.main(["price-history", "L4", "-o", str(tmp_path / "one.xlsx"), "--lang", lang]) == 0
    assert load(lang)("history.no_chart") in capsys.readouterr().out
    one = openpyxl.load_workbook(tmp_path / "one.xlsx").active
    assert one is not None
    assert not one._charts
    assert one["A5"].value == "L4"


def test_same_rows_same_bytes(tmp_path: Path) -> None:
    rows = prices_by_date(None, own(tmp_path, *COURSE))
    for name in ("a.xlsx", "b.xlsx"):
        write_history(tmp_path / name, rows, load("en"))
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


def test_all_problems_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = own(tmp_path, "L4,1,cheap,3,GBP,x,,2026-05,stated", "L4,1,,3,EUR,x,A,soon,stated")
    assert cli.main(["price-history", "--history", str(path), "-o", str(tmp_path / "out.xlsx")]) == 2
    err = capsys.readouterr().err
    for place in ("line 2 column typical", "line 2 column currency", "line 2 column source", "line 3 column typical", "line 3 column as_of"):
        assert place in err
    assert not (tmp_path / "out.xlsx").exists()


@pytest.mark.parametrize(
    ("words", "due"),
    [
        (["RTX 6090"], "nearest: RTX 5090"),
        (["RTX A6000"], "no price of RTX A6000 is in the history"),
        (["L4", "--history", "none.csv"], "no such file"),
        (["L4", "-o", "out.csv"], "does not end in .xlsx"),
        (["L4", "--lang", "fr"], "one of en, de, da"),
    ],
)
def test_refused_in_one_sentence(words: list[str], due: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["price-history", *words]) == 2
    err = capsys.readouterr().err
    assert due in err
    assert err.count("\n") == 1


def test_a_history_without_its_columns_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "h.csv").write_text("gpu,price\nL4,1\n", encoding="utf-8")
    assert cli.main(["price-history", "--history", str(tmp_path / "h.csv")]) == 2
    assert "lacks the column low" in capsys.readouterr().err
