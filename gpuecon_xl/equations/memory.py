"""Memory: bytes of weights and of cache, and how many sequences fit.

Here: pure functions. Not here: time (`decode`, `prefill`) and money (`tco`).
GB is 1e9 bytes, GiB is 2**30 bytes; a name says which. One function is one labelled cell of the workbook.
"""

from __future__ import annotations

from gpuecon_xl.ops import both, ceil, either, equal, floor, maximum, minimum, where
from gpuecon_xl.quantity import Num, quantity
from gpuecon_xl.units import BYTES_16_BIT, FLOP_PER_MAC, GIB, GIGA, KEY_AND_VALUE, KILO, MEGA, MIB


@quantity("1e9 parameters", "vocab · hidden · embed_copies")
def embed_params_b(vocab: Num, hidden: Num, embed_copies: Num) -> Num:
    """Parameters of the input embedding and the language-model head.

    Parameters
    ----------
    vocab, hidden : vocabulary size and hidden width, from the model's configuration [1].
    embed_copies : 1 when embedding and head share one table, 2 when not [1].

    Source: the transformer's definition; model configurations in ``catalog/models.csv``.
    """
    return vocab * hidden * embed_copies / GIGA


@quantity("1e9 parameters", "expert_mats · hidden · expert_ffn · experts · layers_moe")
def expert_params_b(hidden: Num, expert_ffn: Num, experts: Num, layers_moe: Num, expert_mats: Num) -> Num:
    """Parameters of all routed experts; 0 for a dense model.

    Parameters
    ----------
    hidden, expert_ffn : widths of an expert's matrices [1].
    experts : routed experts in a layer [1].  layers_moe : layers that have experts [1].
    expert_mats : matrices of an expert (3 with a gate, 2 without) [1].

    Source: the mixture-of-experts layer's definition.
    """
    return expert_mats * hidden * expert_ffn * experts * layers_moe / GIGA


@quantity("1e9 parameters", "max(0, params_b - embed_params_b - expert_params_b)")
def nonexpert_params_b(params_b: Num, embed_params_b: Num, expert_params_b: Num) -> Num:
    """Parameters outside embedding, head and routed experts: attention, norms, shared and dense layers.

    Source: what is left of the total.
    """
    return maximum(params_b - embed_params_b - expert_params_b, 0)


@quantity("byte/parameter", "experts > 0 ? bytes_nonexpert_moe : bytes_weight")
def bytes_nonexpert(experts: Num, bytes_weight: Num, bytes_nonexpert_moe: Num) -> Num:
    """Bytes of a parameter outside the experts.

    Mixture-of-experts checkpoints in mxfp4 and nvfp4 quantise the experts and keep attention at 16 bit;
    dense checkpoints quantise every linear layer.

    Source: published checkpoints (openai/gpt-oss-120b).
    """
    return where(experts > 0, bytes_nonexpert_moe, bytes_weight)


@quantity("1", "⌈expert_ffn / expert_pad⌉ · expert_pad")
def expert_ffn_stored(expert_ffn: Num, expert_pad: Num) -> Num:
    """Expert width as engines store it: padded to a multiple that the format's kernels need.

    Source: vLLM pads mxfp4 experts to a multiple of 256 (gpt-oss: 2,880 to 3,072).
    """
    return ceil(expert_ffn / expert_pad) * expert_pad


@quantity("GB", "expert_mats · hidden · expert_ffn_stored · experts · layers_moe · bytes_weight · weights_overhead / 1e9")
def expert_weights_gb(
    hidden: Num,
    expert_ffn_stored: Num,
    experts: Num,
    layers_moe: Num,
    expert_mats: Num,
    bytes_weight: Num,
    weights_overhead: Num,
) -> Num:
    """Memory of all routed experts.

    Source: parameters times bytes; padded width of `expert_ffn_stored`.
    """
    return expert_mats * hidden * expert_ffn_stored * experts * layers_moe * bytes_weight * weights_overhead / GIGA


@quantity("GB", "nonexpert_params_b · bytes_nonexpert · weights_overhead")
def nonexpert_weights_gb(nonexpert_params_b: Num, bytes_nonexpert: Num, weights_overhead: Num) -> Num:
    """Memory of everything that is neither expert nor embedding.

    Source: parameters times bytes.
    """
    return nonexpert_params_b * bytes_nonexpert * weights_overhead


@quantity("GB", "embed_params_b · bytes_embed · weights_overhead")
def embed_weights_gb(embed_params_b: Num, bytes_embed: Num, weights_overhead: Num) -> Num:
    """Memory of embedding and head, which most quantised checkpoints keep at 16 bit.

    Source: published checkpoints; GGUF files quantise them too (``catalog/precisions.csv``).
    """
    return embed_params_b * bytes_embed * weights_overhead


@quantity("GB", "expert_weights_gb + nonexpert_weights_gb + embed_weights_gb")
def weights_gb(expert_weights_gb: Num, nonexpert_weights_gb: Num, embed_weights_gb: Num) -> Num:
    """Memory of all weights.

    Source: the sum; checked against the GiB that vLLM reports when it has loaded a model.
    """
    return expert_weights_gb + nonexpert_weights_gb + embed_weights_gb


@quantity("element", "MLA: kv_lora_rank + rope_dim; else 2 · ⌈kv_heads / tp⌉ · head_dim")
def kv_width(kv_lora_rank: Num, rope_dim: Num, kv_heads: Num, head_dim: Num, tp: Num) -> Num:
    """Cached elements per token and full-attention layer on one GPU.

    Latent attention (MLA) keeps one compressed vector on every GPU; grouped-query attention splits its heads.

    Source: DeepSeek-V2 paper (MLA), arXiv 2405.04434; grouped-query attention, arXiv 2305.13245.
    """
    return where(kv_lora_rank > 0, kv_lora_rank + rope_dim, KEY_AND_VALUE * ceil(kv_heads / tp) * head_dim)


@quantity("element", "2 · ⌈window_kv_heads / tp⌉ · window_head_dim")
def window_kv_width(window_kv_heads: Num, window_head_dim: Num, tp: Num) -> Num:
    """Cached elements per token and sliding-window layer on one GPU.

    Source: grouped-query attention, arXiv 2305.13245; sliding window, arXiv 2310.06825.
    """
    return KEY_AND_VALUE * ceil(window_kv_heads / tp) * window_head_dim


@quantity("byte", "bytes_kv_named > 0 ? bytes_kv_named : (kernel is fp8 or fp4 ? kv_bytes_low : 2)")
def bytes_kv(bytes_kv_named: Num, kernel: Num, kv_bytes_low: Num) -> Num:
    """Bytes of a cached element.

    Parameters
    ----------
    bytes_kv_named : of the cache format that is asked for; 0 when none is [byte].
    kv_bytes_low : what the engine caches in by itself when the weights are fp8 or fp4 [byte].

    Source: TensorRT-LLM checkpoints in fp8 and nvfp4 carry an fp8 cache, other engines cache in 16 bit,
    ``catalog/engines.csv``.
    """
    low = either(equal(kernel, "fp8"), equal(kernel, "fp4"))
    return where(bytes_kv_named > 0, bytes_kv_named, where(low, kv_bytes_low, BYTES_16_BIT))


@quantity("byte", "(layers_full · kv_width + layers_window · window_kv_width) · bytes_kv")
def kv_bytes_token(layers_full: Num, kv_width: Num, layers_window: Num, window_kv_width: Num, bytes_kv: Num) -> Num:
    """Cache of one token on one GPU, all layers, before a window cuts it.

    Source: Mistral-Small-24B: 40 · 2 · 128 · 8 · 2 = 163,840 bytes.
    """
    return (layers_full * kv_width + layers_window * window_kv_width) * bytes_kv


@quantity("GB", "state_mib · 2^20 / tp / 1e9")
def state_gb_sequence(state_mib: Num, tp: Num) -> Num:
    """Constant state of one sequence on one GPU: Mamba, linear attention, short convolutions.

    Source: model configurations in ``catalog/models.csv``.
    """
    return state_mib * MIB / tp / GIGA


@quantity("token", "input_tokens + output_tokens")
def context_tokens(input_tokens: Num, output_tokens: Num) -> Num:
    """Length of a finished request: prompt and answer.

    Source: definition.
    """
    return input_tokens + output_tokens


@quantity("token", "window > 0 ? min(context_tokens, window) : context_tokens")
def window_tokens_kept(context_tokens: Num, window: Num) -> Num:
    """Tokens that a sliding-window layer keeps of a finished request.

    Source: sliding-window attention, arXiv 2310.06825.
    """
    return where(window > 0, minimum(context_tokens, window), context_tokens)


@quantity("GB", "(context · layers_full · kv_width + kept · layers_window · window_kv_width) · bytes_kv / 1e9 + state")
def kv_gb_sequence(
    context_tokens: Num,
    window_tokens_kept: Num,
    window_alloc_full: Num,
    layers_full: Num,
    kv_width: Num,
    layers_window: Num,
    window_kv_width: Num,
    bytes_kv: Num,
    state_gb_sequence: Num,
) -> Num:
    """Cache that the engine sets aside on one GPU (all its layers) for one finished request.

    Parameters
    ----------
    window_alloc_full : 1 when the engine allocates windowed layers at full length in models that mix them with
        full layers, 0 when it allocates the window only [1].

    Source: vLLM's block allocator, ``catalog/engines.csv``.
    """
    window_tokens = where(both(window_alloc_full > 0, layers_full > 0), context_tokens, window_tokens_kept)
    return (context_tokens * layers_full * kv_width + window_tokens * layers_window * window_kv_width) * bytes_kv / GIGA + state_gb_sequence


@quantity("GB", "memory_usable_mib · 2^20 / 1e9")
def capacity_gb(memory_usable_mib: Num) -> Num:
    """Memory of one GPU as the driver reports it.

    Source: ``catalog/gpus.csv``; the marketing figure counts otherwise.
    """
    return memory_usable_mib * MIB / GIGA


@quantity("GB", "capacity_gb · memory_share · memory_free_share")
def engine_memory_gb(capacity_gb: Num, memory_share: Num, memory_free_share: Num) -> Num:
    """Memory of one GPU that the engine may use.

    Parameters
    ----------
    memory_share : the engine's own limit (vLLM gpu_memory_utilization) [1].
    memory_free_share : what driver and context leave of it [1].

    Source: ``catalog/engines.csv``.
    """
    return capacity_gb * memory_share * memory_free_share


@quantity("GB", "(activations + non-torch) · 2^30 / 1e9")
def engine_overhead_gb(
    experts: Num,
    capacity_gb: Num,
    activation_dense_gib: Num,
    activation_moe_gib: Num,
    activation_vocab_gib: Num,
    vocab: Num,
    large_card_gb: Num,
    small_card_factor: Num,
    nontorch_one_gib: Num,
    nontorch_many_gib: Num,
    tp: Num,
    pp: Num,
) -> Num:
    """Memory of one GPU that the engine needs beside weights and cache.

    Activations at profiling (less on small cards, where engines batch fewer sequences) and memory outside the framework
    (more when several GPUs talk to each other). Most of the activations are logits: one number for each entry of the
    vocabulary and each sequence that is sampled at once.

    Parameters
    ----------
    activation_dense_gib, activation_moe_gib : what does not depend on the vocabulary [GiB].
    activation_vocab_gib : logits and what sampling makes of them, for a million entries of the vocabulary [GiB].

    Source: ``catalog/engines.csv``; a campaign of 58 runs in vLLM 0.19, https://github.com/llm-d-incubation/llm-d-planner/pull/205.
    """
    activation = where(experts > 0, activation_moe_gib, activation_dense_gib) + vocab * activation_vocab_gib / MEGA
    sized = activation * where(capacity_gb >= large_card_gb, 1, small_card_factor)
    return (sized + where(tp * pp > 1, nontorch_many_gib, nontorch_one_gib)) * GIB / GIGA


@quantity("GB", "engine_memory_gb - weights_gb / (tp · pp) - engine_overhead_gb")
def kv_budget_gb(engine_memory_gb: Num, weights_gb: Num, tp: Num, pp: Num, engine_overhead_gb: Num) -> Num:
    """Memory of one GPU left for cache; negative when the weights alone do not fit.

    Source: vLLM's memory profiling.
    """
    return engine_memory_gb - weights_gb / (tp * pp) - engine_overhead_gb


@quantity("sequence", "⌊max(0, min(kv_budget_gb · pp / kv_gb_sequence, max_sequences))⌋")
def sequences_max_replica(kv_budget_gb: Num, pp: Num, kv_gb_sequence: Num, max_sequences: Num) -> Num:
    """Sequences of full length that one replica holds at once.

    Source: cache budget over cache of a sequence, capped by the engine's own limit.
    """
    return floor(maximum(minimum(kv_budget_gb * pp / kv_gb_sequence, max_sequences), 0))


@quantity("replica", "⌊gpus / (tp · pp)⌋")
def replicas(gpus: Num, tp: Num, pp: Num) -> Num:
    """Copies of the model that the cards hold.

    Source: definition; cards left over stand idle.
    """
    return floor(gpus / (tp * pp))


@quantity("sequence", "sequences_max_replica · replicas")
def batch_max(sequences_max_replica: Num, replicas: Num) -> Num:
    """Sequences of full length that the whole build holds at once.

    Source: definition.
    """
    return sequences_max_replica * replicas


@quantity("sequence", "min(batch, batch_max)")
def admitted(batch: Num, batch_max: Num) -> Num:
    """Sequences that run at once; the rest of the concurrency asked waits in the queue.

    Source: continuous batching admits while cache is left.
    """
    return minimum(batch, batch_max)


@quantity("1", "(engine_memory_gb - need) / engine_memory_gb")
def headroom(
    engine_memory_gb: Num,
    weights_gb: Num,
    tp: Num,
    pp: Num,
    engine_overhead_gb: Num,
    batch: Num,
    replicas: Num,
    kv_gb_sequence: Num,
) -> Num:
    """Share of the engine's memory left free with the batch asked; negative when it does not fit.

    Need = weights + engine overhead + cache of the sequences asked of one replica.

    Source: definition; classes of `fit_class`.
    """
    need = weights_gb / (tp * pp) + engine_overhead_gb + ceil(batch / maximum(replicas, 1)) * kv_gb_sequence / pp
    return (engine_memory_gb - need) / engine_memory_gb


@quantity("text", 'headroom >= headroom_wanted ? "fits" : headroom >= 0 ? "tight" : "no"')
def fit_class(headroom: Num, headroom_wanted: Num) -> Num:
    """Three classes of fit: "fits", "tight", "no".

    Source: Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09: at least 15 % headroom.
    """
    return where(headroom >= headroom_wanted, "fits", where(headroom >= 0, "tight", "no"))


@quantity("1", "(memory_gb · gpus - params_b · bytes_weight · weights_factor_stated) / (memory_gb · gpus)")
def weights_headroom(memory_gb: Num, gpus: Num, params_b: Num, bytes_weight: Num, weights_factor_stated: Num) -> Num:
    """Share of the cards' marketing memory left beside weights that carry 3 % overhead; no cache, no engine.

    Source: Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09, fit matrix.
    """
    return (memory_gb * gpus - params_b * bytes_weight * weights_factor_stated) / (memory_gb * gpus)


@quantity("card", "⌈params_b · bytes_weight · weights_factor_stated / memory_gb⌉")
def cards_needed(params_b: Num, bytes_weight: Num, weights_factor_stated: Num, memory_gb: Num) -> Num:
    """Cards that hold a model's weights with 3 % overhead.

    Source: Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09, open-weight table.
    """
    return ceil(params_b * bytes_weight * weights_factor_stated / memory_gb)


@quantity("GB", "params_b · gb_per_b_params")
def vram_rule_gb(params_b: Num, gb_per_b_params: Num) -> Num:
    """Memory by rule of thumb: 2.4 GB per billion parameters at 16 bit, 0.62 GB at 4 bit.

    Source: USD je Million Tokens, LowCostGPU, 2026-10.
    """
    return params_b * gb_per_b_params


@quantity("text", "the precision's kernel, or its weight-only fallback where the silicon lacks the rate")
def kernel_used(kernel: Num, tflops_fp8: Num, tops_int8: Num, tflops_fp4: Num) -> Num:
    """Number format that the matrix kernels really compute in.

    Parameters
    ----------
    kernel : "16", "fp8", "int8", "fp4", weight-only "w8", "w4" and "exl3", or "gguf", from ``catalog/precisions.csv``.

    Source: fp8 rates exist from Ada and Hopper on, fp4 from Blackwell and CDNA 4 on, ``catalog/gpus.csv``.
    """
    no_fp8 = both(equal(kernel, "fp8"), tflops_fp8 <= 0)
    no_int8 = both(equal(kernel, "int8"), tops_int8 <= 0)
    no_fp4 = both(equal(kernel, "fp4"), tflops_fp4 <= 0)
    return where(either(no_fp8, no_int8), "w8", where(no_fp4, "w4", kernel))


@quantity("TFLOP/s", "the dense rate of the number format that the kernels compute in")
def peak_tflops(kernel_used: Num, tflops_16: Num, tflops_fp8: Num, tops_int8: Num, tflops_fp4: Num) -> Num:
    """Peak dense rate for a precision on a card; weight-only formats compute at 16 bit, GGUF blocks in int8 where there is a rate for it.

    Source: vendors' datasheets, dense figures, ``catalog/gpus.csv``.
    """
    return where(
        equal(kernel_used, "fp8"),
        tflops_fp8,
        where(
            equal(kernel_used, "int8"),
            tops_int8,
            where(equal(kernel_used, "fp4"), tflops_fp4, where(equal(kernel_used, "gguf"), maximum(tops_int8, tflops_16), tflops_16)),
        ),
    )


@quantity("sequence", "peak_tflops · 1,000 · bytes_weight · params_b / (2 · active_b · bandwidth_gb_s)")
def breakeven_batch(peak_tflops: Num, bytes_weight: Num, params_b: Num, active_b: Num, bandwidth_gb_s: Num) -> Num:
    """Batch at which the ideal roofline turns from memory to compute, B*.

    Reading all weights takes as long as the arithmetic of B* tokens; for a mixture of experts all experts are read.

    Source: Ökonomie der LLM-Inferenz, Inferenzrechner, 2026-09: about 280 for a dense 32B in fp8 on RTX PRO 6000.
    """
    return peak_tflops * KILO * bytes_weight * params_b / (FLOP_PER_MAC * active_b * bandwidth_gb_s)
