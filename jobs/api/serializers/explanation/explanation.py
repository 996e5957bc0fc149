"""Why does a job have what it has? The newest decision about it, in words and numbers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from autoscaler.planning.decisions.plan import Action
from jobs.api.serializers.explanation.details import DetailsField
from jobs.api.serializers.explanation.parts import (
    ChoiceSerializer,
    FoundRemedySerializer,
    choice_field,
)
from jobs.api.serializers.vocabulary import reason_field
from jobs.queries.limits_of_use import LimitUnit


class ChangeSerializer(serializers.Serializer[Any]):
    reason = reason_field(may_be_empty=True)
    message = serializers.CharField()
    at = serializers.DateTimeField()
    cost = serializers.CharField(
        help_text="Of a restart, as far as its log tells; empty: of anything else."
    )


class QuarantineSerializer(serializers.Serializer[Any]):
    """The job is left out of plans, because the planner fails on its data."""

    since = serializers.DateTimeField()
    failures = serializers.IntegerField(help_text="In a row.")
    retry_at = serializers.DateTimeField()
    error = serializers.CharField(allow_null=True, help_text="For admins; null: for others.")


class HeldLimitSerializer(serializers.Serializer[Any]):
    """A limit that holds for the job."""

    limit = serializers.CharField(help_text="The field in which somebody set it.")
    team = serializers.CharField(
        allow_null=True, help_text="Whose it is, with those below it; null: the job's own."
    )
    unit = choice_field(LimitUnit)
    used = serializers.FloatField()
    most = serializers.FloatField()
    is_used_up = serializers.BooleanField()
    message = serializers.CharField(
        help_text="The numbers in words, what follows, and who can change it."
    )


class ExplanationSerializer(serializers.Serializer[Any]):
    job_id = serializers.CharField()
    action = choice_field(Action, allow_blank=True, help_text="Empty: there is no decision yet.")
    reason = reason_field()
    message = serializers.CharField()
    workers = serializers.IntegerField(allow_null=True, help_text="That the planner wants.")
    global_batch_size = serializers.IntegerField(allow_null=True)
    choices = ChoiceSerializer(many=True, help_text="One worker fewer, as it is, one more.")
    price = serializers.FloatField(allow_null=True, help_text="What one more GPU would add.")
    position = serializers.IntegerField(allow_null=True, help_text="In the queue; 1 is next.")
    gpus_asked = serializers.IntegerField(allow_null=True)
    gpus_free = serializers.IntegerField(allow_null=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    remedy = FoundRemedySerializer(
        allow_null=True, help_text="What would start a waiting job now; null: nobody looked lately."
    )
    warnings = serializers.ListField(
        child=serializers.CharField(),
        help_text="What in its script is to be looked at, in sentences, oldest first.",
    )
    gpu_hours = serializers.FloatField(help_text="That it has cost so far.")
    limits = HeldLimitSerializer(
        many=True, help_text="What bounds it, and how much of that is used up."
    )
    quarantine = QuarantineSerializer(
        allow_null=True, help_text="Null: it is planned as all others are."
    )
    details = DetailsField(
        allow_null=True, help_text="All numbers the sentence is made of; null: no decision yet."
    )
    changes = ChangeSerializer(many=True, help_text="The newest rescales, newest first.")
