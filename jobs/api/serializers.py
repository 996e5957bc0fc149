"""What does the API say about jobs? One serializer per document, nothing computed twice."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from jobs.decided import position_in_queue
from jobs.lifecycle import ACTIVE, State
from jobs.models import Event, Generation, Job, MetricPoint, Worker

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
    "longest_stall_seconds",
    "eta_seconds",
    "position",
    "labels",
)


class ValuesField(serializers.DictField):
    """What a script logged by name; null stands for NaN and infinity."""

    child = serializers.FloatField(allow_null=True)


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
    values = ValuesField()
    completion_seconds = serializers.SerializerMethodField(help_text="From submit to the end.")
    longest_stall_seconds = serializers.SerializerMethodField()
    eta_seconds = serializers.SerializerMethodField(help_text="At the present speed.")
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

    def get_longest_stall_seconds(self, job: Any) -> float:
        return float(job.longest_stall or 0.0)

    def get_eta_seconds(self, job: Job) -> float | None:
        if job.state not in ACTIVE or not job.total_samples or job.samples_per_second <= 0:
            return None
        return max(job.total_samples - job.samples, 0) / job.samples_per_second

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
            "decision",
        )
        read_only_fields = fields

    def get_decision(self, generation: Any) -> dict[str, Any]:
        return dict(generation.decision or {})


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
