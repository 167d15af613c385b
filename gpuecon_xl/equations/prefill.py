"""Prefill: the time to read a prompt.

Here: pure functions. Not here: the decode step (`decode`), the serving loop (`serving`).
"""

from __future__ import annotations

from gpuecon_xl.ops import both, exp, maximum, minimum, where
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


@quantity("s", "(linear / peak_tflops + attention / tflops_16) / (tp · compute_efficiency · 1,000) + collectives")
def prefill_s_token(
    prefill_gflop_token: Num,
    prefill_attention_gflop_token: Num,
    tp: Num,
    peak_tflops: Num,
    tflops_16: Num,
    compute_efficiency: Num,
    collective_s_token: Num,
    hop_s_token: Num,
    collectives: Num,
    tp_factor: Num,
) -> Num:
    """Time of one prompt token of a long prompt, on one replica; a stated factor per card replaces the link model.

    Source: roofline; achieved share of the dense peak in ``catalog/efficiency.csv``.
    """
    arithmetic = prefill_gflop_token / peak_tflops + prefill_attention_gflop_token / tflops_16
    alone = arithmetic / (tp * compute_efficiency * KILO)
    stated = alone / maximum(tp_factor, TINY)
    return where(both(tp_factor > 0, tp > 1), stated, alone + collectives * (collective_s_token + hop_s_token))


@quantity("s", "weights of all layers that the prompt touches / (tp · bandwidth_gb_s · weight_efficiency)")
def prefill_weights_s(
    nonexpert_weights_gb: Num,
    expert_weights_gb: Num,
    expert_missed_ln: Num,
    prompt_tokens: Num,
    tp: Num,
    bandwidth_gb_s: Num,
    weight_efficiency: Num,
) -> Num:
    """Time to read the weights once for a prompt; a short prompt is bound by it.

    Source: roofline; experts by coverage of the prompt's tokens.
    """
    touched = 1 - exp(prompt_tokens * expert_missed_ln)
    return (nonexpert_weights_gb + expert_weights_gb * touched) / (tp * bandwidth_gb_s * weight_efficiency)


@quantity("s", "max(prompt_tokens · prefill_s_token, prefill_weights_s) + fixed_step_s + collective_start_s")
def prefill_s(
    prompt_tokens: Num,
    prefill_s_token: Num,
    prefill_weights_s: Num,
    fixed_step_s: Num,
    collective_start_s: Num,
    collectives: Num,
) -> Num:
    """Time to the end of one prompt, nothing else running.

    Source: the sum of its parts.
    """
    return maximum(prompt_tokens * prefill_s_token, prefill_weights_s) + fixed_step_s + collectives * collective_start_s


@quantity("token/s", "replicas · pp · prompt_tokens / prefill_s")
def prefill_tok_s(replicas: Num, pp: Num, prompt_tokens: Num, prefill_s: Num) -> Num:
    """Prompt tokens per second of the whole build, nothing else running; pipeline stages work on different prompts.

    Source: definition.
    """
    return replicas * pp * prompt_tokens / prefill_s
