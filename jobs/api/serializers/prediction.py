"""When is a job predicted to start and finish?"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class SpanSerializer(serializers.Serializer[Any]):
    """Percentiles of a moment; null: later than was looked ahead."""

    p10 = serializers.DateTimeField(allow_null=True)
    p50 = serializers.DateTimeField(allow_null=True)
    p90 = serializers.DateTimeField(allow_null=True)


class PredictionSerializer(serializers.Serializer[Any]):
    """When a live job starts and finishes, from replaying the plan forward."""

    made_at = serializers.DateTimeField()
    start = SpanSerializer(allow_null=True, help_text="Null: it has started.")
    finish = SpanSerializer(allow_null=True, help_text="Null: nothing is known of its length.")
