"""What do the numbers of an explanation consist of? These are the planner's values, one by one."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from rest_framework import serializers

from autoscaler.planning.decisions.explanation import Closing, RemedyKind
from autoscaler.planning.decisions.pool_offer import PoolAnswer


def choice_field(words: type[StrEnum], **options: Any) -> serializers.ChoiceField:
    """Make a field for one of the planner's words; other releases' words are answered unchanged."""
    return serializers.ChoiceField([word.value for word in words], **options)


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


class PoolOfferSerializer(serializers.Serializer[Any]):
    """What one of a job's pools is worth to it. A speed of 1: its smallest size in the slowest."""

    pool = serializers.CharField()
    is_chosen = serializers.BooleanField(help_text="It starts there, or waits.")
    answer = choice_field(PoolAnswer, help_text="What became of it when it asked.")
    workers = serializers.IntegerField(help_text="That it could expect; 0: the pool is full.")
    speed = serializers.FloatField(help_text="With these; of a full pool with its smallest size.")
    loss = serializers.FloatField(help_text="How much slower the jobs there would be together.")
    is_measured = serializers.BooleanField(help_text="False: taken to be as fast as elsewhere.")
    dollars_per_gpu_hour = serializers.FloatField()


def pool_offers() -> PoolOfferSerializer:
    """Make the field for those of one job; earlier releases explained none."""
    return PoolOfferSerializer(
        many=True, required=False, help_text="Of a job that may be in several: best first."
    )


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


class UserShareSerializer(serializers.Serializer[Any]):
    """What the jobs hold together that its user has in its team; null: these have no limit."""

    limit_gpus = serializers.IntegerField(help_text="In all pools: `max_gpus_per_user`.")
    held_gpus = serializers.IntegerField(help_text="In this pool, before the plan.")
    planned_gpus = serializers.IntegerField(help_text="In this pool, after it.")
    elsewhere_gpus = serializers.IntegerField(help_text="In other pools.")


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

    kind = choice_field(RemedyKind)
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
    changes = serializers.DictField(
        allow_null=True,
        help_text="What to send to change_job, to make it so; null: it is no change of the job.",
    )


class ClosedNodeSerializer(serializers.Serializer[Any]):
    """A node of the job's pool that takes no new work."""

    name = serializers.CharField()
    gpus = serializers.IntegerField()
    closing = choice_field(Closing)
