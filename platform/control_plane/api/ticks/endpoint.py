"""The endpoints of what the autoscaler did: ticks that changed something, and prices over time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from cluster.nodes.queries import pool_sizes
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import principal_of

from control_plane.api.ticks.documents import (
    PriceSerializer,
    PricesSerializer,
    TickDetailSerializer,
    TickPageSerializer,
    document,
)
from control_plane.queries import ticks
from control_plane.web.repeated.shared_reads import SHARED
from jobs.api.requests import MomentField, query

_ORDERS: Final = ("newest", "oldest")
_USUAL: Final = timedelta(hours=1)
_LONGEST: Final = timedelta(days=31)
_MOST_ALARMS: Final = 100


class TicksQuery(serializers.Serializer[Any]):
    since = MomentField(required=False, default=None, help_text="None before this moment.")
    until = MomentField(required=False, default=None, help_text="None from this moment on.")
    order = serializers.ChoiceField(
        choices=_ORDERS, required=False, default="newest", help_text="Which come first."
    )
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=100)
    cursor = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)


class PricesQuery(serializers.Serializer[Any]):
    pool = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=200, help_text="Default: the first"
    )
    since = MomentField(required=False, default=None, help_text="Default: an hour before `until`.")
    until = MomentField(required=False, default=None, help_text="Default: now.")


class TicksView(APIView):
    @extend_schema(
        operation_id="list_ticks",
        summary="What the autoscaler changed, tick by tick",
        description="A tick is kept if it changed something or raised an alarm, and as long as"
        " `CONCERTINA_KEEP_UTILISATION_DAYS` says. Of teams that are not yours it tells what the"
        " installation shows of them.",
        parameters=[TicksQuery],
        responses=TickPageSerializer,
    )
    def get(self, request: Request) -> Response:
        parameters, principal = query(request, TicksQuery), principal_of(request)

        def read() -> dict[str, Any]:
            page = ticks.ticks_between(
                parameters["since"],
                parameters["until"],
                is_newest_first=parameters["order"] == "newest",
                cursor=parameters["cursor"],
                limit=parameters["limit"],
            )
            items = [document(one, page.jobs, principal, is_whole=False) for one in page.ticks]
            return {"items": items, "next_cursor": page.next_cursor}

        return Response(SHARED.read("ticks", *parameters.values(), by=principal, read=read))


class TickView(APIView):
    @extend_schema(
        operation_id="get_tick",
        summary="A tick, with the GPUs of all jobs before and after it",
        responses=TickDetailSerializer,
    )
    def get(self, request: Request, number: int) -> Response:
        page = ticks.one_tick(number)
        if not page.ticks:
            raise exceptions.NotFound(f"There is no tick {number}; old ones are not kept.")
        (tick,) = page.ticks
        return Response(document(tick, page.jobs, principal_of(request), is_whole=True))


class PricesView(APIView):
    @extend_schema(
        operation_id="list_prices",
        summary="What one more GPU of a pool was worth over time",
        parameters=[PricesQuery],
        responses=PricesSerializer,
    )
    def get(self, request: Request) -> Response:
        parameters = query(request, PricesQuery)
        until = parameters["until"] or timezone.now()
        since = parameters["since"] or until - _USUAL
        if not timedelta() < until - since <= _LONGEST:
            days = _LONGEST.days
            raise serializers.ValidationError(
                {"since": f"It has to be before `until`, by at most {days} days."}
            )
        sizes = pool_sizes()
        wanted = parameters["pool"]
        pool = next((one.pool for one in sizes if wanted in {"", one.pool.name}), None)
        if pool is None:
            raise exceptions.NotFound(f"There is no pool {wanted!r}.")
        found = ticks.prices(pool.name, since=since, until=until)
        answer = {
            "pool": pool.name,
            "policy": pool.policy,
            "items": PriceSerializer(found, many=True).data,
            "alarms": ticks.alarms(since=since, until=until, most=_MOST_ALARMS),
        }
        return Response(PricesSerializer(answer).data)
