"""What happens to all jobs that the caller sees? A page at a time, or as a stream."""

from __future__ import annotations

from typing import Any, Final

from django.db import connections
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.grants import grant_of, grants_of
from tenancy.access.principal import Principal, principal_of

from autoscaler.job_vocabulary import EventKind
from control_plane.api.events.stream import KEEP_ALIVE_SECONDS, FollowedEvents, read_news
from control_plane.api.events.tail import EventTail
from control_plane.api.limited_tokens import closed_to
from control_plane.api.live.compression import gzipped, plain
from control_plane.api.logs.endpoint import LAST_EVENT_ID
from control_plane.api.logs.event_stream import EventStream, stream_slots
from control_plane.api.logs.stream import followed_grants
from control_plane.web.answers.compression import takes_gzip
from jobs.api.representation import represented
from jobs.api.requests import query
from jobs.api.serializers import FeedPageSerializer
from jobs.changes.numbering import number_events
from jobs.queries import event_feed, visible_jobs
from jobs.queries.event_feed import FeedFilter

tail: Final = EventTail(read_news)
_NEWEST: Final = "newest"
_PLACE: Final = rf"^({_NEWEST}|[0-9]{{1,18}})$"
_NO_PLACE: Final = "Use the `next` of a page, the id of an event of the stream, or newest."


class FeedQuery(serializers.Serializer[Any]):
    after = serializers.RegexField(
        _PLACE,
        required=False,
        error_messages={"invalid": _NO_PLACE},
        help_text="Only what comes behind this: the `next` of a page, the id of an event of the"
        " stream, or `newest` for what comes from now on.",
    )
    team = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=200,
        help_text="Only of this team's jobs.",
    )
    kind = serializers.ListField(
        child=serializers.ChoiceField(choices=EventKind.choices()),
        required=False,
        default=list,
        max_length=len(EventKind),
        help_text="Only of these kinds. May be repeated.",
    )
    job = serializers.RegexField(
        "^[0-9a-z]{1,12}$",
        required=False,
        error_messages={"invalid": "Use the id of a job."},
        help_text="Only of the job with this id.",
    )


class FeedPageQuery(FeedQuery):
    limit = serializers.IntegerField(required=False, default=100, min_value=1, max_value=1000)


class FollowedFeedQuery(FeedQuery):
    quiet = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=int(KEEP_ALIVE_SECONDS),
        help_text="Say `still-there` when nothing else came for so many seconds.",
    )


class EventFeedView(APIView):
    @extend_schema(
        operation_id="list_events",
        summary="What happened to all jobs that the caller sees, a page at a time",
        description="In the order in which it was committed: whoever goes on with `next` misses"
        " nothing and is told nothing twice. Without `after` it begins with the oldest that is"
        " kept. To wait for more, ask again with `next` every few seconds, or follow the stream.",
        parameters=[FeedPageQuery],
        responses=FeedPageSerializer,
    )
    def get(self, request: Request) -> Response:
        parameters = query(request, FeedPageQuery)
        wanted = _wanted(principal_of(request), parameters)
        number_events()
        place = parameters.get("after", "0")
        position = event_feed.last_position() if place == _NEWEST else int(place)
        page = event_feed.page_after(position, wanted, most=parameters["limit"])
        return Response(represented(FeedPageSerializer, page))


class EventStreamView(APIView):
    @extend_schema(
        operation_id="follow_events",
        summary="What happens to all jobs that the caller sees, as it happens",
        description="The answer is `text/event-stream`. Each `event` has in its data, as JSON, what"
        " an item of `list_events` has, and its position as its id. With `Last-Event-ID`, which"
        " browsers send by themselves, it goes on behind that one and nothing is missed or told"
        " twice; without, it begins with what happens from now on. `begin` comes first; it and"
        " `still-there`, which comes when nothing else did for a quarter of a minute or for `quiet`"
        " seconds, have as id"
        " behind which position to go on. `again` says to open the stream anew: it has lasted"
        " for ten minutes, or the caller sees other teams than before.",
        parameters=[
            FollowedFeedQuery,
            OpenApiParameter(
                LAST_EVENT_ID,
                str,
                OpenApiParameter.HEADER,
                description="The id of the last event that was read; more than `after`.",
            ),
        ],
        responses={(200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR)},
    )
    def get(self, request: Request) -> HttpResponseBase:
        principal, parameters = principal_of(request), query(request, FollowedFeedQuery)
        wanted = _wanted(principal, parameters)
        holder = grant_of(request, team_id=None).holder
        group = str(min(principal.seen_ids, default=0))
        stream = FollowedEvents(
            tail=tail,
            grants=grants_of(request, principal, job_id=wanted.job_id or ""),
            followed=followed_grants,
            wanted=wanted,
            group="admins" if principal.is_admin else f"team:{group}",
            after=_place(request, parameters.get("after", _NEWEST)),
            quiet_seconds=parameters.get("quiet"),
        )
        connections.close_all()  # the stream outlives this request's need for the database
        # The answer gives it back: nothing may fail in between.
        encoding = "gzip" if takes_gzip(request) else ""
        events = (gzipped if encoding else plain)(stream.events())
        # Who waits for a job can also ask again and again; who reads a log or a file cannot.
        slot = stream_slots.take(holder, team=group, is_spare="job" in parameters)
        return EventStream(events, slot, encoding=encoding)


def _wanted(principal: Principal, parameters: dict[str, Any]) -> FeedFilter:
    """Return what the caller sees of what it asks for; a foreign team is as one without jobs.

    Raises: PermissionDenied, for a limited token that names no job.
    """
    kinds, job_id = frozenset(parameters["kind"]) or None, parameters.get("job")
    if principal.bounds is not None:
        if job_id is None:
            raise closed_to(principal.bounds)
        if not visible_jobs.jobs_of(principal).filter(pk=job_id).exists():
            return FeedFilter(team_ids=frozenset())
    if name := parameters["team"]:
        team = principal.seen.get(name)
        teams = frozenset({team.pk} if team else ())
        return FeedFilter(team_ids=teams, kinds=kinds, job_id=job_id)
    seen = None if principal.is_admin else frozenset(principal.seen_ids)
    return FeedFilter(team_ids=seen, kinds=kinds, job_id=job_id)


def _place(request: Request, after: str) -> int | None:
    """Return behind which position to begin; None: the newest. Raises: ValidationError."""
    text = request.headers.get(LAST_EVENT_ID, "") or after
    if text == _NEWEST:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 18):  # noqa: PLR2004 - as above
        raise exceptions.ValidationError({LAST_EVENT_ID: [_NO_PLACE]})
    return int(text)
