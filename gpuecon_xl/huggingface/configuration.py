"""A config.json as a tree whose keys are asked for one by one; what is missing or wrong is collected, not raised at once.

Here: reading a JSON file strictly and within bounds, and `Config`, which answers a key with its value, with the library's
documented default (``defaults.toml``), or with a stand-in and a note of the problem. Not here: what the keys mean
(`families`).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpuecon_xl.errors import BadFile

MAX_CONFIG_BYTES = 4_000_000  # the longest published ones, with a block for each layer, have 0.1 MB
MAX_COUNT = 10**12  # no width, vocabulary or context is larger
MAX_LAYERS = 10_000

Tree = dict[str, Any]


def read_json(path: Path, most_bytes: int = MAX_CONFIG_BYTES) -> Tree:
    """The object that a JSON file holds.

    Raises
    ------
    BadFile
        When there is none, it is too large, not UTF-8, not strict JSON (a key twice, NaN), or no object: one sentence.
    """
    if not path.is_file():
        raise BadFile(f"{path}: no such file; the path of a JSON file is due")
    size = path.stat().st_size
    if size > most_bytes:
        raise BadFile(f"{path} has {size} bytes; at most {most_bytes} are read")
    try:
        tree = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_once, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise BadFile(f"{path} is not UTF-8 text; a JSON file is due") from None
    except json.JSONDecodeError as error:
        raise BadFile(f"{path} line {error.lineno} column {error.colno}: {error.msg}; valid JSON is due") from None
    except RecursionError:
        raise BadFile(f"{path} is nested too deeply; the configuration of a model is due") from None
    except ValueError as error:
        raise BadFile(f"{path}: {error}; strict JSON is due") from None
    if not isinstance(tree, dict):
        raise BadFile(f"{path} holds no object; a JSON object with the keys of a model is due")
    return tree


def _once(pairs: list[tuple[str, Any]]) -> Tree:
    made: Tree = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"the key {key[:60]!r} stands twice")
        made[key] = value
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


@lru_cache(maxsize=1)
def published_defaults() -> dict[str, Tree]:
    """What the library's configuration classes fill in, by `model_type`; the keys are the types that are known."""
    with Path(__file__).with_name("defaults.toml").open("rb") as file:
        return tomllib.load(file)


@dataclass
class Findings:
    """What is missing, what is wrong and what does not go together in a file, in the order of asking."""

    due: str = "a complete config.json"
    missing: dict[str, None] = field(default_factory=dict)
    problems: dict[str, None] = field(default_factory=dict)
    conflicts: dict[str, None] = field(default_factory=dict)

    def lacks(self, key: str) -> None:
        """A key that is due is not there."""
        self.missing[key] = None

    def wrong(self, sentence: str) -> None:
        """Something that cannot be used: what it is, and what is due."""
        self.problems[sentence] = None

    def conflict(self, sentence: str) -> None:
        """Values that do not go together; said only when each of them is there and can be used."""
        self.conflicts[sentence] = None

    def sentences(self) -> list[str]:
        """All of it, one sentence each."""
        keys = ", ".join(self.missing)
        lacking = [f"lacks the key{'s' if len(self.missing) > 1 else ''} {keys}; {self.due} is due"] if keys else []
        found = [*lacking, *self.problems]
        return found or list(self.conflicts)


class Config:
    """Keys of a JSON object.

    Parameters
    ----------
    tree : the object.
    defaults : values that the library takes for keys left out.
    findings : where problems go.
    prefix : how messages begin a key of this object, such as ``text_config.``.
    """

    def __init__(self, tree: Mapping[str, Any], defaults: Mapping[str, Any], findings: Findings, prefix: str = "") -> None:
        self.tree, self.defaults, self.findings, self.prefix = tree, defaults, findings, prefix

    def has(self, key: str) -> bool:
        """Whether the file gives the key a value."""
        return self.tree.get(key) is not None

    def value(self, *keys: str) -> Any:
        """The value of the first of some spellings that has one, else the library's default, else None."""
        for source in (self.tree, self.defaults):
            for key in keys:
                if source.get(key) is not None:
                    return source[key]
        return None

    def _wrong(self, key: str, value: Any, due: str) -> None:
        self.findings.wrong(f"{self.prefix}{key} is {json.dumps(value)[:60]}; {due} is due")

    def wrong(self, key: str, due: str) -> None:
        """Note that the value of a key cannot be used."""
        self._wrong(key, self.value(key), due)

    def conflict(self, key: str, due: str) -> None:
        """Note that the value of a key does not go with others."""
        self.findings.conflict(f"{self.prefix}{key} is {json.dumps(self.value(key))[:60]}; {due} is due")

    def count(self, *keys: str, least: int = 1, most: int = MAX_COUNT) -> int:
        """A whole number that must be there."""
        value = self.value(*keys)
        if value is None:
            self.findings.lacks(self.prefix + " or ".join(keys))
            return max(least, 1)
        return self._whole(keys, value, least, most)

    def count_or(self, otherwise: int, *keys: str, least: int = 0) -> int:
        """A whole number, or what it means when the key is left out or null."""
        value = self.value(*keys)
        return otherwise if value is None else self._whole(keys, value, least, MAX_COUNT)

    def _whole(self, keys: tuple[str, ...], value: Any, least: int, most: int) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            key = next((k for k in keys if self.has(k)), keys[0])
            self._wrong(key, value, f"a whole number from {least} to {most}")
            return max(least, 1)
        return value

    def number(self, key: str) -> float:
        """A number above 0 that must be there."""
        value = self.value(key)
        if value is None:
            self.findings.lacks(self.prefix + key)
        elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MAX_COUNT:
            self._wrong(key, value, f"a number above 0, at most {MAX_COUNT},")
        else:
            return float(value)
        return 1.0

    def flag(self, key: str) -> bool:
        """A true or false that must be there or have a default."""
        value = self.value(key)
        if value is None:
            self.findings.lacks(self.prefix + key)
        elif not isinstance(value, bool):
            self._wrong(key, value, "true or false")
        return value is True

    def text(self, key: str) -> str:
        """A text that must be there."""
        value = self.value(key)
        if value is None:
            self.findings.lacks(self.prefix + key)
            return ""
        if not isinstance(value, str):
            self._wrong(key, value, "a text")
            return ""
        return value

    def items(self, key: str, length: int | None = None) -> list[Any] | None:
        """A list, of a length if one is due; None when the key is left out or the list cannot be used."""
        value = self.value(key)
        if value is None:
            return None
        if not isinstance(value, list):
            self._wrong(key, value, "a list")
            return None
        if length is not None and len(value) != length:
            self.findings.conflict(f"{self.prefix}{key} has {len(value)} entries; one for each of the {length} layers is due")
            return None
        return value

    def child(self, key: str, defaults: Mapping[str, Any] | None = None) -> Config:
        """The object under a key that must be there."""
        value = self.tree.get(key)
        if value is None:
            self.findings.lacks(self.prefix + key)
        elif not isinstance(value, dict):
            self._wrong(key, value, "an object")
        return Config(value if isinstance(value, dict) else {}, defaults or {}, self.findings, f"{self.prefix}{key}.")
