"""What did a job hand over? Its files page by page, one file or a whole folder as a download."""

from __future__ import annotations

import base64
import binascii
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from storage.data.job_outputs import source_of
from storage.errors import ResultIsData
from storage.results import archives, listing, opening, unwanted
from storage.results.folders import LONGEST_PATH, ResultFolder, Results
from tenancy.access.principal import principal_of
from tenancy.audit import records

from control_plane.api.results import downloads
from control_plane.api.results.ranges import RANGES
from jobs.api.requests import query
from jobs.changes.demand_signal import announce_demand
from jobs.errors import BadCursor
from jobs.models import Job
from jobs.queries import visible_jobs


class PathQuery(serializers.Serializer[Any]):
    path = serializers.CharField(
        max_length=LONGEST_PATH,
        trim_whitespace=False,
        help_text="Of a file or folder, such as `plots/loss.png`.",
    )


class FolderQuery(serializers.Serializer[Any]):
    folder = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=LONGEST_PATH,
        trim_whitespace=False,
        help_text="Default: all outputs.",
    )


class OutputListQuery(FolderQuery):
    limit = serializers.IntegerField(required=False, default=100, min_value=1, max_value=1000)
    cursor = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)


class OutputSerializer(serializers.Serializer[Any]):
    path = serializers.CharField(help_text="Below the outputs.")
    is_folder = serializers.BooleanField()
    bytes = serializers.IntegerField(help_text="0 of a folder: what is in it is not counted here.")
    modified_at = serializers.DateTimeField()


class OutputListSerializer(serializers.Serializer[Any]):
    items = OutputSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)


class OutputsView(APIView):
    @extend_schema(
        operation_id="list_job_outputs",
        summary="What lies in a folder of a job's outputs",
        description="In the order of names, while the job runs as well. What is neither a file nor"
        " a folder is left out, links included.",
        parameters=[OutputListQuery],
        responses=OutputListSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        outputs = _outputs(visible_jobs.find_job(principal_of(request), job_id))
        parameters = query(request, OutputListQuery)
        hidden = unwanted.paths(outputs)
        unwanted.check(parameters["folder"], hidden)
        page = listing.page(
            outputs,
            parameters["folder"],
            after=_name_of(parameters["cursor"]),
            limit=parameters["limit"],
            without=hidden,
        )
        return Response(
            {
                "items": [_document(entry) for entry in page.entries],
                "next_cursor": page.next_cursor and _cursor(page.next_cursor),
            }
        )

    @extend_schema(
        operation_id="delete_job_output",
        summary="Delete a file or folder of a job's outputs",
        description="It is not shown any more; the control loop removes it within seconds.",
        parameters=[PathQuery],
        responses={204: None},
    )
    def delete(self, request: Request, job_id: str) -> Response:
        principal = principal_of(request)
        outputs = _outputs(visible_jobs.find_job_to_change(principal, job_id))
        if (source := source_of(job_id)) is not None:
            raise ResultIsData(source.name)
        path = query(request, PathQuery)["path"]
        unwanted.wish_away(outputs, path, by=principal.name)
        records.note_change(before={"path": path})
        announce_demand()
        return Response(status=status.HTTP_204_NO_CONTENT)


class OutputFileView(APIView):
    @extend_schema(
        operation_id="get_job_output",
        summary="A file of a job's outputs",
        description="As an attachment. A file that gets shorter while it is sent breaks the"
        " connection off.",
        parameters=[PathQuery, *RANGES],
        responses={
            (200, "application/octet-stream"): OpenApiTypes.BINARY,
            (206, "application/octet-stream"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request, job_id: str) -> HttpResponseBase:
        job = visible_jobs.find_job(principal_of(request), job_id)
        outputs, path = _outputs(job), query(request, PathQuery)["path"]
        unwanted.check(path, unwanted.paths(outputs))
        file = opening.file(outputs, path)
        return downloads.of_file(request, job.team_id, file, path.rpartition("/")[2])


class OutputArchiveView(APIView):
    @extend_schema(
        operation_id="get_job_output_archive",
        summary="A folder of a job's outputs as a tar archive",
        description="It is made while it is sent; files and folders alone are in it. A file that"
        " gets shorter meanwhile breaks the connection off.",
        parameters=[FolderQuery],
        responses={(200, "application/x-tar"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, job_id: str) -> HttpResponseBase:
        job = visible_jobs.find_job(principal_of(request), job_id)
        outputs, folder = _outputs(job), query(request, FolderQuery)["folder"]
        hidden = unwanted.paths(outputs)
        unwanted.check(folder, hidden)
        pieces = archives.pieces(outputs, folder, without=hidden)
        name = folder.rpartition("/")[2] or f"{job.name}-outputs"
        return downloads.of_archive(request, job.team_id, pieces, f"{name}.tar")


def _outputs(job: Job) -> Results:
    state_dir = settings.CONCERTINA.state_dir
    return Results(state_dir=state_dir, job_id=job.id, place=ResultFolder.OUTPUTS)


def _document(entry: listing.FolderEntry) -> dict[str, Any]:
    at = datetime.fromtimestamp(entry.modified_at, UTC)
    return {**asdict(entry), "modified_at": at.isoformat().replace("+00:00", "Z")}


def _cursor(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode()


def _name_of(cursor: str) -> str:
    try:
        return base64.b64decode(cursor.encode(), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise BadCursor from error
