"""Fit of the throughput constants on public measurements: a script, not a test.

    python tests/calibration/fit.py MEASURED.csv                     # fit and show the errors
    python tests/calibration/fit.py MEASURED.csv --leave-out gpu     # and for cards (model, source) it has not seen
    python tests/calibration/fit.py MEASURED.csv --write             # put the constants and bands into catalog/
    python tests/calibration/fit.py MEASURED.csv --plots DIR         # predicted against measured, residuals

Here: which constants are free, what they start at, the robust regression, the cross-validation. Not here: the equations
(they are called as the product has them, on arrays) and what a row of measurements means (`gpuecon_xl.validation.measurement`).

Each constant is the exponential of a sum: a format's, an architecture's, a class's and a class-and-format's share, each held to
its start by a normal prior, so that a class with few measurements stays near its neighbours. No constant belongs to a model.
The loss is the pseudo-Huber of the logarithm of predicted over measured; a row counts half by itself and half by its group.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpuecon_xl import graph, load_catalog, throughput
from gpuecon_xl.equations.serving import served_tok_s_user
from gpuecon_xl.errors import GpueconError
from gpuecon_xl.units import KILO
from gpuecon_xl.validation.measurement import known_engine, read_measurements

HERE = Path(__file__).parent
CATALOG = HERE.parents[1] / "catalog"
MOST_EFFICIENT = float(load_catalog(str(CATALOG)).assumption("efficiency_most"))
HUBER = 0.12  # errors beyond 12 % count less and less
THIN = 20  # measurements below which a class and format leans on its class

# Which classes share a design; a class that no measurement has seen takes its architecture's share.
ARCHITECTURE = {
    "A100": "Ampere", "Ampere PCIe": "Ampere", "GeForce Ampere": "Ampere", "GeForce Ada": "Ada", "Ada data centre": "Ada",
    "GeForce Blackwell": "Blackwell GDDR", "RTX PRO Blackwell": "Blackwell GDDR", "RTX PRO Max-Q": "Blackwell GDDR", "H100": "Hopper",
    "H200": "Hopper", "B200": "Blackwell HBM", "AMD CDNA": "CDNA", "AMD CDNA 2": "CDNA", "AMD RDNA": "RDNA",
}  # fmt: skip
# Versions that differ in the memory that they need, not in speed: one set of constants.
AS_FAST_AS = {"vLLM 0.17 to 0.20": "vLLM 0.7 to 0.16"}
# Share of residuals beyond each end of a band. With 8.5 % of all that was left out, 75 to 85 % of the groups of each kind are inside:
# sources that were left out are harder to hold than cards and models.
BEYOND = 0.085
CAPPED = "RTX PRO Max-Q"  # the same chip at half the power: taken from the full one, a published share off
CAPPED_FROM, CAPPED_SHARE = "RTX PRO Blackwell", 0.75
START_WEIGHT = {"gguf": 0.72, "exl3": 0.6}
START_COMPUTE = {"gguf": 0.25, "exl3": 0.45}
KERNELS = ("16", "fp8", "int8", "fp4", "w8", "w4", "gguf", "exl3")
RATES = ("output_tok_s_total", "total_tok_s", "decode_tok_s_single")


def sigmoid(x: Any) -> Any:
    """A share from any number."""
    return 1 / (1 + np.exp(-x))


def read(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


class Measurements:
    """The measurements that a prediction exists for, with every input of the equations as an array."""

    def __init__(self, path: Path) -> None:
        catalog = load_catalog(str(CATALOG))
        rows: list[dict[str, Any]] = []
        for case in read_measurements(path, catalog).rows:
            try:
                rows.append(self._row(catalog, case))
            except GpueconError:
                continue  # named by `gpuecon validate`
        self.rows = rows
        texts = {k for k, v in rows[0].items() if isinstance(v, str | tuple)}
        self.text = {k: [r[k] for r in rows] for k in texts}
        self.number = {k: np.array([float(r[k] or 0) for r in rows]) for k in rows[0] if k not in texts}
        groups = Counter(self.text["group"])
        size = np.array([groups[g] for g in self.text["group"]])
        self.group_weight = 1 / size
        self.weight = np.minimum(0.5 + 0.5 * len(rows) / len(groups) / size, 6)
        self.measured = self.number.pop("measured")

    @staticmethod
    def _row(catalog: Any, case: Any) -> dict[str, Any]:
        engine, batch = known_engine(catalog, case.engine), None if case.batch is None else round(case.batch)
        load = (batch, round(case.input_tokens), round(case.output_tokens))
        p = throughput.predict_one(catalog, case.model, case.gpu, case.precision, *load, case.gpus, case.tp, case.pp, case.kv, engine, "expected")
        s = throughput.setup(catalog, case.model, case.gpu, case.precision, case.kv, engine, "expected")
        kernel = graph.plan(("kernel_used",), tuple(s.values))(*s.values.values())[0]
        return {
            **{k: v for k, v in s.values.items() if not isinstance(v, str)},
            "kernel": s.values["kernel"], "kernel_used": kernel, "efficiency_class": s.gpu["efficiency_class"],
            "architecture": ARCHITECTURE.get(s.gpu["efficiency_class"], s.gpu["efficiency_class"]),
            "engine": AS_FAST_AS.get(s.engine["engine"], s.engine["engine"]),
            "family": "TensorRT-LLM" if s.engine["family"] == "NIM" else s.engine["family"],
            "link": s.gpu["link"] or "none", "gpu": s.gpu["gpu"], "model": s.model["model"], "source": case.source, "group": case.group,
            "metric": case.metric, "static": case.static, "batch": throughput.UNLIMITED if batch is None else batch,
            "asked": batch or 0, "input_tokens": load[1], "output_tokens": load[2],
            "gpus": case.gpus, "tp": p.tp, "pp": p.pp, "measured": case.value,
        }  # fmt: skip


@dataclass
class Block:
    """One kind of constant: a key for each measurement, and where each key's value starts."""

    name: str
    keys: list[str]
    index: np.ndarray
    first: int
    start: np.ndarray
    spread: np.ndarray


class Fit:
    """The free constants of a set of measurements."""

    def __init__(self, data: Measurements) -> None:
        self.data = data
        self.blocks: list[Block] = []
        self.size = 0
        start = {r["efficiency_key"]: r for r in read(HERE / "start_efficiency.csv")}
        links = {r["link"]: r for r in read(HERE / "start_links.csv")}
        t, n = data.text, len(data.rows)
        kernel, cls, arch, era, family = t["kernel_used"], t["efficiency_class"], t["architecture"], t["engine"], t["family"]
        both = [f"{c} {k}" for c, k in zip(cls, kernel, strict=True)]
        moe = data.number["experts"] > 0
        of_moe = [k if m else "-" for k, m in zip(kernel, moe, strict=True)]
        one = ["all"] * n
        held = 1e-6  # a value that is not free
        self.weight_start = lambda key: begin(start, START_WEIGHT, key, "weight_efficiency")
        self.compute_start = lambda key: begin(start, START_COMPUTE, key, "dense_compute_efficiency")
        self.add("weight.kernel", kernel, 0, 0.15)
        self.add("weight.architecture", arch, 0, 0.15)
        self.add("weight.class", cls, 0, 0.1)
        self.add("weight.both", both, self.weight_start, 0.08)
        self.add("cache.architecture", arch, math.log(0.8), 0.15)
        self.add("cache.class", cls, 0, 0.1)
        self.add("compute.kernel", kernel, 0, 0.2)
        self.add("compute.architecture", arch, 0, 0.2)
        self.add("compute.class", cls, 0, 0.15)
        self.add("compute.both", both, self.compute_start, 0.15)
        self.add("moe.kernel", of_moe, lambda k: 0 if k == "-" else math.log(0.6), lambda k: held if k == "-" else 0.06 if k == "w4" else 0.3)
        self.add("experts.kernel", of_moe, 0, lambda k: held if k == "-" else 0.15)
        self.add("decode.kernel", kernel, 0, lambda k: 0.4 if k in START_COMPUTE else 0.15)
        latent = data.number["kv_lora_rank"] > 0
        low = data.number["bytes_kv_named"] > 0
        low &= data.number["bytes_kv_named"] < 2
        quantised = np.isin(np.array(t["kernel"]), ("fp8", "fp4")) & (data.number["bytes_kv_named"] == 0) & (data.number["kv_bytes_low"] < 2)
        kind = np.where(latent, "latent", np.where(low | quantised, "low", "full")).tolist()
        self.add("cache.kind", kind, 0, lambda k: held if k == "full" else 0.2)
        self.add("attention", one, math.log(0.6), 0.3)
        self.add("width", one, 0, 0.04)
        self.add("together", one, 0, 1)
        self.add("overlap.family", family, 0, 0.7)
        self.add("sharing.family", family, 0.2, 0.2)
        for name, at, spread in (("layer", 35e-6, 0.4), ("step", 0.7e-3, 0.5), ("sequence", 8e-6, 0.7), ("request", 10e-3, 0.8)):
            self.add(f"{name}.family", family, math.log(at), spread)
            self.add(f"{name}.era", era, 0, 0.6 * spread)
        self.add(
            "layer_moe.family", [f if m else "-" for f, m in zip(family, moe, strict=True)], math.log(40e-6), lambda k: held if k == "-" else 0.5
        )
        self.add("layer_moe.era", [e if m else "-" for e, m in zip(era, moe, strict=True)], 0, lambda k: held if k == "-" else 0.3)
        for name, spread in (("prefill", 0.12), ("alpha", 0.3), ("bus", 0.3)):
            self.add(f"{name}.family", family, 0, spread)
            self.add(f"{name}.era", era, 0, 0.6 * spread)
        link = t["link"]
        self.add("alpha.link", link, lambda k: math.log(float(links[k]["alpha_pair_us"])), 0.25)
        self.add("alpha_power.link", link, lambda k: float(links[k]["alpha_power"]), 0.15)
        self.add("bus.link", link, lambda k: math.log(float(links[k]["bus_pair_gb_s"])), 0.25)
        self.add("bus_power.link", link, lambda k: float(links[k]["bus_power"]), 0.15)
        self.start = np.concatenate([b.start for b in self.blocks])
        self.spread = np.concatenate([b.spread for b in self.blocks])
        self.outputs = ("output_tok_s", "decode_tok_s_user", "prefill_tok_s", "ttft_s", "batch_max", "admitted")
        self.names = tuple(k for k in (*data.number, "kernel", "kernel_used") if k not in ("static", "asked", "n"))
        self.plan = graph.plan(self.outputs, self.names)
        self.texts = {k: np.array(t[k], dtype=object) for k in ("kernel", "kernel_used")}
        self.metric = np.array(t["metric"])

    def add(self, name: str, keys: list[str], start: Any, spread: Any) -> None:
        """A block of constants, one for each distinct key."""
        distinct = sorted(set(keys))
        position = {k: i for i, k in enumerate(distinct)}
        index = np.array([position[k] for k in keys])
        at = np.array([start(k) if callable(start) else start for k in distinct], dtype=float)
        wide = np.array([spread(k) if callable(spread) else spread for k in distinct], dtype=float)
        self.blocks.append(Block(name, distinct, index, self.size, at, wide))
        self.size += len(distinct)

    def inputs(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        """The inputs of the equations that the constants stand for, a value for each measurement."""
        v = {b.name: theta[b.first : b.first + len(b.keys)][b.index] for b in self.blocks}
        e = np.exp

        def eras(name: str) -> Any:
            return e(v[f"{name}.family"] + v[f"{name}.era"])

        kind = v["cache.kind"]
        is_low = self.data.number["kv_lora_rank"] <= 0
        return {
            "weight_efficiency": np.minimum(e(v["weight.kernel"] + v["weight.architecture"] + v["weight.class"] + v["weight.both"]), MOST_EFFICIENT),
            "kv_efficiency": np.minimum(e(v["cache.architecture"] + v["cache.class"]), 1),
            "dense_compute_efficiency": np.minimum(
                e(v["compute.kernel"] + v["compute.architecture"] + v["compute.class"] + v["compute.both"]), MOST_EFFICIENT
            ),
            "moe_compute_factor": e(v["moe.kernel"]), "expert_read_factor": e(v["experts.kernel"]), "decode_compute_factor": e(v["decode.kernel"]),
            "kv_low_factor": np.where(is_low, e(kind), 1), "kv_latent_factor": np.where(is_low, 1, e(kind)),
            "attention_compute_factor": e(v["attention"]), "matrix_width_power": v["width"], "arrivals_together": sigmoid(v["together"]),
            "overlap": sigmoid(v["overlap.family"]), "kv_sharing_power": np.maximum(v["sharing.family"], 0),
            "layer_us": eras("layer") * 1e6, "step_ms": eras("step") * 1e3, "sequence_us": eras("sequence") * 1e6,
            "request_ms": eras("request") * 1e3,
            "layer_moe_us": eras("layer_moe") * 1e6, "prefill_factor": eras("prefill"), "alpha_factor": eras("alpha"), "bus_factor": eras("bus"),
            "alpha_pair_us": e(v["alpha.link"]), "alpha_power": v["alpha_power.link"], "bus_pair_gb_s": e(v["bus.link"]),
            "bus_power": v["bus_power.link"],
        }  # fmt: skip

    def predict(self, theta: np.ndarray) -> np.ndarray:
        """What the equations say of each measurement, in its own metric."""
        values: dict[str, Any] = {**self.data.number, **self.texts, **self.inputs(theta)}
        if not hasattr(self, "_asked"):  # a maximum load asks for what fits; that does not depend on the constants
            most = self.plan(*(values[k] for k in self.names))[self.outputs.index("batch_max")]
            self._asked = np.where(self.data.number["asked"] > 0, self.data.number["asked"], most)
        values["batch"] = self._asked
        with np.errstate(all="ignore"):
            out, user, prefill, ttft, most, _ = self.plan(*(values[k] for k in self.names))
            tokens_in, tokens_out = values["input_tokens"], values["output_tokens"]
            served = served_tok_s_user(np.minimum(self._asked, most), out, tokens_in, tokens_out, prefill, user)
            kinds = [self.metric == m for m in ("output_tok_s_total", "total_tok_s", "prefill_tok_s", "ttft_ms")]
            one_user = np.where(self.data.number["static"] > 0, user, served)
            return np.select(kinds, [out, out * (1 + tokens_in / tokens_out), prefill, KILO * ttft], one_user)

    def solve(self, train: np.ndarray, theta: np.ndarray | None = None, rounds: int = 40) -> np.ndarray:
        """Levenberg and Marquardt on the pseudo-Huber loss with the priors; derivatives block by block."""
        rows = np.where(train)[0]
        weight, logs = self.data.weight[rows], np.log(self.data.measured[rows])
        theta = self.start.copy() if theta is None else theta.copy()

        def errors(at: np.ndarray) -> np.ndarray:
            with np.errstate(all="ignore"):
                return np.clip(np.nan_to_num(np.log(self.predict(at)[rows]) - logs, nan=3.0), -4, 4)

        def cost(r: np.ndarray, at: np.ndarray) -> float:
            return float(np.sum(weight * 2 * (np.sqrt(1 + (r / HUBER) ** 2) - 1)) + np.sum(((at - self.start) / self.spread) ** 2))

        r, damping, nudge = errors(theta), 1e-2, 1e-4
        now = cost(r, theta)
        for done in range(rounds):
            slopes = []
            for b in self.blocks:
                moved = theta.copy()
                moved[b.first : b.first + len(b.keys)] += nudge
                slopes.append((errors(moved) - r) / nudge)
            pull = weight / np.sqrt(1 + (r / HUBER) ** 2) / HUBER**2
            curvature, downhill = np.diag(self.spread**-2.0), -(theta - self.start) / self.spread**2
            # a measurement knows one key of each block: what two blocks share is a sum by pairs of keys
            for i, a in enumerate(self.blocks):
                downhill[a.first : a.first + len(a.keys)] -= np.bincount(a.index[rows], pull * slopes[i] * r, len(a.keys))
                for k, b in enumerate(self.blocks[: i + 1]):
                    pairs = np.bincount(a.index[rows] * len(b.keys) + b.index[rows], pull * slopes[i] * slopes[k], len(a.keys) * len(b.keys))
                    part = pairs.reshape(len(a.keys), len(b.keys))
                    curvature[a.first : a.first + len(a.keys), b.first : b.first + len(b.keys)] += part
                    if i != k:
                        curvature[b.first : b.first + len(b.keys), a.first : a.first + len(a.keys)] += part.T
            for _ in range(8):
                step = np.clip(np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), downhill), -1, 1)
                r_next = errors(theta + step)
                if (then := cost(r_next, theta + step)) < now:
                    break
                damping *= 4
            else:
                break
            gain, theta, r, now, damping = (now - then) / now, theta + step, r_next, then, max(damping / 4, 1e-6)
            if gain < 1e-4 and done > 4:
                break
        return theta

    def constants(self, theta: np.ndarray) -> dict[str, dict[str, float]]:
        """Values by block and key."""
        return {b.name: dict(zip(b.keys, theta[b.first : b.first + len(b.keys)].tolist(), strict=True)) for b in self.blocks}


def begin(start: dict[str, dict[str, str]], others: dict[str, float], key: str, column: str) -> float:
    """Logarithm of the published or estimated share that a class and format starts at."""
    kernel = key.rsplit(" ", 1)[1]
    if kernel in others:
        return math.log(others[kernel])
    return math.log(float(start[key.replace("AMD CDNA 2", "AMD CDNA")][column]))


def left_out(fit: Fit, theta: np.ndarray, what: str, few: int = 25) -> np.ndarray:
    """Predictions for each card, model or source by constants that have not seen it; those with few rows in six lots."""
    keys = fit.data.text[what]
    count = Counter(keys)
    small = [k for k in count if count[k] < few]
    lots = [[k] for k in count if count[k] >= few] + [small[i::6] for i in range(6)]
    out = np.full(len(keys), np.nan)
    for lot in (x for x in lots if x):
        held = np.isin(keys, lot)
        out[held] = fit.predict(fit.solve(~held, theta, 4))[held]  # from the fitted constants: few rounds are enough
    return out


def weighted_quantile(x: np.ndarray, weight: np.ndarray, share: float) -> float:
    """Quantile of weighted values."""
    order = np.argsort(x)
    total = np.cumsum(weight[order])
    return float(x[order][np.searchsorted(total, share * total[-1])])


def show(label: str, predicted: np.ndarray, data: Measurements, rows: np.ndarray | None = None) -> None:
    """One line: errors of rows and of groups."""
    rows = np.isfinite(predicted) if rows is None else rows & np.isfinite(predicted)
    e, w = np.abs(predicted / data.measured - 1)[rows], data.group_weight[rows]
    bias = np.median(predicted[rows] / data.measured[rows]) - 1
    print(
        f"{label:34s} {rows.sum():6d} rows: median {100 * np.median(e):5.1f} %, p90 {100 * np.quantile(e, 0.9):5.1f} %, bias {100 * bias:+5.1f} %"
        f"   groups: median {100 * weighted_quantile(e, w, 0.5):5.1f} %, p90 {100 * weighted_quantile(e, w, 0.9):5.1f} %"
    )


def bands(fit: Fit, predictions: list[np.ndarray]) -> dict[str, tuple[float, float]]:
    """Low and high that hold what was left out but for `BEYOND` at each end, by class; classes with few groups lean on all and are wider."""
    data, cls, rate = fit.data, np.array(fit.data.text["efficiency_class"]), np.isin(fit.metric, RATES)
    logs, weight, of = [], [], []
    for p in predictions:
        ok = np.isfinite(p) & rate
        logs.append(np.log(data.measured[ok] / p[ok]))
        weight.append(np.sqrt(data.group_weight[ok]))
        of.append(cls[ok])
    x, w, c = np.concatenate(logs), np.concatenate(weight), np.concatenate(of)
    whole = [weighted_quantile(x, w, q) for q in (BEYOND, 1 - BEYOND)]
    out = {"*": (round(0.93 * math.exp(whole[0]), 2), round(1.08 * math.exp(whole[1]), 2))}
    for k in sorted(set(c)):
        groups = len({g for g, i, r in zip(data.text["group"], cls, rate, strict=True) if i == k and r})
        own, lean = [weighted_quantile(x[c == k], w[c == k], q) for q in (BEYOND, 1 - BEYOND)], groups / (groups + 8)
        wider = 1 if groups >= THIN else 1.15
        low, high = (math.exp(lean * own[i] + (1 - lean) * whole[i] * wider) for i in (0, 1))
        out[k] = (round(low, 2), round(high, 2))
    return out


def main() -> None:
    """Fit, show, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("measurements", type=Path)
    parser.add_argument("--leave-out", choices=("gpu", "model", "source"), action="append", default=[])
    parser.add_argument("--write", action="store_true", help="put constants and bands into catalog/")
    parser.add_argument("--plots", type=Path)
    a = parser.parse_args()
    data = Measurements(a.measurements)
    fit = Fit(data)
    everything = np.ones(len(data.rows), bool)
    print(f"{len(data.rows)} measurements, {fit.size} constants in {len(fit.blocks)} blocks")
    show("start", fit.predict(fit.start), data)
    theta = fit.solve(everything)
    show("fitted", fit.predict(theta), data)
    for word in ("metric", "efficiency_class", "family"):
        for key in sorted(set(data.text[word])):
            show(f"  {word} {key}", fit.predict(theta), data, np.array(data.text[word]) == key)
    which = ["gpu", "model", "source"] if a.write else a.leave_out
    unseen = {w: left_out(fit, theta, w) for w in which}
    for w, p in unseen.items():
        show(f"left out: {w}", p, data)
    if a.write:
        from constants import write_constants

        write_constants(CATALOG, fit, theta, bands(fit, list(unseen.values())))
    if a.plots:
        from plots import draw

        draw(a.plots, fit, theta, unseen)


if __name__ == "__main__":
    main()
