"""Prefill: the time to read a prompt.

Here: pure functions. Not here: the decode step (`decode`), the serving loop (`serving`).
"""

from __future__ import annotations

from gpuecon_xl.equations.decode import overlapped
from gpuecon_xl.ops import both, ceil, exp, maximum, minimum, where
from gpuecon_xl.quantity import Num, quantity
from gpuecon_xl.units import FLOP_PER_MAC, GIGA, HALF, KEY_AND_VALUE, KILO, TINY


@quantity("token", "max(input_tokens - prefix_tokens, 1)")
def prompt_tokens(input_tokens: Num, prefix_tokens: Num) -> Num:
    """Tokens of a prompt that must be computed; a cached prefix is not.

    Source: prefix caching removes the linear layers' work of the cached tokens, not the reads of their cache.
    """
    return maximum(input_tokens - prefix_tokens, 1)


@quantity("GFLOP", "2 · (active_b - embed_params_b)")
def prefill_gflop_token(active_b: Num, embed_params_b: Num) -> Num:
    """Arithmetic of the linear layers for one prompt token; the head runs for the last token only.

    Source: two floating-point operations for each parameter used.
    """
    return FLOP_PER_MAC * maximum(active_b - embed_params_b, 0)


@quantity("GFLOP", "2 · 2 · heads · head_dim · mean tokens seen · layers / 1e9")
def prefill_attention_gflop_token(
    heads: Num,
    head_dim: Num,
    layers_full: Num,
    layers_window: Num,
    window: Num,
    input_tokens: Num,
    prefix_tokens: Num,
) -> Num:
    """Arithmetic of causal attention for one prompt token: it sees the prefix and half of the prompt before it.

    Source: transformer's definition; sum over the prompt is 2 · heads · head_dim · (S² - p²) a layer.
    """
    seen = (input_tokens + minimum(prefix_tokens, input_tokens)) / HALF
    windowed = where(window > 0, minimum(seen, window), seen)
    return KEY_AND_VALUE * heads * head_dim * (seen * layers_full + windowed * layers_window) * FLOP_PER_MAC / GIGA


@quantity("1", "min(linear_efficiency · prefill_factor, efficiency_most)")
def prefill_linear_efficiency(linear_efficiency: Num, prefill_factor: Num, efficiency_most: Num) -> Num:
    """Share of the dense peak that the linear layers reach on a prompt.

    Parameters
    ----------
    prefill_factor : of the engine, over what it reaches in decode [1].

    Source: fitted on public measurements, ``catalog/engines.csv``.
    """
    return minimum(linear_efficiency * prefill_factor, efficiency_most)


@quantity("1", "min(attention_efficiency · prefill_factor, efficiency_most)")
def prefill_attention_efficiency(attention_efficiency: Num, prefill_factor: Num, efficiency_most: Num) -> Num:
    """Share of the 16-bit dense peak that attention reaches on a prompt.

    Source: fitted on public measurements, ``catalog/engines.csv``.
    """
    return minimum(attention_efficiency * prefill_factor, efficiency_most)


@quantity("s", "prefill_gflop_token / (peak_tflops · tp · prefill_linear_efficiency · 1,000)")
def prefill_linear_s_token(prefill_gflop_token: Num, peak_tflops: Num, tp: Num, prefill_linear_efficiency: Num) -> Num:
    """Arithmetic time of the linear layers for one token of a prompt.

    Source: roofline; achieved share of the dense peak in ``catalog/efficiency.csv``.
    """
    return prefill_gflop_token / (peak_tflops * tp * prefill_linear_efficiency * KILO)


@quantity("s", "prefill_linear_s_token + attention + collectives; stated factor: arithmetic / tp_factor")
def prefill_s_token(
    prefill_linear_s_token: Num,
    prefill_attention_gflop_token: Num,
    tp: Num,
    tflops_16: Num,
    prefill_attention_efficiency: Num,
    collective_s_token: Num,
    hop_s_token: Num,
    collectives: Num,
    tp_factor: Num,
) -> Num:
    """Time of one token of a long prompt, on one replica; a stated factor per card replaces the link model.

    Source: roofline; attention computes in 16 bit.
    """
    alone = prefill_linear_s_token + prefill_attention_gflop_token / (tflops_16 * tp * prefill_attention_efficiency * KILO)
    stated = alone / maximum(tp_factor, TINY)
    return where(both(tp_factor > 0, tp > 1), stated, alone + collectives * (collective_s_token + hop_s_token))


@quantity("pass", "max(⌈prompt_tokens / prefill_chunk_tokens⌉, 1)")
def prefill_chunks(prompt_tokens: Num, prefill_chunk_tokens: Num) -> Num:
    """Passes through the model in which a prompt is read.

    Parameters
    ----------
    prefill_chunk_tokens : tokens that the engine reads in one pass [token].

    Source: chunked prefill, ``catalog/engines.csv``.
    """
    return maximum(ceil(prompt_tokens / prefill_chunk_tokens), 1)


@quantity("s", "prefill_chunks · weights that a chunk touches / (tp · bandwidth_gb_s · read efficiency)")
def prefill_weights_s(
    nonexpert_weights_gb: Num,
    expert_weights_gb: Num,
    expert_missed_ln: Num,
    prompt_tokens: Num,
    prefill_chunks: Num,
    tp: Num,
    bandwidth_gb_s: Num,
    weight_efficiency: Num,
    expert_read_efficiency: Num,
) -> Num:
    """Time to read the weights for a prompt, once a chunk; a short prompt is bound by it.

    Source: roofline; experts by coverage of a chunk's tokens.
    """
    touched = 1 - exp(prompt_tokens / prefill_chunks * expert_missed_ln)
    read = nonexpert_weights_gb / weight_efficiency + expert_weights_gb * touched / expert_read_efficiency
    return prefill_chunks * read / (tp * bandwidth_gb_s)


@quantity("1", "(prefill_chunks + pp - 1) / (prefill_chunks · pp)")
def pipeline_fill(prefill_chunks: Num, pp: Num) -> Num:
    """Time of a prompt over pipeline stages, as a share of the time on one stage: chunks follow one another.

    Source: GPipe, arXiv 1811.06965: the bubble of pp - 1 passes.
    """
    return (prefill_chunks + pp - 1) / (prefill_chunks * pp)


@quantity("s", "pipeline_fill · (linear layers with weight reads + attention + links + prefill_chunks · fixed times)")
def prefill_s(
    prompt_tokens: Num,
    prefill_s_token: Num,
    prefill_linear_s_token: Num,
    prefill_weights_s: Num,
    overlap: Num,
    prefill_chunks: Num,
    fixed_step_s: Num,
    collective_start_s: Num,
    collectives: Num,
    pipeline_fill: Num,
) -> Num:
    """Time to the end of one prompt, nothing else running.

    Source: the sum of its parts; reads and arithmetic of linear layers overlap as in `linear_step_s`.
    """
    linear = prompt_tokens * prefill_linear_s_token
    layers = overlapped(linear, prefill_weights_s, overlap)
    rest = prompt_tokens * (prefill_s_token - prefill_linear_s_token)
    return pipeline_fill * (layers + rest + prefill_chunks * (fixed_step_s + collectives * collective_start_s))


@quantity("token/s", "replicas · prompt_tokens / prefill_s")
def prefill_tok_s(replicas: Num, prompt_tokens: Num, prefill_s: Num) -> Num:
    """Prompt tokens per second of the whole build, one prompt at a time in each replica, nothing else running.

    Source: definition.
    """
    return replicas * prompt_tokens / prefill_s
