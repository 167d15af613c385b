"""A plan as a workbook: answer and front, the others with the reason why they lost, the winner's steps. Values only.

Here: tables, looks, the chart. Not here: what is said (`words`), figures (`answer`), the live template (`writer`).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import xlsxwriter

from gpuecon_xl import __version__
from gpuecon_xl.files import written_whole
from gpuecon_xl.planning.answer import Plan, Ranked
from gpuecon_xl.planning.question import LIMITS
from gpuecon_xl.planning.words import Words
from gpuecon_xl.quote.layout import lines
from gpuecon_xl.writer import CREATED, TEXT_STAYS_TEXT

_NAVY, _GREY, _HEAD, _LINE, _GREEN, _AMBER = "#17365D", "#595959", "#DCE6F1", "#BFBFBF", "#E3F1E3", "#FBEFD9"
_ORANGE = "#E07B39"
_LINE_HEIGHT = 15.0
# Columns of a build: key, width, format.
_BUILD: tuple[tuple[str, float, str], ...] = (
    ("gpu", 33, "text"), ("gpus", 8, "whole"), ("precision", 10, "text"), ("kv", 7, "text"), ("tp", 10, "whole"), ("pp", 9, "whole"),
    ("replicas", 8, "whole"), ("cost_eur_mtok", 14, "rate"), ("answer_s", 10, "one"), ("ttft_ms", 10, "whole"), ("tpot_ms", 10, "one"),
    ("output_tok_s", 10, "whole"), ("power_w", 11, "whole"), ("outlay_eur", 12, "whole"), ("headroom", 12, "pct"), ("batch_max", 11, "whole"),
)  # fmt: skip
_WHY_WIDTH = 74.0
_STEP_WIDTHS = (30.0, 26.0, 26.0, 18.0, 92.0)
_EQUATION_WIDTH = _STEP_WIDTHS[3] + _STEP_WIDTHS[4]  # an equation stands across the last two columns
_NUMBER = {"text": "@", "whole": "#,##0", "one": "#,##0.0", "rate": "#,##0.000", "pct": "0.0%", "figure": "#,##0.######", "difference": "0.0E+00"}
_FILL = {"winner": _GREEN, "front": _AMBER}


def write_plan(path: Path, plan: Plan, words: Words) -> dict[str, int]:
    """Write the workbook; the file is there whole or not at all.

    Returns
    -------
    counts of sheets, rows and bytes.
    """
    with written_whole(path) as (part,):
        rows = _Sheets(part, plan, words).write()
    return {"sheets": 3, "rows": rows, "bytes": path.stat().st_size}


class _Sheets:
    def __init__(self, path: Path, plan: Plan, words: Words) -> None:
        self.plan, self.say = plan, words
        self.wb = xlsxwriter.Workbook(str(path), TEXT_STAYS_TEXT)
        self.wb.set_properties({"title": self.title(), "author": "gpuecon_xl", "created": CREATED, "comments": f"gpuecon_xl {__version__}"})
        self._formats: dict[tuple[tuple[str, Any], ...], Any] = {}

    def title(self) -> str:
        """The title in words."""
        q = self.plan.question
        return self.say("title", model=str(q.model["model"]), users=self.say.number(q.users))

    def fmt(self, **looks: Any) -> Any:
        """A format, made once."""
        key = tuple(sorted(looks.items()))
        if key not in self._formats:
            self._formats[key] = self.wb.add_format({"font_name": "Calibri", "font_size": 10, "valign": "vcenter", **looks})
        return self._formats[key]

    def write(self) -> int:
        """All three sheets."""
        front, others, steps = (self.wb.add_worksheet(self.say(f"sheet_{key}")) for key in ("plan", "others", "steps"))
        places = self._others(others)
        self._plan(front, places)
        self._steps(steps)
        for ws, repeat in ((front, None), (others, 1), (steps, None)):
            ws.hide_gridlines(2)
            ws.set_landscape()
            ws.set_paper(9)
            ws.fit_to_pages(1, 0)
            ws.set_margins(0.4, 0.4, 0.6, 0.6)
            ws.set_footer("&L&A&R&P / &N")
            ws.set_tab_color(_NAVY)
            if repeat is not None:
                ws.repeat_rows(repeat)
        front.activate()
        self.wb.close()
        return len(self.plan.best_of_each) + len(self.plan.front)

    # ---- parts of a sheet ----

    def _widths(self, ws: Any) -> None:
        for i, (_, width, _) in enumerate(_BUILD):
            ws.set_column(i, i, width)
        ws.set_column(len(_BUILD), len(_BUILD), 7)
        ws.set_column(len(_BUILD) + 1, len(_BUILD) + 1, 20)
        ws.set_column(len(_BUILD) + 2, len(_BUILD) + 2, _WHY_WIDTH)

    def _text(self, ws: Any, row: int, text: str, **looks: Any) -> int:
        """A text over the sheet's width; the next row."""
        ws.merge_range(row, 0, row, len(_BUILD) - 1, text, self.fmt(text_wrap=True, **looks))
        room = sum(width for _, width, _ in _BUILD) * 10 / looks.get("font_size", 10)
        ws.set_row(row, (_LINE_HEIGHT + 1) * lines(text, room, looks.get("bold", False)) * looks.get("font_size", 10) / 10)
        return row + 1

    def _heads(self, ws: Any, row: int, keys: list[tuple[str, str]]) -> int:
        """Head of a table: key of the text, kind."""
        for i, (key, kind) in enumerate(keys):
            looks = self.fmt(
                bold=True,
                bg_color=_HEAD,
                bottom=2,
                bottom_color=_NAVY,
                text_wrap=True,
                align="left" if kind == "text" else "right",
                indent=1 if kind == "text" and i else 0,
            )
            ws.write_string(row, i, self.say(key), looks)
        ws.set_row(row, 3 * _LINE_HEIGHT)
        return row + 1

    def _cell(self, ws: Any, row: int, column: int, value: Any, kind: str, fill: str = "") -> None:
        looks: dict[str, Any] = {"num_format": _NUMBER[kind], "bottom": 4, "bottom_color": _LINE, "align": "left" if kind == "text" else "right"}
        if kind == "text" and column:
            looks["indent"] = 1
        if fill:
            looks["bg_color"] = fill
        if isinstance(value, str):
            ws.write_string(row, column, value, self.fmt(text_wrap=True, **looks))
        elif value is None or not math.isfinite(value):
            ws.write_blank(row, column, None, self.fmt(**looks))
        else:
            ws.write_number(row, column, value, self.fmt(**looks))

    def _builds(self, ws: Any, row: int, entries: list[Ranked]) -> int:
        """A table of builds with rank, standing and reason; the row after it."""
        row = self._heads(ws, row, [*((key, kind) for key, _, kind in _BUILD), ("rank", "whole"), ("status", "text"), ("why", "text")])
        for entry in entries:
            fill = _FILL.get(entry.reason.code, "")
            for i, (key, _, kind) in enumerate(_BUILD):
                self._cell(ws, row, i, getattr(entry.build, key), kind, fill)
            why = self.say.why(entry.reason)
            self._cell(ws, row, len(_BUILD), float(entry.rank) if entry.rank else None, "whole", fill)
            self._cell(ws, row, len(_BUILD) + 1, self.say.status(entry), "text", fill)
            self._cell(ws, row, len(_BUILD) + 2, why, "text", fill)
            ws.set_row(row, _LINE_HEIGHT * lines(why, _WHY_WIDTH))
            row += 1
        return row

    # ---- the sheets ----

    def _plan(self, ws: Any, places: tuple[int, int]) -> None:
        plan, say = self.plan, self.say
        self._widths(ws)
        row = self._text(ws, 0, self.title(), bold=True, font_size=16, font_color=_NAVY)
        row = self._text(ws, row, say.question(plan), font_color=_GREY)
        for i, line in enumerate(say.answer(plan)):
            row = self._text(ws, row, line, font_size=12 if i < 2 else 10, bold=i == 0)
        row = self._title(ws, row + 1, "table_limits")
        head = self.fmt(bold=True, bg_color=_HEAD, bottom=2, bottom_color=_NAVY, align="right")
        ws.write_string(row, 0, say("limit"), self.fmt(bold=True, bg_color=_HEAD, bottom=2, bottom_color=_NAVY))
        for first, key in ((1, "bound"), (4, "has"), (7, "breaks")):
            ws.merge_range(row, first, row, first + 2, say(key), head)
        row += 1
        line = self.fmt(bottom=4, bottom_color=_LINE, align="right")
        for limit in LIMITS:
            if limit.code not in plan.question.limits:
                continue
            ws.write_string(row, 0, say(f"limit_{limit.code}"), self.fmt(bottom=4, bottom_color=_LINE))
            ws.merge_range(row, 1, row, 3, say.limit(limit.code, plan.question.limits[limit.code]), line)
            has = float(plan.candidates.bounded(limit.column)[plan.winner.place])
            ws.merge_range(row, 4, row, 6, say.limit(limit.code, has), line)
            ws.merge_range(row, 7, row, 9, "", line)
            ws.write_number(row, 7, plan.broken_counts[limit.code], self.fmt(bottom=4, bottom_color=_LINE, align="right", num_format="#,##0"))
            row += 1
        row = self._title(ws, row + 1, "table_front")
        first = row + 1
        row = self._builds(ws, row, plan.front)
        self._chart(ws, row + 1, first, row - 1, places)

    def _title(self, ws: Any, row: int, key: str) -> int:
        ws.write_string(row, 0, self.say(key), self.fmt(bold=True, font_size=12, font_color=_NAVY))
        return row + 1

    def _others(self, ws: Any) -> tuple[int, int]:
        """The best of each card and format; first and last row of those that keep the limits."""
        self._widths(ws)
        self._title(ws, 0, "table_others")
        entries = self.plan.best_of_each
        last = self._builds(ws, 1, entries)
        ws.freeze_panes(2, 1)
        ws.autofilter(1, 0, last - 1, len(_BUILD) + 2)
        return 2, 1 + sum(e.rank > 0 for e in entries)

    def _chart(self, ws: Any, row: int, first: int, last: int, others: tuple[int, int]) -> None:
        say = self.say
        chart = self.wb.add_chart({"type": "scatter"})
        time, cost = (next(i for i, c in enumerate(_BUILD) if c[0] == key) for key in ("answer_s", "cost_eur_mtok"))
        for key, sheet, top, bottom, colour, kind, size in (
            ("series_others", "sheet_others", *others, "#9AA5B1", "circle", 5),
            ("series_front", "sheet_plan", first, last, _ORANGE, "diamond", 10),
        ):
            if bottom < top:
                continue
            title = say(sheet)
            chart.add_series({"name": say(key), "categories": [title, top, time, bottom, time], "values": [title, top, cost, bottom, cost],
                              "marker": {"type": kind, "size": size, "fill": {"color": colour}, "border": {"color": colour}}})  # fmt: skip
        chart.set_title({"name": say("chart"), "name_font": {"size": 12}, "overlay": False})
        chart.set_x_axis({"name": say("answer_s"), "num_format": "#,##0", "log_base": 10, "crossing": "min", "major_gridlines": {"visible": False}})
        chart.set_y_axis({"name": say("cost_eur_mtok"), "num_format": "0.##", "log_base": 10, "crossing": "min",
                          "major_gridlines": {"visible": True, "line": {"color": "#E3E3E3"}}})  # fmt: skip
        chart.set_legend({"position": "bottom"})
        chart.set_size({"width": 900, "height": 420})
        ws.insert_chart(row, 0, chart)

    def _steps(self, ws: Any) -> None:
        for i, width in enumerate(_STEP_WIDTHS):
            ws.set_column(i, i, width)
        row = self._title(ws, 0, "table_recheck")
        row = self._heads(ws, row, [("quantity", "text"), ("searched", "number"), ("by_function", "number"), ("difference", "number")])
        for name, (found, by_function) in self.plan.recheck().items():
            self._cell(ws, row, 0, name, "text")
            self._cell(ws, row, 1, found, "figure")
            self._cell(ws, row, 2, by_function, "figure")
            self._cell(ws, row, 3, found - by_function, "difference")
            row += 1
        row = self._title(ws, row + 1, "table_steps")
        row = self._heads(ws, row, [("quantity", "text"), ("value", "number"), ("unit", "text"), ("equation", "text")])
        ws.write_blank(row - 1, len(_STEP_WIDTHS) - 1, None, self.fmt(bg_color=_HEAD, bottom=2, bottom_color=_NAVY))
        for name, value, unit, equation in self.plan.steps():
            self._cell(ws, row, 0, name, "text")
            self._cell(ws, row, 1, value if isinstance(value, str) else float(value), "text" if isinstance(value, str) else "figure")
            self._cell(ws, row, 2, unit, "text")
            ws.merge_range(row, 3, row, 4, equation, self.fmt(text_wrap=True, bottom=4, bottom_color=_LINE))
            ws.set_row(row, _LINE_HEIGHT * lines(equation, _EQUATION_WIDTH))
            row += 1
