"""Do mails come out at a mail server, whole, once, and from nobody but us?"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword
from cluster.variables import BadEnvironment, EnvironmentVariables
from control_plane.configuration import mail_settings
from django.utils import timezone
from tenancy.access.permissions import LEAD
from tenancy.models import Team
from webhooks import hooks
from webhooks.delivery.calls import WebhookReach
from webhooks.errors import AddressRefused
from webhooks.mail_server import MailEncryption, MailServer
from webhooks.models import Webhook

from jobs.models import Event, Job
from tests.certificates import self_signed
from tests.service.access.test_roles import client, person
from tests.service.webhooks.conftest import add, fill, happen, problem, row, send
from tests.service.webhooks.receiver import here

PLACE = "mailto:ml-team@example.com"
READY_SECONDS = 240.0  # however busy the machine is


@dataclass
class Mailbox:
    """What a server took, and what it answers to."""

    mails: list[EmailMessage] = field(default_factory=list)
    answer: str = "250 taken"
    lets_go: bool = True

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Envelope) -> str:  # noqa: N802 - its name
        assert isinstance(envelope.content, bytes)
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        return self.answer

    async def handle_QUIT(self, _server: Any, _session: Any, _envelope: Envelope) -> str:  # noqa: N802 - its name
        if not self.lets_go:
            await asyncio.Event().wait()
        return "221 farewell"

    async def handle_RCPT(  # noqa: N802 - its name
        self, _server: Any, _session: Any, envelope: Envelope, address: str, _options: Any
    ) -> str:
        if address.startswith("nobody"):
            return "550 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 fine"


class Server(Controller):
    """Listens on a port that nobody had."""

    def __init__(self, mailbox: Mailbox, **more: Any) -> None:
        super().__init__(mailbox, hostname="127.0.0.1", port=0, ready_timeout=READY_SECONDS, **more)

    def _trigger_server(self) -> None:
        assert self.server is not None
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def server(mailbox: Mailbox) -> Iterator[MailServer]:
    yield from serving(Server(mailbox), MailEncryption.NONE)


def serving(controller: Server, encryption: MailEncryption, **login: str) -> Iterator[MailServer]:
    controller.start()
    try:
        yield MailServer(
            host="localhost",
            port=controller.port,
            encryption=encryption,
            sender="concertina@example.com",
            **login,
        )
    finally:
        controller.stop()


def tell(server: MailServer | None) -> int:
    while fill():
        pass
    return send(rules=lambda: by(server))


def by(server: MailServer | None) -> WebhookReach:
    rules = here()
    return WebhookReach(encrypted=rules.encrypted, plain=rules.plain, mail=server)


def test_a_mail_says_what_happened_and_leads_to_the_job(
    vision: Team, job: Job, server: MailServer, mailbox: Mailbox
) -> None:
    add(vision, PLACE, shape="mail")
    message = "Ran to its end.\nSubject: something else"
    Event.objects.create(
        job=job, kind="state_changed", old_state="running", new_state="completed", message=message
    )
    assert tell(server) == 1
    (mail,) = mailbox.mails
    assert (mail["To"], mail["From"]) == ("ml-team@example.com", "concertina@example.com")
    assert mail["Subject"] == f"{job.name}: completed"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Message-ID"] == f"<{row().pk}@example.com>"
    text = mail.get_content().replace("\r\n", "\n")
    assert text.startswith(message)
    assert f"Job:  {job.name} of team vision" in text
    assert f"https://concertina.example.com/jobs/{job.pk}" in text
    assert row().state == "delivered"
    assert tell(server) == 0


def test_a_test_arrives_as_well(vision: Team, server: MailServer, mailbox: Mailbox) -> None:
    webhook, _ = add(vision, PLACE, shape="mail")
    hooks.send_test(webhook, timezone.now(), service_url="https://concertina.example.com")
    tell(server)
    assert [mail["Subject"] for mail in mailbox.mails] == ["Concertina tests its webhook hook"]


def test_a_mail_that_was_taken_is_not_sent_again_because_the_server_hangs_afterwards(
    vision: Team, job: Job, server: MailServer, mailbox: Mailbox
) -> None:
    mailbox.lets_go = False
    add(vision, PLACE, shape="mail")
    happen(job)
    tell(server)
    assert (len(mailbox.mails), row().state) == (1, "delivered")


def test_a_sender_may_have_a_name(
    vision: Team, job: Job, server: MailServer, mailbox: Mailbox
) -> None:
    add(vision, PLACE, shape="mail")
    happen(job)
    tell(replace(server, sender="Größe <concertina@example.com>"))
    (mail,) = mailbox.mails
    assert mail["From"] == "Größe <concertina@example.com>"
    assert mail["Message-ID"] == f"<{row().pk}@example.com>"


@pytest.mark.parametrize("address", ["mailto:nobody@example.com", PLACE])
def test_what_is_not_taken_is_said_and_sent_again(
    vision: Team, job: Job, server: MailServer, mailbox: Mailbox, address: str
) -> None:
    mailbox.answer = "451 later"
    add(vision, address, shape="mail")
    happen(job)
    tell(server)
    assert row().state == "waiting"
    expected = "no mail for this address" if "nobody" in address else "did not take the message"
    assert expected in problem()


def test_without_a_server_nothing_is_sent_and_whose_fault_it_is_is_said(
    vision: Team, job: Job
) -> None:
    add(vision, PLACE, shape="mail")
    happen(job)
    tell(None)
    assert "CONCERTINA_MAIL_SERVER" in problem()


def test_a_server_that_is_away_is_tried_again(vision: Team, job: Job) -> None:
    add(vision, PLACE, shape="mail")
    happen(job)
    tell(
        MailServer(host="127.0.0.1", port=9, encryption=MailEncryption.NONE, sender="c@example.com")
    )
    assert "cannot be reached" in problem()


def test_who_logs_in_does_so_behind_encryption(
    vision: Team, job: Job, mailbox: Mailbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[LoginPassword] = []

    def authenticated(
        _server: Any, _session: Any, _envelope: Any, _mechanism: str, data: Any
    ) -> AuthResult:
        seen.append(data)
        return AuthResult(success=data == LoginPassword(b"concertina", b"a secret"))

    certificate, key = self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    controller = Server(
        mailbox,
        require_starttls=True,
        tls_context=context,
        auth_required=True,
        authenticator=authenticated,
    )
    add(vision, PLACE, shape="mail")
    happen(job)
    login = {"user": "concertina", "password": "a secret"}
    for server in serving(controller, MailEncryption.STARTTLS, **login):
        tell(server)
    assert (len(seen), len(mailbox.mails), row().state) == (1, 1, "delivered")


@pytest.mark.parametrize(
    "url",
    ["https://example.com/hook", "mailto:", "mailto:a@b", "mailto:a@example.com,b@example.com",
     "mailto:a@example.com\r\nBcc: b@example.com", "mailto:a@example.com?cc=b@example.com",
     "mailto:ä@example.com", "mailto:a@exämple.com", 'mailto:"a,b"@example.com',
     'mailto:"a\x01"@example.com', "mailto:a@[127.0.0.1]", f"mailto:{'a' * 300}@example.com"],
)  # fmt: skip
def test_only_one_address_is_one(vision: Team, url: str) -> None:
    with pytest.raises(AddressRefused, match="mail address"):
        add(vision, url, shape="mail")
    assert not Webhook.objects.exists()


def test_a_mail_address_of_another_shape_is_refused_with_the_shape_that_it_takes(
    vision: Team,
) -> None:
    with pytest.raises(AddressRefused, match="takes the shape `mail`"):
        add(vision, PLACE)


def test_an_installation_without_mail_refuses_one(vision: Team) -> None:
    body = {"team": "vision", "name": "mails", "url": PLACE, "shape": "mail"}
    lead = client(person("carl", vision=LEAD))
    refused = lead.post("/api/v1/webhooks", body, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "no_mail_server")


def read(**told: str) -> MailServer | None:
    return mail_settings.read(
        EnvironmentVariables({f"CONCERTINA_MAIL_{name}": value for name, value in told.items()})
    )


def test_the_environment_says_where_mail_goes() -> None:
    assert read() is None
    found = read(SERVER="smtp://a%40b@mail.example.com", FROM="c@example.com", PASSWORD="secret")
    assert found is not None
    assert (found.host, found.port, found.encryption) == ("mail.example.com", 587, "starttls")
    assert (found.user, found.password) == ("a@b", "secret")
    assert "secret" not in repr(found)
    plain = read(SERVER="smtp+plain://127.0.0.1:2525", FROM="c@example.com")
    assert plain is not None
    assert (plain.port, plain.encryption, plain.user) == (2525, "none", "")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"SERVER": "mail.example.com"}, "Use smtp://"),
        ({"SERVER": "smtp://mail.example.com:x"}, "is not a URL"),
        ({"SERVER": "smtp://a:pw@mail.example.com"}, "CONCERTINA_MAIL_PASSWORD"),
        ({"SERVER": "smtp://mail.example.com"}, "CONCERTINA_MAIL_FROM"),
        ({"SERVER": "smtp://mail.example.com", "FROM": "c at example.com"}, "CONCERTINA_MAIL_FROM"),
        ({"SERVER": "smtp://mail.example.com", "FROM": "C <c>"}, "CONCERTINA_MAIL_FROM"),
        ({"SERVER": "smtp://mail.example.com", "FROM": "ä@example.com"}, "CONCERTINA_MAIL_FROM"),
        ({"SERVER": "smtp://a@mail.example.com", "FROM": "c@example.com"}, "is not set"),
    ],
)
def test_what_it_says_wrongly_is_named(told: dict[str, str], said: str) -> None:
    with pytest.raises(BadEnvironment, match=said):
        read(**told)
