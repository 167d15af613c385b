"""The months put together: they add up to the total cost, the workbook and the core say the same, break-even is worth 0."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import Any

import numpy_financial as npf
import pytest
import xlsxwriter
from oracles import cached_values, needs_libreoffice, same, soffice_convert

import gpuecon_xl as gx
from gpuecon_xl import ops
from gpuecon_xl.catalog import Catalog, shipped
from gpuecon_xl.cells import Cells
from gpuecon_xl.equations import finance as f
from gpuecon_xl.sheets import book as books

WORKLOAD, BUILD = "70B fp8 start-up", "4x PRO 6000 Server"
EVERYTHING = {
    "idle_share": 0.1,
    "host_w_gpu": 60.0,
    "licence_eur_gpu_year": 300.0,
    "hosting_eur_kw_month": 120.0,
    "failure_share_year": 0.03,
    "ramp_months": 7.0,
    "resale_start_share": 0.8,
    "resale_decline_year": 0.3,
    "residual_share": 0.02,
    "loan_share": 0.6,
    "loan_rate_year": 0.05,
    "equity_return_year": 0.1,
    "tax_rate": 0.28,
    "cloud_erosion_year": 0.12,
    "api_erosion_year": 0.3,
}
CASES: list[dict[str, Any]] = [
    {},
    EVERYTHING,
    {**EVERYTHING, "horizon_years": 3.3, "ramp_months": 50.0, "months_written_off": 48.0},
    {"horizon_years": 5.0, "resale_start_share": 1.0, "resale_decline_year": 1.0, "cloud_erosion_year": 1.0},
    {"compare_rate": "H100 SXM reserved 1 year", "tax_rate": 0.3},
]


def edited(changes: dict[str, Any]) -> Catalog:
    """The shipped facts with some assumptions changed."""
    rows = [{**r, "value": changes.get(r["name"], r["value"])} for r in shipped().rows("assumptions")]
    return Catalog({**shipped().tables, "assumptions": rows}, "test")


def sheet(catalog: Catalog) -> Cells:
    """Every cell of a book of these facts."""
    return books.values_of(books.build(catalog), catalog)


@pytest.mark.parametrize("changes", CASES)
def test_sheet_and_core_say_the_same(changes: dict[str, Any]) -> None:
    catalog = edited(changes)
    cells = sheet(catalog)
    basis, flow, result = (cells.tables[t].columns for t in ("CashBasis", "CashFlow", "CashResult"))
    got = gx.cash_flow(WORKLOAD, BUILD, options={"tok_s": basis["output_tok_s"][0]}, catalog=catalog)
    rows = len(got.months["own_month_eur"])
    assert [m for m in flow["month"] if m != ""] == list(range(rows))
    for column, values in got.months.items():
        assert all(same(a, b, 1e-9) or abs(a - b) < 1e-9 for a, b in zip(values, flow[column][:rows], strict=True)), column
        assert all(v == "" for v in flow[column][rows:]), column
    assert same(got.tco_eur, basis["tco_eur"][0], 1e-12)
    assert same(got.present_eur, result["present_eur"][0], 1e-9)
    for i, against in ((1, got.rent), (2, got.api)):
        assert same(against.npv_eur, result["npv_eur"][i], 1e-9)
        words = (result["irr_year"][i], result["payback_month"][i], result["even_use"][i])
        for mine, cell in zip((against.irr_year, against.payback_month, against.even_use), words, strict=True):
            assert isinstance(cell, str) if mine is None else same(mine, cell, 1e-9), (mine, cell)


@pytest.mark.parametrize("changes", CASES)
def test_months_add_up_to_the_total_cost(changes: dict[str, Any]) -> None:
    catalog = edited(changes)
    got = gx.cash_flow(WORKLOAD, BUILD, catalog=catalog)
    total = gx.tco3y("RTX PRO 6000 Server", 4, catalog=catalog)
    assert sum(got.months["own_month_eur"]) == pytest.approx(total, abs=0.005)
    checks = sheet(catalog).tables["Checks"].columns
    assert {c: r for c, r in zip(checks["code"], checks["ok"], strict=True) if c.startswith(("cash_", "cost_split", "tco_"))} == {
        "tco_parts": "yes", "tco_split": "yes", "cash_total": "yes", "cash_written_off": "yes", "cost_split": "yes"
    }  # fmt: skip


def test_a_horizon_without_room_fails_the_check() -> None:
    checks = sheet(edited({"horizon_years": 6.0})).tables["Checks"].columns
    assert dict(zip(checks["code"], checks["ok"], strict=True))["cash_total"] == "no"


def test_owning_and_renting_are_worth_the_same_at_break_even() -> None:
    """With everything off that use is breakeven_util's; with everything on it is that of the present values."""
    for options in ({}, EVERYTHING):
        fixed = {**options, "tok_s": 1000.0}
        even = gx.cash_flow(WORKLOAD, BUILD, options=fixed).rent.even_use
        assert even is not None
        at = gx.cash_flow(WORKLOAD, BUILD, options={**fixed, "utilization": even})
        assert at.rent.npv_eur == pytest.approx(0, abs=1e-6)
        assert abs(gx.cash_flow(WORKLOAD, BUILD, options={**fixed, "utilization": even * 0.99}).rent.npv_eur) > 100
    plain = gx.cash_flow(WORKLOAD, BUILD, options={"tok_s": 1000.0}).rent.even_use
    row = shipped().find("cloud_rates", shipped().assumption("compare_rate"))
    rate = row["rate_hour"] / shipped().assumption("usd_per_eur")
    rel = {"rel": shipped().assumption("rel_stated")}
    assert plain == pytest.approx(gx.breakeven_util("Llama 3.3 70B", "RTX PRO 6000 Server", rate, "fp8", options=rel), rel=1e-9)


def test_rates_by_date() -> None:
    changes = [(dt.date(2027, 6, 1), 1.25), (dt.date(2026, 12, 1), 1.1)]
    plain, dated = (gx.cash_flow(WORKLOAD, BUILD, fx=fx, options={"tok_s": 1000.0}) for fx in ((), changes))
    ratio = [a / b for a, b in zip(dated.months["rent_month_eur"][1:], plain.months["rent_month_eur"][1:], strict=True)]
    assert ratio[:6] == pytest.approx([1.16 / 1.1] * 6)
    assert ratio[6:] == pytest.approx([1.16 / 1.25] * 30)


def test_usage_and_idle_cost_are_the_allocated_cost() -> None:
    cost = sheet(shipped()).tables["Cost"].columns
    rows = [r for r in zip(cost["cost_eur_mtok"], cost["usage_cost_mtok"], cost["idle_cost_mtok"], strict=True) if isinstance(r[0], float)]
    assert len(rows) > 40
    assert all(usage + idle == pytest.approx(all_, rel=1e-12) and idle > 0 for all_, usage, idle in rows)


def test_more_parts_cost_more_in_the_function() -> None:
    base = gx.tco3y("L4")
    for part in ("hosting_eur_kw_month", "failure_share_year"):
        assert gx.tco3y("L4", options={part: EVERYTHING[part]}) > base
    assert gx.tco3y("L4", options="loan_share=1; loan_rate_year=0.06") > base
    assert gx.tco3y("L4", options="resale_start_share=0.8; resale_decline_year=0.3") == pytest.approx(base - 0.8 * 0.7**3 * gx.price_of("L4"))
    assert gx.cost_per_mtok("Llama 3 8B", "L4", "fp8", options="tok_s=650; ramp_months=12") > gx.cost_per_mtok(
        "Llama 3 8B", "L4", "fp8", options="tok_s=650"
    )
    assert gx.tco3y(["L4"], options="ramp_months=12") == [gx.tco3y("L4", options="ramp_months=12")]
    dollars = gx.tco3y("L4", options="hosting_eur_kw_month=116; currency=USD; usd_per_eur=1.16")
    assert dollars == pytest.approx(1.16 * gx.tco3y("L4", options="hosting_eur_kw_month=100"))


@pytest.mark.parametrize(("name", "kind"), [("no such", "workload"), (WORKLOAD, "build")])
def test_unknown_names_are_refused(name: str, kind: str) -> None:
    with pytest.raises(LookupError, match=f"{kind} 'no such'"):
        gx.cash_flow(name, "no such")


@needs_libreoffice
@pytest.mark.libreoffice
def test_equations_equal_the_functions_of_a_spreadsheet(tmp_path: Path) -> None:
    """PMT, IPMT, SLN, NPV and IRR of LibreOffice, and IRR of numpy-financial."""
    rnd, path, wanted = random.Random(5), tmp_path / "functions.xlsx", {}
    with xlsxwriter.Workbook(str(path)) as made:
        ws = made.add_worksheet("S")
        for r in range(40):
            rate, months, capex, wacc = rnd.uniform(0.01, 0.2), rnd.randint(6, 60), rnd.uniform(1e3, 1e5), rnd.uniform(0.01, 0.3)
            flows = [-capex, *(capex / rnd.uniform(3, months) for _ in range(months))]
            for c, v in enumerate((rate, months, capex, wacc, *flows)):
                ws.write_number(r, 10 + c, v)
            first, last = xlsxwriter.utility.xl_rowcol_to_cell(r, 14), xlsxwriter.utility.xl_rowcol_to_cell(r, 13 + len(flows))
            rest = f"{xlsxwriter.utility.xl_rowcol_to_cell(r, 15)}:{last}"
            k, m, n, w = (f"{c}{r + 1}" for c in ("K", "L", "M", "N"))
            left = [f.loan_left(rate, at, months) for at in (2, 3)]
            pairs = {
                f"=-PMT({k}/12,{m},{n})": capex * f.crf_month(rate, months),
                f"=-IPMT({k}/12,3,{m},{n})": f.interest_month_eur(capex, 1, f.crf_month(rate, months), 2, 3, *left),
                f"=SLN({n},0,{m})": f.depreciation_month_eur(capex, 0, months, 1, 2, months),
                f"=NPV((1+{w})^(1/12)-1,{rest})+{first}": ops.sum_product(flows, [f.discount_factor(wacc, i) for i in range(len(flows))]),
                f"=IRR({first}:{last},0)": ops.irr(flows),
            }
            assert npf.irr(flows) == pytest.approx(ops.irr(flows), rel=1e-6)
            for c, (text, value) in enumerate(pairs.items()):
                ws.write_formula(r, c, text, None, -777)
                wanted[xlsxwriter.utility.xl_rowcol_to_cell(r, c)] = (text, value)
    got = cached_values(soffice_convert([path], tmp_path / "out")[path])["S"]
    wrong = [(cell, text, got[cell], value) for cell, (text, value) in wanted.items() if not same(got[cell], value, 1e-8)]
    assert len(wanted) == 200
    assert not wrong, wrong[:5]
