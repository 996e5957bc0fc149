"""Who sent a request, as far as it was found out? Nothing is asked of the database for it."""

from __future__ import annotations

from django.http import HttpRequest
from tenancy.access.addresses import address_of
from tenancy.access.keys.bearer import bearer_key
from tenancy.access.keys.tokens import PREFIXES, SHOWN, note_use
from tenancy.access.principal import PersonalTokenUser, TokenUser
from tenancy.audit.writing import AuditSender
from tenancy.models import AuditSenderKind


def sender_of(request: HttpRequest) -> AuditSender:
    """Return the sender, from where sign-in sees them, too."""
    address = address_of(request)
    user = request.__dict__.get("user")  # DRF puts its own there; Django's loads only when used
    if type(user) is TokenUser:
        token = user.token
        return AuditSender(
            kind=AuditSenderKind.TOKEN,
            name=user.username,
            address=address,
            token_id=token.pk,
            token_prefix=token.prefix,
            team_id=token.team_id,
        )
    if type(user) is PersonalTokenUser:
        return AuditSender(
            kind=AuditSenderKind.PERSON,
            name=user.username,
            address=address,
            person_id=user.token.person_id,
            token_prefix=user.token.prefix,
        )
    loaded = request.__dict__.get("_cached_user")
    if loaded is not None and loaded.is_authenticated:
        return AuditSender(
            kind=AuditSenderKind.PERSON,
            name=loaded.get_username(),
            address=address,
            person_id=loaded.pk,
        )
    return AuditSender(address=address, token_prefix=_prefix(request))


def note_use_of_token(request: HttpRequest) -> None:
    """Note the use of a token whose request was undone, and with it what was to be noted."""
    user = request.__dict__.get("user")
    if isinstance(user, TokenUser | PersonalTokenUser):
        note_use(user.token, address_of(request))


def _prefix(request: HttpRequest) -> str:
    """Return the beginning of a key that opened nothing, if it is one of ours."""
    key = bearer_key(request.headers.get("Authorization", "")) or ""
    return key[:SHOWN] if key.startswith(PREFIXES) else ""
