"""What did a job really train with, and what did it cost to get there?"""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from jobs.models.job import Job


class RestartSign(models.TextChoices):
    """What the new workers were first seen to do."""

    NONE = "", "nothing yet"
    LINE = "line", "line: they wrote something"
    ITERATION = "iteration", "iteration: they wrote the number of a step or an epoch"


class ProgressUnit(models.TextChoices):
    """What a number in a log counts."""

    UNKNOWN = "", "not known"
    ITERATION = "iteration", "iteration"
    EPOCH = "epoch", "epoch"
    COUNT = "count", "count: of iterations or samples within an epoch, its script alone knows"


class Generation(models.Model):
    """One fixed set of workers and one global batch that really trained."""

    job = models.ForeignKey(
        Job, on_delete=models.CASCADE, related_name="generations", db_index=False
    )
    number = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField()
    revision = models.PositiveIntegerField()
    workers = models.PositiveIntegerField()
    worker_ids = models.JSONField()
    global_batch_size = models.PositiveIntegerField()
    reason = models.CharField(max_length=40)
    message = models.TextField(default="", blank=True)
    began_at = models.DateTimeField(help_text="As reported, within what is possible.")
    recorded_at = models.DateTimeField(
        db_default=Now(), help_text="When the service was told, by its own clock."
    )
    ended_at = models.DateTimeField(null=True, blank=True)
    step = models.BigIntegerField(default=0, help_text="Steps of the job before it.")
    stall_seconds = models.FloatField(default=0.0, help_text="Nobody trained, at the switch.")
    transfer_seconds = models.FloatField(
        default=0.0,
        db_default=0.0,
        help_text="State was on its way to joiners, mostly while the others trained.",
    )
    lost_steps = models.BigIntegerField(
        default=0,
        db_default=0,
        help_text="Steps made before that are made again, from a checkpoint.",
    )
    lost_work_seconds = models.FloatField(
        default=0.0, db_default=0.0, help_text="What those steps had taken."
    )
    lost_worker_ids = models.JSONField(
        default=list, db_default=[], help_text="Whose loss led to it."
    )
    restart_ordered_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the workers of a script were to stop, or to start again; null: no restart.",
    )
    restart_look_at = models.DateTimeField(
        null=True, blank=True, help_text="When its log is next asked what the restart cost."
    )
    restart_seconds = models.FloatField(
        null=True, blank=True, help_text="From then until a sign of work; null: not known."
    )
    restart_sign = models.CharField(
        max_length=10, choices=RestartSign, default=RestartSign.NONE, db_default="", blank=True
    )
    repeated_units = models.FloatField(
        null=True, blank=True, help_text="Made again, at least; null: not known."
    )
    repeated_unit = models.CharField(
        max_length=10, choices=ProgressUnit, default=ProgressUnit.UNKNOWN, db_default="", blank=True
    )
    repeated_seconds = models.FloatField(
        null=True, blank=True, help_text="What that had taken, about; null: not known."
    )
    restart_message = models.TextField(default="", db_default="", blank=True)

    class Meta:
        ordering = ("number",)
        constraints = (
            models.UniqueConstraint(fields=("job", "number"), name="one_generation_per_number"),
        )
        indexes = (
            models.Index(
                fields=("restart_look_at",),
                condition=models.Q(restart_look_at__isnull=False),
                name="restarts_to_look_at",
            ),
        )

    def __str__(self) -> str:
        return f"{self.job_id} generation {self.number}"
