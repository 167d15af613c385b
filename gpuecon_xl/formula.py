"""From a traced expression to the text of an Excel formula.

Here: one text per operation, functions of the Excel 2007 set only. Not here: values (`cells`), where cells stand
(``sheets/``). Brackets are always written: Excel reads -a^2 as (-a)^2 and 2^3^2 as (2^3)^2.
"""

from __future__ import annotations

from gpuecon_xl.ops import DECIMALS, IRR_GUESS, Expr

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "^", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "="}
_CALL = {
    "min": "MIN",
    "max": "MAX",
    "where": "IF",
    "and": "AND",
    "or": "OR",
    "iferror": "IFERROR",
    "sum": "SUM",
    "countif": "COUNTIF",
    "count": "COUNT",
    "maxcol": "MAX",
    "mincol": "MIN",
    "large": "LARGE",
    "dot": "SUMPRODUCT",
}
_RANK = {"add": 2, "sub": 2, "mul": 3, "div": 3, "pow": 5, "neg": 4}


def number(value: float) -> str:
    """A number as it stands in a formula."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value))


def quoted(value: str) -> str:
    """A text as it stands in a formula."""
    return '"' + value.replace('"', '""') + '"'


def reference(table: str, column: str, same_row: bool) -> str:
    """A structured reference; brackets and quotes cannot occur, column names are plain."""
    return f"{table}[[#This Row],[{column}]]" if same_row else f"{table}[{column}]"


def text(e: Expr) -> str:
    """The formula, without the leading ``=``."""
    return _text(e, 0)


def _text(e: Expr, outer: int) -> str:
    op, a = e.op, e.args
    if op == "num":
        return number(a[0]) if a[0] >= 0 else f"({number(a[0])})"
    if op == "text":
        return quoted(a[0])
    if op == "bool":
        return "TRUE" if a[0] else "FALSE"
    if op == "this":
        return reference(a[0], a[1], True)
    if op == "col":
        return reference(a[0], a[1], False)
    if op == "name":
        return str(a[0])
    if op in ("add", "mul"):
        # sums and products need no brackets on their left, and none at all inside a weaker operation
        mine = _RANK[op]
        body = f"{_text(a[0], mine)}{_INFIX[op]}{_text(a[1], mine + 1)}"
        return f"({body})" if outer > mine else body
    if op in ("sub", "div"):
        mine = _RANK[op]
        body = f"{_text(a[0], mine)}{_INFIX[op]}{_text(a[1], mine + 1)}"
        return f"({body})" if outer > mine else body
    if op == "pow":
        return f"({_text(a[0], 9)}^{_text(a[1], 9)})"
    if op == "neg":
        return f"(-{_text(a[0], 9)})"
    if op in _INFIX:
        body = f"{_text(a[0], 1)}{_INFIX[op]}{_text(a[1], 1)}"
        return f"({body})" if outer > 0 else body
    if op in _CALL:
        return f"{_CALL[op]}({','.join(_text(x, 0) for x in a)})"
    if op == "ceil":
        return f"CEILING(ROUND({_text(a[0], 0)},{DECIMALS}),1)"
    if op == "floor":
        return f"FLOOR(ROUND({_text(a[0], 0)},{DECIMALS}),1)"
    if op == "round9":
        return f"ROUND({_text(a[0], 0)},{DECIMALS})"
    if op == "index":
        return f"INDEX({_text(a[0], 0)},{_text(a[1], 0)})"
    if op == "match":
        return f"MATCH({_text(a[0], 0)},{_text(a[1], 0)},0)"
    if op == "rank":
        group, key, order, g, k, o = (_text(x, 0) for x in a)
        return f"1+SUMPRODUCT(({group}={g})*({key}<{k}))+SUMPRODUCT(({group}={g})*({key}={k})*({order}<{o}))"
    if op == "counterr":
        return f"SUMPRODUCT(ISERROR({_text(a[0], 0)})*1)"
    if op == "join":
        body = "&".join(_text(x, 1) for x in a)
        return f"({body})" if outer > 0 else body
    if op == "shown":
        return f"ROUND({_text(a[0], 0)},{a[1].args[0]})"
    if op == "countifs2":
        return f"SUMPRODUCT(({_text(a[0], 0)}={_text(a[1], 0)})*({_text(a[2], 0)}={_text(a[3], 0)}))"
    if op == "counttext":
        return f'SUMPRODUCT(({_text(a[0], 0)}<>"")*1)'
    if op == "countprice":
        return f'SUMPRODUCT(({_text(a[0], 0)}<>"")*({_text(a[1], 0)}=""))'
    if op == "countorder":
        low, middle, high = (_text(x, 0) for x in a)
        return f'SUMPRODUCT(({low}<>"")*({middle}<>"")*({low}>{middle}))+SUMPRODUCT(({high}<>"")*({middle}<>"")*({high}<{middle}))'
    if op == "countold":
        return f'SUMPRODUCT(({_text(a[0], 0)}<>"")*({_text(a[0], 0)}<{_text(a[1], 0)}))'
    if op == "irr":
        return f"IRR({_text(a[0], 0)},{IRR_GUESS})"
    if op == "sumupto":
        return f'SUMIF({_text(a[0], 0)},"<="&{_text(a[1], 1)},{_text(a[2], 0)})'
    if op == "countabove":
        return f'COUNTIF({_text(a[0], 0)},">"&{_text(a[1], 1)})'
    if op == "monthstart":
        date = _text(a[0], 0)
        return f"DATE(YEAR({date}),MONTH({date})+{_text(a[1], 3)},1)"
    if op == "called":
        return f"{a[1].args[0]}({','.join(_text(x, 0) for x in a[2:])})"
    if op == "whole":
        return f"{a[0]}[[#All]]" if a[1:] == (True,) else f"{a[0]}[#All]"
    if op == "missing":
        return ""
    if op == "na":
        return "NA()"
    if op in ("exp", "ln"):
        return f"{op.upper()}({_text(a[0], 0)})"
    if op == "log2":
        return f"(LN({_text(a[0], 0)})/LN(2))"
    raise ValueError(f"the operation {op} has no Excel text")
