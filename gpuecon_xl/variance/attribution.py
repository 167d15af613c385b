"""What each change of the inputs did to every workload's cost per million tokens and to its recommended build.

Here: the changes made one after another in their order, the cost after each; effects that add up to the whole change.
Not here: what differs (`changes`), how it is shown (`words`, `book`).

The effect of a change is the cost after it minus the cost before it, all earlier changes being made already. What two
changes do together therefore falls on the later one. The rest is what the new inputs cost beyond the last step; it is 0,
or a change was missed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from gpuecon_xl.catalog import Catalog, as_catalog, load_catalog, shipped
from gpuecon_xl.errors import BadFile
from gpuecon_xl.recommendation import PICK_COLUMNS, Pick, picks
from gpuecon_xl.sheets import book as books
from gpuecon_xl.variance.changes import Change, RowChange, Tables, applied, complete_tables, differences, reads_cost

SHIPPED = "catalog"  # the word for the shipped catalogue

MOST_STEPS = 60  # each step is a calculation of the Matrix; what comes after is one step

NOISE = 1e-12  # of a cost: below it are the last digits of a calculation

_NOTHING = Pick(None, None)


@dataclass(frozen=True)
class Step:
    """One step of the attribution: its number from 1 and the rows that it changes, more than one only for the last of many.

    computed: False where the cost reads nothing of the change, so that its effect is 0 without a calculation.
    """

    number: int
    changes: tuple[RowChange, ...]
    computed: bool


@dataclass(frozen=True)
class Flip:
    """A recommendation that changed at a step; None is no build."""

    step: int
    old: str | None
    new: str | None


@dataclass(frozen=True)
class WorkloadVariance:
    """What the steps did to one workload.

    cost_old_eur_mtok, cost_new_eur_mtok : of the recommended build, per million output tokens; None without one.
    after : the cost after each step.
    effects : of each step; None where there is no figure after it or none before it. Where figures come back after steps
        without one, the step that brings them back has the change since the last figure.
    change, rest : None where an end has no figure.
    flips : steps at which the recommended build changed, in order.
    """

    workload: str
    cost_old_eur_mtok: float | None
    cost_new_eur_mtok: float | None
    build_old: str | None
    build_new: str | None
    change: float | None
    share: float | None
    after: tuple[float | None, ...]
    effects: tuple[float | None, ...]
    rest: float | None
    flips: tuple[Flip, ...]

    @property
    def changed(self) -> bool:
        """Whether the cost or the recommended build is another one."""
        return self.cost_old_eur_mtok != self.cost_new_eur_mtok or self.build_old != self.build_new

    def moved(self) -> dict[int, float]:
        """Effects by number of the step, without those of 0 and those that only the last digits of a calculation make."""
        least = NOISE * max((c for c in (self.cost_old_eur_mtok, *self.after) if c is not None), default=0.0)
        return {i: e for i, e in enumerate(self.effects, start=1) if e is not None and abs(e) > least}


@dataclass(frozen=True)
class Variance:
    """The differences of two books or catalogues and what they did.

    old, new : what was compared, as it was named. warnings : what reading them gave to look at.
    """

    old: str
    new: str
    steps: tuple[Step, ...]
    workloads: tuple[WorkloadVariance, ...]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: dates as text."""
        out: dict[str, Any] = _plain(asdict(self))
        return out


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


def diff_books(old: Any, new: Any) -> Variance:
    """Which inputs changed from one book or catalogue to another, and what each did to cost and recommendation.

    Parameters
    ----------
    old, new : an edited workbook, a folder of CSV, a CSV file whose rows are added to the shipped ones, a Catalog, or
        None or "catalog" for the shipped catalogue.

    Returns
    -------
    Variance
        Changes in the workbook's order of sheets, tables and rows, each with its effect on every workload. Effects of a
        workload add up exactly to the change of its cost.

    Raises
    ------
    BadFile
        Naming every problem of a file, all at once.
    """
    sides = [_side(given, what) for given, what in ((old, "OLD"), (new, "NEW"))]
    warnings = tuple(f"{name}: {w}" for name, catalog in sides for w in catalog.warnings)
    before, after = (complete_tables(catalog) for _, catalog in sides)
    steps, states = _walk(before, differences(before, after))
    ends = _picks(before), _picks(after)
    names = {n.lower(): n for n in [*ends[0], *ends[1]]}
    course = [{n.lower(): p for n, p in state.items()} for state in (ends[0], *states, ends[1])]
    shown = dict.fromkeys([*course[-1], *course[0]])
    workloads = tuple(_workload(names[n], [state.get(n, _NOTHING) for state in course]) for n in shown)
    return Variance(sides[0][0], sides[1][0], tuple(steps), workloads, warnings)


def _side(given: Any, what: str) -> tuple[str, Catalog]:
    if isinstance(given, str | Path) and not str(given).strip():
        raise BadFile(f"{what} is empty; the path of a workbook, of a folder of CSV or the word {SHIPPED} is due")
    if given is None or given == SHIPPED:
        return SHIPPED, shipped()
    if isinstance(given, str | Path):
        path = Path(given)
        if not path.exists():
            raise BadFile(f"{path}: no such file; the path of a workbook, of a folder of CSV or the word {SHIPPED} is due")
        return str(path), load_catalog(path)
    catalog = as_catalog(given)
    return catalog.origin, catalog


def _picks(tables: Tables) -> dict[str, Pick]:
    return picks(Catalog({name: list(rows) for name, rows in tables.items()}, "a step"))


def _walk(tables: Tables, changes: Iterable[Change]) -> tuple[list[Step], list[dict[str, Pick]]]:
    """The steps and the picks after each of them."""
    read = books.what_is_read(books.build(shipped()), PICK_COLUMNS)
    steps: list[Step] = []
    states: list[dict[str, Pick]] = []
    here = None
    for group, computed in _grouped([(c, reads_cost(c, read.columns, read.names)) for c in changes]):
        for change in group:
            tables = applied(tables, change)
        if computed or here is None:
            here = _picks(tables)
        states.append(here)
        steps.append(Step(len(steps) + 1, tuple(c.told for c in group), computed))
    return steps, states


def _grouped(changes: list[tuple[Change, bool]]) -> list[tuple[list[Change], bool]]:
    """Changes as steps, each alone; where more than `MOST_STEPS` are to be computed, the later ones are the last step."""
    computed = [i for i, (_, reads) in enumerate(changes) if reads]
    alone = len(changes) if len(computed) <= MOST_STEPS else computed[MOST_STEPS - 1]
    groups = [([c], reads) for c, reads in changes[:alone]]
    return groups if alone == len(changes) else [*groups, ([c for c, _ in changes[alone:]], True)]


def _workload(name: str, course: list[Pick]) -> WorkloadVariance:
    """What the picks before all steps, after each of them, and of the new inputs say of a workload."""
    *found, last = course
    first = found[0]
    costs = [p.cost_eur_mtok for p in found]
    known = costs[0]
    effects: list[float | None] = []
    sum_of_effects = Fraction(0)
    for cost in costs[1:]:
        effects.append(None if cost is None or known is None else cost - known)
        if cost is not None:
            sum_of_effects += Fraction(cost) - Fraction(cost if known is None else known)
            known = cost
    change = share = rest = None
    if first.cost_eur_mtok is not None and last.cost_eur_mtok is not None:
        change = last.cost_eur_mtok - first.cost_eur_mtok
        share = last.cost_eur_mtok / first.cost_eur_mtok - 1 if first.cost_eur_mtok else None
        rest = float(Fraction(last.cost_eur_mtok) - Fraction(first.cost_eur_mtok) - sum_of_effects)
    flips = [Flip(i, a.build, b.build) for i, (a, b) in enumerate(pairwise(found), start=1) if a.build != b.build]
    return WorkloadVariance(name, first.cost_eur_mtok, last.cost_eur_mtok, first.build, last.build, change, share, tuple(costs[1:]),
                            tuple(effects), rest, tuple(flips))  # fmt: skip
