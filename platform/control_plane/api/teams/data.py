"""How does a folder of data come in? As code does, in pieces; then it can be a source of data."""

from __future__ import annotations

from django.conf import settings
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from storage.data.uploaded.paths import UploadedPaths
from storage.data.uploaded.uploads import DataUpload
from tenancy.access.permissions import Permission
from tenancy.access.principal import principal_of

from control_plane.api import uploads
from control_plane.api.uploads import OctetParser, UploadSerializer


class TeamDataView(APIView):
    parser_classes = (OctetParser,)

    @extend_schema(
        operation_id="get_data_upload",
        summary="How far the upload of a folder of data is (leads and tokens of the team, admins)",
        description="The digest is the SHA-256 of its manifest, in hexadecimal.",
        responses=UploadSerializer,
    )
    def get(self, request: Request, name: str, digest: str) -> Response:
        return Response(uploads.state(_upload(request, name, digest)))

    @extend_schema(
        operation_id="upload_data",
        summary="Send the next piece of a folder of data (leads and tokens of the team, admins)",
        description="An upload is a line `concertina data 1 LENGTH`, LENGTH in eight digits, then"
        " the manifest of so many bytes, then the bytes of all files one after the other, in blocks"
        " of 4 MiB. The manifest has a line `f SIZE NAME` for each file, `x SIZE NAME` for each"
        " program, in the order of names, and a line `b SHA256` for each block. No piece goes"
        " beyond the end of the manifest or of a block. Each block is checked when it comes. What"
        " is complete can become a source of data: set_data_source with its digest; if none names"
        " it, it goes after a day.",
        parameters=uploads.HEADERS,
        request={uploads.OCTETS: OpenApiTypes.BINARY},
        responses={200: UploadSerializer, 201: UploadSerializer},
    )
    def put(self, request: Request, name: str, digest: str) -> Response:
        return uploads.receive(request, _upload(request, name, digest))


def _upload(request: Request, name: str, digest: str) -> DataUpload:
    """Return one of the caller's team; any other team looks as if it did not exist."""
    principal = principal_of(request)
    team = principal.seen.get(name)
    if team is None:
        raise exceptions.NotFound
    if not principal.may(Permission.SET_UP, name):
        raise exceptions.PermissionDenied(
            f"Only leads and tokens of team {name}, and admins, upload data for it."
        )
    return DataUpload(
        team=team,
        digest=digest,
        paths=UploadedPaths(state_dir=settings.CONCERTINA.state_dir),
        limits=settings.CONCERTINA.data_limits,
    )
