"""Whether the money of a book adds up, in the values that a reader shows: TCO, Cost, Candidates and Cash-flow to the cent.

Here: sums across sheets, from values alone. Not here: no code of the product is used.
"""

from __future__ import annotations

from typing import Any

from edits import Edited

CENT = 0.005  # euro; half of one rounds
REL = 1e-9  # of a cost per million tokens, and of sums in the billions that a far-off input makes
PARTS = ("capex_eur", "electricity_eur", "maintenance_eur", "running_eur", "spares_eur", "hosting_eur", "interest_eur")
ROOM_MONTHS = 60  # of Cash-flow


class Sums:
    """Comparisons of sums: what did not agree, how many did by sheet."""

    def __init__(self, layout: Edited, values: dict[str, dict[str, Any]]) -> None:
        self.layout, self.values = layout, values
        self.wrong: list[str] = []
        self.compared: dict[str, int] = {}

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Rows of a table as the reader shows them."""
        return self.layout.shown(table, self.values)

    def equal(self, sheet: str, what: str, one: Any, other: Any, least: float = CENT) -> None:
        """Compare two figures; where one is an error or nothing there is nothing to compare."""
        if not isinstance(one, int | float) or not isinstance(other, int | float):
            return
        self.compared[sheet] = self.compared.get(sheet, 0) + 1
        if abs(one - other) > max(least, REL * max(abs(one), abs(other))):
            self.wrong.append(f"{sheet}, {what}: {one!r} against {other!r}")


def total(row: dict[str, Any], columns: tuple[str, ...]) -> float | None:
    """Sum of some columns, or None where one is no figure."""
    found = [row[c] for c in columns]
    return sum(found) if all(isinstance(x, int | float) for x in found) else None


def less(one: Any, other: Any) -> float | None:
    """A difference, or None."""
    return one - other if isinstance(one, int | float) and isinstance(other, int | float) else None


def times(one: Any, other: Any) -> float | None:
    """A product, or None."""
    return one * other if isinstance(one, int | float) and isinstance(other, int | float) else None


def sums_of(layout: Edited, values: dict[str, dict[str, Any]]) -> Sums:
    """Every sum of a book that must hold, compared."""
    s = Sums(layout, values)
    cards = {r["gpu"]: r for r in s.rows("TcoCards") if r["gpu"]}
    for name, r in cards.items():
        s.equal("TCO", f"parts of {name}", r["tco_eur"], less(total(r, PARTS), r["residual_eur"]))
    builds = {r["build"]: r for r in s.rows("Builds") if r["build"]}
    fleet = {r["build"]: r for r in s.rows("Fleet") if r["build"]}
    for name, r in fleet.items():
        s.equal("TCO", f"parts of {name}", r["tco_eur"], less(total(r, PARTS), r["residual_eur"]))
        s.equal("TCO", f"cards of {name}", r["build_tco_eur"], times(r["tco_eur"], builds[name]["gpus"]))
    for i, r in enumerate(s.rows("Cost")):
        s.equal("Cost", f"row {i} split", r["cost_eur_mtok"], total(r, ("usage_cost_mtok", "idle_cost_mtok")), 0)
        s.equal("Cost", f"row {i} against TCO", r["tco_eur"], cards.get(r["gpu"], {}).get("tco_eur"))
        s.equal("Cost", f"row {i} in all", times(r["cost_eur_mtok"], r["tokens_served_m"]), times(r["tco_eur"], r["gpus"]))
    basis, flow = s.rows("CashBasis")[0], s.rows("CashFlow")
    s.equal("Cash-flow", "TCO of the build", basis["tco_eur"], fleet.get(basis["build"], {}).get("build_tco_eur"))
    s.equal("Cash-flow", "parts of its TCO", basis["tco_eur"], less(total(basis, PARTS), basis["residual_eur"]))
    s.equal("Cash-flow", "cost in all", times(basis["cost_eur_mtok"], basis["tokens_served_m"]), basis["tco_eur"])
    costs = {(r["workload"], r["build"]): r["cost_eur_mtok"] for r in s.rows("Candidates") if r["workload"]}
    s.equal("Cash-flow", "cost against Candidates", basis["cost_eur_mtok"], costs.get((basis["workload"], basis["build"])), 0)
    horizon = basis["horizon_months"]
    if isinstance(horizon, int | float) and horizon <= ROOM_MONTHS:

        def added(column: str) -> float | None:
            shown = [r[column] for r in flow if r[column] not in (None, "")]
            return sum(shown) if shown and all(isinstance(x, int | float) for x in shown) else None

        s.equal("Cash-flow", "months of owning", added("own_month_eur"), basis["tco_eur"])
        s.equal("Cash-flow", "depreciation", added("depreciation_month_eur"), less(basis["capex_eur"], basis["residual_eur"]))
        ways = s.rows("CashResult")
        for way, column in zip(ways, ("own_month_eur", "rent_month_eur", "api_month_eur"), strict=True):
            s.equal("Cash-flow", f"total of {column}", way["total_eur"], added(column))
            s.equal("Cash-flow", f"net present value of {column}", way["npv_eur"], less(way["present_eur"], ways[0]["present_eur"]))
    return s
