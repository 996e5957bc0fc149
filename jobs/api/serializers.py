"""What does the API say about jobs? One serializer per document, nothing computed twice."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from jobs import batch_limit
from jobs.decided import explanation_of, position_in_queue
from jobs.lifecycle import ACTIVE, FINAL, State
from jobs.models import Event, Generation, Job, MetricPoint, Worker

NOT_FORETOLD = FINAL | {State.PAUSED, State.STOPPING}

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
)


class ValuesField(serializers.DictField):
    """What a script logged by name; null stands for NaN and infinity."""

    child = serializers.FloatField(allow_null=True)


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


class JobSerializer(serializers.ModelSerializer[Job]):
    """A job with the numbers a table of jobs shows. Takes rows of `queries.with_numbers`."""

    team = serializers.CharField(source="team.name")
    pool = serializers.CharField(source="pool.name")
    state = serializers.ChoiceField(choices=[state.value for state in State])
    workers = serializers.SerializerMethodField(help_text="Training now.")
    workers_desired = serializers.SerializerMethodField(help_text="Of the newest plan.")
    min_workers = serializers.IntegerField(source="resolved_spec.elastic.min_workers")
    max_workers = serializers.IntegerField(source="resolved_spec.elastic.max_workers")
    global_batch_size = serializers.SerializerMethodField()
    progress = serializers.SerializerMethodField(help_text="0 to 1; null: length unknown.")
    total_epochs = serializers.SerializerMethodField()
    batch_limit = serializers.SerializerMethodField(
        help_text="Samples that fit one worker at once: declared, or found; null: no limit known."
    )
    values = ValuesField()
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

    class Meta:
        model = Job
        fields: ClassVar[tuple[str, ...]] = _JOB_FIELDS
        read_only_fields: ClassVar[tuple[str, ...]] = fields

    def get_workers(self, job: Any) -> int:
        return int(job.workers_now or 0)

    def get_workers_desired(self, job: Any) -> int:
        return len(job.wanted_workers or ()) if job.state in ACTIVE else 0

    def get_global_batch_size(self, job: Any) -> int:
        base = job.resolved_spec["batch"]["global_batch_size"]["base"]
        return int(job.batch_now or job.wanted_batch or base)

    def get_batch_limit(self, job: Job) -> int | None:
        return batch_limit.of(job)

    def get_progress(self, job: Job) -> float | None:
        if job.state == State.COMPLETED:
            return 1.0
        return min(job.samples / job.total_samples, 1.0) if job.total_samples else None

    def get_total_epochs(self, job: Job) -> int | None:
        """Epochs are equally long, so the ones so far tell how many there are."""
        if not (job.total_samples and job.samples and job.epoch):
            return None
        return round(job.total_samples * job.epoch / job.samples)

    def get_completion_seconds(self, job: Job) -> float | None:
        if job.finished_at is None:
            return None
        return (job.finished_at - job.submitted_at).total_seconds()

    def get_trained_seconds(self, job: Any) -> float:
        return float(job.trained.total_seconds()) if job.trained else 0.0

    def get_stall_seconds(self, job: Any) -> float:
        return float(job.all_stalls or 0.0)

    def get_lost_work_seconds(self, job: Any) -> float:
        return float(job.lost_work or 0.0)

    def get_longest_stall_seconds(self, job: Any) -> float:
        return float(job.longest_stall or 0.0)

    def get_eta_seconds(self, job: Job) -> float | None:
        if job.state not in ACTIVE or not job.total_samples or job.samples_per_second <= 0:
            return None
        return max(job.total_samples - job.samples, 0) / job.samples_per_second

    @extend_schema_field(PredictionSerializer(allow_null=True))
    def get_prediction(self, job: Job) -> dict[str, Any] | None:
        if job.state in NOT_FORETOLD or not job.prediction:
            return None
        has_started = job.state != State.QUEUED
        return {**job.prediction, "start": None if has_started else job.prediction["start"]}

    def get_position(self, job: Job) -> int | None:
        return position_in_queue(job)


class JobDetailSerializer(JobSerializer):
    """A job with its spec, as sent and with every default filled in."""

    spec = serializers.DictField()
    resolved_spec = serializers.DictField()

    class Meta(JobSerializer.Meta):
        fields: ClassVar[tuple[str, ...]] = (*_JOB_FIELDS, "spec", "resolved_spec")
        read_only_fields = fields


class JobPageSerializer(serializers.Serializer[Any]):
    items = JobSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)


class EventSerializer(serializers.ModelSerializer[Event]):
    data = serializers.DictField()  # type: ignore[assignment]  # DRF takes it off the class

    class Meta:
        model = Event
        fields = ("id", "at", "kind", "old_state", "new_state", "reason", "message", "data")
        read_only_fields = fields


class GenerationSerializer(serializers.ModelSerializer[Generation]):
    worker_ids = serializers.ListField(child=serializers.CharField())
    lost_worker_ids = serializers.ListField(child=serializers.CharField())
    idle_seconds = serializers.FloatField(
        help_text="Nothing trained before it: paused, waiting, or starting again after a loss."
    )
    predicted_gain = serializers.SerializerMethodField(help_text="Of the rescale; 0.31: 31 %.")
    predicted_stall_seconds = serializers.SerializerMethodField()
    measured_gain = serializers.FloatField(
        allow_null=True, help_text="Over the generation before; null: not measured yet."
    )
    decision = serializers.SerializerMethodField(help_text="The planner's numbers.")

    class Meta:
        model = Generation
        fields = (
            "number",
            "attempt",
            "revision",
            "workers",
            "worker_ids",
            "global_batch_size",
            "reason",
            "message",
            "began_at",
            "ended_at",
            "step",
            "stall_seconds",
            "idle_seconds",
            "transfer_seconds",
            "lost_steps",
            "lost_work_seconds",
            "lost_worker_ids",
            "predicted_gain",
            "predicted_stall_seconds",
            "measured_gain",
            "decision",
        )
        read_only_fields = fields

    def get_predicted_gain(self, generation: Any) -> float | None:
        return foretold(generation, "gain")

    def get_predicted_stall_seconds(self, generation: Any) -> float | None:
        return foretold(generation, "stall_seconds")

    def get_decision(self, generation: Any) -> dict[str, Any]:
        return dict(generation.decision or {})


def foretold(generation: Any, number: str) -> float | None:
    """What the rescale that led to the generation was expected to bring or to cost.

    Nobody expected a loss, and those who survive it are no outcome of any decision.
    """
    if generation.lost_worker_ids:
        return None
    value: float | None = explanation_of(generation.decision or {}).get(number)
    return value


class WorkerSerializer(serializers.ModelSerializer[Worker]):
    node = serializers.CharField(source="node.name")
    gpu_indices = serializers.SerializerMethodField()

    class Meta:
        model = Worker
        fields = (
            "id",
            "phase",
            "node",
            "gpu_indices",
            "attempt",
            "created_at",
            "gone_at",
            "exit_code",
            "error",
            *Worker.MEASURED,
        )
        read_only_fields = fields

    def get_gpu_indices(self, worker: Worker) -> list[int]:
        return sorted(claim.gpu_index for claim in worker.claims.all())


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


class EventListSerializer(serializers.Serializer[Any]):
    items = EventSerializer(many=True)


class GenerationListSerializer(serializers.Serializer[Any]):
    items = GenerationSerializer(many=True)


class WorkerListSerializer(serializers.Serializer[Any]):
    items = WorkerSerializer(many=True)


class MetricListSerializer(serializers.Serializer[Any]):
    items = MetricSerializer(many=True)
