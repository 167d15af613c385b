"""Measurements with their predictions: which figure is compared, bands, refusals, classes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from measurement_files import own_file

import gpuecon_xl as gx
from gpuecon_xl.validation import Compared, compare, read_measurements

LOAD: dict[str, Any] = {"batch": 16, "input_tokens": 1024, "output_tokens": 256, "tp": 1, "engine": "vLLM 0.9.0"}


def one(tmp_path: Path, **change: Any) -> Compared:
    (c,) = compare(read_measurements(own_file(tmp_path / "a.csv", change)).rows)
    return c


@pytest.mark.parametrize(
    ("change", "attribute", "factor", "batch"),
    [
        ({"metric": "output_tok_s_total"}, "output_tok_s", 1, 16),
        ({"metric": "total_tok_s"}, "total_tok_s", 1, 16),
        ({"metric": "prefill_tok_s"}, "prefill_tok_s", 1, 16),
        ({"metric": "ttft_ms", "unit": "ms", "batch": "4"}, "ttft_s", 1000, 4),
        ({"metric": "output_tok_s_total", "batch": ""}, "output_tok_s", 1, None),
        ({"metric": "decode_tok_s_single", "engine": "llama.cpp b4000"}, "decode_tok_s_user", 1, 16),
    ],
)
def test_which_figure_is_compared(change: dict[str, Any], attribute: str, factor: float, batch: float | None, tmp_path: Path) -> None:
    got = one(tmp_path, **change)
    out = 1 if change["metric"] == "prefill_tok_s" else 256
    p = gx.predict(
        "Llama 3.1 8B", "H100 SXM", "fp8", **{**LOAD, "batch": batch, "output_tokens": out, "engine": change.get("engine", LOAD["engine"])}
    )
    assert got.predicted == pytest.approx(factor * getattr(p, attribute), rel=1e-12)


def test_rate_of_one_request_while_others_are_served(tmp_path: Path) -> None:
    """Little: 16 requests share the output; each waits for its own prompt before that, which is not in the time between tokens."""
    got = one(tmp_path, metric="decode_tok_s_single")
    p = gx.predict("Llama 3.1 8B", "H100 SXM", "fp8", **LOAD)
    whole_request_s = 16 * 256 / p.output_tok_s
    between_s = (whole_request_s - 1024 / p.prefill_tok_s) / 256
    assert got.predicted == pytest.approx(1 / between_s, rel=1e-9)
    assert got.predicted is not None
    assert got.predicted < p.decode_tok_s_user
    alone = one(tmp_path, metric="decode_tok_s_single", batch="1", input_tokens="1")
    most = gx.predict("Llama 3.1 8B", "H100 SXM", "fp8", **{**LOAD, "batch": 1, "input_tokens": 1})
    assert alone.predicted == pytest.approx(most.decode_tok_s_user, rel=0.01)
    assert alone.predicted is not None
    assert alone.predicted <= most.decode_tok_s_user * (1 + 1e-12)


def test_band_is_that_of_the_output_rate(tmp_path: Path) -> None:
    p = gx.predict("Llama 3.1 8B", "H100 SXM", "fp8", **LOAD)
    edge = one(tmp_path, value=f"{p.low * 1.001}")
    assert (edge.low, edge.high) == (pytest.approx(p.low), pytest.approx(p.high))
    assert edge.in_band
    assert not one(tmp_path, value=f"{p.low * 0.999}").in_band
    assert not one(tmp_path, value=f"{p.high * 1.001}").in_band
    slow = gx.predict("Llama 3.1 8B", "H100 SXM", "fp8", **{**LOAD, "batch": 4})
    first = one(tmp_path, metric="ttft_ms", unit="ms", batch="4")
    assert first.high == pytest.approx(1000 * slow.ttft_s * slow.output_tok_s / slow.low)  # slower is longer


def test_refused_rows_say_why(tmp_path: Path) -> None:
    unknown = one(tmp_path, model="Nothing 9B")
    assert "is not in the catalogue" in unknown.refusal
    assert unknown.predicted is None
    assert not unknown.in_band
    assert unknown.classes["moe"] == "unknown"
    assert "does not fit" in one(tmp_path, model="Llama 3.1 405B").refusal
    with pytest.raises(ValueError, match="no prediction"):
        _ = unknown.ratio


def test_engine_that_is_not_known_counts_as_not_stated(tmp_path: Path) -> None:
    strange, blank = one(tmp_path, engine="DeepSparse 1.5"), one(tmp_path, engine="")
    assert strange.predicted == blank.predicted
    assert strange.classes["engine"] == blank.classes["engine"] == "unknown"


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [("H100 SXM", "sxm"), ("GH200", "sxm"), ("L40S", "pcie_datacenter"), ("H100 PCIe", "pcie_datacenter"), ("RTX 5090", "pcie_other"),
     ("RTX A6000", "pcie_other"), ("MI300X", "amd"), ("RX 7900 XTX", "amd"), ("DGX Spark GB10", "other"), ("Arc B580", "other")],
)  # fmt: skip
def test_classes_of_cards(gpu: str, expected: str, tmp_path: Path) -> None:
    assert one(tmp_path, gpu=gpu).classes["class"] == expected


@pytest.mark.parametrize(
    ("batch", "expected"), [("1", "1"), ("2", "2-15"), ("15", "2-15"), ("16", "16-64"), ("64", "16-64"), ("65", "65+"), ("", "max")]
)
def test_classes_of_batches(batch: str, expected: str, tmp_path: Path) -> None:
    assert one(tmp_path, batch=batch).classes["batch"] == expected


def test_a_row_costs_little_more_than_its_prediction(tmp_path: Path) -> None:
    """A ratio within one run: setting a row beside its measurement costs less than three scalar predictions."""
    many = own_file(tmp_path / "many.csv", *({"batch": str(1 + i % 97), "value": str(100 + i)} for i in range(3000)))
    rows = read_measurements(many).rows
    compare(rows[:100])
    start = time.process_time()
    for m in rows:
        gx.predict(m.model, m.gpu, m.precision, batch=m.batch, input_tokens=1024, output_tokens=256, engine=m.engine)
    alone = time.process_time() - start
    start = time.process_time()
    compare(rows)
    assert time.process_time() - start < 3 * alone
