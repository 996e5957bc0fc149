"""What of a job goes when, because it is old?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import principal_of
from tenancy.models.retention_rule import KeptPart

from jobs.commands.removal import due_parts
from jobs.queries import visible_jobs

PARTS: Final = [(part, part) for part in (*KeptPart, "history", "job")]


class RemovalSerializer(serializers.Serializer[Any]):
    part = serializers.ChoiceField(choices=PARTS, help_text="`job`: all that is left of it.")
    due_at = serializers.DateTimeField(
        allow_null=True, help_text="Null: never, as things are, or the job has not ended."
    )
    removed_at = serializers.DateTimeField(allow_null=True, help_text="Null: it is there.")


class JobRemovalsSerializer(serializers.Serializer[Any]):
    is_pinned = serializers.BooleanField(help_text="Nothing of it is removed for its age.")
    items = RemovalSerializer(many=True)


class JobRemovalsView(APIView):
    @extend_schema(
        operation_id="list_job_removals",
        summary="What of a job goes when, because it is old",
        description="By the numbers of its team and of the installation, as they are now. To pin"
        " the job keeps all of it.",
        responses=JobRemovalsSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        job = visible_jobs.find_job(principal_of(request), job_id)
        kept = settings.CONCERTINA.retention.jobs
        items = [asdict(one) for one in due_parts.removals_of(job, kept)]
        answer = {"is_pinned": job.is_pinned, "items": items}
        return Response(JobRemovalsSerializer(answer).data)
