"""Each measurement with its prediction.

Here: which attribute of a prediction is what a metric measures, and the classes that a row belongs to.
Not here: reading rows (`measurement`), figures of many rows (`spread`), the prediction itself (`throughput`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gpuecon_xl.catalog import Catalog, shipped
from gpuecon_xl.equations.serving import served_tok_s_user
from gpuecon_xl.errors import GpueconError
from gpuecon_xl.functions import predict
from gpuecon_xl.throughput import Prediction, find_engine
from gpuecon_xl.units import KILO
from gpuecon_xl.validation.measurement import Measurement, known_engine, rules


@dataclass(frozen=True)
class Compared:
    """A measurement and what the equations say; `refusal` instead where they refuse.

    low and high bound the predicted value: the band of the output rate, carried over to the metric.
    """

    measurement: Measurement
    predicted: float | None
    low: float | None
    high: float | None
    refusal: str
    classes: dict[str, str]

    @property
    def ratio(self) -> float:
        """Predicted over measured."""
        if self.predicted is None:
            raise ValueError(f"{self.measurement.id} has no prediction")
        return self.predicted / self.measurement.value

    @property
    def in_band(self) -> bool:
        """Whether the measurement lies within the band."""
        return self.low is not None and self.high is not None and self.low <= self.measurement.value <= self.high


def compare(rows: Iterable[Measurement], catalog: Catalog | None = None, options: Any = None) -> list[Compared]:
    """Predict each row.

    Parameters
    ----------
    rows : from `read_measurements`.  catalog : whose constants are used; None is the shipped one.  options : of `predict`.

    Returns
    -------
    list of Compared, in the order of the rows; one that cannot be predicted says why.
    """
    held = shipped() if catalog is None else catalog
    engines: dict[str | None, str | None] = {}
    out = []
    for m in rows:
        if m.engine not in engines:
            engines[m.engine] = known_engine(held, m.engine)
        engine = engines[m.engine]
        classes = classes_of(m, held, engine)
        try:
            p = predict(
                m.model, m.gpu, m.precision, batch=None if m.batch is None else round(m.batch), input_tokens=round(m.input_tokens),
                output_tokens=round(m.output_tokens), gpus=m.gpus, tp=m.tp, pp=m.pp, kv=m.kv, engine=engine, options=options, catalog=held,
            )  # fmt: skip
        except GpueconError as refusal:
            out.append(Compared(m, None, None, None, " ".join(str(refusal).split()), classes))
            continue
        value = predicted_value(m, p)
        slow, fast = p.low / p.output_tok_s, p.high / p.output_tok_s
        low, high = (value / fast, value / slow) if m.metric == "ttft_ms" else (value * slow, value * fast)
        out.append(Compared(m, value, low, high, "", classes))
    return out


def predicted_value(m: Measurement, p: Prediction) -> float:
    """What a prediction says about the metric of a measurement."""
    if m.metric == "output_tok_s_total":
        return p.output_tok_s
    if m.metric == "total_tok_s":
        return p.total_tok_s
    if m.metric == "prefill_tok_s":
        return p.prefill_tok_s
    if m.metric == "ttft_ms":
        return KILO * p.ttft_s
    if m.static or m.batch is None:
        return p.decode_tok_s_user
    running = min(m.batch, p.batch_max)
    return float(served_tok_s_user(running, p.output_tok_s, m.input_tokens, m.output_tokens, p.prefill_tok_s, p.decode_tok_s_user))


def classes_of(m: Measurement, catalog: Catalog, engine: str | None) -> dict[str, str]:
    """The class of a row in each dimension, as a code or a name of the catalogue."""
    try:
        card = catalog.find("gpus", m.gpu)
    except GpueconError:
        card = None
    try:
        model = catalog.find_model(m.model)[0]
    except GpueconError:
        model = None
    row = find_engine(catalog, engine) if engine else None
    return {
        "class": "unknown" if card is None else card_class(card),
        "batch": batch_class(m.batch),
        "engine": str(row["family"]) if row else "unknown",
        "metric": m.metric,
        "moe": "unknown" if model is None else "moe" if model["experts"] else "dense",
        "mode": m.mode,
        "gpu": m.gpu if card is None else str(card["gpu"]),
        "model": m.model if model is None else str(model["model"]),
        "precision": m.precision,
        "era": str(row["engine"]) if row else "unknown",
        "source": m.source,
    }


def card_class(card: dict[str, Any]) -> str:
    """Five classes of cards: ``sxm``, ``pcie_datacenter``, ``pcie_other``, ``amd``, ``other``."""
    if card["form_factor"] in ("soc", "laptop") or card["vendor"] not in ("NVIDIA", "AMD"):
        return "other"
    if card["vendor"] == "AMD":
        return "amd"
    if card["form_factor"] != "pcie":
        return "sxm"
    return "pcie_datacenter" if card["datacenter"] == "yes" else "pcie_other"


def batch_class(batch: float | None) -> str:
    """The class of a batch; ``max`` is as many as fit."""
    if batch is None:
        return "max"
    return next((name for name, most in rules()["batch_class"].items() if batch <= most), "65+")
