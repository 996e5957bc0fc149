"""Through which server does mail go out? This is what the environment says about it."""

from __future__ import annotations

from email.utils import parseaddr
from typing import Final
from urllib.parse import unquote, urlsplit

from cluster.variables import BadEnvironment, EnvironmentVariables
from webhooks.mail_server import MailEncryption, MailServer

_SERVER: Final = "CONCERTINA_MAIL_SERVER"
_FROM: Final = "CONCERTINA_MAIL_FROM"
_KINDS: Final = {
    "smtp": (MailEncryption.STARTTLS, 587),
    "smtps": (MailEncryption.TLS, 465),
    "smtp+plain": (MailEncryption.NONE, 25),
}


def read(variables: EnvironmentVariables) -> MailServer | None:
    """Return the server, if there is one. Raises: BadEnvironment."""
    url = variables.text(_SERVER, default="")
    if not url:
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadEnvironment(f"{_SERVER}={url!r} is not a URL. {_HOW}") from None
    if parts.scheme not in _KINDS or not parts.hostname or parts.path.strip("/"):
        raise BadEnvironment(f"{_SERVER}={url!r}: {_HOW}")
    if parts.password is not None:
        raise BadEnvironment(f"{_SERVER}: leave the password to CONCERTINA_MAIL_PASSWORD.")
    encryption, usual_port = _KINDS[parts.scheme]
    sender = variables.text(_FROM, default="")
    _, address = parseaddr(sender)
    if "@" not in address or not address.isascii() or not sender.isprintable():
        raise BadEnvironment(f"{_FROM}={sender!r}: set the address from which mail comes.")
    user = unquote(parts.username or "")
    return MailServer(
        host=parts.hostname,
        port=port or usual_port,
        encryption=encryption,
        sender=sender,
        user=user,
        password=variables.secret("CONCERTINA_MAIL_PASSWORD") if user else "",
    )


_HOW: Final = (
    "Use smtp://USER@HOST:PORT (STARTTLS), smtps://… (TLS) or smtp+plain://… (not encrypted)."
)
