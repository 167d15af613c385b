"""What the tests of the report plant in books, to be found again or never."""

from __future__ import annotations

PRICES = {"L4": 2477.77, "RTX 5090": 3333.33, "L40": 6111.11}  # planted: they must not leave the house
BUYER = "Nordlicht Klinik Fjordvik"  # planted: another customer
HOSTILE = '=<b>Überlast & "Æblegård"</b> مرحبا'
