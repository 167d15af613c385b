"""Money of an offer: decimal, half up, each printed amount rounded once.

Here: amounts of lines and totals. Not here: what a line costs to buy (`offer`), rates of VAT (`vat`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal

_CENT = Decimal("0.01")
_WIDE = Context(prec=50, rounding=ROUND_HALF_UP)


def cents(value: Decimal) -> Decimal:
    """A sum to the cent, half up (away from zero)."""
    return value.quantize(_CENT, ROUND_HALF_UP, _WIDE)


def list_price(cost: Decimal, margin: Decimal) -> Decimal:
    """The selling price whose share `margin` is left after the purchase price, to the cent."""
    return cents(_WIDE.divide(cost, 1 - margin))


def amount(quantity: Decimal, price: Decimal, discount: Decimal) -> Decimal:
    """The amount of a line: rounded here, once."""
    return cents(_WIDE.multiply(_WIDE.multiply(quantity, price), 1 - discount))


@dataclass(frozen=True)
class Totals:
    """Sums of an offer; they add up to the printed cent."""

    subtotal: Decimal
    discount: Decimal
    net: Decimal
    vat: Decimal
    gross: Decimal


def totals(amounts: Sequence[Decimal], discount: Decimal, rate: Decimal) -> Totals:
    """Sums of lines that are rounded already."""
    subtotal = sum(amounts, Decimal("0.00"))
    less = cents(_WIDE.multiply(subtotal, discount))
    net = subtotal - less
    tax = cents(_WIDE.multiply(net, rate))
    return Totals(subtotal, less, net, tax, net + tax)
