"""What did a job really train with, and what did it cost to get there?"""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from jobs.models.job import Job


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

    class Meta:
        ordering = ("number",)
        constraints = (
            models.UniqueConstraint(fields=("job", "number"), name="one_generation_per_number"),
        )

    def __str__(self) -> str:
        return f"{self.job_id} generation {self.number}"
