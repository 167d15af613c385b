"""The physics and the money: pure functions by topic.

A function's name is the quantity that it returns; its parameters are names of other quantities or of inputs. So the set
of functions is a dependency graph, as a sheet is. Not here: facts (``catalog/``), resolution of names (`graph`).
"""

from gpuecon_xl.equations import breakeven, cost, decode, finance, fleet, memory, parallel, prefill, serving, tco

__all__ = ["breakeven", "cost", "decode", "finance", "fleet", "memory", "parallel", "prefill", "serving", "tco"]
