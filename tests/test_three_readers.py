"""Three readers of one workbook agree: LibreOffice, formualizer and the core. Edited copies in LibreOffice: `test_edited_books`."""

from __future__ import annotations

import html
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from edits import Edited, edited_books
from openpyxl.utils import get_column_letter, range_boundaries
from oracles import cached_values, differences, formualizer_values, formula_cells, is_error, needs_libreoffice, same, soffice_convert

import gpuecon_xl as gx
from gpuecon_xl.lang import LANGUAGES
from gpuecon_xl.reader import book_values, read_catalog

REL = 1e-9


@pytest.fixture(scope="module")
def recalculated(templates: dict[str, Path], once: Callable[..., Any]) -> dict[Path, Path]:
    found: dict[Path, Path] = once("recalculated", lambda folder: soffice_convert(list(templates.values()), folder))
    return found


@needs_libreoffice
@pytest.mark.libreoffice
@pytest.mark.parametrize("lang", LANGUAGES)
def test_templates_in_libreoffice_and_in_the_core(
    templates: dict[str, Path], recalculated: dict[Path, Path], core: dict[str, Any], formulas: dict[str, dict[str, list[str]]], lang: str
) -> None:
    """What LibreOffice recalculates, what stands in the file and what the core computes are the same; no formula is unknown, none is an error."""
    path, cells = templates[lang], formulas[lang]
    assert sum(map(len, cells.values())) > 60_000
    assert not [f"{s}!{a}" for s, row in cells.items() for a in row if a not in core[lang][s]]
    assert not [v for row in core[lang].values() for v in row.values() if is_error(v)]
    office, stands = (differences(cached_values(p), core[lang], cells, REL) for p in (recalculated[path], path))
    assert not office, (len(office), office[:8])
    assert not stands, (len(stands), stands[:8])


# ---- formualizer ----


@pytest.mark.parametrize("lang", ["en", *(pytest.param(k, marks=pytest.mark.long) for k in LANGUAGES if k != "en")])
def test_templates_in_formualizer_and_in_the_core(
    templates: dict[str, Path], core: dict[str, Any], formulas: dict[str, dict[str, list[str]]], lang: str
) -> None:
    wrong = differences(formualizer_values(templates[lang]), core[lang], formulas[lang], REL)
    assert not wrong, (len(wrong), wrong[:8])


def counts_errors(path: Path) -> dict[str, set[str]]:
    """Cells that count the error cells of a column, and what follows from them: formualizer cannot know these."""
    e = Edited(path)
    out: dict[str, set[str]] = {ws.title: set() for ws in e.book.worksheets}
    for name in ("Checks", "MasterCheck"):
        for r in range(e.count(name)):
            cells = [e.cell(name, r, h) for h in e.heads(name)]
            if name == "MasterCheck" or any("ISERROR(" in str(c.value) for c in cells):
                out[cells[0].parent.title] |= {c.coordinate for c in cells}
    for ws in e.book.worksheets:
        out[ws.title] |= {c.coordinate for row in ws.iter_rows() for c in row if c.data_type == "f" and "MasterCheck[" in c.value}
    return out


def test_formualizer_counts_no_errors_in_a_range() -> None:
    """Why some cells are left out below; when this fails, leave them in again."""
    import formualizer

    engine = formualizer.Workbook()
    engine.add_sheet("S")
    engine.set_formulas_batch("S", 1, 1, [["=1/0"]])
    engine.set_formulas_batch("S", 2, 1, [["=1/0"]])
    engine.set_formulas_batch("S", 3, 1, [["=SUMPRODUCT(ISERROR(A1:A2)*1)"]])
    engine.evaluate_all()
    assert engine.get_value("S", 3, 1) == 0


def in_formualizer(templates: dict[str, Path], folder: Path, seeds: range) -> list[tuple[str, int, list[str], list[str]]]:
    """Name, how many cells differ, the first of them and the edits of books on which formualizer and the core do not agree."""
    bad = []
    for path, edits in edited_books(templates, folder, seeds).items():
        blind = counts_errors(path)
        assert sum(map(len, blind.values())) < 300
        cells = {s: [a for a in row if a not in blind[s]] for s, row in formula_cells(path).items()}
        wrong = differences(formualizer_values(path), book_values(path), cells, REL)
        if wrong:
            bad.append((path.name, len(wrong), wrong[:8], edits))
        path.unlink()
    return bad


def test_an_edited_book_in_formualizer_and_in_the_core(templates: dict[str, Path], tmp_path: Path) -> None:
    assert in_formualizer(templates, tmp_path, range(3, 4)) == []


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 220, 4))
def test_many_edited_books_in_formualizer_and_in_the_core(templates: dict[str, Path], tmp_path: Path, first: int) -> None:
    """The seeds of `test_edited_books`, of the default run and of the long one."""
    assert in_formualizer(templates, tmp_path, range(first, first + 4)) == []


# ---- one price, changed: sheet, charts and functions say the same ----

CARD, OLD, NEW = "RTX 5090", 2_800, 3_900.5


@dataclass
class Changed:
    """A book with one price changed: as edited, as LibreOffice recalculated it, before the change."""

    path: Path
    office: Path
    before: dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def changed(templates: dict[str, Path], core: dict[str, Any], once: Callable[..., Any]) -> Changed:
    def make(folder: Path) -> tuple[Path, Path]:
        e = Edited(templates["en"])
        assert e.value("Prices", CARD, "typical") == OLD
        e.put("Prices", CARD, "typical", NEW)
        path = e.save(folder / "changed.xlsx")
        return path, soffice_convert([path], folder / "office")[path]

    path, office = once("changed", make)
    return Changed(path, office, core["en"])


def table(path: Path, values: dict[str, dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Rows of a table of a book, with the values given."""
    return _opened(path).shown(name, values)


_open: dict[Path, Edited] = {}


def _opened(path: Path) -> Edited:
    if path not in _open:
        _open[path] = Edited(path)
    return _open[path]


@needs_libreoffice
@pytest.mark.libreoffice
def test_a_changed_price_moves_tco_as_the_function_says(changed: Changed) -> None:
    rows = [r for r in table(changed.path, cached_values(changed.office), "TcoCards") if r["gpu"]]
    catalog = read_catalog(changed.path)
    assert len(rows) == len(catalog.rows("prices"))
    for r in rows:
        assert same(r["tco_eur"], gx.tco3y(r["gpu"], catalog=catalog), REL), r["gpu"]
        assert same(r["tco_low_eur"], gx.tco3y(r["gpu"], options="case=low", catalog=catalog), REL) or not _has(catalog, r["gpu"], "low")
        assert same(r["tco_high_eur"], gx.tco3y(r["gpu"], options="case=high", catalog=catalog), REL) or not _has(catalog, r["gpu"], "high")
    own = next(r for r in rows if r["gpu"] == CARD)
    assert same(own["price_eur"], NEW)
    assert same(own["tco_eur"] - gx.tco3y(CARD), (NEW - OLD) * (1 + 0.05 * 3), 1e-8)


def _has(catalog: Any, gpu: str, end: str) -> bool:
    return next(r for r in catalog.rows("prices") if r["gpu"] == gpu)[end] is not None


@needs_libreoffice
@pytest.mark.libreoffice
def test_a_changed_price_moves_cost_as_the_function_says(changed: Changed) -> None:
    office, catalog = cached_values(changed.office), read_catalog(changed.path)
    speed, cost = (table(changed.path, office, n) for n in ("Speed", "Cost"))
    priced, moved = 0, 0
    for s, c, old in zip(speed, cost, table(changed.path, changed.before, "Cost"), strict=True):
        tokens = {"input_tokens": s["input_tokens"], "output_tokens": s["output_tokens"], "tp": int(s["gpus"]), "pp": 1}
        context = s["input_tokens"] + s["output_tokens"]
        if not isinstance(c["cost_eur_mtok"], int | float):
            with pytest.raises(gx.GpueconError):
                gx.cost_per_mtok(s["model"], s["gpu"], s["precision"], s["batch"], context, int(s["gpus"]), options=tokens, catalog=catalog)
            continue
        priced += 1
        got = gx.cost_per_mtok(s["model"], s["gpu"], s["precision"], s["batch"], context, int(s["gpus"]), options=tokens, catalog=catalog)
        assert same(c["cost_eur_mtok"], got, REL), (s["model"], s["gpu"], c["cost_eur_mtok"], got)
        assert same(
            s["output_tok_s"],
            gx.tokps(s["model"], s["gpu"], s["precision"], s["batch"], context, int(s["gpus"]), options=tokens, catalog=catalog),
            REL,
        )
        moved += c["cost_eur_mtok"] > old["cost_eur_mtok"] * 1.05
        assert same(c["cost_eur_mtok"], old["cost_eur_mtok"]) == (s["gpu"] != CARD), s["gpu"]
    assert priced > 40
    assert moved >= 4


@needs_libreoffice
@pytest.mark.libreoffice
def test_candidates_are_what_the_functions_say(changed: Changed) -> None:
    """Every workload on every build: tok/s, cost, fit; with the layout that the sheet chose."""
    office, catalog = cached_values(changed.office), read_catalog(changed.path)
    workloads = {r["workload"]: r for r in catalog.rows("workloads")}
    builds = {r["build"]: r for r in catalog.rows("builds")}
    compared = refused = 0
    for r in table(changed.path, office, "Candidates"):
        if not r["key"]:
            continue
        w, b = workloads[r["workload"]], builds[r["build"]]
        options = {"input_tokens": w["input_tokens"], "output_tokens": w["output_tokens"]}
        if w["kv"]:
            options["kv"] = w["kv"]
        context = w["input_tokens"] + w["output_tokens"]
        call = (w["model"], b["gpu"], w["precision"], w["batch"], context, int(b["gpus"]))
        place = f"{r['key']} tp {r['tp']}"
        if not isinstance(r["cost_eur_mtok"], int | float):
            if not is_error(r["tp"]) and r["tp"] and r["tp"] * r["pp"] <= b["gpus"]:
                with pytest.raises(gx.GpueconError):
                    gx.tokps(*call, options={**options, "tp": int(r["tp"]), "pp": int(r["pp"])}, catalog=catalog)
            refused += 1
            continue
        layout = {**options, "tp": int(r["tp"]), "pp": int(r["pp"])}
        money = dict(layout)
        if b["chassis_wanted_eur"]:
            money["chassis_eur_gpu"] = b["chassis_wanted_eur"]
        assert same(r["output_tok_s"], gx.tokps(*call, options=layout, catalog=catalog), REL), place
        assert same(r["cost_eur_mtok"], gx.cost_per_mtok(*call, options=money, catalog=catalog), REL), place
        assert r["fit_class"] == gx.fits(*call, options=layout, catalog=catalog), place
        assert r["tp"] * r["pp"] * r["replicas"] <= b["gpus"], place
        compared += 1
    assert compared > 100
    assert refused > 10


@needs_libreoffice
@pytest.mark.libreoffice
def test_matrix_recommends_the_cheapest_that_keeps_the_limits(changed: Changed) -> None:
    office = cached_values(changed.office)
    candidates = [r for r in table(changed.path, office, "Candidates") if r["key"]]
    matrix = [r for r in table(changed.path, office, "Matrix") if r["workload"]]
    before = {r["workload"]: r for r in table(changed.path, changed.before, "Matrix") if r["workload"]}
    assert len(matrix) == len(read_catalog(changed.path).rows("workloads"))
    dearer = 0
    for m in matrix:
        kept = sorted(
            (round(r["cost_eur_mtok"], 9), r["b"], r["build"]) for r in candidates if r["workload"] == m["workload"] and r["limit"] == "none"
        )
        assert m["kept"] == len(kept), m["workload"]
        assert kept, m["workload"]
        assert (m["recommended"], round(m["cost_eur_mtok"], 9)) == (kept[0][2], kept[0][0]), m["workload"]
        if len(kept) > 1:
            assert m["runner_up"] == kept[1][2], m["workload"]
            assert same(m["runner_up_more"], kept[1][0] / kept[0][0] - 1, 1e-6), m["workload"]
        old = before[m["workload"]]
        assert m["cost_eur_mtok"] >= old["cost_eur_mtok"] * (1 - 1e-12), m["workload"]  # a dearer card makes nothing cheaper
        dearer += m["cost_eur_mtok"] > old["cost_eur_mtok"] * 1.001 or m["recommended"] != old["recommended"]
    assert dearer, "no recommendation has anything to do with the card whose price was changed"


@needs_libreoffice
@pytest.mark.libreoffice
def test_charts_show_the_changed_price(changed: Changed) -> None:
    """What LibreOffice draws is what the core computes; at least the charts of TCO, cost and tok/s per euro have moved."""
    core = book_values(changed.path)
    moved, points = set(), 0
    with zipfile.ZipFile(changed.office) as z:
        for name in z.namelist():
            if not re.match(r"xl/charts/chart\d+\.xml", name):
                continue
            for ref, cache in re.findall(r"<c:val><c:numRef><c:f>(.*?)</c:f><c:numCache>(.*?)</c:numCache>", z.read(name).decode(), re.S):
                sheet, _, area = html.unescape(ref).rpartition("!")
                title = sheet.strip("$'").replace("''", "'")
                left, top, right, bottom = range_boundaries(area.replace("$", ""))
                cells = [f"{get_column_letter(c)}{r}" for r in range(top, bottom + 1) for c in range(left, right + 1)]
                shown = {int(i): float(v) for i, v in re.findall(r'<c:pt idx="(\d+)"[^>]*><c:v>([^<]*)</c:v>', cache) if v not in ("", "NaN")}
                for i, cell in enumerate(cells):
                    value = core[title].get(cell)
                    if not isinstance(value, int | float):
                        continue
                    points += 1
                    assert same(shown.get(i, 0.0), value, 1e-9), (name, ref, cell, shown.get(i), value)
                    if not same(value, changed.before[title][cell]):
                        moved.add(title)
    assert points > 60
    assert moved >= {"TCO", "Cost", "Perf per Euro"}
