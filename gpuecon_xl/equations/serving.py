"""Serving: what continuous batching delivers when prompts and answers share the cards.

Here: pure functions. Not here: the parts of a step (`decode`, `prefill`).
Closed loop: `admitted` requests run at all times, each with `input_tokens` in and `output_tokens` out.
"""

from __future__ import annotations

from gpuecon_xl.equations.decode import overlapped
from gpuecon_xl.ops import both, either, floor, maximum, minimum, where
from gpuecon_xl.quantity import Num, quantity
from gpuecon_xl.units import GIGA, HALF, HOURS_MONTH, KILO, SECONDS_HOUR, TINY


@quantity("token", "(1 - spec_accept^(spec_draft + 1)) / (1 - spec_accept); spec_draft + 1 when all are accepted")
def tokens_per_step(spec_accept: Num, spec_draft: Num) -> Num:
    """Mean tokens that one step yields with speculative decoding; 1 without.

    Parameters
    ----------
    spec_accept : measured acceptance of a drafted token, 0 to below 1 [1].
    spec_draft : drafted tokens a step [1].

    Source: Leviathan et al., arXiv 2211.17192.
    """
    kept = (1 - spec_accept ** (spec_draft + 1)) / maximum(1 - spec_accept, TINY)
    gain = where(spec_accept >= 1, spec_draft + 1, kept)
    return where(both(spec_accept > 0, spec_draft > 0), gain, 1)


@quantity("token/s", "tokens_per_step / decode_step_s")
def decode_tok_s_user(tokens_per_step: Num, decode_step_s: Num) -> Num:
    """Decode rate of one sequence, nothing interleaved: 1 / TPOT.

    Source: definition.
    """
    return tokens_per_step / decode_step_s


@quantity("token/s", "decode_tok_s_user · admitted")
def decode_tok_s(decode_tok_s_user: Num, admitted: Num) -> Num:
    """Decode rate of the whole build, nothing interleaved.

    Source: definition.
    """
    return decode_tok_s_user * admitted


@quantity("token", "sequences_replica · tokens_per_step · prompt_tokens / output_tokens")
def prompt_tokens_step(sequences_replica: Num, tokens_per_step: Num, prompt_tokens: Num, output_tokens: Num) -> Num:
    """Prompt tokens that ride along each decode step, so that finished requests are replaced.

    Source: in a closed loop every output token brings input / output prompt tokens with it.
    """
    return sequences_replica * tokens_per_step * prompt_tokens / output_tokens


@quantity("s", "linear layers of decode and prompts together - linear_step_s + prompts' attention and links, over pp stages")
def interleave_s(
    prompt_tokens_step: Num,
    prefill_s_token: Num,
    prefill_linear_s_token: Num,
    decode_weights_s: Num,
    decode_linear_s: Num,
    linear_step_s: Num,
    overlap: Num,
    pp: Num,
    tp: Num,
    tp_factor: Num,
) -> Num:
    """Time that the prompts add to a decode step; they share its reads of the weights.

    The ideal roofline (overlap 1) and a stated factor per card add the prompts' own time instead.

    Source: chunked prefill beside decode, Sarathi-Serve, arXiv 2403.02310.
    """
    own = prompt_tokens_step * prefill_s_token / pp
    linear = prompt_tokens_step * prefill_linear_s_token / pp
    together = decode_linear_s + linear
    mixed = overlapped(decode_weights_s, together, overlap)
    return where(either(overlap >= 1, both(tp_factor > 0, tp > 1)), own, mixed - linear_step_s + own - linear)


@quantity("s", "decode_step_s + interleave_s")
def mean_step_s(decode_step_s: Num, interleave_s: Num) -> Num:
    """Mean time of a step of the serving loop.

    Source: the sum of its parts.
    """
    return decode_step_s + interleave_s


@quantity("token/s", "admitted · tokens_per_step / mean_step_s")
def output_tok_s(admitted: Num, tokens_per_step: Num, mean_step_s: Num) -> Num:
    """Sustained output tokens per second of the whole build, prompts included in the time.

    Source: closed serving loop.
    """
    return admitted * tokens_per_step / mean_step_s


@quantity("token/s", "output_tok_s · (1 + input_tokens / output_tokens)")
def total_tok_s(output_tok_s: Num, input_tokens: Num, output_tokens: Num) -> Num:
    """Input and output tokens per second of the whole build.

    Source: definition.
    """
    return output_tok_s * (1 + input_tokens / output_tokens)


@quantity("1", "interleave_s / mean_step_s")
def prefill_share(interleave_s: Num, mean_step_s: Num) -> Num:
    """Share of the time that the build spends on prompts.

    Source: definition.
    """
    return interleave_s / mean_step_s


@quantity("s", "request_ms / 1e3 + prefill_s · (1 + wait for other prompts) + decode_step_s / 2 + wait in the queue")
def ttft_s(
    prefill_s: Num,
    prefill_share: Num,
    decode_step_s: Num,
    batch: Num,
    admitted: Num,
    output_tok_s: Num,
    output_tokens: Num,
    sequences_replica: Num,
    arrivals_together: Num,
    request_ms: Num,
) -> Num:
    """Mean time to first token at that concurrency.

    The request's own handling, the prompt itself, the prompts before it, half a step, and the queue of requests not
    admitted (Little's law). Prompts before it: half of the other sequences where all arrive together, as in a load test
    with equal lengths; random arrivals at the share of time spent on prompts otherwise.

    Parameters
    ----------
    arrivals_together : share of the first kind, 0 to 1 [1].  request_ms : of the engine [ms].

    Source: mean wait of a single server with constant service time; Little 1961; shares fitted on public measurements.
    """
    others = maximum(sequences_replica - 1, 0)
    random_wait = prefill_share / (HALF * maximum(1 - prefill_share, 1 / maximum(sequences_replica, 1)))
    wait = arrivals_together * others / HALF + (1 - arrivals_together) * random_wait
    queue = maximum(batch - admitted, 0) * output_tokens / maximum(output_tok_s, TINY)
    alone = sequences_replica > 1
    return request_ms / KILO + prefill_s * (1 + where(alone, wait, 0)) + where(alone, decode_step_s / HALF, 0) + queue


@quantity("token/s", "1 / max(admitted / output_tok_s - input_tokens / prefill_tok_s / output_tokens, 1 / decode_tok_s_user)")
def served_tok_s_user(admitted: Num, output_tok_s: Num, input_tokens: Num, output_tokens: Num, prefill_tok_s: Num, decode_tok_s_user: Num) -> Num:
    """Rate at which one user's tokens follow each other while others' prompts are read; its own prompt is not in it.

    Source: the closed loop (Little's law) less the request's own prompt; what load generators print as 1 / TPOT.
    """
    own_prompt_s = input_tokens / maximum(prefill_tok_s, TINY) / output_tokens
    return 1 / maximum(admitted / output_tok_s - own_prompt_s, 1 / decode_tok_s_user)


@quantity("token/s", "output_tok_s · band_low")
def output_tok_s_low(output_tok_s: Num, band_low: Num) -> Num:
    """Lower end of the band that holds 80 % of measurements.

    Source: residuals by class, ``catalog/efficiency.csv``.
    """
    return output_tok_s * band_low


@quantity("token/s", "output_tok_s · band_high")
def output_tok_s_high(output_tok_s: Num, band_high: Num) -> Num:
    """Upper end of the band that holds 80 % of measurements.

    Source: residuals by class, ``catalog/efficiency.csv``.
    """
    return output_tok_s * band_high


@quantity("1e9 token/month", "tok_s · utilization · 730 · 3,600 / 1e9")
def token_yield_g_month(tok_s: Num, utilization: Num) -> Num:
    """Tokens of a month of 730 hours, in billions.

    Source: Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09.
    """
    return tok_s * utilization * HOURS_MONTH * SECONDS_HOUR / GIGA


@quantity("sequence", "⌊(memory_gb · cards - params_b · bytes_weight · 1.03) / (kv_bytes_token · context / 1e9)⌋")
def yield_batch(
    memory_gb: Num,
    cards: Num,
    params_b: Num,
    bytes_weight: Num,
    weights_factor_stated: Num,
    kv_bytes_token: Num,
    context: Num,
) -> Num:
    """Sequences that fit beside the weights in the cards' marketing memory: the published ideal, no engine.

    Source: Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09.
    """
    left = memory_gb * cards - params_b * bytes_weight * weights_factor_stated
    return floor(maximum(left, 0) * GIGA / (kv_bytes_token * context))


@quantity("token/s", "min(breakeven_batch, yield_batch) · bandwidth_gb_s · cards / (params_b · bytes_weight)")
def yield_tok_s(breakeven_batch: Num, yield_batch: Num, bandwidth_gb_s: Num, cards: Num, params_b: Num, bytes_weight: Num) -> Num:
    """Ideal decode rate that leaves cache reads out: a ceiling, real fleets reach 50 to 80 % of it.

    Source: Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09 (Qwen3-30B-A3B fp8: 47 billion tokens a month).
    """
    return minimum(breakeven_batch, yield_batch) * bandwidth_gb_s * cards / (params_b * bytes_weight)


@quantity("1", "output_tok_s / stated - 1")
def deviation(output_tok_s: Num, stated: Num) -> Num:
    """Prediction against a stated or measured figure.

    Source: definition.
    """
    return output_tok_s / stated - 1


@quantity("text", 'measurements < thin_data_rows ? "thin" : "enough"')
def data_class(measurements: Num, thin_data_rows: Num) -> Num:
    """Whether few measurements stand behind a class of cards in a number format: "thin" or "enough".

    Source: definition; measurements of the fit in ``catalog/efficiency.csv``, column n.
    """
    return where(measurements < thin_data_rows, "thin", "enough")
