"""How is the cluster used, and how do jobs fare? Sums over all teams, for everybody."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from cluster.nodes.queries import PoolSize, gpu_time, pool_sizes, utilisation
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import Principal, principal_of
from tenancy.queries import quotas_of_pool, teams_by_name

from control_plane.queries.visibility import sees_numbers_of, shown_by_team
from control_plane.web.repeated.shared_reads import SHARED
from jobs.api.requests import query
from jobs.queries.predictions.calibration import calibration
from jobs.queries.summary import counts_now, summarise

_WEEK_MINUTES = 7 * 24 * 60


class UtilisationQuery(serializers.Serializer[Any]):
    pool = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="Default: the first."
    )
    minutes = serializers.IntegerField(
        required=False, default=60, min_value=1, max_value=_WEEK_MINUTES
    )


class SummaryQuery(serializers.Serializer[Any]):
    hours = serializers.FloatField(required=False, default=24, min_value=0.01, max_value=24 * 90)


class TeamGuaranteeSerializer(serializers.Serializer[Any]):
    team = serializers.CharField()
    guaranteed = serializers.IntegerField()


class GpusByTeamField(serializers.DictField):
    child = serializers.IntegerField()


class SampleSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    used = GpusByTeamField(help_text="GPUs by team.")
    waiting = GpusByTeamField(help_text="GPUs that waiting jobs ask for at least, by team.")
    guaranteed = GpusByTeamField(help_text="GPUs that were guaranteed then, by team.")


class UtilisationSerializer(serializers.Serializer[Any]):
    pool = serializers.CharField()
    gpus_total = serializers.IntegerField()
    teams = TeamGuaranteeSerializer(many=True)
    samples = SampleSerializer(many=True, help_text="Oldest first, at most 600.")


class PeriodSerializer(serializers.Serializer[Any]):
    """The jobs that ended in a stretch of time."""

    completed = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    mean_completion_seconds = serializers.FloatField(allow_null=True)
    p50_completion_seconds = serializers.FloatField(allow_null=True)
    p99_completion_seconds = serializers.FloatField(allow_null=True)
    gpu_seconds = serializers.FloatField(help_text="Held in that time by all jobs.")
    utilisation = serializers.FloatField(help_text="Share of all GPUs in use, 0 to 1.")
    rescales = serializers.IntegerField()
    longest_stall_seconds = serializers.FloatField()


class HeldSerializer(serializers.Serializer[Any]):
    at_most_seconds = serializers.FloatField(allow_null=True, help_text="Ahead; null: longer.")
    held = serializers.IntegerField()
    outcomes = serializers.IntegerField()


class CalibrationSerializer(serializers.Serializer[Any]):
    """How many starts and ends came within their predicted 10 to 90 % range; 80 % should."""

    held = serializers.IntegerField()
    outcomes = serializers.IntegerField()
    is_rough = serializers.BooleanField(help_text="Too few outcomes to judge by.")
    by_horizon = HeldSerializer(many=True, help_text="By how far ahead they were predicted.")


class SummarySerializer(PeriodSerializer):
    running = serializers.IntegerField(help_text="Jobs, now.")
    waiting = serializers.IntegerField(help_text="Jobs, now.")
    predictions = CalibrationSerializer()
    previous = PeriodSerializer(help_text="The stretch of the same length before.")


class UtilisationView(APIView):
    @extend_schema(
        operation_id="get_utilisation",
        summary="GPUs in use and waited for over time, by team",
        parameters=[UtilisationQuery],
        responses=UtilisationSerializer,
    )
    def get(self, request: Request) -> Response:
        parameters, principal = query(request, UtilisationQuery), principal_of(request)
        pool, minutes = parameters["pool"], parameters["minutes"]
        answer = SHARED.read(
            *("utilisation", pool, minutes),
            by=principal,
            read=lambda: self._read(_find_pool(pool), minutes, principal),
        )
        return Response(answer)

    def _read(self, size: PoolSize, minutes: int, principal: Principal) -> Any:
        quotas = quotas_of_pool(size.pool.pk)
        teams = [
            {"team": team.name, "guaranteed": quotas[team.pk].guaranteed_gpus}
            if team.pk in quotas
            else {"team": team.name, "guaranteed": 0}
            for team in teams_by_name().values()
            if sees_numbers_of(principal, team.name)
        ]
        samples = [
            {
                "at": one.at,
                "used": shown_by_team(principal, one.used),
                "waiting": shown_by_team(principal, one.waiting),
                "guaranteed": shown_by_team(principal, one.guaranteed),
            }
            for one in utilisation(size.pool, minutes=minutes)
        ]
        return {
            "pool": size.pool.name,
            "gpus_total": size.gpus,
            "teams": teams,
            "samples": samples,  # numbers by the thousand, which no serializer need look at
        }


class SummaryView(APIView):
    @extend_schema(
        operation_id="get_summary",
        summary="How jobs fared lately, beside the time before",
        parameters=[SummaryQuery],
        responses=SummarySerializer,
    )
    def get(self, request: Request) -> Response:
        hours, principal = query(request, SummaryQuery)["hours"], principal_of(request)
        answer = SHARED.read(
            "summary", hours, by=principal, read=lambda: self._read(hours, principal)
        )
        return Response(answer)

    def _read(self, hours: float, principal: Principal) -> Any:
        window, now = timedelta(hours=hours), timezone.now()
        gpus = sum(size.gpus for size in pool_sizes())
        teams = None if principal.is_admin else {team.pk for team in principal.seen.values()}

        def period(ago: int) -> dict[str, Any]:
            since, until = now - window * (ago + 1), now - window * ago
            held = gpu_time(since=since, until=until)
            return {
                **asdict(summarise(since=since, until=until, teams=teams)),
                "gpu_seconds": held.gpu_seconds,
                "utilisation": min(held.mean_gpus / gpus, 1.0) if gpus else 0.0,
            }

        answer = {
            **period(0),
            **counts_now(),
            "predictions": asdict(calibration(since=now - window)),
            "previous": period(1),
        }
        return SummarySerializer(answer).data


def _find_pool(name: str) -> PoolSize:
    for size in pool_sizes():
        if name in {"", size.pool.name}:
            return size
    raise exceptions.NotFound(f"There is no pool {name!r}." if name else "There is no pool yet.")
