"""The way back: an edited workbook read into a catalogue, and the values that the core computes for its formula cells.

Here: opening safely, finding tables by name, checking every input, naming every problem by sheet and cell.
Not here: what the columns mean (`schema`), the computing (`cells`), writing. A user's file is never written.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from gpuecon_xl import formula
from gpuecon_xl.catalog import Catalog, Row, blank_counts_as_zero, check_rows, key_of, parse_cell, shipped, summed_up
from gpuecon_xl.cells import Cells, TableValues, plain, serial
from gpuecon_xl.errors import BadFile, nearest
from gpuecon_xl.lang import LANGUAGES, load
from gpuecon_xl.schema import ASCENDING, LOOKED_UP, TABLES, Field, Table, assumption_field
from gpuecon_xl.sheets import book as books
from gpuecon_xl.sheets.model import BookSpec

MAX_BYTES = 50_000_000  # a workbook of ours has about 1 MB
MAX_EXPANDED_BYTES = 400_000_000
MAX_PARTS = 3_000
MAX_PART_RATIO = 400  # more than any sheet compresses
MAX_ROWS = 20_000  # of one table


@dataclass
class Region:
    """A table in the file: its sheet, first data row, rows, and the column number of each header."""

    sheet: str
    first: int
    count: int
    columns: dict[str, int]


@dataclass
class OpenBook:
    """A workbook of ours as it stands in the file."""

    path: Path
    lang: str
    formulas: Any  # openpyxl workbook with formulas
    regions: dict[str, Region]
    flavour: str = "plain"
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @cached_property
    def sheets(self) -> dict[str, Any]:
        """Sheets by title, with formulas; openpyxl looks through all of them for each title."""
        return {ws.title: ws for ws in self.formulas.worksheets}

    @cached_property
    def values(self) -> Any:
        """The workbook with what was calculated when it was saved; read when a formula is asked for, which takes as long as the first reading."""
        return _loaded(self.path, data_only=True)

    def value_at(self, sheet: str, row: int, column: int) -> Any:
        """The value of a cell; of a formula, what was calculated when the file was saved."""
        cell = self.sheets[sheet]._cells.get((row, column))
        if cell is None or cell.data_type != "f":
            return None if cell is None else cell.value
        return self.values[sheet].cell(row, column).value

    def raw(self, region: Region, column: str, row: int) -> Any:
        """The value of a cell of a table."""
        return self.value_at(region.sheet, region.first + row, region.columns[column])

    def place(self, region: Region, column: str, row: int) -> str:
        """Sheet and cell, as messages name it."""
        return _place(region.sheet, region.first + row, region.columns.get(column, 1))


def _place(sheet: str, row: int, column: int) -> str:
    from openpyxl.utils import get_column_letter

    return f"{sheet}!{get_column_letter(column)}{row}"


def check_package(path: Path) -> None:
    """A file that may be opened: a zip of bounded size, not encrypted, no bomb.

    Raises
    ------
    BadFile
        One sentence.
    """
    if not path.exists():
        raise BadFile(f"{path}: no such file; the path of a workbook is due")
    if not path.is_file():
        raise BadFile(f"{path} is a folder; the path of a workbook (.xlsx) is due")
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise BadFile(f"{path} has {size} bytes; a workbook of at most {MAX_BYTES} is read")
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise BadFile(f"{path} is protected by a password or an old .xls; save it as .xlsx without a password to open")
    try:
        with zipfile.ZipFile(path) as package:
            parts = package.infolist()
            if len(parts) > MAX_PARTS or sum(p.file_size for p in parts) > MAX_EXPANDED_BYTES:
                raise BadFile(f"{path} expands to more than {MAX_EXPANDED_BYTES} bytes or {MAX_PARTS} parts; it is not read")
            for p in parts:
                if p.file_size > 1_000_000 and p.file_size > MAX_PART_RATIO * max(p.compress_size, 1):
                    raise BadFile(f"{path}: part {p.filename[:60]} expands {p.file_size // max(p.compress_size, 1)} times; it is not read")
            names = {p.filename for p in parts}
    except zipfile.BadZipFile:
        raise BadFile(f"{path} is not an .xlsx workbook, or it is cut off; a workbook made by this product is due") from None
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}") from None
    if "xl/workbook.xml" not in names:
        raise BadFile(f"{path} is a zip but no .xlsx workbook; a workbook made by this product is due")


def _loaded(path: Path, data_only: bool) -> Any:
    import warnings

    import openpyxl

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return openpyxl.load_workbook(path, data_only=data_only)
    except Exception as error:  # openpyxl raises many kinds on a damaged file
        raise BadFile(f"{path} cannot be read as a workbook ({type(error).__name__}: {str(error)[:80]}); open and save it in Excel") from None


def open_book(path: Path) -> OpenBook:
    """Open a workbook of ours, find its tables.

    Raises
    ------
    BadFile
        When it cannot be read, is not ours, or a table is gone.
    """
    check_package(path)
    formulas = _loaded(path, data_only=False)
    regions: dict[str, Region] = {}
    problems: list[str] = []
    for ws in formulas.worksheets:
        for t in ws.tables.values():
            region, problem = _region(ws, t)
            if problem:
                problems.append(problem)
            elif region is not None:
                regions[t.name] = region
    if not any(t.book_name in regions for t in TABLES.values()):
        raise BadFile(f"{path} has none of this product's tables (Prices, Cards, Models …); a workbook made by 'gpuecon template' is due")
    lang = _language(formulas)
    flavour = next((str(p.value) for p in formulas.custom_doc_props.props if p.name == "gpuecon_flavour"), "plain")
    if flavour not in books.FLAVOURS:
        flavour = "plain"
    return OpenBook(path, lang, formulas, regions, flavour, problems)


def _region(ws: Any, table: Any) -> tuple[Region | None, str | None]:
    from openpyxl.utils import range_boundaries

    left, top, right, bottom = range_boundaries(table.ref)
    if bottom - top > MAX_ROWS:
        return None, f"{ws.title}: table {table.name} has {bottom - top} rows; at most {MAX_ROWS} are read"
    columns: dict[str, int] = {}
    for c in range(left, right + 1):
        name = str(ws.cell(top, c).value or "").strip()
        columns.setdefault(name, c)
    return Region(ws.title, top + 1, bottom - top - (table.totalsRowCount or 0), columns), None


def _language(workbook: Any) -> str:
    for p in workbook.custom_doc_props.props:
        if p.name == "gpuecon_lang" and p.value in LANGUAGES:
            return str(p.value)
    titles = set(workbook.sheetnames)
    return max(LANGUAGES, key=lambda lang: len(titles & {load(lang)(f"sheet.{k}") for k in load(lang).codes("sheet.")}))


def parse_local(text: str, lang: str) -> float | None:
    """A number typed as text, read as the book's language writes it; None when it is no number.

    German and Danish group with a point or blank and have a decimal comma; English the other way round.
    """
    body = re.sub(r"(€|\$|£|\b(EUR|USD|DKK|Euro|euro|kr)\b\.?)", "", text).replace("\u00a0", " ").replace("\u202f", " ").strip()
    percent = body.endswith("%")
    body = body.rstrip("%").strip()
    group, point = (r"[., ]", r"\.") if lang == "en" else (r"[. ]", ",")
    group = r"[, ]" if lang == "en" else group
    if not re.fullmatch(rf"[+-]?(\d{{1,3}}({group}\d{{3}})+|\d+)({point}\d+)?", body):
        return None
    body = body.replace(" ", "").replace("," if lang == "en" else ".", "").replace(",", ".")
    number = float(body)
    return number / 100 if percent else number


def _number_from_text(value: Any, f: Field, book: OpenBook, place: str) -> Any:
    """The number in a text cell of a number column, with a warning; the text when it is none."""
    if not isinstance(value, str) or not value.strip():
        return value
    number = parse_local(value, book.lang)
    if number is None:
        return value
    book.warnings.append(f"{place} holds the text {value.strip()[:40]!r}, read as {number:g}; type it as a number, or formulas show an error")
    return number


def _rows(book: OpenBook, table: Table) -> list[Row]:
    """Rows of one table, typed; problems and warnings go to the book."""
    region = book.regions.get(table.book_name)
    base = shipped()
    if region is None:
        book.problems.append(f"table {table.book_name} is gone; restore it, or copy the inputs into a new template")
        return base.rows(table.name)
    wanted = [f for f in table.fields if f.in_book]
    missing = [f.name for f in wanted if f.name not in region.columns]
    if table.key in missing or (missing and any(table.by_name[m].required for m in missing)):
        heads = _place(region.sheet, region.first - 1, 1)
        book.problems.append(f"{heads}: table {table.book_name} lacks the column {', '.join(missing)}; its header row must stay as it was")
        return base.rows(table.name)
    known = {f.name for f in wanted} | {"meaning"}
    for extra in region.columns:
        if extra not in known:
            book.warnings.append(
                f"{_place(region.sheet, region.first - 1, region.columns[extra])}: column {extra[:40]!r} of table "
                f"{table.book_name} is not known and not read"
            )
    for m in missing:
        book.warnings.append(f"{_place(region.sheet, region.first - 1, 1)}: table {table.book_name} has lost the column {m}; it counts as blank")
    rows: list[Row] = []
    at: list[int] = []
    formulas_here = book.sheets[region.sheet]
    for r in range(region.count):
        given = {f.name: book.raw(region, f.name, r) if f.name in region.columns else None for f in wanted}
        hollow = False
        for f in wanted:
            if f.name not in region.columns:
                continue
            cell = formulas_here.cell(region.first + r, region.columns[f.name])
            if cell.data_type == "f" and given[f.name] is None:
                book.problems.append(
                    f"{book.place(region, f.name, r)} holds a formula without a calculated value; open the file in Excel or LibreOffice and save it"
                )
                hollow = True
        if hollow or all(v is None or v == "" for v in given.values()):
            continue
        row, complete = _row(book, table, region, r, given)
        if complete:
            rows.append(row)
            at.append(r)
    book.problems += check_rows(table, rows, lambda n, c: book.place(region, c, at[n]))
    _below(book, table, region)
    return rows


def _row(book: OpenBook, table: Table, region: Region, r: int, given: dict[str, Any]) -> tuple[Row, bool]:
    name = given.get(table.key)
    known = shipped()._names(table.name).get(key_of(str(name))) if name else None
    if known is not None and str(known[table.key]).lower() != str(name).lower():
        known = None
    row: Row = {f.name: (known or {}).get(f.name) for f in table.fields if not f.in_book}
    complete = True
    if name is None or (isinstance(name, str) and not name.strip()):
        filled = next(k for k, v in given.items() if v not in (None, ""))
        book.warnings.append(
            f"{book.place(region, table.key, r)} is empty, but {book.place(region, filled, r)} is not; the row is not read without its name"
        )
        return row, False
    for f in table.fields:
        if not f.in_book:
            continue
        value = given[f.name]
        place = book.place(region, f.name, r)
        if isinstance(value, str) and value.startswith("#") and value.rstrip("!?") in ("#N/A", "#VALUE", "#REF", "#DIV/0", "#NUM", "#NAME", "#NULL"):
            book.problems.append(f"{place} shows the error {value}; {f.name} needs a value")
            complete = False
            continue
        if f.numeric:
            value = _number_from_text(value, f, book, place)
        if table.name == "assumptions" and f.name == "value":
            row[f.name], fine = _assumption(book, str(name).strip(), value, place)
            complete = complete and fine
            continue
        parsed, problem = parse_cell(value, f)
        if problem and problem.startswith("is empty"):
            book.warnings.append(f"{place} {problem}; the row {str(name)[:40]!r} is not computed without it")
            complete = False
        elif problem:
            book.problems.append(f"{place} {problem}")
            complete = False
        row[f.name] = 0.0 if parsed is None and blank_counts_as_zero(f) else parsed
    return row, complete


def wanted_assumption(name: str) -> Field | None:
    """What may stand as the value of an assumption; None for one that is not known."""
    if name not in shipped().assumptions:
        return None
    default = shipped().assumptions[name]
    return assumption_field(name, "date" if isinstance(default, dt.date) else "name" if isinstance(default, str) else "")


def _assumption(book: OpenBook, name: str, value: Any, place: str) -> tuple[Any, bool]:
    wanted = wanted_assumption(name)
    if wanted is None:
        book.warnings.append(f"{place}: assumption {name[:40]!r} is not known and not used; nearest: {nearest(name, shipped().assumptions)}")
        return None, False
    if wanted.numeric:
        value = _number_from_text(value, wanted, book, place)
    parsed, problem = parse_cell(value, wanted)
    if problem:
        book.problems.append(f"{place} {problem}")
    return parsed, problem is None


def _below(book: OpenBook, table: Table, region: Region) -> None:
    """Entries directly under a table are not part of it; say so."""
    ws = book.formulas[region.sheet]
    under = region.first + region.count
    column = region.columns[table.key]
    if ws.cell(under, column).value not in (None, ""):
        book.warnings.append(
            f"{_place(region.sheet, under, column)} stands under table {table.book_name} and is not part of it; use the "
            f"table's blank rows or extend it"
        )


def named_cell(book: OpenBook, name: str) -> tuple[str, int, int] | None:
    """Sheet, row and column that a name of the workbook points at; None when it is gone or leads to no single cell."""
    from openpyxl.utils import column_index_from_string

    defined = book.formulas.defined_names.get(name)
    target = re.fullmatch(r"'?(.+?)'?!\$?([A-Z]+)\$?(\d+)", str(defined.attr_text or "")) if defined is not None else None
    if target is None or target.group(1).replace("''", "'") not in book.sheets:
        return None
    return target.group(1).replace("''", "'"), int(target.group(3)), column_index_from_string(target.group(2))


def _check_names(book: OpenBook) -> dict[str, Any]:
    """Values of the names, each checked against the row of Assumptions that it should point at."""
    out: dict[str, Any] = {}
    region = book.regions.get("Assumptions")
    if region is None or "value" not in region.columns:
        return out
    own = {str(book.raw(region, "name", r) or "").strip(): r for r in range(region.count)}
    for name in shipped().assumptions:
        target = named_cell(book, name)
        if target is None:
            book.problems.append(f"the name {name} is gone or broken; it must point at the value of {name} in Assumptions")
            continue
        row = own.get(name)
        if row is not None and target[1:] != (region.first + row, region.columns["value"]):
            points_at = _place(*target)
            book.problems.append(
                f"{book.place(region, 'value', row)}: the name {name} points at {points_at} instead; undo the sorting of Assumptions"
            )
        out[name] = book.value_at(*target)
    return out


def _inputs(book: OpenBook) -> dict[str, list[Row]]:
    """All input tables, checked; raises when anything cannot be computed at all."""
    tables = {name: _rows(book, table) for name, table in TABLES.items()}
    _check_names(book)
    if book.problems:
        raise BadFile(summed_up(str(book.path), book.problems), book.problems)
    return tables


def read_catalog(path: str | Path) -> Catalog:
    """The catalogue of an edited workbook.

    Raises
    ------
    BadFile
        Naming every problem by sheet and cell, all at once.
    """
    book = open_book(Path(path))
    tables = _inputs(book)
    catalog = Catalog(tables, str(path), book.warnings)
    for name, value in shipped().assumptions.items():
        if name not in catalog.assumptions:
            catalog.assumptions[name] = value
            catalog.warnings.append(f"assumption {name} is missing in the workbook; the shipped value {value} counts")
    catalog.warnings += list(_doubts(catalog, book))
    return catalog


def _rises(table: str, row: Row) -> bool:
    """Whether what is given of a range is in order."""
    given = [row[c] for c in ASCENDING[table] if row[c] is not None]
    return given == sorted(given)


def _doubts(catalog: Catalog, book: OpenBook) -> Iterator[str]:
    """What a person should look at: order of ranges, memory, sources, age, names that lead nowhere."""
    today = catalog.assumptions.get("as_of")
    limit = catalog.assumptions.get("price_age_days_max") or 0
    for r in catalog.rows("cloud_rates"):
        if not _rises("cloud_rates", r):
            yield f"rental offer {r['rate']}: low rate, rate and high rate are not in order"
    for r in catalog.rows("prices"):
        if not _rises("prices", r):
            yield f"price of {r['gpu']}: low, typical and high are not in order"
        if r["typical"] is not None and not r["source"]:
            yield f"price of {r['gpu']} has no source; cost functions refuse it until one is given"
    stale = [
        r for r in catalog.rows("prices") if isinstance(r["as_of"], dt.date) and isinstance(today, dt.date) and (today - r["as_of"]).days > limit
    ]
    if stale:
        oldest = min(stale, key=lambda r: r["as_of"])
        yield f"{len(stale)} prices are older than {limit:g} days, the oldest is that of {oldest['gpu']} of {oldest['as_of']}"
    for r in catalog.rows("gpus"):
        if r["memory_usable_mib"] > r["memory_gb"] * 1024 * 1.01:
            yield f"card {r['gpu']}: usable memory of {r['memory_usable_mib']:g} MiB is above the {r['memory_gb']:g} GB of the box"
    for table, column, other in LOOKED_UP:
        names = {str(r[TABLES[other].key]).lower() for r in catalog.rows(other)}
        for r in catalog.rows(table):
            if str(r[column]).lower() not in names:
                near = nearest(str(r[column]), [str(x[TABLES[other].key]) for x in catalog.rows(other)], 1)
                yield (
                    f"{TABLES[table].book_name} {r[TABLES[table].key]!r}: {column} {r[column]!r} is not in "
                    f"{TABLES[other].book_name} (nearest: {near}); its row shows an error"
                )


def checked_book(path: str | Path) -> OpenBook:
    """A workbook of ours, opened and every input checked; its values are those of `values_of`.

    Raises
    ------
    BadFile
        As `read_catalog`.
    """
    book = open_book(Path(path))
    _inputs(book)
    return book


def book_values(path: str | Path) -> dict[str, dict[str, Any]]:
    """What the core computes for every formula cell of an edited workbook.

    Returns
    -------
    {sheet title: {cell: value}}; errors as "#N/A", empty text as "", dates as serial numbers. A user's own formulas stand
    under "unknown".

    Raises
    ------
    BadFile
        As `read_catalog`.
    """
    return values_of(checked_book(path))


def _raw_value(value: Any) -> Any:
    value = serial(value)
    if isinstance(value, dt.time):
        return value.hour / 24 + value.minute / 1440 + value.second / 86400
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def cells_of(book: OpenBook) -> tuple[BookSpec, Cells]:
    """What should stand in an opened book, and every cell of it computed from its inputs.

    Raises
    ------
    BadFile
        Naming every table that cannot be computed.
    """
    spec = books.build(shipped(), book.lang, book.flavour)
    tables: dict[str, TableValues] = {}
    for name, (_, t, _, _) in spec.all_tables().items():
        region = book.regions.get(name)
        formulas = books.formulas_of(t)
        lost = [c.name for c in t.columns if region is None or c.name not in region.columns]
        uneven = region is not None and any(isinstance(f, list) and len(f) != region.count for f in formulas.values())
        if region is None or uneven or any(c in formulas or t.column(c).kind == "fixed" for c in lost if c != "meaning"):
            where = "is gone" if region is None else "has other rows than it was made with" if uneven else f"lacks the column {', '.join(lost)}"
            book.problems.append(f"table {name} {where}; copy the inputs into a new template")
            continue
        columns = {
            c.name: [_raw_value(book.raw(region, c.name, r)) for r in range(region.count)] if c.name in region.columns else [None] * region.count
            for c in t.columns
            if c.kind != "formula"
        }
        tables[name] = TableValues(name, region.count, columns, formulas)
    if book.problems:
        raise BadFile(summed_up(str(book.path), book.problems), book.problems)
    names = {k: _raw_value(v) for k, v in _check_names(book).items()}
    return spec, Cells(tables, names)


def values_of(book: OpenBook) -> dict[str, dict[str, Any]]:
    """Values for every formula cell of an opened book."""
    spec, cells = cells_of(book)
    owners: dict[tuple[str, int, int], Any] = {}
    for name, values in cells.tables.items():
        region = book.regions[name]
        for column in values.formulas:
            for r in range(region.count):
                owners[(region.sheet, region.first + r, region.columns[column])] = values.columns[column][r]
    free = {"=" + formula.text(e): e for spots in books.free_cells(spec).values() for _, _, e in spots}
    out: dict[str, dict[str, Any]] = {}
    unknown: dict[str, Any] = {}
    for ws in book.formulas.worksheets:
        here: dict[str, Any] = {}
        for (row, column), cell in sorted(ws._cells.items()):  # what exists; iter_rows would make every empty cell of the rectangle
            if cell.data_type != "f":
                continue
            key = (ws.title, row, column)
            if key in owners:
                here[cell.coordinate] = plain(owners[key])
            elif isinstance(cell.value, str) and cell.value in free:
                here[cell.coordinate] = plain(cells.evaluate(free[cell.value]))
            else:
                unknown[f"{ws.title}!{cell.coordinate}"] = plain(_raw_value(book.value_at(ws.title, row, column)))
        out[ws.title] = here
    out["unknown"] = unknown
    return out
