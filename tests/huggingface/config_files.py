"""The configuration files of published models, and what is known of each.

``tests/data/configs/configs.csv``: file, the model's name in the catalogue, the address of the published file, whether its
values were read from a copy or recalled, and its number of parameters with who counted them. The files hold the published
keys that say something about size; parameters "transformers 5.24.0" were counted by building the model of that library on
the meta device, which is independent of the code here.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "data" / "configs"


def published() -> list[dict[str, str]]:
    """A row for each file."""
    with (FOLDER / "configs.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def config_of(name: str) -> Any:
    """The content of a file."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def written(folder: Path, tree: Any, name: str = "config.json") -> Path:
    """A configuration file of this content."""
    path = folder / name
    path.write_text(json.dumps(tree), encoding="utf-8")
    return path
