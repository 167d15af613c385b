"""The grids and the break-even curve of Sensitivity say what the functions say."""

from __future__ import annotations

from typing import Any

import pytest
from oracles import same

import gpuecon_xl as gx
from gpuecon_xl.catalog import Catalog, shipped
from gpuecon_xl.sheets import book as books
from gpuecon_xl.sheets.sensitivity import CASES, DRIVERS, PRICE_STEPS, STEPS

CARD = "RTX PRO 6000 Blackwell Server"


def tables(catalog: Catalog) -> dict[str, list[dict[str, Any]]]:
    cells = books.values_of(books.build(catalog), catalog)
    return {n: [dict(zip(t.columns, row, strict=True)) for row in zip(*t.columns.values(), strict=True)] for n, t in cells.tables.items()}


@pytest.fixture(scope="module")
def found() -> dict[str, list[dict[str, Any]]]:
    return tables(shipped())


def test_use_and_tariff(found: dict[str, list[dict[str, Any]]]) -> None:
    tok_s = found["CashBasis"][0]["output_tok_s"]
    tariffs = [found["GridSteps"][0][f"tariff_{k + 1}"] for k in range(STEPS)]
    assert tariffs == sorted(tariffs)
    assert tariffs == pytest.approx([0.18, 0.21, 0.24, 0.27, 0.3])
    for row in found["UseTariff"]:
        for k, tariff in enumerate(tariffs):
            want = gx.cost_per_mtok(
                "Llama 3.3 70B", CARD, "fp8", gpus=4, utilization=row["use"], options={"tok_s": tok_s, "electricity_eur_kwh": tariff}
            )
            assert same(row[f"step_{k + 1}"], want, 1e-9)


@pytest.mark.parametrize("more", [{}, {"loan_share": 0.5, "loan_rate_year": 0.06, "failure_share_year": 0.02, "residual_share": 0.1}])
def test_price_and_speed(more: dict[str, float]) -> None:
    rows = [{**r, "value": more.get(r["name"], r["value"])} for r in shipped().rows("assumptions")]
    catalog = Catalog({**shipped().tables, "assumptions": rows}, "test")
    found = tables(catalog)
    speeds = [found["GridSteps"][0][f"tok_s_{k + 1}"] for k in range(STEPS)]
    assert len(found["PriceSpeed"]) == PRICE_STEPS
    for row in found["PriceSpeed"]:
        for k, tok_s in enumerate(speeds):
            want = gx.cost_per_mtok("Llama 3.3 70B", CARD, "fp8", gpus=4, price=row["price_eur"], options={"tok_s": tok_s}, catalog=catalog)
            assert same(row[f"step_{k + 1}"], want, 1e-9)


def test_break_even_curve(found: dict[str, list[dict[str, Any]]]) -> None:
    seen = set()
    for row in found["EvenCurve"]:
        for case in CASES:
            options = {"rel": shipped().assumption("rel_stated"), "case": case}
            want = gx.breakeven_util("Llama 3.3 70B", CARD, row["rate_hour"], "fp8", options=options)
            assert same(row[f"even_{case}"], 1.0 if isinstance(want, str) else want, 1e-9)
            seen.add(type(want))
        assert row["even_low"] <= row["even_typical"] <= row["even_high"]
    assert seen == {float, str}


def test_tornado_is_sorted(found: dict[str, list[dict[str, Any]]]) -> None:
    swings = [r["swing"] for r in found["TornadoSorted"]]
    assert len(swings) == len(DRIVERS)
    assert swings == sorted(swings, reverse=True)
    assert swings[0] > 0
