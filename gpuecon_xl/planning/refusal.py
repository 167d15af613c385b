"""The refusal when nothing fits: which limit is the tightest, and what would make something fit.

Here: limits relaxed one by one, and the nearest miss when no single one is to blame. Not here: answers (`answer`).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gpuecon_xl.errors import BadValue
from gpuecon_xl.ops import DECIMALS
from gpuecon_xl.planning.builds import Build, broken_at, build_at, miss_scores
from gpuecon_xl.planning.question import LIMITS, Question
from gpuecon_xl.planning.search import Candidates, search
from gpuecon_xl.throughput import MOST_TENSOR_PARALLEL
from gpuecon_xl.units import KILO, PERCENT

_DIGITS = 4  # of a limit that is proposed
_COLUMN = {limit.code: limit.column for limit in LIMITS}
_MARKS = frozenset(limit.code for limit in LIMITS if limit.kind in ("yes", "no"))
_EASED = frozenset(("users", "headroom", "ttft_ms", "tpot_ms"))  # limits that fewer users ease
_WORSE = math.inf  # a mark of the card is given up last


def nothing_fits(candidates: Candidates) -> BadValue:
    """The refusal of a question that no candidate answers."""
    q = candidates.question
    what = f"no build serves {q.model['model']} to {q.users:g} users with {q.input_tokens:g} + {q.output_tokens:g} tokens within the limits"
    holds = candidates.columns["batch_max"] >= 1
    if not holds.any():
        return BadValue(f"{what}: not even one request fits beside the weights on up to {q.span} cards, {MOST_TENSOR_PARALLEL} in a group; "
                        "a smaller precision, larger cards or a shorter request is due")  # fmt: skip
    ways = relaxed(candidates)
    if ways:
        return BadValue(f"{what}; the tightest: {'; or '.join(ways)}")
    place = int(np.where(holds, miss_scores(candidates), np.inf).argmin())
    missed = [b.code if b.code in _MARKS or not math.isfinite(b.excess) else f"{b.code} {_shown(b.code, b.bound)} (has {_shown(b.code, b.value)})"
              for b in broken_at(candidates, place)]  # fmt: skip
    return BadValue(f"{what}, and relaxing one of them is not enough; nearest is {build_at(candidates, place).named()}, which misses "
                    f"{' and '.join(missed)}; relax these together")  # fmt: skip


def relaxed(candidates: Candidates) -> list[str]:
    """For each limit that alone stands in the way, what it would have to be and what it would then allow; the smallest step first."""
    found: list[tuple[float, str]] = []
    q = candidates.question
    priced = np.isfinite(candidates.columns["cost_eur_mtok"])
    for code in candidates.broken:
        others = [breaks for other, breaks in candidates.broken.items() if other != code]
        places = np.nonzero(candidates.broken[code] & priced & ~np.any(others, axis=0))[0]
        if code == "users" or not len(places):
            continue
        over = candidates.excess[code][places]
        if code in _MARKS:
            place = int(places[candidates.columns["cost_eur_mtok"][places].argmin()])
            found.append((_WORSE, f"without {code} {build_at(candidates, place).named()} would do"))
        elif np.isfinite(over.min()):
            place = int(places[over.argmin()])
            need = _enough(code, float(candidates.bounded(_COLUMN[code])[place]))
            if need >= 0:
                found.append((float(over.min()), f"{code} {_shown(code, need)} instead of {_shown(code, q.limits[code])} would allow "
                              f"{build_at(candidates, place).named()}"))  # fmt: skip
    fewer = fewer_users(candidates)
    if fewer is not None:
        count, build = fewer
        found.append((q.users / count - 1, f"users {count} instead of {q.users:g} would allow {build.named()}"))
    return [text for _, text in sorted(found, key=lambda x: x[0])]


def fewer_users(candidates: Candidates) -> tuple[int, Build] | None:
    """The largest whole number of users below those asked that something serves, and the cheapest build for them."""
    q = candidates.question
    hopeless = np.any([breaks for code, breaks in candidates.broken.items() if code not in _EASED] or [np.zeros(len(candidates), dtype=bool)], axis=0)
    if q.users <= 1 or hopeless.all():
        return None
    served = _cheapest(q, 1)
    if served is None:
        return None
    low, high = 1, math.ceil(q.users)
    while high - low > 1:
        middle = (low + high) // 2
        found = _cheapest(q, middle)
        low, high, served = (middle, high, found) if found is not None else (low, middle, served)
    return low, served


def _cheapest(question: Question, users: int) -> Build | None:
    tried = search(replace(question, users=float(users), limits={**question.limits, "users": float(users)}))
    cost = np.where(tried.kept, tried.columns["cost_eur_mtok"], np.inf)
    return build_at(tried, int(cost.argmin())) if tried.kept.any() else None


def _enough(code: str, value: float) -> float:
    """A limit that a value keeps, rounded to its loose side."""
    if code == "headroom":
        return math.floor(value * KILO) / KILO
    unit = 10.0 ** (math.floor(math.log10(value)) - _DIGITS + 1)
    return round(math.ceil(round(value / unit, DECIMALS)) * unit, DECIMALS)


def _shown(code: str, value: float) -> str:
    return f"{value * PERCENT:.1f} %" if code == "headroom" else f"{value:.7g}"
