"""May those who were let in still see what they look at? Many are checked in a few queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from rest_framework.request import Request

from tenancy.access import reach
from tenancy.access.keys import tokens
from tenancy.access.principal import PersonalTokenUser, Principal, TokenUser
from tenancy.access.token_bounds import TokenBounds
from tenancy.models import PersonalToken, Token
from tenancy.models.token import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The token or session by which somebody was let in to see something of a team."""

    team_id: int | None  # None: of no team in particular
    is_admin: bool = False  # only as long as the person is one
    token_id: int | None = None  # of a team's
    personal_token_id: int | None = None
    user_id: int | None = None
    session_key: str = ""
    job_id: str = ""  # of the only job that it is about, as long as this is within `bounds`
    bounds: TokenBounds | None = None  # of a limited token; None: any job of the team

    @property
    def holder(self) -> str:
        """Return a name that is the same for all sessions and tokens of a person."""
        return f"user {self.user_id}" if self.token_id is None else f"token {self.token_id}"


def grants_of(request: Request, principal: Principal, *, job_id: str = "") -> frozenset[Grant]:
    """Return all that together let an authenticated request see what this principal sees.

    Of a limited token only of this job, if it is of one.
    """
    if principal.is_admin:
        return frozenset({replace(grant_of(request, team_id=None), is_admin=True)})
    teams: list[int | None] = [*principal.seen_ids]
    return frozenset(grant_of(request, team_id=team, job_id=job_id) for team in teams or [None])


def grant_of(request: Request, *, team_id: int | None, job_id: str = "") -> Grant:
    """Return what lets an authenticated request see something of the team, or of this job of it."""
    if isinstance(request.user, TokenUser):
        token = request.user.token
        return Grant(team_id=team_id, token_id=token.pk, **_about(job_id, token))
    if isinstance(request.user, PersonalTokenUser):
        own = request.user.token
        return Grant(
            team_id=team_id,
            user_id=own.person_id,
            personal_token_id=own.pk,
            **_about(job_id, own),
        )
    key = request._request.session.session_key or ""  # noqa: SLF001 - DRF gives no other way
    return Grant(team_id=team_id, user_id=request.user.pk, session_key=key)


def _about(job_id: str, token: Key) -> dict[str, Any]:
    bounds = TokenBounds.of(token.pools, token.labels)
    return {"job_id": job_id, "bounds": bounds} if bounds is not None and job_id else {}


def still_valid(grants: Collection[Grant]) -> set[Grant]:
    """Return those of the grants that are still valid; where their job is, is asked elsewhere."""
    of_people = [grant for grant in grants if grant.user_id is not None]
    return _of_tokens(grants) | (_of_people(of_people) if of_people else set())


def _of_tokens(grants: Collection[Grant]) -> set[Grant]:
    ids = {grant.token_id for grant in grants if grant.token_id is not None}
    if not ids:
        return set()
    rows = Token.objects.filter(tokens.is_valid(timezone.now()), pk__in=ids)
    valid = set(rows.values_list("pk", "team_id"))
    return {grant for grant in grants if (grant.token_id, grant.team_id) in valid}


def _of_people(grants: Collection[Grant]) -> set[Grant]:
    """Return those whose session or token still lets in a person who still has a place there."""
    ids = {grant.user_id for grant in grants if grant.user_id is not None}
    people = {user.pk: user for user in User.objects.filter(pk__in=ids, is_active=True)}
    sessions = _sessions({grant.session_key for grant in grants} - {""})
    valid_tokens = _personal(
        {grant.personal_token_id for grant in grants if grant.personal_token_id is not None}
    )
    places = reach.places_of(people.keys())

    def holds(grant: Grant) -> bool:
        person = people.get(grant.user_id or 0)
        if person is None:
            return False
        if grant.session_key:
            lets_in = _lets_in(sessions.get(grant.session_key, {}), person)
        else:
            lets_in = (grant.personal_token_id, person.pk) in valid_tokens
        is_of_all = person.is_superuser or (grant.team_id is None and not grant.is_admin)
        return lets_in and (is_of_all or (person.pk, grant.team_id) in places)

    return {grant for grant in grants if holds(grant)}


def _sessions(keys: Collection[str]) -> Mapping[str, Mapping[str, Any]]:
    if not keys:
        return {}
    rows = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    return {row.session_key: row.get_decoded() for row in rows}


def _personal(ids: Collection[int]) -> set[tuple[int, int]]:
    """Return each valid one with whose it is."""
    if not ids:
        return set()
    rows = PersonalToken.objects.filter(tokens.is_valid(timezone.now()), pk__in=ids)
    return set(rows.values_list("pk", "person_id"))


def _lets_in(session: Mapping[str, Any], person: User) -> bool:
    if session.get(SESSION_KEY) != str(person.pk):
        return False
    return constant_time_compare(session.get(HASH_SESSION_KEY, ""), person.get_session_auth_hash())
