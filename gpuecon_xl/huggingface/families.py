"""Architecture families: which blocks a decoder of each `model_type` is made of.

Here: one function or one `Style` for each family, and the table `FAMILIES`. Not here: the size of a block (`blocks`), the
steps that families share (`shape`), vision towers (`towers`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from gpuecon_xl.huggingface.blocks import (
    GATED_MATS,
    PLAIN_MATS,
    WEIGHT_AND_BIAS,
    attention,
    delta_net,
    gated_width,
    latent_attention,
    lightning_attention,
    linear,
    mamba2,
    mlp,
    rounded_up,
    short_convolution,
    sparse_indexer,
)
from gpuecon_xl.huggingface.configuration import Config
from gpuecon_xl.huggingface.shape import (
    FULL,
    LINEAR,
    WINDOW,
    Experts,
    LayerRule,
    Shape,
    add_experts,
    derived_head_dim,
    frame,
    full_every_nth,
    layer_kinds,
    listed_only,
    no_window,
    same_kv_heads,
    sparse_after,
    sparse_by_step,
    window_every_other,
    window_if_given,
    window_if_used,
)

FFN_OF_HIDDEN = 4  # width of a plain feed-forward block over the hidden width where a file leaves it out (GPT-J, Falcon)
NAS_MULTIPLE = 256  # feed-forward widths of Nemotron-NAS are rounded up to it (modeling_decilm.py)
MLLAMA_ROWS = 8  # of the embedding beyond the vocabulary (modeling_mllama.py)
BLOCK_PARTS = 2  # a decoder layer has attention and a feed-forward block; each ends in an all-reduce
QUERY_AND_KEY = 2
GEMMA_NORMS, GEMMA_MOE_NORMS = 4, 7  # Gemma 2 to 4 put a norm before and after each part

Flag = str | bool  # a fixed answer, or the key that holds it


@dataclass(frozen=True)
class Style:
    """How the layers of a plain decoder are built."""

    rule: LayerRule = no_window
    qkv_bias: Flag = False
    out_bias: Flag = False
    mlp_bias: Flag = False
    head_bias: Flag = False
    qk_norm: str = ""  # "head": a norm of one head's width for queries and one for keys; "all": of all heads' width
    qk_norm_if: Flag = True
    norms: int = BLOCK_PARTS  # vectors of hidden width a layer
    norm_parts: int = 1  # WEIGHT_AND_BIAS for layer norms
    mats: int = GATED_MATS
    gate: bool = False  # attention has an output gate
    sinks: bool = False  # one learnt value for each head
    parallel: Flag = False  # attention and feed-forward share one all-reduce
    equal_kv: bool = False  # no key-value heads given: one for each query head
    own_width: bool = True  # no width of a head given: hidden width over heads
    ffn: str = "intermediate_size"
    linear: Callable[[Config, Shape], tuple[int, int]] | None = None
    experts: Callable[[Config, Shape], Experts] | None = None


def _flag(c: Config, flag: Flag) -> bool:
    return flag if isinstance(flag, bool) else c.flag(flag)


def _decoder(style: Style) -> Callable[[Config], Shape]:
    def build(c: Config) -> Shape:
        s = frame(c, kv_heads=same_kv_heads(c) if style.equal_kv else None, head_dim=derived_head_dim(c) if style.own_width else None)
        kinds = layer_kinds(c, s, style.rule)
        s.embed(style.norm_parts)
        s.params += s.vocab if _flag(c, style.head_bias) else 0
        plain = len(kinds) - kinds.count(LINEAR)
        s.params += plain * _attention(c, s, style) + s.layers * style.norms * style.norm_parts * s.hidden
        if LINEAR in kinds:
            _add_linear(c, s, style)
        dense = s.layers
        if style.experts is not None:
            e = style.experts(c, s)
            add_experts(c, s, e)
            dense -= e.layers
        if dense:
            s.params += dense * mlp(s.hidden, c.count(style.ffn), style.mats, _flag(c, style.mlp_bias))
        s.allreduces = s.layers * (1 if _flag(c, style.parallel) else BLOCK_PARTS)
        return s

    return build


def _attention(c: Config, s: Shape, style: Style) -> int:
    total = attention(
        s.hidden, s.heads, s.kv_heads, s.head_dim, qkv_bias=_flag(c, style.qkv_bias), out_bias=_flag(c, style.out_bias), gate=style.gate
    )
    if style.qk_norm and _flag(c, style.qk_norm_if):
        total += s.head_dim * (QUERY_AND_KEY if style.qk_norm == "head" else s.heads + s.kv_heads)
    return total + (s.heads if style.sinks else 0)


def _add_linear(c: Config, s: Shape, style: Style) -> None:
    if style.linear is None:
        c.findings.wrong(f"{c.prefix}layer_types holds linear layers, which this family is not known to have; full or sliding attention is due")
        return
    params, state = style.linear(c, s)
    s.params += s.layers_linear * params
    s.state += s.layers_linear * state


# ------------------------------------------------------------------------------------------------ linear layers and experts


def _delta(c: Config, s: Shape) -> tuple[int, int]:
    return delta_net(
        s.hidden, c.count("linear_num_key_heads"), c.count("linear_num_value_heads"), c.count("linear_key_head_dim"),
        c.count("linear_value_head_dim"), c.count("linear_conv_kernel_dim"),
    )  # fmt: skip


def _lightning(c: Config, s: Shape) -> tuple[int, int]:
    return lightning_attention(s.hidden, s.heads, s.head_dim)


def _short(c: Config, s: Shape) -> tuple[int, int]:
    return short_convolution(s.hidden, c.count("conv_L_cache"), c.flag("conv_bias"))


def _mixtral_experts(c: Config, s: Shape) -> Experts:
    return Experts(c.count("num_local_experts"), c.count("num_experts_per_tok"), c.count("intermediate_size"), s.layers)


def _minimax_experts(c: Config, s: Shape) -> Experts:
    if c.count_or(0, "shared_intermediate_size"):
        c.wrong("shared_intermediate_size", "0, as in every published model of this family,")
    return _mixtral_experts(c, s)


def _gpt_oss_experts(c: Config, s: Shape) -> Experts:
    experts, ffn = c.count("num_local_experts"), c.count("intermediate_size")
    biases = (GATED_MATS - 1) * ffn + s.hidden
    return Experts(experts, c.count("num_experts_per_tok", "experts_per_token"), ffn, s.layers, extra=experts, own=biases)


def _qwen_experts(shared: bool) -> Callable[[Config, Shape], Experts]:
    def experts(c: Config, s: Shape) -> Experts:
        # the shared expert has a gate of one value
        extra = mlp(s.hidden, c.count("shared_expert_intermediate_size"), GATED_MATS) + s.hidden if shared else 0
        sparse = sparse_by_step(c, s.layers)
        return Experts(c.count("num_experts"), c.count("num_experts_per_tok"), c.count("moe_intermediate_size"), sparse, extra)

    return experts


def _shared_experts(c: Config, s: Shape) -> Experts:
    """Routed and shared experts of one width; the first layers dense (DeepSeek, GLM, Kimi)."""
    ffn = c.count("moe_intermediate_size")
    shared = mlp(s.hidden, ffn * c.count("n_shared_experts", least=0), GATED_MATS)
    return Experts(c.count("n_routed_experts"), c.count("num_experts_per_tok"), ffn, sparse_after(c, s.layers), shared)


def _llama4_experts(c: Config, s: Shape) -> Experts:
    step, listed = c.count("interleave_moe_layer_step"), c.items("moe_layers")
    sparse = len(listed) if listed is not None else sum((i + 1) % step == 0 for i in range(s.layers))
    ffn = c.count("intermediate_size")
    return Experts(c.count("num_local_experts"), c.count("num_experts_per_tok"), ffn, sparse, mlp(s.hidden, ffn, GATED_MATS))


def _lfm2_experts(c: Config, s: Shape) -> Experts:
    sparse = max(s.layers - c.count("num_dense_layers", least=0), 0)
    return Experts(c.count("num_experts"), c.count("num_experts_per_tok"), c.count("moe_intermediate_size"), sparse)


# ------------------------------------------------------------------------------------------------ families of their own


def _latent(c: Config) -> Shape:
    nope, rope, value = c.count("qk_nope_head_dim"), c.count("qk_rope_head_dim"), c.count("v_head_dim")
    s = frame(c, head_dim=nope + rope)
    s.layers_full, s.allreduces = s.layers, s.layers * BLOCK_PARTS
    s.kv_lora_rank, s.rope_dim = c.count("kv_lora_rank"), rope
    query_rank = c.count_or(0, "q_lora_rank") if "q_lora_rank" in c.tree else c.count("q_lora_rank")
    s.embed()
    one = latent_attention(s.hidden, s.heads, query_rank, s.kv_lora_rank, nope, rope, value, c.flag("attention_bias"))
    s.params += s.layers * (one + BLOCK_PARTS * s.hidden)
    e = _shared_experts(c, s)
    add_experts(c, s, e)
    if e.layers < s.layers:
        s.params += (s.layers - e.layers) * mlp(s.hidden, c.count("intermediate_size"), GATED_MATS)
    return s


def _latent_with_indexer(c: Config) -> Shape:
    s = _latent(c)
    one = sparse_indexer(s.hidden, c.count("q_lora_rank"), c.count("index_n_heads"), c.count("index_head_dim"))
    listed = c.items("indexer_types", s.layers)  # "shared" layers reuse the choice of the one before
    s.params += one * (s.layers if listed is None else sum(k == "full" for k in listed))
    s.notes.append("sparse attention: the indexer's keys are not in the cache columns")
    return s


def _mllama(c: Config) -> Shape:
    s = frame(c, head_dim=derived_head_dim(c))
    listed = c.items("cross_attention_layers")
    if listed is None and not c.has("cross_attention_layers"):
        c.findings.lacks(f"{c.prefix}cross_attention_layers")
    crossed = len(listed or [])
    if crossed > s.layers:
        c.conflict("cross_attention_layers", f"a list of at most {s.layers} layers")
    s.embed()
    s.params += MLLAMA_ROWS * s.hidden
    one = attention(s.hidden, s.heads, s.kv_heads, s.head_dim) + mlp(s.hidden, c.count("intermediate_size"), GATED_MATS) + BLOCK_PARTS * s.hidden
    s.params += s.layers * one + crossed * (QUERY_AND_KEY * s.head_dim + BLOCK_PARTS)  # norms of heads, and a gate for each part
    s.layers_full, s.allreduces = s.layers - crossed, s.layers * BLOCK_PARTS
    s.notes.append(f"{crossed} layers attend to the image only: no growing cache")
    return s


def _gemma4(c: Config) -> Shape:
    wide = c.count("global_head_dim")
    same = c.flag("attention_k_eq_v")
    s = frame(c, kv_heads=c.count("num_global_key_value_heads" if same else "num_key_value_heads"), head_dim=wide)
    s.window_kv_heads, s.window_head_dim = c.count("num_key_value_heads"), c.count("head_dim")
    for key in ("num_kv_shared_layers", "hidden_size_per_layer_input"):
        if c.count_or(0, key):
            c.wrong(key, "0 (shared caches and per-layer embeddings have no columns in models.csv)")
    layer_kinds(c, s, listed_only)
    s.embed()
    bias = c.flag("attention_bias")
    full = attention(s.hidden, s.heads, s.kv_heads, wide, qkv_bias=bias, out_bias=bias) + QUERY_AND_KEY * wide
    if same:  # keys and values share one projection
        full -= linear(s.hidden, s.kv_heads * wide, bias)
    narrow = attention(s.hidden, s.heads, s.window_kv_heads, s.window_head_dim, qkv_bias=bias, out_bias=bias) + QUERY_AND_KEY * s.window_head_dim
    s.params += s.layers_full * full + s.layers_window * narrow
    s.params += s.layers * mlp(s.hidden, c.count("intermediate_size"), GATED_MATS)
    if c.flag("enable_moe_block"):
        experts, active = c.count("num_experts"), c.count("top_k_experts", "num_experts_per_tok")
        scales = s.hidden + experts  # of the router
        add_experts(c, s, Experts(experts, active, c.count("moe_intermediate_size", "expert_intermediate_size"), s.layers, extra=scales))
        s.params += s.layers * GEMMA_MOE_NORMS * s.hidden
    else:
        s.params += s.layers * GEMMA_NORMS * s.hidden
    s.allreduces = s.layers * BLOCK_PARTS
    return s


_NEMOTRON_BLOCKS = {"mamba": "M", "attention": "*", "mlp": "-", "moe": "E"}


def _nemotron_h(c: Config) -> Shape:
    listed = c.items("layers_block_type")
    pattern = c.text("hybrid_override_pattern") if listed is None else "".join(_NEMOTRON_BLOCKS.get(str(k), "?") for k in listed)
    layers = len(pattern)
    if set(pattern) - set(_NEMOTRON_BLOCKS.values()):
        key = "hybrid_override_pattern" if listed is None else "layers_block_type"
        c.wrong(key, f"of {', '.join(f'{v} ({k})' for k, v in _NEMOTRON_BLOCKS.items())} one for each layer")
    elif pattern and c.count_or(layers, "num_hidden_layers") != layers:
        c.conflict("num_hidden_layers", f"{layers}, the length of the pattern,")
    s = frame(Config({**c.tree, "num_hidden_layers": max(layers, 1)}, c.defaults, c.findings, c.prefix))
    s.embed()
    s.params += layers * s.hidden  # one norm a block
    s.layers_full, s.layers_linear, s.allreduces = pattern.count("*"), pattern.count("M"), layers
    if s.layers_full:
        s.params += s.layers_full * attention(s.hidden, s.heads, s.kv_heads, s.head_dim)
    if s.layers_linear:
        params, state = mamba2(
            s.hidden, c.count("mamba_num_heads"), c.count("mamba_head_dim"), c.count("n_groups"), c.count("ssm_state_size"),
            c.count("conv_kernel"), bias=c.flag("use_bias"), conv_bias=c.flag("use_conv_bias"),
        )  # fmt: skip
        s.params += s.layers_linear * params
        s.state = s.layers_linear * state
    if "-" in pattern:
        s.params += pattern.count("-") * mlp(s.hidden, c.count("intermediate_size"), PLAIN_MATS, c.flag("mlp_bias"))
    if "E" in pattern:
        _nemotron_experts(c, s, pattern.count("E"))
    return s


def _nemotron_experts(c: Config, s: Shape, layers: int) -> None:
    ffn, shared = c.count("moe_intermediate_size"), c.count("moe_shared_expert_intermediate_size")
    extra = mlp(s.hidden, shared, PLAIN_MATS)
    latent = c.count_or(0, "moe_latent_size")
    if latent:  # experts work on a narrower vector: the same parameters as a narrower expert on the full width
        extra += QUERY_AND_KEY * linear(s.hidden, latent)
        if ffn * latent % s.hidden:
            c.conflict("moe_latent_size", f"a width at which moe_intermediate_size {ffn} gives a whole equivalent on the hidden width {s.hidden}")
        ffn = ffn * latent // s.hidden
        s.notes.append(f"experts work on vectors of {latent}; expert_ffn is the equivalent on the full hidden width")
    add_experts(c, s, Experts(c.count("n_routed_experts"), c.count("num_experts_per_tok"), ffn, layers, extra, mats=PLAIN_MATS))


def _nemotron_nas(c: Config) -> Shape:
    blocks = c.items("block_configs")
    if blocks is None and not c.has("block_configs"):
        c.findings.lacks(f"{c.prefix}block_configs")
    groups: set[int] = set()
    s = frame(c, kv_heads=1, head_dim=derived_head_dim(c))
    if blocks is not None and len(blocks) != s.layers and c.has("num_hidden_layers"):
        c.findings.conflict(f"{c.prefix}block_configs has {len(blocks)} entries; one for each of the {s.layers} layers is due")
    parts = [_nas_block(c, i, b) for i, b in enumerate(blocks or [])]
    groups = {a.count("n_heads_in_group") for a, _ in parts if _nas_kind(a) == FULL}
    if len(groups) > 1:
        c.findings.conflict(f"{c.prefix}block_configs has n_heads_in_group of {', '.join(map(str, sorted(groups)))}; one for all layers is due")
    s.kv_heads = s.window_kv_heads = max(s.heads // max(groups, default=1), 1)
    s.embed()
    bias, mlp_bias = c.flag("attention_bias"), c.flag("mlp_bias")
    for attn, ffn in parts:
        if (kind := _nas_kind(attn)) == FULL:
            s.layers_full += 1
            s.params += attention(s.hidden, s.heads, s.kv_heads, s.head_dim, qkv_bias=bias, out_bias=bias)
        s.params += linear(s.hidden, s.hidden) if kind == LINEAR else 0
        if (kind_ffn := _nas_kind(ffn)) == FULL:
            s.params += mlp(s.hidden, rounded_up(gated_width(ffn.number("ffn_mult") * s.hidden), NAS_MULTIPLE), GATED_MATS, mlp_bias)
        s.params += linear(s.hidden, s.hidden) if kind_ffn == LINEAR else 0
        present = sum(k != "" for k in (kind, kind_ffn))
        s.params += present * s.hidden  # the norm before each part goes with it
        s.allreduces += present
    return s


def _nas_block(c: Config, number: int, block: Any) -> tuple[Config, Config]:
    one = Config(block if isinstance(block, dict) else {}, {}, c.findings, f"{c.prefix}block_configs[{number}].")
    no = {"no_op": False, "replace_with_linear": False}
    return one.child("attention", no), one.child("ffn", no)


def _nas_kind(part: Config) -> str:
    return "" if part.flag("no_op") else LINEAR if part.flag("replace_with_linear") else FULL


def _falcon(c: Config) -> Shape:
    new, parallel = c.flag("new_decoder_architecture"), c.flag("parallel_attn")
    heads = c.count("num_attention_heads", "n_head")
    kv = (c.count("num_kv_heads", "n_head_kv") if new else 1 if c.flag("multi_query") else heads)  # fmt: skip
    s = frame(c, kv_heads=kv, head_dim=derived_head_dim(c))
    bias = c.flag("bias")
    norms = c.count_or(2 if new or not parallel else 1, "num_ln_in_parallel_attn", least=1)
    s.embed(WEIGHT_AND_BIAS)
    one = attention(s.hidden, s.heads, s.kv_heads, s.head_dim, qkv_bias=bias, out_bias=bias)
    one += mlp(s.hidden, c.count_or(FFN_OF_HIDDEN * s.hidden, "ffn_hidden_size", least=1), PLAIN_MATS, bias)
    s.params += s.layers * (one + norms * WEIGHT_AND_BIAS * s.hidden)
    s.layers_full, s.allreduces = s.layers, s.layers * (1 if parallel else BLOCK_PARTS)
    return s


def _gptj(c: Config) -> Shape:
    s = frame(c, kv_heads=c.count("n_head"), head_dim=derived_head_dim(c))
    s.embed(WEIGHT_AND_BIAS)
    s.params += 0 if s.embed_copies == 1 else s.vocab  # the head has a bias
    one = attention(s.hidden, s.heads, s.kv_heads, s.head_dim)
    one += mlp(s.hidden, c.count_or(FFN_OF_HIDDEN * s.hidden, "n_inner", least=1), PLAIN_MATS, bias=True)
    s.params += s.layers * (one + WEIGHT_AND_BIAS * s.hidden)
    s.layers_full = s.allreduces = s.layers
    return s


def _lfm2_kinds(c: Config, layers: int) -> list[str]:
    full = c.items("full_attn_idxs")
    if full is None:
        c.findings.lacks(f"{c.prefix}layer_types or full_attn_idxs")
        return [FULL] * layers
    return [FULL if i in full else LINEAR for i in range(layers)]


def _lfm2(c: Config) -> Shape:
    width = c.count("intermediate_size", "block_ff_dim")
    if c.flag("block_auto_adjust_ff_dim"):
        width = rounded_up(int(c.number("block_ffn_dim_multiplier") * gated_width(width)), c.count("block_multiple_of"))
    style = Style(_lfm2_kinds, qk_norm="head", linear=_short)
    return _decoder(style)(Config({**c.tree, "intermediate_size": width}, c.defaults, c.findings, c.prefix))


# ------------------------------------------------------------------------------------------------ the table


_LLAMA = Style(qkv_bias="attention_bias", out_bias="attention_bias", mlp_bias="mlp_bias", equal_kv=True)
_MISTRAL = Style(window_if_given)
_QWEN2 = Style(window_if_used, qkv_bias=True)
_QWEN3 = Style(window_if_used, qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="head", own_width=False)
_QWEN3_VL = Style(qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="head", own_width=False)
_DELTA = replace(_QWEN3_VL, rule=full_every_nth("full_attention_interval", LINEAR), gate=True, linear=_delta)
_GEMMA = Style(qkv_bias="attention_bias", out_bias="attention_bias", own_width=False)
_MINIMAX = Style(own_width=False, linear=_lightning, experts=_minimax_experts)
_OLMO = Style(qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="all", equal_kv=True)


def _minimax(c: Config) -> Shape:
    listed = c.items("attn_type_list")
    if c.has("layer_types") or listed is None:
        if not c.has("layer_types"):
            c.findings.lacks(f"{c.prefix}attn_type_list")
        return _decoder(_MINIMAX)(c)
    kinds = ["full_attention" if k == 1 else "linear_attention" if k == 0 else str(k) for k in listed]
    return _decoder(_MINIMAX)(Config({**c.tree, "layer_types": kinds}, c.defaults, c.findings, c.prefix))


FAMILIES: dict[str, Callable[[Config], Shape]] = {
    "llama": _decoder(_LLAMA),
    "mllama_text_model": _mllama,
    "mistral": _decoder(_MISTRAL),
    "ministral": _decoder(_MISTRAL),
    "ministral3": _decoder(_MISTRAL),
    "mixtral": _decoder(Style(window_if_given, experts=_mixtral_experts)),
    "qwen2": _decoder(_QWEN2),
    "qwen2_vl": _decoder(_QWEN2),
    "qwen2_vl_text": _decoder(_QWEN2),
    "qwen2_5_vl": _decoder(_QWEN2),
    "qwen2_5_vl_text": _decoder(_QWEN2),
    "qwen2_moe": _decoder(replace(_QWEN2, qkv_bias="qkv_bias", experts=_qwen_experts(shared=True))),
    "qwen3": _decoder(_QWEN3),
    "qwen3_vl_text": _decoder(_QWEN3_VL),
    "qwen3_moe": _decoder(replace(_QWEN3, experts=_qwen_experts(shared=False))),
    "qwen3_vl_moe_text": _decoder(replace(_QWEN3_VL, experts=_qwen_experts(shared=False))),
    "qwen3_next": _decoder(replace(_DELTA, experts=_qwen_experts(shared=True))),
    "qwen3_5_text": _decoder(_DELTA),
    "qwen3_5_moe_text": _decoder(replace(_DELTA, experts=_qwen_experts(shared=True))),
    "gemma": _decoder(_GEMMA),
    "gemma2": _decoder(replace(_GEMMA, rule=window_every_other, norms=GEMMA_NORMS)),
    "gemma3_text": _decoder(replace(_GEMMA, rule=full_every_nth("sliding_window_pattern", WINDOW), norms=GEMMA_NORMS, qk_norm="head")),
    "gemma4_text": _gemma4,
    "phi": _decoder(
        Style(qkv_bias=True, out_bias=True, mlp_bias=True, head_bias=True, norms=1, norm_parts=WEIGHT_AND_BIAS, mats=PLAIN_MATS, parallel=True,
              equal_kv=True)),
    "phi3": _decoder(Style(window_if_given, equal_kv=True)),
    "phimoe": _decoder(
        Style(window_if_given, qkv_bias="attention_bias", out_bias="attention_bias", head_bias="lm_head_bias", norm_parts=WEIGHT_AND_BIAS,
              experts=_mixtral_experts)),
    "gpt_oss": _decoder(
        Style(window_every_other, qkv_bias="attention_bias", out_bias="attention_bias", sinks=True, own_width=False, experts=_gpt_oss_experts)),
    "deepseek_v2": _latent,
    "deepseek_v3": _latent,
    "kimi_k2": _latent,
    "glm4_moe_lite": _latent,
    "glm_moe_dsa": _latent_with_indexer,
    "deepseek_v32": _latent_with_indexer,
    "glm": _decoder(Style(qkv_bias="attention_bias", own_width=False)),
    "glm4": _decoder(Style(qkv_bias="attention_bias", norms=GEMMA_NORMS, own_width=False)),
    "glm4_moe": _decoder(
        Style(qkv_bias="attention_bias", qk_norm="head", qk_norm_if="use_qk_norm", own_width=False, experts=_shared_experts)),
    "minimax": _minimax,
    "minimax_text_01": _minimax,
    "minimax_m1": _minimax,
    "minimax_m2": _decoder(Style(qk_norm="all", own_width=False, experts=_minimax_experts)),
    "llama4_text": _decoder(
        Style(full_every_nth("no_rope_layer_interval", WINDOW), qkv_bias="attention_bias", out_bias="attention_bias", own_width=False,
              ffn="intermediate_size_mlp", experts=_llama4_experts)),
    "nemotron_h": _nemotron_h,
    "nemotron-nas": _nemotron_nas,
    "deci": _nemotron_nas,
    "falcon": _falcon,
    "gptj": _gptj,
    "gpt_neox": _decoder(
        Style(qkv_bias="attention_bias", out_bias="attention_bias", mlp_bias=True, norm_parts=WEIGHT_AND_BIAS, mats=PLAIN_MATS,
              parallel="use_parallel_residual", equal_kv=True)),
    "lfm2": _lfm2,
    "lfm2_moe": _decoder(Style(_lfm2_kinds, qk_norm="head", linear=_short, experts=_lfm2_experts)),
    "smollm3": _decoder(Style(window_if_used, qkv_bias="attention_bias", out_bias="attention_bias", mlp_bias="mlp_bias")),
    "seed_oss": _decoder(Style(qkv_bias="attention_bias", out_bias="attention_out_bias", mlp_bias="mlp_bias", own_width=False)),
    "granite": _decoder(_LLAMA),
    "olmo2": _decoder(_OLMO),
    "olmo3": _decoder(replace(_OLMO, rule=listed_only)),
}  # fmt: skip
