"""How fast was a job at each of its sizes?"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from jobs.models.job import Job


class Measurement(models.Model):
    """Mean step time of a job at one configuration, for its throughput model."""

    job = models.ForeignKey(
        Job, on_delete=models.CASCADE, related_name="measurements", db_index=False
    )
    gpu_type = models.CharField(
        max_length=40, default="", db_default="", help_text="Of the pool it ran in."
    )
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
