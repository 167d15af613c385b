"""Quotes made for tests, and their files taken apart."""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpuecon_xl.catalog import Catalog, shipped
from gpuecon_xl.errors import GpueconError
from gpuecon_xl.quote import book, offer, source
from gpuecon_xl.quote.seller import Seller, read_seller

SAMPLES = Path(__file__).parents[1] / "quotes"
REQUESTS = sorted(p for p in SAMPLES.glob("*.toml") if p.name != "seller.toml")
TODAY = dt.date(2026, 12, 1)

PLAIN = """
number = "X-1"
language = "{language}"
date = 2026-12-01
[customer]
name = "Probe GmbH"
country = "DE"
[[line]]
gpu = "L4"
count = 2
{price}
[economics]
model = "Llama 3.1 8B"
precision = "fp8"
cloud_hour = 0.4
"""


@lru_cache(maxsize=1)
def seller() -> Seller:
    return read_seller(SAMPLES / "seller.toml")


@lru_cache(maxsize=32)
def sample(path: Path) -> offer.Offer:
    return offer.make(source.read(path), seller(), shipped(), TODAY)


@lru_cache(maxsize=32)
def sample_file(path: Path) -> bytes:
    return book.workbook(sample(path))


def made(text: str, folder: Path, catalog: Catalog | None = None, name: str = "request.toml") -> bytes:
    """The workbook of a request given as text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return book.workbook(offer.make(source.read(path), seller(), catalog or shipped(), TODAY))


def refusal(text: str, folder: Path, name: str = "request.toml") -> list[str]:
    """What is wrong with a request given as text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    try:
        offer.make(source.read(path), seller(), shipped(), TODAY)
    except GpueconError as error:
        return list(getattr(error, "problems", [])) or [str(error)]
    return []


def unzipped(content: bytes) -> dict[str, bytes]:
    """Parts of a file by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        return {n: package.read(n) for n in package.namelist()}


def spellings(number: float | str) -> set[str]:
    """A sum as any locale or program may write it, as patterns for what stands alone."""
    text = f"{float(number):.10f}".rstrip("0").rstrip(".")
    whole, _, part = text.partition(".")
    out = set()
    grouped = re.sub(r"(?<=\d)(?=(\d{3})+$)", "#", whole)
    for group in ("", ",", ".", " ", "\u00a0", "\u202f", "'", "\u2019"):
        for decimal in (".", ","):
            if group == decimal:
                continue
            for digits in {part, part[:2], part.ljust(2, "0")[:2]} if part else {""}:
                out.add(grouped.replace("#", group) + (decimal + digits if digits else ""))
    return out


def leaks(content: bytes, numbers: Iterable[float | str], texts: Iterable[str]) -> list[str]:
    """Where one of the planted numbers or texts stands in any part of a file."""
    found = []
    wanted = [(str(n), _pattern(n)) for n in numbers]
    for name, raw in unzipped(content).items():
        for text in {raw.decode("utf-8", "ignore"), raw.decode("utf-16-le", "ignore")}:
            found += [f"{n} in {name}" for n, pattern in wanted if pattern.search(text)]
            said = text.replace("pageMargins", "").lower()  # an element of every sheet
            found += [f"{t!r} in {name}" for t in texts if t.lower() in said]
    return found


def leaks_of_text(text: str, numbers: Iterable[float | str], texts: Iterable[str]) -> list[str]:
    """The planted numbers and texts that stand in a text."""
    return [str(n) for n in numbers if _pattern(n).search(text)] + [t for t in texts if t.lower() in text.lower()]


def _pattern(number: float | str) -> re.Pattern[str]:
    return re.compile("|".join(rf"(?<![\d.,]){re.escape(s)}(?!\d)" for s in sorted(spellings(number))))


def cells(content: bytes, formulas: bool = False) -> dict[str, dict[str, Any]]:
    """Values (or formulas) of a file, by sheet and cell."""
    import openpyxl

    wb = openpyxl.load_workbook(io.BytesIO(content), data_only=not formulas)
    return {ws.title: {c.coordinate: c.value for row in ws.iter_rows() for c in row if c.value is not None} for ws in wb.worksheets}
