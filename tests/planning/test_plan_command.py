"""The command `gpuecon plan`: JSON, workbook, CSV, three languages, refusals in one sentence."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from plan_parts import CATALOG

import gpuecon_xl as gx
from gpuecon_xl import cli
from gpuecon_xl.lang import LANGUAGES, load
from gpuecon_xl.planning.words import LOCALE, Words

ASK = ["plan", "--model", "Llama 3.1 8B", "--users", "32", "--input", "1024", "--output", "256", "--tpot-ms", "40", "--options", "plan_cards_max=8"]


def plan() -> gx.Plan:
    return gx.plan("Llama 3.1 8B", 32, 1024, 256, tpot_ms=40, options="plan_cards_max=8")


def test_json_is_what_python_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*ASK, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    mine = plan()
    assert told["winner"] == mine.winner.to_dict()
    assert told["candidates"] == len(mine.candidates)
    assert told["kept"] == len(mine.ranked)
    assert [x["cost_eur_mtok"] for x in told["front"]] == [e.build.cost_eur_mtok for e in mine.front]
    assert len(told["others"]) == len(mine.best_of_each)
    assert told["question"]["limits"] == {"users": 32, "headroom": 0.15, "tpot_ms": 40, "max_cards": 8}
    assert all(x["why"] for x in told["front"] + told["others"])
    for figures in told["recheck"].values():
        assert figures["search"] == pytest.approx(figures["function"], rel=1e-9)
    assert {x["reason"] for x in told["left_out"]} == {"engine", "no_price", "not_for_sale"}
    assert told["steps"][-1]["quantity"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_workbook_holds_answer_reasons_and_steps(lang: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "plan.xlsx"
    assert cli.main([*ASK, "-o", str(out), "--lang", lang]) == 0
    said = capsys.readouterr().out
    mine, words = plan(), Words(lang)
    assert words.question(mine) in said
    assert str(out) in said
    book = openpyxl.load_workbook(out)
    assert book.sheetnames == [words("sheet_plan"), words("sheet_others"), words("sheet_steps")]
    cells = [c for ws in book for row in ws.iter_rows() for c in row if c.value is not None]
    assert not [c.coordinate for c in cells if c.data_type == "f"]
    assert not [c for c in cells if isinstance(c.value, str) and c.value.startswith("plan.")]
    rows = list(book[words("sheet_others")].iter_rows(min_row=3, values_only=True))
    assert len(rows) == len(mine.best_of_each)
    for row, entry in zip(rows, mine.best_of_each, strict=True):
        assert row[0] == entry.build.gpu
        assert row[7] == (pytest.approx(entry.build.cost_eur_mtok, rel=1e-12) if math.isfinite(entry.build.cost_eur_mtok) else None)
        assert row[-1] == words.why(entry.reason)
    steps = {r[0]: r[1] for r in book[words("sheet_steps")].iter_rows(values_only=True) if r[0]}
    for name, value, _, _ in mine.steps():
        assert steps[name] == (value if isinstance(value, str) else pytest.approx(float(value), rel=1e-12)), name
    front = [r for r in book[words("sheet_plan")].iter_rows(values_only=True) if r[0] == mine.winner.gpu and r[16] == 1]
    assert len(front) == 1
    assert front[0][8] == pytest.approx(mine.winner.answer_s, rel=1e-12)
    assert len(book[words("sheet_plan")]._charts) == 1


def test_same_question_same_bytes(tmp_path: Path) -> None:
    for name in ("a.xlsx", "b.xlsx"):
        assert cli.main([*ASK, "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


def test_csv_explains_every_candidate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "plan.csv"
    assert cli.main([*ASK, "--csv", str(out), "--ecc"]) == 0
    capsys.readouterr()
    mine = gx.plan("Llama 3.1 8B", 32, 1024, 256, tpot_ms=40, ecc=True, options="plan_cards_max=8")
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(mine.candidates)
    names = {e.build.named() for e in mine.front}
    for place, row in enumerate(rows):
        over = [k for k, v in row.items() if k.startswith("over_") and v]
        if row["reason"] == "limits":
            assert over
            assert not row["rank"]
        else:
            assert not over
            assert int(row["rank"]) == mine.rank[place]
            assert (row["beaten_by"] in names) == (row["reason"] == "dominated")
    assert sum(r["reason"] == "winner" for r in rows) == 1
    assert sum(r["reason"] in ("winner", "front") for r in rows) == len(mine.front)
    assert all(r["over_ecc"] == "never" for r in rows if r["gpu"] == "RTX 5090")


def test_names_in_a_book_never_become_formulas(tmp_path: Path) -> None:
    from gpuecon_xl.planning.sheet import write_plan

    row = dict(CATALOG.find("gpus", "L4"), gpu='=HYPERLINK("x")', aliases="")
    price = dict(CATALOG.find("prices", "L4"), gpu=row["gpu"])
    catalog = gx.Catalog({**CATALOG.tables, "gpus": [row], "prices": [price]}, "test")
    made = gx.plan("Llama 3.1 8B", 8, 1024, 256, options="plan_cards_max=4", catalog=catalog)
    write_plan(tmp_path / "plan.xlsx", made, Words("en"))
    cells = [c for ws in openpyxl.load_workbook(tmp_path / "plan.xlsx") for r in ws.iter_rows() for c in r if c.value is not None]
    assert any(c.value == row["gpu"] for c in cells)
    assert not [c.coordinate for c in cells if c.data_type == "f"]


def test_texts_are_the_same_keys_in_every_language() -> None:
    keys = [load(lang).codes("plan.") for lang in LANGUAGES]
    assert keys[0] == keys[1] == keys[2]
    assert set(LOCALE) == set(LANGUAGES)


REFUSED: list[tuple[list[str], str]] = [
    ([], "--model, --users, --input, --output is missing"),
    (["--model", "Llama 3.1 8B", "--users", "x", "--input", "1", "--output", "1"], "users is 'x'"),
    ([*ASK[1:], "-o", "plan.csv"], "does not end in .xlsx"),
    ([*ASK[1:], "--csv", "plan.xlsx"], "does not end in .csv"),
    ([*ASK[1:], "-o", "none/plan.xlsx"], "make it first"),
    ([*ASK[1:], "-o", "there.xlsx"], "exists already"),
    ([*ASK[1:], "--lang", "fr"], "does not exist"),
    ([*ASK[1:], "--max-w", "10", "-o", "plan.xlsx", "--csv", "plan.csv"], "the tightest: max_w"),
    ([*ASK[1:], "--gpu", "RTX 6090", "-o", "plan.xlsx"], "nearest"),
    ([*ASK[1:], "--precision", "q4_0"], "vLLM does not take weights in q4_0"),
    ([*ASK[1:], "--catalog", "absent.xlsx"], "no such file"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=[w[1] for w in REFUSED])
def test_bad_input_in_one_sentence(words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.xlsx").write_bytes(b"mine")
    assert cli.main(["plan", *words]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""
    assert [p.name for p in tmp_path.iterdir()] == ["there.xlsx"]
    assert (tmp_path / "there.xlsx").read_bytes() == b"mine"


def test_an_edited_book_is_a_catalogue(templates: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A price that is edited in the book moves the plan; formats keep the engines that load them."""
    book = openpyxl.load_workbook(templates["en"])
    sheet = next(ws for ws in book if "Prices" in ws.tables)
    head, *rows = sheet[sheet.tables["Prices"].ref]
    names = [c.value for c in head]
    row = next(r for r in rows if r[names.index("gpu")].value == "L4")
    for column in ("low", "typical"):
        row[names.index(column)].value = 1
    book.save(tmp_path / "edited.xlsx")
    assert cli.main([*ASK, "--catalog", str(tmp_path / "edited.xlsx"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    before = {x["gpu"]: x for x in reversed([e.build.to_dict() for e in plan().best_of_each])}
    after = {x["gpu"]: x for x in reversed(told["others"])}
    assert after["L4"]["cost_eur_mtok"] < before["L4"]["cost_eur_mtok"]
    assert after["L40S"]["cost_eur_mtok"] == pytest.approx(before["L40S"]["cost_eur_mtok"])
    assert not any(x["precision"].startswith("exl3") for x in told["others"])
