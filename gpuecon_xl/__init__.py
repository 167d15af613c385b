"""Economics of LLM inference on GPUs: throughput, memory fit, total cost, cost per million tokens, break-even.

Here: the public names. They load when first used, so that ``import gpuecon_xl`` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpuecon_xl.cashflow import CashFlow, cash_flow
    from gpuecon_xl.catalog import Catalog, load_catalog
    from gpuecon_xl.errors import BadFile, BadValue, GpueconError, NameNotFound
    from gpuecon_xl.functions import (
        batch_max,
        blended_price,
        breakeven_batch,
        breakeven_tokens,
        breakeven_util,
        cost_per_mtok,
        fits,
        gpu_list,
        memory_need_gb,
        model_list,
        own_cost_month,
        plan,
        precision_list,
        predict,
        price_of,
        recommend,
        rent3y,
        rent_per_mtok,
        tco3y,
        tok_s_user,
        token_yield_month,
        tokps,
        vram_rule_gb,
        weights_class,
    )
    from gpuecon_xl.montecarlo.draw import Risk, risk
    from gpuecon_xl.planning.answer import Plan
    from gpuecon_xl.throughput import Prediction
    from gpuecon_xl.variance.attribution import Variance, diff_books

__version__ = "0.1.0"

_WHERE = {
    "Catalog": "catalog", "load_catalog": "catalog", "Prediction": "throughput", "Plan": "planning.answer",
    **dict.fromkeys(("CashFlow", "cash_flow"), "cashflow"), **dict.fromkeys(("Risk", "risk"), "montecarlo.draw"),
    **dict.fromkeys(("Variance", "diff_books"), "variance.attribution"),
    **dict.fromkeys(("GpueconError", "NameNotFound", "BadValue", "BadFile"), "errors"),
    **dict.fromkeys(
        ("tokps", "fits", "tco3y", "cost_per_mtok", "breakeven_util", "predict", "rent3y", "rent_per_mtok",
         "blended_price", "breakeven_batch", "token_yield_month", "own_cost_month", "vram_rule_gb", "weights_class",
         "price_of", "batch_max", "tok_s_user", "memory_need_gb", "breakeven_tokens", "recommend", "plan", "gpu_list", "model_list",
         "precision_list"), "functions"),
}  # fmt: skip

__all__ = [
    "BadFile", "BadValue", "CashFlow", "Catalog", "GpueconError", "NameNotFound", "Plan", "Prediction", "Risk", "Variance", "batch_max",
    "blended_price", "breakeven_batch", "breakeven_tokens", "breakeven_util", "cash_flow", "cost_per_mtok", "diff_books", "fits", "gpu_list",
    "load_catalog", "memory_need_gb", "model_list", "own_cost_month", "plan", "precision_list", "predict", "price_of", "recommend", "rent3y",
    "rent_per_mtok", "risk", "tco3y", "tok_s_user", "token_yield_month", "tokps", "vram_rule_gb", "weights_class",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    where = _WHERE.get(name)
    if where is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"gpuecon_xl.{where}"), name)
    globals()[name] = value
    return value
