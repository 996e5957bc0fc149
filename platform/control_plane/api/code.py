"""How does code come in, and out again? Archives in pieces; a job's own as one file."""

from __future__ import annotations

import os

from django.conf import settings
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from storage.code.paths import CodePaths
from storage.code.uploads import CodeUpload
from storage.results.opening import OpenFile
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal, principal_of

from control_plane.api import uploads
from control_plane.api.results import downloads
from control_plane.api.results.ranges import RANGES
from control_plane.api.uploads import OctetParser, UploadSerializer
from jobs.models import Job
from jobs.queries import visible_jobs


class TeamCodeView(APIView):
    parser_classes = (OctetParser,)

    @extend_schema(
        operation_id="get_code_upload",
        summary="How far the upload of a snapshot of code is",
        description="The digest is the SHA-256 of the tar archive before it is compressed, in"
        " hexadecimal.",
        responses=UploadSerializer,
    )
    def get(self, request: Request, name: str, digest: str) -> Response:
        return Response(uploads.state(_upload(principal_of(request), name, digest)))

    @extend_schema(
        operation_id="upload_code",
        summary="Send the next piece of a snapshot of code",
        description="The archive is a tar compressed by gzip. Pieces come in order; the first one"
        " begins at byte 0. Where a piece is not the next one, the answer is 409 with the code"
        " `wrong_offset`; get_code_upload tells where to go on. With the last piece the snapshot is"
        " checked and unpacked: it is there whole, or nothing is left of it.",
        parameters=uploads.HEADERS,
        request={uploads.OCTETS: OpenApiTypes.BINARY},
        responses={200: UploadSerializer, 201: UploadSerializer},
    )
    def put(self, request: Request, name: str, digest: str) -> Response:
        return uploads.receive(request, _upload(principal_of(request), name, digest))


class JobCodeView(APIView):
    @extend_schema(
        operation_id="get_job_code",
        summary="The code that a job was submitted with",
        description="As a tar archive, compressed by gzip.",
        parameters=RANGES,
        responses={
            (200, "application/gzip"): OpenApiTypes.BINARY,
            (206, "application/gzip"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request, job_id: str) -> HttpResponseBase:
        job = visible_jobs.find_job(principal_of(request), job_id)
        archive = _archive_of(job)
        return downloads.of_file(
            request, job.team_id, archive, f"{job.name}-{job.code[:12]}.tar.gz"
        )


def _archive_of(job: Job) -> OpenFile:
    """Raises: NotFound."""
    missing = exceptions.NotFound("This job has no snapshot of code.")
    if not job.code:
        raise missing
    try:
        archive = _places().archive(job.team_id, job.code)
        descriptor = os.open(archive, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError as problem:
        raise missing from problem
    found = os.fstat(descriptor)
    return OpenFile(
        descriptor=descriptor,
        size=found.st_size,
        modified_at=found.st_mtime,
        etag=f'"{job.code}"',
    )


def _upload(principal: Principal, name: str, digest: str) -> CodeUpload:
    """Return one of the caller's team; any other team looks as if it did not exist."""
    team = principal.seen.get(name)
    if team is None:
        raise exceptions.NotFound
    if not principal.may(Permission.SUBMIT, name):
        raise exceptions.PermissionDenied(f"You see the jobs of team {name}, and submit none.")
    limits = settings.CONCERTINA.code_limits
    return CodeUpload(team=team, digest=digest, paths=_places(), limits=limits)


def _places() -> CodePaths:
    return CodePaths(state_dir=settings.CONCERTINA.state_dir)
