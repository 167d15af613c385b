"""Hostile and wrong requests: one sentence each that names file, line and field; nothing is written."""

from __future__ import annotations

import json
import re
import struct
import tomllib
import zlib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from quote_parts import PLAIN, REQUESTS, SAMPLES, TODAY, made, refusal, seller, unzipped

from gpuecon_xl import cli
from gpuecon_xl.catalog import shipped
from gpuecon_xl.errors import BadFile, BadValue
from gpuecon_xl.quote import fields, logo, offer, source, vat
from gpuecon_xl.quote.seller import read_seller

BASE = """language = "de"
date = 2026-12-01
[customer]
name = "Probe"
country = "DE"
[[line]]
gpu = "L4"
list_price = 3000
"""

WRONG = {
    "price 1e308": (BASE.replace("3000", "1e308"), "line 8, line[1].list_price"),
    "price nan": (BASE.replace("3000", "nan"), "line 8, line[1].list_price"),
    "price inf": (BASE.replace("3000", "inf"), "line 8, line[1].list_price"),
    "price with an exponent beyond all": (BASE.replace("3000", "1e999999999999999999999"), "such an exponent"),
    "price of 5,000 digits": (BASE.replace("3000", "1" * 5000), "thousands of digits"),
    "price in other digits": (BASE.replace("3000", '"٣٠٠٠"'), "a number from 0"),
    "price with a point for thousands": (BASE.replace("3000", '"3.000,50"'), "a number from 0"),
    "price as a formula": (BASE.replace("3000", '"=1+1"'), "a number from 0"),
    "price of a thousandth": (BASE.replace("3000", "3000.001"), "at most 2 decimals"),
    "negative price": (BASE.replace("3000", "-1"), "line 8, line[1].list_price is"),
    "negative quantity": (BASE + "quantity = -2\n", "line 9, line[1].quantity is"),
    "zero quantity": (BASE + "quantity = 0\n", "line 9, line[1].quantity"),
    "count of 0.5": (BASE + "count = 0.5\n", "a whole number"),
    "discount of 110 %": (BASE + 'discount = "110 %"\n', "line 9, line[1].discount"),
    "margin of 1": (BASE.replace("list_price = 3000", "margin = 1"), "line 8, line[1].margin"),
    "margin and price": (BASE + "margin = 0.2\n", "one of them is due"),
    "unknown field": ("curency = 'EUR'\n" + BASE, "line 1, curency is no field; nearest: currency"),
    "unknown field of a line": (BASE + "preis = 3\n", "line 9, line[1].preis is no field"),
    "unknown block": (BASE + "[shop]\na = 1\n", "line 9, shop is no field"),
    "unknown card": (BASE.replace("L4", "L5"), "line 7, line[1].gpu: GPU 'L5' is not in the catalogue; nearest"),
    "unknown build": (BASE.replace('gpu = "L4"', 'build = "9x L4"'), "line[1].build"),
    "unknown workload": (BASE.replace('gpu = "L4"', 'workload = "x"'), "line[1].workload"),
    "two things in a line": (BASE + 'item = "x"\n', "gpu and item"),
    "nothing in a line": (BASE.replace('gpu = "L4"\n', ""), "nothing that is offered"),
    "no lines": (BASE.partition("[[line]]")[0], "line is missing"),
    "no customer": (BASE.replace("[customer]", "[customers]"), "customer is missing"),
    "no name": (BASE.replace('name = "Probe"\n', ""), "customer.name is missing"),
    "valid until before the date": ("valid_until = 2026-11-30\n" + BASE, "line 1, valid_until is 2026-11-30, before"),
    "no date": (BASE.replace("2026-12-01", '"31.02.2026"'), "line 2, date"),
    "language": (BASE.replace('"de"', '"fr"'), "line 1, language is 'fr'; one of en, de, da is due"),
    "currency": ("currency = 'DKK'\n" + BASE, "one of EUR, USD is due"),
    "country": (BASE.replace('"DE"', '"Germany"'), "customer.country"),
    "no country": (BASE.replace('"DE"', '"QQ"'), "customer.country"),
    "control character": (BASE.replace("Probe", "Pro\\u0007be"), "U+0007"),
    "direction mark": (BASE.replace("Probe", "Pro\\u202Ebe"), "U+202E"),
    "name that takes no room": (BASE.replace("Probe", "\\u200D"), "customer.name is empty"),
    "name with a gap of no width": (BASE.replace("Probe", "Pro\\u200Bbe"), "U+200B"),
    "name of a private letter": (BASE.replace("Probe", "\\uE000"), "U+E000"),
    "number in two lines": ('number = "a\\nb"\n' + BASE, "U+000A"),
    "101 lines": (BASE + '[[line]]\nitem = "x"\nlist_price = 1\n' * 100, "has 101 entries; at most 100"),
    "one table for the lines": (BASE.replace("[[line]]", "[line]"), "is no list"),
    "valid for ever": ("valid_days = 1000000000000\n" + BASE, "from 0 to 730"),
    "valid until and days": ("valid_days = 3\nvalid_until = 2026-12-02\n" + BASE, "one of them is due"),
    "time for a date": (BASE.replace("2026-12-01", "10:00:00"), "line 2, date"),
    "year 9999": (BASE.replace("2026-12-01", "9999-12-31"), "from 2000 to 2100"),
    "payment in French": ('payment = { fr = "x" }\n' + BASE, "has the language 'fr'"),
    "half a card": (BASE + 'quantity = 0.5\n[economics]\nmodel = "Llama 3.1 8B"\n', "a whole number up to"),
    "a minute of economics": (BASE + '[economics]\nmodel = "Llama 3.1 8B"\nhorizon_years = 0.000001\n', "from 0.1 to 20"),
    "a million cards": (BASE + "count = 1000000\n", "a whole number from 1 to 100000"),
    "price that no margin bears": (BASE.replace("list_price = 3000", "cost = 999999999\nmargin = 0.94"), "above 1,000,000,000"),
    "vat number of Greece by its country": (BASE.replace('country = "DE"', 'country = "GR"\nvat_id = "GR123456789"'), "begins with its country"),
    "lines in a name": (BASE.replace("Probe", "a\\nb"), "U+000A"),
    "name of 5,000 letters": (BASE.replace("Probe", "x" * 5000), "has 5000 characters"),
    "vat number short": (
        BASE.replace('country = "DE"', 'country = "DK"\nvat_id = "DK1234567"'),
        "line 6, customer.vat_id is 'DK1234567'; DK and 8 digits",
    ),
    "vat number of another country": (BASE.replace('country = "DE"', 'country = "DK"\nvat_id = "DE123456789"'), "a number of DE; one of DK is due"),
    "vat number of no country": (BASE.replace('country = "DE"', 'country = "AT"\nvat_id = "12345678"'), "customer.vat_id"),
    "reverse charge without a number": ('vat = "eu"\n' + BASE.replace('"DE"', '"FR"'), "customer.vat_id is missing"),
    "reverse charge at home": ('vat = "eu"\n' + BASE, "two different countries"),
    "reverse charge outside": ('vat = "eu"\n' + BASE.replace('"DE"', '"CH"'), "two different countries"),
    "export inside": ('vat = "export"\n' + BASE.replace('"DE"', '"FR"'), "'eu or domestic' is due"),
    "domestic outside": ('vat = "domestic"\n' + BASE.replace('"DE"', '"CH"'), "'export' is due"),
    "no such company": ('seller = "x"\n' + BASE, "nearest in the seller file: danmark"),
    "item without a price": (BASE.replace('gpu = "L4"\nlist_price = 3000', 'item = "x"'), "list_price is missing"),
    "economics without a model": (BASE + "[economics]\nbatch = 3\n", "economics.model is missing"),
    "economics too big": (BASE + '[economics]\nmodel = "Llama 3.1 405B"\n', "does not fit"),
    "economics of another card": (BASE + '[economics]\nmodel = "Llama 3.1 8B"\ngpu = "L40S"\n', "no line has L40S"),
    "half an API": (BASE + '[economics]\nmodel = "Llama 3.1 8B"\napi_in = 3\n', "both prices"),
    "free API": (BASE + '[economics]\nmodel = "Llama 3.1 8B"\nprecision = "fp8"\napi_in = 0\napi_out = 0\n', "above 0 is due"),
    "list for a text": (BASE.replace('"Probe"', '["a"]'), "customer.name is"),
    "text for a block": ("customer = 3\n" + BASE.replace("[customer]", "[customer2]"), "customer"),
    "a card without a price": (BASE.replace('"L4"', '"H100 PCIe"').replace("list_price = 3000", "margin = 0.2"), "no sourced price"),
    "too much": (BASE.replace("3000", "999999999") + "quantity = 900000\n", "1,000,000,000,000"),
    "broken TOML": ("language = \n", "is no TOML"),
    "deep TOML": ("a = " + "[" * 3000 + "]" * 3000, "request.toml"),
    "key twice": ("language = 'de'\n" + BASE, "is no TOML"),
}


@pytest.mark.parametrize("case", WRONG)
def test_refused_in_one_sentence(case: str, tmp_path: Path) -> None:
    text, wanted = WRONG[case]
    problems = refusal(text, tmp_path)
    assert problems, "it was taken"
    assert any(wanted in p for p in problems), problems
    for p in problems:
        assert "\n" not in p
        assert len(p) < 400
        assert p.startswith(("request.toml", str(tmp_path))), p


@pytest.mark.parametrize("case", ["price 1e308", "negative quantity", "broken TOML", "vat number short"])
def test_nothing_is_written(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "request.toml").write_text(WRONG[case][0], encoding="utf-8")
    code = cli.main(["quote", str(tmp_path / "request.toml"), "-o", str(tmp_path / "o.xlsx"), "--seller", str(SAMPLES / "seller.toml")])
    told = capsys.readouterr()
    assert code == 2
    assert told.out == ""
    assert "Traceback" not in told.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["request.toml"]


def test_all_problems_at_once(tmp_path: Path) -> None:
    text = "curency = 'EUR'\nvalid_until = 2026-01-01\n" + BASE.replace("3000", "-1").replace('"DE"', '"Germany"')
    assert len(refusal(text, tmp_path)) == 4


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (BOMB, "anchors and aliases"),
        ("a: !!python/object/apply:os.system ['true']\n", "request.yaml line 1"),
        ("[" * 5000, "request.yaml"),
        ("a: " * 10 + "{" * 50 + "}" * 50, "request.yaml"),
        ("customer: {name: a, name: b}\n", "twice"),
        ("- 1\n- 2\n", "holds no fields"),
        ("? [a]\n: b\n", "no text"),
        ("line: [" + "{gpu: L4}," * 30_000 + "]\n", "more than 20000 values"),
        ("a: \x07\n", "request.yaml is no YAML"),
        ("a: 1\n---\nb: 2\n", "another document"),
        (
            "language: de\ncustomer: {name: P, country: DE}\nline:\n  - {gpu: L4, list_price: 1.0e+99999999999999999999}\n",
            "line 4, line[1].list_price",
        ),
        (
            "language: de\nvalid_until: 2026-01-01\ndate: 2026-12-01\ncustomer: {name: P, country: DE}\nline:\n  - {gpu: L4, list_price: 1e308}\n",
            "line 6, line[1].list_price",
        ),
        ("language: de\ndate: 2026-12-01\ncustomer:\n  name: P\n  country: DE\nline:\n  - gpu: L4\n    quantity: .nan\n", "line 8, line[1].quantity"),
    ],
)
def test_hostile_yaml(text: str, wanted: str, tmp_path: Path) -> None:
    problems = refusal(text, tmp_path, "request.yaml")
    assert any(wanted in p for p in problems), problems


def test_yaml_gives_the_same_file_as_toml(tmp_path: Path) -> None:
    yaml = """
number: X-1
language: de
date: 2026-12-01
customer: {name: Probe GmbH, country: DE}
line:
  - {gpu: L4, count: 2, list_price: 5000}
economics: {model: Llama 3.1 8B, precision: fp8, cloud_hour: 0.4}
"""
    assert made(yaml, tmp_path, name="r.yaml") == made(PLAIN.format(language="de", price="list_price = 5000"), tmp_path)


def test_large_file_is_not_read(tmp_path: Path) -> None:
    assert "bytes" in refusal("#" * 1_100_000, tmp_path)[0]


HOSTILE = (
    '=cmd|"/c calc"!A1',
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    '=HYPERLINK("http://x")',
    "</t></si><script>",
    "a&b<c>\"d'",
    "_x0041_",
    "{number}",
    "%s%n",
    "&L&D",
    "http://example.com",
    "'quoted",
    "=" * 40,
    "\u05e9\u05dc\u05d5\u05dd",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_injection_in_every_text_field(text: str, tmp_path: Path) -> None:
    """Every text field holds it at once; it comes back as the same text and no formula holds it."""
    import io

    import openpyxl

    quoted = json.dumps(text)
    names = {f.name for f in fields.CUSTOMER if f.kind == "text" and f.name not in ("vat_id",) and f.limit >= 40}
    customer = "\n".join(f"{n} = {quoted}" for n in sorted(names))
    head = "\n".join(f"{n} = {quoted}" for n in ("number", "delivery", "payment", "warranty", "notes") if len(text) <= 40 or n != "number")
    request = f"""{head}
date = 2026-12-01
[customer]
{customer}
country = "DE"
[[line]]
item = {quoted}
description = {quoted}
list_price = 1.00
[[line]]
gpu = "L4"
description = {quoted}
list_price = 3000
[economics]
model = "Llama 3.1 8B"
precision = "fp8"
cloud = {quoted}
cloud_hour = 1
api = {quoted}
api_in = 1
api_out = 2
"""
    content = made(request, tmp_path)
    wb = openpyxl.load_workbook(io.BytesIO(content))
    letter = wb.worksheets[0]
    formulas = {c.value for ws in wb.worksheets for row in ws.iter_rows() for c in row if c.data_type == "f" and str(c.value).startswith("=")}
    own = [c.value for row in letter.iter_rows() for c in row if c.value == text]
    assert len(own) >= len(names) - 2
    raw = "".join(v.decode() for n, v in unzipped(content).items() if n.startswith("xl/worksheets/sheet"))
    inside = re.findall(r"<f>([^<]*)</f>", raw)
    assert formulas
    assert not [f for f in inside if text.lstrip("=+-@'") and len(text) > 3 and text.lstrip("=") in f]
    assert not [n for n in unzipped(content) if "externalLink" in n]
    assert "<script>" not in raw


def test_format_of_vat_numbers_of_every_country() -> None:
    good = {
        "AT": "ATU12345678",
        "BE": "BE0123456789",
        "BG": "BG123456789",
        "CY": "CY12345678X",
        "CZ": "CZ12345678",
        "DE": "DE123456789",
        "DK": "DK12345678",
        "EE": "EE123456789",
        "ES": "ESX1234567X",
        "FI": "FI12345678",
        "FR": "FRXX123456789",
        "GR": "EL123456789",
        "HR": "HR12345678901",
        "HU": "HU12345678",
        "IE": "IE1234567WA",
        "IT": "IT12345678901",
        "LT": "LT123456789",
        "LU": "LU12345678",
        "LV": "LV12345678901",
        "MT": "MT12345678",
        "NL": "NL123456789B01",
        "PL": "PL1234567890",
        "PT": "PT123456789",
        "RO": "RO1234567890",
        "SE": "SE123456789001",
        "SI": "SI12345678",
        "SK": "SK1234567890",
    }
    assert set(good) == set(vat.countries())
    for row in vat.countries().values():
        assert row["rate_source"].startswith("https://")
        assert row["form_source"].startswith("https://")
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", row["rate_as_of"])
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", row["form_retrieved"])
        assert Decimal("0.15") <= Decimal(row["standard_rate"]) < Decimal("0.30")  # 15 % is the least that the EU allows
    for country, number in good.items():
        spaced = f"{number[:2]} {number[2:6]}.{number[6:]}"
        assert vat.checked_number(spaced, country) == number
        for bad in (number + "9" * 4, number[:3], number[:-1] + "?", number[:-1] + "٣"):
            with pytest.raises(BadValue, match="due"):
                vat.checked_number(bad, country)


def test_schema_file_is_the_description() -> None:
    path = Path(fields.__file__).parent / "request.schema.json"
    assert json.loads(path.read_text(encoding="utf-8")) == fields.json_schema()


@pytest.mark.parametrize("path", REQUESTS, ids=lambda p: p.stem)
def test_samples_keep_the_schema(path: Path) -> None:
    """Every field of a sample is in the schema; a small check without a library."""
    tree = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)

    def check(value: Any, schema: dict[str, Any]) -> None:
        if schema.get("type") == "object":
            assert set(value) <= set(schema["properties"])
            assert set(schema.get("required", ())) <= set(value)
            for k, v in value.items():
                check(v, schema["properties"][k])
        elif schema.get("type") == "array":
            for v in value:
                check(v, schema["items"])

    check(tree, fields.json_schema())


def test_seller_file_is_checked(tmp_path: Path) -> None:
    text = (SAMPLES / "seller.toml").read_text(encoding="utf-8")
    for old, new, wanted in (
        ('register = "Amtsgericht Kassel, HRB 98765"\n', "", "seller.register is missing; a business letter from DE must carry it"),
        ('cvr = "98 76 54 32"\n', "", "sellers.danmark.cvr is missing"),
        ('country = "DK"', 'country = "CH"', "vat_rate is missing"),
        ('"DE 987 654 321"', '"DE 1"', "DE and 9 digits"),
        ("[defaults]", "[default]", "is no block"),
        ('logo = "logo.png"', 'logo = "../quote/test_book.py"', "seller.logo is"),
        ('logo = "logo.png"', 'logo = "."', "PNG or JPEG"),
        ('managing_directors = ["Dr. Ute Grünwald", "Søren Åkjær"]\n', "", "seller.managing_directors is missing"),
        ('["Dr. Ute Grünwald", "Søren Åkjær"]', "[]", "seller.managing_directors is missing"),
        ('seat = "Aarhus"\n', "", "sellers.danmark.seat is missing"),
    ):
        path = tmp_path / "seller.toml"
        (tmp_path / "logo.png").write_bytes((SAMPLES / "logo.png").read_bytes())
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(BadFile) as caught:
            read_seller(path)
        assert any(wanted in p for p in (caught.value.problems or [str(caught.value)])), caught.value
    assert seller().defaults["margin"] == Decimal("0.18")
    trader = text.replace("Musterrechner Systeme GmbH", "Ute Muster e. K.").replace("Gesellschaft mit beschränkter Haftung", "eingetragene Kauffrau")
    path.write_text(trader.replace('managing_directors = ["Dr. Ute Grünwald", "Søren Åkjær"]\n', ""), encoding="utf-8")
    assert read_seller(path).company(None).name == "Ute Muster e. K."  # nobody manages her but herself


PNG = (SAMPLES / "logo.png").read_bytes()
JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000fffe0010" + "61" * 14 + "ffc0000b080040006001011100ffda0008010100003f007fffd9")


def test_a_logo_is_a_whole_picture(tmp_path: Path) -> None:
    assert logo.pixels(PNG) == (210, 128)
    assert logo.pixels(JPEG) == (96, 64)
    tall = bytearray(PNG[: PNG.index(b"IHDR") - 4] + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 5, 2**31 - 1, 8, 2, 0, 0, 0))
    tall += struct.pack(">I", zlib.crc32(tall[-17:])) + PNG[-12:]
    for bad, wanted in [
        *((PNG[:n], "no PNG" if n < 8 else "cut off") for n in range(0, len(PNG), 7)),
        *((JPEG[:n], "no PNG" if n < 3 else "cut off") for n in range(len(JPEG) - 1)),
        (PNG.replace(b"IHDR", b"IHDX"), "damaged"),
        (JPEG[:20] + JPEG[-2:], "damaged"),
        (b"\xff\xd8\xff\xe0\x00\x00" * 50 + b"\xff\xd9", "damaged"),
        (bytes(tall), "at most 20000 on a side"),
        (b"GIF89a" + b"0" * 30, "no PNG or JPEG"),
    ]:
        with pytest.raises(BadValue, match=wanted):
            logo.pixels(bad)
    for picture in (PNG, JPEG):
        (tmp_path / "logo.png").write_bytes(picture)
        (tmp_path / "seller.toml").write_bytes((SAMPLES / "seller.toml").read_bytes())
        words = ["quote", str(REQUESTS[0]), "-o", str(tmp_path / "o.xlsx"), "--seller", str(tmp_path / "seller.toml"), "--force"]
        assert cli.main(words) == 0
        assert picture in unzipped((tmp_path / "o.xlsx").read_bytes()).values()


def test_number_without_a_counter_tells_offers_apart(tmp_path: Path) -> None:
    """Whatever the customer sees is in it; what is private is not."""
    text = BASE + '[economics]\nmodel = "Llama 3.1 8B"\nprecision = "fp8"\n'
    more = ("", "utilization = 0.4\n", "cloud_hour = 2\n")
    changed = [text + m for m in more]
    changed += [
        text.replace("list_price = 3000", p) for p in ("list_price = 3000\ndiscount = 0.1", "list_price = 3001", "list_price = 3000\nquantity = 2")
    ]
    changed += [
        f"{head}\n{text}" for head in ('notes = "x"', "valid_days = 9", "binding = true", 'payment = "x"', "discount = 0.1", 'currency = "USD"')
    ]

    def number(request: str) -> str:
        (tmp_path / "r.toml").write_text(request, encoding="utf-8")
        return offer.content_number(offer.make(source.read(tmp_path / "r.toml"), seller(), shipped(), TODAY))

    assert len({number(c) for c in changed}) == len(changed)
    assert number(text.replace("list_price = 3000", "cost = 2400\nmargin = 0.2")) == number(text)


def test_lines_of_a_toml_file() -> None:
    text = 'a = 1\nb.c = 2\n[customer]\nname = """\nx = 3\n"""\nz = 1\n[[line]]\ngpu = 1\n[[line]] # two\nitem = "[x]"\n'
    assert source.toml_lines(text) == {
        ("a",): 1,
        ("b",): 2,
        ("b", "c"): 2,
        ("customer",): 3,
        ("customer", "name"): 4,
        ("customer", "z"): 7,
        ("line",): 8,
        ("line", 0): 8,
        ("line", 0, "gpu"): 9,
        ("line", 1): 10,
        ("line", 1, "item"): 11,
    }


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "o.xlsx"
    words = ["quote", str(REQUESTS[0]), "-o", str(out)]
    assert cli.main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["number"] == "A-2026-0101"
    assert told["gross"] == "24548.34"
    before = out.read_bytes()
    assert cli.main(words) == 2
    assert "--force" in capsys.readouterr().err
    assert cli.main([*words, "--force"]) == 0
    assert out.read_bytes() == before
    assert cli.main(["quote", "--schema"]) == 0
    capsys.readouterr()
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr("gpuecon_xl.quote.pdf._PLACES", ())
    assert cli.main(["quote", str(REQUESTS[0]), "-o", str(tmp_path / "p.xlsx"), "--pdf"]) == 2
    assert "LibreOffice" in capsys.readouterr().err
    assert not (tmp_path / "p.xlsx").exists()
