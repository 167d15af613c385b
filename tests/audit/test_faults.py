"""Planted faults are found in the right cells, in three languages, in files of openpyxl, of LibreOffice and edited by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from edits import Edited
from faults import CIRCLE, ERRORS, SURFACE, Planted, stored_inputs
from oracles import cached_values, is_error, needs_libreoffice, soffice_convert

from gpuecon_xl.audit.findings import LEVELS
from gpuecon_xl.audit.whole import Audit, audit_book
from gpuecon_xl.lang import LANGUAGES

Books = dict[tuple[str, str], tuple[Path, set[Planted]]]
SETS = {"surface": SURFACE, "circle": CIRCLE, "errors": ERRORS}
BY_OFFICE = [("surface", "de"), ("errors", "da")]
LEAST = 60


def places(audit: Audit) -> set[Planted]:
    return {Planted(f.kind, f.place) for f in audit.findings}


@pytest.fixture(scope="module")
def faulty(templates: dict[str, Path], once: Callable[..., Any]) -> Books:
    """Books with faults, by set and language, and what was planted."""

    def make(folder: Path) -> Books:
        out: Books = {}
        for k, lang in enumerate(LANGUAGES):
            for name, plants in SETS.items():
                e = Edited(templates[lang])
                planted = {p for plant in plants for p in plant(e, k)}
                out[name, lang] = e.save(folder / f"{name}-{lang}.xlsx"), planted
        return out

    found: Books = once("faulty", make)
    return found


@pytest.fixture(scope="module")
def recalculated(faulty: Books, once: Callable[..., Any]) -> dict[Path, Path]:
    """The same books after LibreOffice has opened, recalculated and saved them."""
    found: dict[Path, Path] = once("faulty-office", lambda folder: soffice_convert([faulty[key][0] for key in BY_OFFICE], folder))
    return found


def test_enough_faults_of_every_kind(faulty: Books) -> None:
    planted = [p for _, of_book in faulty.values() for p in of_book]
    assert len(planted) >= LEAST
    assert {p.kind for p in planted} | {"stale", "unknown", "fixed"} == set(LEVELS)
    for kind in {p.kind for p in planted} - {"missing"}:
        assert len({p.place.partition("!")[2] for p in planted if p.kind == kind}) >= len(LANGUAGES), kind


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", ["surface", "circle"])
def test_all_faults_and_nothing_else_in_a_file_of_openpyxl(faulty: Books, name: str, lang: str) -> None:
    path, planted = faulty[name, lang]
    audit = audit_book(path)
    found = places(audit)
    hollow = [f for f in audit.findings if f.kind == "stale"]
    assert planted - found == set()
    assert found - planted == {Planted("stale", hollow[0].place)}
    assert hollow[0].count > 45_000  # not one formula has a value


@needs_libreoffice
@pytest.mark.libreoffice
@pytest.mark.parametrize(("name", "lang"), BY_OFFICE)
def test_all_faults_in_a_file_of_libreoffice(faulty: Books, recalculated: dict[Path, Path], name: str, lang: str) -> None:
    path, planted = faulty[name, lang]
    office = recalculated[path]
    found = places(audit_book(office))
    assert planted - found == set()
    shown = cached_values(office)
    for more in found - planted:
        sheet, _, cell = more.place.rpartition("!")
        if name == "errors" and more.kind == "formula":
            assert Planted("error", more.place) in planted  # such a formula is not its column's either
        else:
            assert more.kind == "error", more
            assert is_error(shown[sheet][cell]), more


@pytest.mark.parametrize("lang", LANGUAGES)
def test_values_that_were_not_recalculated(templates: dict[str, Path], tmp_path: Path, lang: str) -> None:
    """A price was exchanged in the file: the cells that read it are told, not those that follow from them."""
    e = Edited(templates[lang])
    row = e.row("Prices", "RTX 4090")
    sheet, _, cell = e.place("Prices", row, "typical").rpartition("!")
    audit = audit_book(stored_inputs(templates[lang], tmp_path / "stale.xlsx", {(sheet, cell): 1_700.5}))
    own = e.row("Prices", "RTX 4090")  # row n of TcoCards shows row n of Prices
    assert {f.kind for f in audit.findings} == {"stale"}
    assert Planted("stale", e.place("TcoCards", own, "price_eur")) in places(audit)
    told = next(f for f in audit.findings if f.place == e.place("TcoCards", own, "price_eur"))
    assert told.due == "1700.5"
    assert len(audit.findings) < 12


@pytest.mark.parametrize("k", range(len(LANGUAGES)))
def test_figures_of_the_layout(templates: dict[str, Path], tmp_path: Path, k: int) -> None:
    table, column = (("Candidates", "b"), ("Need", "n"), ("CostCurve", "use"))[k]
    e = Edited(templates[LANGUAGES[k]])
    old = e.cell(table, 3, column).value
    e.write(e.cell(table, 3, column), old + 1)
    audit = audit_book(e.save(tmp_path / "fixed.xlsx"))
    assert Planted("fixed", e.place(table, 3, column)) in places(audit)
    assert next(f.due for f in audit.findings if f.kind == "fixed") == f"{old:g}"


def test_names_that_lead_nowhere_and_names_twice(templates: dict[str, Path], tmp_path: Path) -> None:
    e = Edited(templates["en"])
    e.write(e.cell("Builds", 3, "gpu"), "RTX 5091")
    e.like("Prices", "L4")
    audit = audit_book(e.save(tmp_path / "names.xlsx"))
    found = places(audit)
    assert Planted("unknown", e.place("Builds", 3, "gpu")) in found
    assert next(f for f in audit.findings if f.kind == "unknown").due.endswith("RTX 5090")
    assert Planted("range", e.place("Prices", max(e.rows("Prices")), "gpu")) in found


def test_links_to_other_files_that_no_formula_uses(templates: dict[str, Path], tmp_path: Path) -> None:
    from openpyxl.packaging.relationship import Relationship
    from openpyxl.workbook.external_link.external import ExternalBook, ExternalLink

    e = Edited(templates["da"])
    link = ExternalLink(externalBook=ExternalBook(id="rId1"))
    link.file_link = Relationship(type="externalLinkPath", Target="budget.xlsx", TargetMode="External", Id="rId1")
    e.book._external_links.append(link)
    audit = audit_book(e.save(tmp_path / "linked.xlsx"))
    told = [f for f in audit.findings if f.kind == "external"]
    assert len(told) == 1
    assert "budget.xlsx" in told[0].text
    assert told[0].cell == ""


def test_a_formula_without_a_value_among_others(templates: dict[str, Path], tmp_path: Path) -> None:
    """Somebody's program wrote one formula anew and left out its value."""
    import re
    import zipfile

    e = Edited(templates["en"])
    cell = e.cell("TcoCards", 4, "tco_eur")
    part = f"xl/worksheets/sheet{e.book.sheetnames.index(cell.parent.title) + 1}.xml"
    out = tmp_path / "hollow.xlsx"
    with zipfile.ZipFile(templates["en"]) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for i in old.infolist():
            body = old.read(i)
            if i.filename == part:
                text, count = re.subn(rf'(<c r="{cell.coordinate}"[^>]*><f>[^<]*</f>)<v>[^<]*</v>', r"\1", body.decode())
                assert count == 1
                body = text.encode()
            new.writestr(i.filename, body)
    audit = audit_book(out)
    assert [(f.kind, f.place, f.count) for f in audit.findings] == [("stale", e.place("TcoCards", 4, "tco_eur"), 1)]


def test_sentences_in_the_language_asked_for(faulty: Books) -> None:
    path, _ = faulty["surface", "de"]
    german, english = audit_book(path), audit_book(path, "en")
    assert [(f.kind, f.place) for f in german.findings] == [(f.kind, f.place) for f in english.findings]
    assert all(g.text != e.text for g, e in zip(german.findings, english.findings, strict=True))
    assert german.lang == "de"
    for f in (*german.findings, *english.findings):
        assert f.text.endswith(".")
        assert f.due
        assert "{" not in f.text
