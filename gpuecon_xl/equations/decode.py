"""Decode: the time of one step that gives one token to every running sequence.

Here: pure functions. Not here: prompts (`prefill`), links between cards (`parallel`), the serving loop (`serving`).
Time in seconds, rates in GB/s and TFLOP/s, dense.
"""

from __future__ import annotations

from gpuecon_xl.ops import both, exp, ln, maximum, minimum, where
from gpuecon_xl.quantity import Num, quantity
from gpuecon_xl.units import BYTES_16_BIT, FLOP_PER_MAC, GIGA, HALF, KEY_AND_VALUE, KILO, MEGA, TINY


def overlapped(reads_s: Num, arithmetic_s: Num, overlap: Num) -> Num:
    """Time of reads beside arithmetic: the longer, and of the shorter what does not hide behind it; an equation's part."""
    return maximum(reads_s, arithmetic_s) + (1 - overlap) * minimum(reads_s, arithmetic_s)


@quantity("sequence", "max(admitted / replicas, 1)")
def sequences_replica(admitted: Num, replicas: Num) -> Num:
    """Sequences that a working replica decodes together.

    Source: requests are spread evenly; with fewer requests than replicas some stand idle.
    """
    return maximum(admitted / maximum(replicas, 1), 1)


@quantity("sequence", "pipeline_batches > 0 ? max(sequences_replica / pp, 1) : sequences_replica")
def micro_batch(sequences_replica: Num, pp: Num, pipeline_batches: Num) -> Num:
    """Sequences in one pipeline micro-batch; as many micro-batches as stages keep every stage busy.

    Parameters
    ----------
    pipeline_batches : 1 when the engine splits the running sequences over the stages, 0 when all pass together [1].

    Source: GPipe, arXiv 1811.06965; llama.cpp passes one batch through its layer split, ``catalog/engines.csv``.
    """
    return where(pipeline_batches > 0, maximum(sequences_replica / pp, 1), sequences_replica)


@quantity("token", "input_tokens + output_tokens / 2")
def context_mean(input_tokens: Num, output_tokens: Num) -> Num:
    """Mean tokens in the cache while an answer grows.

    Source: the mean of a linear growth.
    """
    return input_tokens + output_tokens / HALF


@quantity("1", "ln(1 - experts_active / experts)")
def expert_missed_ln(experts: Num, experts_active: Num) -> Num:
    """Logarithm of the chance that one token misses a given routed expert; 0 for a dense model.

    Source: definition; a power of many tokens would underflow where its logarithm does not.
    """
    return where(experts > 0, ln(maximum(1 - experts_active / maximum(experts, 1), TINY)), 0)


@quantity("1", "1 - exp(micro_batch · expert_missed_ln), that is 1 - (1 - experts_active / experts)^micro_batch")
def experts_touched(expert_missed_ln: Num, micro_batch: Num) -> Num:
    """Share of the routed experts that one step reads, when every token draws its experts at random.

    Source: coverage of independent draws.
    """
    return 1 - exp(micro_batch * expert_missed_ln)


@quantity("GB", "vocab · hidden · embed_read_copies · bytes_embed / 1e9")
def head_weights_gb(vocab: Num, hidden: Num, embed_read_copies: Num, bytes_embed: Num) -> Num:
    """Bytes of the language-model head, which every step reads; of the input embedding only rows are read.

    Source: the transformer's definition.
    """
    return vocab * hidden * embed_read_copies * bytes_embed / GIGA


@quantity("GB", "expert_weights_gb · experts_touched / weights_overhead")
def expert_read_gb(expert_weights_gb: Num, experts_touched: Num, weights_overhead: Num) -> Num:
    """Weights of routed experts that one decode step reads, all GPUs of a replica together.

    Source: experts by coverage.
    """
    return expert_weights_gb * experts_touched / weights_overhead


@quantity("GB", "nonexpert_weights_gb / weights_overhead + expert_read_gb + head_weights_gb")
def weights_read_gb(nonexpert_weights_gb: Num, expert_read_gb: Num, weights_overhead: Num, head_weights_gb: Num) -> Num:
    """Weights that one decode step reads, all GPUs of a replica together.

    Source: every dense weight once a step, experts by coverage.
    """
    return nonexpert_weights_gb / weights_overhead + expert_read_gb + head_weights_gb


@quantity("GB", "kv_reads · (context_mean · layers_full · kv_width + windowed part) · bytes_kv / 1e9 + state")
def kv_read_gb_sequence(
    kv_reads: Num,
    context_mean: Num,
    window: Num,
    layers_full: Num,
    kv_width: Num,
    layers_window: Num,
    window_kv_width: Num,
    bytes_kv: Num,
    state_gb_sequence: Num,
) -> Num:
    """Cache that one step reads for one sequence on one GPU; a recurrent state is read and written.

    Parameters
    ----------
    kv_reads : 1, or 0 to leave cache reads out as the ideal token yield of Inferenzrechner, 2026-09 does [1].

    Source: attention reads every cached token, a windowed layer at most its window.
    """
    windowed = where(window > 0, minimum(context_mean, window), context_mean)
    cached = (context_mean * layers_full * kv_width + windowed * layers_window * window_kv_width) * bytes_kv / GIGA
    return kv_reads * (cached + KEY_AND_VALUE * state_gb_sequence)


@quantity("1", "min(weight_efficiency · expert_read_factor, efficiency_most)")
def expert_read_efficiency(weight_efficiency: Num, expert_read_factor: Num, efficiency_most: Num) -> Num:
    """Share of the peak bandwidth at which routed experts are read.

    Parameters
    ----------
    weight_efficiency : of the card's class in the number format [1].
    efficiency_most : no kernel gets closer to the peak than this [1].

    Source: fitted on public measurements, ``catalog/efficiency.csv``.
    """
    return minimum(weight_efficiency * expert_read_factor, efficiency_most)


@quantity("1", "min(kv_efficiency · format's factor, efficiency_most) · (heads / kv_heads)^-kv_sharing_power; latent: no power")
def cache_read_efficiency(
    kv_efficiency: Num,
    bytes_kv: Num,
    kv_low_factor: Num,
    kv_lora_rank: Num,
    kv_latent_factor: Num,
    efficiency_most: Num,
    heads: Num,
    kv_heads: Num,
    kv_sharing_power: Num,
) -> Num:
    """Share of the peak bandwidth at which decode attention reads the cache.

    Parameters
    ----------
    kv_low_factor : for a cache of less than 16 bit [1].  kv_latent_factor : for a latent cache (MLA) [1].
    kv_sharing_power : how much of the saving of grouped heads the engine's kernel loses, 0 none [1].

    Source: fitted on public measurements; kernels that read a group's cache once for each of its heads lose the saving.
    """
    latent = kv_lora_rank > 0
    factor = where(latent, kv_latent_factor, where(bytes_kv < BYTES_16_BIT, kv_low_factor, 1))
    shared = maximum(heads / maximum(kv_heads, 1), 1) ** (0 - kv_sharing_power)
    return minimum(kv_efficiency * factor, efficiency_most) * where(latent, 1, shared)


@quantity("1", "(min(hidden, matrix_width_full) / matrix_width_full)^matrix_width_power")
def width_factor(hidden: Num, matrix_width_full: Num, matrix_width_power: Num) -> Num:
    """What is left of the matrix rate in a narrow model; its products are too small to fill a GPU.

    Source: fitted on public measurements, ``catalog/assumptions.csv``.
    """
    return (minimum(hidden, matrix_width_full) / matrix_width_full) ** matrix_width_power


@quantity("1", "dense_compute_efficiency · (experts > 0 ? moe_compute_factor : 1) · width_factor")
def linear_efficiency(dense_compute_efficiency: Num, experts: Num, moe_compute_factor: Num, width_factor: Num) -> Num:
    """Share of the dense peak that the linear layers of a model reach; fused expert kernels reach less.

    Source: fitted on public measurements, ``catalog/efficiency.csv``.
    """
    return dense_compute_efficiency * where(experts > 0, moe_compute_factor, 1) * width_factor


@quantity("1", "min(linear_efficiency · decode_compute_factor, efficiency_most)")
def decode_linear_efficiency(linear_efficiency: Num, decode_compute_factor: Num, efficiency_most: Num) -> Num:
    """The same for the few rows of a decode step; formats that must be unpacked first reach less.

    Source: fitted on public measurements, ``catalog/efficiency.csv``.
    """
    return minimum(linear_efficiency * decode_compute_factor, efficiency_most)


@quantity("1", "min(dense_compute_efficiency · attention_compute_factor, efficiency_most)")
def attention_efficiency(dense_compute_efficiency: Num, attention_compute_factor: Num, efficiency_most: Num) -> Num:
    """Share of the 16-bit dense peak that attention reaches.

    Source: fitted on public measurements, ``catalog/assumptions.csv``.
    """
    return minimum(dense_compute_efficiency * attention_compute_factor, efficiency_most)


@quantity("s", "((weights_read_gb - expert_read_gb) / weight_efficiency + expert_read_gb / expert_read_efficiency) / (tp · bandwidth_gb_s)")
def decode_weights_s(
    weights_read_gb: Num, expert_read_gb: Num, tp: Num, bandwidth_gb_s: Num, weight_efficiency: Num, expert_read_efficiency: Num
) -> Num:
    """Time to read the weights once.

    Source: roofline; achieved shares of the peak in ``catalog/efficiency.csv``.
    """
    others = (weights_read_gb - expert_read_gb) / weight_efficiency
    return (others + expert_read_gb / expert_read_efficiency) / (tp * bandwidth_gb_s)


@quantity("s", "micro_batch · kv_read_gb_sequence / (bandwidth_gb_s · cache_read_efficiency)")
def decode_kv_s(micro_batch: Num, kv_read_gb_sequence: Num, bandwidth_gb_s: Num, cache_read_efficiency: Num) -> Num:
    """Time to read the cache of the micro-batch.

    Source: roofline; achieved share of the peak in ``catalog/efficiency.csv``.
    """
    return micro_batch * kv_read_gb_sequence / (bandwidth_gb_s * cache_read_efficiency)


@quantity("GFLOP", "2 · active_b")
def decode_gflop_token(active_b: Num) -> Num:
    """Arithmetic of the linear layers for one token.

    Source: two floating-point operations for each parameter used.
    """
    return FLOP_PER_MAC * active_b


@quantity("GFLOP", "2 · 2 · heads · attention_dim · context_mean · (layers_full + layers_window) / 1e9")
def attention_gflop_token(
    heads: Num,
    head_dim: Num,
    kv_lora_rank: Num,
    context_mean: Num,
    layers_full: Num,
    layers_window: Num,
    window: Num,
    kv_reads: Num,
) -> Num:
    """Arithmetic of attention for one decoded token: scores and weighted sum.

    Latent attention works on the compressed vector, which is wider than a head.

    Source: transformer's definition; DeepSeek-V2 paper for the absorbed form, arXiv 2405.04434.
    """
    width = where(kv_lora_rank > 0, kv_lora_rank, head_dim)
    windowed = where(window > 0, minimum(context_mean, window), context_mean)
    seen = context_mean * layers_full + windowed * layers_window
    return kv_reads * KEY_AND_VALUE * heads * width * seen * FLOP_PER_MAC / GIGA


@quantity("s", "micro_batch · decode_gflop_token / (peak_tflops · tp · decode_linear_efficiency · 1,000)")
def decode_linear_s(micro_batch: Num, decode_gflop_token: Num, tp: Num, peak_tflops: Num, decode_linear_efficiency: Num) -> Num:
    """Time of the linear layers' arithmetic in one step.

    Source: roofline; achieved share of the dense peak in ``catalog/efficiency.csv``.
    """
    return micro_batch * decode_gflop_token / (peak_tflops * tp * decode_linear_efficiency * KILO)


@quantity("s", "micro_batch · attention_gflop_token / (tflops_16 · tp · attention_efficiency · 1,000)")
def decode_attention_s(micro_batch: Num, attention_gflop_token: Num, tp: Num, tflops_16: Num, attention_efficiency: Num) -> Num:
    """Time of attention's arithmetic in one step.

    Source: roofline; attention computes in 16 bit.
    """
    return micro_batch * attention_gflop_token / (tflops_16 * tp * attention_efficiency * KILO)


@quantity("s", "decode_linear_s + decode_attention_s")
def decode_compute_s(decode_linear_s: Num, decode_attention_s: Num) -> Num:
    """Time of the arithmetic of one step.

    Source: the sum of its parts.
    """
    return decode_linear_s + decode_attention_s


@quantity("s", "layers · layer_us / 1e6 + layers_moe · layer_moe_us / 1e6 + step_ms / 1e3")
def fixed_step_s(layers: Num, layer_us: Num, layers_moe: Num, layer_moe_us: Num, step_ms: Num) -> Num:
    """Time of a step that no bandwidth explains: kernel launches per layer, scheduler and sampling per step.

    Parameters
    ----------
    layer_us : each layer [µs].  layer_moe_us : more for a layer that routes to experts [µs].

    Source: fitted on public measurements, ``catalog/engines.csv``.
    """
    return layers * layer_us / MEGA + layers_moe * layer_moe_us / MEGA + step_ms / KILO


@quantity("s", "sequences_replica · sequence_us / 1e6")
def host_step_s(sequences_replica: Num, sequence_us: Num) -> Num:
    """Time that the engine's host code spends on each running sequence in a step.

    Source: fitted on public measurements, ``catalog/engines.csv``.
    """
    return sequences_replica * sequence_us / MEGA


@quantity("s", "max(decode_weights_s, decode_linear_s) + (1 - overlap) · min(decode_weights_s, decode_linear_s)")
def linear_step_s(decode_weights_s: Num, decode_linear_s: Num, overlap: Num) -> Num:
    """Time of the linear layers of one step: weights read and multiplied.

    Parameters
    ----------
    overlap : 1 when the shorter hides behind the longer (ideal roofline), 0 when they add [1].

    Source: the ideal roofline is Williams et al. 2009; the engine's share of it in ``catalog/engines.csv``.
    """
    return overlapped(decode_weights_s, decode_linear_s, overlap)


@quantity("s", "linear_step_s + decode_kv_s + decode_attention_s; overlap = 1: max(all reads, all arithmetic)")
def roofline_step_s(linear_step_s: Num, decode_weights_s: Num, decode_kv_s: Num, decode_linear_s: Num, decode_attention_s: Num, overlap: Num) -> Num:
    """Time of reads and arithmetic of one step; linear layers and attention follow one another.

    Source: the ideal roofline (overlap 1) is Williams et al. 2009; else the sum of the parts.
    """
    ideal = maximum(decode_weights_s + decode_kv_s, decode_linear_s + decode_attention_s)
    return where(overlap >= 1, ideal, linear_step_s + decode_kv_s + decode_attention_s)


@quantity("s", "roofline_step_s + fixed_step_s + host_step_s + collectives; stated factor: one card's time / (tp · tp_factor)")
def decode_step_s(roofline_step_s: Num, fixed_step_s: Num, host_step_s: Num, decode_collective_s: Num, tp: Num, tp_factor: Num) -> Num:
    """Time of one decode step with nothing interleaved.

    Parameters
    ----------
    tp_factor : 0, or a stated factor per card (0.55 for eight cards over PCIe) that replaces the link model: the group
        gives tp · tp_factor times what one card would [1].

    Source: the sum of its parts.
    """
    one_card = tp * roofline_step_s + fixed_step_s + host_step_s
    stated = one_card / (tp * maximum(tp_factor, TINY))
    return where(both(tp_factor > 0, tp > 1), stated, roofline_step_s + fixed_step_s + host_step_s + decode_collective_s)


@quantity("text", "the largest of memory, compute and link time of a decode step")
def bound(decode_weights_s: Num, decode_kv_s: Num, decode_compute_s: Num, decode_collective_s: Num) -> Num:
    """What limits a decode step: "memory", "compute" or "link".

    Source: the largest part.
    """
    memory = decode_weights_s + decode_kv_s
    return where(
        memory >= maximum(decode_compute_s, decode_collective_s),
        "memory",
        where(decode_compute_s >= decode_collective_s, "compute", "link"),
    )
