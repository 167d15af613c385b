"""What a person reads beside a function in a spreadsheet: one sentence for each function and for each argument.

Here: texts for function wizards, within Excel's limits, and the function that explains others. Not here: names, order and
defaults (`gpuecon_xl.functions_table`), labels of the workbook (``lang/``).
"""

from __future__ import annotations

from gpuecon_xl.functions_table import _DEFAULTS, FUNCTIONS, Function

LIMIT = 255  # Excel cuts longer texts of the function wizard
NAMES_LIMIT = 254  # from this sum of argument names and their count on, the wizard shows no argument texts

WHY = "GPUECON_WHY"
WHY_PURPOSE = "Every step behind an answer, or why there is none, as rows of quantity, value, unit and equation."
WHY_ARGUMENTS = ("function_name", *(f"argument_{i}" for i in range(1, max(len(f.arguments) for f in FUNCTIONS) + 1)))

_ARGUMENTS = {
    "model": "Name, alias or repository of a model",
    "gpu": "Name or alias of a card",
    "precision": "Number format of the weights, such as fp8; empty: the checkpoint's own",
    "batch": "Requests at once, whole build",
    "context": "Input and output tokens of a request",
    "gpus": "Cards, a whole number",
    "utilization": "Share of the time at work, 0.6 or 60 %; empty: the assumption",
    "price": "Net purchase price of one card, 0 for owned; empty: the catalogue's",
    "rate": "Rent per GPU-hour",
    "tok_s": "Tokens per second of the rented card",
    "price_in": "Price of a million input tokens",
    "price_out": "Price of a million output tokens",
    "share_out": "Share of all tokens that is output; empty: the assumption",
    "params_b": "Parameters of the model, billions",
    "own_cost_month": "Cost of owning in a month, in the currency of the API's price",
    "api": "Name of an API of the catalogue",
    "workload": "Name of a workload of the catalogue",
    "options": 'Text "tp=2; kv=fp8" or a range of two columns: any assumption, or tp, pp, kv, engine, mode, tok_s, case, currency and others',
    "catalog": "A whole table with its header row, such as Prices[#All]; empty: the shipped catalogue",
}


def purpose(function: Function) -> str:
    """What a function answers, in a sentence."""
    from gpuecon_xl.lang import load  # 20 ms that a call need not wait for

    return load("en")(f"function.{function.name}")[:LIMIT]


def argument_text(function: Function, argument: str) -> str:
    """What an argument of a function means, with its default."""
    text = _ARGUMENTS[argument]
    default = dict(function.defaults).get(argument, _DEFAULTS.get(argument, ""))
    optional = function.arguments.index(argument) >= function.required
    if optional and default:
        text = f"{text.partition('; empty')[0]}; empty: {default}"
    return text[:LIMIT]


def why_text(argument: str) -> str:
    """What an argument of the explaining function means."""
    if argument == WHY_ARGUMENTS[0]:
        return 'Name of the function to explain, such as "COST_PER_MTOK"'
    return f"Argument {argument.rpartition('_')[2]} of that function, one cell"
