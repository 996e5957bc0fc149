"""What does a GPU-hour of each pool cost, from which day on? Admins say so."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any, Final

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.audit import records

from autoscaler.gpu_accounts import pricing
from autoscaler.gpu_accounts.pricing import DIGITS, HIGHEST_PRICE, PriceChange
from autoscaler.gpu_accounts.reading import usage
from autoscaler.gpu_accounts.reading.question import PriceSpan
from control_plane.api.setup.endpoint import check_admin
from jobs.api.requests import body, query

_YEARS: Final = range(2000, 2200)
_ADDRESS: Final = [
    OpenApiParameter("pool", str, OpenApiParameter.PATH, description="The name of a pool."),
    OpenApiParameter(
        "since",
        {"type": "string", "pattern": r"^2[01]\d{2}-\d{2}-\d{2}$"},
        OpenApiParameter.PATH,
        description="The first day, of UTC.",
    ),
]


class GpuPriceSerializer(serializers.Serializer[Any]):
    """What a GPU-hour of a pool costs in a time, in the installation's currency."""

    pool = serializers.CharField()
    since = serializers.DateField(help_text="The first day of UTC on which it holds.")
    until = serializers.DateField(
        allow_null=True, help_text="The first day on which it does not any more; null: it stays."
    )
    per_gpu_hour = serializers.FloatField()
    is_current = serializers.BooleanField(help_text="It holds today.")


class GpuPriceListSerializer(serializers.Serializer[Any]):
    items = GpuPriceSerializer(many=True, help_text="By pool; of each the oldest first.")


class GpuPricesQuery(serializers.Serializer[Any]):
    pool = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=200, help_text="Only this pool."
    )


class ChangesPastQuery(serializers.Serializer[Any]):
    changes_past = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Do it also if reports of the past say something else then.",
    )


class GpuPriceBody(ChangesPastQuery):
    per_gpu_hour = serializers.FloatField(
        min_value=0, max_value=HIGHEST_PRICE, help_text="In millionths at the finest."
    )


class GpuPricesView(APIView):
    @extend_schema(
        operation_id="list_gpu_prices",
        summary="What a GPU-hour of each pool costs, and cost",
        description="All that was ever set; pools without one have no price. A day of UTC is"
        f" priced as a whole. There are at most {pricing.MOST_PRICES:,}.",
        parameters=[GpuPricesQuery],
        responses=GpuPriceListSerializer,
    )
    def get(self, request: Request) -> Response:
        pool, today = query(request, GpuPricesQuery)["pool"], _today()
        items = [_item(one, today) for one in usage.prices() if pool in {"", one.pool}]
        return Response(GpuPriceListSerializer({"items": items}).data)


class GpuPriceView(APIView):
    @extend_schema(
        operation_id="set_gpu_price",
        summary="Have a pool's GPU-hours cost so much from a day on (admins)",
        description="Until the day of its next price. From a day that is past it is refused,"
        " because reports of the past would change, unless `changes_past` is true.",
        parameters=_ADDRESS,
        request=GpuPriceBody,
        responses=GpuPriceSerializer,
    )
    def put(self, request: Request, pool: str, since: str) -> Response:
        check_admin(request)
        said, day = body(request, GpuPriceBody), _day(since)
        price = _price(said["per_gpu_hour"])
        made = pricing.set_price(
            pool, day, price, today=_today(), changes_past=said["changes_past"]
        )
        _note(pool, day, made)
        (found,) = (one for one in usage.prices() if (one.pool, one.since) == (pool, day))
        return Response(GpuPriceSerializer(_item(found, _today())).data)

    @extend_schema(
        operation_id="delete_gpu_price",
        summary="Take a price back: the one before holds on (admins)",
        description="Refused for a day that is past, unless `changes_past` is true.",
        parameters=[*_ADDRESS, ChangesPastQuery],
        request=None,
        responses={204: None},
    )
    def delete(self, request: Request, pool: str, since: str) -> Response:
        check_admin(request)
        said, day = query(request, ChangesPastQuery), _day(since)
        gone = pricing.take_back(pool, day, today=_today(), changes_past=said["changes_past"])
        _note(pool, day, gone)
        return Response(status=204)


def _price(said: float) -> Decimal:
    """Return the price in millionths; what is finer must not become free of charge.

    Raises: ValidationError.
    """
    price = round(Decimal(str(said)), DIGITS)
    if said and not price:
        problem = "Use a millionth (0.000001) at least, or 0: it costs nothing."
        raise exceptions.ValidationError({"per_gpu_hour": problem})
    return abs(price)


def _item(price: PriceSpan, today: date) -> dict[str, Any]:
    return {
        "pool": price.pool,
        "since": price.since,
        "until": None if price.until == date.max else price.until,
        "per_gpu_hour": price.per_gpu_hour,
        "is_current": price.since <= today < price.until,
    }


def _note(pool: str, day: date, made: PriceChange) -> None:
    def side(price: Decimal | None) -> dict[str, Any] | None:
        if price is None:
            return None
        return {"pool": pool, "since": day.isoformat(), "per_gpu_hour": float(price)}

    records.note_change(before=side(made.before), after=side(made.after))


def _today() -> date:
    return timezone.now().date()


def _day(text: str) -> date:
    """Return the day. Raises: ValidationError."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = date.min
    if day.year not in _YEARS or day.isoformat() != text:
        raise exceptions.ValidationError({"since": "Write a day of UTC, as 2026-11-01."})
    return day
