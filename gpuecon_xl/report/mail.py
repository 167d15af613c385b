"""A report as a mail: HTML with the three lines, the key table and one picture; plain text; the workbook attached.

Here: the message and its headers. Not here: sending (`send`), the picture (`picture`), what is said (`content`).
The message id comes from the content: the same report has the same id, whoever gets it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import getaddresses, localtime
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpuecon_xl.errors import BadValue
from gpuecon_xl.report import picture
from gpuecon_xl.report.content import Report, Table

NOBODY = "report@gpuecon.invalid"  # sender of a draft: a name that can never be somebody's
_XLSX = ("application", "vnd.openxmlformats-officedocument.spreadsheetml.sheet")
_UP, _DOWN = "#9c1c1c", "#1e6b34"
_TEXT_WIDTH = 72


@dataclass(frozen=True)
class Attachment:
    """A file of the mail."""

    name: str
    content: bytes
    kind: tuple[str, str] = _XLSX


def addresses(texts: Sequence[str], option: str) -> list[Address]:
    """Addresses as people write them: ``Name <a@b.c>``, several with commas.

    Raises
    ------
    BadValue
        For what is no address that every mail server takes.
    """
    out: list[Address] = []
    if any(re.search(r"[\r\n\x00]", t) for t in texts):
        raise BadValue(f"{option} holds a line break; one address such as name@example.com is due")
    if not all(t.strip(" ,") for t in texts):
        raise BadValue(f"{option} is empty; a mail address such as name@example.com is due")
    for name, address in getaddresses(list(texts)):
        local, at, domain = address.rpartition("@")
        try:
            host = domain.encode("idna").decode("ascii")
        except UnicodeError:
            host = ""
        if (
            not at
            or address not in " ".join(texts)
            or not re.fullmatch(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}", local)
            or not re.fullmatch(r"[A-Za-z0-9.-]{1,253}", host)
        ):
            raise BadValue(f"{option} {(address or name)[:60]!r} is no mail address; one such as name@example.com is due")
        found = Address(name, local, host)
        if found.addr_spec.lower() not in {a.addr_spec.lower() for a in out}:
            out.append(found)
    return out


def message(report: Report, files: Sequence[Attachment], sender: Address | None, to: Sequence[Address], *, draft: bool) -> EmailMessage:
    """The report as a message.

    Parameters
    ----------
    files : the workbook first; it counts for the message id, what follows (a PDF of it) does not.
    draft : to be opened and sent by a person.
    """
    image = picture.png(report.plot, report.speech)
    subject = report.speech("mail_subject", date=report.speech.date(report.as_of))
    said = (subject, plain_text(report, ()), html_text(report, (), "chart"))  # without the names of files, which are only where it lies
    digest = hashlib.sha256(b"\0".join([*(s.encode() for s in said), files[0].content])).hexdigest()[:24]
    domain = sender.domain if sender is not None else NOBODY.partition("@")[2]
    cid = f"chart.{digest[:12]}@gpuecon.invalid"
    m = EmailMessage(policy=SMTP)
    m["From"] = sender if sender is not None else Address("gpuecon", *NOBODY.split("@"))
    m["To"] = list(to) if to else "undisclosed-recipients:;"
    m["Subject"] = subject
    m["Date"] = localtime()
    m["Message-ID"] = f"<{digest}@{domain}>"
    m["X-Unsent" if draft else "Auto-Submitted"] = "1" if draft else "auto-generated"
    m.set_content(plain_text(report, files))
    m.add_alternative(html_text(report, files, cid), subtype="html")
    body: Any = m.get_payload()
    body[1].add_related(image, "image", "png", cid=f"<{cid}>", filename="chart.png", disposition="inline")
    for f in files:
        m.add_attachment(f.content, *f.kind, filename=f.name)
    m["Content-Language"] = report.speech.lang  # last: new content takes such headers with it
    return m


def digest_of(m: EmailMessage) -> str:
    """The part of the message id that comes from the content."""
    return str(m["Message-ID"]).strip("<> ").partition("@")[0]


@lru_cache(maxsize=1)
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    source = (Path(__file__).parent / "mail.html.j2").read_text(encoding="utf-8")
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=False).from_string(source)


def html_text(report: Report, files: Sequence[Attachment], cid: str) -> str:
    """The HTML body."""
    t = report.key
    heads = [{"label": c.label, "unit": c.unit, "align": _align(c.kind)} for c in t.columns]
    rows = [[{"text": report.speech.shown(f.value, c.kind), "align": _align(c.kind), "colour": _colour(c.kind, f.number)} for c, f in
             zip(t.columns, row, strict=True)] for row in t.rows]  # fmt: skip
    return str(_template().render(
        lang=report.speech.lang, title=report.title, dated=report.dated, warning=report.warning, lines=report.lines, table=t, heads=heads, rows=rows,
        cid=cid, alt=picture.words(report.plot, report.speech), notes=_notes(report, files),
    ))  # fmt: skip


def _notes(report: Report, files: Sequence[Attachment]) -> list[str]:
    say = report.speech
    own = [] if report.private else [say("note_public")]
    return [say("note_tokens"), say("note_net"), *own, say("mail_attached", files=", ".join(f.name for f in files))]


def _align(kind: str) -> str:
    return "left" if kind == "text" else "right"


def _colour(kind: str, value: float | None) -> str:
    if kind != "change" or not value:
        return ""
    return _UP if value > 0 else _DOWN


def plain_text(report: Report, files: Sequence[Attachment]) -> str:
    """The body for readers of plain text."""
    import textwrap

    parts = [report.title, report.dated]
    parts += [report.warning] if report.warning else []
    body = ["\n".join(parts), *("\n".join(textwrap.wrap(line, _TEXT_WIDTH)) for line in report.lines)]
    return "\n\n".join([*body, _listing(report.key, report), *("\n".join(textwrap.wrap(n, _TEXT_WIDTH)) for n in _notes(report, files))]) + "\n"


def _listing(t: Table, report: Report) -> str:
    """The key table: two lines a row, so that it holds on a phone."""
    out = [t.title, t.note]
    for row in t.rows:
        shown = [report.speech.shown(f.value, c.kind) for c, f in zip(t.columns, row, strict=True)]
        figures = [f"{s} {c.unit}" if c.kind == "rate" and f.number is not None else s for c, f, s in zip(t.columns, row, shown, strict=True)][2:]
        out.append(f"- {shown[0]}: {shown[1]}\n  {', '.join(f for f in figures if f)}".rstrip())
    return "\n".join(out)
