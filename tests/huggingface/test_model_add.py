"""``gpuecon model add``: what it prints and writes, and that calculations and workbooks use the row."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from config_files import FOLDER, config_of, written

import gpuecon_xl as gx
from gpuecon_xl import cli
from gpuecon_xl.catalog import shipped_folder
from gpuecon_xl.huggingface.row import header_row

CONFIG = str(FOLDER / "qwen3-32b.json")
NAME = ("--name", "me/My-Qwen-32B")


def _run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = cli.main(["model", "add", *words])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_prints_the_row(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _run(capsys, CONFIG, *NAME, "--aliases", "mq | my big one")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == header_row()
    assert len(rows) == 1
    row = rows[0]
    assert (row["model"], row["hf_id"], row["aliases"]) == ("My-Qwen-32B", "me/My-Qwen-32B", "mq | my big one")
    assert (row["params_b"], row["layers"], row["allreduces_layer"], row["precision"]) == ("32.762123264", "64", "2", "bf16")
    assert (row["source"], row["confidence"]) == ("local file qwen3-32b.json of me/My-Qwen-32B", "datasheet")


def test_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = _run(capsys, CONFIG, *NAME, "--json", "--source", "https://huggingface.co/me/My-Qwen-32B")
    answer = json.loads(out)
    assert code == 0
    assert answer["file"] is None
    assert answer["row"]["params_b"] == 32.762123264
    assert answer["row"]["source"] == "https://huggingface.co/me/My-Qwen-32B"


def test_makes_a_file_and_adds_to_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine.csv"
    code, out, _ = _run(capsys, CONFIG, *NAME, "--to", str(mine))
    assert code == 0
    assert f"{mine}: My-Qwen-32B added, 32.76e9 parameters, bf16" in out
    first = mine.read_bytes()
    assert _run(capsys, str(FOLDER / "gpt-oss-20b.json"), "--name", "Own MoE", "--to", str(mine))[0] == 0
    assert mine.read_bytes().startswith(first)
    assert [r["model"] for r in csv.DictReader(io.StringIO(mine.read_text(encoding="utf-8")))] == ["My-Qwen-32B", "Own MoE"]
    assert [p.name for p in tmp_path.iterdir()] == ["mine.csv"]  # nothing is left beside it


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_keeps_what_a_spreadsheet_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str], newline: str) -> None:
    """A mark at the start, line ends of Windows, other order of columns, no line end after the last row."""
    with (shipped_folder() / "models.csv").open(encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    columns = list(reversed(row))
    text = newline.join([",".join(columns), ",".join(row[c] for c in columns)])
    assert '"' not in text
    mine = tmp_path / "mine.csv"
    mine.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert _run(capsys, CONFIG, *NAME, "--to", str(mine))[0] == 0
    content = mine.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf" + text.encode() + newline.encode())
    assert content.endswith(newline.encode())
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert [r["model"] for r in rows] == [row["model"], "My-Qwen-32B"]
    assert (rows[1]["layers"], rows[1]["hidden"]) == ("64", "5120")


def test_calculations_use_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine.csv"
    _run(capsys, CONFIG, *NAME, "--aliases", "mq", "--to", str(mine))
    catalog = gx.load_catalog(mine)
    assert len(catalog.rows("models")) == len(gx.load_catalog().rows("models")) + 1
    shipped = gx.tokps("Qwen3-32B", "RTX PRO 6000 Server", "fp8", 8)
    for name in ("My-Qwen-32B", "mq", "me/My-Qwen-32B", "Qwen3-32B"):
        assert gx.tokps(name, "RTX PRO 6000 Server", "fp8", 8, catalog=catalog) == pytest.approx(shipped, rel=1e-3)
    assert gx.fits("mq", "RTX 5090", catalog=str(mine)) == "no"
    assert cli.main(["tokps", "mq", "L40S", "--precision", "fp8", "--catalog", str(mine)]) == 0
    assert "token/s" in capsys.readouterr().out


def test_a_row_of_a_known_name_replaces_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine.csv"
    tree = config_of("qwen3-32b") | {"max_position_embeddings": 131072}
    _run(capsys, str(written(tmp_path, tree)), "--name", "Qwen/qwen3-32b", "--to", str(mine))
    catalog = gx.load_catalog(mine)
    assert len(catalog.rows("models")) == len(gx.load_catalog().rows("models"))
    assert catalog.find_model("Qwen3-32B")[0]["max_context"] == 131072
    assert gx.load_catalog().find_model("Qwen3-32B")[0]["max_context"] == 40960


def test_own_alias_goes_before_a_shipped_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine.csv"
    _run(capsys, CONFIG, *NAME, "--aliases", "Llama-8B", "--to", str(mine))
    assert gx.load_catalog().find_model("Llama-8B")[0]["model"] == "Llama 3.1 8B"
    assert gx.load_catalog(mine).find_model("Llama-8B")[0]["model"] == "My-Qwen-32B"


def test_workbook_holds_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine, book = tmp_path / "mine.csv", tmp_path / "book.xlsx"
    _run(capsys, CONFIG, *NAME, "--to", str(mine))
    assert cli.main(["template", str(book), "--catalog", str(mine)]) == 0
    sheet = next(s for s in openpyxl.load_workbook(book).worksheets if "Models" in s.tables)
    head, *rows = sheet[sheet.tables["Models"].ref]
    column = [c.value for c in head].index("model")
    row = next(r for r in rows if r[column].value == "My-Qwen-32B")
    assert row[[c.value for c in head].index("hidden")].value == 5120
    assert gx.load_catalog(book).find_model("My-Qwen-32B")[0]["layers"] == 64


def test_any_table_may_be_one_file(tmp_path: Path) -> None:
    with (shipped_folder() / "prices.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    row = next(r for r in rows if r["gpu"] == "L4") | {"low": "1", "typical": "2", "high": "3"}
    path = tmp_path / "own.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)
    catalog = gx.load_catalog(path)
    assert catalog.find("prices", "L4")["typical"] == 2
    assert len(catalog.rows("prices")) == len(rows)
    assert catalog.assumptions == gx.load_catalog().assumptions


# ------------------------------------------------------------------------------------------------ refusals: exit 2, nothing written


def _refused(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> str:
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    code, out, err = _run(capsys, *words)
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before
    return err


def test_a_second_row_of_the_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = str(tmp_path / "mine.csv")
    _run(capsys, CONFIG, *NAME, "--to", mine)
    assert "has a row 'my qwen 32b' already" in _refused(capsys, tmp_path, CONFIG, "--name", "my qwen 32b", "--to", mine)


def test_a_file_of_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_bytes((shipped_folder() / "prices.csv").read_bytes())
    assert "holds the table prices; a file of models is due" in _refused(capsys, tmp_path, CONFIG, *NAME, "--to", str(prices))
    odd = tmp_path / "odd.csv"
    odd.write_text("a,b\n1,2\n", encoding="utf-8")
    assert "line 1 is the header row of no table" in _refused(capsys, tmp_path, CONFIG, *NAME, "--to", str(odd))
    short = tmp_path / "short.csv"
    short.write_text("model,params_b,layers\nx,1,2\n", encoding="utf-8")
    assert "line 1 lacks the column hf_id" in _refused(capsys, tmp_path, CONFIG, *NAME, "--to", str(short))
    latin = tmp_path / "latin.csv"
    latin.write_bytes(b"model,\xff\n")
    assert "is not UTF-8 text" in _refused(capsys, tmp_path, CONFIG, *NAME, "--to", str(latin))


def test_bad_rows_are_named_all_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine.csv"
    _run(capsys, CONFIG, *NAME, "--to", str(mine))
    mine.write_text(mine.read_text(encoding="utf-8").replace(",5120,", ",wide,").replace(",151936,", ",-4,"), encoding="utf-8")
    err = _refused(capsys, tmp_path, CONFIG, "--name", "other", "--to", str(mine))
    assert "line 2 column hidden is 'wide'" in err
    assert "line 2 column vocab is -4" in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--to", "mine.txt"), "does not end in .csv"),
        (("--to", "none/mine.csv"), "the folder none does not exist"),
        (("--to", " "), "--to is empty"),
        (("--index", ""), "--index is empty"),
        (("--index", "none.json"), "none.json: no such file"),
        (("--name", " "), "--name with what the model is called"),
        (("--name", "=HYPERLINK(1)"), "'=HYPERLINK(1)'"),
        (("--name", "two\nlines"), "'two\\nlines'"),
    ],
)
def test_bad_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sentence in _refused(capsys, tmp_path, CONFIG, *(() if "--name" in words else NAME), *words)


def test_bad_configuration_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree: Any = config_of("qwen3-32b")
    del tree["head_dim"]
    config = written(tmp_path, tree)
    err = _refused(capsys, tmp_path, str(config), *NAME, "--to", str(tmp_path / "mine.csv"))
    assert err == f"gpuecon: {config}: lacks the key head_dim; a complete config.json is due\n"


def test_unknown_action_and_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["model", "remove", "x"]) == 2
    assert "model 'remove' does not exist; add is due" in capsys.readouterr().err
    assert "no such file" in _refused(capsys, tmp_path, str(tmp_path / "config.json"), *NAME)
    assert "CONFIG.json is empty" in _refused(capsys, tmp_path, " ", *NAME)
    assert cli.main(["tokps", "Llama 3.1 8B", "L4", "--catalog", str(tmp_path / "none.csv")]) == 2
    assert "no such file" in capsys.readouterr().err
