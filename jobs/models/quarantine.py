"""Which jobs are left out of computations over all jobs, because their data make them fail?"""

from __future__ import annotations

from django.db import models

from jobs.models.job import Job


class Quarantine(models.Model):
    """A job that is left out of planning, or of predictions; it keeps what it holds."""

    class Part(models.TextChoices):
        PLANNING = "planning", "planning: no decision is made about it"
        PREDICTION = "prediction", "prediction: neither its start nor its end is foretold"

    job = models.ForeignKey(
        Job, on_delete=models.CASCADE, related_name="quarantines", db_index=False
    )
    part = models.CharField(max_length=10, choices=Part)
    failures = models.PositiveIntegerField(default=1, help_text="In a row.")
    since = models.DateTimeField()
    retry_at = models.DateTimeField()
    error = models.TextField(help_text="As Python tells it: for admins.")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("job", "part"), name="one_quarantine_per_job_and_part"),
        )

    def __str__(self) -> str:
        return f"{self.job_id} is left out of {self.part} since {self.since:%H:%M:%S}"
