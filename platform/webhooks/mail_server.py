"""Which server takes this installation's mail, and from whom does it come?"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class MailEncryption(StrEnum):
    """How a connection to the server is encrypted."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class MailServer:
    """A server for outgoing mail; a user without a name does not log in."""

    host: str
    port: int
    encryption: MailEncryption
    sender: str  # an address, or NAME <ADDRESS>
    user: str = ""
    password: str = field(default="", repr=False)
