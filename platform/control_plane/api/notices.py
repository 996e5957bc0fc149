"""What should everybody who signs in know about this installation?"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from control_plane.queries import notices


class NoticeListSerializer(serializers.Serializer[Any]):
    items = serializers.ListField(child=serializers.CharField(), help_text="Sentences for people.")


class NoticesView(APIView):
    @extend_schema(
        operation_id="list_notices",
        summary="What whoever signs in should know of this installation",
        responses=NoticeListSerializer,
    )
    def get(self, request: Request) -> Response:  # noqa: ARG002 - DRF's signature
        return Response({"items": notices.current()})
