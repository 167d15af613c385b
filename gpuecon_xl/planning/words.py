"""What a plan says, in words: question, answer and reasons in a language.

Here: sentences of the section [plan] with numbers as people of the language write them. Not here: figures (`answer`), tables (`sheet`).
"""

from __future__ import annotations

import math

from gpuecon_xl.lang import load
from gpuecon_xl.planning.answer import Plan, Ranked, Reason
from gpuecon_xl.planning.builds import Broken, Build
from gpuecon_xl.planning.question import LIMITS
from gpuecon_xl.units import PERCENT

LOCALE = {"en": "en_GB", "de": "de_DE", "da": "da_DK"}
_SAME = 5e-4  # a difference below a twentieth of a per cent is not told
_DIGITS = 4
_MARKS = frozenset(limit.code for limit in LIMITS if limit.kind in ("yes", "no"))
_UNITS = {limit.code: limit.unit for limit in LIMITS}


class Words:
    """Sentences of one language."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self.texts = load(lang)

    def __call__(self, key: str, **values: str) -> str:
        """A text of the section [plan]."""
        return self.texts(f"plan.{key}", **values)

    def number(self, value: float, decimals: int | None = None) -> str:
        """A number with its thousands grouped; four digits that matter unless told how many decimals."""
        from babel.numbers import format_decimal

        if not math.isfinite(value):
            return "∞"
        if decimals is None:
            decimals = 0 if value == int(value) or not value else max(0, _DIGITS - 1 - math.floor(math.log10(abs(value))))
        pattern = "#,##0" + ("." + "0" * decimals if decimals else "")
        return str(format_decimal(round(value, decimals), format=pattern, locale=LOCALE[self.lang]))

    def percent(self, share: float) -> str:
        """A share in per cent."""
        value = share * PERCENT
        return self.number(value, 0 if abs(value) >= PERCENT else 1) + ("%" if self.lang == "en" else "\u00a0%")

    def limit(self, code: str, value: float) -> str:
        """The value of a limit with its unit."""
        if code in _MARKS:
            return self("yes")
        unit = _UNITS[code]
        return self.percent(value) if unit == "1" else f"{self.number(value)} {self(f'unit_{unit}') if unit not in ('ms', 'W', 'EUR') else unit}"

    def build(self, build: Build) -> str:
        """Cards, formats and layout in one line."""
        return build.named()

    def broken(self, broken: Broken) -> str:
        """A limit that is broken, and by how much."""
        if broken.code in _MARKS:
            return self(f"broken_{broken.code}")
        if broken.code == "slots" and not math.isfinite(broken.value):
            return self("broken_slots_none")
        return self(f"broken_{broken.code}", value=self.limit(broken.code, broken.value), bound=self.limit(broken.code, broken.bound),
                    over=self.percent(broken.excess))  # fmt: skip

    def why(self, reason: Reason) -> str:
        """Why a build won or lost."""
        if reason.code == "limits":
            return "; ".join(map(self.broken, reason.broken))
        if reason.code == "winner" or reason.by is None:
            return self("why_winner")
        parts = []
        for axis, change in (("cost", reason.cost), ("time", reason.time), ("power", reason.power)):
            if abs(change) >= _SAME:
                parts.append(self(f"{axis}_{'more' if change > 0 else 'less'}", share=self.percent(abs(change))))
        other = self("the_winner") if reason.code == "front" else self.build(reason.by)
        if not parts:
            return self("why_same", other=other)
        return self(f"why_{reason.code}", parts=", ".join(parts), other=other)

    def question(self, plan: Plan) -> str:
        """The question in a sentence."""
        q = plan.question
        return self("question", model=str(q.model["model"]), users=self.number(q.users), input=self.number(q.input_tokens),
                    output=self.number(q.output_tokens), engine=str(q.engine["engine"]))  # fmt: skip

    def answer(self, plan: Plan) -> list[str]:
        """The answer in a few sentences: the winner, how many were compared, what to bear in mind."""
        w, c = plan.winner, plan.candidates
        out = [
            self("winner", build=self.build(w), cost=self.number(w.cost_eur_mtok, 3), outlay=self.number(w.outlay_eur, 0)),
            self("winner_speed", ttft=self.number(w.ttft_ms, 0), tpot=self.number(w.tpot_ms, 1), answer=self.number(w.answer_s, 1),
                 tok_s=self.number(w.output_tok_s, 0), power=self.number(w.power_w, 0)),
            self("counted", candidates=self.number(len(c)), kept=self.number(len(plan.ranked)), front=self.number(len(plan.front))),
        ]  # fmt: skip
        left = [name for name, why in plan.question.left_out if why == "no_price"]
        if left:
            out.append(self("left_out", count=self.number(len(left))))
        return [*out, self("note_quality"), self("note_estimate")]

    def status(self, entry: Ranked) -> str:
        """A word for a build's standing."""
        return self(f"status_{entry.reason.code}")
