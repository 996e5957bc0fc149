"""How far has the service read what a script tells of itself?"""

from __future__ import annotations

from django.db import models

from jobs.models.job import Job


class ScriptReading(models.Model):
    """Places in one job's files, and what is remembered from one look to the next."""

    job = models.OneToOneField(
        Job, on_delete=models.CASCADE, primary_key=True, related_name="script_reading"
    )
    read_at = models.DateTimeField(help_text="When something was found last.")
    state = models.JSONField(
        default=dict, help_text="Generation, places in files, and the steps told so far."
    )

    def __str__(self) -> str:
        return f"{self.job_id}, read at {self.read_at}"
