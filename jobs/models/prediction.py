"""What was predicted about a job, and did it come true?"""

from __future__ import annotations

from django.db import models

from jobs.models.job import Job


class Prediction(models.Model):
    """A past prediction about a job, kept to be compared with what came true."""

    class Kind(models.TextChoices):
        START = "start", "start: of its first worker"
        FINISH = "finish", "finish: completed"

    job = models.ForeignKey(
        Job, on_delete=models.CASCADE, related_name="predictions", db_index=False
    )
    kind = models.CharField(max_length=6, choices=Kind)
    made_at = models.DateTimeField()
    p10 = models.DateTimeField(null=True, help_text="Null: later than was looked ahead.")
    p50 = models.DateTimeField(null=True)
    p90 = models.DateTimeField(null=True)
    basis = models.CharField(
        max_length=12, default="", db_default="", help_text="What it rests on; empty: not known."
    )
    replayed_p10 = models.DateTimeField(null=True, help_text="Before it was corrected.")
    replayed_p50 = models.DateTimeField(null=True)
    replayed_p90 = models.DateTimeField(null=True)
    happened_at = models.DateTimeField(null=True, blank=True)
    held = models.BooleanField(null=True, help_text="It happened within p10 to p90.")

    class Meta:
        ordering = ("made_at", "id")
        indexes = (
            models.Index(fields=("job", "kind", "-made_at")),
            models.Index(fields=("happened_at",)),
        )

    def __str__(self) -> str:
        return f"{self.kind} of {self.job_id} predicted at {self.made_at:%H:%M:%S}"
