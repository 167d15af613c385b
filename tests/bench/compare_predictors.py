"""Predictors of throughput compared on the same public measurements, and each equation switched off in turn.

Here: which measurement is compared with which figure of a prediction, the predictors, the equations switched off,
the tables. Not here: the peer's own interpreter (`aiconfigurator_answers`), the equations (``gpuecon_xl/equations``).

    python tests/bench/compare_predictors.py MEASURED.csv
        [--aiconfigurator-python VENV/bin/python] [--sample 600] [--markdown tests/calibration/COMPARISON.md]

The measurements are a CSV with the columns gpu, gpu_count, tp, pp, model, precision_weights, kv_precision, engine,
batch_or_concurrency, input_tokens, output_tokens, metric, value, date, source_url, note. They are public figures of
others and not part of this repository. The peer stands in an environment of its own: `pip install aiconfigurator`.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import gpuecon_xl as gx
from gpuecon_xl import graph, throughput
from gpuecon_xl.catalog import Catalog
from gpuecon_xl.equations.memory import kernel_used
from gpuecon_xl.errors import BadFile, GpueconError
from gpuecon_xl.lang import load
from gpuecon_xl.validation.comparison import classes_of, predicted_value
from gpuecon_xl.validation.measurement import Measurement, known_engine, read_measurements

# ------------------------------------------------------------------------------------------------ measurements

CSV_COLUMNS = (
    *("gpu", "gpu_count", "tp", "pp", "model", "precision_weights", "kv_precision", "engine", "batch_or_concurrency", "input_tokens"),
    *("output_tokens", "metric", "value", "date", "source_url", "note"),
)


@dataclass(frozen=True)
class Case(Measurement):
    """A measurement with what the tables tell apart, its engine as the catalogue knows it."""

    moe: bool
    year: str

    @property
    def arguments(self) -> dict[str, Any]:
        """Load and layout as `gpuecon_xl.predict` takes them."""
        return dict(batch=None if self.batch is None else round(self.batch), input_tokens=round(self.input_tokens),
                    output_tokens=round(self.output_tokens), gpus=self.gpus, tp=self.tp, pp=self.pp)  # fmt: skip


class LeftOutError(Exception):
    """A row that cannot be compared, and why."""


def read_cases(path: Path, catalog: Catalog) -> tuple[list[Case], Counter[str]]:
    """All cases of a file, and how many rows were left out for which reason."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = [c for c in CSV_COLUMNS if c not in (reader.fieldnames or ())]
        if missing:
            raise BadFile(f"{path} has no column {', '.join(missing)}; its header must be that of a table of measurements")
        years = {}
        for row in reader:
            years[reader.line_num] = row["date"][:4]
    found = read_measurements(path, catalog)
    texts = load("en")
    cases = []
    for m in found.rows:
        engine = known_engine(catalog, m.engine)
        of_model = classes_of(m, catalog, engine)["moe"]
        cases.append(Case(**{**vars(m), "engine": engine}, moe=of_model == "moe", year=years[m.line]))
    return cases, Counter({texts(f"validate.left_{code}"): len(lines) for code, lines in found.left_out.items()})


# ------------------------------------------------------------------------------------------------ predictors


@dataclass(frozen=True)
class Figures:
    """What of a prediction is compared with a measurement."""

    decode_tok_s_user: float
    output_tok_s: float
    total_tok_s: float
    prefill_tok_s: float
    ttft_s: float
    batch_max: float


FIGURES = tuple(Figures.__annotations__)


def product(case: Case, mode: str, catalog: Catalog) -> float:
    """This product's own answer."""
    p = gx.predict(case.model, case.gpu, case.precision, kv=case.kv, engine=case.engine, mode=mode, catalog=catalog, **case.arguments)
    return predicted_value(case, p)


def bandwidth_over_weights(case: Case, catalog: Catalog) -> float:
    """Bandwidth over the weights that one token reads, times the batch: the rule of thumb. It knows decode only."""
    if case.metric not in ("decode_tok_s_single", "output_tok_s_total", "total_tok_s"):
        raise LeftOutError("the rule of thumb knows decode only")
    if case.batch is None:
        raise LeftOutError("the rule of thumb has no memory for a largest batch")
    s = throughput.setup(catalog, case.model, case.gpu, case.precision, case.kv, case.engine, "ceiling")
    given = {**s.values, "micro_batch": 1}
    (weights,) = graph.plan(("weights_read_gb",), tuple(given))(*given.values())
    user = s.gpu["bandwidth_gb_s"] * (case.tp or case.gpus // case.pp) / weights
    if case.metric == "decode_tok_s_single":
        return float(user)
    output = user * case.batch
    return float(output if case.metric == "output_tok_s_total" else output * (1 + case.input_tokens / case.output_tokens))


# ------------------------------------------------------------------------------------------------ equations switched off

Change = Callable[[Catalog, throughput.Setup], dict[str, Any]]
KV_16_BIT = 2  # bytes
WHOLE_PROMPT = 1e9  # tokens of one pass: no prompt is longer
NO_KERNEL_CLASS = (
    "weight_efficiency",
    "kv_efficiency",
    "dense_compute_efficiency",
    "moe_compute_factor",
    "decode_compute_factor",
    "expert_read_factor",
)


def fixed(**values: float) -> Change:
    """A change that sets inputs or quantities; a quantity that is given is not computed."""
    return lambda catalog, s: values


def mean_constants(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Geometric mean of the fitted constants, each row as often as measurements stand behind it."""
    counts = np.array([r["n"] for r in rows], dtype=float)
    return {c: float(np.exp(np.average(np.log([r[c] for r in rows]), weights=counts))) for c in NO_KERNEL_CLASS}


def one_mean(same_class: bool, same_kernel: bool) -> Change:
    """Constants of the card's class and the number format replaced by the mean over classes, formats or both."""

    def change(catalog: Catalog, s: throughput.Setup) -> dict[str, Any]:
        kernel = kernel_used(s.precision["kernel"], s.gpu["tflops_fp8"], s.gpu["tops_int8"], s.gpu["tflops_fp4"])
        rows = [r for r in catalog.rows("efficiency") if r["n"]]
        if same_class:
            rows = [r for r in rows if r["efficiency_key"].rpartition(" ")[0] == s.gpu["efficiency_class"]]
        if same_kernel:
            rows = [r for r in rows if r["efficiency_key"].rpartition(" ")[2] == kernel]
        return mean_constants(rows) if rows else {}

    return change


def newest_of_family(catalog: Catalog, s: throughput.Setup) -> dict[str, Any]:
    """The engine's newest version in place of the one measured."""
    row = throughput.find_engine(catalog, s.engine["family"])
    return {n: row[n] for n in throughput.ENGINE_INPUTS}


def default_engine(catalog: Catalog, s: throughput.Setup) -> dict[str, Any]:
    """The default engine in place of the one measured."""
    row = throughput.find_engine(catalog, None)
    return {n: row[n] for n in throughput.ENGINE_INPUTS}


def top_k_only(catalog: Catalog, s: throughput.Setup) -> dict[str, Any]:
    """Every step reads as many experts as one token uses, whatever the batch."""
    return {"experts_touched": s.model["experts_active"] / max(s.model["experts"], 1)}


def engine_limit_only(catalog: Catalog, s: throughput.Setup) -> dict[str, Any]:
    """As many sequences as the engine schedules, whether their cache fits or not."""
    return {"sequences_max_replica": s.values["max_sequences"]}


SWITCHED_OFF: dict[str, Change] = {
    "nothing: all equations": fixed(),
    "all-reduce and pipeline links": fixed(collectives=0),
    "prompts interleaved with decode": fixed(interleave_s=0),
    "cache reads": fixed(kv_reads=0),
    "grouped heads' lost saving": fixed(kv_sharing_power=0),
    "fixed times per layer and step": fixed(layer_us=0, layer_moe_us=0, step_ms=0),
    "host time per sequence and request": fixed(sequence_us=0, request_ms=0),
    "fixed times and host time": fixed(layer_us=0, layer_moe_us=0, step_ms=0, sequence_us=0, request_ms=0),
    "experts by coverage: all are read": fixed(experts_touched=1),
    "experts by coverage: one token's only": top_k_only,
    "chunked prefill and pipeline fill": fixed(prefill_chunk_tokens=WHOLE_PROMPT),
    "weight reads of a prompt": fixed(prefill_weights_s=0),
    "micro-batches of the pipeline": fixed(pipeline_batches=0),
    "engine's own fp8 cache": fixed(kv_bytes_low=KV_16_BIT),
    "cap by cache memory": engine_limit_only,
    "narrow models' lost matrix rate": fixed(matrix_width_power=0),
    "weight reads of a step": fixed(decode_weights_s=0),
    "arithmetic of a step": fixed(decode_linear_s=0, decode_attention_s=0),
    "reads and arithmetic add: the longer hides the shorter": fixed(overlap=1),
    "card class: all classes one mean": one_mean(same_class=False, same_kernel=True),
    "number format: all formats one mean": one_mean(same_class=True, same_kernel=False),
    "card class and number format: one mean": one_mean(same_class=False, same_kernel=False),
    "engine's version: the newest of its family": newest_of_family,
    "engine: the default for all": default_engine,
}


def changed(s: throughput.Setup, values: Mapping[str, Any]) -> throughput.Setup:
    """A set-up with inputs replaced, or with quantities given that are then not computed."""
    inputs = {**s.values, **values}
    stages: list[Any] = []
    for outputs in (throughput.OUTPUTS, throughput.QUICK):
        carried, second = graph.staged(outputs, tuple(inputs), throughput.VARYING)
        stages += [graph.plan(carried, tuple(inputs))(*inputs.values()), graph.plan(outputs, second)]
    carried, run, quick_carried, quick = stages
    return replace(s, values=inputs, carried=carried, run=run, quick_carried=quick_carried, quick=quick)


class WithoutEquation:
    """The product's prediction with one change of its inputs."""

    def __init__(self, change: Change, catalog: Catalog) -> None:
        self.change, self.catalog = change, catalog
        self.setups: dict[tuple[Any, ...], throughput.Setup] = {}

    def __call__(self, case: Case) -> float:
        key = (case.model, case.gpu, case.precision, case.kv, case.engine, "expected")
        s = self.setups.get(key)
        if s is None:
            s = throughput.setup(self.catalog, *key)
            s = self.setups[key] = changed(s, self.change(self.catalog, s))
        a = case.arguments
        gpus, tp, pp = throughput.check_layout(a["gpus"], a["tp"], a["pp"])
        throughput.check_heads(s, tp)
        asked = throughput.UNLIMITED if a["batch"] is None else a["batch"]
        best = throughput.best_layout(s, asked, a["input_tokens"], a["output_tokens"], gpus, tp, pp)
        if best is None:
            raise throughput.too_big(s, gpus, a["input_tokens"] + a["output_tokens"])
        load = (best[1] if a["batch"] is None else asked, a["input_tokens"], a["output_tokens"], gpus, *best[2:])
        got = dict(zip(throughput.OUTPUTS, s.run(*s.carried, *load), strict=True))
        return predicted_value(case, Figures(*(got[n] for n in FIGURES)))


# ------------------------------------------------------------------------------------------------ the peer

PEER_SYSTEMS = {
    "H100 SXM": "h100_sxm",
    "H200 SXM": "h200_sxm",
    "B200": "b200_sxm",
    "B300": "b300_sxm",
    "GB200": "gb200",
    "GB300": "gb300",
    "A100 SXM 80GB": "a100_sxm",
    "L40S": "l40s",
    "RTX PRO 6000 Blackwell Server": "rtx_pro_6000_server",
}
PEER_BACKENDS = {"vLLM": "vllm", "SGLang": "sglang", "TensorRT-LLM": "trtllm", "NIM": "trtllm"}
BF16, FP8, FP4 = dict(gemm_quant_mode="bfloat16"), dict(gemm_quant_mode="fp8"), dict(gemm_quant_mode="nvfp4")
FP8_BLOCKS = dict(gemm_quant_mode="fp8_block", moe_quant_mode="fp8_block")
PEER_MODELS: dict[str, dict[str, tuple[str, dict[str, str]]]] = {  # model and format here: configuration shipped with the peer, its formats
    **{
        m: {
            "16": ("meta-llama/Meta-Llama-3.1-8B", BF16),
            "fp8": ("meta-llama/Meta-Llama-3.1-8B", FP8),
            "nvfp4": ("meta-llama/Meta-Llama-3.1-8B", FP4),
        }
        for m in ("Llama 3 8B", "Llama 3.1 8B")
    },
    **{
        m: {
            "16": ("meta-llama/Meta-Llama-3.1-70B", BF16),
            "fp8": ("meta-llama/Meta-Llama-3.1-70B", FP8),
            "nvfp4": ("meta-llama/Meta-Llama-3.1-70B", FP4),
        }
        for m in ("Llama 3 70B", "Llama 3.1 70B", "Llama 3.3 70B")
    },
    "Qwen3-32B": {"16": ("Qwen/Qwen3-32B", BF16), "fp8": ("Qwen/Qwen3-32B-FP8", {}), "nvfp4": ("Qwen/Qwen3-32B", FP4)},
    "gpt-oss-120b": {"mxfp4": ("openai/gpt-oss-120b", {})},
    "DeepSeek R1": {"fp8": ("deepseek-ai/DeepSeek-R1", {}), "nvfp4": ("nvidia/DeepSeek-V3.1-NVFP4", {})},
    "DeepSeek V3": {"fp8": ("deepseek-ai/DeepSeek-V3", {}), "nvfp4": ("nvidia/DeepSeek-V3.1-NVFP4", {})},
    "MiniMax-M2.5": {"fp8": ("MiniMaxAI/MiniMax-M2.5", {}), "nvfp4": ("nvidia/MiniMax-M2.5-NVFP4", {})},
    "Qwen3-235B-A22B": {"fp8": ("Qwen/Qwen3-235B-A22B-FP8", {}), "nvfp4": ("nvidia/Qwen3-235B-A22B-NVFP4", {})},
    "Qwen3.5-397B-A17B": {
        "16": ("Qwen/Qwen3.5-397B-A17B", {}),
        "fp8": ("Qwen/Qwen3.5-397B-A17B", FP8_BLOCKS),
        "nvfp4": ("nvidia/Qwen3.5-397B-A17B-NVFP4", {}),
    },
    "GLM-5": {"fp8": ("zai-org/GLM-5-FP8", {}), "nvfp4": ("nvidia/GLM-5-NVFP4", {})},
    "Kimi K2.5": {"int4": ("moonshotai/Kimi-K2.5", {}), "nvfp4": ("nvidia/Kimi-K2.5-NVFP4", {})},
}
PEER_REPOSITORY = "ai-dynamo/aiconfigurator"
PEER_SCRIPT = Path(__file__).with_name("aiconfigurator_answers.py")
SEED = 5  # of the order in which rows are put to the peer


def question(case: Case, catalog: Catalog) -> dict[str, Any]:
    """The case as the peer is asked: one replica, static where the measurement is, else its serving mode."""
    family = throughput.find_engine(catalog, case.engine)["family"]
    if case.gpu not in PEER_SYSTEMS:
        raise LeftOutError("a card that it has no tables for")
    if case.engine is None or family not in PEER_BACKENDS:
        raise LeftOutError("an engine that it does not know, or none stated")
    if case.batch is None:
        raise LeftOutError("largest batch, which it does not look for at a given layout")
    model = catalog.find_model(case.model)[0]
    precision = {"fp16": "16", "bf16": "16"}.get(case.precision, case.precision)
    if precision not in PEER_MODELS.get(model["model"], {}):
        raise LeftOutError("a model or format without a configuration shipped with it")
    name, formats = PEER_MODELS[model["model"]][precision]
    tp = case.tp or case.gpus // case.pp
    asked = dict(model=name, system=PEER_SYSTEMS[case.gpu], backend_name=PEER_BACKENDS[family], experts=bool(model["experts"]), tp_size=tp,
                 pp_size=case.pp, mode="static" if case.static or case.metric == "prefill_tok_s" else "agg", isl=round(case.input_tokens),
                 osl=max(round(case.output_tokens), 2), batch_size=max(round(case.batch / replicas_of(case)), 1), **formats)  # fmt: skip
    if formats and (case.kv == "fp8" or (case.kv is None and PEER_BACKENDS[family] == "trtllm" and precision != "16")):
        asked["kvcache_quant_mode"] = "fp8"
    return asked


def replicas_of(case: Case) -> int:
    """Copies of the model in a measurement."""
    return max(case.gpus // ((case.tp or case.gpus // case.pp) * case.pp), 1)


def peer_figure(case: Case, asked: Mapping[str, Any], answered: Mapping[str, Any]) -> float:
    """The figure that stands against the measurement, from the peer's two times."""
    ttft_s, tpot_s = answered["ttft_ms"] / 1000, answered["tpot_ms"] / 1000
    batch, copies = asked["batch_size"], replicas_of(case)
    if case.metric == "ttft_ms":
        return float(answered["ttft_ms"])
    if case.metric == "decode_tok_s_single":
        return float(1 / tpot_s)
    if case.metric == "prefill_tok_s":
        return float(copies * batch * asked["isl"] / ttft_s)
    output = copies * batch * asked["osl"] / (ttft_s + (asked["osl"] - 1) * tpot_s)
    return float(output if case.metric == "output_tok_s_total" else output * (1 + asked["isl"] / asked["osl"]))


def questions(cases: Sequence[Case], catalog: Catalog, most: int) -> tuple[list[dict[str, Any]], Counter[str]]:
    """At most so many questions, in turn from every card, engine, model, format and metric; and why others are not put."""
    strata: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    not_put: Counter[str] = Counter()
    for i, case in enumerate(cases):
        try:
            asked = question(case, catalog) | {"row": i}
        except LeftOutError as reason:
            not_put[str(reason)] += 1
            continue
        strata[(asked["system"], asked["backend_name"], asked["model"], case.precision, case.metric)].append(asked)
    chance = random.Random(SEED)
    for rows in strata.values():
        chance.shuffle(rows)
    order = list(strata.values())
    chance.shuffle(order)
    turns = max(map(len, order), default=0)
    chosen = [rows[turn] for turn in range(turns) for rows in order if turn < len(rows)]
    if len(chosen) > most:
        not_put["left out of the sample"] += len(chosen) - most
    return chosen[:most], not_put


def ask_peer(python: str | None, kept: Path | None, asked: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The peer's answers: from the file where they were kept for these questions, else from its interpreter."""
    if kept and kept.exists():
        stored = json.loads(kept.read_text(encoding="utf-8"))
        if stored["asked"] == asked:
            return dict(stored["reply"])
    if python is None:
        return None
    done = subprocess.run([python, str(PEER_SCRIPT)], input=json.dumps(asked), stdout=subprocess.PIPE, text=True, check=True)
    reply = json.loads(done.stdout)
    if kept:
        kept.write_text(json.dumps(dict(asked=asked, reply=reply)), encoding="utf-8")
    return dict(reply)


# ------------------------------------------------------------------------------------------------ scores


def ratios_of(cases: Sequence[Case], predict: Callable[[Case], float]) -> tuple[np.ndarray, Counter[str]]:
    """Predicted over measured for every row, nan where the predictor refuses; and its refusals."""
    found, refused = np.full(len(cases), np.nan), Counter[str]()
    for i, case in enumerate(cases):
        try:
            found[i] = predict(case) / case.value
        except (LeftOutError, GpueconError) as reason:
            refused["weights and one sequence do not fit" if "does not fit" in str(reason) else str(reason)] += 1
    return found, refused


def quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    """The smallest value that holds a share of the weight."""
    by_size = np.argsort(values)
    reached = np.cumsum(weights[by_size]) / weights.sum()
    return float(values[by_size][min(int(np.searchsorted(reached, share - 1e-12)), len(values) - 1)])


def each_group_once(groups: np.ndarray) -> np.ndarray:
    """Weights that count each group of measurements as much as any other."""
    _, inverse, count = np.unique(groups, return_inverse=True, return_counts=True)
    return np.asarray(1 / count[inverse])


@dataclass(frozen=True)
class Scores:
    """Error of a predictor on some rows: median and p90 with each row, and each group, once; median factor off."""

    rows: int
    median: float
    p90: float
    group_median: float
    group_p90: float
    factor: float

    @classmethod
    def of(cls, ratio: np.ndarray, groups: np.ndarray, here: np.ndarray | None = None) -> Scores | None:
        """Scores on the rows that are answered, None where there are none."""
        answered = ~np.isnan(ratio) if here is None else here & ~np.isnan(ratio)
        if not answered.any():
            return None
        values = ratio[answered]
        error, row, group = abs(values - 1), np.ones(len(values)), each_group_once(groups[answered])
        figures = [quantile(error, weights, share) for weights in (row, group) for share in (MEDIAN, P90)]
        return cls(len(values), *figures, float(np.exp(np.median(abs(np.log(values))))))

    @property
    def by_row(self) -> str:
        """Median and p90 in percent, each row once."""
        return f"{100 * self.median:,.1f} / {100 * self.p90:,.1f}"

    @property
    def by_group(self) -> str:
        """Median and p90 in percent, each group once."""
        return f"{100 * self.group_median:,.1f} / {100 * self.group_p90:,.1f}"


MEDIAN, P90 = 0.5, 0.9


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown: the first column text, the others numbers."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(r) + " |" for r in rows])


METRICS = {
    "decode_tok_s_single": "decode rate of one sequence",
    "output_tok_s_total": "output tokens/s of the build",
    "total_tok_s": "input and output tokens/s",
    "prefill_tok_s": "prompt tokens/s",
    "ttft_ms": "time to first token",
}


def grid(title: str, cases: Sequence[Case], ratios: Mapping[str, np.ndarray], groups: np.ndarray, here: np.ndarray, count_each: bool) -> list[str]:
    """A table of predictors by metric on some rows; with `count_each` each cell says how many rows it answers."""
    metric = np.array([c.metric for c in cases])
    lines = []
    for name, label in {"": "all, each row once", **METRICS}.items():
        mine = here & ((metric == name) | (name == ""))
        found = {n: Scores.of(r, groups, mine) for n, r in ratios.items()}
        if not any(found.values()):
            continue
        counts = f"{max(s.rows for s in found.values() if s):,}"
        cells = [(f"{s.rows:,}: {s.by_row}" if count_each else s.by_row) if s else "–" for s in found.values()]
        lines.append([label, *([] if count_each else [counts]), *cells])
        if name == "":
            blank = [] if count_each else [counts]
            lines.append(["all, each group once", *blank, *(s.by_group if s else "–" for s in found.values())])
            lines.append(["all, off by a factor (median)", *blank, *(f"{s.factor:.2f}" if s else "–" for s in found.values())])
    head = ("median / p90 error, %", *(("rows: " + n for n in ratios) if count_each else ("rows", *ratios)))
    return [title, table(head, lines)]


def comparison(cases: Sequence[Case], ratios: Mapping[str, np.ndarray], groups: np.ndarray) -> list[str]:
    """Tables of the predictors: on the rows that each answers, that product and peer answer, that all answer."""
    names = list(ratios)
    parts = grid("## Every predictor on the rows that it answers", cases, ratios, groups, np.ones(len(cases), bool), True)
    for other in names[2:]:
        few = {n: ratios[n] for n in (*names[:2], other)}
        both = np.all([~np.isnan(r) for r in few.values()], axis=0)
        parts += grid(f"## On the rows that {other} answers too", cases, few, groups, both, False)
    if len(names) > 3:
        every = np.all([~np.isnan(r) for r in ratios.values()], axis=0)
        parts += grid("## On the rows that every predictor answers", cases, ratios, groups, every, False)
    return parts


def concurrency(batch: float | None) -> str:
    """Class of concurrency of a measurement."""
    if batch is None:
        return "not stated, maximum load"
    return "1" if batch <= 1 else "2 to 15" if batch < 16 else "16 to 64" if batch <= 64 else "65 and more"


def in_order(label: str) -> tuple[int, str]:
    """Key that sorts labels by the number they start with, then by letters."""
    first = re.match(r"\d+", label)
    return int(first[0]) if first else 0, label


def peer_nearer(cases: Sequence[Case], ours: np.ndarray, peer: np.ndarray, groups: np.ndarray, catalog: Catalog) -> list[str]:
    """Where the peer is nearer: combinations of card, engine, model, format and metric in which its median error is the smaller."""
    both = ~np.isnan(ours) & ~np.isnan(peer)
    combinations: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i in np.flatnonzero(both):
        case = cases[int(i)]
        family = throughput.find_engine(catalog, case.engine)["family"]
        combinations[(case.gpu, family, catalog.find_model(case.model)[0]["model"], case.precision, METRICS[case.metric])].append(int(i))
    large = {k: rows for k, rows in combinations.items() if len(rows) >= FEWEST_ROWS}
    lines, rows_nearer = [], 0
    for names, rows in sorted(large.items(), key=lambda item: -len(item[1])):
        product_scores, peer_scores = Scores.of(ours[rows], groups[rows]), Scores.of(peer[rows], groups[rows])
        assert product_scores is not None
        assert peer_scores is not None
        if peer_scores.median < product_scores.median:
            rows_nearer += len(rows)
            biases = [f"{np.median(r[rows]):.2f}" for r in (ours, peer)]
            lines.append([" · ".join(names), f"{len(rows)}", product_scores.by_row, biases[0], peer_scores.by_row, biases[1]])
    head = ("median / p90 error, %", "rows", "gpuecon_xl", "its median ratio", "aiconfigurator", "its median ratio")
    said = (
        f"Of {len(large)} combinations of card, engine, model, format and metric with {FEWEST_ROWS} rows or more, aiconfigurator's median "
        f"error is the smaller in {len(lines)}, which hold {rows_nearer:,} of the {int(both.sum()):,} rows. Ratio: predicted over measured."
    )
    return ["## Where aiconfigurator is nearer", said, table(head, lines)]


FEWEST_ROWS = 15  # of a combination that is shown


def peer_by_kind(cases: Sequence[Case], ours: np.ndarray, peer: np.ndarray, groups: np.ndarray, catalog: Catalog) -> list[str]:
    """The peer against the product by card, engine, model, load, year and source, on the rows that both answer."""
    both = ~np.isnan(ours) & ~np.isnan(peer)
    splits = {
        "card": [c.gpu for c in cases],
        "engine": [str(throughput.find_engine(catalog, c.engine)["family"]) for c in cases],
        "model": ["mixture of experts" if c.moe else "dense" for c in cases],
        "concurrency": [concurrency(c.batch) for c in cases],
        "measured in": [c.year or "not stated" for c in cases],
        "source": ["aiconfigurator's own repository" if c.group[0] == PEER_REPOSITORY else "others" for c in cases],
    }
    lines = []
    for split, labels in splits.items():
        for label in sorted(set(np.array(labels)[both]), key=in_order):
            product_scores, peer_scores = (Scores.of(r, groups, both & (np.array(labels) == label)) for r in (ours, peer))
            assert product_scores is not None
            assert peer_scores is not None
            lines.append([f"{split}: {label}", f"{product_scores.rows:,}", product_scores.by_row, peer_scores.by_row])
    return ["## The product and aiconfigurator by card, engine, model, load, year and source",
            table(("median / p90 error, %", "rows", "gpuecon_xl", "aiconfigurator"), lines)]  # fmt: skip


def switched_off(cases: Sequence[Case], groups: np.ndarray, catalog: Catalog) -> list[str]:
    """The table of equations switched off."""
    lines: list[list[str]] = []
    base = np.array([])
    for label, change in SWITCHED_OFF.items():
        ratio, _ = ratios_of(cases, WithoutEquation(change, catalog))
        base = ratio if not lines else base
        moved = ~np.isnan(ratio) & ~np.isnan(base) & (abs(ratio / base - 1) > MOVED)
        found, *on_moved = Scores.of(ratio, groups), Scores.of(base, groups, moved), Scores.of(ratio, groups, moved)
        assert found is not None
        lines.append([label, f"{found.rows:,}", found.by_row, found.by_group, f"{moved.sum():,}", *(s.by_row if s else "–" for s in on_moved)])
        print(f"{label:56}", *(f"{cell:>16}" for cell in lines[-1][1:]), flush=True)
    head = ("switched off", "rows", "each row once", "each group once", "rows that it moves", "these with it", "these without")
    return ["## Each equation switched off", "Median / p90 error, %.", table(head, lines)]


MOVED = 0.01  # a prediction that changes by more than this share is moved


def counted(what: str, reasons: Counter[str]) -> str:
    """A sentence of counts."""
    return f"{what}: " + "; ".join(f"{n:,} {reason}" for reason, n in reasons.most_common(8)) + "." if reasons else f"{what}: none."


MARK = "<!-- measured -->"  # in the file for the tables: what stands above it is kept


def write_tables(path: Path, text: Sequence[str]) -> None:
    """Put the tables below the mark of a file, or into a new one; whole or not at all."""
    above = path.read_text(encoding="utf-8").partition(MARK)[0] if path.exists() else ""
    fresh = path.with_suffix(".new")
    fresh.write_text(above + "\n\n".join([MARK, *text]) + "\n", encoding="utf-8")
    fresh.replace(path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Score, print, and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("measured", type=Path, help="CSV of measurements")
    parser.add_argument("--aiconfigurator-python", help="interpreter that has aiconfigurator")
    parser.add_argument("--sample", type=int, default=600, help="most rows put to aiconfigurator")
    parser.add_argument("--answers", type=Path, help="where aiconfigurator's answers are kept and, for the same questions, read again")
    parser.add_argument("--catalog", type=Path, help="folder with tables that replace the shipped ones, such as constants fitted without a source")
    parser.add_argument("--markdown", type=Path, help="file for the tables")
    parser.add_argument("--no-ablation", action="store_true", help="leave the equations switched off out")
    a = parser.parse_args(arguments)
    if not a.measured.is_file():
        parser.error(f"{a.measured} is no file; a CSV of measurements is due")
    try:
        catalog = gx.load_catalog(a.catalog)
        cases, left = read_cases(a.measured, catalog)
    except GpueconError as problem:
        parser.error(str(problem))
    if not cases:
        parser.error(f"{a.measured} has no row that can be compared; {counted('left out', left)}")
    groups = np.unique([" | ".join(c.group) for c in cases], return_inverse=True)[1]
    text = [f"{len(cases):,} measurements in {len(set(groups)):,} groups of source, card, model and format.", counted("Left out", left)]

    ratios: dict[str, np.ndarray] = {}
    predictors: dict[str, Callable[[Case], float]] = {
        "gpuecon_xl": lambda c: product(c, "expected", catalog),
        "ideal roofline": lambda c: product(c, "ceiling", catalog),
        "bandwidth ÷ weights": lambda c: bandwidth_over_weights(c, catalog),
    }
    for name, predict in predictors.items():
        ratios[name], refused = ratios_of(cases, predict)
        text.append(counted(f"Refused by {name}", refused))

    asked, not_put = questions(cases, catalog, a.sample)
    reply = ask_peer(a.aiconfigurator_python, a.answers, asked)
    if reply is not None:
        name = f"aiconfigurator {reply['version']}"
        ratios[name] = np.full(len(cases), np.nan)
        by_row = {q["row"]: q for q in asked}
        refused = Counter()
        for answered in reply["answers"]:
            row = answered["row"]
            if "refused" in answered:
                refused["model and cache do not fit by its count" if "does not fit" in answered["refused"] else answered["refused"]] += 1
            else:
                ratios[name][row] = peer_figure(cases[row], by_row[row], answered) / cases[row].value
        text += [counted(f"Not put to {name}", not_put), counted(f"Of {len(asked):,} rows put to it, refused by {name}", refused)]

    text += comparison(cases, ratios, groups)
    if reply is not None:
        text += peer_by_kind(cases, ratios["gpuecon_xl"], ratios[name], groups, catalog)
        text += peer_nearer(cases, ratios["gpuecon_xl"], ratios[name], groups, catalog)
    print("\n\n".join(text))
    if not a.no_ablation:
        text += switched_off(cases, groups, catalog)
    if a.markdown:
        write_tables(a.markdown, text)


if __name__ == "__main__":
    main()
