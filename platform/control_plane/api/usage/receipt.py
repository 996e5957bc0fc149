"""The endpoint of the fairness receipt: was a team given what it was owed?"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, Final

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import principal_of

from autoscaler.gpu_accounts.arithmetic.owed import MOST_JOBS
from autoscaler.gpu_accounts.arithmetic.shortfall_causes import ShortfallCause
from autoscaler.gpu_accounts.reading import receipt, usage
from autoscaler.gpu_accounts.reading.question import MOST_DAYS
from autoscaler.gpu_accounts.reading.receipt import FairnessReceipt, Shortfall
from autoscaler.gpu_accounts.retention import OWED_KEPT
from control_plane.api.usage.documents import cell
from control_plane.api.usage.query import PeriodQuery
from control_plane.api.usage.receipt_words import label_of, missing_of, said
from jobs.api.requests import query
from jobs.queries.curves.tables import TableFormat

_USUAL: Final = timedelta(days=30)
_SECOND: Final = 1_000_000
_NOTHING: Final = FairnessReceipt(pools=(), missing=(), shortfalls=(), has_more=False)


class ReceiptQuery(PeriodQuery):
    pool = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=200, help_text="Only this pool."
    )
    format = serializers.ChoiceField(
        choices=[kind.value for kind in TableFormat], default=TableFormat.JSON.value
    )


class PoolReceiptSerializer(serializers.Serializer[Any]):
    pool = serializers.CharField()
    working_seconds = serializers.FloatField(help_text="In which it had work for its guarantee.")
    given_seconds = serializers.FloatField(help_text="Of these, in which nothing was missing.")


class MissingTimeSerializer(serializers.Serializer[Any]):
    pool = serializers.CharField()
    cause = serializers.CharField(
        help_text="One of " + ", ".join(f"`{cause}`" for cause in ShortfallCause) + "."
    )
    label = serializers.CharField(  # type: ignore[assignment] # it takes the place of a title
        help_text="The cause in words."
    )
    gpu_seconds = serializers.FloatField()


class ShortfallSerializer(MissingTimeSerializer):
    since = serializers.DateTimeField()
    until = serializers.DateTimeField()
    guaranteed_gpus = serializers.IntegerField(help_text="For the team's own jobs, at that time.")
    gpus = serializers.IntegerField(help_text="That were missing for this cause.")
    jobs = serializers.ListField(
        child=serializers.CharField(),
        help_text=f"That waited for them; the first {MOST_JOBS} if there were more.",
    )


class FairnessReceiptSerializer(serializers.Serializer[Any]):
    """What of its guarantee, as it was then, a team was given while it had work for it."""

    team = serializers.CharField()
    since = serializers.DateTimeField(allow_null=True, help_text="null: nothing is known yet.")
    until = serializers.DateTimeField(allow_null=True)
    unseen_seconds = serializers.FloatField(
        help_text="For which nobody looked: what changed then was written down at the end of it."
    )
    message = serializers.CharField(help_text="All of it in a sentence.")
    working_seconds = serializers.FloatField(help_text="Of all pools together.")
    given_seconds = serializers.FloatField(help_text="Likewise.")
    missing_gpu_seconds = serializers.FloatField(help_text="What `missing` adds up to.")
    pools = PoolReceiptSerializer(many=True)
    missing = MissingTimeSerializer(
        many=True, help_text="What was owed and not given, by pool and cause, the largest first."
    )
    shortfalls = ShortfallSerializer(
        many=True,
        help_text=f"When, and which jobs waited, the newest first; of the last {OWED_KEPT.days}"
        " days.",
    )
    has_more = serializers.BooleanField(
        help_text=f"There are more than {receipt.MOST_SHORTFALLS} shortfalls: ask for less time."
    )


class FairnessReceiptView(APIView):
    @extend_schema(
        operation_id="get_fairness_receipt",
        summary="Whether a team was given what it was owed, and if not, why",
        description="A team is owed its guarantee as far as it has work for it: what its jobs"
        " hold, and each waiting job that with its fewest workers still fits into the guarantee."
        " Of hours that are closed, which they are some minutes after they end. At most"
        f" {MOST_DAYS} days may be asked for at once. As a table, it is the shortfalls.",
        parameters=[ReceiptQuery],
        responses={
            (200, "application/json"): FairnessReceiptSerializer,
            (200, "text/csv"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request, name: str) -> HttpResponseBase:
        if name not in principal_of(request).seen:
            raise exceptions.NotFound
        parameters = query(request, ReceiptQuery)
        answer = _read(name, parameters)
        if parameters["format"] == TableFormat.JSON:
            return Response(FairnessReceiptSerializer(answer).data)
        return HttpResponse(
            _as_table(answer["shortfalls"]),
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="fairness-{name}.csv"'},
        )


def _read(team: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    closed, first = usage.closed_time(), receipt.first_owed_hour()
    if closed is None or first is None:
        return _answer(team, _NOTHING, since=None, until=None)
    until = min(parameters["until"] or closed.until, closed.until)
    since = max(parameters["since"] or until - _USUAL, first)
    since = min(since, until)
    if until - since > timedelta(days=MOST_DAYS):
        raise serializers.ValidationError(
            {"since": f"At most {MOST_DAYS} days may be asked for at once."}
        )
    found = receipt.read_receipt(team, since=since, until=until, pool=parameters["pool"])
    return _answer(
        team, found, since=since, until=until, unseen_seconds=usage.unseen_seconds(since, until)
    )


def _answer(team: str, found: FairnessReceipt, **when: Any) -> dict[str, Any]:
    return {
        "team": team,
        "unseen_seconds": 0.0,
        **when,
        "message": said(team, found),
        "working_seconds": found.working / _SECOND,
        "given_seconds": found.given / _SECOND,
        "missing_gpu_seconds": sum(one.amount for one in found.missing) / _SECOND,
        "pools": [
            {
                "pool": one.pool,
                "working_seconds": one.working / _SECOND,
                "given_seconds": one.given / _SECOND,
            }
            for one in found.pools
        ],
        "missing": missing_of(found),
        "shortfalls": [_shortfall(one) for one in found.shortfalls],
        "has_more": found.has_more,
    }


def _shortfall(one: Shortfall) -> dict[str, Any]:
    return {
        "since": one.since,
        "until": one.until,
        "pool": one.pool,
        "guaranteed_gpus": one.guaranteed_gpus,
        "cause": one.cause,
        "label": label_of(one.cause),
        "gpus": one.gpus,
        "gpu_seconds": one.amount / _SECOND,
        "jobs": one.jobs,
    }


def _as_table(shortfalls: Iterable[Mapping[str, Any]]) -> str:
    """Return a line for each, in which no cell is a formula, and a first one with names."""
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(
        ("since", "until", "pool", "guaranteed_gpus", "cause", "gpus", "gpu_seconds", "jobs")
    )
    for one in shortfalls:
        lines.writerow(
            (
                *(one["since"].isoformat(), one["until"].isoformat(), cell(one["pool"])),
                *(one["guaranteed_gpus"], cell(one["cause"]), one["gpus"], one["gpu_seconds"]),
                cell(" ".join(one["jobs"])),
            )
        )
    return written.getvalue()
