"""What do a job's workers take of their nodes, and since when is it idle?"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class UsagePointSerializer(serializers.Serializer[Any]):
    """One stretch of time. Null: nobody could tell."""

    at = serializers.DateTimeField(help_text="When the stretch begins.")
    workers = serializers.IntegerField(help_text="That were read in it.")
    cpu_cores = serializers.FloatField(allow_null=True, help_text="Busy, of all workers.")
    memory_bytes = serializers.IntegerField(allow_null=True, help_text="Of all workers.")
    gpu_utilisation = serializers.FloatField(allow_null=True, help_text="0 to 1: mean of its GPUs.")
    gpu_memory_bytes = serializers.IntegerField(allow_null=True, help_text="On all its GPUs.")
    gpu_power_watts = serializers.FloatField(allow_null=True, help_text="Of all its GPUs.")


class UsageSerializer(serializers.Serializer[Any]):
    idle_since = serializers.DateTimeField(
        allow_null=True, help_text="All its workers have done nothing since then; null: they do."
    )
    items = UsagePointSerializer(many=True)
