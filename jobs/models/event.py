"""What happened to a job?"""

from __future__ import annotations

from django.db import models

from jobs.models.job import Job


class Event(models.Model):
    """Something that happened to a job; state changes carry both states.

    For people: nothing is decided by it, so it may be reworded, and forgotten when it is old.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+", db_index=False)
    at = models.DateTimeField(auto_now_add=True)
    kind = models.CharField(max_length=40)
    old_state = models.CharField(max_length=10, default="", blank=True)
    new_state = models.CharField(max_length=10, default="", blank=True)
    reason = models.CharField(max_length=40, default="", blank=True)
    message = models.TextField(default="", blank=True)
    data = models.JSONField(default=dict)

    class Meta:
        ordering = ("at", "id")
        indexes = (
            models.Index(fields=("job", "id")),
            models.Index(fields=("at",)),  # retention asks what is old
        )

    def __str__(self) -> str:
        return f"{self.kind} of {self.job_id}"
