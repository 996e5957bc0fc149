"""Which numbers does an explanation hold? The planner's values as the API describes them.

One document for all kinds of decision: what a kind does not have is null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from jobs.api.serializers.vocabulary import reason_field


class ChoiceSerializer(serializers.Serializer[Any]):
    workers = serializers.IntegerField()
    global_batch_size = serializers.IntegerField()
    samples_per_second = serializers.FloatField()
    speedup = serializers.FloatField()
    value = serializers.FloatField(allow_null=True)
    efficiency = serializers.FloatField(
        default=1.0, help_text="What a sample of this batch counts, by the gradient noise."
    )


class JobRefSerializer(serializers.Serializer[Any]):
    """Another job. Members of a team read id and name of their own team's jobs only."""

    job_id = serializers.CharField(allow_null=True)
    name = serializers.CharField(allow_null=True)
    team = serializers.CharField(allow_null=True)


class NextStepSerializer(serializers.Serializer[Any]):
    workers = serializers.IntegerField()
    gpus = serializers.IntegerField(help_text="More than now.")
    gain = serializers.FloatField(help_text="0.06: it would be 6 % faster.")


class RivalSerializer(serializers.Serializer[Any]):
    """The job that gained most from the last step it was given."""

    job = JobRefSerializer()
    workers = serializers.IntegerField()
    gpus = serializers.IntegerField()
    gain = serializers.FloatField()


class TeamShareSerializer(serializers.Serializer[Any]):
    team = serializers.CharField()
    held_gpus = serializers.IntegerField(help_text="Before the plan.")
    planned_gpus = serializers.IntegerField(help_text="After it.")
    guaranteed_gpus = serializers.IntegerField()
    limit_gpus = serializers.IntegerField(allow_null=True)
    entitled_gpus = serializers.IntegerField(
        help_text="What its jobs have a claim to now: of its guarantee, or of its fair share."
    )


class ReservedSerializer(serializers.Serializer[Any]):
    """GPUs that add up for a large job which has waited long. Moments are seconds since 1970."""

    job = JobRefSerializer()
    gpus = serializers.IntegerField()
    saved_gpus = serializers.IntegerField(help_text="Free, or used by guests that give way.")
    since = serializers.FloatField()
    promised_at = serializers.FloatField(
        allow_null=True, help_text="By what is known of the lengths of running jobs."
    )


class HolderSerializer(serializers.Serializer[Any]):
    team = serializers.CharField()
    gpus = serializers.IntegerField()
    borrowed_gpus = serializers.IntegerField()


class RemedySerializer(serializers.Serializer[Any]):
    """The one change that would start a job, in the numbers that its kind has."""

    kind = serializers.CharField()
    gpus = serializers.IntegerField(allow_null=True)
    workers = serializers.IntegerField(allow_null=True)
    priority = serializers.IntegerField(allow_null=True)
    pool = serializers.CharField(allow_null=True)
    node = serializers.CharField(allow_null=True, default=None)
    paused_jobs = serializers.IntegerField(help_text="Running jobs that it would pause.")


class FoundRemedySerializer(RemedySerializer):
    """A remedy that planning the changed cluster has shown to start the job."""

    message = serializers.CharField()
    found_at = serializers.DateTimeField()


class ClosedNodeSerializer(serializers.Serializer[Any]):
    """A node of the job's pool that takes no new work."""

    name = serializers.CharField()
    gpus = serializers.IntegerField()
    closing = serializers.ChoiceField(choices=["cordoned", "draining", "silent"])


class DetailsSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField(
        allow_null=True, help_text="running, started, rescaled, paused, waiting, refused."
    )
    hindrance = serializers.CharField(allow_null=True, help_text="Why a running job has not more.")
    next_step = NextStepSerializer(allow_null=True)
    rival = RivalSerializer(allow_null=True)
    before = ChoiceSerializer(allow_null=True)
    after = ChoiceSerializer(allow_null=True)
    gain = serializers.FloatField(allow_null=True, help_text="Predicted for a rescale.")
    stall_seconds = serializers.FloatField(allow_null=True, help_text="Its expected cost.")
    team = TeamShareSerializer(allow_null=True)
    needed_gpus = serializers.IntegerField(allow_null=True)
    free_gpus = serializers.IntegerField(allow_null=True)
    available_gpus = serializers.IntegerField(
        allow_null=True, help_text="Free, or can be freed by shrinking others."
    )
    pool_gpus = serializers.IntegerField(allow_null=True)
    blocker = JobRefSerializer(allow_null=True, help_text="Whom a waiting job stands behind.")
    reserved = ReservedSerializer(
        allow_null=True,
        help_text="For a waiting job or the one it stands behind; or what a paused guest used.",
    )
    holders = HolderSerializer(many=True, allow_null=True)
    closed_nodes = ClosedNodeSerializer(
        many=True, allow_null=True, help_text="That take no new work: those with most GPUs."
    )
    remedy = RemedySerializer(
        allow_null=True, help_text="What makes a job possible that can never start as it is."
    )


class ChangeSerializer(serializers.Serializer[Any]):
    reason = reason_field(may_be_empty=True)
    message = serializers.CharField()
    at = serializers.DateTimeField()
    cost = serializers.CharField(
        help_text="Of a restart, as far as its log tells; empty: of anything else."
    )


class QuarantineSerializer(serializers.Serializer[Any]):
    """The job is left out of plans, because reckoning with its data fails."""

    since = serializers.DateTimeField()
    failures = serializers.IntegerField(help_text="In a row.")
    retry_at = serializers.DateTimeField()
    error = serializers.CharField(allow_null=True, help_text="For admins; null: for others.")


class ExplanationSerializer(serializers.Serializer[Any]):
    job_id = serializers.CharField()
    action = serializers.CharField(help_text="start, keep, rescale, pause or wait; or empty.")
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
    quarantine = QuarantineSerializer(
        allow_null=True, help_text="Null: it is planned as all others are."
    )
    details = DetailsSerializer(help_text="All numbers the sentence is made of.")
    changes = ChangeSerializer(many=True, help_text="The newest rescales, newest first.")


def details_of(explanation: Mapping[str, Any]) -> dict[str, Any]:
    """What the planner's value holds of the documented numbers."""
    names: list[str] = list(DetailsSerializer().get_fields())
    return {name: explanation.get(name) for name in names}
