"""The table Measured: rows chosen by id, predictions as `validate` makes them; the mark of thin data in Speed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest
from edits import Edited

from gpuecon_xl.catalog import shipped
from gpuecon_xl.lang import LANGUAGES, load
from gpuecon_xl.reader import book_values
from gpuecon_xl.validation import compare, read_measurements

CHOSEN_MOST = 60  # rows of some 80 formulas each: the template stays small


def table(path: Path, name: str, computed: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of a table: what is computed, else what stands in the cell."""
    book = Edited(path)
    cells = [[book.cell(name, r, h) for h in book.heads(name)] for r in range(book.count(name))]
    return [{h: computed[c.parent.title].get(c.coordinate, c.value) for h, c in zip(book.heads(name), row, strict=True)} for row in cells]


def test_the_texts_are_chosen_at_first(templates: dict[str, Path], core: dict[str, Any]) -> None:
    rows = table(templates["en"], "Measured", core["en"])
    stated = [r["id"] for r in shipped().rows("benchmarks") if r["confidence"] != "measured"]
    assert [r["id"] for r in rows if r["id"]] == stated
    assert len(stated) < len(rows) <= CHOSEN_MOST
    assert all(r["predicted"] in ("", None) for r in rows if not r["id"])


def test_any_benchmark_can_be_chosen(templates: dict[str, Path], tmp_path: Path) -> None:
    """With the row's own engine in Assumptions, the sheet says what `validate` says."""
    rows = read_measurements().rows
    comparable = [m for m in rows if m.engine == "vLLM" and m.batch and not m.static and m.metric != "ttft_ms" and m.gpus == 1
                  and m.input_tokens == round(m.input_tokens) and m.output_tokens == round(m.output_tokens)]  # fmt: skip
    wanted = {c.measurement.id: c for c in compare(comparable) if not c.refusal}
    totals = [m.id for m in rows if m.metric == "total_tok_s"][:1]
    first = [m.id for m in rows if m.metric == "ttft_ms"][:1]
    assert len(wanted) >= 6
    book = Edited(templates["en"])
    for i, name in enumerate([*list(wanted)[:20], *totals, *first]):
        book.write(book.cell("Measured", i, "id"), name)
    out = tmp_path / "chosen.xlsx"
    book.book.save(out)
    got = {r["id"]: r for r in table(out, "Measured", book_values(out))}
    for name, c in list(wanted.items())[:20]:
        assert got[name]["predicted"] == pytest.approx(c.predicted, rel=1e-9), name
        assert got[name]["stated"] == c.measurement.value
        assert got[name]["deviation"] == pytest.approx(c.ratio - 1, rel=1e-9, abs=1e-12)
    total = got[totals[0]]
    assert total["predicted"] == pytest.approx(total["output_tok_s"] * (1 + total["input_tokens"] / total["output_tokens"]))
    assert got[first[0]]["predicted"] == ""  # milliseconds are no rate


def test_an_id_that_is_not_there_shows_an_error_and_fails_the_check(templates: dict[str, Path], tmp_path: Path) -> None:
    book = Edited(templates["en"])
    book.write(book.cell("Measured", 0, "id"), "X99")
    out = tmp_path / "wrong.xlsx"
    book.book.save(out)
    values = book_values(out)
    rows = table(out, "Measured", values)
    assert rows[0]["predicted"] == "#N/A"
    assert rows[1]["predicted"] not in ("#N/A", "")
    check = {r["code"]: r for r in table(out, "Checks", values)}["errors_measured"]
    assert (check["figure"], check["ok"]) == (1, "no")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_thin_data_is_marked(lang: str, templates: dict[str, Path], core: dict[str, Any]) -> None:
    rows = table(templates[lang], "Speed", core[lang])
    least, word = shipped().assumption("thin_data_rows"), load(lang)("word.thin_data")
    assert {r["data_mark"] for r in rows} == {"", word}
    for r in rows:
        assert r["data_mark"] == (word if r["measurements"] < least else "")


def test_the_mark_follows_the_assumption(templates: dict[str, Path], tmp_path: Path) -> None:
    book = Edited(templates["en"])
    book.put("Assumptions", "thin_data_rows", "value", 0)
    out = tmp_path / "all.xlsx"
    book.book.save(out)
    assert {r["data_mark"] for r in table(out, "Speed", book_values(out))} == {""}


def test_a_list_offers_the_ids(templates: dict[str, Path]) -> None:
    book = openpyxl.load_workbook(templates["en"])
    at = Edited(templates["en"]).cell("Measured", 40, "id")
    rules = [v for v in book[at.parent.title].data_validations.dataValidation if at.coordinate in v]
    assert [v.type for v in rules] == ["list"]
    assert "Benchmarks" in rules[0].formula1
