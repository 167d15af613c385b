"""The table of functions: name, category, arguments, units, examples; every carrier and help page is made from it.

Here: metadata only. Not here: what the functions do (`functions`), their texts in three languages (``lang/``).
"""

from __future__ import annotations

from dataclasses import dataclass

CATEGORY = "GPU economics"

_DEFAULTS = {"precision": "", "batch": "1", "context": "4096", "gpus": "1", "utilization": "", "price": "", "options": "", "catalog": ""}


# Arguments that are names; all others but options and catalog are numbers. `api` may be a blended price too.
NAME_ARGUMENTS = frozenset(("model", "gpu", "precision", "workload", "api", "function"))


@dataclass(frozen=True)
class Function:
    """A function in the cell: arguments in order; those with a default are optional."""

    name: str
    arguments: tuple[str, ...]
    required: int
    unit: str
    example: str
    defaults: tuple[tuple[str, str], ...] = ()

    @property
    def excel(self) -> str:
        """Its name in the cell."""
        return self.name.upper()

    @property
    def signature(self) -> str:
        """Arguments as a person reads them; optional ones in brackets with their default."""
        own = dict(self.defaults)
        parts = []
        for i, a in enumerate(self.arguments):
            default = own.get(a, _DEFAULTS.get(a, ""))
            parts.append(a if i < self.required else f"[{a}{'=' + default if default else ''}]")
        return "; ".join(parts)


_LOAD = ("model", "gpu", "precision", "batch", "context", "gpus", "options", "catalog")


def cell_name(function: str, flavour: str) -> str:
    """How a file of a flavour spells a function: TOKPS, _xldudf_TOKPS or GPUECON.TOKPS.

    LibreOffice's interface language allows no underscore in a method, so COST_PER_MTOK is GPUECON.COSTPERMTOK there.
    """
    upper = function.upper()
    if flavour == "lite":
        return f"_xldudf_{upper}"
    if flavour == "libreoffice":
        return f"GPUECON.{upper.replace('_', '')}"
    return upper


FUNCTIONS: tuple[Function, ...] = (
    Function("tokps", _LOAD, 2, "token/s", '=TOKPS("Llama 3.1 8B","RTX 5090","fp8",8)'),
    Function("fits", _LOAD, 2, "text", '=FITS("Llama 3.3 70B","RTX 5090","fp8")'),
    Function("tco3y", ("gpu", "gpus", "utilization", "price", "options", "catalog"), 1, "EUR", '=TCO3Y("RTX 5090",4)'),
    Function(
        "cost_per_mtok",
        ("model", "gpu", "precision", "batch", "context", "gpus", "utilization", "price", "options", "catalog"),
        2,
        "EUR/1e6 output tokens",
        '=COST_PER_MTOK("Llama 3 8B","L4","fp8",64,4096,1,0.6,2704,"tok_s=650")',
        (("batch", "32"),),
    ),
    Function(
        "breakeven_util",
        ("model", "gpu", "rate", "precision", "batch", "context", "gpus", "price", "options", "catalog"),
        3,
        "1",
        '=BREAKEVEN_UTIL("Llama 3.3 70B","RTX PRO 6000 Server",1.8,"fp8",32,4096,1,9349,"rel=0.65")',
        (("batch", "32"),),
    ),
    Function("rent3y", ("rate", "options", "catalog"), 1, "EUR or USD, as the rate", "=RENT3Y(1.8)"),
    Function("rent_per_mtok", ("rate", "tok_s"), 2, "per 1e6 tokens", "=RENT_PER_MTOK(0.481,2800)"),
    Function("blended_price", ("price_in", "price_out", "share_out", "catalog"), 2, "per 1e6 tokens (in and out)", "=BLENDED_PRICE(2,10,0.3)"),
    Function("breakeven_batch", ("model", "gpu", "precision", "catalog"), 2, "sequence", '=BREAKEVEN_BATCH("Qwen3-32B","RTX PRO 6000","fp8")'),
    Function(
        "token_yield_month",
        ("model", "gpu", "precision", "utilization", "options", "catalog"),
        2,
        "token/month",
        '=TOKEN_YIELD_MONTH("Qwen3-30B-A3B","RTX PRO 6000","fp8",0.7)',
    ),
    Function("own_cost_month", ("gpu", "price", "utilization", "options", "catalog"), 1, "EUR/month", '=OWN_COST_MONTH("RTX PRO 6000",8500,0.7)'),
    Function("vram_rule_gb", ("params_b", "precision", "catalog"), 1, "GB", '=VRAM_RULE_GB(70,"int4")', (("precision", "fp16"),)),
    Function("weights_class", ("model", "gpu", "precision", "gpus", "catalog"), 2, "text", '=WEIGHTS_CLASS("gpt-oss-120b","H100 SXM","fp8")'),
    Function("price_of", ("gpu", "options", "catalog"), 1, "EUR", '=PRICE_OF("RTX 5090")'),
    Function(
        "batch_max", ("model", "gpu", "precision", "context", "gpus", "options", "catalog"), 2, "sequence", '=BATCH_MAX("Llama 3.1 8B","L40S","fp8")'
    ),
    Function("tok_s_user", _LOAD, 2, "token/s", '=TOK_S_USER("Llama 3.3 70B","RTX PRO 6000 Server","fp8",32)'),
    Function(
        "memory_need_gb", ("model", "precision", "batch", "context", "options", "catalog"), 1, "GB", '=MEMORY_NEED_GB("Llama 3.3 70B","fp8",32)'
    ),
    Function("breakeven_tokens", ("own_cost_month", "api", "options", "catalog"), 2, "token/month", '=BREAKEVEN_TOKENS(502,"GPT-6 Luna")'),
    Function("recommend", ("workload", "options", "catalog"), 1, "text", '=RECOMMEND("8B chat")'),
    Function("gpu_list", ("catalog",), 0, "text", "=GPU_LIST()"),
    Function("model_list", ("catalog",), 0, "text", "=MODEL_LIST()"),
    Function("precision_list", ("catalog",), 0, "text", "=PRECISION_LIST()"),
)

BY_NAME: dict[str, Function] = {f.name: f for f in FUNCTIONS}
