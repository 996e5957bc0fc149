"""What did a job's workers write? Its last lines at once, or all of them as they come."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from typing import Any, Final

from cluster import log_store
from cluster.worker_host import LogLine
from django.conf import settings
from django.db import connections
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access import principal_of

from control_plane.api.final_jobs import FinalJobs
from jobs import queries
from jobs.api.requests import query

KEEP_ALIVE_SECONDS: Final = 15.0  # proxies close a connection that says nothing for a minute
_AT_ONCE: Final = 1000

_final_jobs: Final = FinalJobs()


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


class LogLineSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    worker = serializers.CharField(source="process_id")
    stream = serializers.ChoiceField(choices=["stdout", "stderr"])
    text = serializers.CharField(trim_whitespace=False)


class LogLineListSerializer(serializers.Serializer[Any]):
    items = LogLineSerializer(many=True)


class AnythingGoes(BaseContentNegotiation):
    """Whatever `Accept` says: `follow` alone decides between JSON and a stream."""

    def select_parser(self, request: Request, parsers: Any) -> Any:  # noqa: ARG002 - DRF's signature
        return parsers[0]

    def select_renderer(
        self,
        request: Request,  # noqa: ARG002 - DRF's signature
        renderers: Any,
        format_suffix: str | None = None,  # noqa: ARG002 - DRF's signature
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type


class LogsView(APIView):
    content_negotiation_class = AnythingGoes
    renderer_classes = (JSONRenderer,)

    @extend_schema(
        operation_id="list_job_logs",
        summary="What a job's workers wrote, in order of time",
        description="With `follow=true` the answer is `text/event-stream`: each event's data is"
        " one line as JSON, and an event `end` says that the job has ended.",
        parameters=[LogQuery],
        responses={
            (200, "application/json"): LogLineListSerializer,
            (200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR),
        },
    )
    def get(self, request: Request, job_id: str) -> HttpResponseBase:
        job = queries.find_job(principal_of(request), job_id)
        asked = query(request, LogQuery)
        if asked["follow"]:
            return _stream(job.id, worker=asked["worker"], tail=asked["tail"])
        lines = log_store.read(
            job.id,
            state_dir=settings.CONCERTINA.state_dir,
            worker=asked["worker"],
            tail=asked["tail"] or _AT_ONCE,
        )
        return Response(LogLineListSerializer({"items": lines}).data)


def _stream(job_id: str, *, worker: str | None, tail: int | None) -> StreamingHttpResponse:
    connections.close_all()  # the stream outlives this request's need for the database
    return StreamingHttpResponse(
        _events(job_id, worker=worker, tail=tail),
        content_type="text/event-stream",
        headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
    )


async def _events(job_id: str, *, worker: str | None, tail: int | None) -> AsyncIterator[bytes]:
    async def is_final() -> bool:
        return await _final_jobs.is_final(job_id)

    _final_jobs.follow(job_id)
    try:
        yield b": following\n\n"
        looks = log_store.follow(
            job_id,
            state_dir=settings.CONCERTINA.state_dir,
            worker=worker,
            tail=tail,
            is_final=is_final,
        )
        spoke_at = time.monotonic()
        async for lines in looks:
            for line in lines:
                yield b"data: " + json.dumps(_document(line)).encode() + b"\n\n"
            is_silent = time.monotonic() - spoke_at >= KEEP_ALIVE_SECONDS
            if is_silent and not lines:
                yield b": nothing new\n\n"
            if is_silent or lines:
                spoke_at = time.monotonic()
        yield b"event: end\ndata: {}\n\n"
    finally:
        _final_jobs.unfollow(job_id)


def _document(line: LogLine) -> dict[str, Any]:
    return dict(LogLineSerializer(line).data)
