"""The report as a mail: its structure and headers as Python's email package reads them, its HTML as a browser shows it."""

from __future__ import annotations

import base64
import email
import email.policy
import html.parser
import io
import re
import shutil
import subprocess
from email.message import EmailMessage
from pathlib import Path

import openpyxl
import pytest
from report_parts import BUYER, HOSTILE
from test_report_book import leaks

from gpuecon_xl import cli
from gpuecon_xl.errors import GpueconError
from gpuecon_xl.report import mail
from gpuecon_xl.report.content import Report, make_report
from gpuecon_xl.report.figures import SourceBook
from gpuecon_xl.report.workbook import workbook_bytes

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NAME = "Bericht für Ærø – März.xlsx"


def parsed(report: Report, *, draft: bool = True, to: str = "Jürgen Åkesson <j@example.com>, مرحبا <m@example.com>") -> EmailMessage:
    files = [mail.Attachment(NAME, workbook_bytes(report)), mail.Attachment("r.pdf", b"%PDF-1.4", ("application", "pdf"))]
    made = mail.message(report, files, mail.addresses(["Søren Ø <s@bücher.example>"], "--from")[0], mail.addresses([to], "--to"), draft=draft)
    found = email.message_from_bytes(made.as_bytes(), policy=email.policy.default)
    assert isinstance(found, EmailMessage)
    return found


def body(m: EmailMessage, kind: str) -> str:
    part = m.get_body((kind,))
    assert part is not None
    return str(part.get_content())


def test_structure_and_headers(report: Report) -> None:
    m = parsed(report)
    assert [p.get_content_type() for p in m.walk()] == [
        "multipart/mixed", "multipart/alternative", "text/plain", "multipart/related", "text/html", "image/png",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/pdf",
    ]  # fmt: skip
    assert not [d for p in m.walk() for d in p.defects]
    assert [a.get_filename() for a in m.iter_attachments()] == [NAME, "r.pdf"]
    assert next(m.iter_attachments()).get_content() == workbook_bytes(report)
    assert [a.display_name for a in m["To"].addresses] == ["Jürgen Åkesson", "مرحبا"]
    assert m["From"].addresses[0].addr_spec == "s@xn--bcher-kva.example"
    assert m["Subject"] == "GPU costs as of 31 December 2026"
    assert re.fullmatch(r"<[0-9a-f]{24}@xn--bcher-kva\.example>", m["Message-ID"])
    assert m["Date"].datetime.tzinfo is not None
    assert m["Content-Language"] == "en"
    assert m["X-Unsent"] == "1"
    for name in ("From", "To", "Subject", "Date", "Message-ID"):
        assert len(m.get_all(name)) == 1
    raw = m.as_bytes()
    assert max(map(len, raw.splitlines())) <= 998
    assert raw.isascii()
    sent = parsed(report, draft=False)
    assert sent["Auto-Submitted"] == "auto-generated"
    assert sent["X-Unsent"] is None


def test_message_id_comes_from_the_content(report: Report, now: SourceBook, last: SourceBook) -> None:
    one = parsed(report)["Message-ID"]
    assert parsed(make_report(now, last), to="other@example.com")["Message-ID"] == one
    assert parsed(make_report(now, None))["Message-ID"] != one
    assert parsed(make_report(now, last, "de"))["Message-ID"] != one
    assert parsed(make_report(now, last, private=True))["Message-ID"] != one


class _Table(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.images: list[dict[str, str | None]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag == "img":
            self.images.append(dict(attrs))
        self.inside = tag == "td"
        if self.inside and self.rows:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data


@pytest.mark.parametrize(("lang", "point"), [("en", "."), ("de", ","), ("da", ",")])
def test_bodies_say_what_the_workbook_says(now: SourceBook, last: SourceBook, lang: str, point: str) -> None:
    report = make_report(now, last, lang)
    m = parsed(report)
    page, text = body(m, "html"), body(m, "plain")
    found = _Table()
    found.feed(page)
    rows = [r for r in found.rows if len(r) == 4]
    assert len(rows) == len(report.key.rows)
    for cells, row in zip(rows, report.key.rows, strict=True):
        assert cells[:2] == [row[0].value, row[1].value]
        assert float(cells[2].replace(point, ".")) == pytest.approx(row[2].value, abs=5e-4)
        assert (cells[3] == "") == (row[3].value == "")
        if cells[3]:
            change = re.sub(r"[\s%]", "", cells[3].replace("−", "-").replace(point, "."))
            assert float(change) / 100 == pytest.approx(row[3].value, abs=5.1e-4)
        assert f"- {row[0].value}: {row[1].value}" in text
    for line in report.lines:
        assert line in page
        assert " ".join(line.split()) in " ".join(text.split())
    (image,) = found.images
    part = next(p for p in m.walk() if p.get_content_type() == "image/png")
    assert image["src"] == "cid:" + part["Content-ID"].strip("<>")
    assert image["alt"]
    assert len(str(image["alt"])) > 100
    assert part.get_content().startswith(b"\x89PNG")
    assert "<b>" not in page.replace("<body", "")
    assert "&lt;b&gt;" in page
    assert HOSTILE in text
    assert not re.search(r"https?://|<script|javascript:", page)
    assert not leaks(page + text + m["Subject"])
    assert BUYER not in page


def test_the_attached_workbook_is_the_one_beside_it(months: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, eml = tmp_path / NAME, tmp_path / "r.eml"
    assert cli.main(["report", str(months["now"]), "-o", str(out), "--eml", str(eml)]) == 0, capsys.readouterr().err
    m = email.message_from_bytes(eml.read_bytes(), policy=email.policy.default)
    assert isinstance(m, EmailMessage)
    (attached,) = m.iter_attachments()
    assert attached.get_filename() == NAME
    assert attached.get_content() == out.read_bytes()
    assert openpyxl.load_workbook(io.BytesIO(attached.get_content())).sheetnames[0] == "Summary"
    assert m["From"].addresses[0].domain == "gpuecon.invalid"
    assert not m["To"].addresses
    assert not re.search(rb"/t[m]p/|/ho[m]e/", eml.read_bytes())


def test_addresses() -> None:
    assert [str(a) for a in mail.addresses(["a@b.c, Å <d@e.f>", "A@b.c"], "--to")] == ["a@b.c", "Å <d@e.f>"]
    for bad in ("", "a", "a@", "@b", "å@b.c", "a@b c", "a@b..c", "a b@c.d", "x" * 65 + "@b.c"):
        with pytest.raises(GpueconError):
            mail.addresses([bad], "--to")


_MEASURE = """<body style="margin:0"><iframe id="f" src="m.html" style="border:0;width:{width}px;height:1600px"></iframe><script>
addEventListener("message", e => {{ document.title = "width " + e.data; }});
</script></body>"""


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not on the path")
@pytest.mark.parametrize("width", [1200, 375])
@pytest.mark.parametrize("lang", ["en", "de", "da"])
def test_html_fits_the_window(now: SourceBook, last: SourceBook, lang: str, width: int, tmp_path: Path) -> None:
    m = parsed(make_report(now, last, lang))
    page = body(m, "html")
    part = next(p for p in m.walk() if p.get_content_type() == "image/png")
    page = page.replace("cid:" + part["Content-ID"].strip("<>"), "data:image/png;base64," + base64.b64encode(part.get_content()).decode())
    told = "<script>onload = () => parent.postMessage([document.documentElement.scrollWidth, document.images[0].width].join(' '), '*')</script>"
    (tmp_path / "m.html").write_text(page.replace("</body>", told + "</body>"), encoding="utf-8")
    (tmp_path / "w.html").write_text(_MEASURE.format(width=width), encoding="utf-8")
    assert CHROMIUM is not None
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=3000",
         "--window-size=1400,1600",
         "--dump-dom", (tmp_path / "w.html").as_uri()],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    seen = re.search(r"<title>width (\d+) (\d+)</title>", done.stdout)
    assert seen, done.stdout[-500:] + done.stderr[-500:]
    assert int(seen[1]) <= width  # nothing to scroll sideways
    assert min(width - 60, 480) <= int(seen[2]) <= min(width, 480)
