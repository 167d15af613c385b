"""PDF of a quote by LibreOffice: what is printed, and that nothing private is."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import openpyxl
import pytest
from oracles import needs_libreoffice
from quote_parts import REQUESTS, SAMPLES, leaks_of_text

from gpuecon_xl import cli

pytestmark = [
    needs_libreoffice,
    pytest.mark.libreoffice,
    pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext is not on the path"),
]
ODD = 0.3719  # what every purchase price of the edited workbook ends in


def printed(path: Path) -> str:
    return subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def edited(templates: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The template with odd purchase prices, and those prices."""
    wb = openpyxl.load_workbook(templates["de"])
    planted = []
    for row in wb["Preise"].iter_rows():
        for cell in row:
            if not cell.protection.locked and isinstance(cell.value, int | float) and cell.value >= 1000:
                cell.value = round(cell.value) + ODD
                planted.append(f"{cell.value:.4f}")
    path = tmp_path_factory.mktemp("edited") / "book.xlsx"
    wb.save(path)
    assert len(planted) > 20
    return path, planted


@pytest.mark.parametrize(
    ("sample", "pages", "words"),
    [
        (
            "01",
            3,
            ("Angebot A-2026-0101", "1. Dezember 2026", "Umsatzsteuer 19", "freibleibend", "Sitz der Gesellschaft: Kassel", "Wirtschaftlichkeit"),
        ),
        ("05", 3, ("Tilbud T-2026-0105", "1. december 2026", "13.691,63", "CVR-nr.: 98765432", "Hjemsted: Aarhus", "Forudsætninger")),
        ("08", 4, ("Position 38", "Gesamtbetrag inkl. Umsatzsteuer", "Seite 2 / 4", "Betrag")),
        ("09", 3, ("=SUM(Numbers) & Daughters", "3,712.79", "1 December 2026")),
        ("11", 1, ("$3,569.94", "15 December 2026")),
    ],
)
def test_pdf_beside_the_workbook(
    sample: str, pages: int, words: tuple[str, ...], edited: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book, planted = edited
    request = next(p for p in REQUESTS if p.name.startswith(sample))
    out = tmp_path / "offer.xlsx"
    assert cli.main(["quote", str(request), "-o", str(out), "--book", str(book), "--pdf"]) == 0, capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["offer.pdf", "offer.xlsx"]
    text = printed(tmp_path / "offer.pdf")
    for word in words:
        assert word in text, word
    assert text.count("\f") == pages
    assert not re.search(r"###|#REF|#NAME|#VALUE|#DIV|Err:\d", text)
    assert leaks_of_text(text, planted, ("Einkaufspreis", "Marge", "purchase price")) == []
    raw = (tmp_path / "offer.pdf").read_bytes()
    assert str(tmp_path).encode() not in raw
    assert str(Path.home()).encode() + b"/" not in raw


def test_a_planted_leak_is_found_in_the_text() -> None:
    for spelled in ("2704.3719", "2,704.37", "2.704,37", "2 704,3719"):
        assert leaks_of_text(f"Betrag {spelled} EUR", ["2704.3719"], ()) == ["2704.3719"]
    assert leaks_of_text("Ihre Marge", [], ("Marge",)) == ["Marge"]


def test_many_pdfs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every row has its PDF; a second run with nothing changed prints none again."""
    path, out = tmp_path / "r.csv", tmp_path / "out"
    path.write_text("language,customer.name,customer.country,line1.item,line1.list_price\nde,Ä,DE,x,1234.5\nda,Ø,DE,y,2\n", encoding="utf-8")
    out.mkdir()
    words = ["quotes", str(path), "-o", str(out), "--seller", str(SAMPLES / "seller.toml"), "--workers", "1", "--pdf"]
    assert cli.main(words) == 0, capsys.readouterr().err
    made = {p.name: p.stat().st_mtime_ns for p in out.glob("*.pdf")}
    assert sorted(made) == ["A-2026-0001.pdf", "A-2026-0002.pdf"]
    assert "1.234,50" in printed(out / "A-2026-0001.pdf")
    assert cli.main(words) == 0
    assert {p.name: p.stat().st_mtime_ns for p in out.glob("*.pdf")} == made
