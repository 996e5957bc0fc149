"""What did a job's workers write? The last lines at once, or all of them as they come."""

from __future__ import annotations

from typing import Any, Final

from cluster.logs import log_positions
from cluster.logs.log_positions import BadLogPosition, LogPositions
from cluster.logs.log_store import JobLog
from django.conf import settings
from django.db import connections
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.grants import grant_of
from tenancy.access.principal import principal_of

from control_plane.api.logs.event_stream import EventStream, stream_slots
from control_plane.api.logs.stream import LogStream, document_of
from jobs.api.requests import query
from jobs.queries import visible_jobs

LAST_EVENT_ID: Final = "Last-Event-ID"
_AT_ONCE: Final = 1000


class LogQuery(serializers.Serializer[Any]):
    worker = serializers.RegexField(
        r"^[A-Za-z0-9-]{1,60}$", required=False, default=None, help_text="Only this process."
    )
    tail = serializers.IntegerField(
        required=False,
        default=None,
        min_value=1,
        max_value=10_000,
        help_text=f"Begin so many lines from the end. Default: {_AT_ONCE}; all with `follow`.",
    )
    follow = serializers.BooleanField(
        required=False, default=False, help_text="Lines as server-sent events, as they come."
    )
    after = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=log_positions.MOST_CHARACTERS,
        help_text="With `follow`: go on behind the event with this id, as `Last-Event-ID` does.",
    )


class LogLineSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    worker = serializers.CharField(source="process_id")
    stream = serializers.ChoiceField(choices=["stdout", "stderr"])
    text = serializers.CharField(trim_whitespace=False)


class LogLineListSerializer(serializers.Serializer[Any]):
    items = LogLineSerializer(many=True)
    has_earlier = serializers.BooleanField(help_text="There are lines before these.")
    is_trimmed = serializers.BooleanField(
        help_text="Older lines were dropped for good: a process or the job wrote too much."
    )


class LogsView(APIView):
    @extend_schema(
        operation_id="list_job_logs",
        summary="What a job's workers wrote, in order of time",
        description="At most 4 MiB of lines. With `follow=true` the answer is"
        " `text/event-stream`: each event's data is one line as JSON, its id the place to go on"
        " from. An event `begin` comes first and tells `has_earlier` and `is_trimmed`; `cut` tells"
        " how many `bytes` of a `worker` were dropped before they could be sent; `end` says that"
        " the job has ended, `refused` that the token or session holds no longer, and"
        " `interrupted` that this could not be found out for a minute: come again.",
        parameters=[
            LogQuery,
            OpenApiParameter(
                LAST_EVENT_ID,
                str,
                OpenApiParameter.HEADER,
                description="The id of the last event that was read; more than `after`.",
            ),
        ],
        responses={
            (200, "application/json"): LogLineListSerializer,
            (200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR),
        },
    )
    def get(self, request: Request, job_id: str) -> HttpResponseBase:
        job = visible_jobs.find_job(principal_of(request), job_id)
        parameters = query(request, LogQuery)
        log = JobLog(
            job_id=job.id, state_dir=settings.CONCERTINA.state_dir, worker=parameters["worker"]
        )
        if not parameters["follow"]:
            page = log.page(tail=parameters["tail"] or _AT_ONCE)
            return Response(
                {
                    "items": [document_of(line) for line in page.lines],
                    "has_earlier": page.beginning.has_earlier,
                    "is_trimmed": page.beginning.is_trimmed,
                }
            )
        grant = grant_of(request, team_id=job.team_id, job_id=job.id)
        after = _positions(request, parameters["after"], job_id=job.id)
        connections.close_all()  # the stream outlives this request's need for the database
        team = str(job.team_id)
        stream = LogStream(log=log, team=team, grant=grant, tail=parameters["tail"], after=after)
        # The answer gives it back: nothing may fail in between.
        return EventStream(stream.events(), stream_slots.take(grant.holder, team=team))


def _positions(request: Request, after: str, *, job_id: str) -> LogPositions | None:
    """Return the position the reader has reached; None is the beginning."""
    text = request.headers.get(LAST_EVENT_ID, "") or after
    try:
        return log_positions.parse(text, job_id=job_id) if text else None
    except BadLogPosition:
        problem = "is no id of an event of this log. Leave it out to read from the beginning."
        raise exceptions.ValidationError({"after": [problem]}) from None
