"""The contract of the public functions: signatures, arrays, options, currencies, zeros, refusals, predict's consistency."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpuecon_xl as gx

SERVER = "RTX PRO 6000 Blackwell Server"

# ------------------------------------------------------------------------------------------------ signatures

N = None
SIGNATURES: dict[str, dict[str, Any]] = {
    "tokps": {"model": "", "gpu": "", "precision": N, "batch": 1, "context": 4096, "gpus": 1, "options": N, "catalog": N},
    "fits": {"model": "", "gpu": "", "precision": N, "batch": 1, "context": 4096, "gpus": 1, "options": N, "catalog": N},
    "tco3y": {"gpu": "", "gpus": 1, "utilization": N, "price": N, "options": N, "catalog": N},
    "cost_per_mtok": {
        "model": "",
        "gpu": "",
        "precision": N,
        "batch": 32,
        "context": 4096,
        "gpus": 1,
        "utilization": N,
        "price": N,
        "options": N,
        "catalog": N,
    },
    "breakeven_util": {
        "model": "",
        "gpu": "",
        "rate": "",
        "precision": N,
        "batch": 32,
        "context": 4096,
        "gpus": 1,
        "price": N,
        "options": N,
        "catalog": N,
    },
    "predict": {
        "model": "",
        "gpu": "",
        "precision": N,
        "batch": 1,
        "input_tokens": 1024,
        "output_tokens": 256,
        "gpus": 1,
        "tp": N,
        "pp": 1,
        "kv": N,
        "engine": N,
        "mode": "expected",
        "options": N,
        "catalog": N,
    },
    "load_catalog": {"path": N},
}  # "": no default


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature(name: str) -> None:
    found = inspect.signature(getattr(gx, name)).parameters
    got = {p: "" if v.default is inspect.Parameter.empty else v.default for p, v in found.items()}
    assert got == SIGNATURES[name]
    assert list(found) == list(SIGNATURES[name])
    by_name = {p for p, v in found.items() if v.kind is inspect.Parameter.KEYWORD_ONLY}
    assert by_name == (set(list(found)[3:]) if name == "predict" else set())


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("rent3y", ("rate",)),
        ("rent_per_mtok", ("rate", "tok_s")),
        ("breakeven_batch", ("model", "gpu", "precision")),
        ("token_yield_month", ("model", "gpu", "precision", "utilization", "options")),
        ("own_cost_month", ("gpu",)),
        ("blended_price", ("price_in", "price_out", "share_out")),
        ("vram_rule_gb", ("params_b", "precision")),
        ("weights_class", ("model", "gpu", "precision", "gpus")),
    ],
)
def test_companions_begin_with(name: str, first: tuple[str, ...]) -> None:
    assert tuple(inspect.signature(getattr(gx, name)).parameters)[: len(first)] == first


def test_every_public_name_is_there_and_described() -> None:
    for name in gx.__all__:
        assert inspect.getdoc(getattr(gx, name)), name
    with pytest.raises(AttributeError, match="no_such"):
        gx.no_such  # noqa: B018


# ------------------------------------------------------------------------------------------------ answers


def test_tokps_is_output_of_predict() -> None:
    p = gx.predict("Llama 3.1 8B", "L40S", "fp8", batch=16, input_tokens=0.7 * 4096, output_tokens=0.3 * 4096, gpus=2)
    assert gx.tokps("Llama 3.1 8B", "L40S", "fp8", 16, 4096, 2) == pytest.approx(p.output_tok_s, rel=1e-12)


def test_context_is_split_by_the_output_share() -> None:
    got = gx.tokps("Llama 3.1 8B", "L40S", "fp8", 16, 4000, options={"output_share": 0.25})
    same = gx.tokps("Llama 3.1 8B", "L40S", "fp8", 16, 4000, options={"input_tokens": 3000, "output_tokens": 1000})
    rest = gx.tokps("Llama 3.1 8B", "L40S", "fp8", 16, 4000, options={"input_tokens": 3000})
    assert got == same == rest


def test_cost_is_tco_over_tokens() -> None:
    tco = gx.tco3y("L40S", 2, 0.5, 6000)
    tok_s = gx.tokps("Llama 3.1 8B", "L40S", "fp8", 32, gpus=2)
    got = gx.cost_per_mtok("Llama 3.1 8B", "L40S", "fp8", 32, gpus=2, utilization=0.5, price=6000)
    assert got == pytest.approx(tco / (tok_s * 0.5 * 3 * 8760 * 3600) * 1e6, rel=1e-12)


def test_break_even_is_where_costs_meet() -> None:
    """At the answer, owning costs what renting the used hours of the same card costs."""
    use = gx.breakeven_util("Llama 3.1 8B", "RTX 5090", 0.6, "fp8")
    assert gx.tco3y("RTX 5090", utilization=use) == pytest.approx(gx.rent3y(0.6) * use, rel=1e-9)


def test_break_even_against_another_card() -> None:
    arguments = ("Llama 3.1 8B", "RTX 5090", 2.0, "fp8")
    rel = gx.tokps("Llama 3.1 8B", "RTX 5090", "fp8", 32) / gx.tokps("Llama 3.1 8B", "H100 SXM", "fp8", 32)
    assert gx.breakeven_util(*arguments, options="rent_gpu=H100 SXM") == pytest.approx(gx.breakeven_util(*arguments, options={"rel": rel}))
    with pytest.raises(gx.BadValue, match="rel and rent_gpu"):
        gx.breakeven_util(*arguments, options="rent_gpu=H100 SXM; rel=0.65")


def test_rent_always_wins() -> None:
    for options in (None, {"own_cost": "at_assumed_use"}):
        assert gx.breakeven_util("Llama 3.1 8B", "H100 SXM", 0.01, "fp8", price=30_000, options=options) == "rent always wins"
    got = gx.breakeven_util("Llama 3.1 8B", "H100 SXM", [0.01, 5.0], "fp8", price=30_000)
    assert got[0] == "rent always wins"
    assert 0 < got[1] < 1


def test_precision_of_the_checkpoint() -> None:
    """No precision: the published format; one told by the name; one given goes before both."""
    assert gx.predict("gpt-oss-120b", "H200").weights_gb == gx.predict("gpt-oss-120b", "H200", "mxfp4").weights_gb
    assert gx.tokps("Llama-3.1-8B-Instruct-FP8", "L4") == gx.tokps("Llama 3.1 8B", "L4", "fp8")
    assert gx.tokps("Llama-3.1-8B-Instruct-FP8", "L4", "int4") == gx.tokps("Llama 3.1 8B", "L4", "int4")
    assert gx.tokps("Llama 3.1 8B", "L40S") == gx.tokps("Llama 3.1 8B", "L40S", "bf16")


def test_fits_judges_the_batch_asked() -> None:
    """`fits` says no where `tokps` queues; both refuse or deny where not one request fits."""
    assert gx.fits("Llama 3.1 8B", "L4", "fp8", 1) != "no"
    assert gx.fits("Llama 3.1 8B", "L4", "fp8", 5000) == "no"
    assert gx.tokps("Llama 3.1 8B", "L4", "fp8", 5000) > 0
    assert gx.fits("Llama 3.3 70B", "L4", "fp8") == "no"
    with pytest.raises(ValueError, match="does not fit"):
        gx.tokps("Llama 3.3 70B", "L4", "fp8")


@pytest.mark.parametrize("model", ["Llama 3.1 8B", "Qwen3-30B-A3B", "Llama 3.3 70B", "gpt-oss-120b", "DeepSeek V3"])
@pytest.mark.parametrize("gpu", ["L4", "RTX 5090", SERVER, "H200"])
@pytest.mark.parametrize("gpus", [1, 2, 8])
def test_no_means_no_answer(model: str, gpu: str, gpus: int) -> None:
    if gx.fits(model, gpu, batch=1, gpus=gpus) == "no":
        with pytest.raises(gx.BadValue, match="does not fit"):
            gx.tokps(model, gpu, gpus=gpus)
    else:
        assert gx.tokps(model, gpu, gpus=gpus) > 0


def test_batch_may_be_fractional_and_queues_above_what_fits() -> None:
    most = gx.batch_max("Llama 3.1 8B", "L4", "fp8")
    at_most = gx.tokps("Llama 3.1 8B", "L4", "fp8", most)
    assert gx.tokps("Llama 3.1 8B", "L4", "fp8", most * 10) == at_most
    assert gx.tokps("Llama 3.1 8B", "L4", "fp8", 2) < gx.tokps("Llama 3.1 8B", "L4", "fp8", 2.5) < gx.tokps("Llama 3.1 8B", "L4", "fp8", 3)


def test_tok_s_replaces_the_prediction() -> None:
    """Measured by the user: no fit check; names are still checked."""
    options = {"tok_s": 1000}
    assert gx.tokps("Llama 3.3 70B", "L4", "fp8", options=options) == 1000
    cheap = gx.cost_per_mtok("Llama 3.3 70B", "L4", "fp8", price=2000, utilization=1, options=options)
    assert cheap == pytest.approx(gx.tco3y("L4", utilization=1, price=2000) / (1000 * 3 * 8760 * 3600) * 1e6)
    two = gx.cost_per_mtok("Llama 3.3 70B", "L4", "fp8", gpus=2, price=2000, utilization=1, options=options)
    assert two == pytest.approx(2 * cheap)  # of the whole build
    with pytest.raises(LookupError):
        gx.tokps("Llama 9 900B", "L4", options=options)


# ------------------------------------------------------------------------------------------------ options


@pytest.mark.parametrize(
    "options",
    [
        {"tp": 2, "kv": "fp8"},
        "tp=2; kv=fp8",
        " TP = 2 ;kv=fp8; ",
        [["tp", 2], ["kv", "fp8"]],
        (("tp", 2.0), ("kv", "fp8")),
        np.array([["tp", 2], ["kv", "fp8"]], dtype=object),
        [["tp", 2], ["kv", "fp8"], [None, None], ["", ""]],
        {"tp": "2", "kv": " fp8 "},
    ],
    ids=["dict", "text", "loose text", "lists", "tuples", "array", "with blank rows", "texts"],
)
def test_forms_of_options(options: Any) -> None:
    want = gx.predict("Llama 3.3 70B", "L40S", "fp8", batch=8, gpus=4, tp=2, kv="fp8")
    assert gx.predict("Llama 3.3 70B", "L40S", "fp8", batch=8, gpus=4, options=options) == want


@pytest.mark.parametrize("options", [None, "", "  ", {}, []])
def test_no_options(options: Any) -> None:
    assert gx.tco3y("L4", options=options) == gx.tco3y("L4")


@pytest.mark.parametrize("text", ["utilization=0.3", "utilization=0,3", "utilization=30%", "utilization = 30 %", "utilization=3e-1"])
def test_numbers_in_text(text: str) -> None:
    assert gx.tco3y("L4", options=text) == pytest.approx(gx.tco3y("L4", utilization=0.3), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: gx.tco3y("L4", utilization=0.5, options="utilization=0.5"), "utilization"),
        (lambda: gx.cost_per_mtok("Llama 3.1 8B", "L4", "fp8", utilization=0.5, options="utilization=0.5"), "utilization"),
        (lambda: gx.tokps("Llama 3.1 8B", "L4", "fp8", options="context=4096"), "context"),
        (lambda: gx.predict("Llama 3.1 8B", "L4", "fp8", gpus=2, tp=2, options="tp=2"), "tp"),
        (lambda: gx.predict("Llama 3.1 8B", "L4", "fp8", gpus=2, pp=2, options="pp=2"), "pp"),
        (lambda: gx.predict("Llama 3.1 8B", "L4", "fp8", kv="fp8", options="kv=fp8"), "kv"),
        (lambda: gx.predict("Llama 3.1 8B", "L4", "fp8", engine="vLLM", options="engine=vLLM"), "engine"),
        (lambda: gx.predict("Llama 3.1 8B", "L4", "fp8", mode="ceiling", options="mode=ceiling"), "mode"),
        (lambda: gx.predict("Llama 3.1 8B", "L4", "fp8", input_tokens=500, options="input_tokens=600"), "input_tokens"),
        (lambda: gx.tco3y(["L4", "L40"], utilization=[0.5, 0.6], options="utilization=0.5"), "utilization"),
    ],
)
def test_argument_and_option_for_the_same(call: Callable[[], Any], what: str) -> None:
    with pytest.raises(gx.BadValue, match=rf"{what} is given as argument and as option"):
        call()


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ("utilisation=0.5", LookupError, "utilization"),
        ("nosuch=1", LookupError, "nosuch"),
        ({"batch": 3}, LookupError, "batch"),
        ("pue", ValueError, "key=value"),
        ("pue=", ValueError, "key=value"),
        ("=1", ValueError, "key=value"),
        ("pue=abc", ValueError, "pue"),
        ("pue=1.1; pue=1.2", ValueError, "twice"),
        ("pue=0", ValueError, "above 0"),
        ("utilization=1.7", ValueError, "share"),
        ("electricity_eur_kwh=-1", ValueError, "at least 0"),
        ("electricity_eur_kwh=nan", ValueError, "number"),
        ({"electricity_eur_kwh": float("nan")}, ValueError, "electricity"),
        ({"electricity_eur_kwh": float("inf")}, ValueError, "electricity"),
        ({"electricity_eur_kwh": True}, ValueError, "electricity"),
        ("tp=1.5", ValueError, "whole"),
        ("tok_s=0", ValueError, "above 0"),
        ("currency=GBP", ValueError, "EUR, USD"),
        ("case=cheap", ValueError, "low, typical, high"),
        ("own_cost=guess", ValueError, "at_assumed_use"),
        ({"mode": 3}, ValueError, "text"),
        ({3: 4}, ValueError, "name"),
        ([["tp", 2, 3]], ValueError, "two columns"),
    ],
)
def test_bad_options(options: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(gx.GpueconError, match=re.escape(message)) as caught:
        gx.tco3y("L4", options=options)
    assert isinstance(caught.value, kind)
    assert "\n" not in str(caught.value)


def test_every_option_is_taken() -> None:
    options = {
        "tp": 2,
        "pp": 1,
        "kv": "fp8",
        "engine": "SGLang",
        "mode": "expected",
        "kv_reads": 1,
        "input_tokens": 900,
        "output_tokens": 100,
        "prefix_tokens": 100,
        "spec_accept": 0.7,
        "spec_draft": 3,
        "tp_factor": 0.6,
        "pue": 1.3,
    }
    assert gx.predict("Llama 3.3 70B", "L40S", "fp8", gpus=2, batch=4, options=options).output_tok_s > 0
    money = {"case": "low", "currency": "USD", "own_cost": "exact", "rel": 0.7}
    assert 0 < gx.breakeven_util("Llama 3.1 8B", "RTX 5090", 5, "fp8", options=money) < 1


def test_options_have_their_effect() -> None:
    def p(**options: Any) -> gx.Prediction:
        return gx.predict("Llama 3.3 70B", "L40S", "fp8", gpus=2, batch=8, input_tokens=4000, output_tokens=500, options=options)

    base = p()
    assert p(kv="fp8").batch_max > base.batch_max
    assert p(prefix_tokens=2000).output_tok_s > base.output_tok_s
    assert p(spec_accept=0.7, spec_draft=3).output_tok_s > base.output_tok_s
    assert p(kv_reads=0).decode_tok_s_user > base.decode_tok_s_user
    assert p(mode="ceiling").output_tok_s > base.output_tok_s
    assert p(memory_free_share=0.9).batch_max < base.batch_max


# ------------------------------------------------------------------------------------------------ money


@pytest.mark.parametrize("gpu", ["RTX 5090", "L4", SERVER, "H100 SXM"])
def test_dollars(gpu: str) -> None:
    """Everything in one call is in one currency, at the dated rate; a price given is in that currency."""
    rate = gx.load_catalog().assumption("usd_per_eur")
    assert gx.price_of(gpu, options="currency=USD") == pytest.approx(gx.price_of(gpu) * rate)
    assert gx.tco3y(gpu, options={"currency": "USD"}) == pytest.approx(gx.tco3y(gpu) * rate)
    assert gx.tco3y(gpu, price=1000 * rate, options={"currency": "USD"}) == pytest.approx(gx.tco3y(gpu, price=1000) * rate)
    assert gx.tco3y([gpu], options={"currency": "USD"}) == pytest.approx([gx.tco3y(gpu) * rate])
    assert gx.tco3y(gpu, options={"currency": "USD", "usd_per_eur": 1.0, "colo_eur_year": 100}) == pytest.approx(
        gx.tco3y(gpu, options={"usd_per_eur": 1.0, "colo_eur_year": 100})
    )


def test_cases() -> None:
    low, typical, high = (gx.tco3y("RTX 5090", options={"case": c}) for c in ("low", "typical", "high"))
    assert low < typical < high
    assert typical == gx.tco3y("RTX 5090")
    row = gx.load_catalog().find("prices", "RTX 5090")
    assert gx.price_of("RTX 5090", options="case=high") == row["high"]
    # a total cost given everything but the price differs by the price, and 5 % of it a year for three years
    fixed = {n: gx.load_catalog().assumption(n) for n in ("electricity_eur_kwh", "pue", "chassis_eur_gpu", "maintenance_share_year", "utilization")}
    at_low, at_high = (gx.tco3y("RTX 5090", options={"case": c, **fixed}) for c in ("low", "high"))
    assert at_high - at_low == pytest.approx((row["high"] - row["low"]) * 1.15)
    assert low < at_low < typical < at_high < high


def test_no_price_no_cost() -> None:
    """A card without a sourced price: refused until one is given; throughput does not need one."""
    catalog = gx.load_catalog()
    priced = {r["gpu"] for r in catalog.rows("prices") if r["typical"] is not None}
    bare = next(r["gpu"] for r in catalog.rows("gpus") if r["gpu"] not in priced)
    with pytest.raises(gx.BadValue, match="no sourced price"):
        gx.tco3y(bare)
    assert gx.tco3y(bare, price=5000) > 5000
    with pytest.raises(gx.BadValue, match=r"element 1: .* no sourced price"):
        gx.tco3y(["L4", bare])


@pytest.mark.parametrize(
    "call",
    [
        lambda: gx.tco3y("L4", options="electricity_eur_kwh=0"),
        lambda: gx.tco3y("L4", options="colo_eur_year=0"),
        lambda: gx.tco3y("L4", options="maintenance_share_year=0"),
        lambda: gx.tco3y("L4", price=0),
        lambda: gx.tco3y("L4", utilization=0),
        lambda: gx.tco3y(["L4"], utilization=[0], price=[0])[0],
        lambda: gx.cost_per_mtok("Llama 3.1 8B", "L4", "fp8", price=0),
        lambda: gx.breakeven_util("Llama 3.1 8B", "L4", 1.0, "fp8", price=0),
    ],
)
def test_zero_is_valid(call: Callable[[], Any]) -> None:
    assert call() > 0


def test_already_owned_without_chassis_breaks_even_at_once() -> None:
    options = {"chassis_eur_gpu": 0}
    assert gx.breakeven_util("Llama 3.1 8B", "L4", 1.0, "fp8", price=0, options=options) == 0


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: gx.tokps("Llama 3.1 8B", "L4", gpus=0), "gpus"),
        (lambda: gx.tco3y("L4", 0), "gpus"),
        (lambda: gx.tokps("Llama 3.1 8B", "L4", batch=0), "batch"),
        (lambda: gx.fits("Llama 3.1 8B", "L4", batch=0), "batch"),
        (lambda: gx.tokps("Llama 3.1 8B", "L4", context=0), "context"),
        (lambda: gx.predict("Llama 3.1 8B", "L4", batch=0), "batch"),
        (lambda: gx.predict("Llama 3.1 8B", "L4", output_tokens=0), "output_tokens"),
        (lambda: gx.breakeven_util("Llama 3.1 8B", "L4", 0), "rate"),
        (lambda: gx.rent3y(0), "rate"),
        (lambda: gx.rent_per_mtok(0, 100), "rate"),
        (lambda: gx.rent_per_mtok(1, 0), "tok_s"),
        (lambda: gx.tokps("Llama 3.1 8B", "L4", options="tok_s=0"), "tok_s"),
        (lambda: gx.cost_per_mtok("Llama 3.1 8B", "L4", "fp8", utilization=0), "utilization"),
        (lambda: gx.token_yield_month("Llama 3.1 8B", "L4", "fp8", 0), "utilization"),
        (lambda: gx.vram_rule_gb(0), "params_b"),
    ],
)
def test_zero_is_refused(call: Callable[[], Any], word: str) -> None:
    with pytest.raises(gx.BadValue, match=word):
        call()


# ------------------------------------------------------------------------------------------------ refusals

BAD_CALLS: list[tuple[str, Callable[[], Any], type[Exception], str]] = [
    ("model", lambda: gx.tokps("Llama 9 900B", "L4"), LookupError, "Llama"),
    ("card", lambda: gx.tokps("Llama 3.1 8B", "RTX 5091"), LookupError, "RTX 5090"),
    ("precision", lambda: gx.tokps("Llama 3.1 8B", "L4", "fp9"), LookupError, "fp8"),
    ("cache format", lambda: gx.tokps("Llama 3.1 8B", "L4", options="kv=fp9"), LookupError, "fp8"),
    ("rented card", lambda: gx.breakeven_util("Llama 3.1 8B", "L4", 1, "fp8", options="rent_gpu=H1000"), LookupError, "H100"),
    ("no text", lambda: gx.tco3y(""), LookupError, "name"),
    ("nothing", lambda: gx.tco3y(None), LookupError, "name"),
    ("number as name", lambda: gx.tco3y(5090), LookupError, "name"),
    ("batch below 0", lambda: gx.tokps("Llama 3.1 8B", "L4", batch=-4), ValueError, "batch"),
    ("batch nan", lambda: gx.tokps("Llama 3.1 8B", "L4", batch=float("nan")), ValueError, "batch"),
    ("batch inf", lambda: gx.tokps("Llama 3.1 8B", "L4", batch=float("inf")), ValueError, "batch"),
    ("batch text", lambda: gx.tokps("Llama 3.1 8B", "L4", batch="many"), ValueError, "batch"),
    ("batch TRUE", lambda: gx.tokps("Llama 3.1 8B", "L4", batch=True), ValueError, "batch"),
    ("batch none", lambda: gx.tokps("Llama 3.1 8B", "L4", batch=None), ValueError, "batch"),
    ("half a card", lambda: gx.tco3y("L4", 2.5), ValueError, "whole"),
    ("use above 1", lambda: gx.tco3y("L4", utilization=1.7), ValueError, "share"),
    ("price below 0", lambda: gx.tco3y("L4", price=-1), ValueError, "price"),
    ("price text", lambda: gx.tco3y("L4", price="abc"), ValueError, "price"),
    ("price inf", lambda: gx.tco3y("L4", price=float("inf")), ValueError, "price"),
    ("rate below 0", lambda: gx.breakeven_util("Llama 3.1 8B", "L4", -2), ValueError, "rate"),
    ("context beyond the model", lambda: gx.tokps("Llama 3.1 8B", "H200", context=1e12), ValueError, "131072"),
    ("context beyond, fits", lambda: gx.fits("Llama 3.1 8B", "H200", context=1e12), ValueError, "131072"),
    ("context shorter than the answer", lambda: gx.tokps("Llama 3.1 8B", "L4", context=500, options="output_tokens=600"), ValueError, "context"),
    ("too big", lambda: gx.tokps("Llama 3.3 70B", "RTX 3060 12GB", "fp16"), ValueError, "does not fit"),
    ("tp more than the cards", lambda: gx.tokps("Llama 3.1 8B", "L4", gpus=2, options="tp=4"), ValueError, "gpus"),
    ("tp does not divide", lambda: gx.tokps("Llama 3.1 8B", "L4", gpus=8, options="tp=3"), ValueError, "divide"),
    ("mode", lambda: gx.predict("Llama 3.1 8B", "L4", mode="best"), ValueError, "ceiling"),
    ("rule of thumb for 8 bit", lambda: gx.vram_rule_gb(7, "fp8"), ValueError, "16 bit and 4 bit"),
    ("share", lambda: gx.blended_price(1, 2, 1.2), ValueError, "share"),
    ("options that are a number", lambda: gx.tco3y("L4", options=5), ValueError, "options"),
    ("catalogue that is a number", lambda: gx.tco3y("L4", catalog=3.5), ValueError, "catalog"),
    ("catalogue that is nowhere", lambda: gx.tco3y("L4", catalog="nowhere.xlsx"), ValueError, "nowhere.xlsx"),
]


@pytest.mark.parametrize(("call", "kind", "word"), [c[1:] for c in BAD_CALLS], ids=[c[0] for c in BAD_CALLS])
def test_refusals(call: Callable[[], Any], kind: type[Exception], word: str) -> None:
    """One sentence, that says what would be right; both a GpueconError and the built-in kind."""
    with pytest.raises(gx.GpueconError) as caught:
        call()
    assert isinstance(caught.value, kind)
    message = str(caught.value)
    assert word in message
    assert "\n" not in message
    assert 20 < len(message) < 300
    assert message.count(". ") <= 1


@pytest.mark.parametrize(
    "engine", ["vLLM", "vLLM 0.12.0", "vLLM (2024)", "vllm 0.6", "TensorRT-LLM 1.0", "SGLang", "llama.cpp", "NIM", "llama.cpp b4500"]
)
def test_engines(engine: str) -> None:
    assert gx.predict("Llama 3.1 8B", "L40S", "fp8", engine=engine).output_tok_s > 0


def test_unknown_engine_names_the_families() -> None:
    with pytest.raises(LookupError, match="engine") as caught:
        gx.predict("Llama 3.1 8B", "L40S", "fp8", engine="FastServe 3")
    assert all(f in str(caught.value) for f in ("vLLM", "SGLang", "TensorRT-LLM", "llama.cpp", "NIM"))


def test_older_engine_takes_less_memory() -> None:
    new, old = (gx.predict("Llama 3.1 8B", "L40S", "fp8", engine=e).kv_budget_gb for e in ("vLLM 0.22", "vLLM 0.12.0"))
    assert old < new


# ------------------------------------------------------------------------------------------------ arrays


def test_list_gives_list() -> None:
    got = gx.tco3y(["L4", "RTX 5090"])
    assert type(got) is list
    assert got == [gx.tco3y("L4"), gx.tco3y("RTX 5090")]
    assert all(type(v) is float for v in got)
    assert gx.tco3y(("L4", "RTX 5090")) == got


def test_array_gives_array() -> None:
    got = gx.tokps("Llama 3.1 8B", "L40S", "fp8", np.array([1, 2, 4]))
    assert isinstance(got, np.ndarray)
    assert got.dtype == float
    assert got.tolist() == pytest.approx([gx.tokps("Llama 3.1 8B", "L40S", "fp8", b) for b in (1, 2, 4)], rel=1e-12)


def test_series_gives_series_with_its_index() -> None:
    batches = pd.Series([1.0, 8.0], index=["one", "eight"])
    got = gx.tokps("Llama 3.1 8B", "L40S", "fp8", batches)
    assert isinstance(got, pd.Series)
    assert list(got.index) == ["one", "eight"]
    assert got["eight"] == pytest.approx(gx.tokps("Llama 3.1 8B", "L40S", "fp8", 8), rel=1e-12)


def test_range_gives_the_same_shape() -> None:
    got = gx.tco3y("L4", [[1, 2, 3], [4, 5, 6]])
    assert got == [[gx.tco3y("L4", n) for n in row] for row in ([1, 2, 3], [4, 5, 6])]
    assert gx.fits("Llama 3.1 8B", [["L4"], ["L40S"]], "fp8", [[1, 100_000]]) == [["fits", "no"]] * 2


def test_broadcast() -> None:
    got = gx.tokps(np.array([["Llama 3.1 8B"], ["Qwen3-32B"]]), SERVER, "fp8", np.array([1, 8, 32]))
    assert got.shape == (2, 3)
    assert got[1, 2] == pytest.approx(gx.tokps("Qwen3-32B", SERVER, "fp8", 32), rel=1e-12)


def test_arrays_that_do_not_fit_each_other() -> None:
    with pytest.raises(gx.BadValue, match="do not fit each other"):
        gx.tco3y(["L4", "L40"], [1, 2, 3])
    with pytest.raises(gx.BadValue, match=r"unequal length|not a list of lists"):
        gx.tco3y([["L4", "L40"], ["L4"]])


def test_one_element_and_none() -> None:
    assert gx.tco3y(["L4"]) == [gx.tco3y("L4")]
    assert gx.tco3y([]) == []
    assert gx.tokps("Llama 3.1 8B", "L4", "fp8", []) == []
    assert gx.tco3y("L4", np.array([])).shape == (0,)


def test_single_numpy_values_are_scalars() -> None:
    assert gx.tco3y("L4", np.int64(2), np.float64(0.5)) == gx.tco3y("L4", 2, 0.5)
    assert type(gx.tokps("Llama 3.1 8B", "L4", "fp8", np.float32(2))) is float


def test_defaults_within_arrays() -> None:
    """An empty element takes the default, as an argument left out does."""
    assert gx.tco3y("L4", price=[None, 1000]) == [gx.tco3y("L4"), gx.tco3y("L4", price=1000)]
    assert gx.tco3y("L4", utilization=[None, 0.3]) == [gx.tco3y("L4"), gx.tco3y("L4", utilization=0.3)]
    got = gx.tokps("Llama 3.1 8B", "L40S", [None, "fp8"])
    assert got == pytest.approx([gx.tokps("Llama 3.1 8B", "L40S"), gx.tokps("Llama 3.1 8B", "L40S", "fp8")], rel=1e-12)


@pytest.mark.parametrize(
    ("call", "kind", "index", "more"),
    [
        (lambda: gx.tco3y(["L4", "L5000", "L40", "L6000"]), LookupError, 1, 1),
        (lambda: gx.tco3y("L4", [1, 2, 0]), ValueError, 2, 0),
        (lambda: gx.tco3y("L4", np.array([1.0, float("nan"), 2.5, -1.0])), ValueError, 1, 2),
        (lambda: gx.tokps("Llama 3.1 8B", "L4", "fp8", [[1, 2], [-1, "x"]]), ValueError, 2, 1),
        (lambda: gx.tokps(["Llama 3.1 8B", "Llama 3.3 70B"], "L4", "fp8"), ValueError, 1, 0),
        (lambda: gx.cost_per_mtok("Llama 3.1 8B", "L4", "fp8", utilization=[0.5, 0, 0.5]), ValueError, 1, 0),
        (lambda: gx.breakeven_util("Llama 3.1 8B", "L4", [1, 0, 2]), ValueError, 1, 0),
        (lambda: gx.rent_per_mtok([1, 2], [100, 0]), ValueError, 1, 0),
    ],
)
def test_first_bad_index_and_count(call: Callable[[], Any], kind: type[Exception], index: int, more: int) -> None:
    with pytest.raises(gx.GpueconError) as caught:
        call()
    assert isinstance(caught.value, kind)
    assert str(caught.value).startswith(f"element {index}" + (f" and {more} more: " if more else ": "))


_GOOD_MODELS = ["Llama 3.1 8B", "Qwen3-30B-A3B", "Llama 3.3 70B", "gpt-oss-20b", "DeepSeek V3", "Gemma 3 27B"]
_SOMETIMES = st.integers(0, 39).map(lambda k: k == 0)


def _mostly(good: list[Any], bad: list[Any]) -> st.SearchStrategy[Any]:
    return _SOMETIMES.flatmap(lambda b: st.sampled_from(bad if b else good))


_ELEMENT = st.fixed_dictionaries(
    {
        "model": _mostly(_GOOD_MODELS, ["No such model", "", None]),
        "gpu": _mostly(["L4", "RTX 5090", SERVER, "H200", "MI300X"], ["Voodoo 2", 7]),
        "precision": _mostly([None, "fp8", "int4", "bf16"], ["fp9"]),
        "batch": _mostly([0.5, 1, 2.5, 32, 1000.0], [0, -1, float("nan"), "x", None, True]),
        "context": _mostly([200, 4096, 20_000.0], [0, 1e9, float("inf")]),
        "gpus": _mostly([1, 2, 3, 4, 6, 8, 16.0], [0, 1.5, None]),
        "utilization": _mostly([None, 0.3, 1], [1.5, 0, "x"]),
        "price": _mostly([None, 0, 5000.0], [-1, "x"]),
    }
)
_OPTIONS = st.sampled_from(
    [
        None,
        "kv=fp8",
        "mode=ceiling",
        "tp=2",
        "pp=2",
        "output_tokens=100",
        "input_tokens=150",
        "tok_s=500",
        "currency=USD; case=high",
        "output_share=0.5",
    ]
)


def _outcome(function: Callable[..., Any], element: dict[str, Any], options: Any) -> Any:
    try:
        return function(**element, options=options)
    except gx.GpueconError as error:
        return error


@pytest.mark.parametrize(
    ("name", "uses"),
    [
        ("tokps", ("model", "gpu", "precision", "batch", "context", "gpus")),
        ("fits", ("model", "gpu", "precision", "batch", "context", "gpus")),
        ("tco3y", ("gpu", "gpus", "utilization", "price")),
        ("cost_per_mtok", ("model", "gpu", "precision", "batch", "context", "gpus", "utilization", "price")),
    ],
)
@settings(max_examples=80, deadline=None, database=None, derandomize=True)
@given(elements=st.lists(_ELEMENT, min_size=1, max_size=6), options=_OPTIONS)
def test_array_is_element_by_element(name: str, uses: tuple[str, ...], elements: list[dict[str, Any]], options: Any) -> None:
    """Values and refusals of an array call are those of its elements; every argument an array, several shapes of call."""
    function = getattr(gx, name)
    elements = [{k: e[k] for k in uses} for e in elements]
    alone = [_outcome(function, e, options) for e in elements]
    columns = {k: [e[k] for e in elements] for k in uses}
    refused = [(i, a) for i, a in enumerate(alone) if isinstance(a, gx.GpueconError)]
    together = _outcome(function, columns, options)
    if not refused:
        assert not isinstance(together, gx.GpueconError), together
        for a, b in zip(together, alone, strict=True):
            assert a == b if isinstance(b, str) else a == pytest.approx(b, rel=1e-12)
        return
    index, first = refused[0]
    more = len(refused) - 1
    assert isinstance(together, type(first)), together
    assert str(together) == f"element {index}{f' and {more} more' if more else ''}: {first}"


# ------------------------------------------------------------------------------------------------ predict

CASES = [
    ("Llama 3.1 8B", "L4", "fp8", 1),
    ("Llama 3.1 8B", "RTX 5090", "fp8", 2),
    ("Llama 3.3 70B", SERVER, "fp8", 1),
    ("Llama 3.3 70B", "L40S", "int4", 4),
    ("Qwen3-30B-A3B", "RTX 5090", "fp8", 4),
    ("gpt-oss-120b", "H100 SXM", None, 8),
    ("DeepSeek V3", "H200", "fp8", 8),
    ("DeepSeek V3", "H100 SXM", "fp8", 16),
    ("Llama 3.1 8B", "L4", "fp8", 3),
    ("Llama 3.3 70B", SERVER, "fp8", 6),
    ("Llama 3.3 70B", "RTX 5090", "fp8", 12),
]


@pytest.mark.parametrize(("model", "gpu", "precision", "gpus"), CASES)
@pytest.mark.parametrize("batch", [1, 7.5, 64, 5000, None])
@pytest.mark.parametrize("mode", ["expected", "ceiling"])
def test_prediction_is_consistent(model: str, gpu: str, precision: str | None, gpus: int, batch: float | None, mode: str) -> None:
    p = gx.predict(model, gpu, precision, batch=batch, gpus=gpus, mode=mode)
    assert p.low <= p.output_tok_s <= p.high
    assert p.decode_tok_s == pytest.approx(p.decode_tok_s_user * p.admitted, rel=1e-12)
    assert 0 < p.output_tok_s <= p.decode_tok_s * (1 + 1e-12)
    assert p.total_tok_s == pytest.approx(p.output_tok_s * (1 + 1024 / 256), rel=1e-12)
    assert p.admitted == (p.batch_max if batch is None else min(batch, p.batch_max))
    assert p.admitted >= min(1, batch or 1)
    assert p.step_s == pytest.approx(1 / p.decode_tok_s_user, rel=1e-12)
    assert p.ttft_s > 0
    assert p.prefill_tok_s > 0
    assert p.bound in ("memory", "compute", "link")
    assert p.fits in ("fits", "tight", "no")
    assert p.basis in ("measured", "estimated")
    assert p.tp * p.pp * p.replicas <= gpus
    if batch is not None and batch > p.batch_max:
        alone = gx.predict(model, gpu, precision, batch=p.batch_max, gpus=gpus, mode=mode, tp=p.tp, pp=p.pp)
        assert p.output_tok_s == pytest.approx(alone.output_tok_s, rel=1e-12)
        assert p.ttft_s > alone.ttft_s  # the rest waits


@pytest.mark.parametrize(("model", "gpu", "precision", "gpus"), [c for c in CASES if c[3] > 1])
@pytest.mark.parametrize("batch", [1, 16, 200])
def test_free_layout_is_the_fastest(model: str, gpu: str, precision: str | None, gpus: int, batch: float) -> None:
    free = gx.predict(model, gpu, precision, batch=batch, gpus=gpus)
    for tp in (t for t in range(1, gpus + 1) if gpus % t == 0):
        try:
            given_tp = gx.predict(model, gpu, precision, batch=batch, gpus=gpus, tp=tp)
        except gx.BadValue:
            continue  # does not fit in that layout
        assert free.output_tok_s >= given_tp.output_tok_s * (1 - 1e-9), f"tp={tp} is faster than the free tp={free.tp}, pp={free.pp}"
        assert given_tp.tp == tp


@pytest.mark.parametrize(("model", "gpu", "precision", "gpus"), CASES)
def test_free_batch_is_the_largest_admitted(model: str, gpu: str, precision: str | None, gpus: int) -> None:
    free = gx.predict(model, gpu, precision, batch=None, gpus=gpus)
    assert free.admitted == free.batch_max
    given_batch = gx.predict(model, gpu, precision, batch=free.batch_max, gpus=gpus, tp=free.tp, pp=free.pp)
    assert given_batch.output_tok_s == free.output_tok_s
    assert given_batch.ttft_s == free.ttft_s
    assert given_batch.fits == free.fits


@pytest.mark.parametrize("gpus", [2, 4, 8])
def test_replicas_scale_linearly(gpus: int) -> None:
    one = gx.predict("Llama 3.1 8B", "L4", "fp8", batch=8)
    many = gx.predict("Llama 3.1 8B", "L4", "fp8", batch=8 * gpus, gpus=gpus, tp=1)
    assert many.replicas == gpus
    assert many.output_tok_s == pytest.approx(gpus * one.output_tok_s, rel=1e-12)
    assert many.batch_max == gpus * one.batch_max


def test_ceiling_is_above_expected() -> None:
    for model, gpu, precision, gpus in CASES:
        for batch in (1, 32):
            ceiling, expected = (gx.predict(model, gpu, precision, batch=batch, gpus=gpus, tp=None, mode=m) for m in ("ceiling", "expected"))
            assert ceiling.decode_tok_s_user > expected.decode_tok_s_user or ceiling.tp != expected.tp
            assert ceiling.output_tok_s > expected.output_tok_s


def test_first_token_comes_later_under_load() -> None:
    times = [gx.predict("Llama 3.1 8B", "L4", "fp8", batch=b).ttft_s for b in (1, 8, 16, 400, 4000)]
    assert times == sorted(times)
    assert times[0] < times[-1]


def test_prediction_as_plain_values() -> None:
    p = gx.predict("Llama 3.1 8B", "L4", "fp8")
    assert p.to_dict()["output_tok_s"] == p.output_tok_s
    assert all(isinstance(v, str | int | float) for v in p.to_dict().values())


# ------------------------------------------------------------------------------------------------ catalog as an argument


def _prices(edit: Callable[[dict[str, Any]], dict[str, Any]]) -> list[list[Any]]:
    rows = [edit(dict(r)) for r in gx.load_catalog().rows("prices")]
    return [list(rows[0]), *(list(r.values()) for r in rows)]


def test_table_with_header_row() -> None:
    """An edited price counts in what reads it, and nowhere else."""
    table = _prices(lambda r: r | {"typical": 3000.0} if r["gpu"] == "RTX 5090" else r)
    assert gx.tco3y("RTX 5090", catalog=table) == pytest.approx(gx.tco3y("RTX 5090", price=3000), rel=1e-12)
    assert gx.price_of("RTX 5090", catalog=table) == 3000
    assert gx.tco3y("L4", catalog=table) == gx.tco3y("L4")
    assert gx.tco3y(["RTX 5090", "L4"], catalog=table) == pytest.approx([gx.tco3y("RTX 5090", price=3000), gx.tco3y("L4")])
    assert gx.price_of("RTX 5090") != 3000
    assert gx.tco3y("RTX 5090", catalog=tuple(map(tuple, table))) == gx.tco3y("RTX 5090", catalog=table)
    assert gx.tco3y("RTX 5090", catalog=np.array(table, dtype=object)) == gx.tco3y("RTX 5090", catalog=table)


def test_table_as_a_frame() -> None:
    frame = gx.load_catalog().frame("prices")
    frame.loc[frame["gpu"] == "RTX 5090", "typical"] = 3000.0
    assert gx.tco3y("RTX 5090", catalog=frame) == pytest.approx(gx.tco3y("RTX 5090", price=3000), rel=1e-12)


def test_table_of_some_columns() -> None:
    table = [["gpu", "typical"], ["RTX 5090", 3000], [None, None], ["L4", 2000]]
    assert gx.price_of(["RTX 5090", "L4"], catalog=table) == [3000, 2000]


def test_table_of_assumptions() -> None:
    rows = gx.load_catalog().rows("assumptions")
    table = [["name", "value"], *([r["name"], 0.5 if r["name"] == "utilization" else r["value"]] for r in rows)]
    assert gx.tco3y("L4", catalog=table) == pytest.approx(gx.tco3y("L4", utilization=0.5), rel=1e-12)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([["gpu", "typical"]], "header row"),
        ([["a", "b"], [1, 2]], "header row"),
        ([["gpu", "typical"], ["RTX 5090", "cheap"]], "row 2 column typical"),
        ([["gpu", "typical"], ["RTX 5090", -5]], "row 2 column typical"),
    ],
)
def test_bad_table(table: Any, message: str) -> None:
    with pytest.raises(gx.GpueconError, match=message):
        gx.tco3y("RTX 5090", catalog=table)


def test_price_without_source_in_a_table() -> None:
    table = _prices(lambda r: r | {"source": None} if r["gpu"] == "RTX 5090" else r)
    with pytest.raises(gx.BadValue, match="no sourced price"):
        gx.tco3y("RTX 5090", catalog=table)


def test_catalog_object() -> None:
    assert gx.tco3y("L4", catalog=gx.load_catalog()) == gx.tco3y("L4")
