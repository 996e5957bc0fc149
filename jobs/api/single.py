"""The endpoints of one job: read it, change it, steer it, and read its histories."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import principal_of

from jobs.api import requests, serializers
from jobs.api.collection import (
    IDEMPOTENCY_KEY,
    KnowsPools,
    idempotency_key,
    teams_to_submit_for,
)
from jobs.api.representation import represented
from jobs.api.spec_schema import JOB_CHANGES_BODY, JOB_SPEC_PART_BODY
from jobs.commands import control, editing, pinning
from jobs.commands.removal import job_deletion
from jobs.models import Job
from jobs.queries import histories, visible_jobs
from jobs.queries.curves import points, usage
from jobs.queries.listing import dependencies
from jobs.spec.changes import CHANGEABLE

_VERSION: Final = re.compile(r'"?[0-9]{1,9}"?')


class JobView(KnowsPools):
    @extend_schema(
        operation_id="get_job",
        summary="Read one job",
        responses=serializers.JobDetailSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        return _answer(request, job_id)

    @extend_schema(
        operation_id="change_job",
        summary="Change what a live job asks for",
        description="The body is a part of a job spec in JSON or YAML: what it names is replaced,"
        " what it leaves out stays, and null brings back the default. It counts from the next tick"
        " on. With `If-Match`, the job's `version`, it is refused if somebody has changed the job"
        f" meanwhile. Changeable are {', '.join(f'`{field}`' for field in CHANGEABLE)}.",
        parameters=[
            OpenApiParameter(
                "If-Match",
                {"type": "string", "pattern": f"^{_VERSION.pattern}$"},
                OpenApiParameter.HEADER,
                required=False,
            )
        ],
        request=JOB_CHANGES_BODY,
        responses=serializers.SubmittedJobSerializer,
    )
    def patch(self, request: Request, job_id: str) -> Response:
        principal = principal_of(request)
        visible_jobs.find_job_to_change(principal, job_id)
        notes = editing.edit(
            job_id=job_id,
            changes=request.data,
            pools=self.pools(),
            actor=principal.name,
            version=_version(request),
            bounds=principal.bounds,
        )
        return _answer_with_notes(request, job_id, notes)

    @extend_schema(
        operation_id="delete_job",
        summary="Forget a job that has ended",
        description="With its history, curves, logs and checkpoints; there is no way back. The GPU"
        " time that it used stays in the sums. A job that lives has to be cancelled first, a pinned"
        " one unpinned.",
        responses={204: None},
    )
    def delete(self, request: Request, job_id: str) -> Response:
        visible_jobs.find_job_to_change(principal_of(request), job_id)
        job_deletion.delete(job_id=job_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RerunView(KnowsPools):
    @extend_schema(
        operation_id="rerun_job",
        summary="Submit a job's spec once more",
        description="As it was in the end, with the changes in the body, a part of a job spec in"
        " JSON or YAML, of any of its fields. The first job stays as it is. The same"
        " `Idempotency-Key` with the same changes answers with the same job for 24 hours.",
        parameters=[IDEMPOTENCY_KEY],
        request=JOB_SPEC_PART_BODY,
        responses={
            201: serializers.SubmittedJobSerializer,
            200: serializers.SubmittedJobSerializer,
        },
    )
    def post(self, request: Request, job_id: str) -> Response:
        principal = principal_of(request)
        made = editing.rerun(
            job=visible_jobs.find_job(principal, job_id),
            changes=request.data,
            teams=teams_to_submit_for(principal),
            pools=self.pools(),
            by=principal,
            idempotency_key=idempotency_key(request),
            bounds=principal.bounds,
            traceparent=requests.traceparent(request),
        )
        code = status.HTTP_201_CREATED if made.is_new else status.HTTP_200_OK
        return _answer_with_notes(request, made.made[0][0], made.notes, code=code)


def _pins(operation_id: str, summary: str) -> Callable[..., Any]:
    return extend_schema_view(
        post=extend_schema(
            operation_id=operation_id,
            summary=summary,
            description="Of a pinned job that ended nothing is removed because it is old: neither"
            " logs, checkpoints and curves nor the job itself. A team may have"
            f" {pinning.MOST_PINNED} of them.",
            request=None,
            responses=serializers.JobDetailSerializer,
        )
    )


class _PinningView(APIView):
    command: Callable[..., None]

    def post(self, request: Request, job_id: str) -> Response:
        visible_jobs.find_job_to_change(principal_of(request), job_id)
        type(self).command(job_id=job_id)
        return _answer(request, job_id)


@_pins("pin_job", "Keep all of a job, whatever its age")
class PinView(_PinningView):
    command = staticmethod(pinning.pin)


@_pins("unpin_job", "Let a job go when its time has come")
class UnpinView(_PinningView):
    command = staticmethod(pinning.unpin)


class _SteeringView(APIView):
    """Carries out one command on a job of the caller's teams."""

    command: Callable[..., Job]

    def post(self, request: Request, job_id: str) -> Response:
        principal = principal_of(request)
        visible_jobs.find_job_to_change(principal, job_id)
        reason = requests.body(request, requests.ReasonBody)["reason"]
        type(self).command(job_id=job_id, actor=principal.name, reason=reason)
        return _answer(request, job_id, code=status.HTTP_202_ACCEPTED)


def _steers(operation_id: str, summary: str) -> Callable[..., Any]:
    return extend_schema_view(
        post=extend_schema(
            operation_id=operation_id,
            summary=summary,
            description="A job that holds GPUs first becomes `stopping`, until they are free.",
            request=requests.ReasonBody,
            responses={202: serializers.JobDetailSerializer},
        )
    )


class CancelView(APIView):
    @extend_schema(
        operation_id="cancel_job",
        summary="Stop a job for good",
        description="A job that holds GPUs first becomes `stopping`, until they are free. With"
        " `tree` all is cancelled that waits for it, or nothing if some of it is not the caller's"
        " to change.",
        parameters=[requests.CancelQuery],
        request=requests.ReasonBody,
        responses={202: serializers.JobDetailSerializer},
    )
    def post(self, request: Request, job_id: str) -> Response:
        principal = principal_of(request)
        job = visible_jobs.find_job_to_change(principal, job_id)
        reason = requests.body(request, requests.ReasonBody)["reason"]
        others: Sequence[Job] = ()
        if requests.query(request, requests.CancelQuery)["tree"]:
            others = dependencies.all_that_wait_for(job.id)
            visible_jobs.check_all_may_be_changed(principal, others)
        control.cancel(
            job_id=job.id, actor=principal.name, reason=reason, others=[one.id for one in others]
        )
        return _answer(request, job_id, code=status.HTTP_202_ACCEPTED)


@_steers("pause_job", "Give back a job's GPUs after a checkpoint")
class PauseView(_SteeringView):
    command = staticmethod(control.pause)


@_steers("resume_job", "Queue a paused job again")
class ResumeView(_SteeringView):
    command = staticmethod(control.resume)


class EventsView(APIView):
    @extend_schema(
        operation_id="list_job_events",
        summary="What happened to a job, oldest first",
        parameters=[requests.EventQuery],
        responses=serializers.EventListSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        job = visible_jobs.find_job(principal_of(request), job_id)
        after = requests.query(request, requests.EventQuery)["after"]
        items = histories.events_after(job, after)
        return Response(serializers.EventListSerializer({"items": items}).data)


class GenerationsView(APIView):
    @extend_schema(
        operation_id="list_job_generations",
        summary="With which workers and batch a job trained, and why, oldest first",
        responses=serializers.GenerationListSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        principal = principal_of(request)
        job = visible_jobs.find_job(principal, job_id)
        items = histories.generations_of(job, for_admin=principal.is_admin)
        return Response(serializers.GenerationListSerializer({"items": items}).data)


class WorkersView(APIView):
    @extend_schema(
        operation_id="list_job_workers",
        summary="The processes of a job, oldest first",
        responses=serializers.WorkerListSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        items = histories.workers_of(visible_jobs.find_job(principal_of(request), job_id))
        return Response(serializers.WorkerListSerializer({"items": items}).data)


class MetricsView(APIView):
    @extend_schema(
        operation_id="list_job_metrics",
        summary="A job's progress over time, thinned evenly",
        description="All of it, or what is between two moments. Points are kept as they came for an"
        " hour; older ones are means over 10 s for a day, over a minute for a week, then over"
        " ten minutes (in the job's first hour: a minute).",
        parameters=[requests.MetricQuery],
        responses=serializers.MetricListSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        job = visible_jobs.find_job(principal_of(request), job_id)
        items = points.curve_of(job, **requests.query(request, requests.MetricQuery))
        return Response(serializers.MetricListSerializer({"items": items}).data)


class UsageView(APIView):
    @extend_schema(
        operation_id="list_job_usage",
        summary="What a job's workers take of processors, memory and GPUs over time",
        description="Read on the nodes every ten seconds, whatever runs in the workers, of all"
        " workers together or of one. Points are kept as they came for an hour; older ones are"
        " means over a minute for a day, then over ten minutes.",
        parameters=[requests.UsageQuery],
        responses=serializers.UsageSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        job = visible_jobs.find_job(principal_of(request), job_id)
        items = usage.usage_of(job, **requests.query(request, requests.UsageQuery))
        answer = {"idle_since": job.idle_since, "items": items}
        return Response(serializers.UsageSerializer(answer).data)


def _version(request: Request) -> int | None:
    """Return the version that the caller has seen. Raises: ValidationError."""
    text = request.headers.get("If-Match")
    if text is None:
        return None
    if not _VERSION.fullmatch(text):
        problem = "Send the job's `version`, a number, or leave it out."
        raise ValidationError({"If-Match": problem})
    return int(text.strip('"'))


def _answer_with_notes(
    request: Request, job_id: str, notes: Sequence[str], code: int = status.HTTP_200_OK
) -> Response:
    job: Any = visible_jobs.find_job_with_numbers(principal_of(request), job_id)
    job.notes = notes
    return Response(represented(serializers.SubmittedJobSerializer, job), status=code)


def _answer(request: Request, job_id: str, code: int = status.HTTP_200_OK) -> Response:
    job = visible_jobs.find_job_with_numbers(principal_of(request), job_id)
    return Response(represented(serializers.JobDetailSerializer, job), status=code)
