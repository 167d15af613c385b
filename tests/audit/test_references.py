"""Two ways of writing one formula are one formula; two formulas are two."""

from __future__ import annotations

import pytest

from gpuecon_xl.audit.inputs import format_sign
from gpuecon_xl.audit.references import Area, Where, outside, spelled, tokens, volatile
from gpuecon_xl.reader import Region

WHERE = Where(
    {"Prices": Region("Preise", 9, 48, {"gpu": 1, "low": 2, "typical": 3}), "Versus": Region("My sheet", 31, 5, {"gpu": 1, "rel": 2})},
    {"pue": ("Annahmen", 12, 2), "area_name": None},
    ["Preise", "Annahmen", "My sheet"],
)
HERE = ("Preise", 12, 3)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("=MAX(1-pue,1e-09)", "=MAX(1 - PUE, 0.000000001)"),
        ("=MAX(1-pue,1e-09)", "=MAX(1-pue,1.0000000000000000E-9)"),
        ("=SUM(Prices[low])", "=SUM(Preise!$B$9:$B$56)"),
        ("=SUM(Prices[low])", "=SUM('Preise'!B9:B56)"),
        ("=SUM(Prices[low])", "=SUM(Prices[[#Data],[low]])"),
        ("=Prices[[#This Row],[low]]*2", "=$B12*2"),
        ("=Prices[[#This Row],[low]]*2", "=Prices[@low]*2"),
        ("=Prices[[#This Row],[low]]*2", "=[@[low]]*2"),
        ("=Prices[[#This Row],[low]]*2", "=[[#This Row],[LOW]]*2"),
        ("=SUM(Versus[rel])", "=SUM('My sheet'!$B$31:$B$35)"),
        ("=IFERROR(Prices[low],0)", "=_xlfn.IFERROR(Prices[low];0)"),
        ("=CEILING(pue,1)", "=COM.MICROSOFT.CEILING(pue,1)"),
        ("=MAX(pue,1)", "=MAX(Annahmen!$B$12,1)"),
        ("=IF(TRUE,1,2)", "=IF(TRUE(),1,2)"),
        ('="a, b"&" c"', '="a, b" & " c"'),
        ("=ROWS(Prices[#All])", "=ROWS(Prices[[#All]])"),
        ("=ROWS(Prices[#All])", "=ROWS($A$8:$C$56)"),
    ],
)
def test_one_formula(one: str, other: str) -> None:
    assert WHERE.same(one, other, *HERE)
    assert WHERE.same(other, one, *HERE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("=MAX(1-pue,1e-09)", "=MAX(1-pue,1e-08)"),
        ("=SUM(Prices[low])", "=SUM(Preise!$B$9:$B$55)"),
        ("=SUM(Prices[low])", "=SUM(Prices[typical])"),
        ("=Prices[[#This Row],[low]]*2", "=$B13*2"),
        ("=Prices[[#This Row],[low]]", "=Prices[low]"),
        ('="a, b"', '="a,b"'),
        ("=pue", "=pue*1"),
        ("=(1+2)*3", "=1+2*3"),
        ("=SUM(Prices[low])", "=SUM(Annahmen!$B$9:$B$56)"),
    ],
)
def test_two_formulas(one: str, other: str) -> None:
    assert not WHERE.same(one, other, *HERE)


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("=#REF!*2", "#REF!"),
        ("=SUM(Preise!#REF!)", "Preise!#REF!"),
        ("=Prices[no_such]", "prices[no_such]"),
        ("=Prices[#REF!]", "prices[]"),
        ("=Elsewhere[low]", "elsewhere[low]"),
        ("=no_such_name+1", "no_such_name"),
        ("=Gone!A1", "Gone!"),
        ("=pue+area_name+SUM(Prices[low])+B2+'My sheet'!A1", ""),
        ('="Gone!A1 #REF!"', ""),
        ("=LOG10(5)+TRUE", ""),
    ],
)
def test_broken_references(text: str, gone: str) -> None:
    assert WHERE.broken(text, *HERE) == gone


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("=[1]Sheet1!A1", True),
        ("='[budget 2026.xlsx]Plan'!$C$4*2", True),
        ("='C:\\data\\[budget.xlsx]Plan'!C4", True),
        ("=[2]!total", True),
        ("='file:///srv/budget.xlsx'#$Plan.C4", True),
        ("=Prices[low]", False),
        ("=[@low]", False),
        ('="[1]Sheet1!A1"', False),
        ("='My sheet'!A1", False),
    ],
)
def test_other_files(text: str, found: bool) -> None:
    assert bool(outside(text)) == found


def test_volatile_functions() -> None:
    assert volatile("=IF(pue>1,today(),0)") == "TODAY"
    assert volatile('=SUM(OFFSET(A1,1,0))&"NOW()"') == "OFFSET"
    assert volatile('="TODAY()"&pue') == ""
    assert volatile("=INDEX(Prices[low],2)") == ""


def test_what_a_formula_reads() -> None:
    assert WHERE.areas("=pue*Prices[@low]+SUM(Versus[rel],A1:B2,Annahmen!C:C)", *HERE) == [
        Area("Annahmen", 12, 2, 12, 2), Area("Preise", 12, 2, 12, 2), Area("My sheet", 31, 2, 35, 2), Area("Preise", 1, 1, 2, 2),
        Area("Annahmen", 1, 3, 1_048_576, 3),
    ]  # fmt: skip


def test_spelling_moves_with_the_cell() -> None:
    assert spelled("=A1+$B$1", 1, 3) == spelled("=A2+$B$1", 2, 3)
    assert spelled("=A1+$B$1", 1, 3) != spelled("=A1+$B$1", 2, 3)
    assert tokens("=1+ 2") == tokens("=1+2")


@pytest.mark.parametrize(
    ("number_format", "currency"),
    [
        ('"$"#,##0', "USD"),
        ("[$$-409]#,##0.00", "USD"),
        (r"\$#,##0", "USD"),
        ('#,##0 "€"', "EUR"),
        ("#,##0.00 [$€-407]", "EUR"),
        ("#,##0 [$USD]", "USD"),
        ('#,##0 "kr."', "DKK"),
        ("[$-409]d-mmm-yy", ""),
        ("[$-F800]dddd", ""),
        ("#,##0;-#,##0;0", ""),
        ("General", ""),
    ],
)
def test_currency_of_a_number_format(number_format: str, currency: str) -> None:
    assert format_sign(number_format) == currency
