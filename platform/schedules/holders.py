"""In whose name does a schedule submit, and may they still?

It keeps the right with which it was made: a person's, as far as the token goes with which they
asked for it, or that of a team's token. Both follow a token that is rotated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from django.contrib.auth.models import AnonymousUser, User
from rest_framework.request import Request
from tenancy.access.keys import tokens
from tenancy.access.permissions import Permission
from tenancy.access.principal import (
    PersonalTokenUser,
    Principal,
    TokenUser,
    principal_of_user,
)
from tenancy.models import PersonalToken, Team, Token

from schedules.errors import ScheduleNotYours
from schedules.models import Overlap, TeamSchedule


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleHolder:
    """Who asks: who they are, what they may do, and by what they were let in."""

    principal: Principal
    token_line: int | None  # None: a person's session
    token_ends_at: datetime | None = None  # None: never, or a session

    @property
    def columns(self) -> dict[str, Any]:
        """Return what a schedule keeps of whoever it submits for."""
        return {
            "holder": self.principal.name,
            "person_id": self.principal.person_id,
            "token_line": self.token_line,
        }


class KeptRight(Protocol):
    """What keeps the right by which it submits: a schedule, or a sweep."""

    @property
    def holder(self) -> str: ...
    @property
    def person_id(self) -> int | None: ...
    @property
    def token_line(self) -> int | None: ...
    @property
    def team(self) -> Team: ...


class MayNotSubmit(Exception):
    """Whoever it submits for may not any more; the message says why, for people."""


def holder_of(request: Request, principal: Principal) -> ScheduleHolder:
    """Return who sends a request."""
    user: Any = request.user
    if not isinstance(user, TokenUser | PersonalTokenUser):
        return ScheduleHolder(principal=principal, token_line=None)
    return ScheduleHolder(
        principal=principal,
        token_line=user.token.line_id,
        token_ends_at=user.token.expires_at,
    )


def notes_for(holder: ScheduleHolder, schedule: TeamSchedule) -> Sequence[str]:
    """Say when the schedule will stop, if it goes by a token of the holder that expires."""
    ends_at = holder.token_ends_at
    if ends_at is None or not _is_by_right_of(holder, schedule):
        return ()
    note = (
        f"It submits as long as the token with which you ask, which expires on {ends_at:%Y-%m-%d}."
        " Rotate that before, or log in again under its name, and the schedule goes on."
    )
    return [note]


def principal_now(kept: KeptRight) -> Principal:
    """Return in whose name it submits, with what they may do now.

    It takes two statements, of a team's token one.

    Raises:
        MayNotSubmit: they are gone, their token opens nothing any more, or their role is another.
    """
    principal = principal_of_user(_user_of(kept))
    if not principal.may_in(Permission.SUBMIT, kept.team.pk):
        raise MayNotSubmit(f"{principal.name} may not submit jobs in team {kept.team.name} now")
    return principal


def _user_of(kept: KeptRight) -> User | AnonymousUser | TokenUser | PersonalTokenUser:
    line = kept.token_line
    if kept.person_id is None:
        of_team = Token.objects.filter(team=kept.team.pk).select_related("team")
        token = None if line is None else tokens.of_line(of_team, line)
        if token is None:
            raise MayNotSubmit(f"Token {kept.holder} was revoked, has expired or is gone")
        return TokenUser(token)
    if line is None:
        person = User.objects.filter(pk=kept.person_id, is_active=True).first()
        if person is None:
            raise MayNotSubmit(f"The account of {kept.holder} is gone or switched off")
        return person
    theirs = PersonalToken.objects.filter(person=kept.person_id, person__is_active=True)
    own = tokens.of_line(theirs.select_related("person"), line)
    if own is None:
        raise MayNotSubmit(
            f"The personal token with which {kept.holder} answered for it was revoked, has"
            " expired or is gone"
        )
    return PersonalTokenUser(own)


def check_may_submit(principal: Principal, team_name: str) -> None:
    """Raises: ScheduleNotYours."""
    if not principal.may(Permission.SUBMIT, team_name):
        raise ScheduleNotYours(
            f"You may see schedules of team {team_name}, and submit nothing there. Ask a lead of"
            " the team for the role `member`, or use a token of scope `submit`."
        )


def check_may_change(principal: Principal, schedule: TeamSchedule) -> None:
    """See that it is theirs, or that they may change all of the team. Raises: ScheduleNotYours."""
    if not may_change(principal, schedule):
        raise ScheduleNotYours(
            f"Schedule {schedule.name} submits for {schedule.holder}: they change it, and whoever"
            " may change all jobs of the team."
        )


def check_may_stop(principal: Principal, schedule: TeamSchedule) -> None:
    """See that they may pause and delete it, as a job of theirs. Raises: ScheduleNotYours."""
    check_may_change(principal, schedule)
    if not may_stop(principal, schedule):
        raise ScheduleNotYours(
            "Pausing and deleting a schedule needs the right to change jobs. Use a token of scope"
            " `manage-jobs`."
        )


def check_may_replace(holder: ScheduleHolder, schedule: TeamSchedule) -> None:
    """See that nobody has jobs cancelled by a right that is another's, as of a wider token.

    Raises: ScheduleNotYours.
    """
    if schedule.overlap != Overlap.REPLACE or _is_by_right_of(holder, schedule):
        return
    if not _may_cancel(holder.principal, schedule):
        raise ScheduleNotYours(
            f"Schedule {schedule.name} replaces jobs, which cancels them, and you may cancel none."
            " Use a token of scope `manage-jobs`, or another `overlap`."
        )


def may_stop(principal: Principal, schedule: TeamSchedule) -> bool:
    return may_change(principal, schedule) and _may_cancel(principal, schedule)


def _is_by_right_of(holder: ScheduleHolder, schedule: TeamSchedule) -> bool:
    theirs = holder.columns
    return all(getattr(schedule, name) == theirs[name] for name in theirs)


def _may_cancel(principal: Principal, schedule: TeamSchedule) -> bool:
    rights = (Permission.CHANGE_OWN_JOBS, Permission.CHANGE_ALL_JOBS)
    return any(principal.may_in(one, schedule.team_id) for one in rights)


def may_change(principal: Principal, schedule: TeamSchedule) -> bool:
    if principal.may_in(Permission.CHANGE_ALL_JOBS, schedule.team_id):
        return True
    if not is_own(principal, schedule):
        return False
    return any(
        principal.may_in(permission, schedule.team_id)
        for permission in (Permission.SUBMIT, Permission.CHANGE_OWN_JOBS)
    )


def is_own(principal: Principal, schedule: TeamSchedule) -> bool:
    return principal.person_id is not None and principal.person_id == schedule.person_id
