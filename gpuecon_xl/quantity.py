"""What makes a function an equation: its unit, its equation as text, its place in the dependency graph.

Here: the decorator and the registry. Not here: equations (``equations/``), resolution of names (`graph`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# A number, a numpy array or a traced expression: every equation takes and gives any of them.
Num = Any


@dataclass(frozen=True)
class Quantity:
    """An equation: the quantity's name, the function, its parameters, unit and equation as a person writes it."""

    name: str
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    unit: str
    equation: str
    summary: str
    source: str


REGISTRY: dict[str, Quantity] = {}


def quantity(unit: str, equation: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the quantity that it is named after.

    Parameters
    ----------
    unit : unit of what it returns, as it stands above the column in the workbook.
    equation : the equation in the field's notation.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if function.__name__ in REGISTRY:
            raise ValueError(f"two equations are called {function.__name__}")
        doc = inspect.getdoc(function) or ""
        source = next((part.split(":", 1)[1].strip() for part in doc.split("\n\n") if part.startswith("Source:")), "")
        REGISTRY[function.__name__] = Quantity(
            function.__name__,
            function,
            tuple(inspect.signature(function).parameters),
            unit,
            equation,
            doc.split("\n\n", 1)[0].replace("\n", " "),
            " ".join(source.split()),
        )
        return function

    return register
