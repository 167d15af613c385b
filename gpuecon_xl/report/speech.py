"""Words, numbers and dates of a report in its language.

Here: Babel's formats and the translation of words that the book's formulas show. Not here: what is said (`content`).
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from babel.dates import format_date
from babel.numbers import format_decimal

from gpuecon_xl.lang import load

_LOCALE = {"en": "en_GB", "de": "de_DE", "da": "da_DK"}
_NBSP = "\u00a0"
# By kind of figure: Babel's pattern; the same number of decimals as in the workbook.
_PATTERN = {"rate": "#,##0.000", "signed": "+#,##0.000;-#,##0.000", "money": "#,##0", "whole": "#,##0", "pct": "0.0", "change": "+0.0;-0.0"}


class Speech:
    """Texts of one language for figures of a book that may be in another one; those of a user's folder go first."""

    def __init__(self, lang: str, book_lang: str, own: Path | None = None) -> None:
        self.lang = lang
        self.texts = load(lang, own)
        theirs = load(book_lang)
        self._words = {theirs(f"word.{code}"): self.texts(f"word.{code}") for code in theirs.codes("word.")}

    def __call__(self, key: str, **values: str) -> str:
        """A text of the section [report]."""
        return self.texts(f"report.{key}", **values)

    def value(self, value: Any) -> Any:
        """A cell's value for readers: words in the report's language, an error as words."""
        if isinstance(value, str):
            if value.startswith("#"):
                return self.texts("word.not_computed")
            return self._words.get(value, value)
        return value

    def number(self, value: float, kind: str) -> str:
        """A number as people of the language write it."""
        if kind in ("pct", "change"):
            sign = "%" if self.lang == "en" else f"{_NBSP}%"
            return _decimal(round(value * 100, 1) + 0.0, _PATTERN[kind], self.lang) + sign
        return _decimal(value, _PATTERN[kind], self.lang)

    def shown(self, value: Any, kind: str) -> str:
        """Any value as text: a number by its kind, a date, a word."""
        if isinstance(value, dt.date):
            return self.date(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return str(self.value(value))
        return self.number(float(value), kind) if kind in _PATTERN else _decimal(float(value), "#,##0.###", self.lang)

    def date(self, value: Any) -> str:
        """A date in words; what is no date as it stands."""
        return format_date(value, "long", locale=_LOCALE[self.lang]) if isinstance(value, dt.date) else str(value)


def _decimal(value: float, pattern: str, lang: str) -> str:
    return str(format_decimal(value, format=pattern, locale=_LOCALE[lang])).replace("-", "−")
