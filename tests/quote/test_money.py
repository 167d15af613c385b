"""Totals against a calculation of their own, to the cent."""

from __future__ import annotations

import random
import re
import tomllib
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest
from quote_parts import REQUESTS, cells, sample, sample_file

from gpuecon_xl.quote import money

RATE = {"DE": "0.19", "DK": "0.25"}


def half_up(x: Decimal) -> Decimal:
    return x.quantize(Decimal("0.01"), ROUND_HALF_UP)


def share(value: object) -> Decimal:
    text = str(value or 0).replace(",", ".")
    return Decimal(text.strip(" %")) / 100 if "%" in text else Decimal(text)


@pytest.mark.parametrize("path", REQUESTS, ids=lambda p: p.stem)
def test_totals_of_samples(path: Path) -> None:
    """From the request's own text: lines with a list price are computed here, for others the unit price is read from the letter."""
    tree = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    letter = next(iter(cells(sample_file(path)).values()))
    rows = [r for r in range(1, 400) if isinstance(letter.get(f"A{r}"), int) and f"G{r}" in letter]
    assert len(rows) == len(tree["line"])
    subtotal = Decimal(0)
    for r, line in zip(rows, tree["line"], strict=True):
        price = Decimal(str(line["list_price"])) if "list_price" in line else Decimal(str(letter[f"E{r}"]))
        amount = half_up(Decimal(str(line.get("quantity", 1))) * price * (1 - share(line.get("discount"))))
        assert half_up(Decimal(str(letter[f"E{r}"]))) == price
        assert half_up(Decimal(str(letter[f"G{r}"]))) == amount
        subtotal += amount
    net = subtotal - half_up(subtotal * share(tree.get("discount")))
    rate = Decimal(RATE["DK" if tree.get("seller") else "DE"]) if tree.get("vat", "domestic") == "domestic" else Decimal(0)
    tax = half_up(net * rate)
    sums = [half_up(Decimal(str(letter[f"G{r}"]))) for r in range(rows[-1] + 1, rows[-1] + 12) if f"G{r}" in letter]
    expected = [subtotal, -half_up(subtotal * share(tree.get("discount")))] if tree.get("discount") else []
    assert sums == [*expected, net, tax, net + tax]
    t = sample(path).totals
    assert (t.net, t.vat, t.gross) == (net, tax, net + tax)


def test_rounding_is_half_up_on_decimals() -> None:
    assert money.cents(Decimal("1.005")) == Decimal("1.01")
    assert money.cents(Decimal("2.675")) == Decimal("2.68")
    assert money.cents(Decimal("-1.005")) == Decimal("-1.01")
    assert money.amount(Decimal("0.5"), Decimal("0.01"), Decimal(0)) == Decimal("0.01")
    assert money.list_price(Decimal("2704.3719"), Decimal("0.18")) == Decimal("3298.01")


def test_totals_add_up() -> None:
    dice = random.Random(4)
    for _ in range(2000):
        amounts = [
            money.amount(Decimal(dice.randrange(1, 90)) / 8, Decimal(dice.randrange(0, 10**7)) / 100, Decimal(dice.randrange(0, 1000)) / 1000)
            for _ in range(dice.randrange(1, 40))
        ]
        t = money.totals(amounts, Decimal(dice.randrange(0, 500)) / 10000, Decimal("0.255"))
        assert t.subtotal == sum(amounts)
        assert t.subtotal - t.discount == t.net
        assert t.net + t.vat == t.gross
        assert all(re.fullmatch(r"-?\d+\.\d\d", str(x)) for x in (t.subtotal, t.discount, t.net, t.vat, t.gross))
