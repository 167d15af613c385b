"""Decode: the time of one step that gives one token to every running sequence.

Here: pure functions. Not here: prompts (`prefill`), links between cards (`parallel`), the serving loop (`serving`).
Time in seconds, rates in GB/s and TFLOP/s, dense.
"""

from __future__ import annotations

from gpuecon_xl.ops import both, exp, ln, maximum, minimum, where
from gpuecon_xl.quantity import Num, quantity
from gpuecon_xl.units import FLOP_PER_MAC, GIGA, HALF, KEY_AND_VALUE, KILO, MEGA, TINY


@quantity("sequence", "max(admitted / replicas, 1)")
def sequences_replica(admitted: Num, replicas: Num) -> Num:
    """Sequences that a working replica decodes together.

    Source: requests are spread evenly; with fewer requests than replicas some stand idle.
    """
    return maximum(admitted / maximum(replicas, 1), 1)


@quantity("sequence", "max(sequences_replica / pp, 1)")
def micro_batch(sequences_replica: Num, pp: Num) -> Num:
    """Sequences in one pipeline micro-batch; as many micro-batches as stages keep every stage busy.

    Source: GPipe, arXiv 1811.06965.
    """
    return maximum(sequences_replica / pp, 1)


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


@quantity("GB", "(nonexpert + experts · experts_touched) / weights_overhead + head")
def weights_read_gb(
    nonexpert_weights_gb: Num,
    expert_weights_gb: Num,
    experts_touched: Num,
    weights_overhead: Num,
    head_weights_gb: Num,
) -> Num:
    """Weights that one decode step reads, all GPUs of a replica together.

    Source: every dense weight once a step, experts by coverage.
    """
    return (nonexpert_weights_gb + expert_weights_gb * experts_touched) / weights_overhead + head_weights_gb


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


@quantity("s", "weights_read_gb / (tp · bandwidth_gb_s · weight_efficiency)")
def decode_weights_s(weights_read_gb: Num, tp: Num, bandwidth_gb_s: Num, weight_efficiency: Num) -> Num:
    """Time to read the weights once.

    Source: roofline; achieved share of peak bandwidth in ``catalog/efficiency.csv``.
    """
    return weights_read_gb / (tp * bandwidth_gb_s * weight_efficiency)


@quantity("s", "micro_batch · kv_read_gb_sequence / (bandwidth_gb_s · kv_efficiency)")
def decode_kv_s(micro_batch: Num, kv_read_gb_sequence: Num, bandwidth_gb_s: Num, kv_efficiency: Num) -> Num:
    """Time to read the cache of the micro-batch.

    Source: roofline; decode attention reaches 0.5 to 0.8 of peak bandwidth, ``catalog/efficiency.csv``.
    """
    return micro_batch * kv_read_gb_sequence / (bandwidth_gb_s * kv_efficiency)


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


@quantity("s", "micro_batch · (linear / peak_tflops + attention / tflops_16) / (tp · compute_efficiency · 1,000)")
def decode_compute_s(
    micro_batch: Num,
    decode_gflop_token: Num,
    attention_gflop_token: Num,
    tp: Num,
    peak_tflops: Num,
    tflops_16: Num,
    compute_efficiency: Num,
) -> Num:
    """Time of the arithmetic of one step.

    Source: roofline; achieved share of the dense peak in ``catalog/efficiency.csv``.
    """
    gflop_time = decode_gflop_token / peak_tflops + attention_gflop_token / tflops_16
    return micro_batch * gflop_time / (tp * compute_efficiency * KILO)


@quantity("µs", "experts > 0 ? layer_moe_us : layer_dense_us")
def layer_us(experts: Num, layer_dense_us: Num, layer_moe_us: Num) -> Num:
    """Fixed time of one layer; routing to experts costs more launches.

    Source: fits on published points, ``catalog/engines.csv``.
    """
    return where(experts > 0, layer_moe_us, layer_dense_us)


@quantity("1", "experts > 0 ? moe_compute_efficiency : dense_compute_efficiency")
def compute_efficiency(experts: Num, dense_compute_efficiency: Num, moe_compute_efficiency: Num) -> Num:
    """Share of the dense peak that the matrix kernels reach; fused expert kernels reach less.

    Source: ``catalog/efficiency.csv``.
    """
    return where(experts > 0, moe_compute_efficiency, dense_compute_efficiency)


@quantity("s", "layers · layer_us / 1e6 + step_ms / 1e3")
def fixed_step_s(layers: Num, layer_us: Num, step_ms: Num) -> Num:
    """Time of a step that no bandwidth explains: kernel launches per layer, scheduler and sampling per step.

    Source: 30 µs a layer and 1 ms a step fitted about 1,000 published points, ``catalog/engines.csv``.
    """
    return layers * layer_us / MEGA + step_ms / KILO


@quantity("s", "max(memory, compute) + (1 - overlap) · min(memory, compute)")
def roofline_step_s(decode_weights_s: Num, decode_kv_s: Num, decode_compute_s: Num, overlap: Num) -> Num:
    """Time of reads and arithmetic of one step.

    Parameters
    ----------
    overlap : 1 when the shorter hides behind the longer (ideal roofline), 0 when they add [1].

    Source: the ideal roofline is Williams et al. 2009; measured steps are close to the plain sum.
    """
    memory = decode_weights_s + decode_kv_s
    return maximum(memory, decode_compute_s) + (1 - overlap) * minimum(memory, decode_compute_s)


@quantity("s", "roofline_step_s + fixed_step_s + collectives; stated factor: (tp · roofline_step_s + fixed_step_s) / (tp · tp_factor)")
def decode_step_s(roofline_step_s: Num, fixed_step_s: Num, decode_collective_s: Num, tp: Num, tp_factor: Num) -> Num:
    """Time of one decode step with nothing interleaved.

    Parameters
    ----------
    tp_factor : 0, or a stated factor per card (0.55 for eight cards over PCIe) that replaces the link model: the group
        gives tp · tp_factor times what one card would [1].

    Source: the sum of its parts.
    """
    one_card = tp * roofline_step_s + fixed_step_s
    stated = one_card / (tp * maximum(tp_factor, TINY))
    return where(both(tp_factor > 0, tp > 1), stated, roofline_step_s + fixed_step_s + decode_collective_s)


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
