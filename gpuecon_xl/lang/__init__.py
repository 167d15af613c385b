"""Texts in English, German and Danish: one TOML file each, the same keys in all.

Here: loading and looking up. Not here: numbers, names of tables and columns (they are the same in every language).
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path

from gpuecon_xl.errors import BadFile, NameNotFound, nearest

LANGUAGES = ("en", "de", "da")
_VALUES = re.compile(r"\{[a-z_]+\}")
_SHEETS = ("quote.offer", "quote.economics", "quote.assumptions")  # texts that name the sheets of an offer
_SHEET_NAME = re.compile(r"[^\[\]:*?/\\']{1,31}")


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


@lru_cache(maxsize=16)
def load(lang: str, folder: Path | None = None) -> Texts:
    """Texts of a language.

    Parameters
    ----------
    folder : a user's folder; texts in its file of that language go before the shipped ones.

    Raises
    ------
    NameNotFound
        For a language that does not exist.
    BadFile
        For a user's file with a text that does not exist, or one that wants other values than the shipped text.
    """
    if lang not in LANGUAGES:
        raise NameNotFound(f"language {lang[:20]!r} does not exist; one of {', '.join(LANGUAGES)} is due")
    entries = _flat(Path(__file__).parent / f"{lang}.toml")
    if folder is not None:
        if not folder.is_dir():
            raise BadFile(f"{folder}: no such folder; a folder with texts such as {lang}.toml is due")
        own = folder / f"{lang}.toml"
        if own.is_file():
            entries |= _checked(own, _flat(own, whole=True), entries)
    return Texts(lang, entries)


def language(text: str) -> str:
    """The code of a language as a person gives it: spaces around it and capitals do not matter."""
    wanted = text.strip().lower()
    return load(wanted if wanted in LANGUAGES else text).lang


def _flat(path: Path, *, whole: bool = False) -> dict[str, str]:
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFile(f"{path} is no TOML file of texts: {str(error)[:120]}") from None
    loose = [key for key, entries in tree.items() if not isinstance(entries, dict)]
    if whole and loose:
        raise BadFile(f"{path} has {loose[0][:60]!r} outside of a section; a text stands in one, such as [quote]")
    return {f"{section}.{key}": text for section, entries in tree.items() if isinstance(entries, dict) for key, text in entries.items()}


def _checked(path: Path, own: dict[str, str], shipped: dict[str, str]) -> dict[str, str]:
    problems = []
    for key, text in own.items():
        if key not in shipped:
            problems.append(f"{path} has the text {key[:60]!r}, which does not exist; nearest: {nearest(key, shipped)}")
        elif not isinstance(text, str):
            problems.append(f"{path}, {key}: a text is due")
        elif set(_VALUES.findall(text)) - set(_VALUES.findall(shipped[key])) or _VALUES.sub("", text).count("{") or _VALUES.sub("", text).count("}"):
            problems.append(f"{path}, {key}: only {', '.join(_VALUES.findall(shipped[key])) or 'plain text without braces'} may stand in it")
        elif any(not c.isprintable() and not (c == "\n" and c in shipped[key]) for c in text):
            problems.append(f"{path}, {key}: holds a line break or a character that cannot be seen; text in one line is due")
        elif key in _SHEETS and not _SHEET_NAME.fullmatch(text):
            problems.append(f"{path}, {key}: names a sheet; 1 to 31 characters without [ ] : * ? / \\ ' are due")
    names = [str((shipped | own)[k]).lower() for k in _SHEETS]
    if len(set(names)) < len(names):
        problems.append(f"{path}: {', '.join(_SHEETS)} name sheets; three different names are due")
    if problems:
        raise BadFile(problems[0] if len(problems) == 1 else f"{path} has {len(problems)} problems:", problems)
    return own
