"""How did a job go, moment by moment?"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from jobs.models import MetricPoint


class ValuesField(serializers.DictField):
    """What a script logged by name; null stands for NaN and infinity."""

    child = serializers.FloatField(allow_null=True)


class MetricSerializer(serializers.ModelSerializer[MetricPoint]):
    values = ValuesField()
    workers = serializers.IntegerField(allow_null=True)
    global_batch_size = serializers.IntegerField(allow_null=True)

    class Meta:
        model = MetricPoint
        fields = (
            "at",
            "generation",
            "step",
            "epoch",
            "samples",
            "samples_per_second",
            "step_seconds",
            "compute_seconds",
            "communication_seconds",
            "learning_rate",
            "workers",
            "global_batch_size",
            "values",
        )
        read_only_fields = fields


class MetricListSerializer(serializers.Serializer[Any]):
    items = MetricSerializer(many=True)
