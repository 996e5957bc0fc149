"""On whose behalf is a request made, and for which teams?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.contrib.auth.models import AnonymousUser, User
from rest_framework.request import Request

from tenancy.models import Membership, Team, Token


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A person or a token, the teams whose things it sees, and those in which it may write.

    Those in which it may write are among those that it sees. An admin sees, and may write in, all.
    """

    name: str
    seen: Mapping[str, Team]
    writable: Mapping[str, Team]  # where it submits jobs, and changes what belongs to the team
    led: frozenset[str] = field(default=frozenset())  # teams whose tokens and members it manages
    is_admin: bool = False
    is_token: bool = False
    person_id: int | None = None  # whose, when names were given to others since; None: a token

    @property
    def seen_ids(self) -> list[int]:
        return [team.pk for team in self.seen.values()]

    @property
    def writable_ids(self) -> list[int]:
        return [team.pk for team in self.writable.values()]

    def leads(self, team: str) -> bool:
        return self.is_admin or team in self.led

    def speaks_for(self, team: str) -> bool:
        """True for leads, and for tokens, which leads and admins make for pipelines.

        Who does may set what all of the team's jobs depend on: secrets, times, data.
        """
        return self.leads(team) or (self.is_token and team in self.writable)


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
class KnownUser:
    """The user behind a read that is made for a principal found out before."""

    principal: Principal
    is_authenticated: bool = True
    is_active: bool = True


def principal_of(request: Request) -> Principal:
    """Return whom an authenticated request speaks for."""
    return principal_of_user(request.user)


def principal_of_user(user: User | AnonymousUser | TokenUser | KnownUser) -> Principal:
    """Return whom a user speaks for now; for people this asks the database."""
    if isinstance(user, KnownUser):
        return user.principal
    if isinstance(user, TokenUser):
        teams = {user.token.team.name: user.token.team}
        return Principal(name=user.username, seen=teams, writable=teams, is_token=True)
    return principal_of_person(user)


def principal_of_person(user: User | AnonymousUser) -> Principal:
    """Return whom a logged-in person speaks for: their teams, or all for a superuser."""
    if user.is_superuser:
        teams = {team.name: team for team in Team.objects.all()}
        return Principal(
            name=user.get_username(),
            seen=teams,
            writable=teams,
            is_admin=True,
            person_id=user.pk,
        )
    places = Membership.objects.filter(user__username=user.get_username()).select_related("team")
    teams = {place.team.name: place.team for place in places}
    return Principal(
        name=user.get_username(),
        seen=teams,
        writable=teams,
        led=frozenset(place.team.name for place in places if place.role == Membership.Role.LEAD),
        person_id=user.pk,
    )
