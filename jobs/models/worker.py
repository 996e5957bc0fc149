"""Which processes does a job have, and which GPUs do they hold?"""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import F, ProtectedError, Q

from jobs.lifecycle import ACTIVE, JobState
from jobs.models.job import Job
from jobs.worker_phase import WorkerPhase


def let_go_of_what_is_over(
    collector: Any, field: Any, workers: models.QuerySet[Worker], using: str
) -> None:
    """Protect a node from deletion while a job runs that has, or lately had, workers on it.

    Workers that are long gone lose it, and keep its name.
    """
    in_use = workers.filter(job__state__in=[*ACTIVE, JobState.STOPPING], attempt=F("job__attempt"))
    found: set[models.Model] = set(in_use[:100])
    if found:
        raise ProtectedError("Jobs run on this node.", found)
    models.SET_NULL(collector, field, workers, using)


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

    id = models.CharField(primary_key=True, max_length=40)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="workers", db_index=False)
    attempt = models.PositiveIntegerField()
    node = models.ForeignKey(
        "cluster.Node", null=True, on_delete=let_go_of_what_is_over, related_name="+"
    )
    node_name = models.CharField(
        max_length=80, default="", db_default="", blank=True, help_text="Of one that was deleted."
    )
    phase = models.CharField(
        max_length=10, choices=WorkerPhase.choices(), default=WorkerPhase.STARTING
    )
    created_at = models.DateTimeField(auto_now_add=True)
    gone_at = models.DateTimeField(null=True, blank=True)
    exit_code = models.IntegerField(null=True, blank=True)
    failing = models.CharField(
        max_length=20,
        default="",
        db_default="",
        blank=True,
        help_text="What went wrong beside its own code, as the worker host calls it.",
    )
    error = models.TextField(default="", blank=True)
    last_lines = models.JSONField(
        default=list, db_default=[], help_text="The end of its log, if its own code went wrong."
    )
    counted_at = models.DateTimeField(
        null=True, blank=True, help_text="When its end was counted for its job; null: it was not."
    )
    counted_revision = models.PositiveIntegerField(
        null=True, blank=True, help_text="The assignment that its job had then."
    )
    silence_notice_at = models.DateTimeField(
        null=True, blank=True, help_text="When people heard that its node does not answer."
    )
    slowness_notice_at = models.DateTimeField(
        null=True, blank=True, help_text="When people heard that its node slows workers down."
    )
    is_given_up = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Stopped or hanging; the others train without it. It is killed.",
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
    is_straggler = models.BooleanField(
        default=False, db_default=False, help_text="Slow for long enough to replace."
    )
    straggler_found_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was found to be one last."
    )
    straggler_gpus = models.JSONField(
        default=list, db_default=[], help_text="Indices of the GPUs that it had then."
    )
    gpu_utilisation = models.FloatField(null=True, blank=True, help_text="0 to 1.")
    gpu_memory_bytes = models.BigIntegerField(null=True, blank=True, help_text="In use.")
    gpu_memory_total_bytes = models.BigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ("created_at", "id")
        indexes = (
            models.Index(fields=("job",), name="workers_of_a_job"),
            models.Index(  # every tick asks for them, among all that ever were
                fields=("job",), condition=~Q(phase="gone"), name="workers_that_are_not_gone"
            ),
            *(  # every tick asks what happened lately
                models.Index(
                    fields=(moment,),
                    condition=Q(**{f"{moment}__isnull": False}),
                    name=f"worker_{moment}",
                )
                for moment in ("counted_at", "straggler_found_at", "slowness_notice_at")
            ),
        )

    def __str__(self) -> str:
        return self.id

    @property
    def named_node(self) -> str:
        """Return the node's name, also if the node was deleted since."""
        return self.node.name if self.node else self.node_name


class GpuClaim(models.Model):
    """A GPU in use. The row lives until its worker was seen gone, so nothing is booked twice."""

    node = models.ForeignKey(
        "cluster.Node", on_delete=models.PROTECT, related_name="claims", db_index=False
    )
    gpu_index = models.PositiveIntegerField()
    worker = models.ForeignKey(
        Worker, on_delete=models.CASCADE, related_name="claims", db_index=False
    )

    class Meta:
        indexes = (models.Index(fields=("worker",), name="gpus_of_a_worker"),)
        constraints = (
            models.UniqueConstraint(fields=("node", "gpu_index"), name="a_gpu_has_one_worker"),
        )

    def __str__(self) -> str:
        return f"{self.node_id}:{self.gpu_index} by {self.worker_id}"
