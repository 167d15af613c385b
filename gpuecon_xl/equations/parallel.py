"""Several cards: collectives of tensor parallelism and hops of pipeline parallelism.

Here: pure functions. Not here: figures of links (``catalog/links.csv``).
"""

from __future__ import annotations

from gpuecon_xl.ops import ceil, floor, log2, maximum, minimum, where
from gpuecon_xl.quantity import Num, quantity
from gpuecon_xl.units import BYTES_16_BIT, GIGA, MEGA, PAIR


@quantity("card", "weights_gb / max(room - batch / gpus · kv_gb_one_card, weights_gb / gpus)")
def tp_needed(weights_gb: Num, engine_memory_gb: Num, engine_overhead_gb: Num, batch: Num, kv_gb_one_card: Num, gpus: Num) -> Num:
    """Cards that must share the weights so that the cache of the batch fits beside them; may be fractional.

    room = engine_memory_gb - engine_overhead_gb. All cards share them when the cache alone takes too much.

    Parameters
    ----------
    kv_gb_one_card : cache of one sequence when nothing is split [GB].

    Source: weights + batch · tp / gpus · cache <= tp · room, solved for tp.
    """
    left = engine_memory_gb - engine_overhead_gb - batch / gpus * kv_gb_one_card
    return weights_gb / maximum(left, weights_gb / gpus)


@quantity("card", "min(2^⌈log2(max(tp_needed, 1))⌉, 2^⌊log2(gpus)⌋)")
def tp_smallest(tp_needed: Num, gpus: Num) -> Num:
    """Smallest tensor-parallel group, a power of two, that holds the batch; at most the cards of the build.

    The workbook's Candidates use it where a build names no group; `predict` compares all layouts instead.

    Source: replicas scale linearly, groups pay for their links: no wider than needed.
    """
    return minimum(PAIR ** ceil(log2(maximum(tp_needed, 1))), PAIR ** floor(log2(maximum(gpus, 1))))


@quantity("µs", "alpha_pair_us · alpha_factor · (tp / 2)^alpha_power")
def allreduce_alpha_us(alpha_pair_us: Num, alpha_factor: Num, alpha_power: Num, tp: Num) -> Num:
    """Start-up time of one all-reduce over `tp` cards.

    Parameters
    ----------
    alpha_factor : of the engine; its own kernels start faster or slower than the mean [1].

    Source: link in ``catalog/links.csv``, engine in ``catalog/engines.csv``.
    """
    return alpha_pair_us * alpha_factor * (tp / PAIR) ** alpha_power


@quantity("GB/s", "bus_pair_gb_s · bus_factor · (tp / 2)^bus_power")
def allreduce_bus_gb_s(bus_pair_gb_s: Num, bus_factor: Num, bus_power: Num, tp: Num) -> Num:
    """Bus bandwidth of an all-reduce over `tp` cards, as the engine makes use of it.

    Parameters
    ----------
    bus_factor : of the engine: overlap with arithmetic and fused kernels make the link look wider [1].

    Source: link in ``catalog/links.csv``, engine in ``catalog/engines.csv``.
    """
    return bus_pair_gb_s * bus_factor * (tp / PAIR) ** bus_power


@quantity("s", "allreduces_layer · layers · 2 (tp - 1) / tp · hidden · 2 / (allreduce_bus_gb_s · 1e9)")
def collective_s_token(allreduces_layer: Num, layers: Num, tp: Num, hidden: Num, allreduce_bus_gb_s: Num) -> Num:
    """Transfer time of all-reduces for one token through all layers; 0 on one card.

    Source: ring all-reduce moves 2 (n - 1) / n of the data; activations are 16 bit.
    """
    moved = PAIR * (tp - 1) / tp * hidden * BYTES_16_BIT
    return where(tp > 1, allreduces_layer * layers * moved / (allreduce_bus_gb_s * GIGA), 0)


@quantity("s", "tp > 1 ? allreduces_layer · layers · allreduce_alpha_us / 1e6 : 0")
def collective_start_s(allreduces_layer: Num, layers: Num, allreduce_alpha_us: Num, tp: Num) -> Num:
    """Start-up time of the all-reduces of one step.

    Source: ``catalog/links.csv``.
    """
    return where(tp > 1, allreduces_layer * layers * allreduce_alpha_us / MEGA, 0)


@quantity("s", "(pp - 1) · hidden · 2 / (bus_pair_gb_s · 1e9)")
def hop_s_token(pp: Num, hidden: Num, bus_pair_gb_s: Num) -> Num:
    """Transfer time of one token between pipeline stages; 0 with one stage.

    Source: point-to-point transfer of 16-bit activations.
    """
    return (pp - 1) * hidden * BYTES_16_BIT / (bus_pair_gb_s * GIGA)


@quantity("s", "collective_start_s + (pp - 1) · alpha_pair_us / 1e6 + micro_batch · (collective_s_token + hop_s_token)")
def decode_collective_s(
    collective_start_s: Num,
    alpha_pair_us: Num,
    pp: Num,
    micro_batch: Num,
    collective_s_token: Num,
    hop_s_token: Num,
    collectives: Num,
) -> Num:
    """Time of a decode step spent between cards.

    Parameters
    ----------
    collectives : 1, or 0 to leave the links out (ideal roofline) [1].

    Source: alpha-beta model, ``catalog/links.csv``.
    """
    start = collective_start_s + (pp - 1) * alpha_pair_us / MEGA
    return collectives * (start + micro_batch * (collective_s_token + hop_s_token))


@quantity("1", "roofline_step_s of one card / (tp · decode_step_s)")
def scaling_factor(step_one_s: Num, tp: Num, decode_step_s: Num) -> Num:
    """Throughput per card of a tensor-parallel group over that of one card.

    Source: definition; the stated factors stand beside it in the workbook.
    """
    return step_one_s / (maximum(tp, 1) * decode_step_s)
