"""What of a webhook may nobody read? Its address, which may let anybody in, and its key.

Both are encrypted under the service's key, as secrets of teams are. The key signs messages as
https://www.standardwebhooks.com says, so that libraries of many languages verify them.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Final

from tenancy.secrets import encryption
from tenancy.secrets.encryption import CannotDecrypt

from webhooks.models import Webhook

__all__ = (
    "CannotDecrypt",
    "WebhookTarget",
    "new_key",
    "open_target",
    "reseal_all",
    "seal",
    "signature",
)

_PREFIX: Final = "whsec_"
_KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTarget:
    """Where a webhook's messages go, and with which key they are signed."""

    url: str
    key: str  # as it was shown once: `whsec_` and base64


def new_key() -> str:
    return _PREFIX + base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode()


def seal(target: WebhookTarget, *, team_id: int | None, name: str) -> str:
    """Encrypt for one webhook; no other can use it."""
    values = {"url": target.url, "key": target.key}
    return encryption.encrypt(values, place=_place(team_id, name))


def open_target(webhook: Webhook) -> WebhookTarget:
    """Raises: CannotDecrypt."""
    values = encryption.decrypt(webhook.sealed, place=_place(webhook.team_id, webhook.name))
    return WebhookTarget(url=str(values["url"]), key=str(values["key"]))


def signature(key: str, *, message_id: str, at: int, body: bytes) -> str:
    """Return what `webhook-signature` says of a message that is sent at this second."""
    signed = b".".join((message_id.encode(), str(at).encode(), body))
    digest = hmac.new(base64.b64decode(key.removeprefix(_PREFIX)), signed, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def reseal_all() -> tuple[int, list[Webhook]]:
    """Encrypt all with the newest key; return how many, and those that no key decrypts."""
    lost, resealed = [], 0
    for row in Webhook.objects.select_related("team").iterator():
        try:
            sealed = encryption.reencrypt(row.sealed)
        except CannotDecrypt:
            lost.append(row)
            continue
        resealed += Webhook.objects.filter(pk=row.pk, sealed=row.sealed).update(sealed=sealed)
    return resealed, lost


def _place(team_id: int | None, name: str) -> str:
    return f"webhook {'' if team_id is None else team_id}/{name}"
