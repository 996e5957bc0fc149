"""How did a job go, moment by moment?"""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from jobs.models.job import Job


class MetricPoint(models.Model):
    """Progress at one moment; `values` holds what the script logged."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="metrics")
    at = models.DateTimeField(help_text="As reported, within what is possible.")
    recorded_at = models.DateTimeField(
        db_default=Now(), help_text="When the service was told, by its own clock."
    )
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
