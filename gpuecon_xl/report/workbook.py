"""A report as a workbook: values only, narrow, with charts that carry their own values for previewers.

Here: openpyxl. Not here: what stands on a sheet (`content`). The same report gives the same bytes.
"""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
from typing import Any

from openpyxl import Workbook
from openpyxl.chart import BarChart, LineChart, Reference, Series
from openpyxl.chart.data_source import AxDataSource, NumData, NumRef, NumVal, StrData, StrRef, StrVal
from openpyxl.chart.label import DataLabelList
from openpyxl.chart.layout import Layout, ManualLayout
from openpyxl.chart.shapes import GraphicalProperties
from openpyxl.chart.text import RichText
from openpyxl.drawing.line import LineProperties
from openpyxl.drawing.text import CharacterProperties, Paragraph, ParagraphProperties
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.pagebreak import Break

from gpuecon_xl import __version__
from gpuecon_xl.report.content import Column, Plot, Report, Sheet, Table

NUMBER = {
    "text": "@", "rate": "#,##0.000;-#,##0.000;0", "signed": "+#,##0.000;-#,##0.000;0", "money": "#,##0;-#,##0;0", "whole": "#,##0;-#,##0;0",
    "pct": "0.0%", "change": "+0.0%;-0.0%;0.0%",
}  # fmt: skip
_NAVY, _GREY, _HEAD, _LINE, _RED = "17365D", "595959", "DCE6F1", "BFBFBF", "9C1C1C"
SERIES = ("1F4E79", "E07B39", "5B9A68", "9B6FB0")
_LINE_HEIGHT, _ROW = 13.5, 16.0
_POINTS_CM = 72 / 2.54
_PAGE_POINTS = 660.0  # of an A4 page inside its margins
_CHART_CM = 14.0  # as wide as a phone held upright shows at once


def workbook_bytes(report: Report) -> bytes:
    """The workbook of a report."""
    wb = Workbook()
    wb.remove(wb.active)
    places: dict[int, tuple[Any, int]] = {}
    for n, sheet in enumerate(report.sheets):
        ws = wb.create_sheet(_title(sheet.title, wb.sheetnames))
        _sheet(ws, sheet, report, places, first=n == 0)
    dated = report.as_of if isinstance(report.as_of, dt.date) else dt.date(2026, 1, 1)
    stamp = dt.datetime(dated.year, dated.month, dated.day)
    wb.properties.creator, wb.properties.title, wb.properties.description = "gpuecon_xl", report.title, f"gpuecon_xl {__version__}"
    wb.properties.created, wb.properties.language = stamp, report.speech.lang
    wb.active = 0
    wb.calculation.fullCalcOnLoad = False  # there is nothing to calculate, and nothing to save on closing
    body = io.BytesIO()
    wb.save(body)
    return _settled(body.getvalue(), stamp)


def _settled(body: bytes, stamp: dt.datetime) -> bytes:
    """The same file without the time of its making."""
    out = io.BytesIO()
    when = stamp.strftime("%Y-%m-%dT%H:%M:%SZ")
    with zipfile.ZipFile(io.BytesIO(body)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*(</dcterms:modified>)", rb"\g<1>" + when.encode() + rb"\g<2>", content)
            if name == "xl/workbook.xml":
                content = content.replace(b"<definedNames />", b"")
            part = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            part.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(part, content)
    return out.getvalue()


def _height(ws: Any, row: int) -> float:
    """Points from the last page break to the top of a row."""
    last = max((b.id for b in ws.row_breaks.brk), default=0)
    return sum(ws.row_dimensions[r].height or _ROW for r in range(last + 1, row))


def _keep_together(ws: Any, top: int, end: int) -> None:
    """A table that would be cut by the end of a page, and that a page can hold, begins a new one."""
    before = _height(ws, top)
    high = sum(ws.row_dimensions[r].height or _ROW for r in range(top, end))
    if before and before + high > _PAGE_POINTS >= high:
        ws.row_breaks.append(Break(id=top - 1))


def _title(wanted: str, taken: list[str]) -> str:
    title = re.sub(r"[\[\]:*?/\\]", " ", wanted)[:31]
    while title in taken:
        title = f"{title[:29]} 2"
    return title


def _sheet(ws: Any, sheet: Sheet, report: Report, places: dict[int, tuple[Any, int]], *, first: bool) -> None:
    ws.sheet_view.showGridLines = False
    ws.sheet_properties.tabColor = _NAVY
    tables = [b for b in sheet.blocks if isinstance(b, Table)]
    span = max(len(t.columns) for t in tables)
    for i in range(span):
        ws.column_dimensions[get_column_letter(i + 1)].width = max(t.columns[i].width for t in tables if i < len(t.columns))
    wide = sum(ws.column_dimensions[get_column_letter(i + 1)].width for i in range(span))
    row = 1
    _write(ws, row, 1, report.title if first else sheet.title, Font(name="Calibri", size=18 if first else 15, bold=True, color=_NAVY))
    ws.row_dimensions[row].height = 26
    row = _wrapped(ws, 2, report.dated, span, wide, Font(name="Calibri", size=10, italic=True, color=_GREY))
    if first:
        if report.warning:
            row = _wrapped(ws, row, report.warning, span, wide, Font(name="Calibri", size=11, bold=True, color=_RED))
        for line in report.lines:
            row = _wrapped(ws, row, line, span, wide, Font(name="Calibri", size=12), space=6)
    row += 1
    for block in sheet.blocks:
        if isinstance(block, Table):
            places[id(block)] = (ws, row + (2 if not block.note else 3))
            top, row = row, _table(ws, block, row, span, wide)
            _keep_together(ws, top, row)
        else:
            if _height(ws, row) + _chart_cm(block) * _POINTS_CM > _PAGE_POINTS:
                ws.row_breaks.append(Break(id=row - 2))  # a chart is not cut by the end of a page
            row += _chart(ws, block, places, row) + 1
    ws.page_setup.orientation, ws.page_setup.paperSize, ws.page_setup.fitToWidth, ws.page_setup.fitToHeight = "portrait", 9, 1, 0
    ws.sheet_properties.pageSetUpPr.fitToPage = True
    ws.page_margins.left = ws.page_margins.right = 0.5
    ws.page_margins.top = ws.page_margins.bottom = 0.8
    ws.oddFooter.left.text, ws.oddFooter.right.text = "&A", "&P / &N"


def _write(ws: Any, row: int, column: int, value: Any, font: Font, kind: str = "text", *, align: str = "left", wrap: bool = False) -> Any:
    cell = ws.cell(row, column)
    if isinstance(value, str):
        cell.value = re.sub(r"[\x00-\x08\x0b-\x1f]", " ", value)[:32_000]
        cell.data_type = "s"  # also what begins with =
    elif value is not None:
        cell.value = value
        cell.number_format = NUMBER.get(kind, "General")
    cell.font = font
    cell.alignment = Alignment(horizontal=align, vertical="center", wrap_text=wrap, indent=1 if align == "left" and column > 1 else 0)
    return cell


def _wrapped(ws: Any, row: int, text: str, span: int, wide: float, font: Font, space: float = 2) -> int:
    """A text across the sheet's columns, as high as it needs; the next row."""
    _write(ws, row, 1, text, font, wrap=True)
    if span > 1:
        ws.merge_cells(start_row=row, end_row=row, start_column=1, end_column=span)
    size = float(font.size or 11)
    per_line = max(wide * 11 / size - 2, 10)
    ws.row_dimensions[row].height = round(lines(text, per_line) * size * 1.3 + space, 1)
    return row + 1


def lines(text: str, width: float) -> int:
    """Lines that a text takes; words are broken only when they are longer than a line."""
    count, room = 1, 0.0
    for word in text.split(" "):
        if room and room + 1 + len(word) > width:
            count, room = count + 1, 0.0
        room += len(word) + (1 if room else 0)
        while room > width:
            count, room = count + 1, room - width
    return count


def _table(ws: Any, table: Table, row: int, span: int, wide: float) -> int:
    _write(ws, row, 1, table.title, Font(name="Calibri", size=12, bold=True, color=_NAVY))
    ws.row_dimensions[row].height = 20
    row += 1
    if table.note:
        row = _wrapped(ws, row, table.note, span, wide, Font(name="Calibri", size=9, italic=True, color=_GREY))
    fill = PatternFill("solid", fgColor=_HEAD)
    if any(c.label for c in table.columns):
        texts = [_head(c) for c in table.columns]
        for i, (c, text) in enumerate(zip(table.columns, texts, strict=True)):
            cell = _write(ws, row, i + 1, text, Font(name="Calibri", size=9, bold=True), align="left" if c.kind == "text" else "right", wrap=True)
            cell.fill, cell.border = fill, Border(bottom=Side(style="medium", color=_NAVY))
        room = [ws.column_dimensions[get_column_letter(i + 1)].width for i in range(len(texts))]
        ws.row_dimensions[row].height = 6 + 12 * max(sum(lines(part, w) for part in t.split("\n")) for t, w in zip(texts, room, strict=True))
        row += 1
    for figures in table.rows:
        need = 1
        for i, (c, f) in enumerate(zip(table.columns, figures, strict=True)):
            words = isinstance(f.value, str)
            value = None if f.value == "" else f.value
            cell = _write(ws, row, i + 1, value, Font(name="Calibri", size=10), c.kind, align="left" if c.kind == "text" else "right", wrap=words)
            cell.border = Border(bottom=Side(style="hair", color=_LINE)) if c.label else Border()
            if words:
                need = max(need, lines(f.value, ws.column_dimensions[get_column_letter(i + 1)].width * 1.05))
        ws.row_dimensions[row].height = _ROW if need == 1 else _LINE_HEIGHT * need + 3
        row += 1
    return row + 1


def _head(c: Column) -> str:
    return f"{c.label}\n{c.unit}" if c.unit else c.label


# ---- charts ----


def _chart(ws: Any, plot: Plot, places: dict[int, tuple[Any, int]], row: int) -> int:
    """Place a chart; rows that it covers."""
    if id(plot.table) not in places:  # a chart above its table: the table follows right below
        raise ValueError(f"chart {plot.title!r} stands before its table")
    sheet, top = places[id(plot.table)]
    table = plot.table
    count = len(table.rows)
    chart: Any = BarChart() if plot.kind == "bar" else LineChart()
    where = table.at(plot.categories)
    for n, key in enumerate(plot.series):
        column = table.at(key)
        values = Reference(sheet, min_col=column + 1, min_row=top, max_row=top + count - 1)
        series = Series(values, title=table.columns[column].label)
        series.val.numRef = NumRef(f=str(values), numCache=_numbers([r[column].value for r in table.rows], NUMBER[table.columns[column].kind]))
        names = Reference(sheet, min_col=where + 1, min_row=top, max_row=top + count - 1)
        series.cat = _categories(str(names), table, where)
        colour = SERIES[n % len(SERIES)]
        if plot.kind == "bar":
            series.graphicalProperties = GraphicalProperties(solidFill=colour)
            series.invertIfNegative = False
        else:
            series.graphicalProperties = GraphicalProperties(ln=LineProperties(solidFill=colour, w=28_000))
            series.smooth = False
            series.marker.symbol = "none"
        chart.series.append(series)
    height = _chart_cm(plot)
    kind = table.columns[table.at(plot.series[0])].kind
    number = "0.00" if kind == "rate" else "#,##0"
    chart.title = plot.title
    chart.title.overlay = False
    chart.title.tx.rich.p[0].pPr = ParagraphProperties(defRPr=CharacterProperties(sz=1100, b=True, solidFill=_NAVY))
    chart.x_axis.title, chart.y_axis.title = plot.x_title, plot.y_title
    for axis in (chart.x_axis, chart.y_axis):
        axis.delete = False
        axis.txPr = _small()
        axis.title.tx.rich.p[0].pPr = ParagraphProperties(defRPr=CharacterProperties(sz=900, b=False))
    chart.y_axis.number_format = number
    chart.y_axis.majorGridlines.spPr = GraphicalProperties(ln=LineProperties(solidFill="E3E3E3", w=9_000))
    if plot.kind == "bar":
        chart.type, chart.gapWidth = "bar", 50
        chart.x_axis.scaling.orientation = "maxMin"  # the first row on top
        chart.x_axis.title = None
        chart.y_axis.crosses = "max"
        chart.legend = None
        chart.dataLabels = DataLabelList(
            showVal=True, showSerName=False, showCatName=False, showLegendKey=False, showPercent=False, numFmt="0.000" if kind == "rate" else "#,##0"
        )
        chart.dataLabels.txPr = _small()
    else:
        chart.legend.position = "b"
        chart.x_axis.number_format = "0%"
        chart.x_axis.tickLblSkip = 3
        chart.layout = Layout(manualLayout=ManualLayout(layoutTarget="inner", xMode="edge", yMode="edge", x=0.12, y=0.14, w=0.83, h=0.46))
    chart.width, chart.height = _CHART_CM, height
    ws.add_chart(chart, f"A{row}")
    return int(height * _POINTS_CM / _ROW) + 2


def _chart_cm(plot: Plot) -> float:
    return 0.62 * len(plot.table.rows) + 2.6 if plot.kind == "bar" else 10.0


def _small() -> RichText:
    return RichText(p=[Paragraph(pPr=ParagraphProperties(defRPr=CharacterProperties(sz=800)), endParaRPr=CharacterProperties(sz=800))])


def _numbers(values: list[Any], fmt: str) -> NumData:
    points = [NumVal(idx=i, v=repr(float(v))) for i, v in enumerate(values) if isinstance(v, int | float)]
    return NumData(formatCode=fmt, ptCount=len(values), pt=points)


def _categories(where: str, table: Table, column: int) -> AxDataSource:
    values = [r[column].value for r in table.rows]
    if table.columns[column].kind == "text":
        return AxDataSource(strRef=StrRef(f=where, strCache=StrData(ptCount=len(values), pt=[StrVal(idx=i, v=str(v)) for i, v in enumerate(values)])))
    return AxDataSource(numRef=NumRef(f=where, numCache=_numbers(values, "0%")))
