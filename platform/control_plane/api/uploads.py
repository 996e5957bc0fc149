"""How do code and data come in? In the same way: how far is it, and here is the next piece."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import IO, Any, Final

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import exceptions, serializers, status
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from storage.uploads.pieces import LARGEST_PIECE, Piece, PiecewiseUpload
from tenancy.access.principal import principal_of

from control_plane.web.body_parsers import BodyTooLarge

OCTETS: Final = "application/octet-stream"
HEADERS: Final = [
    OpenApiParameter(
        header, OpenApiTypes.INT, OpenApiParameter.HEADER, required=True, description=said
    )
    for header, said in (
        ("Upload-Offset", "The piece's first byte in the upload, from 0."),
        ("Upload-Length", "Bytes of the whole upload."),
    )
]
_WHOLE: Final = re.compile(r"[0-9]{1,12}")


class UploadSerializer(serializers.Serializer[Any]):
    """How far an upload is."""

    is_complete = serializers.BooleanField(help_text="True: jobs can be submitted with it.")
    received = serializers.IntegerField(help_text="Bytes of it that are here already.")
    largest_piece = serializers.IntegerField(help_text="Bytes of one request, at most.")
    most_bytes = serializers.IntegerField(help_text="Of all files together.")
    most_files = serializers.IntegerField()


class OctetParser(BaseParser):
    """A body as it is."""

    media_type = OCTETS

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


def state(upload: PiecewiseUpload[Any]) -> dict[str, Any]:
    is_complete = upload.snapshot is not None
    return {
        "is_complete": is_complete,
        "received": 0 if is_complete else upload.received,
        "largest_piece": LARGEST_PIECE,
        "most_bytes": upload.most_bytes,
        "most_files": upload.most_files,
    }


def receive(request: Request, upload: PiecewiseUpload[Any]) -> Response:
    """Take the piece that a request brings."""
    piece = Piece(
        content=request.data if isinstance(request.data, bytes) else b"",
        offset=_whole(request, "Upload-Offset"),
        total=_whole(request, "Upload-Length"),
    )
    row = upload.receive(piece, actor=principal_of(request).name)
    code = status.HTTP_200_OK if row is None else status.HTTP_201_CREATED
    return Response(state(upload), status=code)


def _whole(request: Request, header: str) -> int:
    text = request.headers.get(header, "")
    if not _WHOLE.fullmatch(text):
        raise exceptions.ValidationError({header: "Send a number of bytes."})
    return int(text)
