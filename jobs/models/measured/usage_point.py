"""What did each worker of a job take of its node, moment by moment, as read from outside?

Points of one worker in one stretch of time become one when they are old: see
`jobs.commands.usage`.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.db import models

from jobs.models.job import Job

RAW_FOR: Final = timedelta(hours=1)  # points stay as they came
MINUTES_FOR: Final = timedelta(days=1)  # then one for each minute, then for each ten
WIDTHS: Final = (0, 60, 600)  # seconds; 0: as it came


class UsagePoint(models.Model):
    """One worker, at one moment or in one stretch. Null: nobody could tell."""

    pk = models.CompositePrimaryKey("job_id", "width", "at", "worker_id")
    job = models.ForeignKey(
        Job, on_delete=models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    width = models.PositiveSmallIntegerField(help_text="Of the stretch in seconds; 0: a moment.")
    at = models.DateTimeField(help_text="When, or when the stretch begins.")
    worker_id = models.CharField(max_length=40)
    points = models.PositiveIntegerField(default=1, help_text="That it was made of.")
    cpu_cores = models.FloatField(null=True, help_text="Busy on average since the point before.")
    memory_bytes = models.BigIntegerField(null=True)
    gpu_utilisation = models.FloatField(null=True, help_text="0 to 1: mean over its GPUs.")
    gpu_memory_bytes = models.BigIntegerField(null=True, help_text="On all its GPUs.")
    gpu_power_watts = models.FloatField(null=True, help_text="Of all its GPUs.")

    class Meta:
        indexes = (models.Index(fields=("width", "at"), name="old_usage_points"),)

    def __str__(self) -> str:
        return f"{self.worker_id} at {self.at}"
