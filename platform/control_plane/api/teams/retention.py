"""For how long does a team keep what its jobs leave behind? Leads choose, admins set the bounds."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy import retention
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal, principal_of
from tenancy.models import RetentionRule, Team
from tenancy.models.retention_rule import MOST_DAYS, KeptPart

from jobs.api import requests

PARTS: Final = [(part.value, part.value) for part in KeptPart]


class KeptPartSerializer(serializers.Serializer[Any]):
    """One part of all jobs of a team, in days after their end; 0 stands for ever."""

    part = serializers.ChoiceField(choices=PARTS)
    kept_days = serializers.IntegerField(help_text="What counts.")
    days = serializers.IntegerField(
        allow_null=True, help_text="What the team chose; null: as the installation says."
    )
    default_days = serializers.IntegerField(help_text="What the installation says.")
    least_days = serializers.IntegerField(allow_null=True, help_text="The team's lower bound.")
    most_days = serializers.IntegerField(allow_null=True, help_text="The team's upper bound.")


class TeamRetentionSerializer(serializers.Serializer[Any]):
    may_choose = serializers.BooleanField(help_text="True if the caller may set `days`.")
    may_set_bounds = serializers.BooleanField()
    items = KeptPartSerializer(many=True)


class RetentionBody(serializers.Serializer[Any]):
    """What to change; null takes it back."""

    days = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=MOST_DAYS, help_text="0: for ever."
    )
    least_days = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=MOST_DAYS, help_text="Admins only."
    )
    most_days = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=MOST_DAYS, help_text="Admins only."
    )


class TeamRetentionView(APIView):
    @extend_schema(
        operation_id="get_team_retention",
        summary="For how long a team keeps what its jobs leave behind",
        responses=TeamRetentionSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        rules = retention.rules_of(_team(principal, name))
        answer = {
            "may_choose": principal.may(Permission.SET_UP, name),
            "may_set_bounds": principal.is_admin,
            "items": [_row(rule) for rule in rules.values()],
        }
        return Response(TeamRetentionSerializer(answer).data)


class TeamKeptPartView(APIView):
    @extend_schema(
        operation_id="change_team_retention",
        summary="Change for how long a team keeps a part (leads and tokens; bounds: admins)",
        description="It counts for jobs that have ended already, too: what is older goes within"
        " minutes, and nobody can bring it back. Pinned jobs keep everything.",
        request=RetentionBody,
        responses=KeptPartSerializer,
    )
    def patch(self, request: Request, name: str, part: str) -> Response:
        principal = principal_of(request)
        team = _team(principal, name)
        changes = requests.body(request, RetentionBody)
        if not principal.is_admin and any(bound in changes for bound in retention.BOUNDS):
            raise exceptions.PermissionDenied("Only admins set the bounds of what teams keep.")
        if not principal.may(Permission.SET_UP, name):
            raise exceptions.PermissionDenied(f"Only leads of team {name} and admins do this.")
        if not changes:
            raise exceptions.ValidationError({"days": ["Say days, least_days or most_days."]})
        rule = retention.change(team=team, part=KeptPart(part), changes=changes)
        return Response(KeptPartSerializer(_row(rule)).data)


def _team(principal: Principal, name: str) -> Team:
    """Return the caller's team; any other looks as if it did not exist."""
    team = principal.seen.get(name)
    if team is None:
        raise exceptions.NotFound
    return team


def _row(rule: RetentionRule) -> dict[str, Any]:
    default = settings.CONCERTINA.retention.jobs.days[KeptPart(rule.part)]
    return {
        "part": rule.part,
        "kept_days": rule.days_after(default),
        "days": rule.days,
        "default_days": default,
        "least_days": rule.least_days,
        "most_days": rule.most_days,
    }
