"""How are team tokens made, recognised and withdrawn? Only a digest of a key is ever stored."""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db.models import Q
from django.utils import timezone

from tenancy.models import Team, Token

KEY_PREFIX: Final = "ct_"
_SHOWN: Final = 10  # characters of a key that may be shown for recognition
_USE_NOTED_EVERY: Final = timedelta(minutes=1)  # so that requests rarely write
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


def issue(*, team: Team, name: str, expires_at: datetime | None = None) -> tuple[Token, str]:
    """Make a token; the second value is its key, which cannot be read again later."""
    key = KEY_PREFIX + secrets.token_urlsafe(32)
    token = Token.objects.create(
        team=team, name=name, prefix=key[:_SHOWN], digest=digest(key), expires_at=expires_at
    )
    return token, key


def find_valid(key: str) -> Token | None:
    """Return the token of this key unless it is unknown, expired or revoked."""
    if not key.startswith(KEY_PREFIX):
        return None
    now = timezone.now()
    token = (
        Token.objects.select_related("team")
        .filter(Q(expires_at=None) | Q(expires_at__gt=now), digest=digest(key), revoked_at=None)
        .first()
    )
    if token is not None and (token.last_used_at or _NEVER) < now - _USE_NOTED_EVERY:
        Token.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def revoke(token: Token) -> bool:
    """Make the token useless at once; False if it was already."""
    left = Token.objects.filter(pk=token.pk, revoked_at=None)
    return left.update(revoked_at=timezone.now()) == 1


def digest(key: str) -> str:
    """Hash a key: keys are long and random, so one round of SHA-256 is enough, and fast."""
    return hashlib.sha256(key.encode()).hexdigest()
