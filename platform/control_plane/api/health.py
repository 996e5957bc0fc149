"""Does the service work? It asks the database, Redis, and when the control loop last looked."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

import redis
from cluster.nodes.queries import last_sampled_at
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, InterfaceError
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from control_plane.queries import planning_status
from control_plane.queries.planning_status import PlanningStatus

_REDIS_TIMEOUT_SECONDS: Final = 1.0
_REMEMBERED_SECONDS: Final = 1.0  # so that whoever asks without a login costs next to nothing


class PlansSerializer(serializers.Serializer[Any]):
    """Do jobs start, grow and shrink as they should?"""

    are_applied = serializers.BooleanField(help_text="Of every pool.")
    since = serializers.DateTimeField(allow_null=True, help_text="When that ended; null: it holds.")
    message = serializers.CharField(help_text="What is wrong and where to look; or empty.")
    jobs_left_out = serializers.IntegerField(
        help_text="Jobs that are left out of plans, because the planner fails on their data."
    )


class HealthSerializer(serializers.Serializer[Any]):
    status = serializers.ChoiceField(
        choices=["ok", "impaired", "unavailable"],
        help_text="impaired: it answers, but plans are not applied. unavailable comes with 503.",
    )
    database = serializers.BooleanField()
    redis = serializers.BooleanField()
    control_loop_seconds_ago = serializers.FloatField(
        allow_null=True, help_text="Since the control loop last looked; null: never or unknown."
    )
    plans = PlansSerializer(allow_null=True, help_text="Null: unknown.")


class HealthView(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="get_health",
        summary="Whether the service works",
        responses={200: HealthSerializer, 503: HealthSerializer},
        auth=[],
    )
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF's signature
        body: Any = cache.get_or_set("health", _look, timeout=_REMEMBERED_SECONDS)
        return Response(body, status=503 if body["status"] == "unavailable" else 200)


def _look() -> dict[str, Any]:
    seconds_ago, plans = _ask_database()
    has_redis = _ask_redis()
    return {
        "status": _status(plans, has_redis=has_redis),
        "database": plans is not None,
        "redis": has_redis,
        "control_loop_seconds_ago": seconds_ago,
        "plans": None if plans is None else asdict(plans),
    }


def _status(plans: PlanningStatus | None, *, has_redis: bool) -> str:
    if plans is None or not has_redis:
        return "unavailable"
    return "ok" if plans.are_applied else "impaired"


def _ask_database() -> tuple[float | None, PlanningStatus | None]:
    """Return how long ago the control loop looked, and the planning status; None if unknown."""
    now = timezone.now()
    try:
        at = last_sampled_at()
        plans = planning_status.read(last_looked_at=at, now=now)
    except (DatabaseError, InterfaceError):
        return None, None
    return (now - at).total_seconds() if at else None, plans


def _ask_redis() -> bool:
    client = redis.Redis.from_url(
        settings.CONCERTINA.redis_url,
        socket_timeout=_REDIS_TIMEOUT_SECONDS,
        socket_connect_timeout=_REDIS_TIMEOUT_SECONDS,
    )
    try:
        with client:
            return bool(client.ping())
    except (redis.RedisError, OSError):
        return False
