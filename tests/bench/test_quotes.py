"""Quotes as ratios: against the same workbook written by plain XlsxWriter code, and by openpyxl; memory over many.

`GPUECON_BENCH_QUOTES=1000 pytest tests/bench/test_quotes.py -s` makes a thousand; without it a few dozen.
"""

from __future__ import annotations

import copy
import csv
import datetime as dt
import gc
import io
import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

from gpuecon_xl.catalog import shipped
from gpuecon_xl.quote import book, many, offer, source
from gpuecon_xl.quote.seller import read_seller

SAMPLES = Path(__file__).parents[1] / "quotes"
COUNT = int(os.environ.get("GPUECON_BENCH_QUOTES", "40"))
PLAIN_LIMIT, OPENPYXL_LIMIT = 1.5, 2.0
HEAD = (
    "language",
    "date",
    "customer.name",
    "customer.city",
    "customer.country",
    "line1.gpu",
    "line1.count",
    "line1.list_price",
    "line2.item",
    "line2.quantity",
    "line2.list_price",
    "line3.item",
    "line3.list_price",
    "economics.model",
    "economics.precision",
    "economics.electricity_kwh",
    "economics.cloud_hour",
    "economics.api",
)


def rows(count: int) -> list[tuple[str, ...]]:
    return [
        (
            ("de", "da", "en")[i % 3],
            "2026-12-01",
            f"Kunde {i}",
            "Ort",
            "DE",
            ("L4", "RTX 5090", "L40S")[i % 3],
            str(1 + i % 4),
            f"{3000 + i}.50",
            "Montage",
            "1.5",
            "99.99",
            "Fracht",
            "120.00",
            "Llama 3.1 8B",
            "fp8",
            f"0.{20 + i % 15}",
            "0.4",
            "Gemini 3.8 Flash",
        )
        for i in range(count)
    ]


class Recorder:
    """Stands for a workbook, a sheet, a format or a chart, and notes what is called on it."""

    def __init__(self, calls: list[tuple[Any, ...]], real: Any, name: int) -> None:
        self._calls, self._real, self._name = calls, real, name

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            plain = [a._real if isinstance(a, Recorder) else a for a in args]
            got = getattr(self._real, method)(*plain, **more)
            keep = [("ref", a._name) if isinstance(a, Recorder) else copy.deepcopy(a) for a in args]
            made = len(self._calls)
            self._calls.append((self._name, method, keep, copy.deepcopy(more)))
            return Recorder(self._calls, got, made) if method.startswith("add_") else got

        return call


def recorded(made: offer.Offer) -> list[tuple[Any, ...]]:
    """Every call of XlsxWriter that makes the workbook of an offer."""
    calls: list[tuple[Any, ...]] = []
    recorder: Any = Recorder(calls, xlsxwriter.Workbook(io.BytesIO(), book.options()), -1)
    book._Book(made, recorder).write()
    return calls


def plain_code(calls: list[tuple[Any, ...]]) -> bytes:
    """The same calls, one after the other, as somebody would write them for this one file."""
    out = io.BytesIO()
    things: dict[int, Any] = {-1: xlsxwriter.Workbook(out, book.options())}
    for i, (on, method, args, more) in enumerate(calls):
        real = [things[a[1]] if isinstance(a, tuple) and len(a) == 2 and a[0] == "ref" else a for a in args]
        things[i] = getattr(things[on], method)(*real, **more)
    return out.getvalue()


def by_openpyxl(content: bytes) -> Callable[[], None]:
    """Writes the same cells, looks and charts by openpyxl."""
    from openpyxl.chart import BarChart, LineChart, Reference
    from openpyxl.styles import Alignment, Border, Font, PatternFill, Protection, Side

    loaded = openpyxl.load_workbook(io.BytesIO(content))
    sheets = []
    for ws in loaded.worksheets:
        cells = []
        for line in ws.iter_rows():
            for c in line:
                if c.value is not None or c.has_style:
                    look = (
                        c.font.b,
                        c.font.sz,
                        c.font.color.rgb if c.font.color else None,
                        c.fill.fgColor.rgb,
                        c.fill.fill_type,
                        c.border.bottom.style,
                        c.border.top.style,
                        c.alignment.horizontal,
                        c.alignment.vertical,
                        c.alignment.wrap_text,
                        c.number_format,
                        c.protection.locked,
                    )
                    cells.append((c.row, c.column, c.value, look))
        heights = {k: d.height for k, d in ws.row_dimensions.items() if d.height}
        widths = {k: d.width for k, d in ws.column_dimensions.items()}
        sheets.append((ws.title, cells, heights, widths, [str(m) for m in ws.merged_cells.ranges]))
    names = {n: d.attr_text for n, d in loaded.defined_names.items()}

    def write() -> None:
        wb = openpyxl.Workbook()
        wb.remove(wb.active)
        styles: dict[Any, tuple[Any, ...]] = {}
        for title, cells, heights, widths, merged in sheets:
            ws = wb.create_sheet(title)
            for r, c, value, look in cells:
                cell = ws.cell(r, c, value)
                made = styles.get(look)
                if made is None:
                    bold, size, colour, ground, fill, bottom, top, across, down, wrap, pattern, locked = look
                    made = styles[look] = (
                        Font(name="Arial", b=bold, sz=size, color=colour if isinstance(colour, str) else None),
                        PatternFill(fill, fgColor=ground if isinstance(ground, str) else "FFFFFFFF"),
                        Border(bottom=Side(bottom), top=Side(top)),
                        Alignment(horizontal=across, vertical=down, wrap_text=wrap),
                        pattern,
                        Protection(locked=locked),
                    )
                cell.font, cell.fill, cell.border, cell.alignment, cell.number_format, cell.protection = made
            for k, height in heights.items():
                ws.row_dimensions[k].height = height
            for k, wide in widths.items():
                ws.column_dimensions[k].width = wide
            for area in merged:
                ws.merge_cells(area)
        for n, text in names.items():
            wb.defined_names[n] = openpyxl.workbook.defined_name.DefinedName(n, attr_text=text)
        basis = wb.worksheets[-1]
        for kind in (LineChart, BarChart):
            chart = kind()
            chart.add_data(Reference(basis, min_col=2, min_row=40, max_col=4, max_row=50), titles_from_data=True)
            wb.worksheets[1].add_chart(chart, "A40")
        wb.save(io.BytesIO())

    return write


def best(call: Callable[[], Any], times: int) -> float:
    """Shortest processor time: neighbours on the machine do not count."""
    found = []
    for _ in range(times):
        gc.collect()
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


def test_against_plain_code_and_openpyxl(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seller, catalog = read_seller(SAMPLES / "seller.toml"), shipped()
    sources = [source.Source("t", many.source._tree(list(HEAD), list(r)), row=i + 2) for i, r in enumerate(rows(12))]
    offers = [offer.make(s, seller, catalog, dt.date(2026, 12, 1)).numbered(f"A-{i}") for i, s in enumerate(sources)]
    calls = [recorded(o) for o in offers]
    files = [book.workbook(o) for o in offers]
    assert [plain_code(c) for c in calls] == files  # the same files, byte for byte
    other = [by_openpyxl(f) for f in files]

    def ours() -> None:
        for i, s in enumerate(sources):
            book.workbook(offer.make(s, seller, catalog, dt.date(2026, 12, 1)).numbered(f"A-{i}"))

    times = 3
    mine = best(ours, times)
    plain = best(lambda: [plain_code(c) for c in calls], times)
    openpyxl_time = best(lambda: [w() for w in other], times)
    with capsys.disabled():
        print(f"\n  quote: {mine / plain:.2f} times plain XlsxWriter code, {openpyxl_time / mine:.2f} times as fast as openpyxl, {mine / 12:.3f} s")
    assert mine / plain <= PLAIN_LIMIT
    assert openpyxl_time / mine >= OPENPYXL_LIMIT


def _peak_kib() -> int:
    """The most memory that this process and its workers, each, ever had."""
    import resource

    workers = [Path(f"/proc/{child.pid}/status") for child in multiprocessing.active_children()]
    notes = [line for path in workers if path.exists() for line in path.read_text().splitlines() if line.startswith("VmHWM:")]
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + sum(int(note.split()[1]) for note in notes)


def test_many_and_their_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole run, with reading, numbering, log and summary; memory does not grow with the number of quotes."""
    pytest.importorskip("resource")
    path, out = tmp_path / "r.csv", tmp_path / "out"
    out.mkdir()
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEAD, *rows(COUNT)])
    seller, catalog = read_seller(SAMPLES / "seller.toml"), shipped()
    seen: list[tuple[int, int]] = []
    start = time.perf_counter()
    done = many.run(
        path, out, seller, catalog, "", dt.date(2026, 12, 1), workers=1 if COUNT < 200 else None, tell=lambda n, _: seen.append((n, _peak_kib()))
    )
    took = time.perf_counter() - start
    assert (done.written, len(done.failed)) == (COUNT, 0)
    half = next(kib for n, kib in seen if n >= COUNT // 2)
    with capsys.disabled():
        print(f"\n  {COUNT} quotes: {COUNT / took:.0f} a second, peak {seen[-1][1] // 1024} MiB, at half {half // 1024} MiB")
    assert seen[-1][1] <= half * 1.15 + 4096
    again = time.perf_counter()
    assert many.run(path, out, seller, catalog, "", dt.date(2026, 12, 1), workers=1).unchanged == COUNT
    assert time.perf_counter() - again < took
