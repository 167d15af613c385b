"""The recommendation for a workload: the same columns as the workbook's Candidates, computed for one workload.

Here: which build of the catalogue costs least per million output tokens among those that keep every limit.
Not here: the columns themselves (`sheets.candidates`), the free search over all cards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuecon_xl.catalog import Catalog
from gpuecon_xl.errors import BadValue
from gpuecon_xl.sheets import book as books


def recommended(catalog: Catalog, workload: Mapping[str, Any]) -> str:
    """Name of the recommended build, "none" when no build keeps every limit."""
    table = catalog.memo.get("recommended")
    if table is None:
        cells = books.values_of(books.build(catalog), catalog)
        matrix = cells.tables["Matrix"].columns
        table = {
            str(w).lower(): (str(build) if row else "none")
            for w, build, row in zip(matrix["workload"], matrix["recommended"], matrix["pick_row"], strict=True)
            if w
        }
        catalog.memo["recommended"] = table
    try:
        return str(table[str(workload["workload"]).lower()])
    except KeyError:
        raise BadValue(f"workload {workload['workload']!r} stands beyond the first {len(table)} rows that the Matrix answers") from None
