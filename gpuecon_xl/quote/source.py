"""Request and seller files as plain trees, each value with the line it stands in.

Here: TOML, YAML, CSV, xlsx; sizes and depths that are not read. Not here: what the fields mean (`fields`, `request`).
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from gpuecon_xl.catalog import summed_up
from gpuecon_xl.errors import BadFile, nearest
from gpuecon_xl.quote import fields

MAX_BYTES = 1_000_000  # of a request; forty lines take a few thousand
MAX_TABLE_BYTES = 50_000_000
MAX_ROWS = 100_000
MAX_COLUMNS = 2_000  # a hundred lines of a dozen fields, and the rest
MAX_DEPTH = 8
MAX_NODES = 20_000

NO_HEAD = "a cell without a head"  # stands in the tree of a row that has one
_NUMBERED = re.compile(r"line(\d{1,3})\.(.+)")

Place = tuple[str | int, ...]


@dataclass
class Source:
    """A tree of values, and where each stands in its file."""

    name: str
    tree: dict[str, Any]
    lines: dict[Place, int] = field(default_factory=dict)
    folder: Path = field(default_factory=Path)
    row: int = 0  # of a table; 0 for a file of its own

    def at(self, *place: str | int) -> str:
        """File, line and field, as a message begins."""
        number, known = self.row, place
        while not number and known:
            number, known = self.lines.get(known, 0), known[:-1]
        shown = ""
        for part in place:
            shown += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if shown else str(part)
        where = f"{self.name}{f' line {number}' if number else ''}"
        return f"{where}, {shown[:80]}" if shown else where


def read(path: Path) -> Source:
    """A request or seller file.

    Raises
    ------
    BadFile
        When there is none, or it cannot be read: one sentence.
    """
    if not path.is_file():
        raise BadFile(f"{path}: no such file; the path of a TOML or YAML file is due")
    if path.suffix.lower() not in (".toml", ".yaml", ".yml"):
        raise BadFile(f"{path}: {path.suffix or 'no'} is no kind of request; a file that ends in .toml, .yaml or .yml is due")
    text = _text(path, MAX_BYTES)
    made = _toml(path, text) if path.suffix.lower() == ".toml" else _yaml(path, text)
    made.folder = path.parent
    return made


def _text(path: Path, limit: int) -> str:
    size = path.stat().st_size
    if size > limit:
        raise BadFile(f"{path} has {size} bytes; at most {limit} are read")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadFile(f"{path} is not UTF-8 text; save it as UTF-8") from None


# ------------------------------------------------------------------------------------------------ TOML

_HEAD = re.compile(r"^\s*(\[\[?)\s*([A-Za-z0-9_.\"'\- ]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"^\s*([A-Za-z0-9_\-]+|\"[^\"]*\"|'[^']*')((?:\s*\.\s*[A-Za-z0-9_\-]+)*)\s*=\s*(.*)$")


def _toml(path: Path, text: str) -> Source:
    try:
        tree = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise BadFile(f"{path} is no TOML: {str(error)[:120]}") from None
    except (RecursionError, ValueError, ArithmeticError) as error:
        deep = isinstance(error, RecursionError)
        what = "values are nested too deep" if deep else "a number has thousands of digits, or such an exponent"
        raise BadFile(f"{path} cannot be read: {what}; a short request is due") from None
    return Source(path.name, tree, toml_lines(text))


def toml_lines(text: str) -> dict[Place, int]:
    """The line of each key and table of a TOML file; what cannot be told stands in the line of its table."""
    lines: dict[Place, int] = {}
    counts: dict[str, int] = {}
    table: Place = ()
    quote = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if quote:
            if quote in line:
                quote = ""
            continue
        head, key = _HEAD.match(line), _KEY.match(line)
        if head and not key:
            parts = [p.strip().strip("\"'") for p in head[2].split(".")]
            table = tuple(parts)
            if head[1] == "[[":
                counts[head[2]] = counts.get(head[2], -1) + 1
                table = (*parts, counts[head[2]])
            lines.setdefault(table[:1], number)
            lines[table] = number
        elif key:
            names = (key[1].strip("\"'"), *(p.strip() for p in key[2].split(".") if p.strip()))
            for i in range(len(names)):
                lines.setdefault((*table, *names[: i + 1]), number)
            for mark in ('"""', "'''"):
                if key[3].startswith(mark) and key[3].count(mark) == 1:
                    quote = mark
    return lines


# ------------------------------------------------------------------------------------------------ YAML


def _yaml(path: Path, text: str) -> Source:
    import yaml

    lines: dict[Place, int] = {}
    nodes = 0

    def fault(message: str, mark: Any) -> BadFile:
        return BadFile(f"{path} line {mark.line + 1}: {message}")

    def build(node: Any, place: Place) -> Any:
        nonlocal nodes
        nodes += 1
        if nodes > MAX_NODES or len(place) > MAX_DEPTH:
            raise fault(f"more than {MAX_NODES} values or {MAX_DEPTH} levels; a short request is due", node.start_mark)
        lines.setdefault(place, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            out: dict[str, Any] = {}
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    raise fault("a key is no text; a plain name is due", key.start_mark)
                if key.value in out:
                    raise fault(f"{key.value[:40]!r} stands there twice; once is due", key.start_mark)
                lines[(*place, key.value)] = key.start_mark.line + 1
                out[key.value] = build(value, (*place, key.value))
            return out
        if isinstance(node, yaml.SequenceNode):
            return [build(v, (*place, i)) for i, v in enumerate(node.value)]
        return _scalar(node, fault)

    try:
        for count, event in enumerate(yaml.parse(text, Loader=yaml.SafeLoader)):
            if count > 2 * MAX_NODES:
                raise fault(f"more than {MAX_NODES} values; a short request is due", event.start_mark)
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise fault("anchors and aliases (& and *) are not read; write the value out", event.start_mark)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        tree = {} if node is None else build(node, ())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise BadFile(
            f"{path}{f' line {mark.line + 1}' if mark else ''} is no YAML: {' '.join(str(getattr(error, 'problem', None) or error).split())[:120]}"
        ) from None
    except RecursionError:
        raise BadFile(f"{path} is nested too deep; a short request is due") from None
    if not isinstance(tree, dict):
        raise BadFile(f"{path} holds no fields; a request begins with fields such as customer:")
    return Source(path.name, tree, lines)


def _scalar(node: Any, fault: Any) -> Any:
    kind, text = node.tag.rpartition(":")[2], node.value
    if not node.tag.startswith("tag:yaml.org,2002:") or kind not in ("str", "int", "float", "bool", "null", "timestamp"):
        raise fault(f"the tag {node.tag[:40]!r} is not read; a plain value is due", node.start_mark)
    try:
        if kind == "int":
            return int(text.replace("_", ""), 0) if len(text) < 40 else text
        if kind == "float":
            return Decimal(text.replace("_", "").replace(".inf", "inf").replace(".nan", "nan"))
        if kind == "timestamp":
            return dt.date.fromisoformat(text[:10])
    except (ValueError, ArithmeticError):
        return text
    if kind == "bool":
        return text.lower() in ("true", "yes", "on")
    return None if kind == "null" else text


# ------------------------------------------------------------------------------------------------ tables


def rows(path: Path) -> Iterator[Source]:
    """Requests of a CSV or xlsx table, one a row; the heads name fields: ``currency``, ``customer.name``, ``line1.gpu``, ``economics.api``."""
    if not path.is_file():
        raise BadFile(f"{path}: no such file; the path of a CSV or xlsx table is due")
    kind = path.suffix.lower()
    if kind == ".csv":
        lines = _csv(path)
    elif kind == ".xlsx":
        lines = _xlsx(path)
    else:
        raise BadFile(f"{path}: {kind or 'no'} is no kind of table; a file that ends in .csv or .xlsx is due")
    _, head = next(lines, (0, []))
    names = [str(h or "").strip() for h in head]
    if not any(names):
        raise BadFile(f"{path} has no heads; names of fields such as customer.name and line1.gpu are due in the first line")
    doubled = sorted({n for n in names if n and names.count(n) > 1})
    if doubled:
        raise BadFile(f"{path} line 1 has the head {doubled[0][:60]!r} twice; one column for each field is due")
    _check_heads(path, names)
    for number, values in lines:
        if number > MAX_ROWS:
            raise BadFile(f"{path} has more than {MAX_ROWS} lines; a smaller table is due, without anything far below")
        if any(v not in (None, "") for v in values):
            yield Source(path.name, _tree(names, values), folder=path.parent, row=number)


def _check_heads(path: Path, names: list[str]) -> None:
    if len(names) > MAX_COLUMNS:
        raise BadFile(f"{path} has {len(names)} columns; at most {MAX_COLUMNS} are due")
    known = [f.name for f in fields.REQUEST]
    known += [
        f"{block}.{f.name}" for block, own in (("customer", fields.CUSTOMER), ("line1", fields.LINE), ("economics", fields.ECONOMICS)) for f in own
    ]
    problems = []
    for name in filter(None, names):
        line = _NUMBERED.fullmatch(name)
        asked = f"line1.{line[2]}" if line and 1 <= int(line[1]) <= fields.MOST_LINES else name
        if asked not in known:
            problems.append(f"{path.name} line 1 has the head {name[:60]!r}, which is no field; nearest: {nearest(asked[:60], known)}")
    if problems:
        raise BadFile(summed_up(str(path), problems) if len(problems) > 1 else problems[0], problems)


def _tree(names: list[str], values: list[Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    numbered: dict[int, dict[str, Any]] = {}
    for name, value in zip(names, values, strict=False):
        if not name or value is None or (isinstance(value, str) and not value.strip()):
            continue
        line = _NUMBERED.fullmatch(name)
        if line:
            numbered.setdefault(int(line[1]), {})[line[2]] = value
            continue
        block, dot, own = name.partition(".")
        if dot and block in ("customer", "economics"):
            tree.setdefault(block, {})[own] = value
        else:
            tree[name] = value
    if numbered:
        tree["line"] = [numbered[n] for n in sorted(numbered)]
    if any(v not in (None, "") for v in values[len(names) :]):
        tree[NO_HEAD] = True
    return tree


def _csv(path: Path) -> Iterator[tuple[int, list[Any]]]:
    text = _text(path, MAX_TABLE_BYTES)
    head = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=";" if head.count(";") > head.count(",") else ",")
    while True:
        begun = reader.line_num + 1
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise BadFile(f"{path} line {begun} is no CSV: {error}") from None
        yield begun, values


def _xlsx(path: Path) -> Iterator[tuple[int, list[Any]]]:
    import openpyxl

    from gpuecon_xl.reader import check_package

    check_package(path)
    try:
        sheet = openpyxl.load_workbook(path, data_only=True, read_only=True).worksheets[0]
        sheet.reset_dimensions()  # each row as wide as it is: a stray cell far away costs nothing, a wrong note of the size hides nothing
        for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
            yield number, [Decimal(repr(v)) if isinstance(v, float) else v for v in values]
    except (KeyError, ValueError, IndexError, OSError) as error:
        raise BadFile(f"{path} cannot be read as a table: {type(error).__name__}") from None
