"""What a model is to the calculator: widths, kinds of layers, parameters, and how a decoder adds them up.

Here: `Shape`, and the steps that families share (frame, kinds of layers, embeddings, experts). Not here: which family takes
which steps (`families`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gpuecon_xl.huggingface.blocks import GATED_MATS, linear, mlp
from gpuecon_xl.huggingface.configuration import MAX_LAYERS, Config

FULL, WINDOW, LINEAR = "full", "window", "linear"
_KINDS = {
    "full_attention": FULL, "attention": FULL, "sliding_attention": WINDOW, "chunked_attention": WINDOW,
    "linear_attention": LINEAR, "conv": LINEAR,
}  # fmt: skip

LayerRule = Callable[[Config, int], list[str]]


@dataclass
class Shape:
    """Widths, counts of layers, parameters and state of a model; columns of ``models.csv`` but for names and units.

    params : all parameters.  idle : parameters of experts that a token does not use.  tower : parameters of a vision tower
    with its projector, part of `params`.  state : values of constant state a
    sequence.  allreduces : all-reduces of a forward pass.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    embed_copies: int
    max_context: int
    layers_full: int = 0
    layers_window: int = 0
    window: int = 0
    window_kv_heads: int = 0
    window_head_dim: int = 0
    layers_linear: int = 0
    state: int = 0
    kv_lora_rank: int = 0
    rope_dim: int = 0
    experts: int = 0
    experts_active: int = 0
    expert_ffn: int = 0
    layers_moe: int = 0
    expert_mats: int = 0
    tokens_image: int = 0
    params: int = 0
    idle: int = 0
    tower: int = 0
    allreduces: int = 0
    notes: list[str] = field(default_factory=list)

    def embed(self, norm: int = 1) -> None:
        """Count the embedding, the head if it has a table of its own, and the last norm of so many vectors."""
        self.params += self.vocab * self.hidden * self.embed_copies + norm * self.hidden


def frame(c: Config, *, kv_heads: int | None = None, head_dim: int | None = None) -> Shape:
    """Widths and counts that every decoder has; `kv_heads` and `head_dim` where the family does not name them."""
    layers = c.count("num_hidden_layers", "n_layer", most=MAX_LAYERS)
    hidden = c.count("hidden_size", "n_embd")
    heads = c.count("num_attention_heads", "n_head")
    kv = c.count("num_key_value_heads") if kv_heads is None else kv_heads
    width = c.count("head_dim") if head_dim is None else head_dim
    tied = c.flag("tie_word_embeddings")
    return Shape(
        layers, hidden, heads, kv, width, vocab=c.count("vocab_size"), embed_copies=1 if tied else 2,
        max_context=c.count("max_position_embeddings", "n_positions"), window_kv_heads=kv, window_head_dim=width,
    )  # fmt: skip


def derived_head_dim(c: Config) -> int:
    """The width of a head where the file may leave it to be hidden width over heads."""
    if c.has("head_dim"):
        return c.count("head_dim")
    hidden, heads = c.count("hidden_size", "n_embd"), c.count("num_attention_heads", "n_head")
    if hidden % heads:
        c.findings.conflict(f"{c.prefix}{heads} attention heads do not divide the hidden width {hidden}; a head_dim is due")
    return max(hidden // heads, 1)


def same_kv_heads(c: Config) -> int:
    """Key-value heads where a file that leaves them out means one for each query head."""
    return c.count("num_key_value_heads") if c.has("num_key_value_heads") else c.count("num_attention_heads", "n_head")


# ------------------------------------------------------------------------------------------------ kinds of layers


def no_window(c: Config, layers: int) -> list[str]:
    """Full attention everywhere."""
    return [FULL] * layers


def listed_only(c: Config, layers: int) -> list[str]:
    """No rule: the file has to list the kinds."""
    c.findings.lacks(f"{c.prefix}layer_types")
    return [FULL] * layers


def window_if_given(c: Config, layers: int) -> list[str]:
    """A window on every layer if the file gives one."""
    return [WINDOW if c.has("sliding_window") else FULL] * layers


def window_if_used(c: Config, layers: int) -> list[str]:
    """A window from a layer on, if the file switches it on."""
    if not c.flag("use_sliding_window"):
        return [FULL] * layers
    first = c.count("max_window_layers", least=0)
    return [FULL if i < first else WINDOW for i in range(layers)]


def window_every_other(c: Config, layers: int) -> list[str]:
    """A window on the first layer, the third, and so on."""
    return [FULL if i % 2 else WINDOW for i in range(layers)]


def full_every_nth(key: str, other: str) -> LayerRule:
    """Full attention on each n-th layer, n under a key; the other kind between."""

    def rule(c: Config, layers: int) -> list[str]:
        nth = c.count(key)
        return [other if (i + 1) % nth else FULL for i in range(layers)]

    return rule


def layer_kinds(c: Config, s: Shape, rule: LayerRule) -> list[str]:
    """The kind of each layer, as listed in the file or else by the family's rule; counts them in the shape."""
    listed = c.items("layer_types", s.layers)
    if listed is None:
        kinds = rule(c, s.layers)
    else:
        kinds = [_KINDS.get(str(k), "") for k in listed]
        strange = sorted({str(k)[:40] for k, kind in zip(listed, kinds, strict=True) if not kind})
        if strange:
            c.findings.wrong(f"{c.prefix}layer_types holds {', '.join(strange)}; of {', '.join(_KINDS)} each layer is due")
    if WINDOW in kinds:
        s.window = c.count("sliding_window", "attention_chunk_size")
        if s.window >= s.max_context and s.max_context > 1:
            s.notes.append(f"sliding window {s.window} is not below the context: no effect")
            s.window = 0
            kinds = [FULL if k == WINDOW else k for k in kinds]
    s.layers_full, s.layers_window, s.layers_linear = (kinds.count(k) for k in (FULL, WINDOW, LINEAR))
    return kinds


# ------------------------------------------------------------------------------------------------ experts


@dataclass(frozen=True)
class Experts:
    """The mixture-of-experts layers of a model.

    extra : parameters of such a layer beside its routed experts and the router's matrix (shared experts, biases).
    own : parameters of an expert beside its matrices (biases).
    """

    experts: int
    active: int
    ffn: int
    layers: int
    extra: int = 0
    own: int = 0
    mats: int = GATED_MATS


def add_experts(c: Config, s: Shape, e: Experts) -> None:
    """Count routers, routed experts and what stands beside them."""
    if e.active > e.experts:
        c.findings.conflict(f"{c.prefix}num_experts_per_tok is {e.active}; at most {e.experts}, the experts of a layer, is due")
    expert = mlp(s.hidden, e.ffn, e.mats) + e.own
    s.params += e.layers * (e.experts * expert + linear(s.hidden, e.experts) + e.extra)
    s.idle += e.layers * max(e.experts - e.active, 0) * expert
    if e.layers:
        s.experts, s.experts_active, s.expert_ffn, s.layers_moe, s.expert_mats = e.experts, e.active, e.ffn, e.layers, e.mats


def sparse_after(c: Config, layers: int) -> int:
    """Layers with experts where the first ones are dense."""
    listed = c.items("mlp_layer_types", layers)
    if listed is not None:
        return sum(k == "sparse" for k in listed)
    first, every = c.count("first_k_dense_replace", least=0), c.count_or(1, "moe_layer_freq", least=1)
    return sum(i >= first and i % every == 0 for i in range(layers))


def sparse_by_step(c: Config, layers: int) -> int:
    """Layers with experts where each n-th has them, but for a list of dense ones."""
    step, dense = c.count("decoder_sparse_step"), c.items("mlp_only_layers") or []
    return sum((i + 1) % step == 0 and i not in dense for i in range(layers))
