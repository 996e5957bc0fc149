"""On whose behalf is a request made, and for which teams?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from rest_framework.request import Request

from tenancy.access import reach
from tenancy.access.permissions import (
    MEMBER,
    Permission,
    permissions_of,
    permissions_of_token,
    within,
)
from tenancy.access.token_bounds import OF_JOBS, TokenBounds
from tenancy.models import PersonalToken, Team, Token, TokenScope
from tenancy.models.token import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A person or a team's token, the teams whose things it sees, and what else it may do there.

    An admin sees every team, and may do everything.
    """

    name: str
    seen: Mapping[str, Team]
    permissions: Mapping[int, frozenset[Permission]] = field(default_factory=dict)  # by team's id
    is_admin: bool = False
    is_token: bool = False
    person_id: int | None = None  # names are given to others; None: a team's token
    bounds: TokenBounds | None = None  # of its token, within which it reaches jobs; None: none

    @property
    def seen_ids(self) -> list[int]:
        return [team.pk for team in self.seen.values()]

    def may(self, permission: Permission, team: str) -> bool:
        """True if it may do this in the team of this name."""
        found = self.seen.get(team)
        return found is not None and self.may_in(permission, found.pk)

    def may_in(self, permission: Permission, team_id: int) -> bool:
        return self.is_admin or permission in self.permissions.get(team_id, ())

    def may_anywhere(self, permission: Permission) -> bool:
        """True if it may do this in some team."""
        return self.is_admin or any(permission in held for held in self.permissions.values())

    def teams_where(self, permission: Permission) -> Mapping[str, Team]:
        """Return the teams in which it may do this, by name."""
        if self.is_admin:
            return self.seen
        return {name: one for name, one in self.seen.items() if self.may_in(permission, one.pk)}


@dataclass(frozen=True, slots=True)
class TokenUser:
    """The user that Django sees behind a request with a team token."""

    token: Token
    is_authenticated: bool = True
    is_active: bool = True

    @property
    def username(self) -> str:
        return f"{self.token.team.name}/{self.token.name}"

    @property
    def pk(self) -> str:
        """Return the number by which Django tells users apart; it is no person's number."""
        return f"token-{self.token.pk}"


@dataclass(frozen=True, slots=True)
class PersonalTokenUser:
    """The user that Django sees behind a request with a person's token."""

    token: PersonalToken
    is_authenticated: bool = True
    is_active: bool = True

    @property
    def username(self) -> str:
        return self.token.person.get_username()

    @property
    def pk(self) -> str:
        """Return the number by which Django tells users apart; it is no person's number."""
        return f"personal-token-{self.token.pk}"


@dataclass(frozen=True, slots=True)
class KnownUser:
    """The user behind a read that is made for a principal found out before."""

    principal: Principal
    is_authenticated: bool = True
    is_active: bool = True


def principal_of(request: Request) -> Principal:
    """Return whom an authenticated request speaks for."""
    return principal_of_user(request.user)


def principal_of_user(
    user: User | AnonymousUser | TokenUser | PersonalTokenUser | KnownUser,
) -> Principal:
    """Return whom a user speaks for now; for people this asks the database."""
    if isinstance(user, KnownUser):
        return user.principal
    if isinstance(user, PersonalTokenUser):
        return _limited(
            _bounded(principal_of_person(user.token.person), user.token.scopes), user.token
        )
    if isinstance(user, TokenUser):
        team, held = user.token.team, permissions_of_token(user.token.scopes)
        of_team = Principal(
            name=user.username,
            seen={team.name: team} if Permission.SEE in held else {},
            permissions={team.pk: held},
            is_token=True,
        )
        return _limited(of_team, user.token)
    return principal_of_person(user)


def principal_of_person(user: User | AnonymousUser) -> Principal:
    """Return whom a logged-in person speaks for: their teams, or all for a superuser."""
    if user.is_superuser:
        teams = {team.name: team for team in Team.objects.all()}
        return Principal(name=user.get_username(), seen=teams, is_admin=True, person_id=user.pk)
    seen: dict[str, Team] = {}
    permissions: dict[int, frozenset[Permission]] = {}
    for place in reach.teams_of(user.pk) if user.pk is not None else ():
        held = _held_in(place)
        if Permission.SEE in held:
            seen[place.name] = place
            permissions[place.pk] = permissions.get(place.pk, frozenset()) | held
    return Principal(
        name=user.get_username(), seen=seen, permissions=permissions, person_id=user.pk
    )


def _bounded(person: Principal, scopes: Collection[str]) -> Principal:
    """Return the person as far as scopes let them through; an admin needs one to be one."""
    if person.is_admin and TokenScope.ADMIN in scopes:
        return person
    let_through = within(scopes)
    if person.is_admin:
        held = dict.fromkeys(person.seen_ids, let_through)
    else:
        held = {team: own & let_through for team, own in person.permissions.items()}
    seen = person.seen if Permission.SEE in let_through else {}
    return replace(person, seen=seen, permissions=held, is_admin=False)


def _limited(principal: Principal, token: Key) -> Principal:
    """Return the principal as far as the token's bounds let them through: to jobs alone."""
    bounds = TokenBounds.of(token.pools, token.labels)
    if bounds is None:
        return principal
    if principal.is_admin:
        held = dict.fromkeys(principal.seen_ids, OF_JOBS)
    else:
        held = {team: own & OF_JOBS for team, own in principal.permissions.items()}
    return replace(principal, permissions=held, is_admin=False, bounds=bounds)


def _held_in(place: Any) -> frozenset[Permission]:
    """Return what a role gives in a team, as `reach.teams_of` tells of both."""
    held = permissions_of(place.role_there)
    if place.role_there == MEMBER and place.is_own_place and place.members_change_all_jobs:
        return held | {Permission.CHANGE_ALL_JOBS}
    return held
