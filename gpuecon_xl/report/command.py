"""The command ``gpuecon report``: its options, its checks, what it writes and prints.

Here: everything is made in memory and checked first, then written. Not here: the parts themselves (the other modules).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from gpuecon_xl.errors import BadFile, BadValue
from gpuecon_xl.files import check_target, named, write_all
from gpuecon_xl.lang import LANGUAGES, language, load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("book", metavar="BOOK", help="a workbook made by gpuecon template, edited or not")
    parser.add_argument("-o", "--out", metavar="OUT.xlsx", required=True, help="file to write: values only")
    parser.add_argument("--last", metavar="LASTBOOK", help="an earlier workbook; what changed since, and what it did to the cost")
    parser.add_argument("--lang", metavar="LANG", help="en, de or da; not given: the book's own")
    parser.add_argument("--texts", metavar="FOLDER", help="folder with texts of your own (en.toml, de.toml, da.toml) that go before the shipped ones")
    parser.add_argument("--eml", metavar="OUT.eml", help="the report as a mail with the workbook attached")
    parser.add_argument("--pdf", action="store_true", help="a PDF beside OUT, by LibreOffice; attached to the mail")
    parser.add_argument("--private", action="store_true", help="keep purchase prices in: not for customers")
    parser.add_argument("--send", metavar="URL", help="smtp://host:587 (STARTTLS) or smtps://host:465; user and password in GPUECON_SMTP_USER and "
                        "GPUECON_SMTP_PASSWORD, or the password in the keyring")  # fmt: skip
    parser.add_argument("--to", action="append", default=[], metavar="ADDRESS", help="who gets the mail; may be repeated")
    parser.add_argument("--from", dest="sender", metavar="ADDRESS", help="who it comes from")
    parser.add_argument("--yes", action="store_true", help="really send; without it --send only says what it would do")
    parser.add_argument("--again", action="store_true", help="send also what the record says was sent already")
    parser.add_argument("--force", action="store_true", help="overwrite what exists")


def run(args: argparse.Namespace, busy: Callable[[str], AbstractContextManager[None]], show: Callable[[Any], None]) -> None:
    """Do it; `busy` shows that work goes on, `show` prints JSON."""
    source, last = _book(args.book, "BOOK"), _book(args.last, "--last") if args.last is not None else None
    targets = _targets(args)
    for target in targets.values():
        check_target(target, args.force)
        for book in (source, last):
            if book is not None and _same(target, book):
                raise BadFile(f"{target} is the book itself; a report never overwrites it, choose another name")
    lang = None if args.lang is None else language(args.lang)
    texts = _book(args.texts, "--texts", "a folder") if args.texts is not None else None
    for each in LANGUAGES if texts is not None else ():
        load(each, texts)
    from gpuecon_xl.quote.pdf import office
    from gpuecon_xl.report import mail, pdf, picture, send

    sender = _one(mail.addresses([args.sender], "--from")) if args.sender is not None else None
    to = mail.addresses(args.to, "--to")
    server = send.parse_server(args.send) if args.send is not None else None
    if server is not None and (sender is None or not to):
        raise BadValue("--send needs --from and --to; a mail address for each is due")
    if server is None and (args.yes or args.again):
        raise BadValue("--yes and --again belong to --send; a mail server such as smtp://host:587 is due")
    wants_mail = args.eml is not None or server is not None
    if wants_mail:
        picture.ready()
    if args.pdf:
        office()
    from gpuecon_xl.report.content import make_report
    from gpuecon_xl.report.figures import SourceBook
    from gpuecon_xl.report.workbook import workbook_bytes

    with busy(f"Reading {source.name}"):
        report = make_report(SourceBook(source), SourceBook(last) if last is not None else None, lang, private=args.private,
                             texts=texts)  # fmt: skip
        body = workbook_bytes(report)
        made = {"out": body}
        files = [mail.Attachment(targets["out"].name, body)]
        if args.pdf:
            made["pdf"] = pdf.pdf_bytes(body, report.speech.lang)
            files.append(mail.Attachment(targets["pdf"].name, made["pdf"], ("application", "pdf")))
        message = mail.message(report, files, sender, to, draft=server is None) if wants_mail else None
        if args.eml is not None and message is not None:
            made["eml"] = message.as_bytes()
    write_all({targets[k]: content for k, content in made.items()})
    told: dict[str, Any] = {
        "files": {k: str(targets[k]) for k in made},
        "lang": report.speech.lang,
        "private": report.private,
        "message": report.lines,
        "changed": report.changed,
    }
    if message is not None:
        told["message_id"] = str(message["Message-ID"])
    if not args.json:
        for line in report.lines:
            print(line)
        for k, content in made.items():
            print(f"{targets[k]}: {len(content) / 1000:.0f} kB")
    if server is not None and message is not None and sender is not None:
        _send(args, message, server, sender.addr_spec, [a.addr_spec for a in to], told, busy)
    if args.json:
        show(told)


def _send(args: argparse.Namespace, message: Any, server: Any, sender: str, to: list[str], told: dict[str, Any], busy: Any) -> None:
    from gpuecon_xl.report import mail, send

    digest = mail.digest_of(message)
    if not args.yes:
        told["mail"] = {"sent": [], "already": [], "dry_run": True, "server": str(server), "to": to}
        if not args.json:
            print(f"Not sent. With --yes, {len(message.as_bytes()) / 1000:.0f} kB would go to {', '.join(to)} through {server}: {message['Subject']}")
        return
    record = send.Record(send.record_path())
    if args.again:
        record.forget(digest)
    with busy(f"Sending to {server}"):
        outcome = send.deliver(message, digest, server, sender, to, record)
    told["mail"] = {"sent": outcome.sent, "already": outcome.already, "refused": outcome.refused, "tries": outcome.tries, "dry_run": False}
    if not args.json:
        if outcome.sent:
            print(f"Sent to {', '.join(outcome.sent)}.")
        if outcome.already:
            print(f"Not sent again, the same report went there before: {', '.join(outcome.already)}.")
    if outcome.refused:
        got = f"; it went to {', '.join(outcome.sent)}" if outcome.sent else ""
        raise send.NotSent(f"{server} refuses {'; '.join(f'{a} ({why})' for a, why in outcome.refused.items())}{got}")


def _one(found: list[Any]) -> Any:
    if len(found) != 1:
        raise BadValue("--from needs exactly one address, such as name@example.com")
    return found[0]


def _book(text: str, option: str, what: str = "a workbook") -> Path:
    if not text.strip():
        raise BadFile(f"{option} is empty; the path of {what} is due")
    return Path(text)


def _targets(args: argparse.Namespace) -> dict[str, Path]:
    found = {"out": named(args.out, "-o", ".xlsx", "report")}
    if args.pdf:
        found["pdf"] = found["out"].with_suffix(".pdf")
    if args.eml is not None:
        found["eml"] = named(args.eml, "--eml", ".eml", "report")
    return found


def _same(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:
        return False
