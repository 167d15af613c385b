"""An edited book, the book of the month before, and what a report says of them; made once."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from edits import Edited
from report_parts import BUYER, HOSTILE, PRICES

from gpuecon_xl.report.content import Report, make_report
from gpuecon_xl.report.figures import SourceBook


def edit(template: Path, folder: Path) -> dict[str, Path]:
    """The template, the book of a month later, and that book with the prices of the month before."""
    out = {"last": template}
    for name in ("now", "tried"):
        e = Edited(template)
        if name == "now":
            for gpu, price in PRICES.items():
                e.put("Prices", gpu, "typical", price)
            e.put("Prices", "L40S", "source", None)
        e.put("Assumptions", "electricity_eur_kwh", "value", 0.23)
        e.put("Assumptions", "as_of", "value", dt.datetime(2026, 12, 31))
        row = e.row("Workloads", "70B int4 single user")
        e.put("Workloads", "13B chat", "buyer", BUYER)
        cell = e.cell("Workloads", row, "workload")
        e.write(cell, HOSTILE)
        cell.data_type = "s"
        out[name] = e.save(folder / f"{name}.xlsx")
    return out


@pytest.fixture(scope="session")
def months(templates: dict[str, Path], once: Callable[..., Any]) -> dict[str, Path]:
    found: dict[str, Path] = once("report_months", lambda folder: edit(templates["en"], folder))
    return found


@pytest.fixture(scope="session")
def now(months: dict[str, Path]) -> SourceBook:
    return SourceBook(months["now"])


@pytest.fixture(scope="session")
def last(months: dict[str, Path]) -> SourceBook:
    return SourceBook(months["last"])


@pytest.fixture(scope="session")
def report(now: SourceBook, last: SourceBook) -> Report:
    return make_report(now, last)


@pytest.fixture(autouse=True)
def _no_record_of_mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a test ends up in the record or the environment of who runs it."""
    for name in list(os.environ):
        if name.startswith("GPUECON_SMTP"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GPUECON_SENT", str(tmp_path / "sent.sqlite"))
