"""Fitted constants written into the catalogue: efficiency.csv, engines.csv, links.csv, assumptions.csv.

Here: which cell gets which constant, to three digits. Not here: the fit (`fit`).
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import Path
from typing import Any

from fit import ARCHITECTURE, AS_FAST_AS, CAPPED, CAPPED_FROM, CAPPED_SHARE, KERNELS, MOST_EFFICIENT, THIN, Fit, read, sigmoid

SOURCE = "Robust fit of public measurements (README, Accuracy), 2026-11"
NEAREST = "Nearest fitted class and format (README, Accuracy), 2026-11"
PUBLISHED = "GPU-Auswahl für KI-Workloads, Kentino Wiki, 2026-05: 20 to 30 % less throughput at 300 W, 25 % taken off RTX PRO Blackwell"
DATE = "2026-11-30"


def short(x: float) -> float:
    """Three significant digits: more would claim what the fit does not know."""
    return float(f"{x:.3g}")


def save(path: Path, rows: list[dict[str, Any]]) -> None:
    """Rows back into their file, columns as they were."""
    with path.open("w", newline="", encoding="utf-8") as f:
        writer = csv.DictWriter(f, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_constants(folder: Path, fit: Fit, theta: Any, bands: dict[str, tuple[float, float]]) -> None:
    """Put the constants into the catalogue's tables."""
    c = fit.constants(theta)
    measured = Counter(f"{k} {f}" for k, f in zip(fit.data.text["efficiency_class"], fit.data.text["kernel_used"], strict=True))
    save(folder / "efficiency.csv", efficiency(read(folder / "efficiency.csv"), fit, c, bands, measured))
    save(folder / "engines.csv", engines(read(folder / "engines.csv"), c))
    crossed = Counter(link for link, tp in zip(fit.data.text["link"], fit.data.number["tp"], strict=True) if tp > 1)
    save(folder / "links.csv", links(read(folder / "links.csv"), c, crossed))
    save(folder / "assumptions.csv", assumptions(read(folder / "assumptions.csv"), c))


def efficiency(rows: list[dict[str, Any]], fit: Fit, c: Any, bands: dict[str, tuple[float, float]], measured: Counter[str]) -> list[dict[str, Any]]:
    """A row for each class and format; those with few measurements lean on their class."""
    by_key = {r["efficiency_key"]: r for r in rows}
    for key, r in by_key.items():
        cls, kernel = next((key[: -len(k) - 1], k) for k in KERNELS if key.endswith(f" {k}"))
        arch, n = ARCHITECTURE.get(cls, cls), measured[key]
        lean = 1 if n >= THIN else n / (n + 10)

        def share(what: str, start: float, cls: str = cls, kernel: str = kernel, arch: str = arch, key: str = key, lean: float = lean) -> float:
            own = c[f"{what}.both"].get(key, start) - start
            at = c[f"{what}.kernel"].get(kernel, 0) + c[f"{what}.architecture"].get(arch, 0) + c[f"{what}.class"].get(cls, 0) + start + lean * own
            return short(min(math.exp(at), MOST_EFFICIENT))

        cache = c["cache.architecture"].get(arch, math.log(0.8)) + c["cache.class"].get(cls, 0)
        low, high = bands.get(cls, bands["*"])
        r.update(
            weight_efficiency=share("weight", fit.weight_start(key)), kv_efficiency=short(min(math.exp(cache), 1)),
            dense_compute_efficiency=share("compute", fit.compute_start(key)),
            moe_compute_factor=short(math.exp(c["moe.kernel"].get(kernel, math.log(0.6)))),
            decode_compute_factor=short(math.exp(c["decode.kernel"].get(kernel, 0))),
            expert_read_factor=short(math.exp(c["experts.kernel"].get(kernel, 0))), band_low=low, band_high=high, n=n,
            source=SOURCE if n else NEAREST, as_of=DATE, confidence="measured" if n >= THIN else "stated" if n else "unverified",
            note="" if n >= THIN else f"thin: {n} measurements" if n else "no measurement of this class in this format",
        )  # fmt: skip
    for key, r in by_key.items():
        if key.startswith(CAPPED):
            full = by_key[key.replace(CAPPED, CAPPED_FROM)]
            for column in ("weight_efficiency", "kv_efficiency", "dense_compute_efficiency"):
                r[column] = short(CAPPED_SHARE * full[column])
            r.update(n=0, source=PUBLISHED, confidence="stated")
    return rows


def engines(rows: list[dict[str, Any]], c: Any) -> list[dict[str, Any]]:
    """A row for each engine and era that measurements know; others keep theirs."""
    for r in rows:
        era, family = AS_FAST_AS.get(r["engine"], r["engine"]), "TensorRT-LLM" if r["family"] == "NIM" else r["family"]
        if era not in c["layer.era"]:
            continue

        def of(name: str, era: str = era, family: str = family) -> float:
            return math.exp(c[f"{name}.family"].get(family, math.log(40e-6)) + c[f"{name}.era"].get(era, 0))

        r.update(
            overlap=short(float(sigmoid(c["overlap.family"][family]))), kv_sharing_power=short(max(c["sharing.family"][family], 0)),
            layer_us=short(1e6 * of("layer")), layer_moe_us=short(1e6 * of("layer_moe")), step_ms=short(1e3 * of("step")),
            sequence_us=short(1e6 * of("sequence")), request_ms=short(1e3 * of("request")), prefill_factor=short(of("prefill")),
            alpha_factor=short(of("alpha")), bus_factor=short(of("bus")),
        )  # fmt: skip
    return rows


def links(rows: list[dict[str, Any]], c: Any, crossed: Counter[str]) -> list[dict[str, Any]]:
    """Links that enough measurements cross; cards without a link keep their estimate."""
    for r in rows:
        k = r["link"]
        if crossed[k] >= THIN and k != "none":
            r.update(
                alpha_pair_us=short(math.exp(c["alpha.link"][k])), alpha_power=short(c["alpha_power.link"][k]),
                bus_pair_gb_s=short(math.exp(c["bus.link"][k])), bus_power=short(c["bus_power.link"][k]),
            )  # fmt: skip
    return rows


def assumptions(rows: list[dict[str, Any]], c: Any) -> list[dict[str, Any]]:
    """The constants that all cards and engines share."""
    values = {
        "attention_compute_factor": math.exp(c["attention"]["all"]), "matrix_width_power": c["width"]["all"],
        "arrivals_together": float(sigmoid(c["together"]["all"])), "kv_low_factor": math.exp(c["cache.kind"]["low"]),
        "kv_latent_factor": math.exp(c["cache.kind"]["latent"]),
    }  # fmt: skip
    for r in rows:
        if r["name"] in values:
            r["value"] = short(values[r["name"]])
    return rows
