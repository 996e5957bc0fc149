"""The endpoints of a team's rules about the specs of its jobs."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import Principal, principal_of
from tenancy.audit import records
from tenancy.models import Team

from control_plane.api.job_rules import versions
from control_plane.api.job_rules.documents import RulesBody, TeamRulesSerializer
from jobs.admission.rules import line
from jobs.admission.rules.line import RulesOfLine
from jobs.api.requests import body
from jobs.commands.rules import deciding
from jobs.spec.rules import checking

_TYPES: Final = ("application/json", "application/yaml")


class TeamRulesView(APIView):
    @extend_schema(
        operation_id="get_team_rules",
        summary="What a team, and those above it, say of the specs of its jobs",
        responses=TeamRulesSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        team = team_of(principal, name)
        return _answer(principal, team, line.read(team))

    @extend_schema(
        operation_id="change_team_rules",
        summary="Change what a team says of the specs of its jobs (leads, admins)",
        description="A part that is named takes the place of that whole part, null takes it away,"
        " and what is left out stays. The rules of all teams above count as well: those of a lead"
        " may not be looser. They count for what is submitted and changed from now on; jobs that"
        " are there stay as they are. `If-Match` is the `version` that was read.",
        parameters=[versions.TEXTUAL],
        request=dict.fromkeys(_TYPES, RulesBody),
        responses=TeamRulesSerializer,
    )
    def patch(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        team = team_of(principal, name)
        deciding.check_may_change_some(principal, team)
        parts = dict(body(request, RulesBody))
        is_locked = parts.pop("is_locked", None)
        found = deciding.change(
            principal, team, parts, version=versions.text_of(request), is_locked=is_locked
        )
        return _answer(principal, team, found)


def team_of(principal: Principal, name: str) -> Team:
    """Return the caller's team; any other looks as if it did not exist."""
    team = principal.seen.get(name)
    if team is None:
        raise exceptions.NotFound(f"There is no team {name!r}.")
    records.note_target(team_id=team.pk)
    return team


def _answer(principal: Principal, team: Team, found: RulesOfLine) -> Response:
    own, is_locked = found.own.rules, found.is_locked
    answer: dict[str, Any] = {
        "team": team.name,
        "version": deciding.version_of(own, is_locked=is_locked),
        "is_locked": is_locked,
        "may_change": deciding.may_change(principal, team, is_locked=is_locked),
        "may_lock": deciding.may_lock(principal, team),
        "rules": own.as_json(),
        "above": [
            {"team": one.team, "rules": one.rules.as_json()}
            for one in found.above
            if not one.rules.is_empty
        ],
        "defaults": checking.defaults_of(found.rules),
    }
    return Response(TeamRulesSerializer(answer).data)
