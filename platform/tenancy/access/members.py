"""Who is in a team, and in which role? Its leads say so; a team that has a lead keeps one."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction

from tenancy.access.permissions import LEAD, permissions_of
from tenancy.access.principal import Principal
from tenancy.audit import records
from tenancy.errors import (
    AlreadyMember,
    LastLead,
    RoleFromProvider,
    RoleTooStrong,
    TooManyMembers,
    UnknownMember,
    UnknownPerson,
)
from tenancy.models import Membership, Team

MOST_MEMBERS: Final = 1000  # of one team, not counting those of teams above
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamMember:
    """A person with a role in a team, which they have there or in a team above it."""

    name: str
    role: str
    team: str  # in which they were entered
    is_active: bool  # False: they cannot log in now
    from_provider: bool  # by a group there, which also takes it


def members_of(team: Team) -> Sequence[TeamMember]:
    """Return everybody with a role in the team: those entered there first, then those above."""
    path = list(_path(team, {one.pk: one for one in Team.objects.only("name", "parent_id")}))
    rows = Membership.objects.filter(team__in=path).select_related("user", "team")
    first = {pk: place for place, pk in enumerate(path)}
    ordered = sorted(rows, key=lambda row: (first[row.team_id], row.user.get_username()))
    return [_member(row) for row in ordered[: MOST_MEMBERS * 2]]


def add(principal: Principal, team: Team, name: str, role: str) -> TeamMember:
    """Enter an account in a team.

    Raises:
        RoleTooStrong: the principal may not do there what the role may.
        UnknownPerson: there is no such account.
        AlreadyMember: with this role, or another.
        TooManyMembers: the team has as many as it may.
    """
    check_may_give(principal, team, role)
    with transaction.atomic():
        hold(team)
        person = User.objects.filter(username=name, is_active=True).first()
        if person is None:
            raise UnknownPerson
        if Membership.objects.filter(team=team).count() >= MOST_MEMBERS:
            raise TooManyMembers
        made, is_new = Membership.objects.get_or_create(
            team=team, user=person, defaults={"role": role}
        )
        if not is_new:
            raise AlreadyMember
    records.note_change(after={"member": name, "role": role})
    _note(principal, team, name, f"added as {role}")
    return _member(made)


def change(principal: Principal, team: Team, name: str, role: str) -> TeamMember:
    """Give somebody who is in the team another role.

    Raises:
        RoleTooStrong: the principal may not do there what the role, or their former one, may.
        UnknownMember: they are not entered in this very team.
        LastLead: nobody would lead the team.
        RoleFromProvider: the next sign-in would undo it.
    """
    check_may_give(principal, team, role)
    with transaction.atomic():
        place = _place(principal, team, name, keeps_lead=role == LEAD)
        former, place.role, place.from_provider = place.role, role, False
        place.save(update_fields=["role", "from_provider"])
    records.note_change(before={"role": former}, after={"role": role})
    _note(principal, team, name, f"{former} before, {role} now")
    return _member(place)


def remove(principal: Principal, team: Team, name: str) -> None:
    """Take somebody out of a team; roles that they have in teams above still hold.

    Raises:
        RoleTooStrong: the principal may not do there what their role may.
        UnknownMember: they are not entered in this very team.
        LastLead: nobody would lead the team.
        RoleFromProvider: the next sign-in would undo it.
    """
    with transaction.atomic():
        place = _place(principal, team, name, keeps_lead=False)
        place.delete()
    records.note_change(before={"role": place.role})
    _note(principal, team, name, f"removed, {place.role} before")


def _place(principal: Principal, team: Team, name: str, *, keeps_lead: bool) -> Membership:
    """Return the place that is to be changed, while nobody else changes any of the team."""
    path = hold(team)
    place = (
        Membership.objects.filter(team=team, user__username=name)
        .select_related("user", "team")
        .first()
    )
    if place is None:
        raise UnknownMember
    check_may_give(principal, team, place.role)
    if place.from_provider and not principal.is_admin:
        raise RoleFromProvider
    if place.role == LEAD and not keeps_lead and not principal.is_admin:
        leads = Membership.objects.filter(team__in=path, role=LEAD, user__is_active=True)
        if not leads.exclude(pk=place.pk).exists():
            raise LastLead
    return place


def hold(team: Team) -> Sequence[int]:
    """Hold the team and those above it until the transaction ends; return their numbers."""
    path = list(_path(team, {one.pk: one for one in Team.objects.only("name", "parent_id")}))
    held = Team.objects.select_for_update(no_key=True).filter(pk__in=path).order_by("pk")
    return [one.pk for one in held.only("pk")]


def _path(team: Team, teams: Mapping[int, Team]) -> Iterator[int]:
    """Yield the team, the one above it, and so on; a circle ends where it began."""
    found: set[int] = set()
    above: int | None = team.pk
    while above is not None and above not in found and above in teams:
        found.add(above)
        yield above
        above = teams[above].parent_id


def check_may_give(principal: Principal, team: Team, role: str) -> None:
    """Nobody gives, or takes, more than they have. Raises: RoleTooStrong."""
    if not all(principal.may_in(one, team.pk) for one in permissions_of(role)):
        raise RoleTooStrong


def _member(row: Membership) -> TeamMember:
    return TeamMember(
        name=row.user.get_username(),
        role=row.role,
        team=row.team.name,
        is_active=row.user.is_active,
        from_provider=row.from_provider,
    )


def _note(principal: Principal, team: Team, name: str, what: str) -> None:
    extra = {"action": "members", "team": team.name, "person": name, "by": principal.name}
    _log.info("In team %s, %s: %s.", team.name, name, what, extra=extra)
