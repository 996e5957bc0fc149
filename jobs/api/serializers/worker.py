"""Which processes does a job have, and how are they?"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from jobs.models import Worker


class WorkerSerializer(serializers.ModelSerializer[Worker]):
    node = serializers.CharField(source="named_node")
    gpu_indices = serializers.SerializerMethodField()

    class Meta:
        model = Worker
        fields = (
            "id",
            "phase",
            "node",
            "gpu_indices",
            "attempt",
            "created_at",
            "gone_at",
            "exit_code",
            "error",
            *Worker.MEASURED,
        )
        read_only_fields = fields

    def get_gpu_indices(self, worker: Worker) -> list[int]:
        return sorted(claim.gpu_index for claim in worker.claims.all())


class WorkerListSerializer(serializers.Serializer[Any]):
    items = WorkerSerializer(many=True)
