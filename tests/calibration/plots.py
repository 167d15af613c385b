"""Pictures of the fit: predicted against measured, residuals by batch and by card class.

Here: drawing. Not here: the fit (`fit`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from fit import RATES, Fit

LIMITS = (0.4, 2.5)


def draw(folder: Path, fit: Fit, theta: Any, unseen: dict[str, Any]) -> None:
    """Three PNG files."""
    folder.mkdir(parents=True, exist_ok=True)
    data, predicted = fit.data, fit.predict(theta)
    rate = np.isin(fit.metric, RATES)
    moe = data.number["experts"] > 0
    plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "gpuecon"})

    figure, axis = plt.subplots(figsize=(7, 6), dpi=110)
    for mask, label, colour in ((rate & ~moe, "dense", "#1f5fa8"), (rate & moe, "mixture of experts", "#d4741c")):
        axis.plot(data.measured[mask], predicted[mask], ".", ms=2.5, alpha=0.5, color=colour, label=f"{label} ({mask.sum():,})")
    low, high = data.measured[rate].min(), data.measured[rate].max()
    axis.plot([low, high], [low, high], color="black", lw=1, label="equal")
    axis.plot([low, high], [0.75 * low, 0.75 * high], color="grey", lw=0.8, ls="--", label="25 % either way")
    axis.plot([low, high], [1.25 * low, 1.25 * high], color="grey", lw=0.8, ls="--")
    axis.set(xscale="log", yscale="log", xlabel="measured, token/s", ylabel="predicted, token/s", title="Predicted against measured")
    axis.legend(loc="upper left", markerscale=4, frameon=False)
    save(figure, folder / "predicted_measured.png")

    batch = data.number["asked"]
    edges = [(0, 0, "max load"), (1, 1, "1"), (2, 3, "2-3"), (4, 7, "4-7"), (8, 15, "8-15"), (16, 31, "16-31"), (32, 63, "32-63"),
             (64, 127, "64-127"), (128, 1e9, "128+")]  # fmt: skip
    masks = [(label, rate & (batch >= a) & (batch <= b)) for a, b, label in edges]
    boxes(folder / "residual_by_batch.png", predicted / data.measured, masks, "requests at once", "Predicted over measured, by batch")

    cls = np.array(data.text["efficiency_class"])
    masks = [(k, rate & (cls == k)) for k in sorted(set(cls))]
    seen = unseen.get("gpu", predicted)
    label = "Predicted over measured, by card class" + (" (each card left out of the fit)" if "gpu" in unseen else "")
    boxes(folder / "residual_by_class.png", seen / data.measured, masks, "class of the card", label)


def boxes(path: Path, ratio: Any, masks: list[tuple[str, Any]], across: str, title: str) -> None:
    """Median, middle half and middle 80 % of a ratio."""
    figure, axis = plt.subplots(figsize=(9, 4.6), dpi=110)
    kept = [(label, ratio[m & np.isfinite(ratio)]) for label, m in masks]
    kept = [(label, x) for label, x in kept if len(x)]
    for i, (_, x) in enumerate(kept):
        a, b, c, d, e = np.quantile(x, (0.1, 0.25, 0.5, 0.75, 0.9))
        axis.plot([i, i], [a, e], color="#9bb8d8", lw=5, solid_capstyle="butt")
        axis.plot([i, i], [b, d], color="#1f5fa8", lw=9, solid_capstyle="butt")
        axis.plot(i, c, "o", color="white", ms=4)
    axis.axhline(1, color="black", lw=0.8)
    axis.set(yscale="log", ylim=LIMITS, xlabel=across, ylabel="predicted / measured", title=title)
    axis.set_yticks([0.5, 0.75, 1, 1.25, 1.5, 2], ["0.5", "0.75", "1", "1.25", "1.5", "2"])
    axis.minorticks_off()
    axis.set_xticks(range(len(kept)), [f"{label}\n{len(x):,}" for label, x in kept], rotation=0 if len(kept) < 11 else 60, fontsize=9)
    save(figure, path)


def save(figure: Any, path: Path) -> None:
    """A picture without a date in it, so that the same fit gives the same file."""
    figure.tight_layout()
    figure.savefig(path, metadata={"Software": None})
    plt.close(figure)
