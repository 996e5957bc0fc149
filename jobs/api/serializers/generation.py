"""What did a job train with, and was it worth it?"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from jobs.decided import explanation_of
from jobs.models import Generation


class GenerationSerializer(serializers.ModelSerializer[Generation]):
    worker_ids = serializers.ListField(child=serializers.CharField())
    lost_worker_ids = serializers.ListField(child=serializers.CharField())
    idle_seconds = serializers.FloatField(
        help_text="Nothing trained before it: paused, waiting, or starting again after a loss."
    )
    predicted_gain = serializers.SerializerMethodField(help_text="Of the rescale; 0.31: 31 %.")
    predicted_stall_seconds = serializers.SerializerMethodField()
    measured_gain = serializers.FloatField(
        allow_null=True, help_text="Over the generation before; null: not measured yet."
    )
    decision = serializers.SerializerMethodField(help_text="The planner's numbers.")

    class Meta:
        model = Generation
        fields = (
            "number",
            "attempt",
            "revision",
            "workers",
            "worker_ids",
            "global_batch_size",
            "reason",
            "message",
            "began_at",
            "ended_at",
            "step",
            "stall_seconds",
            "idle_seconds",
            "transfer_seconds",
            "lost_steps",
            "lost_work_seconds",
            "lost_worker_ids",
            "predicted_gain",
            "predicted_stall_seconds",
            "measured_gain",
            "decision",
        )
        read_only_fields = fields

    def get_predicted_gain(self, generation: Any) -> float | None:
        return foretold(generation, "gain")

    def get_predicted_stall_seconds(self, generation: Any) -> float | None:
        return foretold(generation, "stall_seconds")

    def get_decision(self, generation: Any) -> dict[str, Any]:
        return dict(generation.decision or {})


class GenerationListSerializer(serializers.Serializer[Any]):
    items = GenerationSerializer(many=True)


def foretold(generation: Any, number: str) -> float | None:
    """What the rescale that led to the generation was expected to bring or to cost.

    Nobody expected a loss, and those who survive it are no outcome of any decision.
    """
    if generation.lost_worker_ids:
        return None
    value: float | None = explanation_of(generation.decision or {}).get(number)
    return value
