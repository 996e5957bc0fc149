"""What did the planner want a job to run with?"""

from __future__ import annotations

from django.db import models

from jobs.models.job import Job


class Assignment(models.Model):
    """What the planner wanted a job to run with, from this revision on."""

    job = models.ForeignKey(
        Job, on_delete=models.CASCADE, related_name="assignments", db_index=False
    )
    revision = models.PositiveIntegerField()
    at = models.DateTimeField(auto_now_add=True)
    attempt = models.PositiveIntegerField()
    worker_ids = models.JSONField(help_text="In rank order.")
    global_batch_size = models.PositiveIntegerField()
    reason = models.CharField(max_length=40)
    message = models.TextField(default="", blank=True)
    message_for_admins = models.TextField(
        default="",
        db_default="",
        blank=True,
        help_text="With other teams' names; empty: there are none in it.",
    )
    decision = models.JSONField(default=dict, help_text="The planner's numbers.")
    seats = models.JSONField(
        null=True,
        blank=True,
        help_text="Node and GPUs of each worker that the plan adds; null: of the former release.",
    )
    rendezvous_port = models.PositiveIntegerField(
        null=True, blank=True, help_text="Where its workers meet by themselves."
    )
    replaces = models.CharField(
        max_length=40,
        default="",
        db_default="",
        blank=True,
        help_text="The worker that leaves for another one; empty: none does.",
    )

    class Meta:
        ordering = ("revision",)
        constraints = (
            models.UniqueConstraint(fields=("job", "revision"), name="one_assignment_per_revision"),
        )

    def __str__(self) -> str:
        return f"{self.job_id} revision {self.revision}"
