"""A build as a whole: what it costs to buy, draws and takes up, and how soon a request is answered.

Here: pure functions of all cards of a build together. Not here: one card's cost (`tco`), the serving loop (`serving`).
"""

from __future__ import annotations

from gpuecon_xl.ops import maximum
from gpuecon_xl.quantity import Num, quantity
from gpuecon_xl.units import KILO, TINY


@quantity("W", "tdp_w · gpus")
def power_w(tdp_w: Num, gpus: Num) -> Num:
    """Rated power of all cards of a build.

    Source: data sheets, ``catalog/gpus.csv``.
    """
    return tdp_w * gpus


@quantity("EUR", "capex_eur · gpus")
def outlay_eur(capex_eur: Num, gpus: Num) -> Num:
    """Purchase of a build: every card with its share of the chassis.

    Source: definition.
    """
    return capex_eur * gpus


@quantity("slot", "slots · gpus")
def slots_used(slots: Num, gpus: Num) -> Num:
    """Expansion slots that the cards of a build cover.

    Source: data sheets, ``catalog/gpus.csv``.
    """
    return slots * gpus


@quantity("ms", "1,000 · admitted / output_tok_s")
def tpot_ms(admitted: Num, output_tok_s: Num) -> Num:
    """Mean time between two output tokens of one request, prompts of other requests included.

    The whole serving loop counts, not the pure decode step: a user waits for both.

    Source: Little's law over the requests that run at once.
    """
    return KILO * admitted / maximum(output_tok_s, TINY)


@quantity("s", "ttft_s + output_tokens · tpot_ms / 1,000")
def answer_s(ttft_s: Num, output_tokens: Num, tpot_ms: Num) -> Num:
    """Mean time from a request to the last token of its answer.

    Source: the sum of its parts.
    """
    return ttft_s + output_tokens * tpot_ms / KILO
