"""How does a mail go out? As a message that a mail server takes; what follows is the server's own.

Whoever sends it again because nobody noted that it went has sent it twice: both have the same
`Message-ID`, by which many mail programs show it once.
"""

from __future__ import annotations

import json
from contextlib import suppress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from typing import Final

import aiosmtplib

from webhooks.mail_server import MailEncryption, MailServer
from webhooks.models import WebhookDelivery

TAKEN: Final = 250  # what a server answers that has taken a message
_FAREWELL_SECONDS: Final = 1.0


async def send(server: MailServer, to: str, delivery: WebhookDelivery, *, seconds: float) -> int:
    """Hand over what is to be delivered. Raises: as `hand_over`."""
    message = message_of(delivery, to=to, sender=server.sender)
    await hand_over(server, message, seconds=seconds)
    return TAKEN


async def hand_over(server: MailServer, message: EmailMessage, *, seconds: float) -> None:
    """Hand the message to the server.

    Raises:
        SMTPException: it did not take the message.
        OSError: it cannot be reached.
    """
    client = aiosmtplib.SMTP(
        hostname=server.host,
        port=server.port,
        username=server.user or None,
        password=server.password or None,
        use_tls=server.encryption is MailEncryption.TLS,
        start_tls=server.encryption is MailEncryption.STARTTLS,
        timeout=seconds,
    )
    try:
        await client.connect()
        await client.send_message(message)
        with suppress(aiosmtplib.SMTPException, OSError):  # whatever follows, it has taken it
            await client.quit(timeout=_FAREWELL_SECONDS)
    finally:
        client.close()


def message_of(delivery: WebhookDelivery, *, to: str, sender: str) -> EmailMessage:
    """Return the whole mail; nobody's automatic answer is to come back."""
    told = json.loads(delivery.body)
    made = EmailMessage(policy=SMTP)
    made["From"], made["To"], made["Subject"] = sender, to, told["subject"]
    made["Date"] = format_datetime(delivery.created_at)
    made["Message-ID"] = f"<{delivery.pk}@{parseaddr(sender)[1].rpartition('@')[2]}>"
    made["Auto-Submitted"] = "auto-generated"
    made.set_content(told["text"])
    return made
