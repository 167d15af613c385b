"""Figures of many errors: median, 90th percentile, bias, share within the band.

Here: each row once, and each group of rows (source, card, model, format) once, by any dimension.
Not here: how a single row is predicted (`comparison`), how figures are printed (`command`).
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpuecon_xl.errors import NameNotFound, nearest
from gpuecon_xl.validation.comparison import Compared

DIMENSIONS = ("class", "batch", "engine", "metric", "moe", "mode", "gpu", "model", "precision", "era", "source")
SHOWN = ("class", "batch", "engine", "metric", "moe")  # when none is asked for
JOINED = "+"  # class+batch: every pair of the two
MEDIAN, NINETIETH = 0.5, 0.9
_ROUNDING = 1e-12  # of a sum of weights


@dataclass(frozen=True)
class Errors:
    """Errors of predictions, as shares: 0.1 is 10 %. `bias` is the median of the signed error."""

    median: float
    mean: float
    p90: float
    bias: float
    in_band: float


@dataclass(frozen=True)
class Figures:
    """Rows, groups, rows predicted; errors with each row once and with each group once, None where nothing was predicted."""

    rows: int
    groups: int
    predicted: int
    by_row: Errors | None
    by_group: Errors | None


def figures(compared: Sequence[Compared]) -> Figures:
    """Figures of a set of rows.

    Returns
    -------
    Figures : `by_row` counts every row once, `by_group` gives each source, card, model and format the same weight.
    """
    done = [c for c in compared if c.predicted is not None]
    groups = len({c.measurement.group for c in compared})
    if not done:
        return Figures(len(compared), groups, 0, None, None)
    size = collections.Counter(c.measurement.group for c in done)
    return Figures(len(compared), groups, len(done), _errors(done, [1.0] * len(done)), _errors(done, [1 / size[c.measurement.group] for c in done]))


def _errors(done: Sequence[Compared], weights: Sequence[float]) -> Errors:
    signed = [c.ratio - 1 for c in done]
    absolute = [abs(e) for e in signed]
    whole = sum(weights)
    return Errors(
        quantile(absolute, weights, MEDIAN),
        sum(e * w for e, w in zip(absolute, weights, strict=True)) / whole,
        quantile(absolute, weights, NINETIETH),
        quantile(signed, weights, MEDIAN),
        sum(w for c, w in zip(done, weights, strict=True) if c.in_band) / whole,
    )


def quantile(values: Sequence[float], weights: Sequence[float], share: float) -> float:
    """The smallest value up to which at least `share` of the weight lies."""
    wanted = share * sum(weights) - _ROUNDING
    reached = 0.0
    ordered = sorted(zip(values, weights, strict=True))
    for value, weight in ordered:
        reached += weight
        if reached >= wanted:
            return value
    return ordered[-1][0]


def dimensions_of(text: str) -> list[tuple[str, ...]]:
    """Tables asked for: "class,batch" is two of them, "class+batch" is one of every pair.

    Raises
    ------
    NameNotFound
        For a dimension that does not exist, with the nearest.
    """
    asked = [tuple(n.strip().lower() for n in part.split(JOINED)) for part in text.split(",")]
    for names in asked:
        for name in names:
            if name not in DIMENSIONS:
                raise NameNotFound(f"--by {name[:40]!r} does not exist; one of {', '.join(DIMENSIONS)} is due, nearest: {nearest(name, DIMENSIONS)}")
    return list(dict.fromkeys(asked))


def table_by(compared: Iterable[Compared], names: Sequence[str]) -> dict[tuple[str, ...], Figures]:
    """Figures of the rows that share their class in every one of these dimensions, in the order of their classes."""
    parts: dict[tuple[str, ...], list[Compared]] = {}
    for c in compared:
        parts.setdefault(tuple(c.classes[n] for n in names), []).append(c)
    return {key: figures(parts[key]) for key in sorted(parts, key=lambda k: [_place(x) for x in k])}


def _place(code: str) -> tuple[float, str]:
    """Batches in order of size, names in that of the alphabet."""
    first = code.split("-")[0].rstrip("+")
    return (float(first) if first.isdigit() else float("inf"), code.lower())
