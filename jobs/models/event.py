"""What happened to a job?"""

from __future__ import annotations

from typing import Final

from django.db import models
from django.db.models import Q

from jobs.models.job import Job

NOT_IN_THE_FEED: Final = 0  # the position of events from before there was a feed


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
    position = models.BigIntegerField(
        null=True,
        editable=False,
        help_text="Its place among all events, given once it is committed; null: not yet.",
    )

    class Meta:
        ordering = ("at", "id")
        indexes = (
            models.Index(fields=("job", "id")),
            models.Index(fields=("at",)),  # retention asks what is old
            models.Index(
                fields=("id",), condition=Q(position=None), name="events_without_a_position"
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("position",),
                condition=Q(position__gt=NOT_IN_THE_FEED),
                name="one_event_at_each_position",
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} of {self.job_id}"


class EventFeed(models.Model):
    """The only row of its table: the last position that was given. Whoever gives more holds it."""

    last_position = models.BigIntegerField()

    def __str__(self) -> str:
        return f"up to {self.last_position}"
