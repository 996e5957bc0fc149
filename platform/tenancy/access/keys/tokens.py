"""How are keys made, recognised and withdrawn? Only a digest of a key is ever stored."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, TypeVar

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from tenancy.access.token_bounds import TokenBounds
from tenancy.models import PersonalToken, Team, Token
from tenancy.models.token import Key

KEY_PREFIX: Final = "ct_"  # of a team
PERSONAL_PREFIX: Final = "cp_"
PREFIXES: Final = (KEY_PREFIX, PERSONAL_PREFIX)
SHOWN: Final = 10  # characters of a key that may be shown for recognition
_USE_NOTED_EVERY: Final = timedelta(minutes=1)  # so that requests rarely write
_LONGEST_ADDRESS: Final = 64  # as the column has it
AnyToken = TypeVar("AnyToken", bound=Key)
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


def issue(
    *,
    team: Team,
    name: str,
    expires_at: datetime | None = None,
    created_by: str = "",
    scopes: Collection[str] | None = None,
    bounds: TokenBounds | None = None,
    line: int | None = None,
) -> tuple[Token, str]:
    """Make a team's token; the second value is its key, which cannot be read again later."""
    key = new_key(KEY_PREFIX)
    token = Token.objects.create(
        team=team,
        name=name,
        created_by=created_by,
        prefix=key[:SHOWN],
        digest=digest(key),
        scopes=None if scopes is None else sorted(set(scopes)),
        expires_at=expires_at,
        line=line,
        **columns_of(bounds),
    )
    return token, key


def columns_of(bounds: TokenBounds | None) -> dict[str, Any]:
    """Return what a token's row says of its bounds."""
    if bounds is None:
        return {}
    return {"pools": list(bounds.pools) or None, "labels": dict(bounds.labels) or None}


def new_key(prefix: str) -> str:
    return prefix + secrets.token_urlsafe(32)


def find_valid(key: str, *, address: str = "") -> Token | PersonalToken | None:
    """Return the token of this key unless it is unknown, expired or revoked.

    That it was used is noted, and from which address: after the transaction that there may be, so
    that a request that takes long holds no lock on what others with this key write, too.
    """
    token = _found(key)
    if token is not None:
        transaction.on_commit(partial(note_use, token, address), robust=True)
    return token


def _found(key: str) -> Token | PersonalToken | None:
    opens = Q(is_valid(timezone.now()), digest=digest(key))
    if key.startswith(KEY_PREFIX):
        return Token.objects.select_related("team").filter(opens).first()
    if key.startswith(PERSONAL_PREFIX):
        theirs = PersonalToken.objects.select_related("person")
        return theirs.filter(opens, person__is_active=True).first()
    return None


def note_use(token: Token | PersonalToken, address: str) -> None:
    """Note that the token was used, unless that was noted lately."""
    now = timezone.now()
    if (token.last_used_at or _NEVER) < now - _USE_NOTED_EVERY:
        _all_like(token).filter(pk=token.pk).update(
            last_used_at=now, last_used_from=address[:_LONGEST_ADDRESS]
        )


def _all_like(token: Token | PersonalToken) -> QuerySet[Token] | QuerySet[PersonalToken]:
    return (Token if isinstance(token, Token) else PersonalToken).objects.all()


def is_valid(now: datetime) -> Q:
    """Return which tokens open something at this moment."""
    return Q(expires_at=None, revoked_at=None) | Q(expires_at__gt=now, revoked_at=None)


def of_line(kept: QuerySet[AnyToken], line: int) -> AnyToken | None:
    """Return the valid token that this one was rotated to last, or this one, if it is valid."""
    found = kept.filter(is_valid(timezone.now())).filter(Q(pk=line) | Q(line=line))
    return found.order_by("-pk").first()


def revoke(token: Token | PersonalToken) -> bool:
    """Make the token useless at once; False if it was already."""
    left = _all_like(token).filter(pk=token.pk, revoked_at=None)
    return left.update(revoked_at=timezone.now()) == 1


def listed(kept: QuerySet[AnyToken], *, most_valid: int, most_ended: int) -> Sequence[AnyToken]:
    """Return the valid ones of an owner by name, then those that ended last."""
    found = list(kept.filter(is_valid(timezone.now())).order_by("name", "pk")[:most_valid])
    found.extend(kept.exclude(is_valid(timezone.now())).order_by("-pk")[:most_ended])
    return found


def forget_ended(kept: QuerySet[AnyToken], *, most: int) -> None:
    """Delete all of an owner that ended, but those that were made last."""
    ended = kept.exclude(is_valid(timezone.now()))
    ended.exclude(pk__in=ended.order_by("-pk").values("pk")[:most]).delete()


def told(token: Token | PersonalToken) -> dict[str, Any]:
    """Return what the audit log tells of a token."""
    until = token.expires_at
    return {
        "name": token.name,
        "prefix": token.prefix,
        "scopes": token.scopes,
        **({"pools": token.pools} if token.pools else {}),
        **({"labels": token.labels} if token.labels else {}),
        "expires_at": until and until.isoformat(timespec="seconds"),
    }


def digest(key: str) -> str:
    """Hash a key: keys are long and random, so one round of SHA-256 is enough, and fast."""
    return hashlib.sha256(key.encode()).hexdigest()
