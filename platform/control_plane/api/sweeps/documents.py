"""What is said about sweeps?"""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from sweeps import reading
from sweeps.reading import ShownTrial, SweepStanding
from sweeps.search.halving import MetricGoal

from jobs.api.serializers.finite import finite
from jobs.api.serializers.vocabulary import REASONS, state_field

RESOURCES: Final = ("epochs", "steps", "samples")


class SweepQuery(serializers.Serializer[Any]):
    team = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=200, help_text="Only this team's."
    )
    limit = serializers.IntegerField(
        required=False, default=50, min_value=1, max_value=reading.MOST_ON_A_PAGE
    )
    cursor = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)


class SweepSerializer(serializers.Serializer[Any]):
    """A sweep, and how its trials stand."""

    id = serializers.CharField(source="sweep.pk", help_text="Of its array of jobs, too.")
    name = serializers.CharField(source="sweep.array.name")
    team = serializers.CharField(source="sweep.array.team.name")
    parameters = serializers.ListField(
        child=serializers.CharField(), source="sweep.array.parameters"
    )
    metric = serializers.CharField(source="wanted.metric.name")
    goal = serializers.ChoiceField([one.value for one in MetricGoal], source="wanted.metric.goal")
    trials = serializers.IntegerField(
        source="sweep.array.trials", help_text="How many there are to be."
    )
    made = serializers.IntegerField(source="sweep.made", help_text="How many were submitted.")
    max_running = serializers.IntegerField(source="wanted.max_running")
    resource = serializers.SerializerMethodField(
        help_text="In what `rungs` are measured; without early stopping, of charts."
    )
    rungs = serializers.SerializerMethodField(
        help_text="How much training each rung is; empty: no trial is stopped early."
    )
    reduction = serializers.SerializerMethodField(
        help_text="One in so many goes on from a rung; null: no trial is stopped early."
    )
    most = serializers.SerializerMethodField(
        help_text="How much training a whole trial is, as its `max` says; null: not known."
    )
    states = serializers.DictField(
        child=serializers.IntegerField(),
        source="standing.states",
        help_text="How many of its trials are in each state; deleted ones are in none.",
    )
    submitted_by = serializers.CharField(source="sweep.array.submitted_by")
    submitted_at = serializers.DateTimeField(source="sweep.array.submitted_at")
    ended_at = serializers.DateTimeField(
        source="sweep.ended_at", allow_null=True, help_text="Null: it goes on."
    )
    message = serializers.CharField(
        source="sweep.message", help_text="Why its next trials are not submitted; mostly empty."
    )
    may_change = serializers.BooleanField(
        source="standing.may_change", help_text="True if the caller may cancel it."
    )

    @extend_schema_field(serializers.ChoiceField(RESOURCES))
    def get_resource(self, shown: SweepStanding) -> str:
        return shown.wanted.asha.resource if shown.wanted.asha else "epochs"

    @extend_schema_field(serializers.ListField(child=serializers.FloatField()))
    def get_rungs(self, shown: SweepStanding) -> Any:
        return shown.wanted.asha.levels if shown.wanted.asha else ()

    @extend_schema_field(serializers.IntegerField(allow_null=True))
    def get_reduction(self, shown: SweepStanding) -> int | None:
        return shown.wanted.asha.reduction if shown.wanted.asha else None

    @extend_schema_field(serializers.FloatField(allow_null=True))
    def get_most(self, shown: SweepStanding) -> float | None:
        return shown.wanted.asha.max if shown.wanted.asha else None


class SweepPageSerializer(serializers.Serializer[Any]):
    items = SweepSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)


class SweepMarkSerializer(serializers.Serializer[Any]):
    """A rung to which a trial came."""

    rung = serializers.IntegerField(help_text="From 0.")
    resource = serializers.FloatField(help_text="How far it was when the value was logged.")
    value = serializers.FloatField(allow_null=True, help_text="Null: it was no number.")
    promoted_at = serializers.DateTimeField(allow_null=True, help_text="Null: it was not.")


class SweepTrialSerializer(serializers.Serializer[Any]):
    """One trial of a sweep: a job, and how it did."""

    id = serializers.CharField(source="job.pk", help_text="Of the job.")
    name = serializers.CharField(source="job.name")
    number = serializers.IntegerField(source="trial.number", help_text="From 1.")
    values = serializers.DictField(
        child=serializers.JSONField(), source="job.trial.values", help_text="By parameter."
    )
    state = state_field(source="job.state")
    reason = serializers.ChoiceField(REASONS, read_only=True, source="job.reason")
    message = serializers.CharField(source="job.message")
    resource = serializers.FloatField(source="trial.resource", help_text="How far it is.")
    value = serializers.SerializerMethodField(
        "newest_value",
        help_text="The newest of the metric; null: none was logged yet, or it is no number.",
    )
    rung = serializers.SerializerMethodField(
        help_text="The highest to which it came, from 0; null: none."
    )
    marks = SweepMarkSerializer(many=True)
    gpu_seconds = serializers.FloatField(source="job.gpu_seconds")
    is_best = serializers.BooleanField(
        help_text="The best so far: of those that have come furthest, the best value."
    )

    @extend_schema_field(serializers.FloatField(allow_null=True))
    def newest_value(self, shown: ShownTrial) -> float | None:
        return finite(shown.trial.value)

    @extend_schema_field(serializers.IntegerField(allow_null=True))
    def get_rung(self, shown: ShownTrial) -> int | None:
        return max(shown.trial.marks, default=None)


class SweepDetailSerializer(SweepSerializer):
    """A sweep with its trials."""

    items = SweepTrialSerializer(many=True, help_text="Those that were submitted, by number.")
    best = serializers.CharField(
        allow_null=True, help_text="The job of the best trial so far; null: no values yet."
    )
    spec = serializers.DictField(
        child=serializers.JSONField(), source="sweep.spec", help_text="Of each trial, with places."
    )
    terms = serializers.DictField(
        child=serializers.JSONField(), source="sweep.terms", help_text="The field `sweep`, as sent."
    )
    notes = serializers.ListField(
        child=serializers.CharField(), help_text="What to know when it was just submitted."
    )


class SweepCurveSerializer(serializers.Serializer[Any]):
    """The metric of one trial over its training, thinned, oldest first."""

    job_id = serializers.CharField()
    resources = serializers.ListField(child=serializers.FloatField())
    values = serializers.ListField(child=serializers.FloatField())


class SweepCurvesSerializer(serializers.Serializer[Any]):
    items = SweepCurveSerializer(many=True)
