"""The workbook of dated prices: a table of them, and a chart for each card that has at least two dates; values only.

Here: XlsxWriter. Not here: the rows (`history`). The same rows give the same bytes.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from gpuecon_xl.catalog import Row
from gpuecon_xl.lang import Texts
from gpuecon_xl.provenance.history import COLUMNS, courses
from gpuecon_xl.writer import book_of_values

_NAVY, _GREY = "#17365D", "#595959"
_WIDTHS = {"gpu": 34, "channel": 22, "source": 60}
_PRICES = ("low", "typical", "high")
_COLOURS = {"low": "#5B9A68", "typical": "#1F4E79", "high": "#E07B39"}
_CHART_ROWS = 19  # a chart's height and a gap


def write_history(path: Path, rows: list[Row], texts: Texts) -> int:
    """Write the workbook beside its place and move it there when it is whole; the number of charts."""
    with book_of_values(path) as book:
        _write(book, rows, texts)
    return len(courses(rows))


def _write(book: Any, rows: list[Row], texts: Texts) -> None:
    def look(number: str = "General", **more: Any) -> Any:
        return book.add_format({"font_name": "Calibri", "font_size": 10, "num_format": number, "valign": "top", **more})

    title = texts("history.sheet")
    ws = book.add_worksheet(title)
    ws.hide_gridlines(2)
    ws.set_row(0, 26)
    ws.write_string(0, 0, texts("history.title"), look(bold=True, font_size=18, font_color=_NAVY))
    ws.write_string(1, 0, texts("history.how"), look(italic=True, font_color=_GREY))
    drawn = courses(rows)
    top = 3
    for number, (card, currency) in enumerate(drawn):
        at = [n for n, r in enumerate(rows) if (r["gpu"], r["currency"]) == (card, currency)]
        first = top + _CHART_ROWS * len(drawn) + 1
        ws.insert_chart(top + _CHART_ROWS * number, 0, _chart(book, texts, title, card, currency, first + at[0], first + at[-1]),
                        {"object_position": 3, "x_offset": 8, "y_offset": 4, "description": card})  # fmt: skip
    header = top + _CHART_ROWS * len(drawn)
    heads, money, day, words = look(bold=True, bg_color="#DCE6F1"), look("#,##0"), look("yyyy-mm-dd", align="left"), look(text_wrap=True)
    for c, column in enumerate(COLUMNS):
        ws.set_column(c, c, _WIDTHS.get(column, 12))
        ws.write_string(header, c, texts(f"label.{column}"), heads)
        for r, row in enumerate(rows):
            value = row[column]
            if value is None:
                continue
            if column in _PRICES:
                ws.write_number(header + 1 + r, c, value, money)
            elif isinstance(value, dt.date):
                ws.write_datetime(header + 1 + r, c, dt.datetime(value.year, value.month, value.day), day)
            else:
                ws.write_string(header + 1 + r, c, str(value), words)
    ws.freeze_panes(3, 1)
    ws.set_landscape()
    ws.set_paper(9)
    ws.fit_to_pages(1, 0)
    ws.set_footer("&L&9&F&R&9&P / &N")


def _chart(book: Any, texts: Texts, sheet: str, card: str, currency: str, first: int, last: int) -> Any:
    chart = book.add_chart({"type": "scatter", "subtype": "straight_with_markers"})
    dates = COLUMNS.index("as_of")
    for column in _PRICES:
        at = COLUMNS.index(column)
        chart.add_series({"name": texts(f"label.{column}"), "categories": [sheet, first, dates, last, dates], "values": [sheet, first, at, last, at],
                          "line": {"color": _COLOURS[column], "width": 2}, "marker": {"type": "circle", "size": 6,
                          "fill": {"color": _COLOURS[column]}, "border": {"color": _COLOURS[column]}}})  # fmt: skip
    small = {"num_font": {"size": 9}, "name_font": {"size": 9, "bold": False}}
    chart.set_x_axis({"name": texts("label.as_of"), "num_format": "yyyy-mm", **small})
    chart.set_y_axis({"name": f"{currency} · {texts('unit.per card, net')}", "num_format": "#,##0", "min": 0,
                      "major_gridlines": {"visible": True, "line": {"color": "#E3E3E3"}}, **small})  # fmt: skip
    chart.set_title({"name": texts("history.chart", card=card), "name_font": {"size": 12, "bold": True, "color": _NAVY}, "overlay": False})
    chart.set_legend({"position": "bottom", "font": {"size": 9}})
    chart.set_size({"width": 860, "height": 360})
    return chart
