"""When is a job predicted to start and finish?"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class SpanSerializer(serializers.Serializer[Any]):
    """Percentiles of a moment; null: later than was looked ahead."""

    p10 = serializers.DateTimeField(allow_null=True)
    p50 = serializers.DateTimeField(allow_null=True)
    p90 = serializers.DateTimeField(allow_null=True)


class LatelySerializer(serializers.Serializer[Any]):
    """How the newest ranges like this one did: of jobs that ended, one in the middle of each."""

    held = serializers.IntegerField(help_text="So many ended within their range.")
    outcomes = serializers.IntegerField(help_text="Of so many jobs, at most 10.")


class PredictionSerializer(serializers.Serializer[Any]):
    """When a live job starts and finishes, from replaying the plan forward."""

    made_at = serializers.DateTimeField()
    old_at = serializers.DateTimeField(
        help_text="From then on it is old, and `finish` goes by what the job has done since."
    )
    start = SpanSerializer(allow_null=True, help_text="Null: it has started.")
    finish = SpanSerializer(allow_null=True, help_text="Null: nothing is known of its length.")
    lately = LatelySerializer(allow_null=True, help_text="Null: nothing like it has ended yet.")
