"""Rows of measurements: what is read, what is left out and why, what a bad file says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from measurement_files import collection_file, own_file

from gpuecon_xl.catalog import shipped
from gpuecon_xl.errors import BadFile
from gpuecon_xl.validation import measurement
from gpuecon_xl.validation.measurement import METRICS, Measurement, read_measurements

DECODE = {"metric": "decode_tok_s_single"}
FIRST = {"metric": "ttft_ms", "unit": "ms"}
MLPERF = {"note": "MLPerf Inference, offline", "model": "llama2-70b", "batch": "", "input_tokens": "", "output_tokens": ""}


def only(path: Path) -> Measurement:
    found = read_measurements(path)
    assert not found.left_out
    (m,) = found.rows
    return m


def test_both_forms_say_the_same(tmp_path: Path) -> None:
    own, theirs = only(own_file(tmp_path / "a.csv", {})), only(collection_file(tmp_path / "b.csv", {}))
    assert replace(own, id="") == replace(theirs, id="")
    assert (own.id, theirs.id) == ("X1", "line 2")
    assert (own.gpu, own.model, own.batch, own.value, own.mode, own.static) == ("H100 SXM", "Llama 3.1 8B", 16, 1500, "serving", False)
    assert own.group == ("someone/measured", "H100 SXM", "Llama 3.1 8B", "fp8")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"confidence": "stated"}, "not_measured"),
        ({"value": ""}, "no_value"),
        ({"value": "0"}, "no_value"),
        ({"metric": "watts"}, "other_metric"),
        ({"unit": "ratio"}, "other_metric"),
        ({**FIRST, "unit": "tok/s", "batch": "1"}, "other_metric"),
        ({"note": "Poisson 4 req/s"}, "rate_limited"),
        ({"note": "load-limited"}, "rate_limited"),
        ({"note": "CPU-bound"}, "client_bound"),
        ({"batch": "", "note": "concurrency not in the table"}, "concurrency_unknown"),
        ({**DECODE, "batch": ""}, "concurrency_unknown"),
        ({"note": "moe_tp=8"}, "impossible_count"),
        ({"model": "Mixtral 8x7B", "note": "dummy weights"}, "dummy_routing"),
        ({**MLPERF, "model": "llama2-70b-pruned"}, "lengths_unknown"),
        ({**MLPERF, "model": "gpt-j"}, "lengths_unknown"),
        ({"input_tokens": ""}, "lengths_unknown"),
        ({"output_tokens": ""}, "lengths_unknown"),
        ({"metric": "prefill_tok_s", "input_tokens": ""}, "lengths_unknown"),
        ({**FIRST, "batch": "16"}, "first_token_waits"),
        ({**FIRST, "batch": "2", "engine": "llama.cpp b4000"}, "first_token_waits"),
        ({"precision": ""}, "precision_unknown"),
        ({**MLPERF, "precision": "", "gpu": "RTX 4090"}, "precision_unknown"),
    ],
)  # fmt: skip
def test_left_out(change: dict[str, Any], reason: str, tmp_path: Path) -> None:
    found = read_measurements(own_file(tmp_path / "a.csv", {}, change))
    assert found.left_out == {reason: [3]}
    assert len(found.rows) == 1


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"model": "Llama 3.1 8B", "note": "dummy weights"}, {"model": "Llama 3.1 8B"}),
        ({**DECODE, "batch": "1", "input_tokens": "", "output_tokens": ""}, {"input_tokens": 128, "output_tokens": 128}),
        ({**DECODE, "batch": "1", "input_tokens": ""}, {"input_tokens": 64, "output_tokens": 256}),
        ({"input_tokens": "", "note": "short prompt"}, {"input_tokens": 64}),
        ({**FIRST, "batch": "8", "output_tokens": ""}, {"output_tokens": 128}),
        ({"metric": "prefill_tok_s", "batch": "", "input_tokens": "", "note": "LocalScore"}, {"input_tokens": 1024, "output_tokens": 1, "batch": 1}),
        ({"batch": ""}, {"batch": None, "mode": "max"}),
        ({"precision": "", "note": "unquantised"}, {"precision": "bf16"}),
        ({"tp": "4", "pp": "4", "gpus": "8"}, {"tp": 4, "pp": 2}),
        ({"tp": "", "pp": "", "gpus": "8"}, {"tp": None, "pp": 1, "gpus": 8}),
        ({"gpu": "H100"}, {"gpu": "H100 SXM", "gpu_stated": "H100"}),
        ({"engine": "vLLM", "as_of": "2024-08"}, {"engine": "vLLM (2024)"}),
        ({"engine": "vLLM", "as_of": "2025-08"}, {"engine": "vLLM"}),
        ({"engine": ""}, {"engine": None}),
        ({"engine": "TensorRT-LLM 0.9.0"}, {"static": True, "mode": "static"}),
        ({"source": "https://github.com/argonne-lcf/LLM-Inference-Bench/blob/main/a.csv"}, {"static": True}),
        ({"note": "S_TG"}, {"metric": "decode_tok_s_single", "value": 1500 / 16, "static": True}),
        (MLPERF, {"input_tokens": 222, "output_tokens": 294, "mode": "mlperf", "batch": None, "model": "meta-llama/Llama-2-70b-chat-hf"}),
        ({**MLPERF, "precision": "", "engine": "", "gpu": "B200"}, {"precision": "nvfp4", "engine": "TensorRT-LLM"}),
        ({**MLPERF, "precision": "", "engine": "", "gpu": "MI300X"}, {"precision": "fp8", "engine": "vLLM"}),
        ({"input_tokens": "2048.7"}, {"input_tokens": 2048.7}),
        ({"source": "A text, 2026"}, {"source": "A text, 2026"}),
        ({"source": "https://www.example.org/a/b.html"}, {"source": "example.org/a"}),
    ],
)  # fmt: skip
def test_completed(change: dict[str, Any], expected: dict[str, Any], tmp_path: Path) -> None:
    m = only(own_file(tmp_path / "a.csv", change))
    assert {k: getattr(m, k) for k in expected} == expected


def test_every_problem_of_a_file_at_once(tmp_path: Path) -> None:
    bad = own_file(tmp_path / "a.csv", {"batch": "many"}, {}, {"value": "-3", "tp": "1.5"}, {"input_tokens": "nan"})
    with pytest.raises(BadFile) as refusal:
        read_measurements(bad)
    text = str(refusal.value)
    for part in ("4 problems", "line 2 column batch is 'many'", "line 4 column value is '-3'", "line 4 column tp is '1.5'; a whole number",
                 "line 5 column input_tokens is 'nan'"):  # fmt: skip
        assert part in text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "lacks the column gpu"),
        (b"gpu,gpu_count\nL4,1\n", "lacks the column tp, pp, model, precision_weights"),
        (b"gpu,model\nL4,x\n", "lacks the column gpus"),
        (b"\xff\xfe\x00x", "not UTF-8"),
    ],
)
def test_no_table_of_measurements(content: bytes, text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(BadFile, match=text):
        read_measurements(path)


def test_missing_empty_crooked_and_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadFile, match="no such file"):
        read_measurements(tmp_path / "none.csv")
    with pytest.raises(BadFile, match="holds no row"):
        read_measurements(own_file(tmp_path / "empty.csv"))
    crooked = own_file(tmp_path / "crooked.csv", {})
    crooked.write_text(crooked.read_text().rstrip("\n").rstrip("\r") + ",one,more\n")
    with pytest.raises(BadFile, match="more cells than the header"):
        read_measurements(crooked)
    two = own_file(tmp_path / "two.csv", {}, {})
    monkeypatch.setattr(measurement, "MAX_ROWS", 1)
    with pytest.raises(BadFile, match="more than 1 rows"):
        read_measurements(two)
    monkeypatch.setattr(measurement, "MAX_FILE_BYTES", 10)
    with pytest.raises(BadFile, match="at most 10 are read"):
        read_measurements(two)


# ------------------------------------------------------------------------------------------------ the shipped ones

LICENCES = {"Apache-2.0", "MIT", "BSD-3-Clause"}


def test_shipped_measurements() -> None:
    rows = shipped().rows("benchmarks")
    assert 300 <= len(rows) <= 600
    measured = [r for r in rows if r["confidence"] == "measured"]
    assert [r["id"] for r in measured] == [f"M{i:03d}" for i in range(1, len(measured) + 1)]
    assert len({r["id"] for r in rows}) == len(rows)
    models = {r["model"] for r in shipped().rows("models")}
    for r in measured:
        assert r["source"].startswith("https://github.com/"), r["id"]
        assert r["licence"] in LICENCES, r["id"]
        assert r["as_of"], r["id"]
        assert r["engine"], r["id"]
        assert r["note"], r["id"]
        assert r["model"] in models, r["id"]  # look-ups in the workbook know no aliases
        assert r["metric"] in METRICS, r["id"]
        assert r["unit"] == ("ms" if r["metric"] == "ttft_ms" else "tok/s"), r["id"]
        assert r["value"] > 0, r["id"]
        assert (r["tp"] or 1) * (r["pp"] or 1) <= r["gpus"], r["id"]
    for column, least in (("gpu", 20), ("model", 25), ("precision", 6), ("metric", 4), ("source", 90)):
        assert len({r[column] for r in measured}) >= least, column


def test_every_shipped_measurement_can_be_compared() -> None:
    found = read_measurements()
    stated = [r for r in shipped().rows("benchmarks") if r["confidence"] != "measured"]
    assert set(found.left_out) == {"not_measured"}
    assert len(found.left_out["not_measured"]) == len(stated)
