"""The endpoint of a job's dependencies: for whom it waits, and who waits for it."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import principal_of

from jobs.api.representation import represented
from jobs.api.serializers.vocabulary import state_field
from jobs.queries import visible_jobs
from jobs.queries.listing import dependencies
from jobs.wait_condition import WaitCondition


class DependencySerializer(serializers.Serializer[Any]):
    """One other job, and for which end of which of the two the other one waits."""

    job_id = serializers.CharField()
    name = serializers.CharField()
    when = serializers.ChoiceField(
        WaitCondition.choices(),
        source="condition",
        read_only=True,
        help_text="How the job that is waited for has to end.",
    )
    state = state_field(allow_blank=True, help_text="Empty: it was deleted.")
    ended_as = serializers.CharField(
        help_text="Of a deleted job: how it ended. Empty: it is there, or nobody knows."
    )


class JobDependenciesSerializer(serializers.Serializer[Any]):
    """The first of them, each way."""

    waits_for = DependencySerializer(many=True)
    awaited_by = DependencySerializer(many=True)
    awaited_by_total = serializers.IntegerField(help_text="How many wait for it in all.")


class DependenciesView(APIView):
    @extend_schema(
        operation_id="list_job_dependencies",
        summary="For which jobs a job waits, and which wait for it",
        description=f"Of each at most {dependencies.MOST_SHOWN}, the first that were named.",
        responses=JobDependenciesSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        job = visible_jobs.find_job(principal_of(request), job_id)
        return Response(represented(JobDependenciesSerializer, dependencies.of_job(job)))
