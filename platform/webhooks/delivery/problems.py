"""Why did a call fail? In sentences of ours, as errors name the address, which is secret.

Nothing that an error says is passed on: libraries put the whole address into it, what a name leads
to within the installation, and bytes of the answer.
"""

from __future__ import annotations

import os
import socket
import ssl
from typing import Final

import aiohttp
import aiosmtplib

from webhooks.errors import NoMailHere

NOT_DECRYPTED: Final = "Its address cannot be decrypted: the service's secret key was changed."


class AddressNotAllowed(OSError):
    """Nothing is sent to this address; the message is for whoever owns the webhook."""

    def __init__(self, message: str, why: str) -> None:
        super().__init__(message)
        self.why = why  # for admins: it names the address


_NO_NAME: Final = "Its name cannot be looked up."
_NOT_TRUSTED: Final = (
    "Its certificate is not valid for its name, or not from anybody who is trusted."
)
_NO_TLS: Final = "No encrypted connection to it came about: does it speak TLS there?"
_CLOSED: Final = "It closed the connection without an answer."
_BAD_ADDRESS: Final = "Its address cannot be called. Is it written well?"
_NO_HTTP: Final = "What it answered is not HTTP, or its head is too long."
_NO_LOGIN: Final = "The mail server does not take Concertina's login. Ask an admin."
_NO_SENDER: Final = "The mail server takes no mail from Concertina's address. Ask an admin."
_NO_RECIPIENT: Final = "The mail server takes no mail for this address. Is it written well?"
_NO_SERVER: Final = "The mail server cannot be reached, or not with encryption. Ask an admin."
_NOT_TAKEN: Final = "The mail server did not take the message."
_TOLD: Final = (  # the first that fits counts
    ((NoMailHere,), str(NoMailHere())),
    ((aiosmtplib.SMTPAuthenticationError,), _NO_LOGIN),
    ((aiosmtplib.SMTPSenderRefused,), _NO_SENDER),
    ((aiosmtplib.SMTPRecipientRefused, aiosmtplib.SMTPRecipientsRefused), _NO_RECIPIENT),
    (
        (
            aiosmtplib.SMTPConnectError,
            aiosmtplib.SMTPServerDisconnected,
            aiosmtplib.SMTPTimeoutError,
        ),
        _NO_SERVER,
    ),
    ((aiosmtplib.SMTPException,), _NOT_TAKEN),
    ((aiohttp.ClientConnectorDNSError, socket.gaierror), _NO_NAME),
    ((aiohttp.ClientConnectorCertificateError, ssl.CertificateError), _NOT_TRUSTED),
    ((aiohttp.ClientSSLError, ssl.SSLError), _NO_TLS),
    ((aiohttp.ServerDisconnectedError,), _CLOSED),
    ((aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError), _BAD_ADDRESS),
    ((aiohttp.ClientResponseError, aiohttp.ClientPayloadError), _NO_HTTP),
)


def of_status(status: int) -> str:
    if 300 <= status < 400:  # noqa: PLR2004 - redirects
        return f"It answered {status}, a redirect, and these are not followed."
    return f"It answered {status}."


def of_error(error: BaseException) -> str:
    """Return what its owner is told of what went wrong."""
    if refusal := refused(error):
        return str(refusal)
    for kinds, told in _TOLD:
        if isinstance(error, kinds):
            return told
    if isinstance(error, OSError):
        return f"No connection to it, or it broke off: {_of_number(error.errno)}."
    return f"The call failed ({type(error).__name__})."


def refused(error: BaseException) -> AddressNotAllowed | None:
    """Return why nothing is sent to an address, if that is what is behind an error."""
    found: BaseException | None = error
    for _ in range(10):
        if found is None or isinstance(found, AddressNotAllowed):
            return found
        found = getattr(found, "os_error", None) or found.__cause__ or found.__context__
    return None


def _of_number(number: int | None) -> str:
    return os.strerror(number) if number else "nobody says why"
