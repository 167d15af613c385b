"""Throughput of a model on cards: facts of the catalogue put into the equations.

Here: which facts an equation's inputs mean, options, layouts (tensor and pipeline parallel), the `Prediction`.
Not here: the equations (``equations/``), money (`money`), broadcasting and the public signatures (`functions`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gpuecon_xl import graph
from gpuecon_xl.catalog import Catalog, key_of
from gpuecon_xl.equations.serving import data_class
from gpuecon_xl.errors import BadValue, NameNotFound, nearest
from gpuecon_xl.schema import POSITIVE, SHARES

# Inputs that come from one row of the catalogue, by table.
MODEL_INPUTS = (
    "params_b", "active_b", "layers", "hidden", "heads", "kv_heads", "head_dim", "vocab", "embed_copies", "layers_full",
    "layers_window", "window", "window_kv_heads", "window_head_dim", "state_mib", "kv_lora_rank", "rope_dim", "experts",
    "experts_active", "expert_ffn", "layers_moe", "expert_mats", "allreduces_layer",
)  # fmt: skip
GPU_INPUTS = ("memory_gb", "memory_usable_mib", "bandwidth_gb_s", "tflops_16", "tflops_fp8", "tops_int8", "tflops_fp4",
              "tdp_w")  # fmt: skip
PRECISION_INPUTS = ("bytes_weight", "bytes_embed", "bytes_nonexpert_moe", "expert_pad", "kernel")
LINK_INPUTS = ("alpha_pair_us", "alpha_power", "bus_pair_gb_s", "bus_power")
ENGINE_INPUTS = ("memory_share", "activation_dense_gib", "activation_moe_gib", "activation_vocab_gib", "large_card_gb", "small_card_factor",
                 "nontorch_one_gib", "nontorch_many_gib", "max_sequences", "kv_bytes_low", "prefill_chunk_tokens",
                 "pipeline_batches", "overlap", "layer_us", "layer_moe_us", "step_ms", "sequence_us", "request_ms",
                 "prefill_factor", "kv_sharing_power", "alpha_factor", "bus_factor",
                 "window_alloc_full")  # fmt: skip
EFFICIENCY_INPUTS = ("weight_efficiency", "kv_efficiency", "dense_compute_efficiency", "moe_compute_factor",
                     "decode_compute_factor", "expert_read_factor",
                     "band_low", "band_high")  # fmt: skip
ASSUMPTION_INPUTS = ("memory_free_share", "weights_overhead", "collectives", "kv_reads", "tp_factor",
                     "headroom_wanted", "weights_factor_stated", "prefix_tokens", "spec_accept", "spec_draft",
                     "efficiency_most", "attention_compute_factor", "matrix_width_full", "matrix_width_power",
                     "kv_low_factor", "kv_latent_factor", "arrivals_together", "thin_data_rows")  # fmt: skip
VARYING = ("batch", "input_tokens", "output_tokens", "gpus", "tp", "pp")

# What the ideal roofline of Inferenzrechner, 2026-09 assumes instead of measured behaviour.
_CEILING: dict[str, float] = {
    "overlap": 1, "collectives": 0, "memory_share": 1, "memory_free_share": 1, "activation_dense_gib": 0,
    "activation_moe_gib": 0, "activation_vocab_gib": 0,
    "nontorch_one_gib": 0, "nontorch_many_gib": 0, "layer_us": 0, "sequence_us": 0, "request_ms": 0, "layer_moe_us": 0,
    "step_ms": 0, "weight_efficiency": 1, "kv_efficiency": 1, "dense_compute_efficiency": 1,
    "moe_compute_factor": 1, "decode_compute_factor": 1, "expert_read_factor": 1,
    "prefill_factor": 1, "attention_compute_factor": 1, "matrix_width_power": 0, "efficiency_most": 1, "kv_low_factor": 1,
    "kv_latent_factor": 1, "kv_sharing_power": 0, "kv_bytes_low": 2, "band_low": 1, "band_high": 1,
    "window_alloc_full": 0, "expert_pad": 1, "max_sequences": 1e9,
}  # fmt: skip

OUTPUTS = ("decode_tok_s_user", "decode_tok_s", "output_tok_s", "total_tok_s", "prefill_tok_s", "ttft_s",
           "decode_step_s", "batch_max", "headroom", "fit_class", "bound", "output_tok_s_low", "output_tok_s_high",
           "admitted", "weights_gb", "kv_gb_sequence", "kv_budget_gb", "replicas", "sequences_max_replica",
           "engine_overhead_gb", "engine_memory_gb", "interleave_s")  # fmt: skip

QUICK = ("output_tok_s", "batch_max", "headroom")  # what a function in a cell needs

ENGINE_FAMILIES = ("vLLM", "SGLang", "TensorRT-LLM", "NIM", "llama.cpp", "ExLlama", "MLC-LLM", "Transformers")
_ENGINE_WORDS = (
    ("nim", "NIM"),
    ("vllm", "vLLM"),
    ("sglang", "SGLang"),
    ("tensorrt", "TensorRT-LLM"),
    ("trtllm", "TensorRT-LLM"),
    ("llama.cpp", "llama.cpp"),
    ("llamacpp", "llama.cpp"),
    ("ollama", "llama.cpp"),
    ("llamafile", "llama.cpp"),
    ("lmstudio", "llama.cpp"),
    ("exllama", "ExLlama"),
    ("mlc", "MLC-LLM"),
    ("transformers", "Transformers"),
)

# Options that are not assumptions. The list is closed: a misspelt option is refused, with the nearest.
OPTION_KEYS = frozenset(
    ("tp", "pp", "kv", "engine", "mode", "kv_reads", "tok_s", "case", "currency", "rent_gpu", "rel", "own_cost",
     "input_tokens", "output_tokens", "prefix_tokens", "spec_accept", "spec_draft", "tp_factor")
)  # fmt: skip
_TEXT_OPTIONS = frozenset(("kv", "engine", "mode", "case", "currency", "rent_gpu", "own_cost"))
_CHOICES = {"mode": ("expected", "ceiling"), "case": ("low", "typical", "high"), "currency": ("EUR", "USD"),
            "own_cost": ("exact", "at_assumed_use")}  # fmt: skip
_COUNTS = frozenset(("tp", "pp"))


def parse_number(text: str, what: str) -> float:
    """A number as an option or a command line gives it: point or comma, no grouping, "%" allowed."""
    stripped = text.strip().replace("\u00a0", " ")
    percent = stripped.endswith("%")
    body = stripped[:-1].strip() if percent else stripped
    if not re.fullmatch(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", body):
        raise BadValue(f"{what} is {text[:40]!r}; a plain number such as 0.6 or 60 % is due")
    number = float(body.replace(",", "."))
    return number / 100 if percent else number


def _option_value(key: str, value: Any, catalog: Catalog) -> Any:
    default = catalog.assumptions.get(key)
    wants_text = key in _TEXT_OPTIONS or isinstance(default, str)
    if wants_text:
        if not isinstance(value, str):
            raise BadValue(f"option {key} is {value!r}; a text is due")
        text = value.strip()
        if key in _CHOICES:
            match = next((c for c in _CHOICES[key] if c.lower() == text.lower()), None)
            if match is None:
                raise BadValue(f"option {key} is {text[:40]!r}; one of {', '.join(_CHOICES[key])} is due")
            return match
        return text
    if isinstance(value, str):
        value = parse_number(value, f"option {key}")
    return check_number(value, f"option {key}", positive=key in POSITIVE, share=key in SHARES, whole=key in _COUNTS)


def check_number(value: Any, what: str, *, positive: bool = False, share: bool = False, whole: bool = False, at_most: float | None = None) -> float:
    """A finite number within its bounds, or a refusal that says what would be right."""
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        try:
            if isinstance(value, bool | str) or value is None:
                raise TypeError
            value = float(value)  # Decimal, numpy scalar
        except (TypeError, ValueError):
            raise BadValue(f"{what} is {value!r}; {_due(positive, share, whole, at_most)} is due") from None
    number = float(value)
    bad = number != number or number in (float("inf"), float("-inf")) or number < 0 or (positive and number == 0)
    if bad or (share and number > 1) or (whole and number != int(number)) or (at_most is not None and number > at_most):
        raise BadValue(f"{what} is {number:g}; {_due(positive, share, whole, at_most)} is due")
    return number


def _due(positive: bool, share: bool, whole: bool, at_most: float | None = None) -> str:
    if share:
        return "a share above 0 and up to 1" if positive else "a share from 0 to 1"
    what = "a whole number" if whole else "a number"
    return f"{what} above 0" if positive else f"{what} of at least 0" + (f" and at most {at_most:g}" if at_most else "")


@lru_cache(maxsize=512)
def _split_text(text: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for part in text.split(";"):
        if not part.strip():
            continue
        key, sign, value = part.partition("=")
        if not sign or not key.strip() or not value.strip():
            raise BadValue(f'options: {part.strip()[:40]!r} is not of the form key=value; write for example "tp=2; kv=fp8"')
        pairs.append((key.strip(), value.strip()))
    return tuple(pairs)


def parse_options(options: Any, catalog: Catalog) -> dict[str, Any]:
    """Options as a dict, a text "tp=2; kv=fp8", or a two-column range, checked against the closed list of keys."""
    if options is None or (isinstance(options, str) and not options.strip()):
        return {}
    if isinstance(options, str):
        pairs: Any = _split_text(options)
    elif isinstance(options, Mapping):
        pairs = options.items()
    elif not hasattr(options, "__iter__"):
        raise BadValue(f'options is {options!r}; a text such as "tp=2; kv=fp8", a dict or a range of two columns is due')
    else:
        rows = options.tolist() if hasattr(options, "tolist") else list(options)
        if rows and not isinstance(rows[0], list | tuple):
            rows = [rows]
        pairs = []
        for row in rows:
            if len(row) != 2:
                raise BadValue("options: a range of two columns, key and value, is due")
            if row[0] in (None, "") and row[1] in (None, ""):
                continue
            pairs.append((row[0], row[1]))
    out: dict[str, Any] = {}
    for key, value in pairs:
        if not isinstance(key, str):
            raise BadValue(f"options: {key!r} is not a name of an option")
        key = key.strip().lower()
        if key not in OPTION_KEYS and key not in catalog.assumptions:
            raise NameNotFound(f"option {key[:40]!r} does not exist; nearest: {nearest(key, [*OPTION_KEYS, *catalog.assumptions])}")
        if key in out:
            raise BadValue(f"option {key} is given twice; give it once")
        if value is None or value == "":
            continue
        out[key] = _option_value(key, value, catalog)
    return out


def find_engine(catalog: Catalog, engine: str | None) -> dict[str, Any]:
    """The row of an engine by family or full string: "vLLM", "vLLM 0.12.0", "vLLM (2024)", "TensorRT-LLM 1.0"."""
    if engine is None or not engine.strip():
        engine = str(catalog.assumption("engine"))
    memo = catalog.memo.setdefault("engine", {})
    row = memo.get(engine)
    if row is None:
        row = memo[engine] = _find_engine(catalog, engine)
    return row  # type: ignore[no-any-return]


def _find_engine(catalog: Catalog, engine: str) -> dict[str, Any]:
    rows = catalog.rows("engines")
    key = key_of(engine)
    exact = next((r for r in rows if key_of(str(r["engine"])) == key), None)
    if exact:
        return exact
    family = next((name for word, name in _ENGINE_WORDS if word in key), None)
    mine = [r for r in rows if r["family"] == family]
    if family is None or not mine:
        raise NameNotFound(f"engine {engine[:40]!r} is not known; one of {', '.join(ENGINE_FAMILIES)} is due, alone or with a version")

    def version(text: Any) -> tuple[int, ...]:
        return tuple(int(n) for n in re.findall(r"\d+", str(text))[:3])

    if re.search(r"\(20\d\d\)", engine):
        return min(mine, key=lambda r: version(r["since"]))  # only the year is known: the oldest
    asked = re.search(r"(\d+\.\d+(\.\d+)?)", engine)
    if asked is None:
        return max(mine, key=lambda r: version(r["since"]))
    # TensorRT 9 and 10 are the library below: TensorRT-LLM was at 0.10 and later then
    number = asked.group(1) if family != "TensorRT-LLM" or "llm" in key else "0.10"
    fitting = [r for r in mine if version(r["since"]) <= version(number)]
    return max(fitting or mine, key=lambda r: version(r["since"]) if fitting else ())


@dataclass(frozen=True)
class Setup:
    """What a prediction stands on before load and layout are known: the facts of model, card, precision, engine."""

    model: dict[str, Any]
    gpu: dict[str, Any]
    precision: dict[str, Any]
    kv: dict[str, Any] | None
    engine: dict[str, Any]
    mode: str
    values: dict[str, Any]  # every input that is not in VARYING
    carried: tuple[Any, ...]  # first stage of the plan, computed once
    run: Callable[..., tuple[Any, ...]]  # second stage: carried + VARYING -> OUTPUTS
    quick_carried: tuple[Any, ...]  # the same for QUICK
    quick: Callable[..., tuple[Any, ...]]


def setup(
    catalog: Catalog,
    model: str,
    gpu: str,
    precision: str | None,
    kv: str | None,
    engine: str | None,
    mode: str,
    assumptions: tuple[tuple[str, Any], ...] = (),
) -> Setup:
    """Facts for one combination, gathered once for each catalogue and kept.

    Parameters
    ----------
    assumptions : options that replace assumptions of the catalogue, sorted.
    """
    key = (model, gpu, precision, kv, engine, mode, assumptions)
    memo = catalog.memo.setdefault("setup", {})
    found = memo.get(key)
    if found is None:
        if len(memo) > 20_000:
            memo.clear()
        found = memo[key] = _setup(catalog, *key)
    return found  # type: ignore[no-any-return]


def inputs_of(
    catalog: Catalog,
    model: dict[str, Any],
    gpu: dict[str, Any],
    precision: dict[str, Any],
    kv: dict[str, Any] | None,
    engine: dict[str, Any],
    mode: str,
    assumptions: Mapping[str, Any],
) -> dict[str, Any]:
    """Every input of the throughput equations that does not vary with load and layout."""
    from gpuecon_xl.equations.memory import kernel_used

    values: dict[str, Any] = {n: model[n] for n in MODEL_INPUTS}
    values.update((n, gpu[n]) for n in GPU_INPUTS)
    values.update((n, precision[n]) for n in PRECISION_INPUTS)
    values.update((n, engine[n]) for n in ENGINE_INPUTS)
    for n in ASSUMPTION_INPUTS:
        values[n] = assumptions[n] if n in assumptions else catalog.assumption(n)
    if kv is not None and not kv["bytes_kv"]:
        raise BadValue(f"kv {kv['precision']!r} is no format of a cache; one of fp16, fp8, int8, q8_0, q4_0, nvfp4 is due")
    values["bytes_kv_named"] = kv["bytes_kv"] if kv else 0  # 0: the engine's own
    link = catalog.find("links", gpu["link"] or "none")
    values.update((n, link[n]) for n in LINK_INPUTS)
    kernel = kernel_used(precision["kernel"], gpu["tflops_fp8"], gpu["tops_int8"], gpu["tflops_fp4"])
    efficiency = catalog.find("efficiency", f"{gpu['efficiency_class']} {kernel}")
    values.update((n, efficiency[n]) for n in EFFICIENCY_INPUTS)
    values["measurements"] = efficiency["n"]
    values["embed_read_copies"] = min(model["embed_copies"], 1)
    if mode == "ceiling":
        values.update((n, v) for n, v in _CEILING.items() if n in values and n not in assumptions)
        values["capacity_gb"] = gpu["memory_gb"]
        values["weights_overhead"] = values["weights_factor_stated"]
        values["bytes_embed"] = values["bytes_nonexpert_moe"] = precision["bytes_weight"]
        values["embed_read_copies"] = model["embed_copies"]
    return values


def _setup(
    catalog: Catalog,
    model: str,
    gpu: str,
    precision: str | None,
    kv: str | None,
    engine: str | None,
    mode: str,
    assumptions: tuple[tuple[str, Any], ...],
) -> Setup:
    model_row, told = catalog.find_model(model)
    gpu_row = catalog.find("gpus", gpu)
    precision_row = catalog.find("precisions", precision or told or model_row["precision"] or "bf16")
    kv_row = catalog.find("precisions", kv) if kv else None
    engine_row = find_engine(catalog, engine)
    if mode not in ("expected", "ceiling"):
        raise BadValue(f"mode is {mode!r}; expected or ceiling is due")
    values = inputs_of(catalog, model_row, gpu_row, precision_row, kv_row, engine_row, mode, dict(assumptions))
    fixed = tuple(values)
    stages: list[Any] = []
    for outputs in (OUTPUTS, QUICK):
        carried, second = graph.staged(outputs, fixed, VARYING)
        stages += [graph.plan(carried, fixed)(*values.values()), graph.plan(outputs, second)]
    return Setup(model_row, gpu_row, precision_row, kv_row, engine_row, mode, values, *stages)


def layouts(gpus: int, tp: int | None, pp: int, heads: float = 0) -> Iterator[tuple[int, int]]:
    """Layouts to choose from: tp · pp cards make one replica, whole replicas fill the cards.

    A given `tp` is taken as it is; otherwise every group up to 16 that fills the cards and divides the attention heads.
    """
    if tp is not None:
        yield tp, pp
        return
    for t in range(1, min(gpus // pp, MOST_TENSOR_PARALLEL) + 1):
        if gpus % (t * pp) == 0 and (not heads or heads % t == 0):
            yield t, pp


@dataclass(frozen=True)
class Prediction:
    """Throughput of a build at a load. Rates in tokens per second, times in seconds.

    Attributes
    ----------
    decode_tok_s_user : pure decode rate of one sequence, nothing interleaved.
    decode_tok_s : that times the admitted sequences, all replicas.
    output_tok_s : output of the closed serving loop at that concurrency, prompts included.
    total_tok_s : input and output.  prefill_tok_s : prompt tokens of the whole build, nothing else running.
    ttft_s : mean time to first token at that concurrency.  step_s : time of one decode step.
    batch_max : sequences of full length that the build holds.  admitted : sequences that run at once.
    headroom : share of the engine's memory left free with the batch asked.  fits : "fits", "tight" or "no".
    bound : "memory", "compute" or "link".  low, high : 80 % band of output_tok_s.
    basis : "measured" when the catalogue has a measurement of the same model, card, format, layout and load, else "estimated";
    the note says which.
    """

    decode_tok_s_user: float
    decode_tok_s: float
    output_tok_s: float
    total_tok_s: float
    prefill_tok_s: float
    ttft_s: float
    step_s: float
    batch_max: float
    headroom: float
    fits: str
    bound: str
    low: float
    high: float
    admitted: float
    weights_gb: float
    kv_gb_sequence: float
    kv_budget_gb: float
    replicas: float
    tp: int
    pp: int
    basis: str
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, for JSON."""
        return dict(self.__dict__)


MOST_TENSOR_PARALLEL = 16  # wider groups span hosts
UNLIMITED = 1e9  # batch=None: as many as fit


def best_layout(
    s: Setup, batch: float, input_tokens: float, output_tokens: float, gpus: int, tp: int | None, pp: int
) -> tuple[float, float, int, int] | None:
    """The fastest layout that holds at least one sequence: output tok/s, largest batch, tp, pp; or None."""
    if gpus == 1:
        out, most, _ = s.quick(*s.quick_carried, batch, input_tokens, output_tokens, 1, 1, 1)
        return (out, most, 1, 1) if most >= 1 else None
    best = None
    for t, p in layouts(gpus, tp, pp, s.model["heads"]):
        if p > s.model["layers"]:
            continue
        out, most, _ = s.quick(*s.quick_carried, batch, input_tokens, output_tokens, gpus, t, p)
        if most >= 1 and (best is None or round(out, 9) > round(best[0], 9)):
            best = (out, most, t, p)
    return best


def best_headroom(s: Setup, batch: float, input_tokens: float, output_tokens: float, gpus: int, tp: int | None, pp: int) -> float:
    """The largest headroom over the layouts."""
    return float(
        max(s.quick(*s.quick_carried, batch, input_tokens, output_tokens, gpus, t, p)[2] for t, p in layouts(gpus, tp, pp, s.model["heads"]))
    )


def check_layout(gpus: Any, tp: Any, pp: Any) -> tuple[int, int | None, int]:
    """Whole numbers of cards and of their groups, which must fill the build."""
    count = int(check_number(gpus, "gpus", positive=True, whole=True, at_most=100_000))
    t = None if tp is None else int(check_number(tp, "tp", positive=True, whole=True))
    p = 1 if pp is None else int(check_number(pp, "pp", positive=True, whole=True))
    group = (t or 1) * p
    if group > count:
        raise BadValue(f"tp {t or 1} times pp {p} is {group} cards, more than the {count} of gpus; tp · pp may be at most gpus")
    if count % group:
        raise BadValue(f"tp {t or 1} times pp {p} is {group} cards, which does not divide the {count} of gpus")
    return count, t, p


def check_heads(s: Setup, tp: int | None) -> None:
    """A tensor-parallel group must divide the attention heads; engines refuse others."""
    heads = s.model["heads"]
    if tp is not None and heads and heads % tp:
        raise BadValue(f"tp is {tp}, which does not divide the {heads:g} attention heads of {s.model['model']}; a divisor is due")


def too_big(s: Setup, gpus: int, context: float) -> BadValue:
    """The refusal when not even one sequence fits."""
    weights = graph.plan(("weights_gb",), tuple(s.values))(*s.values.values())[0]
    each = s.values.get("capacity_gb") or s.gpu["memory_usable_mib"] * 1_048_576 / 1e9
    return BadValue(
        f"{s.model['model']} in {s.precision['precision']} needs {weights:.1f} GB for weights and does not fit with one "
        f"sequence of {context:g} tokens on {gpus} x {s.gpu['gpu']} ({each:.1f} GB each); more cards or a smaller precision is due"
    )


def predict_one(
    catalog: Catalog,
    model: str,
    gpu: str,
    precision: str | None,
    batch: float | None,
    input_tokens: float,
    output_tokens: float,
    gpus: Any,
    tp: Any,
    pp: Any,
    kv: str | None,
    engine: str | None,
    mode: str,
    assumptions: tuple[tuple[str, Any], ...] = (),
) -> Prediction:
    """One prediction, arguments already told apart from options."""
    s = setup(catalog, model, gpu, precision, kv, engine, mode, assumptions)
    count, t, p = check_layout(gpus, tp, pp)
    check_heads(s, t)
    asked = UNLIMITED if batch is None else check_number(batch, "batch", positive=True)
    tokens_in = check_number(input_tokens, "input_tokens")
    tokens_out = check_number(output_tokens, "output_tokens", positive=True)
    best = best_layout(s, asked, tokens_in, tokens_out, count, t, p)
    if best is None:
        raise too_big(s, count, tokens_in + tokens_out)
    _, most, t_used, p_used = best
    if batch is None:  # the largest that is admitted: nothing queues
        asked = most
    got = s.run(*s.carried, asked, tokens_in, tokens_out, count, t_used, p_used)
    v = dict(zip(OUTPUTS, got, strict=True))
    row = matching_benchmark(catalog, s, engine, count, t_used, p_used, batch, tokens_in, tokens_out)
    notes = [beside(row)] if row else []
    if mode == "expected" and data_class(s.values["measurements"], s.values["thin_data_rows"]) == "thin":
        notes.append(thin_note(s))
    limit = s.model["max_context"]
    if limit and tokens_in + tokens_out > limit:
        notes.append(f"{tokens_in + tokens_out:g} tokens are beyond the {limit:g} that {s.model['model']} was made for")
    return Prediction(
        v["decode_tok_s_user"],
        v["decode_tok_s"],
        v["output_tok_s"],
        v["total_tok_s"],
        v["prefill_tok_s"],
        v["ttft_s"],
        v["decode_step_s"],
        v["batch_max"],
        v["headroom"],
        v["fit_class"],
        v["bound"],
        v["output_tok_s_low"],
        v["output_tok_s_high"],
        v["admitted"],
        v["weights_gb"],
        v["kv_gb_sequence"],
        v["kv_budget_gb"],
        v["replicas"],
        t_used,
        p_used,
        "measured" if row and row["confidence"] == "measured" else "estimated",
        "; ".join(notes),
    )


def check_context(s: Setup, context: float) -> None:
    """A context beyond the model's limit is refused."""
    limit = s.model["max_context"]
    if limit and context > limit:
        raise BadValue(f"context of {context:g} tokens is beyond the {limit:g} of {s.model['model']}; at most {limit:g} is due")


# Metrics of a benchmark that say what one of the first two figures of a prediction is.
_BESIDE = {"output_tok_s_total": "output_tok_s", "decode_tok_s_single": "decode_tok_s_user"}


def matching_benchmark(
    catalog: Catalog,
    s: Setup,
    engine: str | None,
    gpus: int,
    tp: int,
    pp: int,
    batch: float | None,
    input_tokens: float,
    output_tokens: float,
) -> dict[str, Any] | None:
    """A benchmark row of the same model, card, precision, cards, layout and load, if the catalogue has one.

    Measured rows go before those that a text states, totals before rates of one request. Cache format and engine family
    must be equal where both state them; a text that states no layout or lengths matches any, a measurement must state its lengths.
    """
    held = _benchmarks(catalog).get((s.model["model"], s.gpu["gpu"], s.precision["precision"]), ())
    asked = s.engine["family"] if engine and engine.strip() else None
    kv = s.kv["precision"] if s.kv else None
    for r, family, r_kv in held:
        measured = r["confidence"] == "measured"
        if (r["gpus"] or 1) != gpus or not _same(r["tp"], tp) or not _same(r["pp"], pp):
            continue
        if (r["batch"] or (None if measured else -1)) != batch or (batch is None and r["metric"] != "output_tok_s_total"):
            continue
        if measured and not (r["input_tokens"] and r["output_tokens"]):
            continue
        if not _same(r["input_tokens"], input_tokens) or not _same(r["output_tokens"], output_tokens):
            continue
        if (asked and family and asked != family) or (kv and r_kv and kv != r_kv):
            continue
        return r
    return None


def _same(stated: float, asked: float) -> bool:
    """Equal, or not stated; mean lengths are stated with decimals and asked without."""
    return not stated or stated == asked or round(stated) == asked


def _benchmarks(catalog: Catalog) -> dict[tuple[str, str, str], list[tuple[dict[str, Any], str | None, str | None]]]:
    """Rows by model, card and precision, each with its engine's family and its cache format, best first."""
    index: dict[tuple[str, str, str], list[tuple[dict[str, Any], str | None, str | None]]] | None = catalog.memo.get("benchmarks")
    if index is None:
        index = {}
        for r in catalog.rows("benchmarks"):
            if r["metric"] not in _BESIDE or r["unit"] != "tok/s" or not r["value"]:
                continue
            try:
                key = (catalog.find_model(r["model"])[0]["model"], catalog.find("gpus", r["gpu"])["gpu"],
                       catalog.find("precisions", r["precision"])["precision"])  # fmt: skip
                kv = catalog.find("precisions", r["kv"])["precision"] if r["kv"] else None
            except NameNotFound:
                continue
            index.setdefault(key, []).append((r, engine_family(catalog, r["engine"]), kv))
        for rows in index.values():
            rows.sort(key=lambda x: (x[0]["confidence"] != "measured", x[0]["metric"] != "output_tok_s_total"))
        catalog.memo["benchmarks"] = index
    return index


def engine_family(catalog: Catalog, engine: str | None) -> str | None:
    """The family of an engine; None where none is stated or it is not known."""
    if not engine or not engine.strip():
        return None
    try:
        return str(find_engine(catalog, engine)["family"])
    except NameNotFound:
        return None


def beside(row: Mapping[str, Any]) -> str:
    """A benchmark row as a note: what, how sure, which, whose, when."""
    what = "output" if row["metric"] == "output_tok_s_total" else "one user"
    return f"{row['confidence']} beside it: {row['value']:g} {row['unit']} ({what}), {row['id']}, {row['source']}, {row['as_of']}"


def thin_note(s: Setup) -> str:
    """The note where few measurements stand behind the card's class in this format."""
    n = s.values["measurements"]
    count = "no measurement stands" if not n else "one measurement stands" if n == 1 else f"only {n:g} measurements stand"
    return f"thin data: {count} behind {s.gpu['efficiency_class']} cards in this number format"
