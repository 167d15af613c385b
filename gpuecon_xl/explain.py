"""How a figure came about: every intermediate quantity of a function's answer, with value, unit and equation.

Here: the steps behind `tokps`, `fits`, `tco3y`, `cost_per_mtok` and `breakeven_util`. Not here: the equations themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuecon_xl import functions, graph, money, throughput
from gpuecon_xl.errors import NameNotFound, nearest
from gpuecon_xl.functions import _OTHER, _Call, _mean_use, _price, _tokens, _tokps_call
from gpuecon_xl.quantity import REGISTRY

Step = tuple[str, Any, str, str]

EXPLAINED = ("tokps", "fits", "tco3y", "cost_per_mtok", "breakeven_util")


def steps(outputs: tuple[str, ...], given: Mapping[str, Any]) -> list[Step]:
    """Quantities behind `outputs`, each after those that it needs: name, value, unit, equation."""
    known = dict(given)
    out: list[Step] = []
    for q in graph.order(outputs, tuple(given)):
        known[q.name] = q.function(*(known[p] for p in q.parameters))
        out.append((q.name, known[q.name], q.unit, q.equation))
    return out


def why(function: str, **arguments: Any) -> list[Step]:
    """Steps of a function's answer; the last one is the answer.

    Raises
    ------
    As the function itself; NameNotFound for a function that is not explained.
    """
    wanted = function.strip().lower()
    if wanted not in EXPLAINED:
        raise NameNotFound(f"function {function[:40]!r} is not explained; nearest: {nearest(wanted, [f.upper() for f in EXPLAINED])}")
    answer = getattr(functions, wanted)(**arguments)  # refuses what must be refused
    call = _Call(arguments.get("options"), arguments.get("catalog"))
    out: list[Step] = []
    if wanted in ("tokps", "fits", "cost_per_mtok") and call.get("tok_s") is None:
        case = call.get("case", "typical")
        end = _OTHER[case] if wanted == "cost_per_mtok" else case
        output = "output_tok_s" if end == "typical" else f"output_tok_s_{end}"
        out += _throughput(call, arguments, "headroom" if wanted == "fits" else output, 32 if wanted == "cost_per_mtok" else 1)
    if wanted in ("tco3y", "cost_per_mtok", "breakeven_util"):
        out += _money(call, arguments, wanted)
    if wanted == "breakeven_util":
        out.append(("rate", arguments["rate"], "per GPU-hour", "given"))
    out.append((wanted, answer, UNITS[wanted], "the answer"))
    if call.get("currency") == "USD":  # the equations are the same, their money is that of the call
        out = [(n, v, unit.replace("EUR", "USD"), e) for n, v, unit, e in out]
    return out


UNITS = {"tokps": "token/s", "fits": "text", "tco3y": "EUR", "cost_per_mtok": "EUR/1e6 output tokens", "breakeven_util": "1"}


def _throughput(call: _Call, arguments: Mapping[str, Any], output: str, batch: float) -> list[Step]:
    s = functions._setup(call, arguments["model"], arguments["gpu"], arguments.get("precision"))
    count, tp, pp = throughput.check_layout(arguments.get("gpus", 1), call.get("tp"), call.get("pp"))
    tokens_in, tokens_out = _tokens(call, arguments.get("context", 4096))
    asked = arguments.get("batch", batch)
    best = throughput.best_layout(s, asked, tokens_in, tokens_out, count, tp, pp)
    t, p = (best[2], best[3]) if best else (tp or 1, pp)
    load = {"batch": asked, "input_tokens": tokens_in, "output_tokens": tokens_out, "gpus": count, "tp": t, "pp": p}
    facts: list[Step] = [
        ("model", s.model["model"], "", str(s.model["source"])),
        ("gpu", s.gpu["gpu"], "", str(s.gpu["source"])),
        ("precision", s.precision["precision"], "", str(s.precision["source"])),
        ("engine", s.engine["engine"], "", str(s.engine["source"])),
        *((k, v, "", "given" if k not in ("tp", "pp") else "layout") for k, v in load.items()),
    ]
    return facts + steps((output,), {**s.values, **load})


def _money(call: _Call, arguments: Mapping[str, Any], wanted: str) -> list[Step]:
    card = call.catalog.find("gpus", arguments["gpu"])
    currency = call.get("currency", "EUR")
    values = money.tco_values(call.catalog, call.options, currency)
    price = _price(call, card, arguments.get("price"), currency)
    use = _mean_use(call, arguments.get("utilization"), wanted == "cost_per_mtok")
    given = {**values, "price_eur": price, "tdp_w": card["tdp_w"], "utilization": use}
    facts: list[Step] = [("price", price, currency, "given" if arguments.get("price") is not None else _source(call, card))]
    facts += [(k, v, _unit(call, k), "assumption or option") for k, v in given.items() if k not in ("price_eur",)]
    if wanted == "tco3y":
        return facts + steps(("tco_eur",), given)
    if wanted == "breakeven_util":
        return facts + steps(("tco_fixed_eur", "tco_per_use_eur", "horizon_h"), given)
    precision, batch, context, gpus = (arguments.get(k, d) for k, d in (("precision", None), ("batch", 32), ("context", 4096), ("gpus", 1)))
    end = _OTHER[call.get("case", "typical")]
    tok_s = _tokps_call(call, arguments["model"], arguments["gpu"], precision, batch, context, gpus, end)
    return facts + steps(("cost_eur_mtok",), {**given, "output_tok_s": tok_s, "gpus": gpus})


def _source(call: _Call, card: Mapping[str, Any]) -> str:
    row = call.catalog.find("prices", card["gpu"])
    return f"{row['source']}, {row['as_of']}"


def _unit(call: _Call, name: str) -> str:
    for row in call.catalog.rows("assumptions"):
        if row["name"] == name:
            return str(row["unit"] or "")
    return REGISTRY[name].unit if name in REGISTRY else ""
