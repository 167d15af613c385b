"""The plan: its figures are those of the scalar functions, nothing on its lists breaks a limit, every loser is explained."""

from __future__ import annotations

import math
import random
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from plan_parts import CATALOG, MODELS, SMALL, breaks, by_functions, found

import gpuecon_xl as gx
from gpuecon_xl.errors import BadValue
from gpuecon_xl.planning.answer import AXES, Plan, pareto
from gpuecon_xl.planning.builds import build_at
from gpuecon_xl.planning.question import LIMITS, vendors_of
from gpuecon_xl.throughput import ENGINE_FAMILIES

NUMBERS = {"ttft_ms": (60, 5000), "tpot_ms": (15, 400), "slots": (2, 32), "max_w": (300, 20_000), "max_cards": (2, 16), "budget": (3000, 500_000)}
WHOLE = ("slots", "max_cards")
MARKS = ("ecc", "no_consumer", "datacenter")


@st.composite
def questions(draw: st.DrawFn) -> dict[str, Any]:
    """A model, a load and some limits."""
    limits: dict[str, Any] = {}
    for code, (low, high) in NUMBERS.items():
        if draw(st.integers(0, 3)) == 0:
            value = low * (high / low) ** draw(st.floats(0, 1))
            limits[code] = float(round(value)) if code in WHOLE else value
    for code in MARKS:
        if draw(st.integers(0, 7)) == 0:
            limits[code] = True
    return {
        "model": draw(st.sampled_from(MODELS)),
        "users": draw(st.integers(1, 150)),
        "tokens_in": draw(st.integers(16, 6000)),
        "tokens_out": draw(st.integers(16, 1500)),
        **limits,
    }


def answered(question: dict[str, Any]) -> Plan | None:
    try:
        return Plan(found(**question))
    except BadValue as refusal:
        if "within the limits" not in str(refusal):
            raise
        return None


SOME = settings(
    max_examples=25, deadline=None, database=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


@SOME
@given(questions(), st.randoms(use_true_random=False))
def test_nothing_on_the_lists_breaks_a_limit(question: dict[str, Any], rnd: random.Random) -> None:
    plan = answered(question)
    assume(plan is not None)
    assert plan is not None
    c = plan.candidates
    shown = [e.build.place for e in plan.front] + [e.build.place for e in plan.best_of_each if e.rank]
    for place in {plan.winner.place, *rnd.sample(shown, min(6, len(shown))), *rnd.sample(plan.ranked.tolist(), min(4, len(plan.ranked)))}:
        assert breaks(c, place) == []
    for limit in LIMITS:  # and all of them, by the columns
        if limit.code in plan.question.limits:
            values, bound = c.bounded(limit.column)[plan.ranked], plan.question.limits[limit.code]
            kept = {"most": values <= bound, "least": values >= bound, "yes": values == 1, "no": values == 0}[limit.kind]
            assert kept.all(), limit.code


@SOME
@given(questions())
def test_the_winner_is_what_the_functions_say(question: dict[str, Any]) -> None:
    plan = answered(question)
    assume(plan is not None)
    assert plan is not None
    own = by_functions(plan.candidates, plan.winner)
    for name, value in own.items():
        assert getattr(plan.winner, name) == pytest.approx(value, rel=1e-9, abs=1e-12), name
    for name, (in_search, by_function) in plan.recheck().items():
        assert in_search == pytest.approx(by_function, rel=1e-9, abs=1e-12), name
        assert by_function == pytest.approx(own[name], rel=1e-12, abs=1e-12), name


@SOME
@given(questions(), st.data())
def test_relaxing_a_limit_never_makes_the_winner_dearer(question: dict[str, Any], data: st.DataObject) -> None:
    plan = answered(question)
    assume(plan is not None)
    assert plan is not None
    codes = [k for k in question if k in NUMBERS or k in MARKS]
    wider = dict(question)
    for code in codes:
        if data.draw(st.booleans()):
            if code in MARKS or (code != "max_cards" and data.draw(st.booleans())):
                del wider[code]
            else:
                wider[code] = min(math.ceil(question[code] * 1.5), 512) if code in WHOLE else question[code] * 1.5
    other = answered(wider)
    assert other is not None
    assert other.winner.cost_eur_mtok <= plan.winner.cost_eur_mtok * (1 + 1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_any_candidate_is_what_the_functions_say(model: str) -> None:
    """Also those that break limits, as long as one request fits."""
    c = found(model, 48, 1024, 256, "", tpot_ms=30)
    places = np.nonzero(c.columns["batch_max"] >= 1)[0].tolist()
    for place in random.Random(model).sample(places, 60):
        build = build_at(c, place)
        for name, value in by_functions(c, build).items():
            assert getattr(build, name) == pytest.approx(value, rel=1e-9, abs=1e-12), (build.named(), name)
        assert sorted(breaks(c, place)) == sorted(code for code, over in c.excess.items() if over[place] > 0)


def test_no_candidate_holds_a_request_where_the_functions_refuse() -> None:
    c = found("Llama 3.3 70B", 8, 1024, 256, "", gpus="L4,RTX 5090,H100 SXM", precision="bf16,fp8", kv="fp16")
    none = np.nonzero(c.columns["batch_max"] < 1)[0].tolist()
    assert none
    for place in random.Random(1).sample(none, 20):
        b = build_at(c, place)
        with pytest.raises(ValueError, match="does not fit"):
            gx.predict("Llama 3.3 70B", b.gpu, b.precision, batch=8, input_tokens=1024, output_tokens=256, gpus=b.gpus, tp=b.tp, pp=b.pp, kv=b.kv)


def test_candidates_are_all_and_each_once() -> None:
    c = found("Llama 3.1 8B", 8, 1024, 256, gpus="L4,L40S", precision="fp8,bf16", kv="fp16,fp8")
    builds = [build_at(c, i) for i in range(len(c))]
    got = {(b.gpu, b.precision, b.kv, b.tp, b.pp, b.gpus) for b in builds}
    assert len(got) == len(builds)
    groups = [(t, p) for t in (1, 2, 4, 8, 16) for p in range(1, 17) if t * p <= 16]  # 32 heads
    want = {(g, w, k, t, p, t * p * n) for g in ("L4", "L40S") for w in ("fp8", "bf16") for k in ("fp16", "fp8") for t, p in groups
            for n in range(1, 16 // (t * p) + 1)}  # fmt: skip
    assert got == want
    assert all(b.gpus == b.tp * b.pp * b.replicas for b in builds)


# ------------------------------------------------------------------------------------------------ front and reasons


def beaten(a: Any, b: Any) -> bool:
    """Whether `b` is at least as good as `a` in everything."""
    return all(round(getattr(b, x), 9) <= round(getattr(a, x), 9) for x in AXES)


@given(st.lists(st.tuples(*[st.integers(0, 6)] * 3), min_size=1, max_size=40))
@settings(max_examples=200, deadline=None, database=None, derandomize=True)
def test_pareto_by_brute_force(points: list[tuple[int, int, int]]) -> None:
    points = sorted(points)
    front, beaten_by = pareto([np.array(column, dtype=float) for column in zip(*points, strict=True)])
    best = {p for p in points if not any(all(x <= y for x, y in zip(o, p, strict=True)) and o != p for o in points)}
    assert {points[i] for i in front} == best
    assert len(front) == len(best)
    for i, by in enumerate(beaten_by.tolist()):
        assert (by == -1) == (i in front)
        if by >= 0:
            assert by in front
            assert all(x <= y for x, y in zip(points[by], points[i], strict=True))


@pytest.fixture(scope="module")
def plan() -> Plan:
    return Plan(found("Llama 3.3 70B", 64, 1024, 256, "", tpot_ms=60, ecc=True, slots=16))


def test_every_candidate_has_its_reason(plan: Plan) -> None:
    """A winner, a front that nothing beats, losers that a named build beats, and broken limits with their size."""
    c = plan.candidates
    kinds = {"winner": 0, "front": 0, "dominated": 0, "limits": 0}
    front = {e.build.place for e in plan.front}
    for place in [*front, *random.Random(5).sample(range(len(c)), 400), *random.Random(6).sample(plan.ranked.tolist(), 200)]:
        mine, reason = build_at(c, place), plan.reason(place)
        kinds[reason.code] += 1
        if reason.code == "limits":
            named = {b.code for b in reason.broken}
            over = {code: float(x[place]) for code, x in c.excess.items() if x[place] > 0}
            assert named == set(over) - ({"headroom"} if "users" in over else set())
            for b in reason.broken:
                assert b.excess == over[b.code] > 0
                if b.code in ("tpot_ms", "max_cards", "slots") and math.isfinite(b.value):
                    assert b.value / b.bound - 1 == pytest.approx(b.excess)
            continue
        assert breaks(c, place) == []
        assert (reason.code in ("winner", "front")) == (place in front)
        if reason.code == "dominated":
            assert reason.by is not None
            assert reason.by.place in front
            assert beaten(mine, reason.by)
            assert mine.cost_eur_mtok == pytest.approx(reason.by.cost_eur_mtok * (1 + reason.cost))
        elif reason.code == "front":
            assert reason.by == plan.winner
            assert not any(beaten(mine, o.build) for o in plan.front if o.build.place != place)
    assert all(kinds.values()), kinds


def test_the_best_of_each_is_the_best(plan: Plan) -> None:
    c, q = plan.candidates, plan.question
    groups: dict[tuple[str, str], list[int]] = {}
    for combo, (card, precision, _) in enumerate(c.combos):
        key = (str(q.cards[card]["gpu"]), str(q.precisions[precision]["precision"]))
        groups.setdefault(key, []).extend(range(combo * c.shape[1], (combo + 1) * c.shape[1]))
    entries = {(e.build.gpu, e.build.precision): e for e in plan.best_of_each}
    assert entries.keys() == groups.keys()
    rank = plan.rank
    for key, places in groups.items():
        ranks = rank[places]
        best = int(ranks[ranks > 0].min()) if (ranks > 0).any() else 0
        assert entries[key].rank == best, key
    ranks = [e.rank for e in plan.best_of_each]
    kept = [r for r in ranks if r]
    assert kept == sorted(kept)
    assert ranks == [*kept, *[0] * (len(ranks) - len(kept))]
    assert plan.best_of_each[0].build == plan.winner


def test_steps_end_in_the_winners_figures(plan: Plan) -> None:
    values = {name: value for name, value, _, _ in plan.steps()}
    for name in (*AXES, "outlay_eur", "headroom", "batch_max", "tpot_ms", "output_tok_s"):
        assert values[name] == pytest.approx(getattr(plan.winner, name), rel=1e-12), name


def test_more_users_cost_no_cards_less(plan: Plan) -> None:
    """What a limit does shows: fewer slots leave fewer candidates."""
    fewer = Plan(found("Llama 3.3 70B", 64, 1024, 256, "", tpot_ms=60, ecc=True, slots=8))
    assert len(fewer.ranked) < len(plan.ranked)
    assert fewer.broken_counts["slots"] > plan.broken_counts["slots"]
    assert fewer.broken_counts["ecc"] == plan.broken_counts["ecc"]


# ------------------------------------------------------------------------------------------------ what may be chosen


def test_cards_without_price_or_sale_are_left_out_and_named(plan: Plan) -> None:
    left = dict(plan.question.left_out)
    priced = {r["gpu"] for r in CATALOG.rows("prices") if r["typical"] is not None and r["source"]}
    for card in CATALOG.rows("gpus"):
        name = card["gpu"]
        want = "not_for_sale" if card["for_sale"] != "yes" else None if name in priced else "no_price"
        assert left.get(name) == want, name
    assert {c["gpu"] for c in plan.question.cards} == {c["gpu"] for c in CATALOG.rows("gpus")} - left.keys()


def test_a_price_makes_a_card_a_candidate() -> None:
    catalog = gx.load_catalog()
    row = dict(catalog.find("prices", "L4"), gpu="RTX PRO 4500 Blackwell", typical=1.0, low=None, high=None)
    table = [list(row), *[[r.get(k) for k in row] for r in (*catalog.rows("prices"), row)]]
    cheap = gx.plan("Llama 3.1 8B", 8, 1024, 256, options=SMALL, catalog=table)
    assert cheap.winner.gpu == "RTX PRO 4500 Blackwell"


@pytest.mark.parametrize("engine", ENGINE_FAMILIES)
def test_each_engine_gets_formats_that_it_loads(engine: str) -> None:
    c = found("Llama 3.1 8B", 4, 512, 128, engine=engine, gpus="RTX 5090")
    weights = {r["precision"] for r in c.question.precisions}
    caches = {r["precision"] for r in c.question.kvs}
    assert {"bf16", "fp16"} <= weights
    assert "fp16" in caches
    assert any(w.startswith("exl3") for w in weights) == (engine == "ExLlama")
    assert ("q4_k_m" in weights) == (engine == "llama.cpp")
    assert ("fp8" in caches) == (engine in ("vLLM", "SGLang", "TensorRT-LLM", "NIM"))


def test_engines_and_vendors_of_formats_exist() -> None:
    known = {str(r["vendor"]) for r in CATALOG.rows("gpus")}
    for row in CATALOG.rows("precisions"):
        for column in ("engines", "kv_engines"):
            parts = [n.strip() for n in str(row[column] or "").split("|") if n.strip()]
            assert {p.partition(" (")[0] for p in parts} <= set(ENGINE_FAMILIES), (row["precision"], column)
            for family in ENGINE_FAMILIES:
                assert (vendors_of(row, column, family) or set()) <= known, (row["precision"], column, family)


def test_a_format_is_tried_only_on_cards_whose_engine_takes_it() -> None:
    """vLLM's own table has AWQ on NVIDIA and Intel, not on AMD; TensorRT-LLM runs on NVIDIA only."""
    c = found("Llama 3.1 8B", 4, 512, 128)
    tried = {(str(c.question.cards[g]["vendor"]), str(c.question.precisions[p]["precision"])) for g, p, _ in c.combos}
    assert {("NVIDIA", "int4-awq"), ("Intel", "int4-awq"), ("AMD", "fp8"), ("AMD", "bf16")} <= tried
    assert not {("AMD", "int4-awq"), ("AMD", "nvfp4"), ("Intel", "fp8")} & tried
    assert ("int4-awq on AMD", "engine") in c.question.left_out
    c = found("Llama 3.1 8B", 4, 512, 128, engine="TensorRT-LLM")
    assert {str(c.question.cards[g]["vendor"]) for g, _, _ in c.combos} == {"NVIDIA"}
    with pytest.raises(BadValue, match=r"TensorRT-LLM does not take .* on cards of AMD"):
        found("Llama 3.1 8B", 4, 512, 128, engine="TensorRT-LLM", gpus="MI300X")


def test_choice_of_cards_and_formats_is_kept() -> None:
    plan = gx.plan("Llama 3.1 8B", 16, 1024, 256, gpu=["L4", "5090"], precision="fp8", kv="fp16, fp8", options=SMALL)
    assert {(e.build.gpu, e.build.precision) for e in plan.best_of_each} == {("L4", "fp8"), ("RTX 5090", "fp8")}
    assert plan.winner.kv in ("fp16", "fp8")
    assert gx.plan("Llama-3.1-8B-Instruct-FP8", 16, 1024, 256, options=SMALL).winner.precision == "fp8"


def test_assumptions_reach_the_plan() -> None:
    cheap, dear = (gx.plan("Llama 3.1 8B", 16, 1024, 256, gpu="L4", options=f"{SMALL}; electricity_eur_kwh={x}") for x in (0, 1))
    assert cheap.winner.cost_eur_mtok < dear.winner.cost_eur_mtok
    low, high = (gx.plan("Llama 3.1 8B", 16, 1024, 256, gpu="L4", options=f"{SMALL}; case={x}") for x in ("low", "high"))
    assert low.winner.outlay_eur < high.winner.outlay_eur
    assert high.recheck()["cost_eur_mtok"][0] == pytest.approx(high.recheck()["cost_eur_mtok"][1], rel=1e-12)
    ceiling = gx.plan("Llama 3.1 8B", 16, 1024, 256, gpu="L4", options=f"{SMALL}; mode=ceiling")
    for name, (a, b) in ceiling.recheck().items():
        assert a == pytest.approx(b, rel=1e-9), name


# ------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"tpot_ms": 3.0}, "tpot_ms"),
        ({"ttft_ms": 5.0}, "ttft_ms"),
        ({"budget": 500.0}, "budget"),
        ({"max_w": 60.0}, "max_w"),
        ({"slots": 1}, "slots"),
        ({"headroom": 0.99}, "headroom"),
        ({"max_cards": 1, "ecc": True, "gpus": "L40S", "precision": "fp8"}, "max_cards"),
    ],
)
def test_what_the_refusal_proposes_is_enough(limits: dict[str, Any], code: str) -> None:
    question: dict[str, Any] = {"model": "Llama 3.3 70B", "users": 64, "tokens_in": 1024, "tokens_out": 256, **limits}
    with pytest.raises(BadValue, match="the tightest: ") as refusal:
        Plan(found(**question))
    said = re.search(rf"{code} ([\d.]+)( %)? instead of", str(refusal.value))
    assert said, refusal.value
    value = float(said[1]) / (100 if said[2] else 1)
    assert value != limits[code]
    assert Plan(found(**{**question, code: value})).ranked.size
    less = 0.98 * value if code != "headroom" else value + 0.02
    if code not in ("max_cards", "slots"):
        with pytest.raises(BadValue):
            Plan(found(**{**question, code: less}))


def test_fewer_users_are_proposed_where_they_help() -> None:
    question: dict[str, Any] = {
        "model": "Llama 3.3 70B",
        "users": 300,
        "tokens_in": 2048,
        "tokens_out": 256,
        "gpus": "L40S",
        "precision": "fp8",
        "max_cards": 4,
    }
    with pytest.raises(BadValue, match=r"users \d+ instead of 300") as refusal:
        Plan(found(**question))
    count = int(re.search(r"users (\d+) instead", str(refusal.value))[1])  # type: ignore[index]
    assert Plan(found(**{**question, "users": count})).winner.gpu == "L40S"
    with pytest.raises(BadValue):
        Plan(found(**{**question, "users": count + 1}))


def test_a_mark_that_stands_in_the_way_is_named() -> None:
    with pytest.raises(BadValue, match=r"the tightest: without ecc 1 x RTX 5090"):
        Plan(found("Llama 3.1 8B", 8, 512, 128, gpus="RTX 5090", precision="fp8", kv="fp8", ecc=True, max_cards=1))


def test_several_limits_together_are_named() -> None:
    with pytest.raises(BadValue, match=r"relaxing one of them is not enough; nearest is .*, which misses .* and .*; relax these together"):
        Plan(found("Llama 3.3 70B", 64, 1024, 256, tpot_ms=4, ttft_ms=20, budget=3000))


def test_a_model_that_is_too_large_is_said() -> None:
    with pytest.raises(BadValue, match="not even one request fits beside the weights"):
        Plan(found("Llama 3.1 405B", 1, 1024, 256, gpus="RTX 3060", precision="bf16"))


@pytest.mark.parametrize(
    ("more", "kind", "said"),
    [
        ({"model": "Lama 99B"}, LookupError, "not in the catalogue; nearest"),
        ({"users": 0}, ValueError, "users is 0; a number above 0 is due"),
        ({"users": -3}, ValueError, "users is -3"),
        ({"users": float("nan")}, ValueError, "users is nan"),
        ({"input_tokens": 0}, ValueError, "input is 0"),
        ({"output_tokens": 0}, ValueError, "output is 0"),
        ({"input_tokens": 1e6}, ValueError, "beyond the 131072"),
        ({"tpot_ms": 0}, ValueError, "tpot_ms is 0"),
        ({"max_cards": 2.5}, ValueError, "max_cards is 2.5; a whole number"),
        ({"max_cards": 5000}, ValueError, "above 0 and up to 512"),
        ({"headroom": 1.5}, ValueError, "a share from 0 to 1"),
        ({"ecc": "yes"}, ValueError, "ecc is 'yes'; True or False is due"),
        ({"gpu": "RTX 6090"}, LookupError, "nearest"),
        ({"gpu": " , "}, ValueError, "no name is given for gpus"),
        ({"gpu": "RTX PRO 4500 Blackwell"}, ValueError, "no sourced price"),
        ({"gpu": "Tesla T4"}, ValueError, "no longer sold"),
        ({"precision": "q4_k_m"}, ValueError, "vLLM does not take weights in q4_k_m; llama.cpp can"),
        ({"kv": "q8_0"}, ValueError, "vLLM does not take the cache in q8_0; llama.cpp can"),
        ({"kv": "int4-awq"}, ValueError, "no format of a cache"),
        ({"engine": "vroom"}, LookupError, "engine"),
        ({"engine": "vLLM", "options": "engine=SGLang"}, ValueError, "give it once"),
        ({"options": "tp=2"}, ValueError, "option tp is given, but the plan compares all layouts"),
        ({"options": "tok_s=500"}, ValueError, "option tok_s"),
        ({"options": "currency=USD"}, ValueError, "counts in EUR"),
        ({"options": "utilisation=0.5"}, LookupError, "nearest: utilization"),
    ],
)
def test_bad_questions_are_refused(more: dict[str, Any], kind: type[Exception], said: str) -> None:
    given_ = {"model": "Llama 3.1 8B", "users": 8, "input_tokens": 512, "output_tokens": 128, **more}
    with pytest.raises(kind, match=re.escape(said)) as refusal:
        gx.plan(**given_)
    assert isinstance(refusal.value, gx.GpueconError)
    assert "\n" not in str(refusal.value)


def test_numpy_is_loaded_on_this_path_only() -> None:
    code = "import sys, gpuecon_xl as gx; gx.plan; a = 'numpy' in sys.modules; gx.plan('Llama 3.1 8B', 8, 512, 128, options='plan_cards_max=2')\n"
    code += "print(a, [m for m in ('numpy', 'pandas', 'openpyxl', 'xlsxwriter', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False ['numpy']"
