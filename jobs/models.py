"""What is trained, and all that is known about it.

`Job` holds desired and observed state. The rest are its histories: `Event` (what happened),
`Assignment` (what the planner wanted), `Generation` (what ran), `Worker` (which processes),
`MetricPoint` and `Measurement` (how it went). `GpuClaim` makes double booking impossible.
"""

from __future__ import annotations

import secrets
from typing import ClassVar

from django.db import models
from django.db.models import Q

from jobs.lifecycle import LIVE, State

_ID_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"  # none that people mistake for another


def new_id() -> str:
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(10))


class Job(models.Model):
    """One training job of a team."""

    class Mode(models.TextChoices):
        """How it can change its workers; `auto` becomes one of the others once known."""

        AUTO = "auto", "auto: hot when the script registers, else restart"
        HOT = "hot", "hot: in process, without losing a step"
        RESTART = "restart", "restart: all workers end and start again from a checkpoint"
        FIXED = "fixed", "fixed: never"

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    team = models.ForeignKey("tenancy.Team", on_delete=models.PROTECT, related_name="jobs")
    pool = models.ForeignKey("cluster.Pool", on_delete=models.PROTECT, related_name="jobs")
    name = models.CharField(max_length=80)
    spec = models.JSONField(help_text="As sent.")
    resolved_spec = models.JSONField(help_text="With every default filled in.")
    labels = models.JSONField(default=dict)
    priority = models.PositiveSmallIntegerField(default=50)
    submitted_by = models.CharField(max_length=150)

    state = models.CharField(max_length=10, choices=[(s, s) for s in State], default=State.QUEUED)
    reason = models.CharField(max_length=40, default="pending_evaluation")
    message = models.TextField(default="", blank=True)
    explanation = models.JSONField(
        default=dict, help_text="Newest decision, whole, as the job's team may read it."
    )
    explanation_for_admins = models.JSONField(
        default=dict, help_text="The same with other teams' names; empty: there are none in it."
    )
    prediction = models.JSONField(
        default=dict, help_text="Newest: made_at; start and finish as p10, p50, p90 or null."
    )
    remedy = models.JSONField(
        default=dict, help_text="What would start it: kind, numbers, message, found_at; or empty."
    )
    ends_as = models.CharField(max_length=10, default="", blank=True)

    mode = models.CharField(max_length=8, choices=Mode, default=Mode.AUTO)
    attempt = models.PositiveIntegerField(default=0, help_text="0 before the first start.")
    failures = models.PositiveIntegerField(default=0, help_text="Of the job's own code.")
    losses = models.PositiveIntegerField(default=0, help_text="Workers lost from outside.")
    not_before = models.DateTimeField(null=True, blank=True, help_text="Back-off after a failure.")
    generation = models.PositiveIntegerField(default=0, help_text="Active one; 0: none yet.")
    revision = models.PositiveIntegerField(default=0, help_text="Newest assignment.")
    starts = models.PositiveIntegerField(
        default=0, help_text="How often it came out of the queue; tells its checkpoints apart."
    )
    coordinator_node = models.CharField(
        max_length=80, default="", blank=True, help_text="Where it runs; empty: nowhere yet."
    )
    coordinator_term = models.PositiveIntegerField(
        default=0, help_text="Counts up when another takes over from one on a lost node."
    )
    coordinator_port = models.PositiveIntegerField(null=True, blank=True)
    coordinator_seen_at = models.DateTimeField(null=True, blank=True)

    submitted_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    last_rescaled_at = models.DateTimeField(null=True, blank=True)
    rescales = models.PositiveIntegerField(default=0)
    gpu_seconds = models.FloatField(default=0.0, help_text="GPU time held so far.")

    samples = models.BigIntegerField(default=0)
    total_samples = models.BigIntegerField(null=True, blank=True)
    step = models.BigIntegerField(default=0)
    epoch = models.FloatField(default=0.0)
    samples_per_second = models.FloatField(default=0.0)
    values = models.JSONField(default=dict, help_text="Newest logged metrics.")
    model_bytes = models.BigIntegerField(default=0)
    noise_scale = models.FloatField(
        null=True, blank=True, help_text="Gradient noise in samples, at the base batch."
    )
    batch_limits = models.JSONField(
        default=dict, help_text="Samples that fit one worker at once, by GPU type, as found out."
    )
    checkpoint_step = models.BigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ("-submitted_at", "id")
        indexes = (
            models.Index(fields=("state",)),
            models.Index(fields=("team", "-submitted_at")),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("team", "name"),
                condition=Q(state__in=sorted(LIVE)),
                name="live_job_names_are_unique_per_team",
            ),
            models.CheckConstraint(condition=Q(priority__lte=100), name="priority_is_0_to_100"),
        )

    def __str__(self) -> str:
        return f"{self.team_id}/{self.name} ({self.id})"


class Event(models.Model):
    """Something that happened to a job; state changes carry both states."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField(auto_now_add=True)
    kind = models.CharField(max_length=40)
    old_state = models.CharField(max_length=10, default="", blank=True)
    new_state = models.CharField(max_length=10, default="", blank=True)
    reason = models.CharField(max_length=40, default="", blank=True)
    message = models.TextField(default="", blank=True)
    data = models.JSONField(default=dict)

    class Meta:
        ordering = ("at", "id")
        indexes = (
            models.Index(fields=("job", "id")),
            models.Index(fields=("at",)),  # every tick asks what happened lately
        )

    def __str__(self) -> str:
        return f"{self.kind} of {self.job_id}"


class Assignment(models.Model):
    """What the planner wanted a job to run with, from this revision on."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="assignments")
    revision = models.PositiveIntegerField()
    at = models.DateTimeField(auto_now_add=True)
    attempt = models.PositiveIntegerField()
    worker_ids = models.JSONField(help_text="In rank order.")
    global_batch_size = models.PositiveIntegerField()
    reason = models.CharField(max_length=40)
    message = models.TextField(default="", blank=True)
    message_for_admins = models.TextField(
        default="", blank=True, help_text="With other teams' names; empty: there are none in it."
    )
    decision = models.JSONField(default=dict, help_text="The planner's numbers.")

    class Meta:
        ordering = ("revision",)
        constraints = (
            models.UniqueConstraint(fields=("job", "revision"), name="one_assignment_per_revision"),
        )

    def __str__(self) -> str:
        return f"{self.job_id} revision {self.revision}"


class Generation(models.Model):
    """One fixed set of workers and one global batch that really trained."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="generations")
    number = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField()
    revision = models.PositiveIntegerField()
    workers = models.PositiveIntegerField()
    worker_ids = models.JSONField()
    global_batch_size = models.PositiveIntegerField()
    reason = models.CharField(max_length=40)
    message = models.TextField(default="", blank=True)
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    step = models.BigIntegerField(default=0, help_text="Steps of the job before it.")
    stall_seconds = models.FloatField(default=0.0, help_text="Nobody trained, at the switch.")
    transfer_seconds = models.FloatField(
        default=0.0, help_text="State was on its way to joiners, mostly while the others trained."
    )
    lost_steps = models.BigIntegerField(
        default=0, help_text="Steps made before that are made again, from a checkpoint."
    )
    lost_work_seconds = models.FloatField(default=0.0, help_text="What those steps had taken.")
    lost_worker_ids = models.JSONField(default=list, help_text="Whose loss led to it.")

    class Meta:
        ordering = ("number",)
        constraints = (
            models.UniqueConstraint(fields=("job", "number"), name="one_generation_per_number"),
        )

    def __str__(self) -> str:
        return f"{self.job_id} generation {self.number}"


class Worker(models.Model):
    """One process of a job that holds `gpus_per_worker` GPUs."""

    MEASURED: ClassVar[tuple[str, ...]] = (
        "compute_seconds",
        "samples_per_second",
        "relative_speed",
        "is_straggler",
        "gpu_utilisation",
        "gpu_memory_bytes",
        "gpu_memory_total_bytes",
    )

    class Phase(models.TextChoices):
        STARTING = "starting", "starting: claims its GPUs; the worker host was asked"
        READY = "ready", "ready: registered and warm"
        TRAINING = "training", "training: member of the active generation"
        LEAVING = "leaving", "leaving: no longer wanted"
        GONE = "gone", "gone: seen to have ended; its GPUs are free"

    id = models.CharField(primary_key=True, max_length=40)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="workers")
    attempt = models.PositiveIntegerField()
    node = models.ForeignKey("cluster.Node", on_delete=models.PROTECT, related_name="+")
    phase = models.CharField(max_length=10, choices=Phase, default=Phase.STARTING)
    created_at = models.DateTimeField(auto_now_add=True)
    gone_at = models.DateTimeField(null=True, blank=True)
    exit_code = models.IntegerField(null=True, blank=True)
    failing = models.CharField(
        max_length=20,
        default="",
        blank=True,
        help_text="What went wrong beside its own code, as the worker host calls it.",
    )
    error = models.TextField(default="", blank=True)
    is_given_up = models.BooleanField(
        default=False, help_text="Stopped or hanging; the others train without it. It is killed."
    )

    compute_seconds = models.FloatField(
        null=True, blank=True, help_text="Of its share of a step; waiting for others left out."
    )
    samples_per_second = models.FloatField(
        null=True, blank=True, help_text="Of its own share, while it computes."
    )
    relative_speed = models.FloatField(
        null=True, blank=True, help_text="0.6: 40 % slower than the median of the job's workers."
    )
    is_straggler = models.BooleanField(default=False, help_text="Slow for long enough to replace.")
    gpu_utilisation = models.FloatField(null=True, blank=True, help_text="0 to 1.")
    gpu_memory_bytes = models.BigIntegerField(null=True, blank=True, help_text="In use.")
    gpu_memory_total_bytes = models.BigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ("created_at", "id")

    def __str__(self) -> str:
        return self.id


class GpuClaim(models.Model):
    """A GPU in use. The row lives until its worker was seen gone, so nothing is booked twice."""

    node = models.ForeignKey("cluster.Node", on_delete=models.PROTECT, related_name="claims")
    gpu_index = models.PositiveIntegerField()
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="claims")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("node", "gpu_index"), name="a_gpu_has_one_worker"),
        )

    def __str__(self) -> str:
        return f"{self.node_id}:{self.gpu_index} by {self.worker_id}"


class MetricPoint(models.Model):
    """Progress at one moment; `values` holds what the script logged."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="metrics")
    at = models.DateTimeField()
    generation = models.PositiveIntegerField()
    step = models.BigIntegerField()
    epoch = models.FloatField()
    samples = models.BigIntegerField()
    samples_per_second = models.FloatField()
    step_seconds = models.FloatField()
    compute_seconds = models.FloatField()
    communication_seconds = models.FloatField()
    learning_rate = models.FloatField()
    values = models.JSONField(default=dict)

    class Meta:
        ordering = ("step", "generation")
        constraints = (
            models.UniqueConstraint(
                fields=("job", "generation", "step"), name="a_metric_is_stored_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.job_id} at step {self.step}"


class Measurement(models.Model):
    """Mean step time of a job at one configuration, for its throughput model."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="measurements")
    gpu_type = models.CharField(max_length=40, default="", help_text="Of the pool it ran in.")
    workers = models.PositiveIntegerField()
    nodes = models.PositiveIntegerField(default=1)
    global_batch_size = models.PositiveIntegerField()
    steps = models.PositiveIntegerField()
    step_seconds = models.FloatField()
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("job", "gpu_type", "workers", "nodes", "global_batch_size"),
                name="one_measurement_per_configuration",
            ),
            models.CheckConstraint(
                condition=Q(step_seconds__gt=0) & Q(steps__gte=1),
                name="a_measurement_has_steps_and_time",
            ),
        )

    def __str__(self) -> str:
        return f"{self.job_id}: {self.workers} workers, batch {self.global_batch_size}"


class Prediction(models.Model):
    """What was once foretold of a job, kept to be held against what came of it."""

    class Kind(models.TextChoices):
        START = "start", "start: of its first worker"
        FINISH = "finish", "finish: completed"

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="predictions")
    kind = models.CharField(max_length=6, choices=Kind)
    made_at = models.DateTimeField()
    p10 = models.DateTimeField(null=True, help_text="Null: later than was looked ahead.")
    p50 = models.DateTimeField(null=True)
    p90 = models.DateTimeField(null=True)
    happened_at = models.DateTimeField(null=True, blank=True)
    held = models.BooleanField(null=True, help_text="It happened within p10 to p90.")

    class Meta:
        ordering = ("made_at", "id")
        indexes = (
            models.Index(fields=("job", "kind", "-made_at")),
            models.Index(fields=("happened_at",)),
        )

    def __str__(self) -> str:
        return f"{self.kind} of {self.job_id} foretold at {self.made_at:%H:%M:%S}"


class IdempotencyKey(models.Model):
    """Remembers for 24 h which job a submit's `Idempotency-Key` made."""

    team = models.ForeignKey("tenancy.Team", on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    body_digest = models.CharField(max_length=64)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("team", "key"), name="one_job_per_idempotency_key"),
        )

    def __str__(self) -> str:
        return self.key
