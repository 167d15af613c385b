"""The catalogue: facts from CSV files or an edited workbook, checked, found by name.

Here: loading, checking, aliases, overlaying edits. Not here: what the columns mean (`schema`), how a workbook is read
(`reader`). Loading imports neither numpy nor pandas.
"""

from __future__ import annotations

import csv
import datetime as dt
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuecon_xl.errors import BadFile, BadValue, NameNotFound, nearest
from gpuecon_xl.schema import TABLES, Field, Table, assumption_field

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]

EXCEL_EPOCH = dt.date(1899, 12, 30)
FIRST_SERIAL, LAST_SERIAL = 36_526, 73_050  # 2000 to 2099

MAX_FILE_BYTES = 64_000_000  # a folder of CSV larger than this is not a catalogue

_VENDOR_WORDS = re.compile(r"^(nvidia|amd|intel|geforce|tesla|quadro|radeon|instinct)+")
# Words at the end of a model's name that say how a checkpoint was made, not what it is; longest first.
_FORMAT_SUFFIX = (
    ("compressedtensors", None), ("quantized.w4a16", "int4-gptq"), ("quantizedw4a16", "int4-gptq"), ("w4a16", "int4-gptq"),
    ("quantized.w8a8", "int8"), ("w8a8", "int8"),
    ("fp8dynamic", "fp8"), ("fp8kv", "fp8"), ("fp8block", "fp8"), ("fp8", "fp8"), ("nvfp4", "nvfp4"), ("mxfp4", "mxfp4"), ("awqint4", "int4-awq"),
    ("awq4bit", "int4-awq"), ("awq", "int4-awq"), ("gptqint4", "int4-gptq"), ("gptq4bit", "int4-gptq"), ("gptqint8", "int8"),
    ("gptq", "int4-gptq"), ("bnb4bit", "int4-awq"), ("bnbint4", "int4-awq"), ("int4", "int4-awq"), ("int8", "int8"),
    ("q4km", "q4_k_m"), ("q40", "q4_0"), ("q5km", "q5_k_m"), ("q6k", "q6_k"), ("q80", "q8_0"), ("gguf", "q4_k_m"),
    ("fp16", "fp16"), ("bf16", "bf16"),
)  # fmt: skip
_KIND_SUFFIX = ("instruct", "chat", "hf", "base", "it", "thinking", "2507", "preview", "pt", "ifable", "abliterated")


def key_of(name: str) -> str:
    """A name without case, blanks and punctuation, so that "RTX 5090", "rtx5090" and "rtx-5090" are one."""
    return re.sub(r"[^a-z0-9.+]", "", name.lower())


def _candidates(name: str) -> Iterable[tuple[str, str | None]]:
    """Ever shorter keys of a model's name, each with the number format that its dropped words told."""
    name = re.sub(r"[-_ ]([48])-?bit$", r"-int\1", name, flags=re.IGNORECASE)  # "-4bit", but not "4b-it"
    tail = re.sub(r"\s*\(.*?\)\s*$", "", name).rsplit("/", 1)[-1]
    for start in dict.fromkeys((name, tail)):
        key, told = key_of(start), None
        yield key, None
        stack = True
        while stack:
            stack = False
            for suffix, fmt in _FORMAT_SUFFIX:
                if key.endswith(suffix) and len(key) > len(suffix) + 2:
                    key, told, stack = key[: -len(suffix)], told or fmt, True
                    yield key, told
                    break
            else:
                for suffix in _KIND_SUFFIX:
                    if key.endswith(suffix) and len(key) > len(suffix) + 2:
                        key, stack = key[: -len(suffix)], True
                        yield key, told
                        break


def _format_told(name: str) -> str | None:
    """The number format that the end of a model's name tells, if any."""
    return next((told for _, told in _candidates(name) if told), None)


def parse_cell(value: Any, f: Field) -> tuple[Any, str | None]:
    """The typed value of one field, or what is wrong with it.

    Returns
    -------
    value : float, str, date or None.  problem : None, or the rest of a sentence that begins with the place.
    """
    if isinstance(value, str):
        value = value.strip()
    if value is None or value == "":
        return (None, f"is empty; {_wanted(f)} is due") if f.required else (None, None)
    if f.kind == "any":
        if isinstance(value, int | float) and not isinstance(value, bool):
            return (float(value), None) if math.isfinite(value) else (None, f"is {value}; a finite number is due")
        if isinstance(value, dt.datetime):
            return value.date(), None
        if isinstance(value, str):
            if re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
                return dt.date.fromisoformat(value), None
            plain = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", value)
            return (float(value) if plain else value), None
        return value, None
    if f.numeric:
        if isinstance(value, bool | dt.date | dt.datetime):
            return None, f"is {value}; {_wanted(f)} is due"
        try:
            number = float(value)
        except (TypeError, ValueError):
            return None, f"is {str(value)[:40]!r}; {_wanted(f)} is due"
        if not math.isfinite(number):
            return None, f"is {number}; {_wanted(f)} is due"
        if (f.low is not None and number < f.low) or (f.high is not None and number > f.high) or (f.positive and number == 0):
            return None, f"is {number:g}; {_wanted(f)} is due"
        if f.kind == "count" and number != int(number):
            return None, f"is {number:g}; a whole number is due" + (f" ({f.unit})" if f.unit else "")
        return number, None
    if f.kind == "date":
        if isinstance(value, dt.datetime):
            return value.date(), None
        if isinstance(value, dt.date):
            return value, None
        if isinstance(value, int | float) and not isinstance(value, bool) and FIRST_SERIAL <= value < LAST_SERIAL:
            return (EXCEL_EPOCH + dt.timedelta(days=int(value))), None  # a range hands dates over as Excel counts them
        try:
            text = str(value)
            return dt.date.fromisoformat(text if len(text) > 7 else f"{text}-01"), None
        except ValueError:
            return None, f"is {str(value)[:40]!r}; a date such as 2026-09-30 is due"
    text = str(int(value)) if isinstance(value, float) and value == int(value) else str(value)
    if f.kind in ("flag", "choice") and text not in f.choices:
        low = text.lower()
        if low in f.choices:
            return low, None
        return None, f"is {text[:40]!r}; one of {', '.join(f.choices)} is due"
    return text, None


def _wanted(f: Field) -> str:
    if not f.numeric:
        return "a text"
    what = "a number above 0" if f.positive else "a number"
    if not f.positive and f.low is not None:
        what += f" of at least {f.low:g}"
    if f.high is not None:
        what += f", at most {f.high:g}"
    return what + (f" ({f.unit})" if f.unit else "")


class Catalog:
    """Tables of facts, found by name.

    Parameters
    ----------
    tables : rows of each table of `schema.TABLES`, typed (float, str, date or None).
    origin : where they come from, for messages.
    warnings : what a person should look at, one sentence each.
    """

    def __init__(self, tables: Mapping[str, list[Row]], origin: str, warnings: Iterable[str] = ()) -> None:
        self.tables = dict(tables)
        self.origin = origin
        self.warnings = list(warnings)
        self._index: dict[str, dict[str, Row]] = {}
        self.assumptions: dict[str, Any] = {r["name"]: r["value"] for r in self.tables["assumptions"]}
        self.memo: dict[Any, Any] = {}  # what callers derive once from this catalogue (never changes after loading)

    def rows(self, table: str) -> list[Row]:
        """Rows of a table."""
        return self.tables[table]

    def _names(self, table: str) -> dict[str, Row]:
        found = self._index.get(table)
        if found is None:
            key = TABLES[table].key
            found = {}
            for row in self.tables[table]:
                if row.get("hf_id"):
                    found.setdefault(key_of(str(row["hf_id"])), row)
                    found.setdefault(key_of(str(row["hf_id"]).rsplit("/", 1)[-1]), row)
                for alias in str(row.get("aliases") or "").split("|"):
                    if alias.strip():
                        found.setdefault(key_of(alias), row)
            exact: dict[str, Row] = {}
            for row in self.tables[table]:
                exact.setdefault(key_of(str(row[key])), row)
            found.update(exact)  # a name of its own goes before another row's alias
            self._index[table] = found
        return found

    def find(self, table: str, name: Any) -> Row:
        """The row that a name or alias means.

        Raises
        ------
        NameNotFound
            With the nearest names.
        """
        if not isinstance(name, str) or not name.strip():
            raise NameNotFound(f"{_SINGULAR[table]} {name!r}: a name is due, such as {self._sample(table)}")
        row = self._names(table).get(key_of(name))
        if row is None and table == "gpus":
            short = _VENDOR_WORDS.sub("", key_of(name))
            row = self._names(table).get(short) or self._names(table).get(_VENDOR_WORDS.sub("", re.sub(r"\d+gb.*$", "", short)))
        if row is None:
            known = [str(r[TABLES[table].key]) for r in self.tables[table]]
            raise NameNotFound(f"{_SINGULAR[table]} {name[:60]!r} is not in the catalogue; nearest: {nearest(name, known)}")
        return row

    def find_model(self, name: Any) -> tuple[Row, str | None]:
        """The model that a name means, and the number format that the name tells ("…-FP8", "…-AWQ"), if any."""
        if isinstance(name, str) and name.strip():
            names = self._names("models")
            for key, told in _candidates(name.strip()):
                if key in names:
                    row = names[key]
                    own = key_of(str(row["model"])) == key  # "…-oss-20b": nothing of a name of its own is a suffix
                    return row, told if own or told else _format_told(name.strip())
        return self.find("models", name), None

    def _sample(self, table: str) -> str:
        rows = self.tables[table]
        return str(rows[0][TABLES[table].key]) if rows else "a row of the table"

    def assumption(self, name: str) -> Any:
        """A scalar assumption."""
        try:
            return self.assumptions[name]
        except KeyError:
            raise NameNotFound(f"assumption {name!r} is not in the catalogue; nearest: {nearest(name, self.assumptions)}") from None

    def frame(self, table: str) -> pd.DataFrame:
        """A table as a pandas DataFrame, by its catalogue name or its workbook name."""
        import pandas as pd

        wanted = next((t for t in TABLES.values() if table.lower() in (t.name, t.book_name.lower())), None)
        if wanted is None:
            raise NameNotFound(f"table {table!r} does not exist; nearest: {nearest(table, TABLES)}")
        return pd.DataFrame(self.tables[wanted.name], columns=[f.name for f in wanted.fields])


_SINGULAR = {
    "assumptions": "assumption", "gpus": "GPU", "prices": "price of", "models": "model", "precisions": "precision",
    "links": "link", "engines": "engine", "efficiency": "efficiency", "cloud_rates": "cloud rate",
    "api_prices": "API", "open_weight": "model", "workloads": "workload", "builds": "build", "benchmarks": "benchmark",
}  # fmt: skip


def check_rows(table: Table, rows: list[Row], place: Any) -> list[str]:
    """Problems of a table as a whole: names used twice, characters that look-ups would misread."""
    problems: list[str] = []
    for number, first in odd_names(table, rows):
        name = str(rows[number][table.key])[:40]
        if first is None:
            problems.append(f"{place(number, table.key)} is {name!r}; a name without * ? ~ is due")
        else:
            problems.append(f"{place(number, table.key)} repeats {name!r} of {place(first, table.key)}; one row for each name is due")
    return problems


def odd_names(table: Table, rows: list[Row]) -> Iterator[tuple[int, int | None]]:
    """Rows whose name look-ups would misread, with the row that has it already; None where a character is the reason."""
    seen: dict[str, int] = {}
    for number, row in enumerate(rows):
        name = row.get(table.key)
        if not isinstance(name, str):
            continue
        if re.search(r"[*?~]", name):
            yield number, None
        folded = name.lower()
        if folded in seen and table.name != "benchmarks":
            yield number, seen[folded]
        seen.setdefault(folded, number)


def _read_csv(path: Path, table: Table, problems: list[str]) -> list[Row]:
    rows: list[Row] = []
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.DictReader(file)
        missing = [f.name for f in table.fields if f.name not in (reader.fieldnames or [])]
        if missing:
            problems.append(f"{path.name} line 1 lacks the column {', '.join(missing)}")
            return rows
        for line in reader:
            row: Row = {}
            for f in table.fields:
                value, problem = parse_cell(line[f.name], f)
                if problem:
                    problems.append(f"{path.name} line {reader.line_num} column {f.name} {problem}")
                if table.name == "assumptions" and f.name == "value":
                    value, problem = parse_cell(line["value"], assumption_field(line["name"].strip(), line["unit"].strip()))
                    if problem:
                        problems.append(f"{path.name} line {reader.line_num} column {f.name} {problem}")
                row[f.name] = 0.0 if value is None and blank_counts_as_zero(f) else value
            rows.append(row)
    problems += check_rows(table, rows, lambda n, c: f"{path.name} row {n + 2} column {c}")
    return rows


# A blank price is no price, not a free card.
_NO_ZERO = frozenset(("low", "typical", "high", "value"))


def blank_counts_as_zero(f: Field) -> bool:
    """Whether an empty cell of this column counts as 0, as a formula counts it."""
    return f.numeric and not f.required and not f.positive and f.name not in _NO_ZERO


def shipped_folder() -> Path:
    """Where the shipped ``catalog/`` lies: inside the installed package, or beside it in a source checkout."""
    here = Path(__file__).resolve().parent
    inside = here / "_catalog"
    return inside if inside.is_dir() else here.parent / "catalog"


@lru_cache(maxsize=1)
def shipped() -> Catalog:
    """The shipped catalogue, read once."""
    return _load_folder(shipped_folder(), None)


def _load_folder(folder: Path, base: Catalog | None) -> Catalog:
    problems: list[str] = []
    tables: dict[str, list[Row]] = {}
    found = 0
    for name, table in TABLES.items():
        path = folder / f"{name}.csv"
        if path.is_file():
            found += 1
            if path.stat().st_size > MAX_FILE_BYTES:
                problems.append(f"{path.name} has {path.stat().st_size} bytes; at most {MAX_FILE_BYTES} are read")
                continue
            try:
                tables[name] = _read_csv(path, table, problems)
            except UnicodeDecodeError:
                problems.append(f"{path.name} is not UTF-8 text; save it as CSV UTF-8")
        elif base is None:
            problems.append(f"{path.name} is missing in {folder}")
        else:
            tables[name] = base.tables[name]
    if base is not None and not found:
        raise BadFile(f"{folder} holds no catalogue file; one of {', '.join(f'{n}.csv' for n in TABLES)} is due")
    if problems:
        raise BadFile(summed_up(str(folder), problems), problems)
    catalog = Catalog(tables, str(folder))
    _complete(catalog, base)
    return catalog


def read_table(path: Path) -> tuple[Table, list[Row]]:
    """The table that one CSV file holds, known by its header row, with its rows.

    Raises
    ------
    BadFile
        Naming every line and column that cannot be used.
    """
    if not path.is_file():
        raise BadFile(f"{path}: no such file; the path of a CSV file is due")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise BadFile(f"{path} has {path.stat().st_size} bytes; at most {MAX_FILE_BYTES} are read")
    problems: list[str] = []
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            head = set(next(csv.reader(file), []))
        table = max(TABLES.values(), key=lambda t: len(head & set(t.by_name)) / len(head | set(t.by_name)))
        if table.key not in head:
            raise BadFile(f"{path} line 1 is the header row of no table; that of a file such as models.csv is due")
        rows = _read_csv(path, table, problems)
    except UnicodeDecodeError:
        raise BadFile(f"{path} is not UTF-8 text; save it as CSV UTF-8") from None
    except csv.Error as error:
        raise BadFile(f"{path} is no CSV file ({error}); a file such as models.csv is due") from None
    if problems:
        raise BadFile(summed_up(str(path), problems), problems)
    return table, rows


def _with_rows(path: Path, base: Catalog) -> Catalog:
    """A catalogue with the rows of one file put in: they go before rows of the same name and before aliases of others."""
    table, rows = read_table(path)
    own = {str(r[table.key]).lower() for r in rows}
    kept = [r for r in base.rows(table.name) if str(r[table.key]).lower() not in own or table.name == "benchmarks"]
    catalog = Catalog({**base.tables, table.name: [*rows, *kept]}, str(path))
    _complete(catalog, base)
    return catalog


def summed_up(where: str, problems: list[str]) -> str:
    """First line of a refusal: the problem, or how many there are."""
    return f"{where}: {problems[0]}" if len(problems) == 1 else f"{where} has {len(problems)} problems:"


def _complete(catalog: Catalog, base: Catalog | None) -> None:
    """Assumptions that an older file lacks keep their shipped value."""
    if base is not None:
        for name, value in base.assumptions.items():
            catalog.assumptions.setdefault(name, value)


def load_catalog(path: str | Path | None = None) -> Catalog:
    """The shipped catalogue, or one overlaid with an edited workbook, a folder of CSV or one CSV file.

    Parameters
    ----------
    path : None, an .xlsx made by this product and edited, a folder with files named as in ``catalog/`` (each replaces the
        shipped table), or one .csv file with the header row of such a file (its rows are added, or replace those of their name).

    Raises
    ------
    BadFile
        Naming every problem by sheet and cell, or file and line, all at once.
    """
    if path is None:
        return shipped()
    where = Path(path)
    if where.is_dir():
        return _load_folder(where, shipped())
    if where.suffix.lower() == ".csv":
        return _with_rows(where, shipped())
    from gpuecon_xl.reader import read_catalog

    return read_catalog(where)


def as_catalog(catalog: Any) -> Catalog:
    """The catalogue that an argument means: None, a Catalog, a path, or a table with a header row."""
    if catalog is None:
        return shipped()
    if isinstance(catalog, Catalog):
        return catalog
    if isinstance(catalog, str | Path):
        return _load_path(str(catalog))
    return _overlay_table(catalog)


@lru_cache(maxsize=8)
def _load_path(path: str) -> Catalog:
    return load_catalog(path)


def _overlay_table(table: Any) -> Catalog:
    """The shipped catalogue with one table replaced row by row: a header row and rows, as a range gives them."""
    if not hasattr(table, "__iter__"):
        raise BadValue(f"catalog is {table!r}; a path, a table with a header row or a Catalog is due")
    if hasattr(table, "to_dict") and hasattr(table, "columns"):  # a pandas frame
        header = [str(c) for c in table.columns]
        body = [[None if v != v else v for v in row] for row in table.itertuples(index=False)]
    else:
        grid = [list(r) for r in table]
        if len(grid) < 2:
            raise BadValue("catalog: a table with a header row and at least one row is due")
        header, body = [str(c or "").strip() for c in grid[0]], grid[1:]
    frozen = tuple(header), tuple(tuple(r) for r in body)
    try:
        return _overlay_cached(*frozen)
    except TypeError:
        return _overlay(*frozen)


@lru_cache(maxsize=16)
def _overlay_cached(header: tuple[str, ...], body: tuple[tuple[Any, ...], ...]) -> Catalog:
    return _overlay(header, body)


def _overlay(header: tuple[str, ...], body: tuple[tuple[Any, ...], ...]) -> Catalog:
    base = shipped()
    fits = [(sum(h in t.by_name for h in header), t) for t in TABLES.values() if t.key in header]
    if not fits:
        raise BadValue("catalog: no column of the table is a key such as gpu, model or name; the whole table with its header row is due")
    target = max(fits, key=lambda x: x[0])[1]
    problems: list[str] = []
    rows: list[Row] = []
    for number, line in enumerate(body, start=2):
        given = dict(zip(header, line, strict=False))
        if all(v in (None, "") for v in given.values()):
            continue
        known = base._names(target.name).get(key_of(str(given.get(target.key))), {})
        row: Row = {f.name: known.get(f.name) for f in target.fields}
        for f in target.fields:
            if f.name in given:
                value, problem = parse_cell(given[f.name], f)
                if problem:
                    problems.append(f"row {number} column {f.name} {problem}")
                row[f.name] = 0.0 if value is None and blank_counts_as_zero(f) else value
        rows.append(row)
    if problems:
        raise BadFile(summed_up("catalog", problems), problems)
    made = Catalog({**base.tables, target.name: rows}, "a table given as argument")
    _complete(made, base)
    return made
