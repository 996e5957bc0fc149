"""Which jobs were submitted as trials of one array?"""

from __future__ import annotations

from django.db import models

from jobs.models.job import new_id


class JobArray(models.Model):
    """One spec and the values that its trials have; the row goes with its last job."""

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    team = models.ForeignKey(
        "tenancy.Team", on_delete=models.CASCADE, related_name="arrays", db_index=False
    )
    name = models.CharField(max_length=80)
    parameters = models.JSONField(default=list, help_text="Their names, in their order.")
    trials = models.PositiveIntegerField(help_text="How many were submitted.")
    max_running = models.PositiveIntegerField(
        null=True, blank=True, help_text="How many may hold GPUs at once; null: all."
    )
    is_swept = models.BooleanField(
        default=False,
        db_default=False,
        help_text="A sweep makes its trials, and pauses and resumes them.",
    )
    is_open = models.BooleanField(
        default=False, db_default=False, help_text="Its sweep may make further trials."
    )
    submitted_by = models.CharField(max_length=150)
    submitted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-submitted_at", "id")
        indexes = (
            models.Index(fields=("-submitted_at", "id"), name="newest_arrays_first"),
            models.Index(fields=("team", "name"), name="arrays_by_name"),
        )

    def __str__(self) -> str:
        return f"{self.team_id}/{self.name} ({self.id})"
