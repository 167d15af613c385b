"""CSV files of measurements in both forms, made for a test."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

OWN = ("id", "gpu", "gpus", "tp", "pp", "model", "precision", "kv", "engine", "batch", "input_tokens", "output_tokens", "metric", "value", "unit",
       "source", "as_of", "confidence", "note")  # fmt: skip
COLLECTION = ("gpu", "gpu_count", "tp", "pp", "model", "precision_weights", "kv_precision", "engine", "batch_or_concurrency", "input_tokens",
              "output_tokens", "metric", "value", "date", "source_url", "note")  # fmt: skip
ROW = {
    "id": "X1", "gpu": "H100 SXM", "gpus": "1", "tp": "1", "pp": "1", "model": "Llama 3.1 8B", "precision": "fp8", "engine": "vLLM 0.9.0",
    "batch": "16",
    "input_tokens": "1024", "output_tokens": "256", "metric": "output_tok_s_total", "value": "1500", "unit": "tok/s",
    "source": "https://github.com/someone/measured/blob/main/run.json", "as_of": "2025-06-01", "confidence": "measured",
}  # fmt: skip
_CALLED = {"gpus": "gpu_count", "precision": "precision_weights", "kv": "kv_precision", "batch": "batch_or_concurrency", "as_of": "date",
           "source": "source_url"}  # fmt: skip


def own_file(path: Path, *changes: dict[str, Any]) -> Path:
    """Rows in the form of the catalogue, each the usual one with changes."""
    return _write(path, OWN, [ROW | c for c in changes])


def collection_file(path: Path, *changes: dict[str, Any]) -> Path:
    """The same in the form of a public collection."""
    return _write(path, COLLECTION, [{_CALLED.get(k, k): v for k, v in (ROW | c).items()} for c in changes])


def _write(path: Path, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, columns, restval="", extrasaction="ignore")
        out.writeheader()
        out.writerows(rows)
    return path
