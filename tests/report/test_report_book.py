"""The report's workbook: its figures against LibreOffice, what programs read of it, what must not be in it."""

from __future__ import annotations

import email
import email.policy
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from oracles import needs_libreoffice, soffice_convert
from python_calamine import CalamineWorkbook
from report_parts import BUYER, HOSTILE, PRICES

from gpuecon_xl import cli
from gpuecon_xl.report.content import Report, Table, all_tables, make_report
from gpuecon_xl.report.figures import SourceBook
from gpuecon_xl.report.workbook import workbook_bytes

CHASSIS = 1000


def near(a: Any, b: Any) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return bool(str(a or "") == str(b or ""))
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-9)


def numbers(rows: Iterable[Iterable[Any]]) -> list[float]:
    return [float(v) for row in rows for v in row if isinstance(v, int | float) and not isinstance(v, bool)]


@pytest.fixture(scope="module")
def office(months: dict[str, Path], once: Callable[..., Any]) -> dict[str, SourceBook]:
    """The books as LibreOffice recalculates them."""
    made = once("report_office", lambda folder: dict(zip(months, soffice_convert(list(months.values()), folder).values(), strict=True)))
    return {k: openpyxl.load_workbook(v, data_only=True) for k, v in made.items()}


def row_of(book: Any, source: SourceBook, table: str, key: str, value: Any) -> dict[str, Any]:
    """A row as LibreOffice computes it."""
    row = next(r for r in source.rows(table) if r[key].value == value)
    return {k: cell(book, f.cell) for k, f in row.items()}


def cell(book: Any, where: str) -> Any:
    sheet, _, at = where.rpartition("!")
    return book[sheet][at].value


@needs_libreoffice
def test_every_figure_equals_the_recalculated_workbook(office: dict[str, Any], now: SourceBook, last: SourceBook) -> None:
    compared = 0
    for table in all_tables(make_report(now, last, private=True)):
        for row in table.rows:
            for figure in row:
                if not figure.cell or figure.value == "":
                    continue
                of = ("now", "last", "tried") if table.title in ("Prices that changed", "What moved the cost", "New recommendations") else ("now",)
                theirs = [cell(office[k], figure.cell) for k in of]
                assert any(near(figure.value, v) for v in theirs), (table.title, figure, theirs)
                compared += 1
    assert compared > 700


@needs_libreoffice
def test_changes_equal_those_between_recalculated_workbooks(office: dict[str, Any], now: SourceBook, last: SourceBook, report: Report) -> None:
    tables = {t.title: t for t in all_tables(report)}
    for row in tables["What moved the cost"].rows:
        name = row[0].value
        new, old, tried = (
            row_of(office[k], b, "Matrix", "workload", name)["cost_eur_mtok"] for k, b in (("now", now), ("last", last), ("tried", now))
        )
        assert near(row[1].value, old)
        assert near(row[4].value, new)
        assert row[2].value == pytest.approx(tried - old, abs=1e-9)
        assert row[3].value == pytest.approx(new - tried, abs=1e-9)
    prices = tables["Prices that changed"]
    assert {r[0].value for r in prices.rows} == set(PRICES)
    for row in prices.rows:
        gpu = row[0].value
        new, tried = (row_of(office[k], now, "TcoCards", "gpu", gpu)["tco_eur"] for k in ("now", "tried"))
        before = row_of(office["last"], last, "Prices", "gpu", gpu)["typical"]
        assert row[1].value == pytest.approx(PRICES[gpu] / before - 1, rel=1e-9)
        assert row[2].value == pytest.approx(new / tried - 1, rel=1e-6)
        assert row[4].value / row[3].value - 1 == pytest.approx(row[2].value, rel=1e-6)
    key = next(t for t in all_tables(report))
    for row in key.rows:
        old = next((r for r in last.rows("Matrix") if r["workload"].value == row[0].value), None)
        assert (row[3].value == "") == (old is None)
        if old is not None:
            assert row[3].value == pytest.approx(row[2].value / cell(office["last"], old["cost_eur_mtok"].cell) - 1, abs=1e-9)


def expected(report: Report) -> list[list[float]]:
    return [numbers([f.value for f in row] for b in s.blocks if isinstance(b, Table) for row in b.rows) for s in report.sheets]


def test_programs_read_every_figure(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "report.xlsx"
    path.write_bytes(workbook_bytes(report))
    wb = openpyxl.load_workbook(path, data_only=True)
    for ws, mine in zip(wb.worksheets, expected(report), strict=True):
        assert numbers(ws.values) == pytest.approx(mine, rel=1e-14)  # 16 digits are stored
    book = CalamineWorkbook.from_path(str(path))
    for name, mine in zip(book.sheet_names, expected(report), strict=True):
        assert numbers(book.get_sheet_by_name(name).to_python()) == pytest.approx(mine, rel=1e-14)
    first = [v for row in wb.worksheets[0].values for v in row if isinstance(v, str)]
    assert first[2:5] == report.lines
    assert len(report.lines) == 3
    assert HOSTILE in first  # a name that begins with = is text


@needs_libreoffice
def test_libreoffice_shows_the_same(report: Report, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "report.xlsx"
    path.write_bytes(workbook_bytes(report))
    wb = openpyxl.load_workbook(soffice_convert([path], tmp_path / "out")[path], data_only=True)
    for ws, mine in zip(wb.worksheets, expected(report), strict=True):
        assert numbers(ws.values) == pytest.approx(mine, rel=1e-12)


@pytest.mark.parametrize("lang", ["en", "de", "da"])
def test_values_only_and_narrow(now: SourceBook, last: SourceBook, lang: str, tmp_path: Path) -> None:
    report = make_report(now, last, lang)
    path = tmp_path / "r.xlsx"
    path.write_bytes(workbook_bytes(report))
    assert path.read_bytes() == workbook_bytes(make_report(now, last, lang))
    with zipfile.ZipFile(path) as z:
        names = z.namelist()
        parts = {n: z.read(n).decode("utf-8") for n in names}
    assert not [n for n in names if re.search(r"externalLink|vbaProject|comments|customXml|\.bin|connections", n)]
    for name, text in parts.items():
        if "/worksheets/" in name and not name.endswith(".rels"):
            assert not re.search(r"<f[ >/]", text), name
        assert not re.search(r"(/ho[m]e/|/t[m]p/|/Users/|[A-Z]:\\\\|file:|TargetMode=.External)", text), name
    assert "definedName" not in parts["xl/workbook.xml"]
    assert 'state="hidden"' not in parts["xl/workbook.xml"]
    charts = [t for n, t in parts.items() if "/charts/chart" in n]
    assert len(charts) == 4
    for text in charts:
        assert text.count("<numCache>") + text.count("<c:numCache>") >= 1
        assert 'delete val="1"' not in text
    wb = openpyxl.load_workbook(path)
    for ws in wb.worksheets:
        widths = [ws.column_dimensions[c].width for c in "ABCDEFGH" if c in ws.column_dimensions]
        assert len(widths) <= 5
        assert sum(widths) <= 100, ws.title
    assert sum(wb.worksheets[0].column_dimensions[c].width for c in "ABCD") <= 75


def written(value: float) -> list[str]:
    """A price as any language may write it, with and without its cents."""
    whole, cents = f"{value:.2f}".split(".")
    grouped = [f"{whole[:-3]}{g}{whole[-3:]}" for g in ("", ",", ".", " ", "\u00a0", "\u202f", "'", "’")]
    rounded = str(round(value))
    return [f"{w}{p}{cents}" for w in grouped for p in ".,"] + [f"{rounded[:-3]}{g}{rounded[-3:]}" for g in (",", ".", " ", "\u00a0", "\u202f")]


def leaks(text: str) -> list[str]:
    secret = [w for p in PRICES.values() for v in (p, p + CHASSIS, 4 * (p + CHASSIS)) for w in written(v)]
    return [s for s in [*secret, BUYER] if s in text] + [
        v for v in re.findall(r"<v>([0-9.eE+-]+)</v>", text) for p in PRICES.values() if any(abs(float(v) - x) < 0.01 for x in (p, p + CHASSIS))
    ]


def everything(path: Path) -> str:
    with zipfile.ZipFile(path) as z:
        return "\n".join(z.read(n).decode("utf-8") for n in z.namelist())


@pytest.mark.parametrize("lang", ["en", "de", "da"])
def test_no_purchase_price_leaves_the_house(now: SourceBook, last: SourceBook, lang: str, tmp_path: Path) -> None:
    path = tmp_path / "r.xlsx"
    path.write_bytes(workbook_bytes(make_report(now, last, lang)))
    assert not leaks(everything(path))


def test_a_planted_leak_is_found(now: SourceBook, last: SourceBook, tmp_path: Path) -> None:
    path = tmp_path / "r.xlsx"
    path.write_bytes(workbook_bytes(make_report(now, last, private=True)))
    found = leaks(everything(path))
    assert {"2477.77", "3333.33", "6111.11"} <= set(found)
    assert leaks(f"<t>{BUYER}</t>") == [BUYER]
    assert leaks("costs 2.477,77 EUR")


@needs_libreoffice
@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext is not on the path")
def test_pdf_beside_it(months: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "Bericht für März.xlsx"
    assert cli.main(["report", str(months["now"]), "-o", str(out), "--pdf", "--last", str(months["last"])]) == 0, capsys.readouterr().err
    text = subprocess.run(["pdftotext", "-layout", str(out.with_suffix(".pdf")), "-"], capture_output=True, text=True, check=True).stdout
    assert "GPU cost report" in text
    assert re.search(r"\b\d,\d{3}\b", text)
    assert not leaks(text)
    assert "###" not in text
    assert str(tmp_path) not in text
    assert str(tmp_path).encode() not in out.with_suffix(".pdf").read_bytes()
    assert cli.main(["report", str(months["now"]), "-o", str(tmp_path / "de.xlsx"), "--pdf", "--lang", "de"]) == 0, capsys.readouterr().err
    german = subprocess.run(["pdftotext", "-layout", str(tmp_path / "de.pdf"), "-"], capture_output=True, text=True, check=True).stdout
    assert not re.search(r"\d\.\d\d\b|\b\d,\d{3}\.", german.replace("0.1.0", ""))  # numbers as the language writes them
    assert re.search(r"\b\d,\d{3}\b", german)


def test_books_of_other_languages_say_the_same(templates: dict[str, Path], now: SourceBook) -> None:
    german = make_report(SourceBook(templates["de"]), None, "en")
    english = make_report(SourceBook(templates["en"]), None)
    for a, b in zip(all_tables(german), all_tables(english), strict=True):
        assert a.title == b.title
        assert [[f.value for f in r] for r in a.rows] == [[f.value for f in r] for r in b.rows]
    assert german.lines == english.lines


def test_the_source_is_not_touched(months: dict[str, Path], tmp_path: Path) -> None:
    before = months["now"].read_bytes()
    assert cli.main(["report", str(months["now"]), "-o", str(tmp_path / "r.xlsx"), "--last", str(months["last"])]) == 0
    assert months["now"].read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["r.xlsx"]


def test_nothing_changed_is_said(last: SourceBook) -> None:
    report = make_report(last, last)
    assert "none of 23 card prices changed" in report.lines[0]
    assert "unchanged" in report.lines[1]
    assert report.changed == []


def test_texts_of_a_folder_go_first(months: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "texts"
    own.mkdir()
    (own / "en.toml").write_text(
        '[report]\ntitle = "=Costs of <ACME>"\nmail_subject = "ACME: {date}"\n[word]\nnot_computed = "no figure"\n', encoding="utf-8"
    )
    out, eml = tmp_path / "r.xlsx", tmp_path / "r.eml"
    assert cli.main(["report", str(months["now"]), "-o", str(out), "--eml", str(eml), "--texts", str(own)]) == 0, capsys.readouterr().err
    first = openpyxl.load_workbook(out).worksheets[0]
    assert first["A1"].value == "=Costs of <ACME>"
    assert first["A1"].data_type == "s"
    m = email.message_from_bytes(eml.read_bytes(), policy=email.policy.default)
    assert m["Subject"] == "ACME: 31 December 2026"
    page = m.get_body(("html",)).get_content()
    assert "=Costs of &lt;ACME&gt;" in page
    assert "<ACME>" not in page
    assert "Purchase prices are left out" in page  # what the folder does not say is as shipped


REFUSED = [
    (["{now}", "-o", "r.xlsx", "--texts", "none"], "no such folder"),
    (["{now}", "-o", "r.xlsx", "--texts", ""], "--texts is empty"),
    (["absent.xlsx", "-o", "r.xlsx"], "no such file"),
    (["{now}", "-o", "r.csv"], "does not end in .xlsx"),
    (["{now}", "-o", "none/r.xlsx"], "make it first"),
    (["{now}", "-o", "there.xlsx"], "exists already"),
    (["{now}", "-o", "{now}", "--force"], "is the book itself"),
    (["{now}", "-o", "r.xlsx", "--lang", "fr"], "does not exist"),
    (["{now}", "-o", "r.xlsx", "--last", "there.xlsx"], "not an .xlsx workbook"),
    (["{now}", "-o", "r.xlsx", "--eml", "r.txt"], "does not end in .eml"),
    (["{now}", "-o", "r.xlsx", "--send", "http://x"], "is no mail server"),
    (["{now}", "-o", "r.xlsx", "--send", "smtp://u:p@x", "--to", "a@b.c", "--from", "a@b.c"], "GPUECON_SMTP_USER"),
    (["{now}", "-o", "r.xlsx", "--send", "smtp://x"], "needs --from and --to"),
    (["{now}", "-o", "r.xlsx", "--eml", "r.eml", "--to", "nobody"], "is no mail address"),
    (["{now}", "-o", "r.xlsx", "--eml", "r.eml", "--to", "a@b.c\r\nBcc: x@y.z"], "line break"),
    (["{now}", "-o", "r.xlsx", "--yes"], "belong to --send"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=[" ".join(w[1:])[:40] for w, _ in REFUSED])
def test_bad_input_in_one_sentence(
    words: list[str], said: str, months: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.xlsx").write_bytes(b"mine")
    own = tmp_path / "now.xlsx"
    own.write_bytes(months["now"].read_bytes())
    assert cli.main(["report", *(w.format(now=own) for w in words)]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.err.count("\n") == 1
    assert "Traceback" not in told.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["now.xlsx", "there.xlsx"]
    assert own.read_bytes() == months["now"].read_bytes()
