"""How does code come in, and out again? Archives in pieces; a job's own as one file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import IO, Any, Final

from django.conf import settings
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from storage.code.bounds import LARGEST_PIECE
from storage.code.places import CodePlaces
from storage.code.uploads import Piece, Upload
from storage.results.opening import OpenFile
from tenancy.access.principal import Principal, principal_of

from control_plane.api.results import downloads
from control_plane.api.results.ranges import RANGES
from control_plane.web.body_parsers import BodyTooLarge
from jobs.models import Job
from jobs.queries import visible_jobs

_WHOLE: Final = re.compile(r"[0-9]{1,12}")
_OCTETS: Final = "application/octet-stream"


class UploadSerializer(serializers.Serializer[Any]):
    """How far an upload is."""

    is_complete = serializers.BooleanField(help_text="True: jobs can be submitted with it.")
    received = serializers.IntegerField(help_text="Bytes of the archive that are here already.")
    largest_piece = serializers.IntegerField(help_text="Bytes of one request, at most.")
    most_bytes = serializers.IntegerField(help_text="Of all files of a snapshot together.")
    most_files = serializers.IntegerField()


class OctetParser(BaseParser):
    """A body as it is."""

    media_type = _OCTETS

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002 - the only one
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> Any:
        content: bytes = stream.read(LARGEST_PIECE + 1)
        if len(content) > LARGEST_PIECE:
            raise BodyTooLarge(LARGEST_PIECE)
        return content


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
        return Response(_state(_upload(principal_of(request), name, digest)))

    @extend_schema(
        operation_id="upload_code",
        summary="Send the next piece of a snapshot of code",
        description="The archive is a tar compressed by gzip. Pieces come in order; the first one"
        " begins at byte 0. Where a piece is not the next one, the answer is 409 with the code"
        " `wrong_offset`; get_code_upload tells where to go on. With the last piece the snapshot is"
        " checked and unpacked: it is there whole, or nothing is left of it.",
        parameters=[
            OpenApiParameter(
                header, OpenApiTypes.INT, OpenApiParameter.HEADER, required=True, description=said
            )
            for header, said in (
                ("Upload-Offset", "The piece's first byte in the archive, from 0."),
                ("Upload-Length", "Bytes of the whole archive."),
            )
        ],
        request={_OCTETS: OpenApiTypes.BINARY},
        responses={200: UploadSerializer, 201: UploadSerializer},
    )
    def put(self, request: Request, name: str, digest: str) -> Response:
        principal = principal_of(request)
        upload = _upload(principal, name, digest)
        piece = Piece(
            content=request.data if isinstance(request.data, bytes) else b"",
            offset=_whole(request, "Upload-Offset"),
            total=_whole(request, "Upload-Length"),
        )
        snapshot = upload.receive(piece, actor=principal.name)
        code = status.HTTP_200_OK if snapshot is None else status.HTTP_201_CREATED
        return Response(_state(upload), status=code)


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


def _state(upload: Upload) -> dict[str, Any]:
    is_complete, bounds = upload.snapshot is not None, upload.limits.snapshot
    return {
        "is_complete": is_complete,
        "received": 0 if is_complete else upload.received,
        "largest_piece": LARGEST_PIECE,
        "most_bytes": bounds.most_bytes,
        "most_files": bounds.most_files,
    }


def _upload(principal: Principal, name: str, digest: str) -> Upload:
    """Return one of the caller's team; any other team looks as if it did not exist."""
    team = principal.teams.get(name)
    if team is None:
        raise exceptions.NotFound
    limits = settings.CONCERTINA.code_limits
    return Upload(team=team, digest=digest, places=_places(), limits=limits)


def _places() -> CodePlaces:
    return CodePlaces(state_dir=settings.CONCERTINA.state_dir)


def _whole(request: Request, header: str) -> int:
    text = request.headers.get(header, "")
    if not _WHOLE.fullmatch(text):
        raise exceptions.ValidationError({header: "Send a number of bytes."})
    return int(text)
