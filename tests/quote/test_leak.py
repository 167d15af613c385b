"""Nothing private in a customer's file: planted prices, margins and names are searched in every part, and would be found."""

from __future__ import annotations

import dataclasses
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from quote_parts import PLAIN, REQUESTS, SAMPLES, TODAY, leaks, made, seller, unzipped

from gpuecon_xl.catalog import Catalog, shipped
from gpuecon_xl.quote import book, offer, source

OTHERS = ("Geheimkunde Alpha AG", "Hemmelig Kunde Beta")


def planted() -> tuple[Catalog, list[float]]:
    """The shipped facts with odd prices, low, typical and high, an odd chassis, and other customers in notes."""
    numbers: list[float] = []
    tables: dict[str, list[dict[str, Any]]] = {name: [dict(r) for r in rows] for name, rows in shipped().tables.items()}
    for i, row in enumerate(tables["prices"]):
        for k, column in enumerate(("low", "typical", "high")):
            row[column] = round(row[column]) + 0.3719 + k * 0.1 + i * 0.001
            numbers.append(row[column])
        row["note"] = f"as for {OTHERS[0]}"
    for row in tables["builds"]:
        row["buyer"] = OTHERS[1]
        row["note"] = OTHERS[0]
    for row in tables["assumptions"]:
        if row["name"] == "chassis_eur_gpu":
            row["value"] = 1013.7731
            numbers.append(row["value"])
    return Catalog(tables, "planted"), numbers


@pytest.mark.parametrize("path", REQUESTS, ids=lambda p: p.stem)
def test_samples_hold_nothing_private(path: Path) -> None:
    catalog, numbers = planted()
    made_ = book.workbook(offer.make(source.read(path), seller(), catalog, TODAY))
    assert leaks(made_, numbers, OTHERS) == []


@pytest.mark.parametrize("language", ["en", "de", "da"])
def test_cost_and_margin_of_a_request_stay_at_home(language: str, tmp_path: Path) -> None:
    content = made(PLAIN.format(language=language, price="cost = 4321.9876\nmargin = 0.17291"), tmp_path)
    assert leaks(content, ["4321.9876", "0.17291", "17.291", "8643.9752"], ["margin", "marge", "avance", "einkauf", "indkøb", "purchase price"]) == []


@pytest.mark.parametrize("spelled", ["2704.3719", "2,704.37", "2.704,37", "2 704,37", "2704,3719", "2704.37"])
@pytest.mark.parametrize("part", ["xl/sharedStrings.xml", "xl/worksheets/sheet2.xml", "docProps/core.xml", "xl/styles.xml", "xl/charts/chart1.xml"])
def test_a_planted_leak_is_found(spelled: str, part: str, tmp_path: Path) -> None:
    parts = unzipped(made(PLAIN.format(language="de", price="list_price = 5000"), tmp_path))
    assert leaks(_zipped(parts), ["2704.3719"], OTHERS) == []
    parts[part] += f"<!-- {spelled} -->".encode()
    assert leaks(_zipped(parts), ["2704.3719"], OTHERS) == [f"2704.3719 in {part}"]
    parts[part] += OTHERS[0].encode()
    assert len(leaks(_zipped(parts), ["2704.3719"], OTHERS)) == 2


def _zipped(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        for name, content in parts.items():
            package.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize("language", ["en", "de", "da"])
def test_two_ways_to_one_list_price_give_equal_parts(language: str, tmp_path: Path) -> None:
    """They differ in purchase price and margin only, and end at 5,000."""
    files = [
        made(PLAIN.format(language=language, price=p), tmp_path)
        for p in ("cost = 4000\nmargin = 0.2", "cost = 3000\nmargin = 0.4", "list_price = 5000")
    ]
    assert unzipped(files[0]) == unzipped(files[1]) == unzipped(files[2])


def test_two_books_that_differ_in_prices_give_equal_parts(tmp_path: Path) -> None:
    text = PLAIN.format(language="de", price="list_price = 5000")
    assert unzipped(made(text, tmp_path)) == unzipped(made(text, tmp_path, planted()[0]))


def test_an_offer_has_no_private_field() -> None:
    names = {f.name for c in (offer.Offer, offer.Line) for f in dataclasses.fields(c)}
    assert not names & {"margin", "cost", "low", "high", "purchase"}
    assert (SAMPLES / "seller.toml").read_text(encoding="utf-8").count("margin") == 1
