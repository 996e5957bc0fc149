"""The endpoint of GPU time: who used, lent and borrowed how much."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView
from tenancy.access.principal import Principal, principal_of

from autoscaler.gpu_accounts.reading import usage
from autoscaler.gpu_accounts.reading.calendar import Period
from autoscaler.gpu_accounts.reading.question import (
    MOST_DAYS,
    MOST_DIVIDED_DAYS,
    Dimension,
    UsageQuestion,
)
from autoscaler.gpu_accounts.reading.usage import ClosedTime, Costs
from control_plane.api.usage.documents import GpuUsageSerializer, as_table, hours_of, items_of
from control_plane.api.usage.query import LABEL, GpuUsageQuery
from control_plane.queries.visibility import sees_numbers_of
from control_plane.web.repeated.shared_reads import SHARED
from jobs.api.requests import query
from jobs.errors import BadCursor
from jobs.queries.curves.tables import TableFormat
from jobs.spec.timestamps import parse_timestamp

_USUAL: Final = timedelta(days=30)
_FARTHEST: Final = 10_000_000  # at which row a page may begin


class GpuUsageView(APIView):
    @extend_schema(
        operation_id="list_usage",
        summary="Who used, lent and borrowed how much GPU time",
        description="Of hours that are closed, which they are some minutes after they end. People,"
        " jobs and labels are told of teams whose jobs you see, all else of teams whose quotas you"
        " see. Days and months are those of `time_zone`; an hour belongs to the one in which it"
        f" begins. At most {MOST_DAYS} days may be asked for at once; by hour, or by days that do"
        f" not begin with those of UTC, {MOST_DIVIDED_DAYS}. Where the next page of a table is,"
        " its header `Link` says.",
        parameters=[GpuUsageQuery],
        responses={
            (200, "application/json"): GpuUsageSerializer,
            (200, "text/csv"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request) -> HttpResponseBase:
        parameters, principal = query(request, GpuUsageQuery), principal_of(request)
        answer = SHARED.read(
            *("usage", request.META.get("QUERY_STRING", "")),
            by=principal,
            read=lambda: _read(parameters, principal),
        )
        if parameters["format"] == TableFormat.JSON:
            return Response(answer)
        return HttpResponse(
            as_table(parameters["by"], answer["items"]),
            content_type="text/csv; charset=utf-8",
            headers={
                "Content-Disposition": 'attachment; filename="usage.csv"',
                **_link(request, answer["next_cursor"]),
            },
        )


def _link(request: Request, cursor: str | None) -> dict[str, str]:
    if cursor is None:
        return {}
    here = request.build_absolute_uri()
    return {"Link": f'<{replace_query_param(here, "cursor", cursor)}>; rel="next"'}


def _read(parameters: Mapping[str, Any], principal: Principal) -> dict[str, Any]:
    closed, place = usage.closed_time(), _Place.of(parameters["cursor"])
    if closed is None:
        return _answer(since=None, until=None)
    asked = _question(parameters, principal, closed, place)
    limit, offset = parameters["limit"], place.offset
    found = usage.read_usage(asked, limit=limit, offset=offset)
    is_more = offset + len(found.rows) < found.rows_in_all
    return _answer(
        since=asked.since,
        until=asked.until,
        unseen_seconds=usage.unseen_seconds(asked.since, asked.until),
        items=items_of(asked, found),
        total=hours_of(found.total, found.total_costs),
        rows=found.rows_in_all,
        next_cursor=_Place(offset + limit, asked.since, asked.until).cursor if is_more else None,
    )


def _answer(**answer: Any) -> dict[str, Any]:
    total = hours_of(usage.NOTHING, Costs())
    nothing = {"unseen_seconds": 0.0, "items": [], "total": total, "rows": 0, "next_cursor": None}
    return {**nothing, **answer}


def _question(
    parameters: Mapping[str, Any], principal: Principal, closed: ClosedTime, place: _Place
) -> UsageQuestion:
    words = parameters["by"]
    until = min(place.until or parameters["until"] or closed.until, closed.until)
    since = max(place.since or parameters["since"] or until - _USUAL, closed.since)
    is_limited = not principal.is_admin
    shown = [team for team in usage.accounted_teams() if sees_numbers_of(principal, team)]
    asked = UsageQuestion(
        since=min(since, until),
        until=until,
        zone=parameters["time_zone"],
        dimensions=[Dimension(word) for word in words if word in set(Dimension)],
        labels=[word.removeprefix(LABEL) for word in words if word.startswith(LABEL)],
        period=next((Period(word) for word in words if word in set(Period)), None),
        having_labels=parameters["label"],
        prices=usage.prices(),
        shown=shown if is_limited else None,
        seen=list(principal.seen) if is_limited else None,
        **{name: parameters[name] for name in ("team", "user", "pool", "job")},
    )
    if problem := asked.too_much:
        raise serializers.ValidationError(problem)
    return asked


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a page begins. Closed hours never change, so a row keeps its number in a time."""

    offset: int = 0
    since: datetime | None = None
    until: datetime | None = None

    @classmethod
    def of(cls, cursor: str) -> _Place:
        """Return where the cursor says. Raises: BadCursor."""
        if not cursor:
            return cls()
        try:
            offset, since, until = base64.urlsafe_b64decode(cursor).decode().split(" ")
            place = cls(int(offset), parse_timestamp(since), parse_timestamp(until))
        except (binascii.Error, ValueError) as error:
            raise BadCursor from error
        if not 0 <= place.offset <= _FARTHEST:
            raise BadCursor
        return place

    @property
    def cursor(self) -> str:
        parts = (str(self.offset), *(one.isoformat() for one in (self.since, self.until) if one))
        return base64.urlsafe_b64encode(" ".join(parts).encode()).decode()
