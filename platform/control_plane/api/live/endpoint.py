"""What does an open page show, as it changes? One stream for all that the page reads."""

from __future__ import annotations

from typing import Final

from django.db import connections
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.views import APIView
from tenancy.access.grants import grant_of, grants_of
from tenancy.access.principal import principal_of

from control_plane.api.live.compression import gzipped, plain
from control_plane.api.live.reads import MOST_READS, SECONDS_OF, Viewpoint, problem_of
from control_plane.api.live.stream import LiveStream, read_in_a_thread
from control_plane.api.live.topics import Topics
from control_plane.api.logs.event_stream import EventStream, stream_slots
from control_plane.api.logs.stream import followed_grants
from control_plane.web.answers.compression import takes_gzip
from jobs.api.requests import know_parameters

topics: Final = Topics(read_in_a_thread)


class LiveView(APIView):
    @extend_schema(
        operation_id="follow_reads",
        summary="What a page reads, sent again whenever it has changed",
        description="The answer is `text/event-stream`. An event `read` tells in its data, as JSON,"
        " which `read` was made, with which `status`, and the `body` that it answered; first of all"
        " reads, then of those whose answer changed. `still-there` comes when nothing else did"
        " for a quarter of a minute. `again` says to open the stream anew: it has"
        " lasted for a minute, or the viewer sees other teams than before. The body is null for"
        " a status other than 200. Of many who see the same, one costs as much as all.",
        parameters=[
            OpenApiParameter(
                "read",
                str,
                many=True,
                required=True,
                description=f"At most {MOST_READS} addresses with their parameters, of these: "
                + ", ".join(f"`{path}`" for path in SECONDS_OF)
                + ".",
            )
        ],
        responses={(200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR)},
    )
    def get(self, request: Request) -> HttpResponseBase:
        know_parameters(request, ["read"])
        principal, reads = principal_of(request), request.query_params.getlist("read")
        if problem := problem_of(reads):
            raise exceptions.ValidationError({"read": [problem]})
        holder = grant_of(request, team_id=None).holder
        stream = LiveStream(
            topics,
            followed_grants,
            user=request.user,
            reader=str(request.user.pk),
            viewpoint=Viewpoint.of(principal),
            grants=grants_of(request, principal),
            reads=reads,
        )
        connections.close_all()  # the stream outlives this request's need for the database
        team = str(min(principal.seen_ids, default=0))
        # The answer gives it back: nothing may fail in between.
        encoding = "gzip" if takes_gzip(request) else ""
        events = (gzipped if encoding else plain)(stream.events())
        return EventStream(events, stream_slots.take(holder, team=team), encoding=encoding)
