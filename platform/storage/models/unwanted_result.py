"""Which files of jobs did somebody delete that are still to be removed?"""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class UnwantedResult(models.Model):
    """A file or a folder of a job's results; the job itself may be gone already."""

    job_id = models.CharField(max_length=12)
    place = models.CharField(max_length=20, help_text="Which folder of the job's.")
    path = models.TextField(help_text="In that folder.")
    wished_by = models.CharField(max_length=150)
    due_at = models.DateTimeField(default=timezone.now, help_text="Later, where a try failed.")

    class Meta:
        ordering = ("due_at", "id")
        indexes = (models.Index(fields=("job_id", "place"), name="unwanted_results_of_a_job"),)

    def __str__(self) -> str:
        return f"{self.path} of {self.job_id}'s {self.place}"
