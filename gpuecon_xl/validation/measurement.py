"""A table of measurements, row by row: what was measured, and which rows a prediction can be set beside.

Here: reading the CSV (the form of ``catalog/benchmarks.csv``, or that of public collections), names, lengths and formats
that sources leave out, and why a row is left out. Not here: predictions (`comparison`) and figures (`spread`).
"""

from __future__ import annotations

import csv
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpuecon_xl.catalog import Catalog, Row, shipped_folder, summed_up
from gpuecon_xl.errors import BadFile, NameNotFound
from gpuecon_xl.throughput import engine_family

MAX_FILE_BYTES = 64_000_000
MAX_ROWS = 250_000
METRICS = ("decode_tok_s_single", "output_tok_s_total", "total_tok_s", "prefill_tok_s", "ttft_ms")
UNITS = {"ttft_ms": "ms"}  # of metrics that are no rate

# Columns of the catalogue's own form, and what public collections call them.
_COLLECTION = {
    "gpu": "gpu", "gpus": "gpu_count", "tp": "tp", "pp": "pp", "model": "model", "precision": "precision_weights", "kv": "kv_precision",
    "engine": "engine", "batch": "batch_or_concurrency", "input_tokens": "input_tokens", "output_tokens": "output_tokens", "metric": "metric",
    "value": "value", "as_of": "date", "source": "source_url", "note": "note",
}  # fmt: skip
_OWN_ONLY = ("id", "unit", "confidence")
_NUMBERS = ("gpus", "tp", "pp", "batch", "input_tokens", "output_tokens", "value")


@dataclass(frozen=True)
class Measurement:
    """A row that a prediction can be set beside.

    static: a fixed batch runs together; otherwise prompts of others are read meanwhile. mode: ``static``, ``serving``,
    ``max`` (as many as fit) or ``mlperf``. batch None is as many as fit.
    """

    line: int
    id: str
    model: str
    gpu: str
    precision: str
    kv: str | None
    engine: str | None
    gpus: int
    tp: int | None
    pp: int
    batch: float | None
    input_tokens: float
    output_tokens: float
    metric: str
    value: float
    static: bool
    mode: str
    source: str
    gpu_stated: str  # as the source spells it

    @property
    def group(self) -> tuple[str, str, str, str]:
        """Source, card, model and format: rows that share what a source got wrong or right."""
        return self.source, self.gpu_stated, self.model, self.precision


@dataclass(frozen=True)
class Measurements:
    """Rows to compare, and lines that are left out with the code of the reason."""

    origin: str
    rows: list[Measurement]
    left_out: dict[str, list[int]]


@lru_cache(maxsize=1)
def rules() -> Mapping[str, Any]:
    """What ``rules.toml`` holds."""
    with Path(__file__).with_name("rules.toml").open("rb") as file:
        return tomllib.load(file)


def shipped_measurements() -> Path:
    """The curated measurements that come with the package."""
    return shipped_folder() / "benchmarks.csv"


def read_measurements(path: Path | None = None, catalog: Catalog | None = None) -> Measurements:
    """Measurements of a CSV file that can be compared with predictions.

    Parameters
    ----------
    path : a file with the columns of ``catalog/benchmarks.csv``, or with those of a public collection (``gpu_count``,
    ``batch_or_concurrency``, ``source_url`` …); None is the shipped one.  catalog : where models are looked up.

    Returns
    -------
    Measurements

    Raises
    ------
    BadFile
        Naming every line and column that cannot be used.
    """
    from gpuecon_xl.catalog import shipped

    held = shipped() if catalog is None else catalog
    file = shipped_measurements() if path is None else path
    rows: list[Measurement] = []
    left: dict[str, list[int]] = {}
    for line, facts in _facts(file):
        got = _measurement(line, facts, held)
        if isinstance(got, str):
            left.setdefault(got, []).append(line)
        else:
            rows.append(got)
    return Measurements(str(file), rows, left)


def _facts(path: Path) -> list[tuple[int, Row]]:
    """Lines of the file in the catalogue's own column names, numbers as numbers, blanks as None."""
    if not path.is_file():
        raise BadFile(f"{path}: no such file; the path of a CSV file of measurements is due")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise BadFile(f"{path} has {path.stat().st_size} bytes; at most {MAX_FILE_BYTES} are read")
    problems: list[str] = []
    out: list[tuple[int, Row]] = []
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            columns = _columns(path, reader.fieldnames or ())
            for line in reader:
                if len(out) == MAX_ROWS:
                    raise BadFile(f"{path} has more than {MAX_ROWS} rows; divide it")
                row: Row = {own: (line[theirs] or "").strip() for own, theirs in columns.items()}
                if None in line:
                    problems.append(f"{path.name} line {reader.line_num} has more cells than the header row; put texts with commas into quotes")
                for name in _NUMBERS:
                    row[name], problem = _number(row[name], name)
                    if problem:
                        problems.append(f"{path.name} line {reader.line_num} column {columns[name]} {problem}")
                out.append((reader.line_num, row))
    except UnicodeDecodeError:
        raise BadFile(f"{path} is not UTF-8 text; save it as CSV UTF-8") from None
    except csv.Error as error:
        raise BadFile(f"{path} is no CSV file ({error}); a file such as benchmarks.csv is due") from None
    if not out and not problems:
        problems.append(f"{path} holds no row; a header row and one row for each measurement are due")
    if problems:
        raise BadFile(summed_up(str(path), problems), problems)
    return out


def _columns(path: Path, head: Any) -> dict[str, str]:
    """Which column of the file holds what."""
    own = {n: n for n in (*_COLLECTION, *_OWN_ONLY)}
    ways = (own, _COLLECTION) if "gpu_count" not in head else (_COLLECTION,)
    missing: list[str] = []
    for way in ways:
        missing = [n for n in way.values() if n not in head]
        if not missing:
            return way
    missing = [n for n in ways[0].values() if n not in head]
    raise BadFile(f"{path} line 1 lacks the column {', '.join(missing)}; the header row of catalog/benchmarks.csv is due")


def _number(text: str, name: str) -> tuple[float | None, str | None]:
    if not text:
        return None, None
    try:
        number = float(text)
    except ValueError:
        return None, f"is {text[:40]!r}; a number is due"
    if not math.isfinite(number) or number < 0:
        return None, f"is {text[:40]!r}; a number of at least 0 is due"
    if name in ("gpus", "tp", "pp") and number != int(number):
        return None, f"is {text[:40]!r}; a whole number is due"
    return number, None


def source_name(source: str) -> str:
    """Who measured: owner and repository of an address on GitHub, host and first folder of another, a text as it is."""
    repository = re.match(r"https?://(?:raw\.)?github(?:usercontent)?\.com/([^/]+/[^/]+)", source)
    if repository:
        return repository.group(1)
    if source.startswith(("http://", "https://")):
        return "/".join(re.sub(r"^https?://(www\.)?", "", source).split("/")[:2])
    return source


def _fixed_batch(engine: str, source: str) -> bool:
    known = rules()["fixed_batch"]
    return any(w in engine.lower() for w in known["engines"]) or source.startswith(tuple(known["sources"]))


def _measurement(line: int, row: Row, catalog: Catalog) -> Measurement | str:
    """The row as it is compared, or the code of the reason why it is not. Reasons come in a fixed order."""
    words = rules()["words"]
    note, model, gpu, metric = row["note"], row["model"], row["gpu"], row["metric"]
    batch, value, gpus = row["batch"], row["value"], int(row["gpus"] or 1)
    source = source_name(row["source"])
    own = "confidence" in row
    if own and row["confidence"] != "measured":
        return "not_measured"
    if not value:
        return "no_value"
    if metric not in METRICS or (own and row["unit"] != UNITS.get(metric, "tok/s")):
        return "other_metric"
    if re.search(words["rate_limited"], note, re.IGNORECASE):
        return "rate_limited"
    if words["client_bound"] in note:
        return "client_bound"
    if batch is None and re.search(words["concurrency_unknown"], note):
        return "concurrency_unknown"
    group = re.search(words["expert_group"], note)
    if group and row["gpus"] and int(group.group(1)) > gpus:
        return "impossible_count"
    if words["dummy_weights"] in note and _is_moe(catalog, model):
        return "dummy_routing"
    static = _fixed_batch(row["engine"], source)
    phase = rules()["decode_phase"]
    if metric == "output_tok_s_total" and batch and (phase["note"] in note or source in phase["sources"]):
        metric, value, static = "decode_tok_s_single", value / batch, True
    mlperf = words["mlperf"] in note
    lengths = _lengths(row, metric, batch, source, mlperf)
    if isinstance(lengths, str):
        return lengths
    if batch is None and metric == "decode_tok_s_single":
        return "concurrency_unknown"
    most = rules()["first_token"]["batch_most_static" if static else "batch_most_serving"]
    if metric == "ttft_ms" and (batch is None or batch > most):
        return "first_token_waits"
    if metric == "prefill_tok_s" and batch is None:
        batch = 1.0
    precision = row["precision"] or _precision(gpu, note, mlperf)
    if not precision:
        return "precision_unknown"
    tp, pp = (int(row["tp"]) if row["tp"] else None), int(row["pp"] or 1)
    if tp and tp * pp > gpus:
        pp = max(1, gpus // tp)
    return Measurement(
        line, row.get("id") or f"line {line}", model_name(model), rules()["gpu"].get(gpu, gpu), precision, row["kv"] or None,
        _engine(row, gpu, mlperf), gpus, tp, pp, batch, *lengths, metric, value, static,
        "mlperf" if mlperf else "static" if static else "max" if batch is None else "serving", source, gpu,
    )  # fmt: skip


def _lengths(row: Row, metric: str, batch: float | None, source: str, mlperf: bool) -> tuple[float, float] | str:
    """Input and output tokens of a request, or the reason why they are not known."""
    tokens, words = rules()["tokens"], rules()["words"]
    given_in, given_out, note = row["input_tokens"], row["output_tokens"], row["note"]
    if mlperf:
        task = next((k for k in rules()["mlperf_tokens"] if row["model"].startswith(k)), None)
        if task is None or any(w in row["model"] for w in words["skipped_models"]):
            return "lengths_unknown"
        mean_in, mean_out = rules()["mlperf_tokens"][task]
        given_in = mean_in if given_in is None else given_in
        given_out = mean_out if given_out is None else given_out
    if metric == "prefill_tok_s":
        localscore = words["localscore"] in note.lower() or words["localscore"] in source
        given_in = given_in or (tokens["localscore_input"] if localscore else None)
        given_out = tokens["prefill_output"]
    elif metric == "decode_tok_s_single" and (batch or 1) <= 1:
        if given_in is None:
            given_in = tokens["decode_input" if given_out is None else "short_input"]
        given_out = given_out or tokens["decode_output"]
    elif given_in is None and words["short_prompt"] in note:
        given_in = tokens["short_input"]
    if metric == "ttft_ms" and given_out is None:
        given_out = tokens["first_token_output"]
    if given_in is None or given_out is None or (metric in ("output_tok_s_total", "total_tok_s") and not given_out):
        return "lengths_unknown"
    return float(given_in), float(given_out)


def _precision(gpu: str, note: str, mlperf: bool) -> str | None:
    if mlperf:
        known = rules()["mlperf_precision"]
        if re.search(known["nvfp4"], gpu):
            return "nvfp4"
        return None if known["none"] in gpu else str(known["otherwise"])
    return "bf16" if re.search(rules()["words"]["unquantised"], note) else None


def _engine(row: Row, gpu: str, mlperf: bool) -> str | None:
    """The engine with its version; with the year where a source of the early years names no version."""
    engine: str = row["engine"]
    if mlperf and not engine:
        known = rules()["mlperf_engine"]
        engine = known["amd"] if re.match(r"MI\d", gpu) else known["otherwise"]
    if engine and not re.search(r"\d", engine) and row["as_of"][:4] in rules()["era"]["years"]:
        engine += " (2024)"
    return engine or None


def model_name(label: str) -> str:
    """The model that a label of a table means."""
    exact = rules()["model_exact"].get(label)
    if exact:
        return str(exact)
    if any(w in label for w in rules()["words"]["skipped_models"]):
        return label
    return next((str(name) for start, name in rules()["model"].items() if label.startswith(start)), label)


def _is_moe(catalog: Catalog, label: str) -> bool:
    try:
        return bool(catalog.find_model(model_name(label))[0]["experts"])
    except NameNotFound:
        return False


def known_engine(catalog: Catalog, engine: str | None) -> str | None:
    """The engine as it is stated when the catalogue knows its family, else None: the assumption's engine."""
    return engine if engine_family(catalog, engine) else None
