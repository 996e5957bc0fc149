"""What does a team have submitted again and again?"""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.db.models import Q
from tenancy.models import Team, slug_validator

from jobs.models import new_id
from schedules.due_times import SHORTEST_PERIOD


class Overlap(models.TextChoices):
    """What happens at a due time while a job of the schedule still lives."""

    ALLOW = "allow", "allow: another one is submitted beside it"
    SKIP = "skip", "skip: nothing is submitted"
    REPLACE = "replace", "replace: it is cancelled, and another one is submitted"


class CatchUp(models.TextChoices):
    """What happens to times that were due while the service was away."""

    NONE = "none", "none: they are left out"
    LAST = "last", "last: the last of them is submitted, if it is not too long ago"


class TeamSchedule(models.Model):
    """A job spec, a cron expression and a time zone.

    In whose name it submits is told by numbers of rows, which no later row gets, and by no foreign
    key: what a schedule goes by may be deleted, and the schedule then says so.
    """

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    team = models.ForeignKey(
        Team, on_delete=models.CASCADE, related_name="schedules", db_index=False
    )
    name = models.CharField(max_length=40, validators=[slug_validator])
    spec = models.JSONField(help_text="As sent, and its team.")
    code = models.CharField(
        max_length=64, default="", help_text="The digest of its snapshot of code; empty: none."
    )
    cron = models.CharField(max_length=100)
    time_zone = models.CharField(max_length=64)
    overlap = models.CharField(max_length=8, choices=Overlap, default=Overlap.SKIP)
    catch_up = models.CharField(max_length=8, choices=CatchUp, default=CatchUp.LAST)
    start_within = models.PositiveIntegerField(
        help_text="Seconds after which a time that was due is missed."
    )
    version = models.PositiveIntegerField(default=1, help_text="Counts up with each change.")

    holder = models.CharField(max_length=150, help_text="In whose name it submits, as shown.")
    person_id = models.BigIntegerField(null=True, help_text="The account; null: a team's token.")
    token_line = models.BigIntegerField(
        null=True, help_text="The token, and those it is rotated to; null: a person's session."
    )

    is_paused = models.BooleanField(default=False)
    paused_because = models.CharField(max_length=500, default="", blank=True)
    next_at = models.DateTimeField(null=True, help_text="When it is due next; null: it is paused.")
    failures = models.PositiveIntegerField(default=0, help_text="Of the last runs, in a row.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=150)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("team", "name")
        indexes = (
            models.Index(
                fields=("next_at",),
                condition=Q(next_at__isnull=False),
                name="schedules_by_due_time",
            ),
            models.Index(
                fields=("code",), condition=~Q(code=""), name="schedules_of_a_code_snapshot"
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("team", "name"), name="schedule_names_are_unique_per_team"
            ),
            models.CheckConstraint(
                condition=Q(is_paused=True, next_at=None)
                | Q(is_paused=False, next_at__isnull=False),
                name="a_schedule_is_paused_or_due_some_time",
            ),
        )

    def __str__(self) -> str:
        return f"{self.team_id}/{self.name}"

    @property
    def most_late(self) -> timedelta:
        """The longest time after it was due at which it is still submitted."""
        within = timedelta(seconds=self.start_within)
        return min(within, SHORTEST_PERIOD) if self.catch_up == CatchUp.NONE else within
