"""Would a spec be accepted, and what is wrong with it?"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from autoscaler.planning.decisions.plan import Action
from jobs.api.serializers.prediction import SpanSerializer


class ProblemSerializer(serializers.Serializer[Any]):
    field = serializers.CharField()
    value = serializers.JSONField()
    problem = serializers.CharField()
    remedy = serializers.CharField()


class GivesWaySerializer(serializers.Serializer[Any]):
    """A job, or several, that would have fewer workers than without the new one."""

    job_id = serializers.CharField(allow_null=True, help_text="Null: of another team.")
    name = serializers.CharField(allow_null=True)
    team = serializers.CharField(
        allow_null=True,
        help_text="Null: teams see nothing of others, and these are all their jobs together.",
    )
    workers_without = serializers.IntegerField()
    workers_with = serializers.IntegerField(help_text="0: it is paused, or starts later.")


class OutlookSerializer(serializers.Serializer[Any]):
    """What would become of the job if it were submitted now."""

    action = serializers.ChoiceField(
        [action.value for action in Action],
        allow_blank=True,
        help_text="Empty: nobody could look ahead, and `message` says why.",
    )
    message = serializers.CharField()
    pool = serializers.CharField(
        allow_blank=True, help_text="In which it would start or wait; empty: nobody looked."
    )
    workers = serializers.IntegerField(allow_null=True, help_text="Null: it waits.")
    global_batch_size = serializers.IntegerField(allow_null=True)
    gives_way = GivesWaySerializer(many=True)
    start = SpanSerializer(allow_null=True, help_text="Null: at once, or nobody can tell.")
    finish = SpanSerializer(allow_null=True, help_text="Null: nobody can tell.")


class ValidationSerializer(serializers.Serializer[Any]):
    resolved_spec = serializers.DictField(allow_null=True, help_text="null if there are problems.")
    problems = ProblemSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField())
    trials = serializers.IntegerField(
        help_text="How many jobs its `array` or `sweep` makes; 0: neither, or there are problems."
    )
    outlook = OutlookSerializer(
        allow_null=True, help_text="Null: nobody asked, or the spec has problems."
    )
