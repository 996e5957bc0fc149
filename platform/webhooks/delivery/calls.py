"""How is one message sent? In one bounded call, to where the installation lets it go.

Where a connection goes is looked at when it is made, by its address, after names were looked up: a
name that means another address the second time gets nobody further. Redirects are not followed, and
of the answer only its status counts.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import aiohttp
from aiohttp.abc import AbstractCookieJar
from storage.data.destinations import Reach

from webhooks import secrets
from webhooks.delivery import mail, problems
from webhooks.delivery.claims import CallResult
from webhooks.delivery.problems import AddressNotAllowed
from webhooks.errors import NoMailHere
from webhooks.mail_server import MailServer
from webhooks.models import WebhookDelivery, WebhookShape
from webhooks.secrets import CannotDecrypt, WebhookTarget

CALL_SECONDS: Final = 10.0  # from looking up the name to the end of the answer's head
MOST_OPEN: Final = 64  # calls at once
MOST_MAILS: Final = 4  # connections to the mail server at once; many servers allow ten
_MOST_HEAD: Final = 8190  # bytes of a line, or of a field, of the answer's head
_AGENT: Final = "Concertina-Webhooks/1"
_IS_DELIVERED: Final = range(200, 300)
_log: Final = logging.getLogger(__name__)

Request = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class WebhookReach:
    """Where calls may go: with TLS to public addresses, without it only to what is listed."""

    encrypted: Reach
    plain: Reach
    mail: MailServer | None = None  # that takes mail; None: none is sent

    def socket_for(self, reach: Reach) -> Callable[[Request], socket.socket]:
        """Return what makes the socket of a connection, or refuses to."""

        def made(address: Request) -> socket.socket:
            family, kind, protocol, _, place = address
            if problem := reach.why_not(str(place[0]), int(place[1])):
                raise AddressNotAllowed(_refusal(reach), problem)
            return socket.socket(family=family, type=kind, proto=protocol)

        return made


class WebhookCaller:
    """Sends messages for as long as it is open; a receiver's connection is used again."""

    def __init__(
        self,
        encrypted: aiohttp.ClientSession,
        plain: aiohttp.ClientSession,
        *,
        mail: MailServer | None,
        clock: Callable[[], datetime],
    ) -> None:
        self._encrypted = encrypted
        self._plain = plain
        self._mail = mail
        self._mails_at_once = asyncio.Semaphore(MOST_MAILS)
        self._clock = clock

    async def call(self, delivery: WebhookDelivery) -> CallResult:
        """Send it; whatever goes wrong is in the result."""
        at, began = self._clock(), time.monotonic()
        status, problem = None, ""
        try:
            target = secrets.open_target(delivery.webhook)
            async with asyncio.timeout(CALL_SECONDS):
                status = await self._sent(target, delivery, at=int(at.timestamp()))
            problem = "" if status in _IS_DELIVERED else problems.of_status(status)
        except CannotDecrypt:
            problem = problems.NOT_DECRYPTED
        except TimeoutError:
            problem = f"There was no answer within {CALL_SECONDS:g} s."
        except Exception as error:  # noqa: BLE001 - one message must not stop the others
            problem = problems.of_error(error)
            _tell_admins(delivery, error)
        return CallResult(
            delivery_id=delivery.pk,
            webhook_id=delivery.webhook_id,
            attempt=delivery.attempts,
            at=at,
            seconds=time.monotonic() - began,
            status=status,
            problem=problem,
        )

    async def _sent(self, target: WebhookTarget, delivery: WebhookDelivery, *, at: int) -> int:
        if delivery.webhook.shape != WebhookShape.MAIL:
            return await self._post(target, delivery, at=at)
        if self._mail is None:
            raise NoMailHere
        async with self._mails_at_once:
            to = target.url.partition(":")[2]
            return await mail.send(self._mail, to, delivery, seconds=CALL_SECONDS)

    async def _post(self, target: WebhookTarget, delivery: WebhookDelivery, *, at: int) -> int:
        body, number = delivery.body.encode(), str(delivery.pk)
        headers = {
            "Content-Type": "application/json",
            "User-Agent": _AGENT,
            "webhook-id": number,
            "webhook-timestamp": str(at),
            "webhook-signature": secrets.signature(target.key, message_id=number, at=at, body=body),
        }
        is_plain = target.url.lower().startswith("http:")
        session = self._plain if is_plain else self._encrypted
        async with session.post(
            target.url, data=body, headers=headers, allow_redirects=False
        ) as answer:
            answer.close()  # nobody reads its body, however long it is
            return answer.status


@asynccontextmanager
async def open_caller(
    rules: WebhookReach, *, clock: Callable[[], datetime]
) -> AsyncIterator[WebhookCaller]:
    """Open what sends messages, on the event loop that runs."""
    async with _session(rules, rules.encrypted) as encrypted, _session(rules, rules.plain) as plain:
        yield WebhookCaller(encrypted, plain, mail=rules.mail, clock=clock)


def _session(rules: WebhookReach, reach: Reach) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(
        limit=MOST_OPEN,
        socket_factory=rules.socket_for(reach),
        ssl=ssl.create_default_context(),
        use_dns_cache=False,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=_no_cookies(),
        trust_env=False,
        auto_decompress=False,
        max_line_size=_MOST_HEAD,
        max_field_size=_MOST_HEAD,
        timeout=aiohttp.ClientTimeout(total=CALL_SECONDS),
    )


def _no_cookies() -> AbstractCookieJar:
    return aiohttp.DummyCookieJar()


def _refusal(reach: Reach) -> str:
    if reach.is_public:
        return (
            f"It leads to an address that is not public, and is not listed in {reach.setting}."
            " Ask an admin."
        )
    return f"Without TLS it may lead only to what is listed in {reach.setting}. Ask an admin."


def _tell_admins(delivery: WebhookDelivery, error: Exception) -> None:
    """Tell what its owner is not told: which address it leads to, if that is refused."""
    if (refusal := problems.refused(error)) is None:
        return
    extra = {"action": "webhook_refused", "webhook_id": delivery.webhook_id}
    _log.warning("A webhook may not be called: %s.", refusal.why, extra=extra)
