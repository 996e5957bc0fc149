"""What does a replay of the past look like, and how a team fared in it, whatever was changed?"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from autoscaler.simulation.api.models import Simulation


class TeamOutcomeSerializer(serializers.Serializer[Any]):
    """How a team's own jobs fared in a pool. null: no job gives the figure."""

    guaranteed_gpus = serializers.IntegerField(help_text="For the team and all below it.")
    jobs = serializers.IntegerField()
    finished = serializers.IntegerField()
    wait_seconds = serializers.FloatField(
        allow_null=True, help_text="Mean time from the submission to the first start."
    )
    completion_seconds = serializers.FloatField(
        allow_null=True, help_text="Mean of finished jobs, waiting included."
    )
    gpu_hours = serializers.FloatField()
    borrowed_gpu_hours = serializers.FloatField(help_text="Held beyond the guarantee.")
    lent_gpu_hours = serializers.FloatField(help_text="Of the guarantee, held by others.")
    paused_jobs = serializers.IntegerField(help_text="Jobs that were paused at least once.")


class ReplaySerializer(serializers.ModelSerializer[Simulation]):
    """How far it is. Each kind says what was asked, and what came out."""

    class Meta:
        model = Simulation
        fields = (
            "id", "state", "progress", "requested_by", "requested_at", "started_at",
            "finished_at", "error", "request", "result",
        )  # fmt: skip
        read_only_fields = fields
