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


class SparklineSerializer(serializers.Serializer[Any]):
    """The course of one job, small enough for a line of a list."""

    job_id = serializers.CharField()
    metric = serializers.CharField(
        help_text="Its loss, or what else it logs; empty: it logged no number."
    )
    values = serializers.ListField(
        child=serializers.FloatField(), help_text="Evenly thinned, oldest first."
    )


class SparklineListSerializer(serializers.Serializer[Any]):
    items = SparklineSerializer(many=True)
