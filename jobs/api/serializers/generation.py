"""What did a job train with, and was it worth it?"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from jobs.api.serializers.vocabulary import reason_field
from jobs.models import Generation
from jobs.models.generation import ProgressUnit, RestartSign
from jobs.queries.newest_decision import explanation_of


class RestartSerializer(serializers.Serializer[Any]):
    """What it cost to start a script with other workers, as far as their logs tell."""

    ordered_at = serializers.DateTimeField(
        source="restart_ordered_at",
        help_text="When the workers before were to stop or, without any, these to start.",
    )
    seconds = serializers.FloatField(
        source="restart_seconds",
        allow_null=True,
        help_text="About, from then until the `sign`; null: not known.",
    )
    sign = serializers.ChoiceField(
        choices=RestartSign.choices,
        source="restart_sign",
        help_text="What they were first seen to write: the number of a step, or at least a line.",
    )
    repeated_units = serializers.FloatField(
        allow_null=True, help_text="At least so many were made again; null: not known."
    )
    repeated_unit = serializers.ChoiceField(
        choices=ProgressUnit.choices,
        help_text="`count`: of what it counts within an epoch, iterations or samples.",
    )
    repeated_seconds = serializers.FloatField(
        allow_null=True, help_text="What that had taken, about, and at least; null: not known."
    )
    message = serializers.SerializerMethodField(help_text="The same in words.")

    def get_message(self, generation: Generation) -> str:
        return restart_in_words(generation)


class GenerationSerializer(serializers.ModelSerializer[Generation]):
    reason = reason_field(may_be_empty=True)
    worker_ids = serializers.ListField(child=serializers.CharField())
    lost_worker_ids = serializers.ListField(child=serializers.CharField())
    idle_seconds = serializers.FloatField(
        help_text="Nothing trained before it: paused, waiting, or starting again after a loss."
    )
    restart = serializers.SerializerMethodField(
        help_text="Of a script that does not report steps; null: none of the kind."
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
            "restart",
            "predicted_gain",
            "predicted_stall_seconds",
            "measured_gain",
            "decision",
        )
        read_only_fields = fields

    @extend_schema_field(RestartSerializer(allow_null=True))
    def get_restart(self, generation: Generation) -> dict[str, Any] | None:
        if generation.restart_ordered_at is None:
            return None
        return dict(RestartSerializer(generation).data)

    def get_predicted_gain(self, generation: Any) -> float | None:
        return predicted(generation, "gain")

    def get_predicted_stall_seconds(self, generation: Any) -> float | None:
        return predicted(generation, "stall_seconds")

    def get_decision(self, generation: Any) -> dict[str, Any]:
        return dict(generation.decision or {})


class GenerationListSerializer(serializers.Serializer[Any]):
    items = GenerationSerializer(many=True)


def restart_in_words(generation: Generation) -> str:
    """Say what a restart cost; empty unless a script that reports nothing was restarted."""
    if generation.restart_ordered_at is None:
        return ""
    return generation.restart_message or "Not known yet: its log has not been asked."


def predicted(generation: Any, number: str) -> float | None:
    """Return what the rescale that led to the generation was expected to bring or to cost.

    Nobody expects a loss, and the workers that survive it are not the outcome of a decision.
    """
    if generation.lost_worker_ids:
        return None
    value: float | None = explanation_of(generation.decision or {}).get(number)
    return value
