"""Does the service work? Its database, its Redis, and how long ago the control loop looked."""

from __future__ import annotations

from typing import Any, Final

import redis
from cluster.queries import last_sampled_at
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

_REDIS_TIMEOUT_SECONDS: Final = 1.0
_REMEMBERED_SECONDS: Final = 1.0  # so that whoever asks without a login costs next to nothing


class HealthSerializer(serializers.Serializer[Any]):
    status = serializers.ChoiceField(choices=["ok", "unavailable"])
    database = serializers.BooleanField()
    redis = serializers.BooleanField()
    control_loop_seconds_ago = serializers.FloatField(
        allow_null=True, help_text="Since the control loop last looked; null: never or unknown."
    )


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
        return Response(body, status=200 if body["status"] == "ok" else 503)


def _look() -> dict[str, Any]:
    has_database, seconds_ago = _ask_database()
    has_redis = _ask_redis()
    return {
        "status": "ok" if has_database and has_redis else "unavailable",
        "database": has_database,
        "redis": has_redis,
        "control_loop_seconds_ago": seconds_ago,
    }


def _ask_database() -> tuple[bool, float | None]:
    try:
        at = last_sampled_at()
    except (DatabaseError, InterfaceError):
        return False, None
    return True, (timezone.now() - at).total_seconds() if at else None


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
