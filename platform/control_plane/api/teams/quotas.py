"""What may a team use of each pool, and what is its share now? Admins and leads divide pools."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from cluster.models import Pool
from cluster.nodes.queries import pool_sizes
from django.core.exceptions import ValidationError
from django.db import transaction
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy import quota_rules
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal, principal_of
from tenancy.audit import records
from tenancy.models import (
    Quota,
    QuotaVersion,
    Team,
    first_known_quota,
    quotas_at,
    settings_of_pool,
)

from control_plane.queries.pool_shares import shares_in
from control_plane.queries.visibility import sees_numbers_of
from jobs.api import json_types
from jobs.api.requests import MomentField, know_parameters, query

QUOTA_FIELDS: Final = (
    "pool",
    "guaranteed_gpus",
    "limit_gpus",
    "lending_limit_gpus",
    "over_quota_weight",
)


class QuotaChangeSerializer(serializers.ModelSerializer[Quota]):
    pool = serializers.CharField(source="pool.name", read_only=True)

    class Meta:
        model = Quota
        fields = QUOTA_FIELDS


class QuotaListSerializer(serializers.Serializer[Any]):
    items = QuotaChangeSerializer(many=True)


class StandingSerializer(serializers.Serializer[Any]):
    """One team in one pool; GPUs unless it says otherwise."""

    pool = serializers.CharField()
    guaranteed = serializers.IntegerField()
    limit = serializers.IntegerField(allow_null=True, help_text="null: no limit but the pool.")
    fair_share = serializers.IntegerField(help_text="Of what is there, for what all want now.")
    allocated = serializers.IntegerField()
    borrowed = serializers.IntegerField(help_text="Held beyond its guarantee.")
    lent = serializers.IntegerField(help_text="Of its guarantee, held by others.")
    reserved = serializers.IntegerField(help_text="Of its guarantee, idle and never lent.")
    pending_request = serializers.IntegerField(help_text="What its waiting jobs need at least.")
    reclaim_exposure = serializers.IntegerField(
        help_text="What it would have to give back if every team wanted its claim."
    )
    usage_decayed = serializers.FloatField(
        help_text="GPU-seconds of the past, halved every half-life."
    )
    share_rank = serializers.IntegerField(help_text="1: borrows next.")


class StandingListSerializer(serializers.Serializer[Any]):
    items = StandingSerializer(many=True)


class QuotasQuery(serializers.Serializer[Any]):
    as_of = MomentField(
        required=False,
        help_text="Say what they were at this moment. Later than now: what they are.",
    )


class QuotasView(APIView):
    @extend_schema(
        operation_id="list_quotas",
        summary="What a team may use of each pool, or might",
        parameters=[QuotasQuery],
        responses=QuotaListSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        team, moment = _team(principal_of(request), name), query(request, QuotasQuery).get("as_of")
        if moment is None:
            quotas = Quota.objects.filter(team=team).select_related("pool")
            return Response(QuotaListSerializer({"items": quotas}).data)
        past = [_as_it_was(version) for version in quotas_at(team, moment)]
        if not past:
            _check_is_known(moment)
        return Response(QuotaListSerializer({"items": past}).data)


class QuotaView(APIView):
    @extend_schema(
        operation_id="get_quota",
        summary="What a team may use of a pool",
        responses=QuotaChangeSerializer,
    )
    def get(self, request: Request, name: str, pool: str) -> Response:
        quota = Quota.objects.filter(
            team=_team(principal_of(request), name), pool=_pool(pool)
        ).first()
        if quota is None:
            raise exceptions.NotFound(f"Team {name} has no quota in pool {pool}.")
        return Response(QuotaChangeSerializer(quota).data)

    @extend_schema(
        operation_id="change_quota",
        summary="Change what a team may use of a pool (admins; leads of the team above)",
        description="Leads promise the teams below theirs no more than is guaranteed to theirs.",
        request=QuotaChangeSerializer,
        responses=QuotaChangeSerializer,
    )
    def patch(self, request: Request, name: str, pool: str) -> Response:
        """Fields that are not named stay; a quota that is not there yet begins with defaults."""
        principal = principal_of(request)
        check_may_change(principal, name)
        with transaction.atomic():
            # Held from before it is read: of two changes at once the second sees the first.
            team, in_pool = _team(principal, name), _pool(pool, is_held=True)
            quota = Quota.objects.filter(team=team, pool=in_pool).first()
            changes = QuotaChangeSerializer(
                quota or Quota(team=team, pool=in_pool), data=request.data, partial=True
            )
            json_types.check(changes)
            changes.is_valid(raise_exception=True)
            before = QuotaChangeSerializer(quota).data if quota else None
            saved = _saved(changes)
            records.note_change(before=before, after=QuotaChangeSerializer(saved).data)
            is_more = saved.guaranteed_gpus > (before["guaranteed_gpus"] if before else 0)
            if is_more and not principal.is_admin:
                _check_is_of_the_team_above(saved)
        return Response(QuotaChangeSerializer(saved).data)


class StandingView(APIView):
    @extend_schema(
        operation_id="get_standing",
        summary="How a team stands in each pool",
        parameters=[OpenApiParameter("pool", str, description="Only this pool.")],
        responses=StandingListSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        _team(principal_of(request), name)
        know_parameters(request, ["pool"])
        pool = request.query_params.get("pool")
        if pool:
            _pool(pool)
        items = [
            {**row, "pool": size.pool.name}
            for size in pool_sizes()
            if pool in {None, "", size.pool.name}
            for row in shares_in(size)
            if row["team"] == name
        ]
        return Response(StandingListSerializer({"items": items}).data)


def _check_is_known(moment: datetime) -> None:
    """Raises: ValidationError, for a moment before the first quota of all was written down."""
    first = first_known_quota()
    if first is None or moment < first:
        known = f"before {first:%Y-%m-%dT%H:%M:%SZ}" if first else "yet"
        raise exceptions.ValidationError({"as_of": f"No quota was written down {known}."})


def _as_it_was(version: QuotaVersion) -> Quota:
    return Quota(
        pool=Pool(name=version.pool),
        guaranteed_gpus=version.guaranteed_gpus,
        limit_gpus=version.limit_gpus,
        lending_limit_gpus=version.lending_limit_gpus,
        over_quota_weight=version.over_quota_weight,
    )


def _saved(changes: QuotaChangeSerializer) -> Quota:
    quota = changes.instance
    assert isinstance(quota, Quota)  # noqa: S101 - it was made with one
    for field, value in changes.validated_data.items():
        setattr(quota, field, value)
    try:
        quota.full_clean()
    except ValidationError as error:
        raise exceptions.ValidationError(error.message_dict) from error
    quota.save()
    return quota


def check_may_change(principal: Principal, name: str) -> None:
    """Raises: PermissionDenied, but for admins, and leads of a team above."""
    team = principal.seen.get(name)
    above = team.parent_id if team else None
    is_theirs = above is not None and principal.may_in(Permission.DIVIDE_QUOTAS, above)
    if not is_theirs and not principal.may_anywhere(Permission.ADMINISTER):
        raise exceptions.PermissionDenied(
            "Only admins change quotas, and leads those of the teams below their own."
        )


def _check_is_of_the_team_above(quota: Quota) -> None:
    """Raises: ValidationError, when the team above has not as much to give as is promised now."""
    settings, parents = settings_of_pool(quota.pool_id), Team.parents_by_name()
    found = quota_rules.promised_by_the_team_above(quota.team.name, settings, parents)
    if found is not None:
        raise exceptions.ValidationError({found.field: [found.message]})


def _team(principal: Principal, name: str) -> Team:
    """Return a team whose numbers the caller may see; any other looks as if it did not exist."""
    team = Team.objects.filter(name=name).first()
    if team is None or not sees_numbers_of(principal, name):
        raise exceptions.NotFound
    return team


def _pool(name: str, *, is_held: bool = False) -> Pool:
    pools = Pool.objects.select_for_update(no_key=True) if is_held else Pool.objects.all()
    pool = pools.filter(name=name).first()
    if pool is None:
        raise exceptions.NotFound(f"There is no pool {name!r}.")
    return pool
