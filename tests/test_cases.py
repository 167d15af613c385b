"""Low and high case: every range at its end, in the core and on the sheets alike; off stays off, what is given stays."""

from __future__ import annotations

from typing import Any

import pytest
from oracles import same

import gpuecon_xl as gx
from gpuecon_xl import money
from gpuecon_xl.catalog import Catalog, shipped
from gpuecon_xl.explain import why
from gpuecon_xl.sheets import book as books

CASES = ("low", "typical", "high")


def edited(**changes: Any) -> Catalog:
    rows = [{**r, "value": changes.get(r["name"], r["value"])} for r in shipped().rows("assumptions")]
    return Catalog({**shipped().tables, "assumptions": rows}, "test")


def tables(catalog: Catalog) -> dict[str, Any]:
    cells = books.values_of(books.build(catalog), catalog)
    return {name: [dict(zip(t.columns, row, strict=True)) for row in zip(*t.columns.values(), strict=True)] for name, t in cells.tables.items()}


BOOKS = (
    shipped(),
    edited(electricity_eur_kwh=0.5, residual_share=0.2, idle_share=0.1, hosting_eur_kw_month=100.0, loan_share=0.5, loan_rate_year=0.04,
           resale_start_share=0.5, resale_decline_year=0.3, ramp_months=6.0, failure_share_year=0.01),
)  # fmt: skip


@pytest.mark.parametrize("catalog", BOOKS, ids=["shipped", "everything on"])
def test_sheets_and_functions_say_the_same(catalog: Catalog) -> None:
    found = tables(catalog)
    cards = [r for r in found["TcoCards"] if r["gpu"]]
    assert len(cards) == len(catalog.rows("prices"))
    for r in cards:
        for case, column in zip(CASES, ("tco_low_eur", "tco_eur", "tco_high_eur"), strict=True):
            assert same(r[column], gx.tco3y(r["gpu"], options=f"case={case}", catalog=catalog), 1e-12), (r["gpu"], case)
    speed, priced = found["Speed"], 0
    for s, c in zip(speed, found["Cost"], strict=True):
        if not isinstance(c["cost_eur_mtok"], float):
            continue
        layout = {"input_tokens": s["input_tokens"], "output_tokens": s["output_tokens"], "tp": int(s["gpus"]), "pp": 1}
        call = (s["model"], s["gpu"], s["precision"], s["batch"], s["input_tokens"] + s["output_tokens"], int(s["gpus"]))
        for case, column in zip(CASES, ("cost_low_eur_mtok", "cost_eur_mtok", "cost_high_eur_mtok"), strict=True):
            assert same(c[column], gx.cost_per_mtok(*call, options={**layout, "case": case}, catalog=catalog), 1e-9), (call, case)
        priced += 1
    assert priced > 40
    rents = {r["rate"]: r for r in found["RentYears"]}
    against = {"low": "rent_high_eur_hour", "typical": "rent_eur_hour", "high": "rent_low_eur_hour"}  # the rent that goes with a case of owning
    for r in found["Versus"]:
        for case, column in zip(CASES, ("breakeven_low", "breakeven_use", "breakeven_high"), strict=True):
            got = gx.breakeven_util(
                "Llama 3.1 8B", r["gpu"], rents[r["rate"]][against[case]], options={"rel": r["rel"], "case": case}, catalog=catalog
            )
            assert same(r[column], got, 1e-9), (r["gpu"], case)
    for r in (r for r in found["Matrix"] if r["pick_row"]):
        assert r["cost_low_eur_mtok"] < r["cost_eur_mtok"] < r["cost_high_eur_mtok"]


@pytest.mark.parametrize("catalog", BOOKS, ids=["shipped", "everything on"])
def test_low_is_low_and_high_is_high(catalog: Catalog) -> None:
    load = ("Llama 3.1 8B", "RTX 5090")
    for call in (
        lambda case: gx.tco3y("RTX 5090", options=f"case={case}", catalog=catalog),
        lambda case: gx.tokps(*load, "fp8", 32, options=f"case={case}", catalog=catalog),
        lambda case: gx.cost_per_mtok(*load, "fp8", options=f"case={case}", catalog=catalog),
        lambda case: gx.breakeven_util(*load, 2.0, "fp8", options=f"case={case}", catalog=catalog),
        lambda case: gx.cash_flow("70B fp8 start-up", "4x PRO 6000 Server", options=f"case={case}", catalog=catalog).tco_eur,
    ):
        low, typical, high = map(call, CASES)
        assert low < typical < high


def test_typical_is_what_it_was() -> None:
    assert gx.tco3y("RTX 5090", options="case=typical") == gx.tco3y("RTX 5090")
    assert gx.cost_per_mtok("Llama 3 8B", "L4", "fp8", options="case=typical; tok_s=650") == gx.cost_per_mtok(
        "Llama 3 8B", "L4", "fp8", options="tok_s=650"
    )


def test_off_stays_off() -> None:
    """Licences have a range up to 4,500 EUR a year; while they are 0 the high case has none."""
    assert money.in_case(shipped(), "licence_eur_gpu_year", "high") == 0
    assert money.in_case(edited(licence_eur_gpu_year=100.0), "licence_eur_gpu_year", "high") == 4500
    assert money.in_case(edited(licence_eur_gpu_year=9000.0), "licence_eur_gpu_year", "high") == 9000
    assert money.in_case(edited(licence_eur_gpu_year=9000.0), "licence_eur_gpu_year", "low") == 0
    assert money.in_case(shipped(), "horizon_years", "high") == 3


def test_what_is_given_stays() -> None:
    names = [n for n in money.DEARER + money.CHEAPER if n in money.TCO_INPUTS]
    given = {n: shipped().assumption(n) for n in names}
    fixed = gx.tco3y("L4", utilization=0.6, price=2704, options={**given, "case": "high"})
    assert fixed == gx.tco3y("L4", utilization=0.6, price=2704)
    # a measured throughput has no band
    assert gx.tokps("Llama 3.1 8B", "L4", options="tok_s=650; case=high") == 650


def test_arrays_as_one_by_one() -> None:
    cards = ["L4", "RTX 5090"]
    for case in CASES:
        assert gx.tco3y(cards, options=f"case={case}") == [gx.tco3y(c, options=f"case={case}") for c in cards]
        one = [gx.cost_per_mtok("Llama 3.1 8B", c, "fp8", options=f"case={case}") for c in cards]
        assert gx.cost_per_mtok("Llama 3.1 8B", cards, "fp8", options=f"case={case}") == one
        tokens = [gx.tokps("Llama 3.1 8B", c, "fp8", options=f"case={case}") for c in cards]
        assert gx.tokps("Llama 3.1 8B", cards, "fp8", options=f"case={case}") == tokens


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("function", ["tco3y", "cost_per_mtok", "tokps"])
def test_explained_steps_end_in_the_answer(function: str, case: str) -> None:
    load = {"gpu": "L4"} if function == "tco3y" else {"model": "Llama 3.1 8B", "gpu": "L4", "precision": "fp8"}
    steps = why(function, **load, options={"case": case})
    assert steps[-2][1] == pytest.approx(steps[-1][1], rel=1e-12)


# ---- ranges of rent ----

OFFER = "H100 SXM discount cloud"  # 2.50 dollars, from 2.00 to 4.00


def test_rent_moves_against_owning() -> None:
    """The low case has the dearest rent, so that its break-even is the lowest; an offer without a range stays."""
    offer = shipped().find("cloud_rates", OFFER)
    assert [money.rate_of_case(offer, c) for c in ("low", "typical", "high")] == [4.0, 2.5, 2.0]
    plain = shipped().find("cloud_rates", "L4 LowCostGPU on-demand")
    assert {money.rate_of_case(plain, c) for c in ("low", "typical", "high")} == {0.196}
    crossed = {**offer, "rate_low": 3.0, "rate_high": 2.2}  # on the wrong side of the rate: no range
    assert {money.rate_of_case(crossed, c) for c in ("low", "typical", "high")} == {2.5}


def test_sheets_and_cash_flow_take_the_same_rent() -> None:
    cells = books.values_of(books.build(shipped()), shipped())
    rents, versus = cells.tables["RentYears"].columns, cells.tables["Versus"].columns
    row = rents["rate"].index(OFFER)
    usd = shipped().assumption("usd_per_eur")
    shown = [rents[c][row] for c in ("rent_low_eur_hour", "rent_eur_hour", "rent_high_eur_hour")]
    assert shown == pytest.approx([2.0 / usd, 2.5 / usd, 4.0 / usd])
    at = next(i for i, r in enumerate(versus["rate"]) if r == OFFER)
    assert versus["gpu"][at] == "RTX PRO 6000 Blackwell Server"
    for case, column in (("low", "breakeven_low"), ("typical", "breakeven_use"), ("high", "breakeven_high")):
        core = gx.cash_flow("70B fp8 start-up", "4x PRO 6000 Server", rate=OFFER, options={"case": case, "tok_s": 1000.0})
        assert core.rent.even_use == pytest.approx(versus[column][at], rel=1e-9), case
    # by hand: (fixed cost) / (dearest rent of three years at 0.65 of its speed less own electricity at full use)
    hand = versus["tco_fixed_low_eur"][at] / (4.0 / usd * 26_280 * 0.65 - versus["tco_per_use_low_eur"][at])
    assert versus["breakeven_low"][at] == pytest.approx(hand, rel=1e-9)


def test_rent_of_a_euro_offer_is_shown_in_dollars() -> None:
    """The table of rented cost is in dollars, whatever an offer is quoted in."""
    rows = [{**r, "currency": "EUR"} if r["rate"].startswith("RTX 4090") else r for r in shipped().rows("cloud_rates")]
    catalog = Catalog({**shipped().tables, "cloud_rates": rows}, "test")
    before, after = (books.values_of(books.build(c), c).tables["RentCost"].columns for c in (shipped(), catalog))
    at = before["gpu"].index("RTX 4090")
    for column in ("rate_hour", "rent_cost_mtok", "rent_low_mtok", "rent_high_mtok"):
        assert after[column][at] == pytest.approx(before[column][at] * shipped().assumption("usd_per_eur"), rel=1e-12)
