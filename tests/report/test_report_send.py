"""A report handed to real mail servers of the test: TLS, patience, never twice."""

from __future__ import annotations

import datetime as dt
import email
import email.policy
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from gpuecon_xl import cli
from gpuecon_xl.errors import GpueconError
from gpuecon_xl.report import figures, send
from gpuecon_xl.report.figures import SourceBook

TO = ["a@example.com", "b@example.com"]


class Inbox:
    """A server's handler: what it took, and what it says before it takes anything."""

    def __init__(self, **answers: list[str]) -> None:
        self.taken: list[tuple[list[str], bytes]] = []
        self.answers = answers
        self.secure: list[bool] = []

    def _next(self, stage: str) -> str | None:
        left = self.answers.get(stage)
        return left.pop(0) if left else None

    async def handle_MAIL(self, server: Any, peer: Any, envelope: Any, address: str, options: list[str]) -> str:
        said = self._next("mail")
        if said:
            return said
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server: Any, peer: Any, envelope: Any, address: str, options: list[str]) -> str:
        said = self._next(address) or self._next("rcpt")
        if said:
            return said
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, peer: Any, envelope: Any) -> str:
        said = self._next("data")
        if said == "cut":
            server.transport.abort()
            return "250 never heard"
        if said:
            return said
        self.secure.append(peer.ssl is not None)
        self.taken.append((list(envelope.rcpt_tos), envelope.content))
        return "250 OK"


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@pytest.fixture
def serve() -> Iterator[Callable[..., int]]:
    running: list[Controller] = []

    def start(inbox: Inbox, **more: Any) -> int:
        port = _free_port()
        controller = Controller(inbox, hostname="127.0.0.1", port=port, **more)
        controller.start()
        running.append(controller)
        return port

    yield start
    for c in running:
        c.stop()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate and key for localhost, made for this run."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    today = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
        .not_valid_before(today - dt.timedelta(days=1)).not_valid_after(today + dt.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def letter(text: str = "Grüße") -> EmailMessage:
    m = EmailMessage(policy=email.policy.SMTP)
    m["From"], m["To"], m["Subject"], m["Message-ID"] = "s@example.com", ", ".join(TO), "Bericht", "<x@example.com>"
    m.set_content(text)
    return m


def deliver(
    port: int, record: Path, *, report: str = "r1", to: list[str] | None = None, scheme: str = "smtp", host: str = "localhost", **more: Any
) -> send.Outcome:
    naps: list[float] = []
    server = send.Server(scheme, host, port)
    return send.deliver(letter(), report, server, "s@example.com", to or TO, send.Record(record), sleep=naps.append, timeout=10, **more)


def test_report_is_sent_once_over_starttls(
    months: dict[str, Path], now: SourceBook, serve: Callable[..., int], tls: ssl.SSLContext, certificate: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    inbox = Inbox(rcpt=["451 4.7.1 greylisted, come back later"])
    port = serve(inbox, tls_context=tls, require_starttls=True)
    monkeypatch.setitem(send.deliver.__kwdefaults__, "sleep", lambda _: None)
    monkeypatch.setattr(figures, "SourceBook", lambda path: now)  # read once
    words = [
        "report",
        str(months["now"]),
        "-o",
        str(tmp_path / "Bericht März.xlsx"),
        "--force",
        "--send",
        f"smtp://localhost:{port}",
        "--from",
        "Søren <s@example.com>",
    ]
    words += ["--to", "Jürgen <a@example.com>"]
    assert cli.main(words) == 0
    assert "Not sent" in capsys.readouterr().out
    assert inbox.taken == []
    assert cli.main([*words, "--yes"]) == 0, capsys.readouterr().err
    assert "Sent to a@example.com" in capsys.readouterr().out
    assert cli.main([*words, "--yes"]) == 0
    assert "Not sent again" in capsys.readouterr().out
    ((to, raw),) = inbox.taken
    assert to == ["a@example.com"]
    assert inbox.secure == [True]
    m = email.message_from_bytes(raw, policy=email.policy.default)
    assert isinstance(m, EmailMessage)
    assert m["From"].addresses[0].display_name == "Søren"
    (attached,) = m.iter_attachments()
    assert attached.get_filename() == "Bericht März.xlsx"
    assert attached.get_content() == (tmp_path / "Bericht März.xlsx").read_bytes()
    assert cli.main([*words, "--yes", "--to", "c@example.com"]) == 0
    assert inbox.taken[-1][0] == ["c@example.com"]
    assert cli.main([*words, "--yes", "--again"]) == 0
    assert len(inbox.taken) == 3


def test_smtps_and_login(serve: Callable[..., int], tls: ssl.SSLContext, certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    seen: list[tuple[bytes, bytes]] = []

    def check(server: Any, peer: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        seen.append((data.login, data.password))
        return AuthResult(success=data.password == b"geheim", handled=False)

    inbox = Inbox()
    port = serve(inbox, tls_context=tls, authenticator=check, auth_required=True)
    monkeypatch.setenv("GPUECON_SMTP_USER", "u")
    monkeypatch.setenv("GPUECON_SMTP_PASSWORD", "falsch")
    with pytest.raises(send.NotSent, match="refuses"):
        deliver(port, tmp_path / "s")
    monkeypatch.setenv("GPUECON_SMTP_PASSWORD", "geheim")
    assert deliver(port, tmp_path / "s").sent == TO
    assert (b"u", b"geheim") in seen
    inbox = Inbox()
    port = _free_port()
    monkeypatch.delenv("GPUECON_SMTP_USER")
    monkeypatch.delenv("GPUECON_SMTP_PASSWORD")
    controller = _Smtps(inbox, hostname="127.0.0.1", port=port, ssl_context=tls)
    controller.start()
    try:
        assert deliver(port, tmp_path / "s2", scheme="smtps").sent == TO
    finally:
        controller.stop()
    assert len(inbox.taken) == 1


class _Smtps(Controller):
    """A server that is TLS from the start; its own first look at itself trusts it."""

    def _trigger_server(self) -> None:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with socket.create_connection((self.hostname, self.port), 5) as s, context.wrap_socket(s) as secure:
            secure.recv(100)


def test_a_certificate_that_nobody_vouches_for_is_refused(serve: Callable[..., int], tls: ssl.SSLContext, tmp_path: Path) -> None:
    inbox = Inbox()
    port = serve(inbox, tls_context=tls)
    with pytest.raises(send.NotSent, match="not trusted"):
        deliver(port, tmp_path / "s")
    assert inbox.taken == []
    assert send.Record(tmp_path / "s").state("r1") == {}


def test_nothing_travels_in_the_clear(serve: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inbox = Inbox()
    port = serve(inbox)
    assert deliver(port, tmp_path / "near").sent == TO  # a relay of this machine
    monkeypatch.setenv("GPUECON_SMTP_USER", "u")
    monkeypatch.setenv("GPUECON_SMTP_PASSWORD", "p")
    with pytest.raises(send.NotSent, match="no TLS"):
        deliver(port, tmp_path / "login")
    monkeypatch.delenv("GPUECON_SMTP_USER")
    monkeypatch.delenv("GPUECON_SMTP_PASSWORD")
    monkeypatch.setattr(send.Server, "near", False)
    with pytest.raises(send.NotSent, match="no TLS"):
        deliver(port, tmp_path / "far")
    assert len(inbox.taken) == 1


@pytest.mark.parametrize("stage", ["mail", "rcpt", "data"])
def test_a_server_that_says_later_then_yes(stage: str, serve: Callable[..., int], tmp_path: Path) -> None:
    inbox = Inbox(**{stage: ["451 4.3.0 later"] * 2})
    outcome = deliver(serve(inbox), tmp_path / "s", to=TO[:1])
    assert (outcome.sent, outcome.tries) == (TO[:1], 3)
    assert len(inbox.taken) == 1
    assert deliver(serve(Inbox()), tmp_path / "s", to=TO[:1]).already == TO[:1]


def test_a_server_that_always_says_later(serve: Callable[..., int], tmp_path: Path) -> None:
    inbox = Inbox(data=["451 later"] * 9)
    port = serve(inbox)
    with pytest.raises(send.NotSent, match="in 4 tries"):
        deliver(port, tmp_path / "s")
    assert send.Record(tmp_path / "s").state("r1") == {}
    inbox.answers.clear()
    assert deliver(port, tmp_path / "s").sent == TO
    with pytest.raises(send.NotSent, match="in 4 tries"):
        deliver(_free_port(), tmp_path / "s2")


def test_one_recipient_later_one_never(serve: Callable[..., int], tmp_path: Path) -> None:
    inbox = Inbox(**{TO[0]: ["450 later"], TO[1]: ["550 no such user"]})
    outcome = deliver(serve(inbox), tmp_path / "s")
    assert outcome.sent == TO[:1]
    assert list(outcome.refused) == TO[1:]
    assert [t for t, _ in inbox.taken] == [TO[:1]]
    inbox = Inbox(**{TO[0]: ["450 later"]})
    outcome = deliver(serve(inbox), tmp_path / "s3")
    assert sorted(outcome.sent) == TO
    assert [t for t, _ in inbox.taken] == [TO[1:], TO[:1]]


def test_a_server_that_says_never(serve: Callable[..., int], tmp_path: Path) -> None:
    inbox = Inbox(data=["554 5.7.1 spam"])
    with pytest.raises(send.NotSent, match="554"):
        deliver(serve(inbox), tmp_path / "s")
    assert send.Record(tmp_path / "s").state("r1") == {}


def test_a_broken_line_after_the_message_is_not_tried_again(serve: Callable[..., int], tmp_path: Path) -> None:
    inbox = Inbox(data=["cut"])
    port = serve(inbox)
    with pytest.raises(send.NotSent, match=r"ask .* whether it arrived"):
        deliver(port, tmp_path / "s")
    with pytest.raises(send.NotSent, match="--again"):
        deliver(port, tmp_path / "s")
    assert inbox.taken == []
    record = send.Record(tmp_path / "s")
    record.forget("r1")
    assert deliver(port, tmp_path / "s").sent == TO


def test_two_runs_at_once_send_once(tmp_path: Path) -> None:
    one, other = send.Record(tmp_path / "s"), send.Record(tmp_path / "s")
    assert one.claim("r", TO) == TO
    assert other.claim("r", TO) == []


@pytest.mark.parametrize("url", ["", "x", "smtp://", "http://a", "smtp://a:99999", "smtp://a:x", "smtp://a/b", "smtp://a?x=1"])
def test_server_addresses(url: str) -> None:
    with pytest.raises(GpueconError):
        send.parse_server(url)
    assert send.parse_server("smtps://mail.example.com") == send.Server("smtps", "mail.example.com", 465)
    assert send.parse_server("smtp://mail.example.com").port == 587
    assert send.Server("smtp", "127.0.0.1", 25).near
    assert not send.Server("smtp", "mail.example.com", 25).near


def test_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    assert send.credentials() is None
    monkeypatch.setenv("GPUECON_SMTP_PASSWORD", "p")
    with pytest.raises(GpueconError, match="USER"):
        send.credentials()
    monkeypatch.setenv("GPUECON_SMTP_USER", "u")
    assert send.credentials() == ("u", "p")


_ASK = "from gpuecon_xl.report import send; print(send.credentials())"
_STORE = "import keyring, sys; keyring.set_password('gpuecon-smtp', 'Jürgen', sys.stdin.read())"


def _ask(code: str, env: dict[str, str], said: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONUTF8": "1", **env}, input=said, capture_output=True, text=True, check=False
    )


def test_the_password_may_lie_in_the_keyring(tmp_path: Path) -> None:
    """A real keyring in a file: another process stores, this one finds; what the environment says goes first."""
    env = {"PYTHON_KEYRING_BACKEND": "keyrings.alt.file.PlaintextKeyring", "XDG_DATA_HOME": str(tmp_path), "GPUECON_SMTP_USER": "Jürgen"}
    without = _ask(_ASK, env)
    assert "it holds none for 'Jürgen'; keyring set gpuecon-smtp" in without.stderr
    stored = _ask(_STORE, env, "geheim=ø")
    assert stored.returncode == 0, stored.stderr
    assert any(p.is_file() for p in tmp_path.rglob("*"))
    assert _ask(_ASK, env).stdout.strip() == "('Jürgen', 'geheim=ø')"
    assert _ask(_ASK, {**env, "GPUECON_SMTP_PASSWORD": "p"}).stdout.strip() == "('Jürgen', 'p')"
    assert "it holds none for 'other'" in _ask(_ASK, {**env, "GPUECON_SMTP_USER": "other"}).stderr


@pytest.mark.parametrize(
    ("backend", "wanted"),
    [("keyring.backends.fail.Keyring", "No recommended backend"), ("no.such.Keyring", "No module named")],
)
def test_a_keyring_that_does_not_answer(backend: str, wanted: str) -> None:
    done = _ask(_ASK, {"PYTHON_KEYRING_BACKEND": backend, "GPUECON_SMTP_USER": "u"})
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert wanted in last
    assert "GPUECON_SMTP_PASSWORD" in last


def test_without_keyring_its_name_is_said() -> None:
    blocked = "import sys; sys.modules['keyring'] = None\n" + _ASK
    assert "pip install 'gpuecon_xl[keyring]'" in _ask(blocked, {"GPUECON_SMTP_USER": "u"}).stderr


def test_a_record_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(GpueconError, match="GPUECON_SENT"):
        send.Record(tmp_path / "file" / "sent.sqlite")
