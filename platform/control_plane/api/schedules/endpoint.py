"""The endpoints of a team's schedules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from schedules import asking, changing, holders, reading
from schedules.holders import ScheduleHolder
from schedules.models import TeamSchedule
from tenancy.access.principal import principal_of

from control_plane.api.schedules.documents import (
    ScheduleBody,
    ScheduleChangeBody,
    ScheduleDetailSerializer,
    ScheduleListSerializer,
    ScheduleRunSerializer,
)
from jobs.api.collection import IDEMPOTENCY_KEY, KnowsPools, idempotency_key
from jobs.api.requests import ReasonBody, body, traceparent

_VERSION: Final = re.compile(r'"?[0-9]{1,9}"?')
_IF_MATCH: Final = OpenApiParameter(
    "If-Match",
    {"type": "string", "pattern": f"^{_VERSION.pattern}$"},
    OpenApiParameter.HEADER,
    required=True,
)
_SPEC_TYPES: Final = ("application/json", "application/yaml")


class SchedulesView(KnowsPools):
    @extend_schema(
        operation_id="list_schedules",
        summary="The schedules of a team, without their specs, each with its last run",
        description=f"By name; a team has at most {changing.MOST_OF_TEAM}.",
        responses=ScheduleListSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        items = reading.all_of(principal_of(request), name)
        return Response(ScheduleListSerializer({"items": items}).data)

    @extend_schema(
        operation_id="add_schedule",
        summary="Submit a job spec again and again",
        description="At each time that `cron` tells in `time_zone`. It submits in the name of"
        " whoever adds it, as long as they, and the token with which they did, may submit jobs in"
        " the team. The spec is checked now, as it is at each time. A team has at most"
        f" {changing.MOST_OF_TEAM}. Expressions are those of Debian's cron, with five fields.",
        request=dict.fromkeys(_SPEC_TYPES, ScheduleBody),
        responses={201: ScheduleDetailSerializer},
    )
    def post(self, request: Request, name: str) -> Response:
        holder = _holder(request)
        team = reading.team_of(holder.principal, name)
        holders.check_may_submit(holder.principal, team.name)
        made, notes = changing.add(
            holder, team, body(request, ScheduleBody), pools=self.pools(), now=timezone.now()
        )
        return _answer(holder, made, _notes(holder, made, notes), code=status.HTTP_201_CREATED)


class ScheduleView(KnowsPools):
    @extend_schema(
        operation_id="get_schedule",
        summary="Read a schedule with its spec and its last runs",
        responses=ScheduleDetailSerializer,
    )
    def get(self, request: Request, name: str, schedule: str) -> Response:
        holder = _holder(request)
        return _answer(holder, reading.find(holder.principal, name, schedule))

    @extend_schema(
        operation_id="change_schedule",
        summary="Change a schedule",
        description="What is left out stays, the next time, too, unless `cron` or `time_zone` is"
        " another. Whoever changes the spec answers for it from then on: it submits in their name."
        " `If-Match` is the `version` that was read; if somebody has changed it since, nothing is"
        " changed. It needs the right to submit, and of those that are not one's own the right to"
        " change all jobs.",
        parameters=[_IF_MATCH],
        request=dict.fromkeys(_SPEC_TYPES, ScheduleChangeBody),
        responses=ScheduleDetailSerializer,
    )
    def patch(self, request: Request, name: str, schedule: str) -> Response:
        holder = _holder(request)
        found = reading.find(holder.principal, name, schedule)
        holders.check_may_submit(holder.principal, name)
        holders.check_may_change(holder.principal, found)
        changed, notes = changing.change(
            holder,
            found,
            body(request, ScheduleChangeBody),
            version=_version(request),
            pools=self.pools(),
            now=timezone.now(),
        )
        return _answer(holder, changed, _notes(holder, changed, notes))

    @extend_schema(
        operation_id="delete_schedule",
        summary="Delete a schedule with its runs",
        description="The jobs that it submitted stay.",
        responses={204: None},
    )
    def delete(self, request: Request, name: str, schedule: str) -> Response:
        holder = _holder(request)
        changing.remove(holder, reading.find(holder.principal, name, schedule))
        return Response(status=status.HTTP_204_NO_CONTENT)


class PauseScheduleView(APIView):
    @extend_schema(
        operation_id="pause_schedule",
        summary="Submit nothing by a schedule until somebody resumes it",
        description="Its jobs go on.",
        request=ReasonBody,
        responses=ScheduleDetailSerializer,
    )
    def post(self, request: Request, name: str, schedule: str) -> Response:
        holder = _holder(request)
        found = reading.find(holder.principal, name, schedule)
        reason = body(request, ReasonBody)["reason"]
        return _answer(holder, changing.pause(holder, found, reason=reason))


class ResumeScheduleView(APIView):
    @extend_schema(
        operation_id="resume_schedule",
        summary="Go on with a schedule at the next time that is due",
        description="Whoever resumes it answers for it from then on: it submits in their name.",
        request=None,
        responses=ScheduleDetailSerializer,
    )
    def post(self, request: Request, name: str, schedule: str) -> Response:
        holder = _holder(request)
        found = reading.find(holder.principal, name, schedule)
        resumed = changing.resume(holder, found, now=timezone.now())
        return _answer(holder, resumed, _notes(holder, resumed))


class RunScheduleView(KnowsPools):
    @extend_schema(
        operation_id="run_schedule",
        summary="Submit a schedule's spec now",
        description="In the name of whoever asks, beside its times; a paused one, too. Its"
        " `overlap` counts. The same `Idempotency-Key` answers with the same run as long as that is"
        " kept.",
        parameters=[IDEMPOTENCY_KEY],
        request=None,
        responses={201: ScheduleRunSerializer, 200: ScheduleRunSerializer},
    )
    def post(self, request: Request, name: str, schedule: str) -> Response:
        holder = _holder(request)
        found = reading.find(holder.principal, name, schedule)
        run, is_new = asking.run_now(
            holder,
            found,
            key=idempotency_key(request) or "",
            pools=self.pools(),
            count_jobs=partial(self.count_jobs, request),
            now=timezone.now(),
            traceparent=traceparent(request),
        )
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(ScheduleRunSerializer(run).data, status=code)


def _holder(request: Request) -> ScheduleHolder:
    return holders.holder_of(request, principal_of(request))


def _notes(
    holder: ScheduleHolder, schedule: TeamSchedule, of_spec: Sequence[str] = ()
) -> Sequence[str]:
    return [*of_spec, *holders.notes_for(holder, schedule)]


def _version(request: Request) -> int:
    """Return the version that the caller has seen. Raises: ValidationError."""
    text = request.headers.get("If-Match", "")
    if not _VERSION.fullmatch(text):
        problem = "Send the schedule's `version` that you have read, a number."
        raise ValidationError({"If-Match": problem})
    return int(text.strip('"'))


def _answer(
    holder: ScheduleHolder,
    schedule: TeamSchedule,
    notes: Sequence[str] = (),
    code: int = status.HTTP_200_OK,
) -> Response:
    told: Any = schedule
    reading.shown(holder.principal, [schedule])
    told.runs_shown, told.notes = reading.runs_of(schedule), notes
    return Response(ScheduleDetailSerializer(told).data, status=code)
