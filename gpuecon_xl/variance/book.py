"""The workbook of a variance: what came of it, every changed input, every effect, a waterfall for each workload; values only.

Here: XlsxWriter. Not here: figures (`attribution`), words (`words`). The same variance gives the same bytes.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuecon_xl.variance.attribution import Variance, WorkloadVariance
from gpuecon_xl.variance.words import Words, decimals_of
from gpuecon_xl.writer import book_of_values

_NAVY, _GREY, _RED, _GREEN, _LINE = "#17365D", "#595959", "#E3A29E", "#93C7A2", "#E3E3E3"
_COST, _SIGNED, _SHARE = "#,##0.0000", "+#,##0.0000;-#,##0.0000;0", "+0.0%;-0.0%;0.0%"
_ZERO = '"0";"0";"0"'  # also for the last digits of a calculation
MOST_BARS = 10  # effects of a waterfall that stand alone; smaller ones are one bar
BLOCK_ROWS = 24  # of one waterfall on its sheet
BLOCKS_PAGE = 2  # waterfalls of a printed page
CUT_ABOVE = 4  # the axis begins at 0 unless the bars move within less than this part of it


def write_variance(path: Path, found: Variance, words: Words) -> None:
    """Write the workbook beside its place and move it there when it is whole."""
    with book_of_values(path) as book:
        _Book(book, found, words).write()


@dataclass(frozen=True)
class Bar:
    """A bar of a waterfall: its label, where it begins and ends; a total begins at 0."""

    label: str
    begins: float
    ends: float
    total: bool = False


def waterfall(found: Variance, workload: WorkloadVariance, words: Words) -> list[Bar]:
    """Bars from the cost before to the cost after: effects in their order, the smaller ones together at the end."""
    if workload.cost_old_eur_mtok is None or workload.cost_new_eur_mtok is None:
        return []
    moved = workload.moved()
    by_size = sorted(moved, key=lambda number: -abs(moved[number]))
    alone = frozenset(by_size if len(by_size) <= MOST_BARS else by_size[: MOST_BARS - 1])
    parts = [(f"{n}  {words.step(found.steps[n - 1])}", e) for n, e in moved.items() if n in alone]
    small = [e for n, e in moved.items() if n not in alone]
    if small:
        parts.append((words("others", count=str(len(small))), math.fsum(small)))
    bars = [Bar(words("before_all"), 0.0, workload.cost_old_eur_mtok, True)]
    sums = [workload.cost_old_eur_mtok]
    for label, effect in parts:
        begins = math.fsum(sums)
        sums.append(effect)
        bars.append(Bar(label, begins, math.fsum(sums)))
    return [*bars, Bar(words("after_all"), 0.0, workload.cost_new_eur_mtok, True)]


class _Book:
    def __init__(self, book: Any, found: Variance, words: Words) -> None:
        self.book, self.found, self.w = book, found, words
        self._looks: dict[str, Any] = {}
        changed = [w for w in found.workloads if w.changed]
        self.changed = sorted(changed, key=lambda w: -abs(w.share or 0.0))
        self.ws: Any = None
        self.row = 0

    def look(self, number: str = "General", **more: Any) -> Any:
        key = repr((number, sorted(more.items())))
        if key not in self._looks:
            base = {"font_name": "Calibri", "font_size": 10, "num_format": number, "valign": "top"}
            self._looks[key] = self.book.add_format({**base, **more})
        return self._looks[key]

    def sheet(self, key: str, widths: tuple[int, ...], title: str) -> None:
        self.ws = self.book.add_worksheet(self.w(key))
        self.ws.hide_gridlines(2)
        for c, width in enumerate(widths):
            self.ws.set_column(c, c, width)
        self.ws.set_row(0, 26)
        self.ws.write_string(0, 0, title, self.look(bold=True, font_size=16, font_color=_NAVY))
        self.ws.set_landscape()
        self.ws.set_paper(9)
        self.ws.fit_to_pages(1, 0)
        self.ws.set_footer("&L&9&F&C&9&A&R&9&P / &N")
        self.row = 1

    def line(self, text: str, columns: int, lines: int = 1, **more: Any) -> None:
        """A sentence over several columns."""
        self.ws.merge_range(self.row, 0, self.row, columns - 1, "", self.look(text_wrap=True, **more))
        self.ws.write_string(self.row, 0, text, self.look(text_wrap=True, **more))
        self.ws.set_row(self.row, 14 * lines)
        self.row += 1

    def head(self, texts: list[str], left: int, lines: int = 1) -> None:
        self.ws.set_row(self.row, 14 * lines)
        for c, text in enumerate(texts):
            self.ws.write_string(self.row, c, text, self.look(bold=True, bg_color="#DCE6F1", align="left" if c < left else "right", text_wrap=True))
        self.row += 1

    def put(self, column: int, value: Any, number: str = "General", /, **more: Any) -> None:
        """A value into a cell of the row; what a person typed stays text."""
        if isinstance(value, bool) or value is None or value == "":
            return
        if isinstance(value, int | float):
            self.ws.write_number(self.row, column, value, self.look(number, **more))
        elif isinstance(value, dt.date):
            self.ws.write_datetime(self.row, column, dt.datetime(value.year, value.month, value.day), self.look("yyyy-mm-dd", **more))
        else:
            self.ws.write_string(self.row, column, str(value), self.look(**more))

    def write(self) -> None:
        self.result()
        self.inputs()
        self.effects()
        self.waterfalls()
        self.book.get_worksheet_by_name(self.w("sheet")).activate()

    def result(self) -> None:
        w, found = self.w, self.found
        self.sheet("sheet", (28, 12, 12, 12, 10, 26, 26, 62, 10), w("title"))
        self.line(w.summary(found), 9, 2)
        for key, lines in (("unit", 1), ("order", 2), ("rest_is", 1), ("gap", 1), ("values", 1)):
            self.line(w(key), 9, lines, italic=True, font_color=_GREY)
        self.row += 1
        self.head([w(k) for k in ("workload", "cost_old", "cost_new", "change", "share", "build_old", "build_new", "by", "rest")], 1)
        self.ws.freeze_panes(self.row, 1)
        for x in found.workloads:
            strong: dict[str, Any] = {"bold": True} if x.build_old != x.build_new else {}
            self.put(0, x.workload, **strong)
            for c, (value, number) in enumerate(((x.cost_old_eur_mtok, _COST), (x.cost_new_eur_mtok, _COST), (x.change, _SIGNED),
                                                 (x.share, _SHARE)), start=1):  # fmt: skip
                self.put(c, "—" if value is None else value, number, align="right")
            self.put(5, w.build(x.build_old), align="right")
            self.put(6, w.build(x.build_new), align="right", **strong)
            self.put(7, w.flips(x.flips), align="right", text_wrap=True)
            self.put(8, "—" if x.rest is None else x.rest, "0.0000", align="right")
            self.row += 1
        self.row += 1
        for x in found.workloads:
            if x.build_old != x.build_new:
                self.line(w.flipped(found, x), 9)
        if found.warnings:
            self.row += 1
            self.line(w("warnings"), 9, bold=True)
        for warning in found.warnings:
            self.line(warning, 9, font_color=_GREY)

    def inputs(self) -> None:
        w = self.w
        self.sheet("sheet_changes", (6, 16, 16, 30, 22, 24, 24, 14, 10, 60, 11), w("sheet_changes"))
        self.row += 1
        self.head([w(k) for k in ("number", "sheet_head", "table", "row", "column", "old", "new", "unit_head", "share", "source", "as_of")], 5)
        self.ws.freeze_panes(self.row, 1)
        for step in self.found.steps:
            for change in step.changes:
                for cell in change.cells or (None,):
                    self.put(0, step.number, align="left")
                    self.put(1, w.texts(f"sheet.{change.sheet}"))
                    self.put(2, change.table)
                    self.put(3, change.row or w("moved"))
                    if cell is not None:
                        old = w("row_new") if change.kind == "new" else w("blank") if cell.old in (None, "") else cell.old
                        new = w("row_gone") if change.kind == "gone" else w("blank") if cell.new in (None, "") else cell.new
                        self.put(4, cell.column)
                        self.put(5, old, align="right", text_wrap=True)
                        self.put(6, new, align="right", text_wrap=True)
                        self.put(7, cell.unit, font_color=_GREY, align="right")
                        self.put(8, cell.share, _SHARE, align="right")
                    self.put(9, change.source, text_wrap=True, indent=1)
                    self.put(10, change.as_of)
                    self.row += 1

    def effects(self) -> None:
        w, found = self.w, self.found
        self.sheet("sheet_effects", (6, 46, *(13 for _ in found.workloads)), w("sheet_effects"))
        for key in ("unit", "order", "gap"):
            self.ws.write_string(self.row, 0, w(key), self.look(italic=True, font_color=_GREY))
            self.row += 1
        self.row += 1
        self.head([w("number"), w("what"), *(x.workload for x in found.workloads)], 2, 3)
        self.ws.freeze_panes(self.row, 2)
        moved = [x.moved() for x in found.workloads]
        self._costs(w("before_all"), [x.cost_old_eur_mtok for x in found.workloads])
        for i, step in enumerate(found.steps):
            self.put(0, step.number, align="left")
            self.put(1, w.step(step))
            for c, x in enumerate(found.workloads, start=2):
                effect = x.effects[i]
                if step.number in moved[c - 2]:
                    self.put(c, effect, _SIGNED, align="right")
                else:
                    self.put(c, "—" if effect is None else effect, _ZERO, align="right", font_color=_GREY)
            self.row += 1
        self.put(1, w("rest"))
        for c, x in enumerate(found.workloads, start=2):
            self.put(c, "—" if x.rest is None else x.rest, _SIGNED, align="right")
        self.row += 1
        self._costs(w("after_all"), [x.cost_new_eur_mtok for x in found.workloads])

    def _costs(self, label: str, costs: list[float | None]) -> None:
        self.put(1, label, bold=True, top=1)
        for c, cost in enumerate(costs, start=2):
            self.put(c, "—" if cost is None else cost, _COST, bold=True, top=1, align="right")
        self.row += 1

    def waterfalls(self) -> None:
        shown = [(x, bars) for x in self.changed if (bars := waterfall(self.found, x, self.w))]
        if not shown:
            return
        w = self.w
        self.sheet("sheet_waterfalls", (44, 12, 12, 12, 12, 3), w("sheet_waterfalls"))
        self.line(w("unit"), 5, italic=True, font_color=_GREY)
        breaks = []
        for x, bars in shown:
            self.row += 1
            top = self.row
            breaks.append(top)
            self.ws.write_string(self.row, 0, x.workload, self.look(bold=True, font_size=12, font_color=_NAVY))
            self.row += 1
            self.head([w("axis"), w("base"), w("cost"), w("dearer"), w("cheaper")], 1)
            first = self.row
            for bar in bars:
                self.put(0, bar.label)
                if bar.total:
                    self.put(2, bar.ends, _COST)
                else:
                    self.put(1, min(bar.begins, bar.ends), _COST, font_color=_GREY)
                    self.put(3 if bar.ends > bar.begins else 4, abs(bar.ends - bar.begins), _COST)
                self.row += 1
            self.chart(top, first, x, bars)
            self.row = max(self.row, top + BLOCK_ROWS)
        self.ws.set_h_pagebreaks(breaks[BLOCKS_PAGE::BLOCKS_PAGE])

    def chart(self, top: int, first: int, workload: WorkloadVariance, bars: list[Bar]) -> None:
        w, name, last = self.w, self.w("sheet_waterfalls"), first + len(bars) - 1
        levels = [v for b in bars for v in ((b.ends,) if b.total else (b.begins, b.ends))]
        low, high = min(levels), max(levels)
        digits = "0" * decimals_of(high)
        plain = "0" + (f".{digits}" if digits else "")
        chart = self.book.add_chart({"type": "column", "subtype": "stacked"})
        for column, colour, number in ((1, None, ""), (2, _NAVY, plain), (3, _RED, f"+{plain}"), (4, _GREEN, f"\\-{plain}")):
            series = {"name": [name, first - 1, column], "categories": [name, first, 0, last, 0], "values": [name, first, column, last, column],
                      "gap": 40, "fill": {"none": True} if colour is None else {"color": colour}}  # fmt: skip
            if colour is not None:
                white = column == 2
                font = {"size": 8, "color": "#FFFFFF" if white else "#000000"}
                series["data_labels"] = {"value": True, "num_format": number, "font": font, "position": "inside_end" if white else "inside_base"}
            chart.add_series(series)
        small = {"num_font": {"size": 8}, "name_font": {"size": 9, "bold": False}}
        cut = high - low < low / CUT_ABOVE and high > low
        axis: dict[str, Any] = {"name": w.texts("axis.eur_mtok") + (f". {w('axis_cut')}" if cut else ""), "num_format": plain,
                                "major_gridlines": {"visible": True, "line": {"color": _LINE}}, **small}  # fmt: skip
        if cut:
            grain = 10.0 ** math.floor(math.log10(high - low))
            axis["min"] = math.floor((low - (high - low)) / grain) * grain
        chart.set_x_axis({"name": w("axis"), **small})
        chart.set_y_axis(axis)
        title = w("chart", workload=workload.workload)
        chart.set_title({"name": title, "name_font": {"size": 12, "bold": True, "color": _NAVY}, "overlay": False})
        chart.set_legend({"position": "bottom", "delete_series": [0], "font": {"size": 9}})
        chart.set_size({"width": 900, "height": 440})
        self.ws.insert_chart(top, 6, chart, {"object_position": 3, "description": title})
