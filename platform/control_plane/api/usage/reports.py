"""The endpoints of reports: what did a month cost, a team or the installation?"""

from __future__ import annotations

import re
from datetime import date
from typing import Any, Final

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import principal_of

from control_plane.api.setup.endpoint import check_admin
from control_plane.api.usage import report_composing as composing
from control_plane.api.usage.report_documents import (
    MonthReportSerializer,
    WholeMonthReportSerializer,
    table_of_all,
    table_of_team,
)
from control_plane.web.repeated.shared_reads import SHARED
from jobs.api.requests import query
from jobs.queries.curves.tables import TableFormat

LATEST: Final = "latest"
_MONTH: Final = re.compile(r"2[01]\d{2}-(0[1-9]|1[0-2])")
_ADDRESS: Final = [
    OpenApiParameter(
        "month",
        {"type": "string", "pattern": f"^({LATEST}|{_MONTH.pattern})$"},
        OpenApiParameter.PATH,
        description=f"As 2026-11, of UTC; `{LATEST}`: the one that was over last or, if accounts"
        " began later, the one that goes on.",
    )
]


class ReportQuery(serializers.Serializer[Any]):
    format = serializers.ChoiceField(
        choices=[kind.value for kind in TableFormat], default=TableFormat.JSON.value
    )


class TeamReportView(APIView):
    @extend_schema(
        operation_id="get_month_report",
        summary="What a team used, lent and is charged for in a month",
        description="Of hours that are closed. What it used is priced as the days are; what it"
        " lent is credited at the same price. The month before stands beside it.",
        parameters=[*_ADDRESS, ReportQuery],
        responses={
            (200, "application/json"): MonthReportSerializer,
            (200, "text/csv"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request, name: str, month: str) -> HttpResponseBase:
        principal, asked = principal_of(request), query(request, ReportQuery)
        if name not in principal.seen:
            raise exceptions.NotFound
        day = _month(month)
        found = SHARED.read(
            *("report", name, day),
            by=principal,
            read=lambda: composing.team_report(name, day),
        )
        if asked["format"] == TableFormat.JSON:
            return Response(MonthReportSerializer(found).data)
        return _table(table_of_team(found), f"report-{name}-{found['month']}")


class WholeReportView(APIView):
    @extend_schema(
        operation_id="get_whole_month_report",
        summary="What all teams used, lent and are charged for in a month (admins)",
        description="A row for each team, as its own report says, and what they add up to.",
        parameters=[*_ADDRESS, ReportQuery],
        responses={
            (200, "application/json"): WholeMonthReportSerializer,
            (200, "text/csv"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request, month: str) -> HttpResponseBase:
        check_admin(request)
        asked, day = query(request, ReportQuery), _month(month)
        found = composing.whole_report(day)
        if asked["format"] == TableFormat.JSON:
            return Response(WholeMonthReportSerializer(found).data)
        return _table(table_of_all(found), f"report-{found['month']}")


def _month(text: str) -> date:
    """Return its first day. Raises: ValidationError."""
    if text == LATEST:
        return composing.latest_month(timezone.now())
    if not _MONTH.fullmatch(text):
        problem = f"Write a month of UTC, as 2026-11, or `{LATEST}`."
        raise exceptions.ValidationError({"month": problem})
    year, number = text.split("-")
    return date(int(year), int(number), 1)


def _table(text: str, name: str) -> HttpResponse:
    return HttpResponse(
        text,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )
