"""How busy is each GPU that is in use? As workers told last; of jobs that the caller may see."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import Principal, principal_of

from control_plane.web.repeated.shared_reads import SHARED
from jobs.models import GpuClaim


class GpuUseSerializer(serializers.Serializer[Any]):
    """A worker of several GPUs tells one number for all of them."""

    node = serializers.CharField()
    gpu_index = serializers.IntegerField()
    worker = serializers.CharField(help_text="Who told these numbers.")
    utilisation = serializers.FloatField(allow_null=True, help_text="0 to 1; null: not told.")
    memory_bytes = serializers.IntegerField(allow_null=True, help_text="In use; null: not told.")
    memory_total_bytes = serializers.IntegerField(allow_null=True)
    is_slow = serializers.BooleanField(help_text="Its worker is slower than its peers.")


class GpuUseListSerializer(serializers.Serializer[Any]):
    items = GpuUseSerializer(many=True)


class GpuUseView(APIView):
    @extend_schema(
        operation_id="list_gpu_use",
        summary="How busy the GPUs of jobs are that you may see",
        responses=GpuUseListSerializer,
    )
    def get(self, request: Request) -> Response:
        principal = principal_of(request)
        answer = SHARED.read("gpu-use", by=principal, read=lambda: _read(principal))
        return Response(answer)


def _read(principal: Principal) -> dict[str, Any]:
    claims = GpuClaim.objects.order_by("node__name", "gpu_index")
    if not principal.is_admin:
        claims = claims.filter(worker__job__team__in=principal.seen_ids)
    rows = claims.values_list(
        "node__name", "gpu_index", "worker_id", "worker__gpu_utilisation",
        "worker__gpu_memory_bytes", "worker__gpu_memory_total_bytes", "worker__is_straggler",
    )  # fmt: skip
    names = list(GpuUseSerializer().fields)
    # As it stands: a serializer would take most of the time, of seven values for each GPU.
    return {"items": [dict(zip(names, row, strict=True)) for row in rows]}
