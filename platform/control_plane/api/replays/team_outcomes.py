"""How did a team fare when the past was replayed? One form, whatever was changed in it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


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
