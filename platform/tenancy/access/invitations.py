"""How does somebody who is not in a team come into it? A lead invites them, and they accept.

The key of an invitation is for whoever holds it: once, for some days, as long as it is not revoked,
and only while its lead may still give the role.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from tenancy.access import members
from tenancy.access.keys import tokens
from tenancy.access.principal import Principal, principal_of_person
from tenancy.audit import records
from tenancy.errors import (
    InvitationUnknown,
    NameTaken,
    OnlyPeopleInvite,
    RoleTooStrong,
    TooManyInvitations,
)
from tenancy.models import Invitation, Team

PREFIX: Final = "ci_"
LASTS: Final = timedelta(days=7)
MOST_OPEN: Final = 50  # of a team
MOST_ENDED: Final = 50  # of a team; those that ended earlier are forgotten
_NAMING: Final = 0x4E616D65  # "Name", the number of a lock
_log: Final = logging.getLogger(__name__)


def of(team: Team) -> Sequence[Invitation]:
    """Return the open ones of a team, the newest first, then those that ended."""
    theirs = Invitation.objects.filter(team=team).select_related(
        "team", "invited_by", "accepted_by"
    )
    opens = _open()
    newest = theirs.filter(opens).order_by("-pk")[:MOST_OPEN]
    return [*newest, *theirs.exclude(opens).order_by("-pk")[:MOST_ENDED]]


def invite(principal: Principal, team: Team, role: str, *, mail: str) -> tuple[Invitation, str]:
    """Make an invitation; the second value is its key, which cannot be read again later.

    Raises:
        OnlyPeopleInvite: the principal is a token of a team.
        RoleTooStrong: the principal may not do there what the role may.
        TooManyInvitations: so many of the team are open.
    """
    if principal.person_id is None:
        raise OnlyPeopleInvite
    members.check_may_give(principal, team, role)
    key, now = tokens.new_key(PREFIX), timezone.now()
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        theirs = Invitation.objects.filter(team=team)
        if theirs.filter(_open()).count() >= MOST_OPEN:
            raise TooManyInvitations
        ended = theirs.exclude(_open()).order_by("-pk").values("pk")[:MOST_ENDED]
        theirs.exclude(_open()).exclude(pk__in=ended).delete()
        made = Invitation.objects.create(
            team=team,
            role=role,
            mail=mail,
            prefix=key[: tokens.SHOWN],
            digest=tokens.digest(key),
            invited_by_id=principal.person_id,
            invited_at=now,
            expires_at=now + LASTS,
        )
    records.note_change(after={"prefix": made.prefix, "role": role, "mail": mail})
    _note(made, "made", by=principal.name)
    return made, key


def revoke(principal: Principal, team: Team, number: int) -> None:
    """Make an open invitation useless.

    Raises:
        InvitationUnknown: the team has no such open one.
    """
    with transaction.atomic():
        found = _held(Invitation.objects.filter(team=team, pk=number))
        found.revoked_at = timezone.now()
        found.save(update_fields=["revoked_at"])
    records.note_change(before={"prefix": found.prefix, "role": found.role})
    _note(found, "revoked", by=principal.name)


def look_up(key: str) -> Invitation:
    """Return the open invitation of a key. Raises: InvitationUnknown."""
    found = _by_key(key).filter(_open()).select_related("team", "invited_by").first()
    if found is None or not _still_holds(found):
        raise InvitationUnknown
    return found


def accept(person: User, key: str) -> Invitation:
    """Make the person a member.

    Raises:
        InvitationUnknown: it is used, revoked, expired, or its lead may not give the role any more.
        AlreadyMember: they are in this team; the invitation stays open.
        TooManyMembers: the team has as many as it may.
    """
    with transaction.atomic():
        found = _held_with_team(key)
        by = principal_of_person(found.invited_by)
        members.add(by, found.team, person.get_username(), found.role)
        found.accepted_at, found.accepted_by = timezone.now(), person
        found.save(update_fields=["accepted_at", "accepted_by"])
    _note(found, "accepted", by=person.get_username())
    return found


def join(name: str, password: str, key: str) -> User:
    """Make an account for whoever holds the key, and a member of it: both or nothing.

    Raises:
        NameTaken: somebody has it, in large or small letters.
        InvitationUnknown: see `accept`.
        TooManyMembers: likewise.
    """
    hashed = make_password(password)  # which takes long, so nothing is held meanwhile
    with transaction.atomic():
        _held_with_team(key)  # nobody else learns which names there are
        _one_name_at_a_time()
        if User.objects.filter(username__iexact=name).exists():
            raise NameTaken
        try:
            with transaction.atomic():
                person = User.objects.create(username=name, password=hashed)
        except IntegrityError as error:
            raise NameTaken from error
        accept(person, key)
    return person


def _open() -> Q:
    return Q(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())


def _by_key(key: str) -> QuerySet[Invitation]:
    return Invitation.objects.filter(digest=tokens.digest(key))


def _held_with_team(key: str) -> Invitation:
    """Hold the team, then the invitation, as whoever deletes both does; it holds until the end.

    Nobody takes its lead out of the team meanwhile. Raises: InvitationUnknown.
    """
    members.hold(look_up(key).team)
    found = _held(_by_key(key))
    if not _still_holds(found):
        raise InvitationUnknown
    return found


def _one_name_at_a_time() -> None:
    """So that of two names that differ by large and small letters one is too late."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_NAMING])


def _held(rows: QuerySet[Invitation]) -> Invitation:
    """Hold the invitation, so that of two who accept it one is too late."""
    held = rows.filter(_open()).select_for_update(of=("self",))
    found = held.select_related("team", "invited_by").first()
    if found is None:
        raise InvitationUnknown
    return found


def _still_holds(invitation: Invitation) -> bool:
    """True if whoever made it may still give the role."""
    if not invitation.invited_by.is_active:
        return False
    try:
        by = principal_of_person(invitation.invited_by)
        members.check_may_give(by, invitation.team, invitation.role)
    except RoleTooStrong:
        return False
    return True


def _note(invitation: Invitation, what: str, *, by: str) -> None:
    team = invitation.team.name
    extra = {"action": "invitations", "team": team, "by": by, "invitation": invitation.prefix}
    _log.info("In team %s, an invitation as %s: %s.", team, invitation.role, what, extra=extra)
