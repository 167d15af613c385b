"""Cache capacities that vLLM printed when it started, against the largest batch that we admit. Published figures only.

Here: tokens of cache by model, card, layout, version. Not here: the parts of the equation (`equations/test_memory`).
"""

from __future__ import annotations

import pytest

import gpuecon_xl as gx
from gpuecon_xl.catalog import Catalog, shipped
from gpuecon_xl.units import GIB

NEW, MIDDLE, OLD = "vLLM 0.17 to 0.20", "vLLM 0.7 to 0.16", "vLLM 0.6 and older"
CAMPAIGN = "https://github.com/llm-d-incubation/llm-d-planner/pull/205"  # accuracy report, vLLM 0.15 to 0.19 on H100 with 0.95 of its memory
CONTEXT = 512  # short, so that whole requests are close to tokens
ALL = 10**6  # requests: the cache is the limit, not the engine
TOKENS_8B = 131_072  # bytes of cache of a token in 16 bit: 2 · 32 layers · 8 heads · 128 · 2

# model, format, card, cards, cache, version, share of memory, tokens, where it is printed
PRINTED = [
    ("Llama 3.1 8B", "bf16", "H100 SXM", 1, None, NEW, 0.95, 476_000, CAMPAIGN),
    ("Llama 3.1 8B", "bf16", "H100 SXM", 1, "fp8", NEW, 0.95, 952_032, CAMPAIGN),
    ("Llama 3.1 8B", "fp8", "H100 SXM", 1, None, NEW, 0.95, 64.61 * GIB / TOKENS_8B, CAMPAIGN),
    # memory less printed weights, activations and the rest, of two and of four cards
    ("Llama 3.1 8B", "bf16", "H100 SXM", 2, None, NEW, 0.95, 2 * (75.23 - 7.51 - 1.89 - 2.07) * GIB / TOKENS_8B, CAMPAIGN),
    ("Llama 3.1 8B", "bf16", "H100 SXM", 4, None, NEW, 0.95, 4 * (75.23 - 3.77 - 1.89 - 2.13) * GIB / TOKENS_8B, CAMPAIGN),
    ("Qwen2.5-7B", "bf16", "H100 SXM", 1, None, NEW, 0.95, 1_096_000, CAMPAIGN),
    ("Qwen2.5-7B", "bf16", "H100 SXM", 1, "fp8", NEW, 0.95, 2_192_000, CAMPAIGN),
    ("Qwen2.5-7B", "bf16", "H100 SXM", 2, None, NEW, 0.95, 2 * (75.23 - 7.12 - 2.21 - 2.06) * GIB / 57_344, CAMPAIGN),
    ("Qwen2.5-7B", "bf16", "H100 SXM", 4, None, NEW, 0.95, 4 * (75.23 - 3.55 - 2.21 - 2.13) * GIB / 57_344, CAMPAIGN),
    ("Qwen3-14B", "bf16", "H100 SXM", 1, None, NEW, 0.95, 36.18 * 8192, CAMPAIGN),
    ("Qwen3-14B", "bf16", "H100 SXM", 1, None, MIDDLE, 0.95, 33.55 * 8192, CAMPAIGN),
    ("Llama 3 8B", "bf16", "H100 SXM", 1, None, OLD, 0.9, 53.29 * GIB / TOKENS_8B, "https://github.com/vllm-project/vllm/pull/10511"),
    ("Llama 2 7B", "bf16", "H100 SXM", 1, None, OLD, 0.9, 7191 * 16, "https://github.com/kubernetes-sigs/gateway-api-inference-extension/pull/550"),
    ("Llama 2 7B", "bf16", "A100 SXM 80GB", 1, None, OLD, 0.9, 7351 * 16, "https://github.com/vllm-project/vllm/pull/2031"),
    ("Qwen2.5-32B", "int4-awq", "RTX A6000", 1, None, OLD, 0.9, 22.74 * GIB / 262_144, "https://github.com/vllm-project/vllm/issues/10360"),
]  # fmt: skip


def set_up(engine: str, share: float) -> Catalog:
    """The shipped facts with the engine started as in the log: its share of memory, no limit on requests."""
    rows = [{**r, "memory_share": share, "max_sequences": float(ALL)} if r["engine"] == engine else r for r in shipped().rows("engines")]
    return Catalog({**shipped().tables, "engines": rows}, "as in the log")


@pytest.mark.parametrize("printed", PRINTED, ids=lambda p: f"{p[0]} {p[1]} on {p[3]}x {p[2]}, cache {p[4] or 'auto'}, {p[5]}")
def test_largest_batch_is_what_the_engine_printed(printed: tuple[str, str, str, int, str | None, str, float, float, str]) -> None:
    model, precision, card, cards, kv, engine, share, tokens, _ = printed
    options = {"engine": engine, "tp": cards, **({"kv": kv} if kv else {})}
    most = gx.batch_max(model, card, precision, CONTEXT, cards, options=options, catalog=set_up(engine, share))
    assert most * CONTEXT == pytest.approx(tokens, rel=0.05)
