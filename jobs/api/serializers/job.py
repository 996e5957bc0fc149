"""What is a job, and how far is it?"""

from __future__ import annotations

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from autoscaler.job_vocabulary import JobReason
from jobs.api.serializers.batch_worth import BatchWorthSerializer, batch_worth
from jobs.api.serializers.finite import finite
from jobs.api.serializers.metric import ValuesField
from jobs.api.serializers.prediction import PredictionSerializer
from jobs.api.serializers.vocabulary import reason_field, state_field
from jobs.changes import batch_limit
from jobs.lifecycle import ACTIVE, FINAL, JobState
from jobs.models import Job
from jobs.queries.extents import extent_of
from jobs.queries.newest_decision import position_in_queue
from jobs.queries.predictions.ageing import finish_now, old_at

_KEEP = "keep"  # as decisions are written down: nothing changes
_NOT_PREDICTED = FINAL | {JobState.PAUSED, JobState.STOPPING}

_JOB_FIELDS = (
    "id",
    "name",
    "team",
    "pool",
    "state",
    "reason",
    "message",
    "priority",
    "mode",
    "attempt",
    "generation",
    "failures",
    "losses",
    "rescales",
    "submitted_by",
    "submitted_at",
    "started_at",
    "finished_at",
    "last_rescaled_at",
    "workers",
    "workers_desired",
    "min_workers",
    "max_workers",
    "global_batch_size",
    "progress",
    "epoch",
    "total_epochs",
    "step",
    "samples",
    "total_samples",
    "samples_per_second",
    "values",
    "gpu_seconds",
    "completion_seconds",
    "trained_seconds",
    "stall_seconds",
    "longest_stall_seconds",
    "lost_work_seconds",
    "noise_scale",
    "batch_limit",
    "eta_seconds",
    "prediction",
    "position",
    "labels",
    "array",
    "trial",
    "schedule",
)


class ArrayTrialSerializer(serializers.Serializer[Any]):
    """Which trial of an array a job is, and with which values."""

    number = serializers.IntegerField(help_text="From 1.")
    values = serializers.DictField(child=serializers.JSONField(), help_text="By parameter.")
    is_swept = serializers.BooleanField(help_text="The array is that of a sweep, which has its id.")


class JobScheduleSerializer(serializers.Serializer[Any]):
    """Which schedule submitted a job, and for which of its times; it may be deleted by now."""

    id = serializers.CharField()
    name = serializers.CharField()
    due_at = serializers.DateTimeField()


class UsedTemplateSerializer(serializers.Serializer[Any]):
    """The template with which a job began; it may be another by now, or gone."""

    team = serializers.CharField()
    name = serializers.CharField()
    version = serializers.IntegerField()


class _WorkerBound(serializers.IntegerField):
    """A field of the spec's `elastic`, of the same name."""

    def get_attribute(self, instance: Any) -> Any:
        return getattr(extent_of(instance).elastic, self.field_name or "")


class JobSerializer(serializers.ModelSerializer[Job]):
    """A job with the numbers a table of jobs shows. Takes rows of `queries.with_numbers`."""

    team = serializers.CharField(source="team.name")
    pool = serializers.CharField(source="pool.name")
    state = state_field()
    reason = reason_field()
    workers = serializers.SerializerMethodField(help_text="Training now.")
    workers_desired = serializers.SerializerMethodField(help_text="Of the newest plan.")
    min_workers = _WorkerBound()
    max_workers = _WorkerBound()
    global_batch_size = serializers.SerializerMethodField()
    progress = serializers.SerializerMethodField(help_text="0 to 1; null: length unknown.")
    total_epochs = serializers.SerializerMethodField()
    batch_limit = serializers.SerializerMethodField(
        help_text="Samples that fit one worker at once: declared, or found; null: no limit known."
    )
    values = ValuesField()
    noise_scale = serializers.SerializerMethodField(
        help_text="Gradient noise in samples, at the base batch."
    )
    completion_seconds = serializers.SerializerMethodField(help_text="From submit to the end.")
    trained_seconds = serializers.SerializerMethodField(help_text="All generations together.")
    stall_seconds = serializers.SerializerMethodField(help_text="Of all rescales and losses.")
    longest_stall_seconds = serializers.SerializerMethodField()
    lost_work_seconds = serializers.SerializerMethodField(
        help_text="Of steps that were made again from a checkpoint."
    )
    eta_seconds = serializers.SerializerMethodField(help_text="At the present speed.")
    prediction = serializers.SerializerMethodField(help_text="Null: none yet, or it has ended.")
    position = serializers.SerializerMethodField(help_text="In the queue; 1 is next.")
    labels = serializers.DictField(child=serializers.CharField())
    array = serializers.CharField(
        source="array_id", allow_null=True, help_text="The id of the array of which it is a trial."
    )
    trial = serializers.SerializerMethodField(help_text="Null: it is of no array.")
    schedule = serializers.SerializerMethodField(help_text="Null: no schedule submitted it.")

    class Meta:
        model = Job
        fields: ClassVar[tuple[str, ...]] = _JOB_FIELDS
        read_only_fields: ClassVar[tuple[str, ...]] = fields

    def get_workers(self, job: Any) -> int:
        return int((job.training_now or {}).get("workers", 0))

    def get_workers_desired(self, job: Any) -> int:
        # One that is to go on without workers that it lost gets no new assignment.
        if job.state not in ACTIVE:
            return 0
        wanted = int((job.wanted_now or {}).get("workers", 0))
        is_kept = job.state == JobState.RUNNING and job.explanation.get("action") == _KEEP
        return min(wanted, job.explanation.get("workers", wanted)) if is_kept else wanted

    def get_global_batch_size(self, job: Any) -> int:
        chosen = (job.training_now or job.wanted_now or {}).get("batch")
        return int(chosen or extent_of(job).batch.global_batch_size.base)

    def get_noise_scale(self, job: Job) -> float | None:
        return finite(job.measured_noise_scale)

    def get_batch_limit(self, job: Job) -> int | None:
        return batch_limit.of(job, extent_of(job).batch.max_per_worker)

    def get_progress(self, job: Job) -> float | None:
        if job.state == JobState.COMPLETED and job.reason != JobReason.ENDED_EARLY:
            return 1.0
        return min(job.samples / job.total_samples, 1.0) if job.total_samples else None

    def get_total_epochs(self, job: Job) -> int | None:
        """Epochs are equally long, so the ones so far tell how many there are."""
        if not (job.total_samples and job.samples and job.epoch):
            return None
        epochs = finite(job.total_samples / job.samples * job.epoch)
        return None if epochs is None else round(epochs)

    def get_completion_seconds(self, job: Job) -> float | None:
        if job.finished_at is None:
            return None
        return (job.finished_at - job.submitted_at).total_seconds()

    def get_trained_seconds(self, job: Any) -> float:
        return _seconds(job, "seconds")

    def get_stall_seconds(self, job: Any) -> float:
        return _seconds(job, "stalls")

    def get_lost_work_seconds(self, job: Any) -> float:
        return _seconds(job, "lost_work")

    def get_longest_stall_seconds(self, job: Any) -> float:
        return _seconds(job, "longest_stall")

    def get_eta_seconds(self, job: Job) -> float | None:
        left = (job.total_samples or 0) - job.samples
        if job.state not in ACTIVE or left <= 0 or job.samples_per_second <= 0:
            return None
        return finite(left / job.samples_per_second)

    @extend_schema_field(PredictionSerializer(allow_null=True))
    def get_prediction(self, job: Job) -> dict[str, Any] | None:
        if job.state in _NOT_PREDICTED or not job.prediction:
            return None
        has_started = job.state != JobState.QUEUED
        return {
            "made_at": job.prediction["made_at"],
            "old_at": old_at(job.prediction).isoformat(),
            "start": None if has_started else job.prediction["start"],
            "finish": finish_now(
                job.prediction,
                now=timezone.now(),
                has_started=has_started,
                samples_left=(job.total_samples or 0) - job.samples,
            ),
            "lately": job.prediction.get("lately"),  # the previous release did not say it
        }

    @extend_schema_field(ArrayTrialSerializer(allow_null=True))
    def get_trial(self, job: Job) -> dict[str, Any] | None:
        return {"is_swept": False, **job.trial} if job.trial else None

    @extend_schema_field(JobScheduleSerializer(allow_null=True))
    def get_schedule(self, job: Job) -> Any:
        if not job.schedule:
            return None
        told = {"id": job.schedule, "name": job.schedule_name, "due_at": job.scheduled_for}
        return JobScheduleSerializer(told).data

    def get_position(self, job: Job) -> int | None:
        return position_in_queue(job)


def _seconds(job: Any, of: str) -> float:
    return float((job.history or {}).get(of) or 0.0)


class JobDetailSerializer(JobSerializer):
    """A job with its spec, as sent, and as it counts now with every default filled in."""

    spec = serializers.DictField()
    resolved_spec = serializers.DictField()
    template = serializers.SerializerMethodField(help_text="Null: its spec began with none.")
    batch_worth = serializers.SerializerMethodField(
        help_text="Null: the batch never exceeds its base, or no gradient noise was measured."
    )
    warnings = serializers.ListField(
        child=serializers.CharField(),
        help_text="What in its script is to be looked at, in sentences, oldest first.",
    )
    may_change = serializers.BooleanField(
        help_text="True if the caller may change, steer, pin and delete it."
    )
    may_rerun = serializers.BooleanField(help_text="True if the caller may submit it once more.")

    class Meta(JobSerializer.Meta):
        fields: ClassVar[tuple[str, ...]] = (
            *_JOB_FIELDS,
            "spec",
            "resolved_spec",
            "template",
            "version",
            "batch_worth",
            "warnings",
            "held_seconds",
            "disk_bytes",
            "disk_files",
            "is_pinned",
            "may_change",
            "may_rerun",
            "curves_removed_at",
            "history_removed_at",
            "logs_removed_at",
            "files_removed_at",
        )
        read_only_fields = fields

    @extend_schema_field(UsedTemplateSerializer(allow_null=True))
    def get_template(self, job: Job) -> dict[str, Any] | None:
        return job.template or None

    @extend_schema_field(BatchWorthSerializer(allow_null=True))
    def get_batch_worth(self, job: Job) -> dict[str, Any] | None:
        return batch_worth(job)


class SubmittedJobSerializer(JobDetailSerializer):
    """A job that was just submitted, and what its user should know although nothing is wrong."""

    notes = serializers.ListField(child=serializers.CharField())

    class Meta(JobDetailSerializer.Meta):
        fields: ClassVar[tuple[str, ...]] = (*JobDetailSerializer.Meta.fields, "notes")
        read_only_fields = fields


class MadeJobSerializer(serializers.Serializer[Any]):
    """One job of a bulk."""

    id = serializers.CharField()
    name = serializers.CharField()


class SubmittedJobsSerializer(serializers.Serializer[Any]):
    """The jobs of a bulk, in its order, and what their user should know."""

    items = MadeJobSerializer(many=True)
    array = serializers.CharField(
        allow_null=True, help_text="The id of the array whose trials they are."
    )
    notes = serializers.ListField(
        child=serializers.CharField(), help_text="Each once, of whichever jobs; at most 20."
    )


class JobPageSerializer(serializers.Serializer[Any]):
    items = JobSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)
    total = serializers.IntegerField(
        allow_null=True, help_text="How many there are in all; null: not counted."
    )
