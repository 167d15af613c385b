"""The command `gpuecon validate`: tables, JSON, languages, limits, refusals."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from measurement_files import collection_file, own_file

import gpuecon_xl as gx
from gpuecon_xl import cli
from gpuecon_xl.lang import LANGUAGES, load
from gpuecon_xl.validation import compare, figures, read_measurements
from gpuecon_xl.validation.command import _spans


def told(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    assert cli.main(["validate", *words, "--json"]) == code
    return json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_json_is_what_python_says(capsys: pytest.CaptureFixture[str]) -> None:
    got = told(capsys, "--by", "class+batch,engine")
    mine = compare(read_measurements().rows)
    whole = figures(mine)
    assert whole.by_group is not None
    assert (got["all"]["rows"], got["all"]["groups"], got["all"]["predicted"]) == (whole.rows, whole.groups, whole.predicted)
    assert got["all"]["by_group"]["median"] == whole.by_group.median
    assert set(got["by"]) == {"class+batch", "engine"}
    for rows in got["by"].values():
        assert sum(r["rows"] for r in rows) == whole.rows
    assert [r["id"] for r in got["refused"]] == [c.measurement.id for c in mine if c.refusal]
    assert got["left_out"]["not_measured"]["rows"] == sum(r["confidence"] != "measured" for r in gx.load_catalog().rows("benchmarks"))
    assert got["missed"] == {}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_tables_in_a_language(lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # nothing wraps
    texts = load(lang)
    path = collection_file(tmp_path / "a.csv", {}, {"gpu": "RTX 5090", "batch": "1"}, {"model": "Nothing 9B"}, {"note": "Poisson"})
    assert cli.main(["validate", str(path), "--lang", lang, "--by", "class,batch,metric,moe,mode"]) == 0
    said = capsys.readouterr().out
    for key in ("class_sxm", "class_pcie_other", "metric_output_tok_s_total", "moe_dense", "mode_serving", "unknown", "left_rate_limited", "refused"):
        assert texts(f"validate.{key}") in said, key
    assert "'Nothing 9B'" in said
    assert texts("validate.lines", lines="4") in said
    assert "validate." not in said.replace(str(path), "")


def test_every_code_has_a_text() -> None:
    """A code without a text would show itself."""
    import gpuecon_xl.validation.measurement as m

    text = Path(m.__file__).read_text(encoding="utf-8")
    reasons = set(re.findall(r'return "([a-z]+(?:_[a-z]+)+)"', text)) - {"prefill_output"}
    assert len(reasons) >= 11
    for lang in LANGUAGES:
        texts = load(lang)
        for reason in reasons:
            assert texts(f"validate.left_{reason}")
        for metric in m.METRICS:
            assert texts(f"validate.metric_{metric}")


def test_limits(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    p = gx.predict("Llama 3.1 8B", "H100 SXM", "fp8", batch=16, engine="vLLM 0.9.0", tp=1)
    path = str(own_file(tmp_path / "a.csv", {"value": f"{p.output_tok_s / 1.2}"}))
    assert told(capsys, path, "--max-median", "21", "--max-p90", "21")["missed"] == {}
    missed = told(capsys, path, "--max-median", "19", "--max-p90", "21", code=1)["missed"]
    assert missed == {"max_median": {"limit": 19.0, "reached": pytest.approx(20)}}
    assert cli.main(["validate", path, "--max-p90", "19"]) == 1
    assert load("en")("validate.missed_max_p90", limit="19", reached="20.0") in capsys.readouterr().out
    none = str(own_file(tmp_path / "none.csv", {"model": "Nothing 9B"}))
    assert cli.main(["validate", none, "--max-median", "50"]) == 1  # nothing was predicted: the limit is not kept


def test_options_and_catalog_reach_the_prediction(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = str(own_file(tmp_path / "a.csv", {}))
    plain = told(capsys, path)["all"]["by_row"]["bias"]
    ideal = told(capsys, path, "--options", "mode=ceiling")["all"]["by_row"]["bias"]
    assert ideal > plain
    gpus = (Path(__file__).parents[2] / "catalog" / "gpus.csv").read_text(encoding="utf-8")
    (tmp_path / "gpus.csv").write_text(gpus.replace("\nH100 SXM,", "\nH100 SXM old,").replace("\nH100 PCIe,", "\nH100 SXM,"), encoding="utf-8")
    other = told(capsys, path, "--catalog", str(tmp_path / "gpus.csv"))["all"]["by_row"]["bias"]
    assert other != plain


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["none.csv"], "no such file"),
        (["--by", "colour"], "--by 'colour' does not exist"),
        (["--max-median", "low"], "--max-median is 'low'"),
        (["--lang", "fr"], "language 'fr' does not exist"),
        (["--options", "nonsense=1"], "option 'nonsense' does not exist"),
        (["bad.csv"], "column value is 'x'"),
    ],
)
def test_refusals(words: list[str], text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    own_file(tmp_path / "bad.csv", {"value": "x"})
    assert cli.main(["validate", *words]) == 2
    said = capsys.readouterr()
    assert text in said.err
    assert not said.out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.csv"]


def test_lines_in_a_short_form() -> None:
    assert _spans([19, 14, 17, 18]) == "14, 17-19"
    assert _spans([2]) == "2"
