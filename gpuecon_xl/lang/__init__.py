"""Texts in English, German and Danish: one TOML file each, the same keys in all.

Here: loading and looking up. Not here: numbers, names of tables and columns (they are the same in every language).
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path

from gpuecon_xl.errors import NameNotFound

LANGUAGES = ("en", "de", "da")


class Texts:
    """The texts of one language."""

    def __init__(self, lang: str, entries: dict[str, str]) -> None:
        self.lang = lang
        self._entries = entries

    def __call__(self, key: str, **values: str) -> str:
        """The text of a key, with `{name}` filled in."""
        try:
            text = self._entries[key]
        except KeyError:
            raise NameNotFound(f"text {key!r} is missing in lang/{self.lang}.toml") from None
        return text.format(**values) if values else text

    def get(self, key: str) -> str | None:
        """The text of a key, or None."""
        return self._entries.get(key)

    def codes(self, prefix: str) -> list[str]:
        """What follows a prefix in the keys that begin with it, in the file's order."""
        return [k[len(prefix) :] for k in self._entries if k.startswith(prefix)]


@lru_cache(maxsize=4)
def load(lang: str) -> Texts:
    """Texts of a language.

    Raises
    ------
    NameNotFound
        For a language that does not exist.
    """
    if lang not in LANGUAGES:
        raise NameNotFound(f"language {lang[:20]!r} does not exist; one of {', '.join(LANGUAGES)} is due")
    with (Path(__file__).parent / f"{lang}.toml").open("rb") as file:
        tree = tomllib.load(file)
    return Texts(lang, {f"{section}.{key}": text for section, entries in tree.items() for key, text in entries.items()})
