"""A message handed to a mail server, once.

Here: SMTP with TLS, credentials, patience with a server that says "later", the record of what was sent. Not here: the message (`mail`).

Never twice: a line in the record is claimed before the message leaves and kept unless the server surely has not taken it.
"""

from __future__ import annotations

import ipaddress
import os
import smtplib
import sqlite3
import ssl
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from urllib.parse import urlsplit

from gpuecon_xl.errors import BadFile, BadValue, GpueconError

TIMEOUT_S = 30.0
WAITS_S = (5.0, 20.0, 60.0)  # between tries
_PORTS = {"smtp": 587, "smtps": 465}
_SERVICE = "gpuecon-smtp"  # name in the keyring


class NotSent(GpueconError, RuntimeError):
    """A message that the server did not take."""


@dataclass(frozen=True)
class Server:
    """A mail server: ``smtp`` begins in the clear and turns to TLS, ``smtps`` is TLS from the start."""

    scheme: str
    host: str
    port: int

    @property
    def near(self) -> bool:
        """Whether it is this machine, where a line without TLS is heard by nobody."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"


@dataclass
class Outcome:
    """Who got the message now, who had it before, whom the server refuses."""

    sent: list[str] = field(default_factory=list)
    already: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    tries: int = 0


def parse_server(url: str) -> Server:
    """The server of an address such as ``smtps://mail.example.com:465``.

    Raises
    ------
    BadValue
        Also when a password stands in it: it would be seen in the list of processes.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        raise BadValue("--send has no valid port; smtp://host:587 or smtps://host:465 is due") from None
    if parts.username is not None or parts.password is not None:
        raise BadValue("--send holds a user or password; put them into GPUECON_SMTP_USER and GPUECON_SMTP_PASSWORD")
    if parts.scheme not in _PORTS or not parts.hostname or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise BadValue(f"--send {url[:60]!r} is no mail server; smtp://host:587 or smtps://host:465 is due")
    return Server(parts.scheme, parts.hostname, port or _PORTS[parts.scheme])


def credentials() -> tuple[str, str] | None:
    """User and password from the environment, the password also from the keyring if one is installed."""
    user, password = os.environ.get("GPUECON_SMTP_USER", ""), os.environ.get("GPUECON_SMTP_PASSWORD", "")
    if not user:
        if password:
            raise BadValue("GPUECON_SMTP_PASSWORD is set without GPUECON_SMTP_USER; both are due")
        return None
    if not password:
        password, reason = _from_keyring(user)
        if not password:
            raise BadValue(
                f"GPUECON_SMTP_USER is set, but there is no password in GPUECON_SMTP_PASSWORD or in the keyring under {_SERVICE}: {reason}"
            )
    return user, password


def _from_keyring(user: str) -> tuple[str, str]:
    """The password, or why there is none."""
    try:
        import keyring
    except ImportError:
        return "", "keyring is not installed; pip install 'gpuecon_xl[keyring]' brings it"
    try:
        found = keyring.get_password(_SERVICE, user) or ""
    except Exception as error:  # none on this machine, or one that is locked: each backend has errors of its own
        return "", " ".join(str(error).split())[:120] or type(error).__name__
    return found, "" if found else f"it holds none for {user[:60]!r}; keyring set {_SERVICE} USER stores one"


# ---- the record ----


def record_path() -> Path:
    """Where it is kept what was sent: GPUECON_SENT, or the user's folder for such things."""
    named = os.environ.get("GPUECON_SENT")
    if named:
        return Path(named)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library/Application Support"
    else:
        base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state")
    return base / "gpuecon" / "sent.sqlite"


class Record:
    """Which report went to whom; SQLite, so that two runs at once cannot both claim a line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._open()) as db, db:
                db.execute("CREATE TABLE IF NOT EXISTS sent (id TEXT, recipient TEXT, state TEXT, at TEXT, PRIMARY KEY (id, recipient))")
        except (OSError, sqlite3.Error) as error:
            raise BadFile(f"{path} cannot record what is sent ({error}); name a file that can be written in GPUECON_SENT") from None

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=10)

    def state(self, report: str) -> dict[str, str]:
        """State by recipient: sent or sending."""
        with closing(self._open()) as db:
            return dict(db.execute("SELECT recipient, state FROM sent WHERE id = ?", (report,)).fetchall())

    def claim(self, report: str, recipients: Sequence[str]) -> list[str]:
        """Take the lines that are free; those taken."""
        now = time.strftime("%Y-%m-%d %H:%M:%S %z")
        with closing(self._open()) as db, db:
            return [r for r in recipients if db.execute("INSERT OR IGNORE INTO sent VALUES (?, ?, 'sending', ?)", (report, r, now)).rowcount]

    def forget(self, report: str) -> None:
        """As if the report had never been sent."""
        with closing(self._open()) as db, db:
            db.execute("DELETE FROM sent WHERE id = ?", (report,))

    def settle(self, report: str, recipients: Sequence[str]) -> None:
        """These have it."""
        with closing(self._open()) as db, db:
            db.executemany("UPDATE sent SET state = 'sent' WHERE id = ? AND recipient = ?", [(report, r) for r in recipients])

    def release(self, report: str, recipients: Sequence[str]) -> None:
        """These surely do not have it."""
        with closing(self._open()) as db, db:
            db.executemany("DELETE FROM sent WHERE id = ? AND recipient = ? AND state = 'sending'", [(report, r) for r in recipients])


# ---- sending ----


class _Later(Exception):
    """The server has not taken it; another try may help."""


class _Never(Exception):
    """The server has not taken it and will not."""


class _Unknown(Exception):
    """The line broke when the server may have taken it."""


def deliver(
    m: EmailMessage, report: str, server: Server, sender: str, recipients: Sequence[str], record: Record, *,
    waits: Sequence[float] = WAITS_S, timeout: float = TIMEOUT_S, sleep: Callable[[float], None] = time.sleep,
) -> Outcome:  # fmt: skip
    """Send a report to those who do not have it.

    Raises
    ------
    NotSent
        When the server did not take it, or when it is not known whether it did.
    """
    known = record.state(report)
    unclear = [r for r in recipients if known.get(r) == "sending"]
    if unclear:
        raise NotSent(
            f"an earlier run broke off while it sent this report to {', '.join(unclear)}; ask whether it arrived, and give --again if it did not"
        )
    login = credentials()
    outcome = Outcome(already=[r for r in recipients if known.get(r) == "sent"])
    due = record.claim(report, [r for r in recipients if r not in outcome.already])
    if not due:
        return outcome
    reason, in_flight = "", False
    try:
        for wait in (*waits, None):
            outcome.tries += 1
            in_flight = True
            try:
                taken, refused, reason = _once(m, server, login, sender, due, timeout)
            except _Later as later:
                reason = str(later)
            else:
                record.settle(report, taken)
                record.release(report, list(refused))
                outcome.sent += taken
                outcome.refused |= refused
                due = [r for r in due if r not in taken and r not in refused]
                if not due:
                    return outcome
            in_flight = False
            if wait is not None:
                sleep(wait)
        raise NotSent(f"{server} did not take the report for {', '.join(due)} in {outcome.tries} tries ({reason}); run it again later")
    except _Never as never:
        raise NotSent(f"{server} refuses the report ({never}); nothing was sent") from None
    except _Unknown as unknown:
        claimed, due = due, []
        raise NotSent(
            f"the line to {server} broke when the report had been handed over ({unknown}); ask {', '.join(claimed)} whether it arrived"
        ) from None
    except KeyboardInterrupt:
        due = [] if in_flight else due
        raise
    finally:
        record.release(report, due)


def _said(code: int, text: bytes | str) -> str:
    words = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    return f"{code} {' '.join(words.split())[:120]}"


def _verdict(code: int, text: bytes | str) -> Exception:
    return _Later(_said(code, text)) if 400 <= code < 500 else _Never(_said(code, text))


def _connect(server: Server, login: tuple[str, str] | None, timeout: float) -> smtplib.SMTP:
    """A line to the server, under TLS and logged in."""
    context = ssl.create_default_context()
    try:
        if server.scheme == "smtps":
            smtp: smtplib.SMTP = smtplib.SMTP_SSL(server.host, server.port, timeout=timeout, context=context)
        else:
            smtp = smtplib.SMTP(server.host, server.port, timeout=timeout)
    except smtplib.SMTPResponseException as error:
        raise _verdict(error.smtp_code, error.smtp_error) from None
    except ssl.SSLCertVerificationError as error:
        raise _Never(f"its certificate is not trusted: {error.verify_message}") from None
    except (OSError, smtplib.SMTPException) as error:
        raise _Later(str(error) or type(error).__name__) from None
    try:
        smtp.ehlo_or_helo_if_needed()
        secure = server.scheme == "smtps"
        if not secure and smtp.has_extn("starttls"):
            smtp.starttls(context=context)
            smtp.ehlo()
            secure = True
        if not secure and (not server.near or login is not None):
            raise _Never("it offers no TLS, and a report or a password never travels in the clear")
        if login is not None:
            smtp.login(*login)
    except smtplib.SMTPResponseException as error:
        _close(smtp)
        raise _verdict(error.smtp_code, error.smtp_error) from None
    except ssl.SSLCertVerificationError as error:
        _close(smtp)
        raise _Never(f"its certificate is not trusted: {error.verify_message}") from None
    except smtplib.SMTPNotSupportedError as error:
        _close(smtp)
        raise _Never(str(error)) from None
    except (OSError, smtplib.SMTPException) as error:
        _close(smtp)
        raise _Later(str(error) or type(error).__name__) from None
    except _Never:
        _close(smtp)
        raise
    return smtp


def _close(smtp: smtplib.SMTP) -> None:
    try:
        smtp.quit()
    except (OSError, smtplib.SMTPException):
        smtp.close()


def _once(
    m: EmailMessage, server: Server, login: tuple[str, str] | None, sender: str, due: Sequence[str], timeout: float
) -> tuple[list[str], dict[str, str], str]:
    """One try: who got it, whom the server refuses for good, and what it said of the others."""
    body = m.as_bytes()
    smtp = _connect(server, login, timeout)
    try:
        taken, refused, later = [], {}, ""
        try:
            code, text = smtp.mail(sender, [f"size={len(body)}"] if smtp.has_extn("size") else [])
            if code != 250:
                raise _verdict(code, text)
            for r in due:
                code, text = smtp.rcpt(r)
                if code in (250, 251):
                    taken.append(r)
                elif 400 <= code < 500:
                    later = _said(code, text)
                else:
                    refused[r] = _said(code, text)
        except (OSError, smtplib.SMTPException) as error:
            raise _Later(str(error) or type(error).__name__) from None
        if not taken:
            return [], refused, later
        try:
            code, text = smtp.data(body)
        except smtplib.SMTPDataError as error:  # before the message went
            raise _verdict(error.smtp_code, error.smtp_error) from None
        except (OSError, smtplib.SMTPException) as error:
            raise _Unknown(str(error) or type(error).__name__) from None
        if code != 250:
            raise _verdict(code, text)
        return taken, refused, later
    finally:
        _close(smtp)
