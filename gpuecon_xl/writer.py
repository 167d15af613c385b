"""How a workbook is written: looks, formulas with their values, validation, protection, charts, print set-up.

Here: XlsxWriter only. Not here: what stands on a sheet (``sheets/``), values (`cells`).
The same input gives the same bytes; a file is written beside its place and moved there when it is whole.
"""

from __future__ import annotations

import datetime as dt
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import xlsxwriter
from xlsxwriter.utility import xl_rowcol_to_cell

from gpuecon_xl import __version__, formula
from gpuecon_xl.catalog import Catalog, blank_counts_as_zero
from gpuecon_xl.cells import Cells, plain
from gpuecon_xl.errors import BadFile
from gpuecon_xl.files import check_target, written_whole
from gpuecon_xl.lang import Texts, load
from gpuecon_xl.ops import Expr
from gpuecon_xl.schema import Field
from gpuecon_xl.sheets import book as books
from gpuecon_xl.sheets.digest import layout
from gpuecon_xl.sheets.model import HEAD_ROWS, BookSpec, Chart, Column, SheetSpec, TableSpec

# A file's dates must not change its bytes.
CREATED = dt.datetime(2026, 11, 30)

_NUMBER = {
    "general": "General", "auto": "#,##0.####;-#,##0.####;0", "text": "@", "wrap": "@", "link": "@", "place": "@", "strong": "@", "fit": "@",
    "status": "@",
    "money": "#,##0;-#,##0;0", "rate": "#,##0.000;-#,##0.000;0", "signed": "+#,##0.000;-#,##0.000;0",
    "whole": "#,##0;-#,##0;0", "one": "#,##0.0;-#,##0.0;0", "small": "#,##0.0000;-#,##0.0000;0", "ratio": "0.00",
    "pct": "0.0%", "seconds": "0.00E+00", "date": "yyyy-mm-dd", "check": "#,##0.######;-#,##0.######;0", "key": "#,##0.##",
}  # fmt: skip
A3_FROM = 220  # characters of a table's columns; wider sheets print on A3, others on A4
A3_CHARACTERS = 150  # of body text that a landscape A3 page takes at full size
_LEFT = frozenset(("text", "wrap", "link", "place", "strong", "date"))
_NAVY, _GREY, _PALE, _BLUE, _LINE = "#17365D", "#595959", "#FFF9DB", "#1F4FD8", "#BFBFBF"
_TAB = {"input": "#F2C230", "calc": "#7F7F7F", "result": "#2E75B6", "info": "#17365D"}
_SERIES = ("#1F4E79", "#E07B39", "#5B9A68", "#9B6FB0", "#B03A48", "#7F7F7F", "#C9A227")
_MAX_NAME = re.compile(r"^[A-Za-z]{1,3}[0-9]+$")


def legal_name(name: str) -> str:
    """A table's or cell's name; one that reads as a cell address is refused."""
    if _MAX_NAME.match(name) or not re.match(r"^[A-Za-z_][A-Za-z0-9_.]*$", name) or name.lower() in ("r", "c"):
        raise ValueError(f"{name!r} cannot be a name in a workbook")
    return name


def write_template(path: Path, *, catalog: Catalog, lang: str = "en", flavour: str = "plain", force: bool = False) -> dict[str, int]:
    """Write the template workbook.

    Parameters
    ----------
    path : file to make; an existing one is kept unless `force`.  lang : en, de, da.
    flavour : plain, classic, lite or libreoffice.

    Returns
    -------
    Counts: sheets, formulas, inputs, charts, bytes.
    """
    check_target(path, force)
    texts = load(lang)
    if flavour not in books.FLAVOURS:
        raise BadFile(f"flavour {flavour[:20]!r} does not exist; one of {', '.join(books.FLAVOURS)} is due")
    spec = books.build(catalog, lang, flavour)
    cells = books.values_of(spec, catalog)
    with written_whole(path) as (part,):
        counts = _Writer(part, spec, cells, catalog, texts).write()
        if flavour == "lite":  # last: nothing may save the file after its add-in parts are in
            from gpuecon_xl.carriers import lite

            lite.inject(part, lite.main_py(catalog))
    counts["bytes"] = path.stat().st_size
    return counts


# text stays text, whatever it looks like
TEXT_STAYS_TEXT = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}


@contextmanager
def book_of_values(path: Path) -> Iterator[Any]:
    """A workbook without formulas of people's text, in the product's name; its file is there whole or not at all."""
    with written_whole(path) as (part,), xlsxwriter.Workbook(str(part), TEXT_STAYS_TEXT) as book:
        book.set_properties({"title": "gpuecon_xl", "author": "gpuecon_xl", "created": CREATED, "comments": f"gpuecon_xl {__version__}"})
        yield book


class _Writer:
    def __init__(self, path: Path, book: BookSpec, cells: Cells, catalog: Catalog, texts: Texts) -> None:
        self.book, self.cells, self.catalog, self.texts = book, cells, catalog, texts
        self.wb = xlsxwriter.Workbook(str(path), TEXT_STAYS_TEXT)
        self._formats: dict[tuple[Any, ...], Any] = {}
        self.sheets: dict[str, Any] = {}
        self.places = {name: (s, t, r, c) for name, (s, t, r, c) in book.all_tables().items()}
        self.counts = {"sheets": 0, "formulas": 0, "inputs": 0, "charts": 0}
        self._text_of: dict[int, str] = {}

    def write(self) -> dict[str, int]:
        self.wb.set_properties({"title": "gpuecon_xl", "author": "gpuecon_xl", "created": CREATED, "comments": f"gpuecon_xl {__version__}"})
        self.wb.set_custom_property("gpuecon_version", __version__)
        self.wb.set_custom_property("gpuecon_lang", self.book.lang)
        self.wb.set_custom_property("gpuecon_flavour", self.book.flavour)
        self.wb.set_custom_property("gpuecon_layout", layout(self.book))
        self.wb.set_calc_mode("auto")
        self.wb.set_size(28_000, 16_000)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # XlsxWriter only warns of names and ranges that Excel refuses
            for spec in self.book.sheets:
                ws = self.sheets[spec.key] = self.wb.add_worksheet(books.title(self.texts, spec))
                # XlsxWriter scans every formula for newer functions; a column's formula is the same in all its rows
                ws._prepare_formula = lru_cache(maxsize=4096)(ws._prepare_formula)
            self._names()
            for spec in self.book.sheets:
                self._sheet(spec, self.sheets[spec.key])
            self.wb.close()
        self.counts["sheets"] = len(self.book.sheets)
        return self.counts

    # ---- looks ----

    def fmt(self, key: str = "general", kind: str = "formula", **more: Any) -> Any:
        """A cell format by number format and kind."""
        cached = self._formats.get((key, kind, *sorted(more.items())))
        if cached is not None:
            return cached
        look: dict[str, Any] = {"font_name": "Calibri", "font_size": 10, "num_format": _NUMBER.get(key, "General"), "valign": "vcenter"}
        if kind in ("input", "formula", "fixed"):
            look |= {"bottom": 4, "bottom_color": _LINE, "align": "left" if key in _LEFT else "right"}
            if key in _LEFT:
                look |= {"indent": 1}
            if key == "wrap":
                look |= {"text_wrap": True, "valign": "top"}
        if kind == "input":
            look |= {"font_color": _BLUE, "bg_color": _PALE, "locked": False}
        if key in ("fit", "status"):
            look |= {"align": "center"}
        if key in ("strong",):
            look |= {"bold": True}
        if key in ("link", "place"):
            look |= {"font_color": _BLUE, "underline": 1}
        look |= more
        made = self.wb.add_format(look)
        self._formats[(key, kind, *sorted(more.items()))] = made
        return made

    def unit(self, unit: str) -> str:
        """A unit as people of the book's language write it; symbols are the same in all."""
        text = self.texts.get(f"unit.{unit}")
        return unit if text is None else text

    def label(self, c: Column) -> str:
        """The label above a column; a live one as it reads now."""
        if c.heading is not None:
            return str(plain(self.cells.evaluate(c.heading)))
        key = c.label or c.name
        return self.texts(key if key.startswith("label.") else f"label.{key}")

    # ---- names ----

    def _names(self) -> None:
        sheet, table, header, first = self.places["Assumptions"]
        value = first + next(i for i, c in enumerate(table.columns) if c.name == "value")
        for i, row in enumerate(table.rows):
            cell = xl_rowcol_to_cell(header + 1 + i, value, row_abs=True, col_abs=True)
            self.wb.define_name(legal_name(str(row["name"])), f"='{books.title(self.texts, sheet)}'!{cell}")

    def text_of(self, e: Expr) -> str:
        """Formula text of an expression, made once."""
        found = self._text_of.get(id(e))
        if found is None:
            found = self._text_of[id(e)] = "=" + formula.text(e)
        return found

    # ---- sheets ----

    def _sheet(self, spec: SheetSpec, ws: Any) -> None:
        ws.hide_gridlines(2)
        ws.set_tab_color(_TAB[spec.tab])
        ws.set_default_row(15)
        title = self.texts(f"sheet.{spec.key}")
        ws.set_row(0, 26)
        ws.write_string(0, 0, title, self.fmt("title", "head", bold=True, font_size=18, font_color=_NAVY))
        ws.write_string(1, 0, self.texts(f"purpose.{spec.key}"), self.fmt("purpose", "head", italic=True, font_color=_GREY))
        ws.write_string(2, 0, self.texts("sheet.checks") + ":", self.fmt("check_label", "head", bold=True, font_color=_GREY))
        self._formula(ws, 2, 1, books.MASTER, self.cells.evaluate(books.MASTER), self.fmt("status_free", "head", bold=True, font_color=_NAVY))
        widths: dict[int, int] = {0: 9}
        for block in spec.blocks:
            if block.kind == "text":
                ws.write_string(block.row, block.column, self.texts(block.content), self.fmt("line", "head", font_size=11))
            elif block.kind == "table":
                self._table(ws, spec, block.content, block.row, block.column)
                for i, c in enumerate(block.content.columns):
                    widths[block.column + i] = max(widths.get(block.column + i, 0), c.width)
            else:
                self._chart(ws, block.content, block.row)
        for column, width in widths.items():
            ws.set_column(column, column, width)
        self._page(ws, spec, title)
        if not spec.editable:
            ws.protect("", {"format_columns": True, "format_rows": True, "autofilter": True, "sort": True, "select_locked_cells": True})

    def _page(self, ws: Any, spec: SheetSpec, title: str) -> None:
        first = next((b for b in spec.blocks if b.kind == "table"), None)
        if first is not None and first.row == SheetSpec.FIRST_ROW:
            ws.freeze_panes(first.row + HEAD_ROWS + 1, spec.freeze_columns)
            ws.repeat_rows(first.row + 1, first.row + HEAD_ROWS)
        else:
            ws.freeze_panes(3, 0)
        if spec.landscape:
            ws.set_landscape()
        shown = spec.print_columns or None
        wide = max((sum(c.width for c in b.content.columns[:shown]) for b in spec.blocks if b.kind == "table"), default=0)
        ws.set_paper(8 if wide > A3_FROM else 9)
        tables = [(b.column, sum(c.width for c in b.content.columns)) for b in spec.blocks if b.kind == "table"]
        if sum(w for _, w in tables) > 2 * A3_CHARACTERS and len({at for at, _ in tables}) > 1:
            # tables side by side: each begins a page, all in the scale of the widest
            ws.set_paper(8)
            ws.set_print_scale(max(10, min(100, int(100 * A3_CHARACTERS / wide))))
            ws.set_v_pagebreaks(sorted({at for at, _ in tables if at}))
        else:
            ws.fit_to_pages(1, 0)
        if spec.print_columns:  # the workings to the right are for the screen
            ws.print_area(0, 0, spec.next_row() - 1, spec.print_columns - 1)
        ws.set_margins(0.4, 0.4, 0.7, 0.7)
        ws.set_header(f'&L&"Calibri,Bold"&12{title}&R&9gpuecon_xl {__version__}')
        ws.set_footer("&L&9&F&C&9&A&R&9&P / &N")

    def _formula(self, ws: Any, row: int, column: int, e: Expr, value: Any, fmt: Any) -> None:
        ws.write_formula(row, column, self.text_of(e), fmt, plain(value))
        self.counts["formulas"] += 1

    def _table(self, ws: Any, spec: SheetSpec, t: TableSpec, row: int, first: int) -> None:
        label_row, unit_row, header = row + 1, row + 2, row + HEAD_ROWS
        parts = [self.fmt("table_title", "head", bold=True, font_size=12, font_color=_NAVY), self.texts(t.title) if t.title else t.name]
        if t.note:
            parts += [self.fmt("note", "head", italic=True, font_color=_GREY), "   " + self.texts(t.note)]
            ws.write_rich_string(row, first, *parts)
        else:
            ws.write_string(row, first, parts[1], parts[0])
        ws.set_row(row, 20)
        texts = [self.label(c) for c in t.columns]
        ws.set_row(label_row, 6 + 13.5 * max(_lines(x, c.width) for x, c in zip(texts, t.columns, strict=True)))
        ws.set_row(unit_row, 2 + 11 * max(_lines(self.unit(c.unit), c.width * 1.2) for c in t.columns))
        self._heights(ws, t, header + 1)
        label_fmt = self.fmt("label", "head", bold=True, text_wrap=True, valign="bottom", bg_color="#DCE6F1", align="center")
        unit_fmt = self.fmt("unit", "head", italic=True, text_wrap=True, font_color=_GREY, bg_color="#DCE6F1", align="center", font_size=8)
        head_fmt = self.fmt("header", "head", font_size=7, font_color="#8C8C8C", bg_color="#F2F2F2", align="center", bottom=2, bottom_color=_NAVY)
        values = self.cells.tables[t.name].columns
        count = len(t.rows)
        ws.add_table(header, first, header + count, first + len(t.columns) - 1, {
            "name": legal_name(t.name), "style": None, "autofilter": spec.editable or count > 30,
            "columns": [{"header": c.name, "header_format": head_fmt} for c in t.columns],
        })  # fmt: skip
        for i, c in enumerate(t.columns):
            column = first + i
            if c.heading is not None:
                self._formula(ws, label_row, column, c.heading, self.cells.evaluate(c.heading), label_fmt)
            else:
                ws.write_string(label_row, column, texts[i], label_fmt)
            ws.write_string(unit_row, column, self.unit(c.unit), unit_fmt)
            self._cells(ws, t, c, header + 1, column, values.get(c.name, []))
            if c.kind == "input":
                self.counts["inputs"] += count
                if count:
                    self._validation(ws, t, c, header + 1, header + count, column)
            self._marks(ws, c, header + 1, header + count, column)
            if t.name == "Prices" and c.name == "as_of":
                self._old_dates(ws, header + 1, header + count, first, column)
        scaled = [first + i for i, c in enumerate(t.columns) if c.name in t.scale]
        if scaled:  # a grid: one scale over its neighbouring columns, cheap is green
            colours = {"type": "3_color_scale", "min_color": "#B7E1C0", "mid_color": "#FFF9DB", "max_color": "#F4B6B6"}
            ws.conditional_format(header + 1, scaled[0], header + count, scaled[-1], colours)
        if t.columns[-1].fmt in _LEFT and not t.spill:  # a long text is cut at the table's edge instead of running on
            for r in range(count):
                ws.write_string(header + 1 + r, first + len(t.columns), " ", self.fmt("edge", "head"))

    def _heights(self, ws: Any, t: TableSpec, first: int) -> None:
        """Rows as high as their longest wrapped text; one line where nothing wraps."""
        wrapped = [c for c in t.columns if c.fmt == "wrap"]
        for r, row in enumerate(t.rows):
            lines = 1
            for c in wrapped:
                lines = max(lines, -(-len(str(row.get(c.name) or "")) // max(c.width - 3, 1)))
            ws.set_row(first + r, 15 if lines == 1 else 13.5 * lines + 3)

    def _cells(self, ws: Any, t: TableSpec, c: Column, first_row: int, column: int, values: list[Any]) -> None:
        fmt = self.fmt(c.fmt, c.kind)
        if c.kind == "formula":
            if isinstance(c.formula, list):
                for r, e in enumerate(c.formula):
                    if e is not None:
                        self._formula(ws, first_row + r, column, e, values[r], self.fmt(c.fmts[r], c.kind) if c.fmts else fmt)
                return
            assert c.formula is not None
            text = self.text_of(c.formula)
            write = ws.write_formula
            for r, v in enumerate(values):
                write(first_row + r, column, text, fmt, plain(v))
            self.counts["formulas"] += len(values)
            return
        for r, row in enumerate(t.rows):
            value = row.get(c.name)
            at = first_row + r
            if value is None or value == "":
                ws.write_blank(at, column, None, fmt)
            elif isinstance(value, str):
                if c.fmt == "link":
                    ws.write_url(at, column, f"internal:'{value}'!A1", fmt, string=value)
                elif c.fmt == "place":
                    sheet, _, cell = value.rpartition("!")
                    ws.write_url(at, column, f"internal:'{sheet}'!{cell}", fmt, string=value)
                else:
                    ws.write_string(at, column, value, fmt)
            elif isinstance(value, dt.date):
                ws.write_datetime(at, column, dt.datetime(value.year, value.month, value.day), self.fmt("date", c.kind))
            elif isinstance(value, bool):
                ws.write_boolean(at, column, value, fmt)
            else:
                own = self.fmt("pct", c.kind) if c.name in _SHARE_COLUMNS else fmt
                ws.write_number(at, column, plain(float(value)), own)

    def _validation(self, ws: Any, t: TableSpec, c: Column, first: int, last: int, column: int) -> None:
        f = c.field
        title = c.name[:32]
        label = self.texts.get(f"label.{c.label or c.name}") or c.name
        unit = f" [{self.unit(c.unit)}]" if self.unit(c.unit) else ""
        rule: dict[str, Any] = {"ignore_blank": True, "input_title": title, "input_message": f"{label}{unit}"[:255], "validate": "any"}
        source = self._choices(c.name, t.name)
        if f is not None and f.choices:
            rule |= {"validate": "list", "source": list(f.choices), "error_message": ", ".join(f.choices)[:255]}
        elif source is not None:
            rule |= {"validate": "list", "source": source, "error_type": "warning", "error_message": self.texts("validation.known")[:255]}
        elif f is not None and f.numeric:
            rule |= {"validate": "decimal", **_bounds(f), "error_message": self._number_message(f, unit)[:255]}
        elif f is None and c.fmt in ("whole", "one", "small", "rate", "money"):
            rule |= {"validate": "decimal", "criteria": ">=", "value": 0, "error_message": self.texts("validation.number")[:255] + unit}
        elif f is not None and f.kind == "date":
            rule |= {"validate": "date", "criteria": ">=", "value": dt.date(2000, 1, 1), "error_message": "2026-09-30"}
        ws.data_validation(first, column, last, column, rule)

    def _number_message(self, f: Field, unit: str) -> str:
        text = self.texts("validation.number") + unit
        if f.low is not None:
            text += f" >= {f.low:g}"
        if f.high is not None:
            text += f" <= {f.high:g}"
        return text if not blank_counts_as_zero(f) else text + " · " + self.texts("validation.blank")

    def _choices(self, column: str, table: str) -> str | None:
        target = _LOOKS_UP.get(column)
        if target is None or target[0] == table:
            return None
        sheet, t, header, first = self.places[target[0]]
        at = first + next(i for i, c in enumerate(t.columns) if c.name == target[1])
        top = xl_rowcol_to_cell(header + 1, at, row_abs=True, col_abs=True)
        end = xl_rowcol_to_cell(header + len(t.rows), at, row_abs=True, col_abs=True)
        return f"='{books.title(self.texts, sheet)}'!{top}:{end}"

    def _marks(self, ws: Any, c: Column, first: int, last: int, column: int) -> None:
        """Colours that say what a word says."""
        green = self.fmt("mark_green", "mark", bg_color="#DDF2E0", font_color="#1E6B34")
        amber = self.fmt("mark_amber", "mark", bg_color="#FFF0CC", font_color="#8A5A00")
        red = self.fmt("mark_red", "mark", bg_color="#F9DADA", font_color="#9C1C1C")
        if c.fmt == "fit":
            for word, look in (("fits", green), ("tight", amber), ("no", red)):
                ws.conditional_format(
                    first, column, last, column, {"type": "cell", "criteria": "==", "value": f'"{self.texts("word." + word)}"', "format": look}
                )
        if c.fmt == "status":
            for word, look in (("check_ok", green), ("check_all_ok", green), ("check_amber", amber), ("check_look", red),
                               ("price_fresh", green), ("price_old", amber), ("price_undated", amber)):  # fmt: skip
                ws.conditional_format(
                    first, column, last, column, {"type": "cell", "criteria": "==", "value": f'"{self.texts("word." + word)}"', "format": look}
                )
        if c.name == "deviation":
            ws.conditional_format(
                first, column, last, column, {"type": "cell", "criteria": "not between", "minimum": -0.5, "maximum": 0.5, "format": amber}
            )
        if c.name == "confidence":
            ws.conditional_format(first, column, last, column, {"type": "cell", "criteria": "==", "value": '"unverified"', "format": amber})

    def _old_dates(self, ws: Any, first: int, last: int, key: int, column: int) -> None:
        """Dates of prices that are older than the limit on the day of the book, or that are none."""
        name, date = (xl_rowcol_to_cell(first, c, col_abs=True) for c in (key, column))
        amber = self.fmt("mark_amber", "mark", bg_color="#FFF0CC", font_color="#8A5A00")
        old = f'=AND({name}<>"",IF(ISNUMBER({date}),as_of-{date}>price_age_days_max,TRUE))'
        ws.conditional_format(first, column, last, column, {"type": "formula", "criteria": old, "format": amber})

    # ---- charts ----

    def _chart(self, ws: Any, spec: Chart, row: int) -> None:
        sheet, t, header, first = self.places[spec.table]
        name = books.title(self.texts, sheet)
        low, high = spec.rows if spec.rows is not None else (0, len(t.rows) - 1)
        at = {c.name: first + i for i, c in enumerate(t.columns)}
        kinds = {"stacked": {"type": "column", "subtype": "stacked"}, "tornado": {"type": "bar", "subtype": "stacked"}}
        chart = self.wb.add_chart(kinds.get(spec.kind, {"type": spec.kind}))
        for k, (col, label) in enumerate(spec.series):
            series: dict[str, Any] = {
                "name": self.texts(label),
                "categories": [name, header + 1 + low, at[spec.categories], header + 1 + high, at[spec.categories]],
                "values": [name, header + 1 + low, at[col], header + 1 + high, at[col]],
            }
            colour = _SERIES[k % len(_SERIES)]
            if spec.kind == "line":
                series |= {"line": {"color": colour, "width": 2.25}, "smooth": False}
            else:
                series |= {"fill": {"color": colour}, "gap": 60}
                if spec.kind in ("column", "bar") and len(spec.series) == 1:
                    series["data_labels"] = {"value": True, "num_format": spec.y_format or "#,##0", "font": {"size": 8}}
            chart.add_series(series)
        grid = {"visible": True, "line": {"color": "#E3E3E3", "width": 0.75}}
        number = {"num_format": spec.y_format or "#,##0", "num_font": {"size": 9}, "name_font": {"size": 9, "bold": False}}
        named = {"num_font": {"size": 9}, "name_font": {"size": 9, "bold": False}}
        x: dict[str, Any] = {"name": self.texts(spec.x_title), **named}
        y: dict[str, Any] = {"name": self.texts(spec.y_title), **number, "major_gridlines": grid}
        if spec.categories == "use":
            x["num_format"] = "0%"
        if spec.categories == "rate_hour":
            x["num_format"] = "0.00"
        if spec.kind == "line":
            x["label_position"] = "low"  # below the plot also where lines fall below 0
        if spec.kind in ("bar", "tornado"):  # categories stand on the vertical axis, the first on top
            chart.set_y_axis({**x, "reverse": True, "label_position": "low"})
            chart.set_x_axis({**y, "label_position": "high"})
        else:
            chart.set_x_axis(x)
            chart.set_y_axis(y)
        chart.set_title({"name": self.texts(spec.title), "name_font": {"size": 12, "bold": True, "color": _NAVY}, "overlay": False})
        if len(spec.series) > 1:
            chart.set_legend({"position": "bottom", "font": {"size": 9}})
        else:
            chart.set_legend({"none": True})
        chart.set_size({"width": spec.width, "height": spec.height})
        chart.set_chartarea({"border": {"color": "#D9D9D9"}})
        ws.insert_chart(row, 0, chart, {"object_position": 3, "x_offset": 8 + spec.side * 606, "y_offset": 4, "description": self.texts(spec.title)})
        self.counts["charts"] += 1


def _lines(text: str, width: float) -> int:
    """Lines that a bold text takes in a column; words are not broken."""
    lines, room = 1, 0.0
    for word in text.split():
        if room and room + 1 + len(word) > width - 1:
            lines, room = lines + 1, 0.0
        room += len(word) + (1 if room else 0)
    return lines


def _bounds(f: Field) -> dict[str, Any]:
    if f.low is not None and f.high is not None:
        return {"criteria": "between", "minimum": f.low, "maximum": f.high}
    if f.positive:
        return {"criteria": ">", "value": 0}
    if f.low is not None:
        return {"criteria": ">=", "value": f.low}
    return {"criteria": "between", "minimum": -1e12, "maximum": 1e12}


# Columns whose entries are names of another table.
_LOOKS_UP = {
    "gpu": ("Cards", "gpu"), "model": ("Models", "model"), "precision": ("Precisions", "precision"), "kv": ("Precisions", "precision"),
    "link": ("Links", "link"), "rate": ("Rates", "rate"), "api": ("Apis", "api"), "stated_pick": ("Builds", "build"),
    "id": ("Benchmarks", "id"),
}  # fmt: skip
_SHARE_COLUMNS = frozenset(("verdict_stated",))
