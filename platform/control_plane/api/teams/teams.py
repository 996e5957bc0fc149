"""What does each team have and want? Only leads see tokens; for numbers see `visibility`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from cluster.nodes.queries import PoolSize, pool_sizes
from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.keys import team_tokens
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal, principal_of
from tenancy.audit import records
from tenancy.models import Quota, Team, slug_validator
from tenancy.models.reachable import MOST_LISTED, check_listed
from tenancy.queries import teams_by_name

from autoscaler.job_network import JobNetwork
from control_plane.api.teams.limits import (
    LIMIT_FIELDS,
    BudgetSerializer,
    ShownLimitsSerializer,
    TeamLimitsSerializer,
    change_limits,
    changeable_limits,
    limits_in_detail,
    values_of,
)
from control_plane.api.teams.quotas import QUOTA_FIELDS
from control_plane.api.teams.tokens import TokenSerializer
from control_plane.queries.pool_shares import shares_in
from control_plane.queries.visibility import sees_numbers_of
from control_plane.setup import applying
from control_plane.setup.nesting import WantedSetup
from control_plane.setup.objects import SetupKey, SetupKind
from control_plane.web.repeated.shared_reads import SHARED
from jobs.api import json_types
from jobs.api.requests import know_parameters
from jobs.queries import gpu_demand
from jobs.queries.gpu_demand import GpuDemand

_PARENT: Final = "parent"
_OF_LEADS: Final = frozenset({"members_change_all_jobs"})
_FIELDS: Final = (
    *("name", "max_queued_jobs", "most_disk_gib", "network", "reachable"),
    "members_change_all_jobs",
)


class TeamSerializer(serializers.Serializer[Any]):
    """A team's standing; GPUs unless it says jobs, summed over pools unless one was asked for."""

    name = serializers.CharField()
    parent = serializers.CharField(allow_null=True)  # type: ignore[assignment]  # DRF takes it off
    guaranteed = serializers.IntegerField()
    limit = serializers.IntegerField(allow_null=True, help_text="null: no limit but the pool.")
    fair_share = serializers.FloatField(help_text="Of what is there now, for what it wants now.")
    allocated = serializers.IntegerField()
    borrowed = serializers.IntegerField(help_text="Held beyond its guarantee.")
    lent = serializers.IntegerField(help_text="Of its guarantee, held by others.")
    waiting = serializers.IntegerField(help_text="What its waiting jobs ask for at least.")
    running_jobs = serializers.IntegerField()
    waiting_jobs = serializers.IntegerField()
    is_mine = serializers.BooleanField(
        help_text="True if the caller has a role in it, and so sees its jobs."
    )


class TeamListSerializer(serializers.Serializer[Any]):
    items = TeamSerializer(many=True)


class QuotaSerializer(serializers.ModelSerializer[Quota]):
    pool = serializers.CharField(source="pool.name")

    class Meta:
        model = Quota
        fields = QUOTA_FIELDS
        read_only_fields = fields


class TeamChangeSerializer(TeamLimitsSerializer, serializers.ModelSerializer[Team]):
    """What may be changed of a team."""

    reachable = serializers.ListField(
        child=serializers.CharField(max_length=260),
        max_length=MOST_LISTED,
        required=False,
        validators=[check_listed],
        help_text="Hosts with ports that jobs reach with `network: listed`, as `pypi.org:443`.",
    )

    name = serializers.CharField(
        max_length=40,
        required=False,
        validators=[slug_validator],
        help_text="Another name. GPU time of before stays under the former one.",
    )
    parent = serializers.CharField(  # type: ignore[assignment]  # DRF takes it off
        max_length=40, allow_null=True, required=False, help_text="The team above it; null: none."
    )

    class Meta:
        model = Team
        fields = (*_FIELDS, "parent", *sorted(LIMIT_FIELDS))

    def validate(self, attrs: Any) -> Any:
        wanted, listed = (
            attrs.get(field, getattr(self.instance, field)) for field in ("network", "reachable")
        )
        if wanted == JobNetwork.LISTED and not listed:
            raise exceptions.ValidationError({"reachable": "List a host, or use isolated."})
        return attrs

    def validate_name(self, name: str) -> str:
        assert self.instance is not None  # noqa: S101 - a team is changed with it
        if Team.objects.filter(name=name).exclude(pk=self.instance.pk).exists():
            raise exceptions.ValidationError(f"There is a team {name} already.")
        return name


class TeamDetailSerializer(ShownLimitsSerializer, TeamSerializer):
    """A team's standing, with what it may use."""

    max_queued_jobs = serializers.IntegerField(
        help_text="Most jobs that may wait, queued or paused."
    )
    network = serializers.ChoiceField(
        choices=JobNetwork.choices(), help_text="What its jobs may ask for."
    )
    reachable = serializers.ListField(
        child=serializers.CharField(), help_text="Hosts with ports, for `listed`."
    )
    members_change_all_jobs = serializers.BooleanField(
        help_text="False: a member changes the jobs that they submitted, and leads change all."
    )
    budgets = BudgetSerializer(
        many=True, help_text="Its own, if it has one, then those of teams above, which cover it."
    )
    may_change_limits = serializers.ListField(
        child=serializers.CharField(), help_text="Which of its limits the caller may change."
    )
    quotas = QuotaSerializer(many=True)
    tokens = TokenSerializer(
        many=True, allow_null=True, help_text="null: only its leads and admins may see them."
    )


class TeamsView(APIView):
    @extend_schema(
        operation_id="list_teams",
        summary="How every team stands",
        parameters=[OpenApiParameter("pool", str, description="Only this pool.")],
        responses=TeamListSerializer,
    )
    def get(self, request: Request) -> Response:
        know_parameters(request, ["pool"])
        principal, pool = principal_of(request), request.query_params.get("pool") or ""

        def read() -> Any:
            items = list(_rows(_asked_pools(pool), principal).values())
            return TeamListSerializer({"items": items}).data

        return Response(SHARED.read("teams", pool, by=principal, read=read))


class TeamView(APIView):
    @extend_schema(
        operation_id="get_team",
        summary="How a team stands, with its quotas",
        responses=TeamDetailSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        row = _rows(pool_sizes(), principal).get(name)
        if row is None:
            raise exceptions.NotFound
        team = Team.objects.get(name=name)
        quotas = Quota.objects.filter(team__name=name).select_related("pool")
        may_see_tokens = principal.may(Permission.MANAGE_TOKENS, name)
        detail = {
            **row,
            "max_queued_jobs": team.max_queued_jobs,
            "network": team.network,
            "reachable": team.reachable,
            "members_change_all_jobs": team.members_change_all_jobs,
            **limits_in_detail(team, principal, timezone.now()),
            "quotas": quotas,
            "tokens": team_tokens.of(team) if may_see_tokens else None,
        }
        return Response(TeamDetailSerializer(detail).data)

    @extend_schema(
        operation_id="change_team",
        summary="Change a team: its name, the team above it, its limits (admins)",
        description="Leads of the team change `members_change_all_jobs`,"
        " `max_running_jobs_per_user`, `max_queued_jobs_per_user` and `max_gpus_per_user`. Leads of"
        " a team above also change `max_running_jobs`, `gpu_hours_per_month` and `when_used_up`, up"
        " to what the teams above have.",
        request=TeamChangeSerializer,
        responses=TeamChangeSerializer,
    )
    def patch(self, request: Request, name: str) -> Response:
        principal = principal_of(request)
        _check_may_change(principal, name, request.data)
        team = Team.objects.filter(name=name).first()
        if team is None:
            raise exceptions.NotFound
        changes = TeamChangeSerializer(team, data=request.data, partial=True)
        json_types.check(changes)
        changes.is_valid(raise_exception=True)
        wanted = dict(changes.validated_data)
        of_limits = {field: wanted.pop(field) for field in LIMIT_FIELDS & wanted.keys()}
        with transaction.atomic():
            if _PARENT in wanted:
                _move(team, wanted[_PARENT])
            was, limits = change_limits(team, of_limits, principal)
            if wanted or of_limits:
                before = {field: _value(team, field) for field in wanted}
                records.note_change(before={**before, **was}, after={**wanted, **of_limits})
            own = {field: value for field, value in wanted.items() if field != _PARENT}
            for field, value in own.items():
                setattr(team, field, value)
            if own:
                team.save(update_fields=[*own])
        own = {field: _value(team, field) for field in (*_FIELDS, _PARENT)} | wanted
        as_changed: Any = {**own, **values_of(limits)}
        return Response(TeamChangeSerializer(as_changed).data)


def _move(team: Team, parent: str | None) -> None:
    """Raises: SetupRefused, where that makes a circle, or guarantees do not fit there."""
    key = SetupKey(SetupKind.TEAM, "", team.name)
    wanted = WantedSetup(objects={key: {_PARENT: parent}}, whole=frozenset())
    applying.change(key, lambda _: wanted)


def _value(team: Team, field: str) -> Any:
    if field == _PARENT:
        return team.parent.name if team.parent else None
    return getattr(team, field)


def _check_may_change(principal: Principal, name: str, changes: object) -> None:
    """Raises: PermissionDenied, but for admins, and leads whose change is theirs to make."""
    if principal.may_anywhere(Permission.ADMINISTER):
        return
    team = principal.seen.get(name)
    theirs = frozenset[str]() if team is None else changeable_limits(principal, team)
    if principal.may(Permission.MANAGE_MEMBERS, name):
        theirs |= _OF_LEADS
    if theirs and isinstance(changes, Mapping) and changes.keys() <= theirs:
        return
    raise exceptions.PermissionDenied(
        "Only admins change teams. Leads say of theirs whether members_change_all_jobs, and how"
        " many jobs each user may have run and wait; how many jobs run in all, and how many"
        " GPU-hours the team has, is for leads of a team above."
    )


def _asked_pools(pool: str) -> Sequence[PoolSize]:
    pools = [size for size in pool_sizes() if pool in {"", size.pool.name}]
    if pool and not pools:
        raise exceptions.NotFound(f"There is no pool {pool!r}.")
    return pools


def _rows(pools: Sequence[PoolSize], principal: Principal) -> dict[str, dict[str, Any]]:
    """Return a row per team: its shares, summed over pools; a limit only if each pool has one."""
    teams = teams_by_name()
    rows = {
        name: _empty_row(team) for name, team in teams.items() if sees_numbers_of(principal, name)
    }
    for name, row in rows.items():
        row["is_mine"] = name in principal.seen
    limits: defaultdict[str, list[int | None]] = defaultdict(list)
    for size in pools:
        demands = gpu_demand.by_team(size.pool.pk)
        for standing in shares_in(size):
            if standing["team"] not in rows:
                continue
            row = rows[standing["team"]]
            limits[standing["team"]].append(standing["limit"])
            for name in ("guaranteed", "fair_share", "allocated", "borrowed", "lent"):
                row[name] += standing[name]
            wants = demands.get(teams[standing["team"]].pk, GpuDemand())
            for name in ("waiting", "running_jobs", "waiting_jobs"):
                row[name] += getattr(wants, name)
    for name, found in limits.items():
        known = [limit for limit in found if limit is not None]
        rows[name]["limit"] = sum(known) if len(known) == len(found) else None
    return rows


def _empty_row(team: Team) -> dict[str, Any]:
    numbers = dict.fromkeys(
        (
            "guaranteed",
            "fair_share",
            "allocated",
            "borrowed",
            "lent",
            "waiting",
            "running_jobs",
            "waiting_jobs",
        ),
        0,
    )
    parent = team.parent.name if team.parent else None
    return {"name": team.name, "parent": parent, "limit": None, **numbers}
