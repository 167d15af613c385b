"""Attribution: the right effect for the right change, sums that are exact, recommendations named with what flipped them.

Costs are held against what the workbook's Matrix shows for the edited books, after LibreOffice has calculated it or as the core does.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from edits import Edited, random_edits
from openpyxl.utils import range_boundaries
from oracles import SOFFICE, cached_values, needs_libreoffice, profile, python_with_uno

import gpuecon_xl as gx
from gpuecon_xl.catalog import shipped, shipped_folder
from gpuecon_xl.reader import read_catalog
from gpuecon_xl.recommendation import picks
from gpuecon_xl.schema import TABLES
from gpuecon_xl.sheets import book as books
from gpuecon_xl.variance import attribution
from gpuecon_xl.variance.changes import applied, complete_tables, differences

TARIFF, CARD_PRICE, SERVER_PRICE = 0.31, 4000, 9100
THREE = (("Assumptions", "electricity_eur_kwh", "value", TARIFF), ("Prices", "RTX 5090", "typical", CARD_PRICE),
         ("Prices", "RTX PRO 6000 Blackwell Server", "typical", SERVER_PRICE))  # fmt: skip


def matrix(path: Path, values: dict[str, dict[str, Any]]) -> dict[str, tuple[str, float | None]]:
    """Recommended build and its cost by workload, read from the cells of a book's Matrix."""
    book = openpyxl.load_workbook(path)
    ws, table = next((ws, t) for ws in book.worksheets for t in ws.tables.values() if t.name == "Matrix")
    left, top, right, bottom = range_boundaries(table.ref)
    at = {ws.cell(top, c).value: c for c in range(left, right + 1)}
    out = {}
    for r in range(top + 1, bottom + 1):
        workload, build, cost = (values[ws.title].get(ws.cell(r, at[c]).coordinate) for c in ("workload", "recommended", "cost_eur_mtok"))
        if workload:
            out[str(workload)] = (str(build), float(cost) if isinstance(cost, int | float) else None)
    return out


def saved(template: Path, path: Path, *edits: tuple[str, str, str, Any]) -> Path:
    e = Edited(template)
    for table, row, column, value in edits:
        e.put(table, row, column, value)
    return e.save(path)


def check_sums(found: gx.Variance) -> None:
    """Every effect is the difference of the costs around it, and all of them are exactly the whole change."""
    for x in found.workloads:
        assert len(x.effects) == len(x.after) == len(found.steps)
        if x.cost_old_eur_mtok is None or x.cost_new_eur_mtok is None:
            assert x.change is None
            assert x.rest is None
            continue
        assert x.rest == 0
        course = [x.cost_old_eur_mtok, *(c for c in x.after if c is not None)]
        assert course[-1] == x.cost_new_eur_mtok
        exact = [Fraction(b) - Fraction(a) for a, b in pairwise(course)]
        assert sum(exact) == Fraction(x.cost_new_eur_mtok) - Fraction(x.cost_old_eur_mtok)
        assert [e for e in x.effects if e is not None] == [float(e) for e in exact]
        assert math.fsum(e for e in x.effects if e is not None) == pytest.approx(x.change, rel=1e-12, abs=1e-15 * max(course))
    for x in found.workloads:
        build = x.build_old
        for flip in x.flips:
            assert flip.old == build != flip.new
            build = flip.new
        assert build == x.build_new


# ------------------------------------------------------------------------------------------------ single changes


@pytest.fixture(scope="module")
def three(templates: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[Path], gx.Variance]]:
    """Books with one edit more each, and what `diff_books` says of the first and the last."""
    folder = tmp_path_factory.mktemp("three")
    stages = [saved(templates["en"], folder / f"stage{n}.xlsx", *THREE[:n]) for n in range(len(THREE) + 1)]
    yield stages, gx.diff_books(stages[0], stages[-1])
    shutil.rmtree(folder)


def test_changes_are_told_with_source(three: tuple[list[Path], gx.Variance]) -> None:
    _, found = three
    told = [(c.table, c.row, cell.column, cell.old, cell.new, cell.share) for s in found.steps for c in s.changes for cell in c.cells]
    assert [t[:3] for t in told] == [e[:3] for e in THREE]
    assert [t[4] for t in told] == [e[3] for e in THREE]
    price = shipped().find("prices", "RTX 5090")
    assert told[1][3] == price["typical"]
    assert told[1][5] == pytest.approx(CARD_PRICE / price["typical"] - 1)
    (change,) = found.steps[1].changes
    assert (change.sheet, change.source, change.as_of) == ("prices", price["source"], price["as_of"].isoformat())
    assert found.steps[0].changes[0].cells[0].unit == "EUR/kWh"


def test_each_effect_is_what_the_change_does_at_its_turn(three: tuple[list[Path], gx.Variance]) -> None:
    """Openpyxl's books with one edit more each: the Matrix of each, as the core computes its cells."""
    stages, found = three
    course = [{w: (p.build, p.cost_eur_mtok) for w, p in matrix_of_core(path).items()} for path in stages]
    for x in found.workloads:
        costs = [stage[x.workload][1] for stage in course]
        assert x.effects == pytest.approx([b - a for a, b in pairwise(costs)], abs=1e-9 * costs[0])
        assert [f.step for f in x.flips] == [i for i, (a, b) in enumerate(pairwise(course), start=1) if a[x.workload][0] != b[x.workload][0]]
    check_sums(found)


def matrix_of_core(path: Path) -> dict[str, Any]:
    from gpuecon_xl.reader import book_values
    from gpuecon_xl.recommendation import Pick

    return {w: Pick(*cells) for w, cells in matrix(path, book_values(path)).items()}


def test_a_price_alone_moves_what_its_share_says(templates: dict[str, Path], tmp_path: Path) -> None:
    """Where the build stays, the effect of a price is the cost's part for cards: by hand, from the total cost."""
    price = shipped().find("prices", "RTX PRO 6000 Blackwell Server")["typical"]
    found = gx.diff_books(
        templates["en"], saved(templates["en"], tmp_path / "b.xlsx", ("Prices", "RTX PRO 6000 Blackwell Server", "typical", price + 1))
    )
    (x,) = [w for w in found.workloads if w.workload == "32B compliance"]
    assert x.build_old == x.build_new == "1x PRO 6000 Server"
    one, other = (gx.tco3y("RTX PRO 6000 Blackwell Server", price=p) for p in (price, price + 1))
    assert x.share == pytest.approx(other / one - 1, rel=1e-9)


def test_a_flip_is_named_with_its_change(three: tuple[list[Path], gx.Variance]) -> None:
    _, found = three
    flipped = {x.workload: x.flips for x in found.workloads if x.build_old != x.build_new}
    (flip,) = flipped["32B reasoning"]
    assert (flip.step, flip.old, flip.new) == (2, "2x RTX 5090", "1x PRO 6000 Workstation")
    assert found.steps[flip.step - 1].changes[0].row == "RTX 5090"


def test_interaction_falls_on_the_later_change(templates: dict[str, Path], tmp_path: Path) -> None:
    """Tariff and PUE multiply: the earlier one has its effect alone, the later one its own and what both do together."""
    tariff, pue = ("Assumptions", "electricity_eur_kwh", "value", 0.4), ("Assumptions", "pue", "value", 2.0)
    names = {"tariff": (tariff,), "pue": (pue,), "both": (tariff, pue)}
    found = {n: gx.diff_books("catalog", saved(templates["en"], tmp_path / f"{n}.xlsx", *e)) for n, e in names.items()}

    def effects(name: str) -> tuple[float | None, ...]:
        return next(x.effects for x in found[name].workloads if x.workload == "32B compliance")

    first, second = (found["both"].steps[i].changes[0].row for i in range(2))
    assert {first, second} == {"electricity_eur_kwh", "pue"}
    alone = {"electricity_eur_kwh": effects("tariff")[0], "pue": effects("pue")[0]}
    both = effects("both")
    assert both[0] == pytest.approx(alone[first], rel=1e-9)
    assert both[1] is not None
    assert alone[second] is not None
    assert both[1] > alone[second] * 1.1


# ------------------------------------------------------------------------------------------------ LibreOffice


@needs_libreoffice
@pytest.mark.libreoffice
def test_books_edited_in_libreoffice(templates: dict[str, Path], tmp_path: Path) -> None:
    """Prices typed into cells of running LibreOffice: the edits are found, effects are the differences of its own Matrix cells."""
    e = Edited(templates["de"])
    places = [(*e.put(table, row, column, value).rsplit("!", 1), value) for table, row, column, value in THREE[:2]]
    plan, outs = tmp_path / "edits.json", [tmp_path / f"office{n}.xlsx" for n in range(3)]
    plan.write_text(json.dumps(places), encoding="utf-8")
    python = python_with_uno()
    assert python is not None, "python3-uno is missing"
    assert SOFFICE is not None
    script = Path(__file__).with_name("edit_in_office.py")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    subprocess.run([python, script, SOFFICE, profile().as_uri(), templates["de"], plan, *outs], check=True, timeout=300, env=clean)
    found = gx.diff_books(outs[0], outs[-1])
    assert found.steps == gx.diff_books(templates["de"], saved(templates["de"], tmp_path / "by_openpyxl.xlsx", *THREE[:2])).steps
    assert not gx.diff_books(templates["de"], outs[0]).steps
    told = [(s.changes[0].row, c.column, c.new) for s in found.steps for c in s.changes[0].cells]
    assert told == [(row, column, value) for _, row, column, value in THREE[:2]]
    course = [matrix(path, cached_values(path)) for path in outs]
    for x in found.workloads:
        costs = [stage[x.workload][1] for stage in course]
        assert None not in costs
        assert x.effects == pytest.approx([b - a for a, b in pairwise(costs)], abs=1e-9 * max(1.0, costs[0]))
        assert (x.build_old, x.build_new) == (course[0][x.workload][0], course[-1][x.workload][0])
    assert any(abs(e) > 1e-3 for x in found.workloads for e in x.effects)
    check_sums(found)


# ------------------------------------------------------------------------------------------------ random edits


@pytest.mark.parametrize("seed", range(1))
def test_sums_are_exact_for_random_edits(templates: dict[str, Path], tmp_path: Path, seed: int) -> None:
    lang = ("en", "de", "da")[seed % 3]
    e = Edited(templates[lang])
    random_edits(e, 100 + seed)
    path = e.save(tmp_path / "edited.xlsx")
    found = gx.diff_books(templates[lang], path)
    assert found.steps
    check_sums(found)
    core = picks(read_catalog(path))
    assert {x.workload: (x.build_new, x.cost_eur_new) for x in _ends(found) if x.workload in core} == {w: tuple(p) for w, p in core.items()}


class _End:
    def __init__(self, x: Any) -> None:
        self.workload, self.build_new, self.cost_eur_new = x.workload, x.build_new, x.cost_new_eur_mtok


def _ends(found: gx.Variance) -> list[_End]:
    return [_End(x) for x in found.workloads]


@pytest.mark.parametrize("seed", range(12))
def test_changes_turn_the_old_into_the_new(templates: dict[str, Path], tmp_path: Path, seed: int) -> None:
    """Made one after another, all changes give the new tables, row by row; in both directions."""
    e = Edited(templates["en"])
    random_edits(e, 500 + seed)
    one, other = complete_tables(shipped()), complete_tables(read_catalog(e.save(tmp_path / "edited.xlsx")))
    for old, new in ((one, other), (other, one)):
        tables = old
        for change in differences(old, new):
            tables = applied(tables, change)
        assert not differences(tables, new)
        for name in ("builds", "workloads"):
            key = TABLES[name].key
            assert [r[key].lower() for r in tables[name]] == [r[key].lower() for r in new[name]]


def test_many_changes_end_in_one_step(templates: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(templates["en"], tmp_path / "b.xlsx", *THREE)
    whole = gx.diff_books(templates["en"], path)
    monkeypatch.setattr(attribution, "MOST_STEPS", 2)
    found = gx.diff_books(templates["en"], path)
    assert [len(s.changes) for s in found.steps] == [1, 2]
    check_sums(found)
    for x, y in zip(found.workloads, whole.workloads, strict=True):
        assert x.change == y.change
        assert x.after == (y.after[0], y.after[2])


# ------------------------------------------------------------------------------------------------ what can be compared


def test_what_the_cost_does_not_read_has_no_effect(templates: dict[str, Path], tmp_path: Path) -> None:
    path = saved(templates["en"], tmp_path / "b.xlsx", ("Prices", "RTX 5090", "source", "an invoice"), ("Apis", first_api(), "price_in_mtok", 77))
    found = gx.diff_books("catalog", path)
    assert [s.computed for s in found.steps] == [True, False]  # a price without a source is not used, so the cost reads sources
    assert not any(x.changed for x in found.workloads)
    assert all(set(x.effects) == {0.0} for x in found.workloads)


def first_api() -> str:
    return str(shipped().rows("api_prices")[0]["api"])


def test_nothing_changed(templates: dict[str, Path]) -> None:
    for lang in ("en", "de"):
        found = gx.diff_books(templates[lang], None)
        assert found.steps == ()
        assert not any(x.changed or x.flips or x.effects for x in found.workloads)


def test_folders_and_files_of_csv(tmp_path: Path) -> None:
    """Two folders, a folder and the shipped catalogue, one CSV file: the same price, the same effect."""
    text = (shipped_folder() / "prices.csv").read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith("RTX 5090,"))
    lines[at] = lines[at].replace(",2800,", ",4000,", 1)
    for name, content in (("before", text), ("after", "".join(lines))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "prices.csv").write_text(content, encoding="utf-8")
    (tmp_path / "one.csv").write_text(lines[0] + lines[at], encoding="utf-8")
    pairs = [(tmp_path / "before", tmp_path / "after"), ("catalog", tmp_path / "after"), (None, tmp_path / "one.csv")]
    found = [gx.diff_books(*pair) for pair in pairs]
    for f in found:
        ((change,),) = (s.changes for s in f.steps)
        ((cell,),) = (change.cells,)
        assert (change.table, change.row, cell.column, cell.old, cell.new) == ("Prices", "RTX 5090", "typical", 2800, 4000)
        assert f.workloads == found[0].workloads
        assert any(x.changed for x in f.workloads)


def test_new_gone_and_moved_rows(templates: dict[str, Path], tmp_path: Path) -> None:
    e = Edited(templates["en"])
    e.add("Builds", build="3x L4", gpu="L4", gpus=3, stocked="yes")
    e.add("Workloads", workload="ours", model="Llama 3.1 8B", precision="fp8", batch=8, input_tokens=500, output_tokens=100)
    e.remove("Workloads", e.row("Workloads", "13B chat"))
    e.swap("Workloads", 0, 1)
    found = gx.diff_books(templates["en"], e.save(tmp_path / "b.xlsx"))
    assert [(c.kind, c.table, c.row) for s in found.steps for c in s.changes] == [
        ("gone", "Workloads", "13B chat"), ("new", "Workloads", "ours"), ("moved", "Workloads", ""), ("new", "Builds", "3x L4"),
    ]  # fmt: skip
    by_name = {x.workload: x for x in found.workloads}
    assert by_name["13B chat"].cost_new_eur_mtok is by_name["13B chat"].change is None
    assert by_name["ours"].cost_old_eur_mtok is by_name["ours"].effects[1] is None
    assert by_name["ours"].cost_new_eur_mtok == picks(read_catalog(tmp_path / "b.xlsx"))["ours"].cost_eur_mtok
    check_sums(found)


def test_a_figure_that_comes_back_has_the_change_since_the_last(templates: dict[str, Path], tmp_path: Path) -> None:
    """A model renamed in Models and in Workloads: in between no build serves it, in the end nothing has changed."""
    e = Edited(templates["en"])
    name = e.value("Workloads", "32B compliance", "model")
    e.put("Models", name, "model", "Renamed 32B")
    for r in e.rows("Workloads"):
        if e.cell("Workloads", r, "model").value == name:
            e.write(e.cell("Workloads", r, "model"), "Renamed 32B")
    found = gx.diff_books(templates["en"], e.save(tmp_path / "b.xlsx"))
    x = next(x for x in found.workloads if x.workload == "32B compliance")
    assert None in x.after
    assert (x.change, x.rest) == (0, 0)
    assert [e for e in x.effects if e] == [None] * 0
    assert x.effects[-1] == 0
    check_sums(found)


def test_the_picks_are_those_of_the_whole_matrix() -> None:
    """Computed from fewer columns, the same to the last digit."""
    whole = books.values_of(books.build(shipped()), shipped()).tables["Matrix"].columns
    rows = zip(whole["workload"], whole["recommended"], whole["cost_eur_mtok"], strict=True)
    assert {w: (build, cost) for w, build, cost in rows if w} == {w: tuple(p) for w, p in picks(shipped()).items()}


def test_all_problems_of_a_file_at_once(templates: dict[str, Path], tmp_path: Path) -> None:
    path = saved(templates["en"], tmp_path / "b.xlsx", ("Prices", "L4", "typical", "dear"), ("Cards", "L4", "bandwidth_gb_s", -3))
    with pytest.raises(gx.BadFile) as refused:
        gx.diff_books("catalog", path)
    assert "Prices!" in str(refused.value)
    assert "Cards!" in str(refused.value)
