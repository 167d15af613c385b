"""Questions for tests of plans, and their answers by the scalar functions one candidate at a time."""

from __future__ import annotations

from typing import Any

import gpuecon_xl as gx
from gpuecon_xl.catalog import shipped
from gpuecon_xl.planning.builds import Build, build_at
from gpuecon_xl.planning.question import ask
from gpuecon_xl.planning.search import Candidates, search
from gpuecon_xl.throughput import parse_options

CATALOG = shipped()
MODELS = ("Llama 3.1 8B", "Qwen3-32B", "Llama 3.3 70B", "gpt-oss-120b")
SMALL = "plan_cards_max=16"  # a smaller search, for speed


def found(model: str, users: float, tokens_in: float, tokens_out: float, options: str = SMALL, **more: Any) -> Candidates:
    """All candidates of a question."""
    names = {k: more.pop(k) for k in ("gpus", "precision", "kv", "engine") if k in more}
    return search(ask(CATALOG, model, users, tokens_in, tokens_out, more, options=parse_options(options, CATALOG), **names))


def by_functions(candidates: Candidates, build: Build) -> dict[str, float]:
    """A candidate's figures by `predict`, `cost_per_mtok`, `price_of` and the card's row."""
    q = candidates.question
    shared = {"tp": build.tp, "pp": build.pp, "kv": build.kv, "engine": q.engine["engine"]}
    p = gx.predict(q.model["model"], build.gpu, build.precision, batch=q.users, input_tokens=q.input_tokens, output_tokens=q.output_tokens,
                   gpus=build.gpus, **shared)  # fmt: skip
    options = {**shared, "input_tokens": q.input_tokens, "output_tokens": q.output_tokens}
    cost = gx.cost_per_mtok(q.model["model"], build.gpu, build.precision, q.users, q.input_tokens + q.output_tokens, build.gpus, options=options)
    card = CATALOG.find("gpus", build.gpu)
    tpot_ms = 1000 * p.admitted / p.output_tok_s
    return {
        "cost_eur_mtok": cost,
        "output_tok_s": p.output_tok_s,
        "ttft_ms": p.ttft_s * 1000,
        "tpot_ms": tpot_ms,
        "answer_s": p.ttft_s + q.output_tokens * tpot_ms / 1000,
        "batch_max": p.batch_max,
        "headroom": p.headroom,
        "power_w": card["tdp_w"] * build.gpus,
        "outlay_eur": (gx.price_of(build.gpu) + CATALOG.assumption("chassis_eur_gpu")) * build.gpus,
        "replicas": p.replicas,
    }


def breaks(candidates: Candidates, place: int, tolerance: float = 1e-9) -> list[str]:
    """Limits that a candidate breaks, judged from the scalar functions alone."""
    q, build = candidates.question, build_at(candidates, place)
    card, has = CATALOG.find("gpus", build.gpu), by_functions(candidates, build)
    out = []
    least = {"users": has["batch_max"], "headroom": has["headroom"]}
    most = {"ttft_ms": has["ttft_ms"], "tpot_ms": has["tpot_ms"], "max_w": has["power_w"], "max_cards": build.gpus, "budget": has["outlay_eur"],
            "slots": card["slots"] * build.gpus if card["slots"] else float("inf")}  # fmt: skip
    marks = {"ecc": card["ecc"] == "yes", "no_consumer": card["consumer"] != "yes", "datacenter": card["datacenter"] == "yes"}
    for code, bound in q.limits.items():
        if code in marks:
            broken = not marks[code]
        elif code in least:
            broken = least[code] < bound - tolerance * abs(bound)
        else:
            broken = most[code] > bound + tolerance * abs(bound)
        out += [code] if broken else []
    return out
