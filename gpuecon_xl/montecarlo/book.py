"""The workbook of a run of draws: what came of them, what was drawn from, the chart; values with seed and date.

Here: XlsxWriter. Not here: the draws (`draw`). The same run gives the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpuecon_xl.lang import Texts
from gpuecon_xl.montecarlo.draw import QUANTILES, Risk
from gpuecon_xl.schema import SHARES
from gpuecon_xl.writer import book_of_values

_NAVY, _GREY = "#17365D", "#595959"
_FORMAT = {"EUR": "#,##0;-#,##0;0", "EUR/1e6 output tokens": "#,##0.000", "token/s": "#,##0", "1/year": "0.0%"}


def write_risk(path: Path, found: Risk, texts: Texts) -> None:
    """Write the workbook of a run beside its place and move it there when it is whole."""
    with book_of_values(path) as book:
        _Sheet(book, texts).write(found)


class _Sheet:
    def __init__(self, book: Any, texts: Texts) -> None:
        self.book, self.t = book, texts
        self.ws = book.add_worksheet(texts("risk.sheet"))
        self.row = 0
        self._looks: dict[str, Any] = {}

    def look(self, number: str = "General", **more: Any) -> Any:
        key = repr((number, sorted(more.items())))
        if key not in self._looks:
            self._looks[key] = self.book.add_format({"font_name": "Calibri", "font_size": 10, "num_format": number, **more})
        return self._looks[key]

    def head(self, *texts: str) -> None:
        for c, text in enumerate(texts):
            self.ws.write_string(self.row, c, text, self.look(bold=True, bg_color="#DCE6F1", align="left" if c == 0 else "right", text_wrap=True))
        self.row += 1

    def unit(self, unit: str) -> str:
        text = self.t.get(f"unit.{unit}")
        return unit if text is None else text

    def write(self, found: Risk) -> None:
        ws, t = self.ws, self.t
        ws.hide_gridlines(2)
        ws.set_column(0, 0, 46)
        ws.set_column(1, 5, 15)
        ws.set_column(6, 6, 28)
        ws.set_row(0, 26)
        ws.write_string(0, 0, t("risk.title"), self.look(bold=True, font_size=18, font_color=_NAVY))
        self.row = 1
        for line in (
            f"{found.workload} · {found.build} · {found.rate}",
            t("risk.how", draws=str(found.draws), seed=str(found.seed), day=found.as_of),
        ):
            ws.write_string(self.row, 0, line, self.look(italic=True, font_color=_GREY))
            self.row += 1
        self.row += 1
        ws.write_string(self.row, 0, t("risk.own_wins"), self.look(bold=True, font_size=12))
        ws.write_number(self.row, 1, found.own_wins, self.look("0.0%", bold=True, font_size=12))
        self.row += 2
        self.head(t("risk.outcome"), *(f"P{q}" for q in QUANTILES), t("risk.mean"), t("risk.typical"), t("risk.unit"))
        for name, values in found.outcomes.items():
            ws.write_string(self.row, 0, t(f"risk.{name}"), self.look())
            for c, value in enumerate((*(values[f"p{q}"] for q in QUANTILES), values["mean"], values["typical"])):
                ws.write_number(self.row, 1 + c, value, self.look(_FORMAT[found.units[name]]))
            ws.write_string(self.row, 6, self.unit(found.units[name]), self.look(font_color=_GREY, align="right"))
            self.row += 1
        self.row += 1
        at = self.row
        self.row += 20
        self.head(t("risk.range"), t("risk.low"), t("risk.peak"), t("risk.high"), t("risk.unit"))
        for r in found.ranges:
            ws.write_string(self.row, 0, t(f"label.{r.name}"), self.look())
            for c, value in enumerate((r.low, r.typical, r.high)):
                ws.write_number(self.row, 1 + c, value, self.look("0.0%" if r.name in SHARES else _FORMAT.get(r.unit, "#,##0.00")))
            ws.write_string(self.row, 4, self.unit(r.unit), self.look(font_color=_GREY, align="right"))
            self.row += 1
        self.row += 1
        self.head(t("risk.bar"), t("risk.to"), t("risk.share"))
        first = self.row
        for low, high, share in found.bars:
            for c, (value, number) in enumerate(((low, "0.000"), (high, "0.000"), (share, "0.00%"))):
                ws.write_number(self.row, c, value, self.look(number, align="left" if c == 0 else "right"))
            self.row += 1
        self.chart(at, first, self.row - 1)
        ws.freeze_panes(3, 0)
        ws.set_landscape()
        ws.set_paper(9)
        ws.fit_to_pages(1, 0)
        ws.set_footer("&L&9&F&R&9&P / &N")

    def chart(self, at: int, first: int, last: int) -> None:
        t, name = self.t, self.t("risk.sheet")
        bars = self.book.add_chart({"type": "column"})
        bars.add_series({"name": t("risk.share"), "categories": [name, first, 0, last, 0], "values": [name, first, 2, last, 2],
                         "fill": {"color": "#1F4E79"}, "gap": 5})  # fmt: skip
        small = {"num_font": {"size": 9}, "name_font": {"size": 9, "bold": False}}
        bars.set_x_axis({"name": t("axis.eur_mtok"), "num_format": "0.00", "interval_unit": 5, **small})
        bars.set_y_axis({"name": t("risk.share"), "num_format": "0%", "major_gridlines": {"visible": True, "line": {"color": "#E3E3E3"}}, **small})
        bars.set_title({"name": t("risk.chart"), "name_font": {"size": 12, "bold": True, "color": _NAVY}, "overlay": False})
        bars.set_legend({"none": True})
        bars.set_size({"width": 860, "height": 380})
        self.ws.insert_chart(at, 0, bars, {"object_position": 3, "x_offset": 8, "y_offset": 4, "description": t("risk.chart")})
