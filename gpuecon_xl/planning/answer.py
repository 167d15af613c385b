"""The answer of a plan: candidates ranked by cost, the Pareto front, and why each of the others lost.

Here: order, front, reasons, the check of the winner by the scalar functions, its steps.
Not here: figures (`search`), the refusal when nothing fits (`refusal`), sentences (`words`), the workbook (`sheet`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuecon_xl import explain, functions
from gpuecon_xl.ops import DECIMALS
from gpuecon_xl.planning.builds import Broken, Build, broken_at, build_at, miss_scores
from gpuecon_xl.planning.refusal import nothing_fits
from gpuecon_xl.planning.search import Array, Candidates, inputs
from gpuecon_xl.units import KILO

# The three things that a build on the front cannot improve in without losing in another; the first ranks.
AXES = ("cost_eur_mtok", "answer_s", "power_w")
_STEPS_OF = ("cost_eur_mtok", "answer_s", "power_w", "outlay_eur", "headroom", "batch_max")


@dataclass(frozen=True)
class Reason:
    """Why a build stands where it stands.

    code: ``winner``; ``front`` (keeps every limit, beaten in cost only); ``dominated`` (by `by`, which is at least as good in
    cost, time and power); ``limits`` (breaks `broken`).
    cost, time, power : relative to the build that it lost to, the winner or `by`: 0.1 is 10 % more.
    """

    code: str
    broken: tuple[Broken, ...] = ()
    by: Build | None = None
    cost: float = 0.0
    time: float = 0.0
    power: float = 0.0


@dataclass(frozen=True)
class Ranked:
    """A build with its reason; `rank` is its place among all that keep the limits, 0 for the others."""

    build: Build
    reason: Reason
    rank: int


class Plan:
    """The answer: winner, front, and the best of each card and weights format with the reason why it lost.

    Raises
    ------
    BadValue
        When no candidate keeps every limit; the tightest is named, and what would make something fit.
    """

    def __init__(self, candidates: Candidates) -> None:
        self.candidates = candidates
        self.question = candidates.question
        kept = np.nonzero(candidates.kept)[0]
        if not len(kept):
            raise nothing_fits(candidates)
        axes = [np.round(candidates.columns[a][kept], DECIMALS) for a in AXES]
        order = np.lexsort((axes[2], axes[1], axes[0]))
        self.ranked: Array = kept[order]  # every candidate that keeps the limits, cheapest first
        self._front, self._beaten_by = pareto([a[order] for a in axes])

    @cached_property
    def rank(self) -> Array:
        """Place of every candidate among those that keep the limits, from 1; 0 for the others."""
        rank = np.zeros(len(self.candidates), dtype=np.int64)
        rank[self.ranked] = np.arange(1, len(self.ranked) + 1)
        return rank

    @cached_property
    def winner(self) -> Build:
        """The lowest cost per million output tokens; among equals the soonest answer, then the least power."""
        return build_at(self.candidates, self.ranked[0])

    @cached_property
    def front(self) -> list[Ranked]:
        """Builds that no other beats in cost, time of an answer and power together; cheapest first."""
        return [self.entry(self.ranked[i]) for i in self._front]

    def beaten_by(self, rank: int) -> int:
        """Place of the build on the front that beats the candidate of a rank in all three, -1 for none."""
        found = int(self._beaten_by[rank - 1])
        return -1 if found < 0 else int(self.ranked[found])

    def reason(self, place: int) -> Reason:
        """Why the candidate at a place won or lost."""
        rank = int(self.rank[place])
        if rank == 0:
            return Reason("limits", broken_at(self.candidates, place))
        if rank == 1:
            return Reason("winner")
        mine, by = build_at(self.candidates, place), self.beaten_by(rank)
        other = self.winner if by < 0 else build_at(self.candidates, by)
        more = [getattr(mine, a) / getattr(other, a) - 1 for a in AXES]
        return Reason("front" if by < 0 else "dominated", (), other, *more)

    def entry(self, place: int) -> Ranked:
        """A candidate with reason and rank."""
        return Ranked(build_at(self.candidates, place), self.reason(place), int(self.rank[place]))

    @cached_property
    def best_of_each(self) -> list[Ranked]:
        """The best candidate of each card and weights format: by rank; then those that break limits, the nearest miss first."""
        many = len(self.question.kvs) * self.candidates.shape[1]
        last = len(self.candidates)
        rank = np.where(self.rank > 0, self.rank, last + 1).reshape(-1, many)
        miss = miss_scores(self.candidates)
        by_group = miss.reshape(-1, many)
        cost = np.minimum(self.candidates.columns["cost_eur_mtok"], np.finfo(float).max).reshape(-1, many)
        nearest = np.where(by_group == by_group.min(axis=1, keepdims=True), cost, np.inf).argmin(axis=1)  # the cheapest of the nearest
        best = np.where(rank.min(axis=1) <= last, rank.argmin(axis=1), nearest)
        found = (np.arange(len(best)) * many + best).tolist()
        flat = cost.reshape(-1)
        found.sort(key=lambda p: (self.rank[p] == 0, self.rank[p], miss[p], flat[p], p))
        return [self.entry(p) for p in found]

    @cached_property
    def broken_counts(self) -> dict[str, int]:
        """How many candidates break each limit."""
        return {code: int(breaks.sum()) for code, breaks in self.candidates.broken.items()}

    def recheck(self) -> dict[str, tuple[float, float]]:
        """The winner's figures from the search beside those of the public functions, called for this one build."""
        w, q = self.winner, self.question
        model, engine = str(q.model["model"]), str(q.engine["engine"])
        p = functions.predict(model, w.gpu, w.precision, batch=q.users, input_tokens=q.input_tokens, output_tokens=q.output_tokens, gpus=w.gpus,
                              tp=w.tp, pp=w.pp, kv=w.kv, engine=engine, mode=q.mode, options=dict(q.assumptions), catalog=q.catalog)  # fmt: skip
        options = {**q.assumptions, "tp": w.tp, "pp": w.pp, "kv": w.kv, "engine": engine, "mode": q.mode,
                   "input_tokens": q.input_tokens, "output_tokens": q.output_tokens}  # fmt: skip
        cost = functions.cost_per_mtok(
            model, w.gpu, w.precision, q.users, q.input_tokens + q.output_tokens, w.gpus, price=q.prices[w.gpu], options=options,
            catalog=q.catalog,
        )  # fmt: skip
        tpot = KILO * p.admitted / p.output_tok_s
        return {
            "cost_eur_mtok": (w.cost_eur_mtok, cost),
            "output_tok_s": (w.output_tok_s, p.output_tok_s),
            "ttft_ms": (w.ttft_ms, p.ttft_s * KILO),
            "tpot_ms": (w.tpot_ms, tpot),
            "answer_s": (w.answer_s, p.ttft_s + q.output_tokens * tpot / KILO),
            "batch_max": (w.batch_max, p.batch_max),
            "headroom": (w.headroom, p.headroom),
        }

    def steps(self) -> list[explain.Step]:
        """Every quantity behind the winner's figures: name, value, unit, equation."""
        c, q, w = self.candidates, self.question, self.winner
        card, precision, kv = c.combos[w.place // c.shape[1]]
        load = {"batch": q.users, "input_tokens": q.input_tokens, "output_tokens": q.output_tokens, "gpus": w.gpus, "tp": w.tp, "pp": w.pp}
        facts: list[explain.Step] = [
            ("model", q.model["model"], "", str(q.model["source"])),
            ("gpu", w.gpu, "", str(q.cards[card]["source"])),
            ("precision", w.precision, "", str(q.precisions[precision]["source"])),
            ("kv", w.kv, "", str(q.kvs[kv]["source"])),
            ("engine", q.engine["engine"], "", str(q.engine["source"])),
            ("price_eur", q.prices[w.gpu], "EUR", str(q.catalog.find("prices", w.gpu)["source"])),
            *((k, v, "", "") for k, v in load.items()),
        ]
        return facts + explain.steps(_STEPS_OF, {**inputs(q, card, precision, kv), **load})


def pareto(axes: list[Array]) -> tuple[list[int], Array]:
    """The Pareto front of points that are sorted by the first axis, then the second, then the third; less is better.

    Returns
    -------
    positions on the front, and for each point the position of the first point on the front that beats it, -1 for none.
    A point equal to an earlier one counts as beaten by it.
    """
    beaten_by = np.full(len(axes[0]), -1, dtype=np.int64)
    left = np.arange(len(axes[0]))
    found: list[int] = []
    while len(left):
        best, left = int(left[0]), left[1:]
        found.append(best)
        worse = np.ones(len(left), dtype=bool)
        for a in axes:
            worse &= a[left] >= a[best]
        beaten_by[left[worse]] = best
        left = left[~worse]
    return found, beaten_by
