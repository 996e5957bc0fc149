"""For which jobs does a job wait before it starts?"""

from __future__ import annotations

from django.db import models

from jobs.models.job import Job
from jobs.wait_condition import WaitCondition


class Dependency(models.Model):
    """One job that another waits for. The row stays when that job is deleted, and tells its end."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="dependencies")
    on_id = models.CharField(max_length=12, help_text="The job that has to end.")
    on_name = models.CharField(max_length=80)
    condition = models.CharField(max_length=6, choices=WaitCondition.choices())
    ended_as = models.CharField(
        max_length=10, default="", blank=True, help_text="Its last state, once it was deleted."
    )

    class Meta:
        ordering = ("id",)
        indexes = (models.Index(fields=("on_id",), name="who_waits_for_a_job"),)

    def __str__(self) -> str:
        return f"{self.job_id} after {self.on_name} ({self.on_id}): {self.condition}"
