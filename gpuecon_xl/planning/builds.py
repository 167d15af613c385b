"""Candidates one by one: a build as a person names it, the limits that it breaks, how near it is to keeping them.

Here: single candidates out of the search's columns. Not here: the columns (`search`), rank and reasons (`answer`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuecon_xl.planning.question import LIMITS
from gpuecon_xl.planning.search import Array, Candidates

FIGURES = ("cost_eur_mtok", "answer_s", "power_w", "ttft_ms", "tpot_ms", "output_tok_s", "batch_max", "headroom", "outlay_eur", "slots_used")
_NEVER = 1e6  # stands for an excess that no relaxing ends: a mark of the card, a model that does not fit


@dataclass(frozen=True)
class Build:
    """A candidate with its figures; `slots_used` is None for cards that go into no slot. `place` is its position in the search."""

    place: int
    gpu: str
    gpus: int
    tp: int
    pp: int
    replicas: int
    precision: str
    kv: str
    cost_eur_mtok: float
    answer_s: float
    power_w: float
    ttft_ms: float
    tpot_ms: float
    output_tok_s: float
    batch_max: float
    headroom: float
    outlay_eur: float
    slots_used: float | None

    def named(self) -> str:
        """Cards, formats and layout in one line."""
        return f"{self.gpus} x {self.gpu} ({self.precision}, kv {self.kv}, tp {self.tp}, pp {self.pp})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values; a figure that is beyond every number is None."""
        found = {k: v for k, v in self.__dict__.items() if k != "place"}
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in found.items()}


@dataclass(frozen=True)
class Broken:
    """A limit that a build breaks: the limit's value, the build's, and how far it is beyond, relative to the limit."""

    code: str
    bound: float
    value: float
    excess: float


def build_at(candidates: Candidates, place: int) -> Build:
    """The candidate at a place."""
    q, ways = candidates.question, candidates.layouts
    combo, layout = divmod(int(place), candidates.shape[1])
    card, precision, kv = candidates.combos[combo]
    figures: dict[str, Any] = {name: float(candidates.columns[name][place]) for name in FIGURES}
    if not math.isfinite(figures["slots_used"]):
        figures["slots_used"] = None
    return Build(int(place), str(q.cards[card]["gpu"]), int(ways.gpus[layout]), int(ways.tp[layout]), int(ways.pp[layout]),
                 int(ways.replicas[layout]), str(q.precisions[precision]["precision"]), str(q.kvs[kv]["precision"]), **figures)  # fmt: skip


def broken_at(candidates: Candidates, place: int) -> tuple[Broken, ...]:
    """Limits that a candidate breaks; too little free memory is not named beside too few requests, which says the same."""
    found = []
    for limit in LIMITS:
        over = candidates.excess.get(limit.code)
        if over is not None and over[place] > 0:
            value = float(candidates.bounded(limit.column)[place])
            found.append(Broken(limit.code, candidates.question.limits[limit.code], value, float(over[place])))
    codes = {b.code for b in found}
    return tuple(b for b in found if b.code != "headroom" or "users" not in codes)


def miss_scores(candidates: Candidates) -> Array:
    """How far each candidate is from keeping the limits, 0 when it keeps them.

    The sum of the logarithms of the factors by which limits must be relaxed, so that twice the watts and half the
    users weigh the same.
    """
    score = np.zeros(len(candidates))
    for over in candidates.excess.values():
        score += np.log1p(np.minimum(over, _NEVER))
    return score
