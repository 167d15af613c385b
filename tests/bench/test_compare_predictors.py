"""The comparison of predictors: its switches reach the equations, its baseline is the product's own prediction."""

from __future__ import annotations

import csv
from pathlib import Path

import compare_predictors as comparison
import numpy as np
import pytest

import gpuecon_xl as gx
from gpuecon_xl.catalog import shipped

LOADS = (  # card, cards, tp, pp, model, format, engine, concurrency, input, output: each equation has a row that it moves
    ("H100 SXM", 4, 4, 1, "Llama 3.1 70B", "fp8", "TensorRT-LLM 1.0", 64, 1024, 256),
    ("H100 SXM", 8, 4, 2, "Llama 3.1 70B", "bf16", "vLLM 0.12.0", 32, 20_000, 256),
    ("RTX 4090", 1, 1, 1, "Llama 3.1 8B", "bf16", "vLLM (2024)", 512, 1024, 1024),
    ("RTX 4090", 2, 1, 2, "Llama 3.1 8B", "q4_k_m", "llama.cpp", 4, 512, 128),
    ("H200 SXM", 2, 2, 1, "gpt-oss-120b", "mxfp4", "SGLang", 8, 1024, 256),
)
METRICS = ("decode_tok_s_single", "output_tok_s_total", "total_tok_s", "prefill_tok_s")


def row(load: tuple[object, ...], metric: str, value: float, note: str = "") -> dict[str, object]:
    """A line of a table of measurements."""
    gpu, cards, tp, pp, model, precision, engine, batch, tokens_in, tokens_out = load
    return dict(zip(comparison.CSV_COLUMNS, (gpu, cards, tp, pp, model, precision, "", engine, batch, tokens_in, tokens_out, metric, value,
                                             "2026-01-01", "https://example.org/measured", note), strict=True))  # fmt: skip


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, comparison.CSV_COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    return write(tmp_path / "measured.csv", [row(load, metric, 1000.0) for load in LOADS for metric in METRICS])


def test_with_nothing_switched_off_it_is_the_products_prediction(measured: Path) -> None:
    cases, left = comparison.read_cases(measured, shipped())
    assert len(cases) == len(LOADS) * len(METRICS)
    assert not left
    alone = comparison.WithoutEquation(comparison.SWITCHED_OFF["nothing: all equations"], shipped())
    assert [alone(c) for c in cases] == [comparison.product(c, "expected", shipped()) for c in cases]


@pytest.mark.parametrize("label", list(comparison.SWITCHED_OFF)[1:])
def test_each_switch_moves_a_prediction(label: str, measured: Path) -> None:
    cases, _ = comparison.read_cases(measured, shipped())
    with_it, _ = comparison.ratios_of(cases, lambda c: comparison.product(c, "expected", shipped()))
    without, _ = comparison.ratios_of(cases, comparison.WithoutEquation(comparison.SWITCHED_OFF[label], shipped()))
    assert np.isfinite(without).any()
    assert np.nanmax(abs(without / with_it - 1)) > comparison.MOVED


def test_decode_of_a_server_is_the_time_of_a_request_less_its_own_prompt(tmp_path: Path) -> None:
    gpu, cards, tp, pp, model, precision, engine, batch, tokens_in, tokens_out = LOADS[1]
    p = gx.predict(model, gpu, precision, batch=batch, input_tokens=tokens_in, output_tokens=tokens_out, gpus=cards, tp=tp, pp=pp, engine=engine)
    request_s = min(batch, p.batch_max) * tokens_out / p.output_tok_s
    expected = tokens_out / (request_s - tokens_in / p.prefill_tok_s)
    (case,), _ = comparison.read_cases(write(tmp_path / "one.csv", [row(LOADS[1], "decode_tok_s_single", 1.0)]), shipped())
    assert comparison.product(case, "expected", shipped()) == pytest.approx(min(expected, p.decode_tok_s_user))


def test_rows_whose_conditions_nobody_can_know_are_left_out_with_the_reason(tmp_path: Path) -> None:
    queued = ("H100 SXM", 1, 1, 1, "Llama 3.1 8B", "fp8", "vLLM", 9, 128, 128)
    rows = [row(LOADS[0], "output_tok_s_total", 9.0, "Poisson arrivals"), row(LOADS[4], "output_tok_s_total", 9.0, "dummy weights"),
            row(queued, "ttft_ms", 9.0), row(LOADS[0], "output_tok_s_total", 9.0)]  # fmt: skip
    cases, left = comparison.read_cases(write(tmp_path / "some.csv", rows), shipped())
    assert len(cases) == 1
    assert sum(left.values()) == 3
    assert len(left) == 3


def test_a_group_counts_once_however_many_rows_it_has() -> None:
    ratio = np.array([1.1] * 9 + [1.5, 1.9])
    groups = np.array([0] * 9 + [1, 2])
    found = comparison.Scores.of(ratio, groups)
    assert found is not None
    assert (found.rows, round(found.median, 6), round(found.group_median, 6), round(found.group_p90, 6)) == (11, 0.1, 0.5, 0.9)


def test_tables_replace_what_stands_below_the_mark_only(measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "COMPARISON.md"
    target.write_text(f"In words.\n\n{comparison.MARK}\nold figures\n", encoding="utf-8")
    comparison.main([str(measured), "--markdown", str(target)])
    text = target.read_text(encoding="utf-8")
    assert text.startswith("In words.\n")
    assert "old figures" not in text
    assert "bandwidth ÷ weights" in text
    assert all(label in text for label in comparison.SWITCHED_OFF)
    assert "20 measurements" in capsys.readouterr().out


def test_a_file_without_its_columns_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.csv").write_text("gpu,model\nL4,x\n", encoding="utf-8")
    with pytest.raises(SystemExit) as stopped:
        comparison.main([str(tmp_path / "other.csv")])
    assert stopped.value.code == 2
    assert "has no column gpu_count, tp" in capsys.readouterr().err


def test_the_peers_times_give_the_figure_of_each_metric(tmp_path: Path) -> None:
    load = ("H100 SXM", 4, 2, 1, "Llama 3.1 8B", "bf16", "vLLM", 8, 1000, 101)
    cases, _ = comparison.read_cases(write(tmp_path / "peer.csv", [row(load, m, 1.0) for m in METRICS] + [row(load, "ttft_ms", 1.0)]), shipped())
    asked, not_put = comparison.questions(cases, shipped(), 10)
    assert not not_put
    assert {q["batch_size"] for q in asked} == {4}  # two replicas share eight requests
    by_row = {q["row"]: q for q in asked}
    figures = [comparison.peer_figure(c, by_row[i], dict(ttft_ms=500.0, tpot_ms=5.0)) for i, c in enumerate(cases)]
    output = 8 * 101 / (0.5 + 100 * 0.005)
    assert figures == pytest.approx([200, output, output * 1101 / 101, 8 * 1000 / 0.5, 500])
