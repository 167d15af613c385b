"""The customer's workbook: recalculated by LibreOffice, texts as texts, what a letter must carry."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import openpyxl
import pytest
from oracles import cached_values, differences, formula_cells, needs_libreoffice, soffice_convert
from quote_parts import PLAIN, REQUESTS, cells, made, sample, sample_file, unzipped

import gpuecon_xl as gx
from gpuecon_xl.lang import LANGUAGES, load
from gpuecon_xl.quote import book

WITH_PAGE = [p for p in REQUESTS if "economics" in tomllib.loads(p.read_text(encoding="utf-8"))]


def _files(folder: Path) -> list[Path]:
    out = []
    for path in REQUESTS:
        out.append(folder / f"{path.stem}.xlsx")
        out[-1].write_bytes(sample_file(path))
    return out


@needs_libreoffice
@pytest.mark.libreoffice
def test_recalculated_is_cached(tmp_path: Path) -> None:
    """Also amounts that end at half a cent, which floats cannot hold."""
    lines = "".join(
        f'[[line]]\nitem = "n{i}"\nquantity = {q}\nlist_price = {p}\n'
        for i, (q, p) in enumerate(
            [
                (0.5, "1.01"),
                (0.5, "2.67"),
                (1.5, "0.35"),
                (0.125, "8.04"),
                (2.5, "1234567.77"),
                (0.5, "0.29"),
                (3.5, "1.15"),
                (0.005, "4.20"),
                (0.15, "40.70"),
            ]
            * 4
        )
    )
    ties = tmp_path / "ties.xlsx"
    ties.write_bytes(made(f'number = "T"\ndate = 2026-12-01\ndiscount = 0.025\n[customer]\nname = "T"\ncountry = "DE"\n{lines}', tmp_path))
    files = [*_files(tmp_path), ties]
    after = soffice_convert(files, tmp_path / "out")
    for file in files:
        formulas = formula_cells(file)
        assert sum(map(len, formulas.values())) >= 4
        assert differences(cached_values(file), cached_values(after[file]), formulas) == [], file.name


@needs_libreoffice
@pytest.mark.libreoffice
def test_customer_changes_the_price_of_electricity(tmp_path: Path) -> None:
    """A changed input recalculates cost and break-even, as the product computes them."""
    source = tmp_path / "a.xlsx"
    source.write_bytes(sample_file(REQUESTS[0]))
    wb = openpyxl.load_workbook(source)
    names = {n: d.attr_text.replace("$", "").replace("'", "").split("!") for n, d in wb.defined_names.items()}
    for name, value in (("electricity_kwh", 0.5), ("utilization", 0.8), ("cloud_rate_hour", 1.9)):
        sheet, cell = names[name]
        assert not wb[sheet][cell].protection.locked
        wb[sheet][cell].value = value
    wb.save(tmp_path / "edited.xlsx")
    got = cached_values(soffice_convert([tmp_path / "edited.xlsx"], tmp_path / "out")[tmp_path / "edited.xlsx"])

    def cell(name: str) -> float:
        sheet, at = names[name]
        return float(got[sheet][at])

    options = {"electricity_eur_kwh": 0.5, "chassis_eur_gpu": 0, "tok_s": cell("output_tok_s")}
    price = cell("hardware") / 4
    cost = gx.cost_per_mtok("Qwen3-32B", "RTX 5090", "int4-awq", gpus=4, utilization=0.8, price=price, options=options)
    assert cell("cost_mtok") == pytest.approx(cost, rel=1e-9)
    use = gx.breakeven_util("Qwen3-32B", "RTX 5090", 1.9, "int4-awq", gpus=4, price=price, options=options)
    assert cell("breakeven_cloud") == pytest.approx(use, rel=1e-9)


@pytest.mark.parametrize("path", [p for p in REQUESTS if p not in WITH_PAGE], ids=lambda p: p.stem)
def test_no_page_where_none_was_asked_for(path: Path) -> None:
    o = sample(path)
    assert o.economics is None
    assert list(cells(sample_file(path))) == [o.texts("quote.offer")]


@pytest.mark.parametrize("path", WITH_PAGE, ids=lambda p: p.stem)
def test_page_agrees_with_functions(path: Path) -> None:
    """The page's total cost is that of `tco3y` at the price that the customer is offered."""
    o = sample(path)
    assert o.economics is not None
    values = {i.name: i.value for i in o.economics.inputs}
    sheets = cells(sample_file(path))
    basis = list(sheets.values())[2]
    hardware = next(float(v) for a, v in basis.items() if a.startswith("B") and basis.get("A" + a[1:]) == o.texts("quote.label_hardware"))
    cards = sum(float(n.cards) for n in o.lines if n.card == o.economics.card)
    options = {"electricity_eur_kwh": values["electricity_kwh"], "pue": values["pue"], "horizon_years": values["horizon_years"], "chassis_eur_gpu": 0}
    tco = gx.tco3y(o.economics.card, int(cards), values["utilization"], hardware / cards, options)
    assert o.economics.values(hardware, cards)["tco_build"] == pytest.approx(tco, rel=1e-12)


def test_same_offer_same_bytes() -> None:
    assert book.workbook(sample(REQUESTS[0])) == sample_file(REQUESTS[0])


@pytest.mark.parametrize("path", REQUESTS, ids=lambda p: p.stem)
def test_no_error_no_macro_no_link(path: Path) -> None:
    parts = unzipped(sample_file(path))
    assert not [n for n in parts if "vba" in n.lower() or "external" in n.lower() or "comment" in n.lower()]
    assert not [(a, v) for s in cells(sample_file(path)).values() for a, v in s.items() if isinstance(v, str) and v.startswith("#")]
    assert b'state="hidden"' not in parts["xl/workbook.xml"]
    assert not re.search(rb"/(?:home|tmp|root)/|[A-Z]:\\\\", b"".join(parts.values()))


def test_text_stays_text() -> None:
    """Whatever a person wrote is a string in the file; only the product's own formulas are formulas."""
    path = next(p for p in REQUESTS if "equals" in p.name)
    for sheet in cells(sample_file(path), formulas=True).values():
        for value in sheet.values():
            if isinstance(value, str) and value.startswith("="):
                assert not re.search(r"HYPERLINK|Numbers|Cloud \{", value) or value in (
                    "=SUM(Numbers) & Daughters",
                    '=HYPERLINK("http://example.com","card")',
                    "=Cloud {0}",
                ), value
    sheets = "".join(t.decode() for n, t in unzipped(sample_file(path)).items() if n.startswith("xl/worksheets/sheet"))
    assert not re.search(r"<f>[^<]*(HYPERLINK|Daughters|Ada)", sheets)
    assert "hyperlink" not in sheets
    assert 'quotePrefix="1"' in unzipped(sample_file(path))["xl/styles.xml"].decode()


def test_german_letter_carries_what_the_law_wants() -> None:
    letter = " ".join(str(v) for v in next(iter(cells(sample_file(REQUESTS[0])).values())).values())
    for wanted in (
        "Musterrechner Systeme GmbH",
        "Gesellschaft mit beschränkter Haftung",
        "Sitz der Gesellschaft: Kassel",
        "Amtsgericht Kassel, HRB 98765",
        "Dr. Ute Grünwald, Søren Åkjær",
        "USt-IdNr.: DE987654321",
        "freibleibend",
        "31. Dezember 2026",
    ):
        assert wanted in letter, wanted


def test_danish_letter_carries_the_cvr_number() -> None:
    path = next(p for p in REQUESTS if p.name.startswith("05"))
    letter = " ".join(str(v) for v in next(iter(cells(sample_file(path)).values())).values())
    for wanted in ("Mønsterregner ApS", "CVR-nr.: 98765432", "Moms 25\u00a0%", "bindende", "31. december 2026", "8000 Aarhus C"):
        assert wanted in letter, wanted


def test_every_vat_case_has_its_sentence() -> None:
    found = {sample(p).vat: " ".join(str(v) for v in next(iter(cells(sample_file(p)).values())).values()) for p in REQUESTS}
    assert set(found) == {"domestic", "eu", "export"}
    assert "2006/112" in found["eu"]
    assert "2006/112" in found["export"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_texts_have_the_same_values_in_all_languages(lang: str) -> None:
    english, other = load("en"), load(lang)
    keys = [k for k in english._entries if k.startswith("quote.")]
    assert keys == [k for k in other._entries if k.startswith("quote.")]
    for key in keys:
        assert set(re.findall(r"\{\w+\}", english(key))) == set(re.findall(r"\{\w+\}", other(key))), key


def test_texts_of_a_folder_go_first(tmp_path: Path) -> None:
    (tmp_path / "de.toml").write_text('[quote]\nintro = "gern bieten wir an:"\n', encoding="utf-8")
    assert load("de", tmp_path)("quote.intro") == "gern bieten wir an:"
    assert load("de")("quote.intro") != "gern bieten wir an:"
    for text, word in (('[quote]\nintros = "x"\n', "nearest"), ('[quote]\nintro = "{number.__class__}"\n', "braces"), ("[quote", "TOML")):
        (tmp_path / word).mkdir()
        (tmp_path / word / "de.toml").write_text(text, encoding="utf-8")
        with pytest.raises(gx.GpueconError, match=word):
            load("de", tmp_path / word)


def test_number_formats_are_of_the_customer(tmp_path: Path) -> None:
    for lang, code in (("de", "407"), ("da", "406"), ("en", "809")):
        styles = unzipped(made(PLAIN.format(language=lang, price="list_price = 5000"), tmp_path))["xl/styles.xml"].decode()
        assert f"[$-{code}]#,##0.00" in styles


def test_first_file_of_a_process_is_as_every_other(tmp_path: Path) -> None:
    import subprocess
    import sys

    out = tmp_path / "first.xlsx"
    subprocess.run([sys.executable, "-m", "gpuecon_xl.cli", "quote", str(REQUESTS[0]), "-o", str(out)], check=True, capture_output=True)
    book.workbook(sample(REQUESTS[0]))
    assert out.read_bytes() == book.workbook(sample(REQUESTS[0]))
