"""Calls from cells as a carrier sees them: every function, every kind of content that a cell can have.

A call is the function and its arguments in order; a list of lists is a range, None an empty cell or a missing argument, an
error value its text. The same list serves every carrier.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

Call = tuple[str, list[Any]]

SERIAL = float((dt.date(2026, 3, 31) - dt.date(1899, 12, 30)).days)  # a date where no cell says that it is one
L8, L70, R5, PRO = "Llama 3.1 8B", "Llama 3.3 70B", "RTX 5090", "RTX PRO 6000 Server"
PRICES = [
    ["gpu", "low", "typical", "high", "currency", "source", "as_of"],
    [R5, 2000, 2500, 3000, "EUR", "a quote", "2026-10-01"],
    ["L4", 2000, 2400, 3000, "EUR", "a quote", "2026-10-01"],
    [None, None, "", None, None, None, None],
]
DATED = [PRICES[0], [*PRICES[1][:-1], SERIAL]]  # a range hands dates over as numbers
OPTIONS = [["pue", 1.2], ["utilization", 0.5], [None, None]]


def calls() -> list[Call]:
    """The calls, in an order that does not matter."""
    out: list[Call] = []

    def add(function: str, *arguments: list[Any]) -> None:
        out.extend((function, a) for a in arguments)

    # numbers, and what counts as one
    add(
        "tco3y", [R5], [R5, 1], [R5, 4], [R5, 1.0], [R5, 1, 0.6], [R5, 1, 0], [R5, 1, 1], [R5, 1, "60 %"], [R5, 1, "60%"], [R5, 1, "0,6"],
        [R5, 1, "0.6"], [R5, 1, " 0.6 "], [R5, 1, "60\u00a0%"], [R5, 1, None, 2800], [R5, 1, None, "2800"], [R5, 1, None, 0],
        [R5, None, None, 2500.5],
        [R5, "", "", ""], [R5, " ", None, "  "], [R5, 1, 0.6, 2800, "pue=1.2"], [R5, 1, None, None, "pue=1.2; utilization=0.5"],
        [R5, 1, None, None, OPTIONS], [R5, 1, None, None, [["pue", 1.2]]], [R5, 1, None, None, [["pue=1.2"]]],
        [R5, 1, None, None, [[None, None]]],
        [R5, 1, None, None, None, PRICES], [R5, 1, None, None, "case=high", PRICES], ["L40", 1, None, None, None, PRICES],
        [R5, 1, None, None, None, DATED],
        [R5, 1, None, None, "currency=USD"], [R5, 1, None, SERIAL],
    )  # fmt: skip
    # refused: what is no number, no name, no option, no table
    add(
        "tco3y", [], [None], [""], ["   "], ["RTX 9999"], ["#N/A"], ["#REF!"], [True], [R5, True], [R5, False], [R5, 1.5],
        [R5, 0], [R5, -1], [R5, "abc"],
        [R5, 1, 1.5], [R5, 1, -0.1], [R5, 1, "#DIV/0!"], [R5, 1, "2.800"], [R5, 1, None, "2,800"], [R5, 1, None, -5], [R5, 1, 1e300, 1e308],
        [R5, 1, None, 1e308], [R5, 1, None, None, "puw=1.2"], [R5, 1, None, None, "pue"], [R5, 1, 0.6, None, "utilization=0.5"],
        [R5, 1, None, None, [["pue", 1.2, 3]]], [R5, 1, None, None, [["pue", True]]], [R5, 1, None, None, [["pue", "#N/A"]]],
        [R5, 1, None, None, None, [["Prices"]]], [R5, 1, None, None, None, [["a", "b"], [1, 2]]],
        [R5, 1, None, None, None, [["gpu", "typical"], [R5, "x"]]],
        [R5, 1, None, None, None, [["gpu", "typical"]]], [R5, 1, None, None, 5],
    )  # fmt: skip
    # names: blanks, case, dashes, aliases, numbers
    add(
        "tco3y", ["rtx 5090"], ["  RTX 5090  "], ["rtx5090"], ["rtx-5090"], [5090], [5090.0], ["NVIDIA GeForce RTX 5090"], ["l4"],
    )  # fmt: skip
    add(
        "tokps", [L8, R5], [L8, R5, "fp8"], [L8, R5, "FP8", 8], [L8, R5, "fp8", 8, 4096, 1], [L8, R5, "fp8", "8"],
        ["llama-3.1-8b", "rtx5090", " fp8 "],
        ["meta-llama/Llama-3.1-8B-Instruct", R5], [L8, R5, None, 1.5], [L8, R5, "fp8", 32, 8192, 2], [L8, R5, "fp8", 32, 8192, 2, "tp=2"],
        [L8, R5, "fp8", 32, 8192, 2, "kv=fp8"], [L8, R5, "fp8", 1, 4096, 1, "engine=vLLM"], [L8, R5, "fp8", 1, 4096, 1, "mode=ceiling"],
        [L8, R5, "fp8", 1, 4096, 1, [["tok_s", 650]]], [L8, R5, "fp8", 1, 4096, 1, "input_tokens=3000; output_tokens=500"],
        [L8, R5, "fp8", 0], [L8, R5, "fp8", 1, 0], [L8, R5, "fp8", 1, 10_000_000], [L8, R5, "fp9"], ["Lama 9", R5], ["Llama 3.1 405B", R5],
        [L8, R5, "fp8", 1, 4096, 1, "engine=llamacpp9"], [L8, R5, "fp8", 1, 4096, 3, "tp=2"], [L8, R5, "fp8", True], [None, R5], [L8, None],
        [L8, R5, "fp8", "#VALUE!"], [L8, R5, "fp8", 1, 4096, 1, None, None, "too many"],
    )  # fmt: skip
    # ranges: one cell, column, row, block, blanks, refused elements, sizes that do not fit, many cells
    cards = [[R5], ["L4"], [None], ["RTX 9999"], ["L40"]]
    add(
        "tco3y", [[[R5]]], [[[R5]], [[2]]], [[[R5, "L4"]]], [[[R5], ["L4"]]], [cards], [cards, 2], [cards, [[1], [2], [3], [4], [True]]],
        [[[R5, "L4"]], [[1], [2]]], [[[R5], ["L4"]], [[1], [2], [3]]], [[[R5], ["L4"]], 1, "60 %", None, "pue=1.2", PRICES],
        [[[None], [""]]],
        [[["#N/A"], [R5]]], [R5, [[1, 2], ["", "x"]]], [[[R5]] * 250, [[1 + i % 8] for i in range(250)]],
    )  # fmt: skip
    add(
        "fits",
        [L70, R5, "fp8"],
        [L70, PRO, "fp8"],
        [L8, R5, "fp8", 8],
        [[[L8], [L70], [None]], R5, "fp8"],
        [L8, [[R5, "L4"]], "fp8", 1, 4096, 1, "kv=fp8"],
    )
    add("tokps", [[[L8], ["Lama"], [""]], [[R5, "L4"]], "fp8", 8], [L8, R5, "fp8", [[1 + i] for i in range(210)]])
    # the other functions
    add("cost_per_mtok", ["Llama 3 8B", "L4", "fp8", 64, 4096, 1, 0.6, 2704, "tok_s=650"], [L8, R5, "fp8"],
        [L8, R5, "fp8", 32, 4096, 1, 0], [L8, R5, "fp8", 32, 4096, 1, "60 %"],
        [[[L8]], [[R5], ["L4"]], "fp8"], [L8, R5, "fp8", 32, 4096, 1, None, None, None, PRICES])  # fmt: skip
    add("breakeven_util", [L70, PRO, 1.8, "fp8", 32, 4096, 1, 9349, "rel=0.65"], [L8, R5, 0.1, "fp8"], [L8, R5, 0.6, "fp8"],
        [L8, R5, 0, "fp8"], [L8, R5, None],
        [L8, R5, [[0.1], [0.6], [-1]], "fp8"], [L8, R5, 0.6, "fp8", 32, 4096, 1, None, "rent_gpu=L4; rel=1"])  # fmt: skip
    add("rent3y", [1.8], ["1,8"], [0], [[[1.8], [0.5], [None]]], [1.8, "horizon_years=2"])
    add("rent_per_mtok", [0.481, 2800], [0.481, 0], [0.481], [[[0.4], [0.5]], [[1000, 2000]]])
    add("blended_price", [2, 10, 0.3], [2, 10], [2, 10, 2], [0, 0, 0.3])
    add("breakeven_batch", ["Qwen3-32B", "RTX PRO 6000", "fp8"], ["Qwen3-32B", "RTX PRO 6000"])
    add("token_yield_month", ["Qwen3-30B-A3B", "RTX PRO 6000", "fp8", 0.7], [L8, R5, "fp8", None, "mode=ceiling; kv_reads=0"])
    add("own_cost_month", ["RTX PRO 6000", 8500, 0.7], ["RTX PRO 6000"])
    add("vram_rule_gb", [70, "int4"], [70], [70, "fp8"], [[[8], [70]], [["fp16", "int4"]]])
    add("weights_class", ["gpt-oss-120b", "H100 SXM", "fp8"], [L70, R5], [L70, R5, "fp8", 4])
    add("price_of", [R5], [R5, "case=low"], [R5, None, PRICES], ["H100 SXM"])
    add("batch_max", [L8, "L40S", "fp8"], ["Llama 3.1 405B", R5, "fp8"])
    add("tok_s_user", [L70, PRO, "fp8", 32], [L8, R5, "fp8", 8, 4096, 2, "tp=2"])
    add("memory_need_gb", [L70, "fp8", 32], [L8])
    add("breakeven_tokens", [502, "GPT-6 Luna"], [502, 3.5], [502, "no such API"])
    add("recommend", ["8B chat"], [[["8B chat"], ["no such workload"], [None]]])
    add("gpu_list", [], [None])
    add("model_list", [])
    add("precision_list", [])
    # the steps behind an answer
    add("gpuecon_why", ["TCO3Y", R5], ["tco3y", R5, 4, "60 %"], ["tokps", L8, R5, "fp8", 8], ["FITS", L8, R5],
        ["cost_per_mtok", L8, R5, "fp8"],
        ["BREAKEVEN_UTIL", L70, PRO, 1.8, "fp8", 32, 4096, 1, 9349, "rel=0.65"], ["tco3y", R5, 1, None, None, OPTIONS],
        ["tco3y", R5, 1, None, None, None, PRICES],
        [], [None], ["rent3y", 1.8], ["nonsense"], ["tco3y"], ["tco3y", "RTX 9999"], ["tco3y", [[R5], ["L4"]]], ["tco3y", [[R5]]],
        ["tco3y", R5, 1, None, None, None, None, None, None, None], ["tco3y", R5, 1, None, None, None, None, "too many"])  # fmt: skip
    return out
