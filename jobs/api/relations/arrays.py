"""The endpoints of arrays: list them, and cancel, pause or resume all jobs of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import Principal, principal_of

from jobs.api import requests
from jobs.commands import control
from jobs.errors import SweepSteersTrials
from jobs.models import JobArray
from jobs.queries.listing import arrays


class ArrayQuery(serializers.Serializer[Any]):
    team = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=200, help_text="Only this team's."
    )
    name = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=200, help_text="Only of this name."
    )
    limit = serializers.IntegerField(
        required=False, default=50, min_value=1, max_value=arrays.MOST_ON_A_PAGE
    )
    cursor = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)


class JobArraySerializer(serializers.Serializer[Any]):
    """Jobs that were submitted as one spec with an `array`, and how they stand."""

    id = serializers.CharField(source="array.id")
    name = serializers.CharField(source="array.name")
    team = serializers.CharField(source="array.team.name")
    parameters = serializers.ListField(child=serializers.CharField(), source="array.parameters")
    trials = serializers.IntegerField(
        source="array.trials", help_text="How many jobs were submitted."
    )
    max_running = serializers.IntegerField(
        source="array.max_running", allow_null=True, help_text="Null: all at once."
    )
    submitted_by = serializers.CharField(source="array.submitted_by")
    submitted_at = serializers.DateTimeField(source="array.submitted_at")
    states = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="How many of its jobs are in each state; deleted ones are in none.",
    )
    may_change = serializers.BooleanField(help_text="True if the caller may steer its jobs.")


class JobArrayPageSerializer(serializers.Serializer[Any]):
    items = JobArraySerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)


class SteeredArraySerializer(JobArraySerializer):
    """An array whose jobs were told something."""

    jobs = serializers.ListField(
        child=serializers.CharField(), help_text="The ids of those to which it made a difference."
    )


class ArraysView(APIView):
    @extend_schema(
        operation_id="list_arrays",
        summary="List arrays of jobs, the newest first",
        parameters=[ArrayQuery],
        responses=JobArrayPageSerializer,
    )
    def get(self, request: Request) -> Response:
        page = arrays.page_of(principal_of(request), **requests.query(request, ArrayQuery))
        return Response(JobArrayPageSerializer(page).data)


class ArrayView(APIView):
    @extend_schema(
        operation_id="get_array",
        summary="Read how the jobs of an array stand",
        description="The jobs themselves: `list_jobs` with `array`.",
        responses=JobArraySerializer,
    )
    def get(self, request: Request, array_id: str) -> Response:
        principal = principal_of(request)
        array = arrays.find_array(principal, array_id)
        (standing,) = arrays.standing_of(principal, [array])
        return Response(JobArraySerializer(standing).data)


class _ArraySteeringView(APIView):
    command: Callable[..., Sequence[str]]

    def steer(self, principal: Principal, array: JobArray, reason: str) -> Sequence[str]:
        live = arrays.live_jobs_to_change(principal, array)
        if array.is_swept:
            raise SweepSteersTrials
        return type(self).command(job_ids=live, actor=principal.name, reason=reason)

    def post(self, request: Request, array_id: str) -> Response:
        principal = principal_of(request)
        array = arrays.find_array(principal, array_id)
        reason = requests.body(request, requests.ReasonBody)["reason"]
        jobs = self.steer(principal, array, reason)
        (standing,) = arrays.standing_of(principal, [array])
        answer = {**JobArraySerializer(standing).data, "jobs": jobs}
        return Response(answer, status=status.HTTP_202_ACCEPTED)


def _steers(operation_id: str, summary: str) -> Callable[..., Any]:
    return extend_schema_view(
        post=extend_schema(
            operation_id=operation_id,
            summary=summary,
            description="Those to which it makes no difference stay as they are. If some of its"
            " live jobs are not the caller's to change, nothing is done.",
            request=requests.ReasonBody,
            responses={202: SteeredArraySerializer},
        )
    )


@_steers("cancel_array", "Stop all jobs of an array for good")
class CancelArrayView(_ArraySteeringView):
    def steer(self, principal: Principal, array: JobArray, reason: str) -> Sequence[str]:
        return control.cancel_trials(principal, array, reason=reason)


@_steers("pause_array", "Have all jobs of an array give back their GPUs after a checkpoint")
class PauseArrayView(_ArraySteeringView):
    command = staticmethod(control.pause_all)


@_steers("resume_array", "Queue all paused jobs of an array again")
class ResumeArrayView(_ArraySteeringView):
    command = staticmethod(control.resume_all)
