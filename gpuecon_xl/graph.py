"""The dependency graph of the equations: names resolved, quantities ordered, plans compiled.

Here: which quantities an output needs, in which order, and a compiled function that computes them; the traced
expression of an equation. Not here: the equations (``equations/``) and the facts (`catalog`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import gpuecon_xl.equations as _equations  # noqa: F401  (registers every quantity)
from gpuecon_xl.ops import Expr, lift
from gpuecon_xl.quantity import REGISTRY, Quantity


class GraphError(Exception):
    """An equation needs a name that nothing gives."""


def order(outputs: Iterable[str], given: Iterable[str]) -> list[Quantity]:
    """Quantities needed for `outputs` when `given` are inputs, each after those that it needs.

    Parameters
    ----------
    outputs : names of quantities wanted.
    given : names that are inputs; a quantity that is given is not computed.

    Raises
    ------
    GraphError
        When a parameter is neither given nor a quantity, or quantities need each other in a circle.
    """
    known = set(given)
    done: dict[str, Quantity] = {}
    open_: list[str] = []

    def visit(name: str, wanted_by: str) -> None:
        if name in known or name in done:
            return
        if name in open_:
            raise GraphError(f"{' -> '.join([*open_, name])} is a circle")
        if name not in REGISTRY:
            raise GraphError(f"{wanted_by} needs {name}, which is neither an input nor a quantity")
        open_.append(name)
        for parameter in REGISTRY[name].parameters:
            visit(parameter, name)
        open_.pop()
        done[name] = REGISTRY[name]

    for output in outputs:
        visit(output, "the caller")
    return list(done.values())


@lru_cache(maxsize=256)
def plan(outputs: tuple[str, ...], given: tuple[str, ...]) -> Callable[..., tuple[Any, ...]]:
    """Compile the computation of `outputs` from `given` into one function of the given values, in their order.

    The function works on floats and on numpy arrays alike; there is no walk of the graph when it is called.
    """
    steps = order(outputs, given)
    lines = [f"def computed({', '.join(given)}):"]
    lines += [f"    {q.name} = _{q.name}({', '.join(q.parameters)})" for q in steps]
    lines.append(f"    return ({', '.join(outputs)},)")
    space: dict[str, Any] = {f"_{q.name}": q.function for q in steps}
    exec("\n".join(lines), space)  # noqa: S102  (text made of registered names only)
    return space["computed"]  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def staged(outputs: tuple[str, ...], fixed: tuple[str, ...], varying: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split a plan in two: quantities that depend on `fixed` inputs only, and the rest.

    Returns
    -------
    carried : names (inputs and quantities) that the second stage needs from the first.
    second : ``carried + varying``, the inputs of the second stage.
    """
    early = set(fixed)
    needed: list[str] = []
    steps = order(outputs, (*fixed, *varying))
    for q in steps:
        if all(p in early for p in q.parameters):
            early.add(q.name)
    for q in steps:
        if q.name not in early:
            needed += [p for p in q.parameters if p in early]
    needed += [o for o in outputs if o in early]
    carried = tuple(dict.fromkeys(needed))
    return carried, carried + varying


@lru_cache(maxsize=512)
def traced(name: str) -> Expr:
    """The expression of one equation, its parameters as leaves ``arg``."""
    q = REGISTRY[name]
    return lift(q.function(*(Expr("arg", p) for p in q.parameters)))


def substitute(expression: Expr, leaves: Callable[[str], Expr]) -> Expr:
    """The expression with every ``arg`` leaf replaced."""
    if expression.op == "arg":
        return leaves(expression.args[0])
    if expression.op in ("num", "text", "bool", "this", "col", "name"):
        return expression
    return Expr(expression.op, *(substitute(a, leaves) for a in expression.args))


def parameters_of(names: Sequence[str]) -> set[str]:
    """Names of inputs that a set of quantities needs when nothing is given."""
    seen: set[str] = set()
    inputs: set[str] = set()
    stack = list(names)
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        if n in REGISTRY:
            stack += REGISTRY[n].parameters
        else:
            inputs.add(n)
    return inputs
