"""The search of a plan: every candidate's figures in one pass of numpy over the equations.

Here: candidates (card, formats, layout, copies), their columns, which limits they break and by how much.
Not here: the equations (``equations/``), the question (`question`), ranking and reasons (`answer`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuecon_xl import graph, money, throughput
from gpuecon_xl.equations.finance import mean_use, ramp_share
from gpuecon_xl.planning.question import LIMITS, Question
from gpuecon_xl.units import KILO

Array = NDArray[Any]

# Quantities of every candidate; what they need is found in the graph.
COLUMNS = ("cost_eur_mtok", "answer_s", "power_w", "ttft_s", "tpot_ms", "output_tok_s", "batch_max", "headroom", "outlay_eur", "slots_used")
_LAYOUT = ("gpus", "tp", "pp")
_LOAD = ("batch", "input_tokens", "output_tokens")
_BLOCK = 1 << 16  # candidates computed together: their columns stay in the processor's cache


@dataclass(frozen=True)
class Layouts:
    """Every way to divide cards: tp · pp cards make a copy of the model, `replicas` copies make the build."""

    tp: Array
    pp: Array
    replicas: Array
    gpus: Array


def layouts(question: Question) -> Layouts:
    """Layouts that the model allows, within the cards that the search looks at.

    Groups share a host; `throughput.MOST_TENSOR_PARALLEL` bounds them, as it does for predictions.
    """
    heads, layers = question.model["heads"], question.model["layers"]
    found = []
    for tp in range(1, throughput.MOST_TENSOR_PARALLEL + 1):
        if heads and heads % tp:
            continue
        for pp in range(1, int(min(throughput.MOST_TENSOR_PARALLEL // tp, layers)) + 1):
            found += [(tp, pp, n, tp * pp * n) for n in range(1, question.span // (tp * pp) + 1)]
    found.sort(key=lambda x: (x[3], x[0], x[1]))
    return Layouts(*(np.array(column, dtype=float) for column in zip(*found, strict=True)))


@dataclass
class Candidates:
    """All candidates: combination by combination (card, weights, cache), in each one layout by layout.

    Attributes
    ----------
    columns : figures of each candidate.  shape : combinations, layouts.
    """

    question: Question
    layouts: Layouts
    combos: list[tuple[int, int, int]]  # positions of card, precision and kv in the question
    columns: dict[str, Array]

    @property
    def shape(self) -> tuple[int, int]:
        """Combinations and layouts."""
        return len(self.combos), len(self.layouts.gpus)

    def __len__(self) -> int:
        return self.shape[0] * self.shape[1]

    def bounded(self, column: str) -> Array:
        """A column that a limit bounds; a card's mark as 1 (yes), 0 (no or unknown)."""
        if column in self.columns:
            return self.columns[column]
        rows, width = self.shape
        if column == "gpus":
            return np.tile(self.layouts.gpus, rows)
        return np.repeat([1.0 if self.question.cards[c][column] == "yes" else 0.0 for c, _, _ in self.combos], width)

    @cached_property
    def broken(self) -> dict[str, Array]:
        """For each limit that is set, which candidates break it."""
        return {code: over > 0 for code, over in self.excess.items()}

    @cached_property
    def excess(self) -> dict[str, Array]:
        """For each limit that is set, how far a candidate is beyond it, relative to the limit; 0 where it is kept.

        A broken mark of the card is infinitely far. Free memory is a share already.
        """
        out = {}
        with np.errstate(all="ignore"):
            for limit in LIMITS:
                if limit.code not in self.question.limits:
                    continue
                bound, value = self.question.limits[limit.code], self.bounded(limit.column)
                if limit.kind == "most":
                    over = np.where(value <= bound, 0.0, value / bound - 1)
                elif limit.code == "headroom":
                    over = np.where(value >= bound, 0.0, bound - value)
                elif limit.kind == "least":
                    over = np.where(value >= bound, 0.0, bound / value - 1)
                else:
                    over = np.where((value == 1.0) == (limit.kind == "yes"), 0.0, np.inf)
                out[limit.code] = np.where(np.isnan(over), np.inf, over)
        return out

    @cached_property
    def kept(self) -> Array:
        """Which candidates keep every limit and have a cost."""
        keeps = np.isfinite(self.columns["cost_eur_mtok"])
        for breaks in self.broken.values():
            keeps &= ~breaks
        return keeps


def inputs(question: Question, card: int, precision: int, kv: int) -> dict[str, Any]:
    """Every input of the equations for one combination that does not vary with load and layout."""
    gpu = question.cards[card]
    values = throughput.inputs_of(
        question.catalog, dict(question.model), dict(gpu), dict(question.precisions[precision]), dict(question.kvs[kv]),
        dict(question.engine), question.mode, question.assumptions,
    )  # fmt: skip
    values.update(money.tco_values(question.catalog, question.assumptions, "EUR"))
    ramp = question.assumptions.get("ramp_months", question.catalog.assumption("ramp_months"))
    values["utilization"] = mean_use(values["utilization"], ramp_share(ramp, values["horizon_years"]))
    values["price_eur"] = question.prices[str(gpu["gpu"])]
    values["slots"] = gpu["slots"] or np.inf  # a card of another form goes into no slot
    return values


def search(question: Question) -> Candidates:
    """Figures of every candidate."""
    pairs = [(c, p) for c in range(len(question.cards)) for p in range(len(question.precisions)) if question.takes(c, p)]
    combos = [(c, p, k) for c, p in pairs for k in range(len(question.kvs))]
    gathered = [inputs(question, *combo) for combo in combos]
    names = tuple(gathered[0])
    facts = [_column([row[n] for row in gathered]) for n in names]
    carried, second = graph.staged(COLUMNS, names, (*_LOAD, *_LAYOUT))
    ways = layouts(question)
    width = len(ways.gpus)
    columns = {name: np.empty(len(combos) * width) for name in COLUMNS}
    load = (question.users, question.input_tokens, question.output_tokens)
    run = graph.plan(COLUMNS, second)
    with np.errstate(all="ignore"):
        first = graph.plan(carried, names)(*facts)
        step = max(_BLOCK // width, 1)
        for start in range(0, len(combos), step):
            part = slice(start, start + step)
            held = [f[part] if np.ndim(f) else f for f in first]
            got = run(*held, *load, ways.gpus, ways.tp, ways.pp)
            rows = len(combos[part])
            for name, value in zip(COLUMNS, got, strict=True):
                columns[name][start * width : (start + rows) * width] = np.broadcast_to(value, (rows, width)).reshape(-1)
        columns["ttft_ms"] = columns["ttft_s"] * KILO
    return Candidates(question, ways, combos, columns)


def _column(values: list[Any]) -> Any:
    """A fact of each combination as a column; one number where it is the same for all."""
    if all(v == values[0] for v in values):
        return values[0]
    return np.array(values).reshape(-1, 1)
