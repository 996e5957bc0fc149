"""GET /jobs/{id}/checkpoints: what a job, or another, goes on from; and its weights, for everybody.

A checkpoint is named by its step, or as `latest` or `best`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from storage.results import checkpoints, unwanted
from storage.results.checkpoints import WholeCheckpoint
from storage.results.folders import Results
from tenancy.access.principal import principal_of
from tenancy.audit import records

from control_plane.api.results import downloads
from control_plane.api.results.ranges import RANGES
from jobs.admission import start_sources
from jobs.api.requests import query
from jobs.changes.demand_signal import announce_demand
from jobs.models import Job
from jobs.queries import kept_checkpoints, visible_jobs

_OCTETS = {
    (200, "application/octet-stream"): OpenApiTypes.BINARY,
    (206, "application/octet-stream"): OpenApiTypes.BINARY,
}


class CheckpointListQuery(serializers.Serializer[Any]):
    limit = serializers.IntegerField(required=False, default=100, min_value=1, max_value=1000)
    cursor = serializers.CharField(required=False, default="", allow_blank=True, max_length=100)


class LoggedValueSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    value = serializers.FloatField()
    step = serializers.IntegerField(help_text="After which it was logged.")


class KeptCheckpointSerializer(serializers.Serializer[Any]):
    """What an earlier release wrote tells nothing of itself: there the rest is null or empty."""

    step = serializers.IntegerField()
    epoch = serializers.FloatField(
        allow_null=True, help_text="1.5: half way through the second one."
    )
    samples = serializers.IntegerField(allow_null=True, help_text="Used since the job began.")
    written_at = serializers.DateTimeField()
    bytes = serializers.IntegerField(help_text="Of all of it.")
    weights_bytes = serializers.IntegerField(allow_null=True)
    digest = serializers.CharField(
        allow_null=True, help_text="SHA-256 of the file of weights, in hexadecimal."
    )
    metrics = LoggedValueSerializer(many=True, help_text="The newest of each name.")


class KeptCheckpointsSerializer(serializers.Serializer[Any]):
    items = KeptCheckpointSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)


class CheckpointsView(APIView):
    @extend_schema(
        operation_id="list_job_checkpoints",
        summary="A job's checkpoints",
        description="Newest first, as they describe themselves. Those that the job has written by"
        " other means than the library are not among them.",
        parameters=[CheckpointListQuery],
        responses=KeptCheckpointsSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        results = start_sources.checkpoints_of(visible_jobs.find_job(principal_of(request), job_id))
        parameters = query(request, CheckpointListQuery)
        page = checkpoints.page(
            results,
            after=parameters["cursor"],
            limit=parameters["limit"],
            without=unwanted.paths(results),
        )
        items = [document_of(one) for one in page.checkpoints]
        return Response({"items": items, "next_cursor": page.next_cursor})


class CheckpointView(APIView):
    @extend_schema(
        operation_id="get_job_checkpoint",
        summary="One checkpoint",
        description="`latest` is the one with which the job would go on; `best` the one of which"
        " the best value of `checkpoint.keep_best` was measured.",
        responses=KeptCheckpointSerializer,
    )
    def get(self, request: Request, job_id: str, step: str) -> Response:
        return Response(document_of(_found(request, job_id, step)[2]))

    @extend_schema(
        operation_id="delete_job_checkpoint",
        summary="Delete a checkpoint",
        description="Not the newest of a live job, which would go on from it.",
        responses={204: None},
    )
    def delete(self, request: Request, job_id: str, step: str) -> Response:
        job = visible_jobs.find_job_to_change(principal_of(request), job_id)
        results, found = _found_of(job, step)
        kept_checkpoints.check_unneeded(job, results, found)
        records.note_change(before={"step": found.step})
        by = principal_of(request).name
        for name in checkpoints.names_with_moments(results, found):
            unwanted.wish_away(results, name, by=by)
        announce_demand()
        return Response(status=status.HTTP_204_NO_CONTENT)


class WeightsView(APIView):
    @extend_schema(
        operation_id="get_job_weights",
        summary="The weights of a checkpoint, as safetensors",
        description="The tensors of the model's `state_dict()`, by names without wrappers such as"
        " `module.`; what is no plain tensor is left out.",
        parameters=RANGES,
        responses=_OCTETS,
    )
    def get(self, request: Request, job_id: str, step: str) -> HttpResponseBase:
        job, results, found = _found(request, job_id, step)
        file = checkpoints.open_weights(results, found)
        name = f"{job.name}-step-{found.step}.safetensors"
        return downloads.of_file(request, job.team_id, file, name)


class TrainingStateView(APIView):
    @extend_schema(
        operation_id="get_job_training_state",
        summary="The rest of a checkpoint",
        description="What PyTorch wrote: optimizer, position in the data, random numbers. It is"
        " pickled: load it only if you trust the job.",
        parameters=RANGES,
        responses=_OCTETS,
    )
    def get(self, request: Request, job_id: str, step: str) -> HttpResponseBase:
        job, results, found = _found(request, job_id, step)
        file = checkpoints.open_state(results, found)
        return downloads.of_file(request, job.team_id, file, f"{job.name}-step-{found.step}.pt")


def document_of(found: WholeCheckpoint) -> dict[str, Any]:
    about = found.about
    at = datetime.fromtimestamp(found.written_at, UTC)
    return {
        "step": found.step,
        "epoch": about and about.epoch,
        "samples": about and about.samples,
        "written_at": at.isoformat().replace("+00:00", "Z"),
        "bytes": found.bytes,
        "weights_bytes": about and about.weights_bytes,
        "digest": about and about.weights_digest,
        "metrics": [
            {"name": one.name, "value": one.value, "step": one.step}
            for one in (about.values if about else ())
        ],
    }


def _found(request: Request, job_id: str, step: str) -> tuple[Job, Results, WholeCheckpoint]:
    job = visible_jobs.find_job(principal_of(request), job_id)
    return job, *_found_of(job, step)


def _found_of(job: Job, step: str) -> tuple[Results, WholeCheckpoint]:
    return start_sources.checkpoints_of(job), start_sources.checkpoint_of(job, step)
