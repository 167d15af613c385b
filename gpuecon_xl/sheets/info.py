"""Cover, Decision, Functions, Checks, Sources, Changes: what a reader starts from and what a reviewer asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpuecon_xl.catalog import Catalog
from gpuecon_xl.functions_table import FUNCTIONS, cell_name
from gpuecon_xl.lang import Texts
from gpuecon_xl.ops import (
    Expr,
    both,
    called,
    col,
    count_errors,
    count_if,
    count_numbers,
    equal,
    if_error,
    index,
    join,
    lift,
    look_up,
    match,
    maximum,
    name,
    rounded,
    total,
    where,
    whole_table,
    word,
    words,
)
from gpuecon_xl.quantity import REGISTRY
from gpuecon_xl.sheets.finance import left_to_allocate, left_to_reconcile, left_to_write_off
from gpuecon_xl.sheets.model import Chart, SheetSpec, TableSpec
from gpuecon_xl.sheets.money import reference_rows, used
from gpuecon_xl.sheets.ranges import cost_of_end
from gpuecon_xl.sheets.throughput import SPEED_CARDS, SPEED_MODELS
from gpuecon_xl.units import HALF_CENT

ALPHABET = 26  # letters that name columns
DRIVERS_TOLD = 3  # on the cover; Sensitivity has all


def cover_sheet(catalog: Catalog, texts: Texts) -> SheetSpec:
    """What the book says in a few lines, and where to go."""
    s = SheetSpec("cover", False, tab="info", landscape=False)
    for line in ("cover.what", "cover.how", "cover.colours", "cover.sources"):
        s.text(line)
    fleet, cand = reference_rows()
    figures: list[tuple[str, Expr, str, str]] = [
        ("cover.build", name("look_at_build"), "", "builds"),
        ("cover.workload", name("look_at_workload"), "", "workloads"),
        ("cover.outlay", index(col("Fleet", "outlay_eur"), fleet), "EUR", "tco"),
        ("cover.tco", index(col("Fleet", "build_tco_eur"), fleet), "EUR", "tco"),
        ("cover.tok_s", index(col("Candidates", "output_tok_s"), cand), "token/s", "candidates"),
        ("cover.cost", index(col("Candidates", "cost_eur_mtok"), cand), "EUR/1e6 output tokens", "candidates"),
        ("cover.cost_low", end_of_cost("low"), "EUR/1e6 output tokens", "matrix"),
        ("cover.cost_high", end_of_cost("high"), "EUR/1e6 output tokens", "matrix"),
        ("cover.pair", join(index(col("Versus", "gpu"), 1), " · ", index(col("Versus", "rate"), 1)), "", "breakeven"),
        ("cover.breakeven", index(col("Versus", "breakeven_use"), 1), "1", "breakeven"),
        ("cover.answer", index(col("Versus", "answer"), 1), "", "breakeven"),
        ("cover.zero_items", zero_items(), "item", "assumptions"),
        ("cover.answered", count_numbers(col("Matrix", "cost_eur_mtok")), "workload", "matrix"),
        ("cover.unverified", unverified(), "row", "checks"),
        ("cover.master", index(col("MasterCheck", "result"), 1), "", "checks"),
    ]
    t = TableSpec("KeyFigures", title="table.key_figures")
    t.fixed("figure", [texts(k) for k, _, _, _ in figures], "text", 52)
    by_unit = {"EUR": "money", "token/s": "whole", "EUR/1e6 output tokens": "rate", "1": "pct", "workload": "whole", "row": "whole", "item": "whole"}
    t.each("value", [e for _, e, _, _ in figures], "key", 46, fmts=[by_unit.get(u, "key") for _, _, u, _ in figures])
    t.fixed("unit", [unit_text(texts, u) for _, _, u, _ in figures], "text", 30)
    t.fixed("sheet", [texts(f"sheet.{w}") for _, _, _, w in figures], "text", 18)
    s.table(t)
    d = TableSpec("TopDrivers", title="table.top_drivers", note="note.top_drivers")
    d.fixed("n", [float(i + 1) for i in range(DRIVERS_TOLD)], "whole", 30)
    for column, look, width, unit in (("driver", "text", 52, ""), ("swing", "rate", 46, "EUR/1e6 output tokens")):
        d.formula(column, index(col("TornadoSorted", column), d.cell("n")), look, width, unit)
    s.table(d.lead("driver", "swing"))
    s.chart(Chart("bar", "Matrix", "workload", [("cost_eur_mtok", "label.cost_eur_mtok")], "chart.matrix", "axis.workload", "axis.eur_mtok",
                  rows=(0, 13), height=420, width=860, y_format="0.000"))  # fmt: skip
    guide = [k for k in SHEET_ORDER if k != "cover"]
    g = TableSpec("Guide", title="table.guide", spill=True)
    g.fixed("sheet", [texts(f"sheet.{k}") for k in guide], "link", 52)
    g.fixed("purpose", [texts(f"purpose.{k}") for k in guide], "text", 30)
    s.table(g)
    return s


def end_of_cost(end: str) -> Expr:
    """Cost of a million output tokens of the build that the cover looks at, in the low or high case."""
    fleet, cand = reference_rows()
    tok_s = index(col("Candidates", f"output_tok_s_{'high' if end == 'low' else 'low'}"), cand)
    return cost_of_end(TableSpec("KeyFigures"), "FleetEnds", fleet, end, tok_s, index(col("Builds", "gpus"), fleet))


def unit_text(texts: Texts, unit: str) -> str:
    """A unit as people of the book's language write it."""
    text = texts.get(f"unit.{unit}")
    return unit if text is None else text


SHEET_ORDER = ("cover", "assumptions", "prices", "cards", "models", "constants", "market", "workloads", "builds", "throughput", "scaling", "fit",
               "candidates", "tco", "cost", "perf", "rent", "own_vs_api", "breakeven", "cash_flow", "matrix", "decision", "benchmarks", "sensitivity",
               "functions", "checks", "sources", "changes")  # fmt: skip


# Costs that the published model leaves out; 0 until somebody sets them.
OPTIONAL_COSTS = ("licence_eur_gpu_year", "staff_eur_gpu_year", "colo_eur_year", "host_w_gpu", "idle_share")


def zero_items() -> Expr:
    """How many optional costs are still 0: the figures leave them out."""
    out: Expr = lift(0)
    for item in OPTIONAL_COSTS:
        out = out + where(name(item) > 0, 0, 1)
    return out


def unverified() -> Expr:
    """Rows of facts that rest on memory or estimate only."""
    out: Expr = count_if(col("Cards", "confidence"), "unverified")
    for table in ("Models", "Links", "Efficiency", "Prices"):
        out = out + count_if(col(table, "confidence"), "unverified")
    return out


# The tree of the published texts: a question, the build that "yes" leads to, the workload whose live answer stands beside.
DECISION = (
    ("fits_24", "8x L4", "8B at branch or edge"), ("fits_32", "4x RTX 5090", "32B reasoning"), ("consumer_barred", "4x L40", "32B compliance"),
    ("seventy_one_card", "4x PRO 6000 Server", "70B fp8 start-up"), ("power_scarce", "4x PRO 6000 Max-Q", "70B fp8 power-limited room"),
    ("old_fleet", "4x RTX 4090", "32B on a 4090 fleet"), ("vlm_robot", "4x PRO 6000 Server", "72B VLM robotics"),
    ("huge_model", "4x PRO 6000 Server", "405B in one box"), ("training", "", ""), ("nvlink", "8x H100 SXM", ""),
)  # fmt: skip


def decision_sheet(texts: Texts) -> SheetSpec:
    """The published decision tree as a page whose figures are live."""
    s = SheetSpec("decision", False, tab="result", print_columns=10)
    s.text("decision.how")
    t = TableSpec("Decision", title="table.decision")
    t.fixed("step", [float(i + 1) for i in range(len(DECISION))], "whole", 6)
    t.fixed("question", [texts(f"decision.{k}") for k, _, _ in DECISION], "wrap", 60)
    t.fixed("choose", [texts(f"decision.{k}.yes") for k, _, _ in DECISION], "wrap", 46)
    t.fixed("workload", [w for _, _, w in DECISION], "text", 26)
    t.fixed("published_build", [b for _, b, _ in DECISION], "text", 24)
    workload_row = if_error(match(t.cell("workload"), col("Workloads", "workload")), 0)
    candidate = match(join(workload_row, "/", t.cell("published_build")), col("Candidates", "key"))
    cost = if_error(index(col("Candidates", "cost_eur_mtok"), candidate), "")
    t.formula("published_cost", cost, "rate", 12, "EUR/1e6 output tokens")
    fleet = match(t.cell("published_build"), col("Fleet", "build"))
    t.formula("published_tco", if_error(index(col("Fleet", "build_tco_eur"), fleet), ""), "money", 12, "EUR")
    row = if_error(match(t.cell("workload"), col("Matrix", "workload")), 0)
    t.formula("matrix_row", where(equal(t.cell("workload"), ""), 0, row), "whole", 8)
    at = maximum(t.cell("matrix_row"), 1)

    def live(column: str) -> Expr:
        return lift(where(t.cell("matrix_row") > 0, index(col("Matrix", column), at), ""))

    t.formula("recommended", live("recommended"), "strong", 26)
    t.formula("recommended_cost", live("cost_eur_mtok"), "rate", 12, "EUR/1e6 output tokens")
    t.formula("recommended_tco", live("build_tco_eur"), "money", 12, "EUR")
    t.formula("difference", live("difference"), "text", 44)
    s.table(t.lead("question", "choose", "workload", "published_build", "published_cost", "published_tco", "recommended", "recommended_cost",
                   "recommended_tco", "difference"))  # fmt: skip
    return s


def functions_sheet(texts: Texts, flavour: str) -> SheetSpec:
    """The functions in the cell and the equations behind every column."""
    s = SheetSpec("functions", False, tab="info")
    s.text("functions.how")
    if flavour != "plain":
        s.table(live_examples(texts, flavour))
    f = TableSpec("FunctionList", title="table.functions")
    f.fixed("function", [x.excel for x in FUNCTIONS], "text", 24)
    f.fixed("arguments", [x.signature for x in FUNCTIONS], "wrap", 60)
    f.fixed("gives", [texts(f"function.{x.name}") for x in FUNCTIONS], "wrap", 60)
    f.fixed("unit", [x.unit for x in FUNCTIONS], "text", 24)
    f.fixed("example", [x.example for x in FUNCTIONS], "wrap", 60)
    s.table(f)
    e = TableSpec("Equations", title="table.equations")
    quantities = list(REGISTRY.values())
    e.fixed("quantity", [q.name for q in quantities], "text", 24)
    e.fixed("equation", [q.equation for q in quantities], "wrap", 60)
    e.fixed("meaning", [q.summary for q in quantities], "wrap", 60)
    e.fixed("unit", [q.unit for q in quantities], "text", 24)
    e.fixed("source", [q.source for q in quantities], "wrap", 60)
    s.table(e)
    return s


def live_examples(texts: Texts, flavour: str) -> TableSpec:
    """Every function in a cell beside the same figure from the book's own formulas; the difference must be 0."""
    t = TableSpec("LiveExamples", title="table.live_examples", note="note.live_examples")
    missing = Expr("missing")

    def cell(function: str, *arguments: object) -> Expr:
        return called(function, cell_name(function, flavour), *arguments)

    def speed(row: int, column: str) -> Expr:
        return index(col("Speed", column), row)

    def load(row: int) -> tuple[Expr, ...]:
        """Arguments of a row of Speed: model, gpu, precision, batch, context, gpus, options."""
        options = join("input_tokens=", speed(row, "input_tokens"), "; output_tokens=", speed(row, "output_tokens"))
        context = speed(row, "input_tokens") + speed(row, "output_tokens")
        names = tuple(speed(row, c) for c in ("model", "gpu", "precision", "batch"))
        return (*names, context, speed(row, "gpus"), options)

    def of_card(row: int, column: str) -> Expr:
        return index(col("TcoCards", column), row)

    busy = len(SPEED_MODELS) * len(SPEED_CARDS) + 1  # the first row with a full batch
    first = 1
    versus = ("gpu", "rate_hour", "rel", "tco_eur", "breakeven_use")
    pair = {c: index(col("Versus", c), 1) for c in versus}
    by_card = look_up(pair["gpu"], col("TcoCards", "gpu"), col("TcoCards", "price_eur"))
    rel = join("rel=", pair["rel"])
    need = {c: index(col("Need", c), 1) for c in ("need_exact_gb",)}
    work = {c: index(col("Workloads", c), 1) for c in ("workload", "model", "precision", "batch", "input_tokens", "output_tokens")}
    tokens = join("input_tokens=", work["input_tokens"], "; output_tokens=", work["output_tokens"])
    open_ = {c: index(col("OpenOwn", c), 1) for c in ("model", "breakeven_batch", "blended_price_mtok")}
    api = match(index(col("OpenOwn", "api"), 1), col("Apis", "api"))
    own = {c: index(col("OwnMonth", c), 1) for c in ("gpu", "price", "own_cost_month")}
    tariff = join("electricity_eur_kwh=", name("yield_electricity_kwh"))
    fit_model = index(col("FitMatrix", "model"), 1)
    fit_word = index(col("FitMatrix", "card_1"), 1)
    fit_card = index(col("FitCards", "gpu"), 1)
    rent = {c: index(col("RentCost", c), 1) for c in ("rate_hour", "stated", "rent_cost_mtok")}
    rows: list[tuple[str, Expr, Expr]] = [
        ("tokps", cell("tokps", *load(first)), speed(first, "output_tok_s")),
        ("tokps", cell("tokps", *load(busy)), speed(busy, "output_tok_s")),
        ("tok_s_user", cell("tok_s_user", *load(first)), speed(first, "decode_tok_s_user")),
        ("batch_max", cell("batch_max", *load(first)[:3], *load(first)[4:]), speed(first, "batch_max")),
        ("fits", words(cell("fits", *load(first))), words(speed(first, "fit_class"))),
        ("tco3y", cell("tco3y", of_card(1, "gpu"), 1, name("utilization"), of_card(1, "price_eur")), of_card(1, "tco_eur")),
        (
            "tco3y",
            cell("tco3y", of_card(1, "gpu"), 1, missing, missing, missing, whole_table("Prices", flavour == "libreoffice")),
            of_card(1, "tco_eur"),
        ),
        (
            "cost_per_mtok",
            cell("cost_per_mtok", *load(first)[:6], name("utilization"), index(col("Cost", "price_eur"), first), load(first)[6]),
            index(col("Cost", "cost_eur_mtok"), first),
        ),
        (
            "breakeven_util",
            cell("breakeven_util", speed(first, "model"), pair["gpu"], pair["rate_hour"], missing, missing, missing, missing, by_card, rel),
            pair["breakeven_use"],
        ),
        ("rent3y", cell("rent3y", index(col("RentYears", "rate_hour"), 1)), index(col("RentYears", "rent_horizon"), 1)),
        ("rent_per_mtok", cell("rent_per_mtok", rent["rate_hour"], rent["stated"]), rent["rent_cost_mtok"]),
        (
            "blended_price",
            cell("blended_price", index(col("Apis", "price_in_mtok"), api), index(col("Apis", "price_out_mtok"), api), name("output_share")),
            open_["blended_price_mtok"],
        ),
        ("breakeven_batch", cell("breakeven_batch", open_["model"], own["gpu"], name("fit_precision")), open_["breakeven_batch"]),
        ("own_cost_month", cell("own_cost_month", own["gpu"], own["price"], name("yield_utilization"), tariff), own["own_cost_month"]),
        (
            "memory_need_gb",
            cell("memory_need_gb", work["model"], work["precision"], work["batch"], work["input_tokens"] + work["output_tokens"], tokens),
            need["need_exact_gb"],
        ),
        ("weights_class", words(cell("weights_class", fit_model, fit_card, name("fit_precision"), name("fit_cards"))), fit_word),
        ("price_of", cell("price_of", of_card(1, "gpu")), of_card(1, "price_eur")),
        ("recommend", cell("recommend", work["workload"]), index(col("Matrix", "recommended"), 1)),
    ]
    t.fixed("function", [r[0].upper() for r in rows], "text", 24)
    t.each("by_function", [r[1] for r in rows], "key", 24)
    t.each("by_formulas", [r[2] for r in rows], "key", 24)
    apart = t.cell("by_function") - t.cell("by_formulas")
    t.formula("apart", if_error(apart, where(equal(t.cell("by_function"), t.cell("by_formulas")), 0, 1)), "check", 14)
    return t


GROWING = (("TcoCards", "n", "Prices", "gpu"), ("RentYears", "n", "Rates", "rate"),
           ("OpenOwn", "n", "OpenWeight", "model"), ("Need", "n", "Workloads", "workload"), ("Fleet", "n", "Builds", "build"))  # fmt: skip


def checks_sheet(texts: Texts) -> SheetSpec:
    """Checks, each with a figure that must be 0, and one master check."""
    s = SheetSpec("checks", False, tab="info", landscape=False)
    s.text("checks.how")
    parts = total(col("TcoCards", "capex_eur")) + total(col("TcoCards", "electricity_eur")) + total(col("TcoCards", "maintenance_eur"))
    for part in ("running_eur", "spares_eur", "hosting_eur", "interest_eur"):
        parts = parts + total(col("TcoCards", part))
    parts = parts - total(col("TcoCards", "residual_eur"))
    split = total(col("TcoCards", "tco_fixed_eur")) + used() * total(col("TcoCards", "tco_per_use_eur"))
    rows: list[tuple[str, Expr, str]] = [
        ("tco_parts", total(col("TcoCards", "tco_eur")) - parts, "EUR"),
        ("tco_split", total(col("TcoCards", "tco_eur")) - split, "EUR"),
        ("cash_total", left_to_reconcile(), "EUR"),
        ("cash_written_off", left_to_write_off(), "EUR"),
        ("cost_split", left_to_allocate(), "EUR/1e6 output tokens"),
        ("price_source", prices_without("source"), "row"),
        ("price_order", out_of_order(), "row"),
        ("workload_fits", workloads_without_build(), "workload"),
        ("rel_positive", where(name("usd_per_eur") > 0, 0, 1), "1"),
    ]
    for table, _, source, key in GROWING:
        rows.append((f"room_{source.lower()}", rows_filled(source, key) - rows_shown(table), "row"))
    for table, column in (
        ("Candidates", "rank"),
        ("TcoCards", "tco_eur"),
        ("Cost", "cost_eur_mtok"),
        ("Matrix", "recommended"),
        ("Fleet", "build_tco_eur"),
        ("Need", "need_exact_gb"),
        ("Measured", "predicted"),
        ("Speed", "output_tok_s"),
        ("Versus", "answer"),
        ("OpenOwn", "verdict"),
        ("RentCost", "rent_cost_mtok"),
        ("Scenarios", "cost_eur_mtok"),
        ("CostCurve", "own_eur_mtok"),
        ("CashFlow", "saved_rent_eur"),
        ("PerfEuro", "tok_s_per_keur"),
    ):
        rows.append((f"errors_{table.lower()}", count_errors(col(table, column)), "cell"))
    t = TableSpec("Checks", title="table.checks")
    codes = [*(c for c, _, _ in rows), "stale", "unverified"]
    t.fixed("code", codes, "text", 22)
    t.fixed("check", [texts(f"check.{_check_key(c)}", table=_table_title(c, texts)) for c in codes], "wrap", 60)
    t.each("figure", [*(rounded(e) for _, e, _ in rows), stale_prices(), unverified()], "check", 14)
    t.fixed("unit", [*(u for _, _, u in rows), "row", "row"], "text", 10)
    figure = t.cell("figure")
    near = both(figure < HALF_CENT, 0 - figure < HALF_CENT)
    passed = if_error(where(near, "yes", "no"), "no")
    t.each("ok", [*(passed for _ in rows), where(figure > 0, "note", "yes"), where(figure > 0, "note", "yes")], "text", 8)
    look = where(equal(t.cell("ok"), "yes"), word("check_ok"), where(equal(t.cell("ok"), "note"), word("check_amber"), word("check_look")))
    t.formula("result", look, "status", 24)
    m = TableSpec("MasterCheck", title="table.master")
    m.fixed("check", [texts("check.master")], "wrap", 60)
    m.formula("figure", count_if(col("Checks", "ok"), "no"), "check", 14)
    m.formula("notes", count_if(col("Checks", "ok"), "note"), "check", 14)
    fine = where(m.cell("notes") > 0, join(word("check_all_ok"), " · ", m.cell("notes"), " ", word("check_notes")), word("check_all_ok"))
    m.formula("result", where(m.cell("figure") > 0, word("check_look"), fine), "status", 30)
    s.table(m, column=0)
    s.table(t)
    return s


def _check_key(code: str) -> str:
    return "errors" if code.startswith("errors_") else "room" if code.startswith("room_") else code


_TITLES = {"cashflow": "cash_flow", "perfeuro": "perf", "costcurve": "curve", "tcocards": "tco_cards", "openown": "open_own",
           "rentcost": "rent_cost", "rates": "cloud_rates", "openweight": "open_weight"}  # fmt: skip


def _table_title(code: str, texts: Texts) -> str:
    """Title of the table that a check looks at, empty when it looks at none."""
    name = code.partition("_")[2]
    return texts.get(f"table.{_TITLES.get(name, name)}") or ""


def rows_filled(table: str, key: str) -> Expr:
    """Rows of an input table that have a name."""
    return Expr("counttext", col(table, key))


def rows_shown(table: str) -> Expr:
    """Rows that the computed table shows of it."""
    guard = {"TcoCards": "gpu", "RentYears": "rate", "OpenOwn": "model", "Need": "workload", "Fleet": "build"}[table]
    return Expr("counttext", col(table, guard))


def prices_without(column: str) -> Expr:
    """Priced cards whose source is blank."""
    return Expr("countprice", col("Prices", "typical"), col("Prices", column))


def out_of_order() -> Expr:
    """Prices whose low, typical and high are not in order."""
    return Expr("countorder", col("Prices", "low"), col("Prices", "typical"), col("Prices", "high"))


def stale_prices() -> Expr:
    """Prices older than the limit on the day of the book."""
    return Expr("countold", col("Prices", "as_of"), name("as_of") - name("price_age_days_max"))


def workloads_without_build() -> Expr:
    """Workloads that no build of the book answers."""
    return Expr("counttext", col("Need", "workload")) - count_numbers(col("Matrix", "cost_eur_mtok"))


def origin(source: str) -> str:
    """Where a source belongs: files of a repository on GitHub are one source, at one state of it."""
    return re.sub(r"^(https://github\.com/[^/]+/[^/]+)/blob/([^/]+)/.*$", r"\1/tree/\2", source)


def letters(column: int) -> str:
    """Letters of a column, counted from 0; this file travels where no workbook library is."""
    before, last = divmod(column, ALPHABET)
    return (letters(before - 1) if before else "") + chr(ord("A") + last)


def sources_sheet(catalog: Catalog, texts: Texts, sheets: Iterable[SheetSpec]) -> SheetSpec:
    """Every source with what rests on it and where, and the words that formulas use; `sheets` hold the tables of the catalogue."""
    s = SheetSpec("sources", False, tab="info")
    used: dict[str, dict[str, list[int]]] = {}
    for table in ("prices", "cloud_rates", "api_prices", "open_weight", "assumptions", "workloads", "builds", "benchmarks", "links", "engines",
                  "efficiency", "precisions", "gpus", "models"):  # fmt: skip
        for number, row in enumerate(catalog.rows(table)):
            for source in str(row.get("source") or "").split(" ; "):
                whole = origin(source.strip())
                if whole:
                    used.setdefault(whole, {}).setdefault(table, []).append(number)
    placed = {t.catalog_table: (sheet.key, t, header, first) for sheet in sheets for t, header, first in sheet.tables()}

    def place(table: str, number: int) -> str:
        key, spec, header, first = placed[table]
        at = next(i for i, c in enumerate(spec.columns) if c.name == "source")
        return f"{texts(f'sheet.{key}')}!{letters(first + at)}{header + 2 + number}"

    uses = [(source, table, numbers) for source, tables in used.items() for table, numbers in tables.items()]
    t = TableSpec("SourceList", title="table.sources", note="note.sources")
    t.fixed("source", [source for source, _, _ in uses], "wrap", 90)
    t.fixed("used_in", [f"{texts(f'table.{table}')} ({len(numbers)})" for _, table, numbers in uses], "wrap", 40)
    t.fixed("first", [place(table, numbers[0]) for _, table, numbers in uses], "place", 24)
    s.table(t)
    w = TableSpec("Words", title="table.words", note="note.words")
    codes = texts.codes("word.")
    w.fixed("code", codes, "text", 30)
    w.fixed("text", [texts(f"word.{c}") for c in codes], "text", 40)
    s.table(w)
    return s


def changes_sheet(version: str, texts: Texts) -> SheetSpec:
    """What changed in the book, and room for the notes of those who edit it."""
    s = SheetSpec("changes", True, tab="info")
    t = TableSpec("ChangeLog", title="table.changes")
    t.inputs("date", ["2026-11-30"] + [None] * 24, "text", 12)
    t.inputs("who", ["gpuecon_xl " + version] + [None] * 24, "text", 22)
    t.inputs("what", [texts("changes.first")] + [None] * 24, "text", 90)
    s.table(t)
    return s
