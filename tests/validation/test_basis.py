"""What a prediction stands on: a measurement of the same case, a text that states it, thin data."""

from __future__ import annotations

from typing import Any

import pytest

import gpuecon_xl as gx

CATALOG = gx.load_catalog()
MEASURED = [
    r for r in CATALOG.rows("benchmarks")
    if r["confidence"] == "measured" and r["metric"] in ("output_tok_s_total", "decode_tok_s_single") and r["input_tokens"] and r["output_tokens"]
]  # fmt: skip
WITH_BATCH = [r for r in MEASURED if r["batch"] and r["tp"] and r["pp"]]


def ask(r: dict[str, Any], **change: Any) -> gx.Prediction:
    load = {"batch": r["batch"] or None, "input_tokens": round(r["input_tokens"]), "output_tokens": round(r["output_tokens"]), "gpus": r["gpus"],
            "tp": r["tp"] or None, "pp": r["pp"] or 1, "kv": r["kv"], "engine": r["engine"]}  # fmt: skip
    return gx.predict(r["model"], r["gpu"], r["precision"], **{**load, **change})


def test_every_measurement_is_found_by_its_own_case() -> None:
    found = 0
    for r in MEASURED:
        try:
            p = ask(r)
        except gx.GpueconError:
            continue  # does not fit, says the model; validate lists it
        assert p.basis == "measured", r["id"]
        assert "measured beside it" in p.note
        found += r["id"] in p.note
    assert found > 0.8 * len(MEASURED)  # several measurements of one case: the total and the first are named


def test_note_names_value_id_source_and_date() -> None:
    r = next(r for r in WITH_BATCH if r["metric"] == "output_tok_s_total")
    note = ask(r).note
    for part in (f"{r['value']:g} tok/s (output)", r["id"], r["source"], str(r["as_of"])):
        assert part in note


@pytest.mark.parametrize(
    "change",
    [{"batch": 3.0}, {"input_tokens": 777}, {"output_tokens": 333}, {"gpu": "H200 SXM"}, {"precision": "int8"}, {"model": "Qwen3-14B"},
     {"engine": "llama.cpp"}, {"kv": "nvfp4"}],
)  # fmt: skip
def test_another_case_is_estimated(change: dict[str, Any]) -> None:
    r = next(r for r in WITH_BATCH if r["gpu"] == "RTX 5090" and r["kv"] == "fp8" and r["metric"] == "output_tok_s_total")
    assert ask(r).basis == "measured"
    changed = {**r, **{k: v for k, v in change.items() if k in ("gpu", "precision", "model")}}
    assert (
        ask(changed, **{k: v for k, v in change.items() if k not in changed or k in ("batch", "engine", "kv", "input_tokens", "output_tokens")}).basis
        == "estimated"
    )


def test_another_layout_is_estimated() -> None:
    r = next(r for r in WITH_BATCH if r["gpus"] == 2 and r["tp"] == 2 and r["model"] == "Qwen3-8B")
    assert ask(r).basis == "measured"
    assert ask(r, tp=1).basis == "estimated"
    assert ask(r, tp=1, pp=2).basis == "estimated"


def test_engine_counts_only_where_it_is_stated() -> None:
    r = next(r for r in WITH_BATCH if "vLLM" in r["engine"])
    assert ask(r, engine=None).basis == "measured"
    assert ask(r, engine="vLLM 0.12.0").basis == "measured"  # of the same family
    assert ask(r, engine="SGLang").basis == "estimated"


def test_what_a_text_states_is_no_measurement() -> None:
    """[USD] 2,200 tok/s, a rule of thumb of the community: named, but the figure stays estimated."""
    p = gx.predict("Llama 3.1 8B", "RTX 4090", "fp16", batch=32, input_tokens=1000, output_tokens=1000)
    assert p.basis == "estimated"
    assert "stated beside it: 2200 tok/s (output), S3.1a" in p.note


def rows_behind(gpu: str, precision: str) -> float:
    from gpuecon_xl.equations.memory import kernel_used

    g, f = CATALOG.find("gpus", gpu), CATALOG.find("precisions", precision)
    kernel = kernel_used(f["kernel"], g["tflops_fp8"], g["tops_int8"], g["tflops_fp4"])
    return float(CATALOG.find("efficiency", f"{g['efficiency_class']} {kernel}")["n"])


@pytest.mark.parametrize(
    ("gpu", "precision"), [("H100 SXM", "fp8"), ("L4", "fp8"), ("RTX 5090", "fp16"), ("MI300X", "fp16"), ("B200", "int8"), ("RTX 3060", "int4")]
)
def test_thin_data_is_noted(gpu: str, precision: str) -> None:
    n = rows_behind(gpu, precision)
    p = gx.predict("Llama 3.2 3B", gpu, precision)
    assert ("thin data" in p.note) == (n < 20)
    if 1 < n < 20:
        assert f"only {n:g} measurements" in p.note
    assert "thin data" not in gx.predict("Llama 3.2 3B", gpu, precision, options="thin_data_rows=0").note
    assert "thin data" in gx.predict("Llama 3.2 3B", gpu, precision, options="thin_data_rows=1000000").note
    assert "thin data" not in gx.predict("Llama 3.2 3B", gpu, precision, mode="ceiling").note  # no fitted constant in it
