"""Which times were due, and what became of each?"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from schedules.models.schedule import TeamSchedule


class RunState(models.TextChoices):
    """A run waits for moments, then it has an end."""

    WAITING = "waiting", "waiting: it was due, and is submitted in a moment"
    SUBMITTED = "submitted", "submitted: its job was accepted"
    SKIPPED = "skipped", "skipped: a job of the schedule still lived"
    REFUSED = "refused", "refused: its job was not accepted; the message says why"
    MISSED = "missed", "missed: the service was away for too long"
    FAILED = "failed", "failed: the service could not submit it, and gave up"


class ScheduleRun(models.Model):
    """One time that was due, or one that somebody asked for; written before anything is submitted.

    So a crash neither loses it nor submits it twice.
    """

    schedule = models.ForeignKey(
        TeamSchedule, on_delete=models.CASCADE, related_name="runs", db_index=False
    )
    due_at = models.DateTimeField()
    asked_by = models.CharField(
        max_length=150, default="", help_text="Who asked for it; empty: it was due."
    )
    asked_key = models.CharField(
        max_length=200, default="", help_text="The Idempotency-Key with which it was asked for."
    )
    state = models.CharField(max_length=9, choices=RunState, default=RunState.WAITING)
    message = models.CharField(max_length=1000, default="")
    jobs = models.JSONField(default=list, help_text="Id and name of the first of its jobs.")
    job_count = models.PositiveIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0, help_text="Which have begun.")
    try_at = models.DateTimeField(help_text="No sooner is it tried (again).")
    recorded_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, help_text="Null: it waits.")

    class Meta:
        ordering = ("-due_at", "-id")
        indexes = (
            models.Index(fields=("schedule", "-due_at", "-id"), name="runs_of_a_schedule"),
            models.Index(
                fields=("try_at",), condition=Q(state=RunState.WAITING), name="runs_that_wait"
            ),
            models.Index(fields=("recorded_at",), name="old_schedule_runs"),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("schedule", "due_at"),
                condition=Q(asked_by=""),
                name="a_due_time_is_recorded_once",
            ),
            models.UniqueConstraint(
                fields=("schedule", "asked_key"),
                condition=~Q(asked_key=""),
                name="a_run_is_asked_for_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.schedule_id} at {self.due_at}"
