"""Which keys does a person have, to do without their password? They make and revoke them."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from tenancy.access.keys import tokens
from tenancy.access.token_bounds import TokenBounds
from tenancy.audit import records
from tenancy.errors import (
    AdminScopeNeedsAdmin,
    TokenLastsTooLong,
    TokenNameTaken,
    TooManyTokens,
)
from tenancy.models import PersonalToken, TokenScope

USUAL_SCOPES: Final = (
    TokenScope.READ,
    TokenScope.SUBMIT,
    TokenScope.MANAGE_JOBS,
    TokenScope.MANAGE_TEAM,
)
MOST_VALID: Final = 30  # of a person
MOST_ENDED: Final = 30  # of a person; those that ended earlier are forgotten
_log: Final = logging.getLogger(__name__)


def of(person: User) -> Sequence[PersonalToken]:
    """Return the person's valid tokens by name, then those that ended last."""
    return tokens.listed(_of(person), most_valid=MOST_VALID, most_ended=MOST_ENDED)


def make(
    person: User,
    name: str,
    *,
    days: int | None,
    longest_days: int,
    scopes: Collection[str] = USUAL_SCOPES,
    bounds: TokenBounds | None = None,
    replaces: bool = False,
) -> tuple[PersonalToken, str]:
    """Make a token that lasts so many days, None: for ever; the second value is its key.

    One that replaces others ends those of its name.

    Raises:
        AdminScopeNeedsAdmin: the person is none.
        TokenLastsTooLong: for anybody but admins.
        TokenNameTaken: by one that is valid, and is not replaced.
        TooManyTokens: the person has as many as they may.
    """
    check_may_be_made(person, days=days, longest_days=longest_days, scopes=scopes)
    key, line = tokens.new_key(tokens.PERSONAL_PREFIX), None
    with transaction.atomic():
        _hold(person)
        if replaces:
            for former in valid_of(person).filter(name=name):
                revoke(former)
                line = former.line_id
        _check_room(person, name)
        made = PersonalToken.objects.create(
            person=person,
            name=name,
            prefix=key[: tokens.SHOWN],
            digest=tokens.digest(key),
            scopes=sorted(set(scopes)),
            expires_at=None if days is None else timezone.now() + timedelta(days=days),
            line=line,
            **tokens.columns_of(bounds),
        )
    records.note_change(after=tokens.told(made), row=_row(made))
    _note(made, "made")
    return made, key


def check_may_be_made(
    person: User, *, days: int | None, longest_days: int, scopes: Collection[str]
) -> None:
    """Look whether the person may have such a token, whatever others they have.

    Raises:
        AdminScopeNeedsAdmin: the person is none.
        TokenLastsTooLong: for anybody but admins.
    """
    if TokenScope.ADMIN in scopes and not person.is_superuser:
        raise AdminScopeNeedsAdmin
    if not person.is_superuser and (days is None or days > longest_days):
        raise TokenLastsTooLong(
            f"Tokens last at most {longest_days} days. Ask for fewer; only admins make others."
        )


def valid_of(person: User) -> QuerySet[PersonalToken]:
    """Return those of the person that open something now."""
    return _of(person).filter(tokens.is_valid(timezone.now()))


def revoke(token: PersonalToken) -> bool:
    """Make a token useless at once; one that is already stays so, and False is returned."""
    if not tokens.revoke(token):
        return False
    records.note_change(before=tokens.told(token), after={"state": "revoked"}, row=_row(token))
    _note(token, "revoked")
    return True


def _of(person: User) -> QuerySet[PersonalToken]:
    return PersonalToken.objects.filter(person=person)


def _hold(person: User) -> None:
    """Let nobody else make a token of the person until the transaction ends."""
    User.objects.select_for_update(no_key=True).only("pk").get(pk=person.pk)


def _check_room(person: User, name: str) -> None:
    """Forget what ended long ago.

    Raises:
        TokenNameTaken: by one that is valid.
        TooManyTokens: the person has as many as they may.
    """
    tokens.forget_ended(_of(person), most=MOST_ENDED)
    names = list(valid_of(person).values_list("name", flat=True))
    if name in names:
        raise TokenNameTaken(
            "A valid token of yours has this name; revoke it, or use another name."
        )
    if len(names) >= MOST_VALID:
        raise TooManyTokens(
            f"You have {MOST_VALID} valid tokens, as many as a person may; revoke one first."
        )


def _row(token: PersonalToken) -> str:
    return f"{token.name} {token.prefix}"


def _note(token: PersonalToken, what: str) -> None:
    person = token.person.get_username()
    extra = {"action": "personal_tokens", "token": token.prefix, "by": person}
    _log.info("Personal token %s of %s: %s.", token.name, person, what, extra=extra)
