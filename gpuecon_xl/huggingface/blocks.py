"""Building blocks of a transformer: how many parameters each has, and how many values of state it keeps a sequence.

Here: pure functions of whole numbers, one for each kind of block. Not here: which model has which (`families`, `towers`).
"""

from __future__ import annotations

from gpuecon_xl.units import KEY_AND_VALUE

WEIGHT_AND_BIAS = 2  # a layer norm has both, a root-mean-square norm a weight only
QUERY_AND_GATE = 2  # a gated attention projects both
QUERY_KEY_VALUE = 3
GATED_MATS = 3  # gate, up and down
PLAIN_MATS = 2  # up and down


def linear(inputs: int, outputs: int, bias: bool = False) -> int:
    """A matrix, and a bias for each output if it has one."""
    return inputs * outputs + (outputs if bias else 0)


def attention(hidden: int, heads: int, kv_heads: int, head_dim: int, *, qkv_bias: bool = False, out_bias: bool = False, gate: bool = False) -> int:
    """Grouped-query attention: query (with its gate), key, value and output."""
    query = linear(hidden, heads * head_dim * (QUERY_AND_GATE if gate else 1), qkv_bias)
    return query + KEY_AND_VALUE * linear(hidden, kv_heads * head_dim, qkv_bias) + linear(heads * head_dim, hidden, out_bias)


def latent_attention(hidden: int, heads: int, query_rank: int, kv_rank: int, nope: int, rope: int, value: int, bias: bool = False) -> int:
    """Multi-head latent attention with the norms of its latents; a query rank of 0 means one plain query projection."""
    if query_rank:
        query = linear(hidden, query_rank, bias) + query_rank + linear(query_rank, heads * (nope + rope))
    else:
        query = linear(hidden, heads * (nope + rope))
    latent = linear(hidden, kv_rank + rope, bias) + kv_rank + linear(kv_rank, heads * (nope + value))
    return query + latent + linear(heads * value, hidden, bias)


def sparse_indexer(hidden: int, query_rank: int, heads: int, head_dim: int) -> int:
    """The small attention that picks tokens for sparse attention: query, key with its norm, and a weight for each head."""
    return linear(query_rank, heads * head_dim) + linear(hidden, head_dim) + WEIGHT_AND_BIAS * head_dim + linear(hidden, heads)


def mlp(hidden: int, ffn: int, mats: int, bias: bool = False) -> int:
    """A feed-forward block of two matrices, or three with a gate."""
    return (mats - 1) * linear(hidden, ffn, bias) + linear(ffn, hidden, bias)


def delta_net(hidden: int, key_heads: int, value_heads: int, key_dim: int, value_dim: int, kernel: int) -> tuple[int, int]:
    """Gated DeltaNet: parameters, and values of state (the recurrent matrix and the tail of the convolution)."""
    keys, values = key_heads * key_dim, value_heads * value_dim
    channels = KEY_AND_VALUE * keys + values  # query and key are as wide as each other
    gates = WEIGHT_AND_BIAS * value_heads  # decay and time step of each head
    params = linear(hidden, channels + values) + linear(hidden, gates) + channels * kernel + gates + value_dim + linear(values, hidden)
    return params, value_heads * key_dim * value_dim + channels * (kernel - 1)


def mamba2(
    hidden: int, heads: int, head_dim: int, groups: int, state: int, kernel: int, *, bias: bool = False, conv_bias: bool = True
) -> tuple[int, int]:
    """Mamba-2: parameters, and values of state (the recurrent matrix and the tail of the convolution)."""
    inner = heads * head_dim
    channels = inner + KEY_AND_VALUE * groups * state  # what B and C need beside the inner width
    of_heads = QUERY_KEY_VALUE * heads  # A, D and the time step
    conv = channels * kernel + (channels if conv_bias else 0)
    params = linear(hidden, inner + channels + heads, bias) + conv + of_heads + inner + linear(inner, hidden, bias)
    return params, inner * state + channels * (kernel - 1)


def short_convolution(hidden: int, kernel: int, bias: bool = False) -> tuple[int, int]:
    """A gated short convolution: parameters, and values of state (the tokens that the kernel still needs)."""
    params = linear(hidden, QUERY_KEY_VALUE * hidden, bias) + hidden * kernel + (hidden if bias else 0) + linear(hidden, hidden, bias)
    return params, hidden * (kernel - 1)


def lightning_attention(hidden: int, heads: int, head_dim: int) -> tuple[int, int]:
    """Lightning attention with its norm and output gate: parameters, and values of state (a matrix for each head)."""
    inner = heads * head_dim
    params = linear(hidden, QUERY_KEY_VALUE * inner) + inner + linear(hidden, inner) + linear(inner, hidden)
    return params, heads * head_dim * head_dim


def gated_width(plain: float) -> int:
    """Width at which a gated block of three matrices is as large as a plain one of two."""
    return int(PLAIN_MATS * plain / GATED_MATS)


def rounded_up(width: int, multiple: int) -> int:
    """The next multiple of a number."""
    return -(-width // multiple) * multiple
