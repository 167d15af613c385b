"""The recommendation for a workload: the columns of the workbook's Candidates and Matrix that it needs, nothing else.

Here: which build of the catalogue costs least per million output tokens among those that keep every limit.
Not here: the columns themselves (`sheets.candidates`), the free search over all cards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gpuecon_xl.catalog import Catalog
from gpuecon_xl.errors import BadValue
from gpuecon_xl.sheets import book as books


class Pick(NamedTuple):
    """The Matrix's answer for a workload: the recommended build, its cost; None where no build keeps every limit."""

    build: str | None
    cost_eur_mtok: float | None


PICK_COLUMNS = (("Matrix", "workload"), ("Matrix", "pick_row"), ("Matrix", "cost_eur_mtok"), ("Candidates", "build"))


def picks(catalog: Catalog) -> dict[str, Pick]:
    """The pick of every workload that the Matrix answers, by the workload's name, in the Matrix's order."""
    found: dict[str, Pick] | None = catalog.memo.get("picks")
    if found is None:
        tables = books.values_of(books.build(catalog), catalog, PICK_COLUMNS).tables
        matrix, builds = tables["Matrix"].columns, tables["Candidates"].columns["build"]
        found = {
            str(workload): Pick(str(builds[int(row) - 1]), float(cost)) if row else Pick(None, None)
            for workload, row, cost in zip(matrix["workload"], matrix["pick_row"], matrix["cost_eur_mtok"], strict=True)
            if workload
        }
        catalog.memo["picks"] = found
    return found


def recommended(catalog: Catalog, workload: Mapping[str, Any]) -> str:
    """Name of the recommended build, "none" when no build keeps every limit."""
    table = {name.lower(): pick for name, pick in picks(catalog).items()}
    try:
        return table[str(workload["workload"]).lower()].build or "none"
    except KeyError:
        raise BadValue(f"workload {workload['workload']!r} stands beyond the first {len(table)} rows that the Matrix answers") from None
