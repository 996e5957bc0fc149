"""What were teams owed, and what of it were they not given?

The sums of hours are kept for ever, moments and jobs for a while.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from autoscaler.gpu_accounts.models.recordings import RecordedSpan


class OwedSpan(RecordedSpan):
    """A time in which a team had work for its guarantee, and nothing about it changed."""

    KEY: ClassVar = ("pool", "team")
    VALUES: ClassVar = ("guaranteed_gpus", "missing")

    pool = models.CharField(max_length=40)
    team = models.CharField(max_length=40)
    guaranteed_gpus = models.PositiveIntegerField(help_text="For the team's own jobs.")
    missing = models.JSONField(help_text="GPUs and jobs by cause. Empty: it was given all of it.")

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("pool", "team"), condition=Q(until=None), name="owed_now"
            ),
        )
        indexes = (
            models.Index(fields=("until",), name="owed_until"),
            models.Index(fields=("team", "since"), name="owed_to_a_team"),
        )

    def __str__(self) -> str:
        return f"{self.team} in {self.pool} from {self.since} until {self.until}"


class OwedHour(models.Model):
    """How an hour went for a team that had work for its guarantee."""

    hour = models.DateTimeField(help_text="When it began.")
    pool = models.CharField(max_length=40)
    team = models.CharField(max_length=40)
    working = models.BigIntegerField(help_text="Microseconds in which it had work.")
    given = models.BigIntegerField(help_text="Of these, those in which nothing was missing.")
    missing = models.JSONField(help_text="Microseconds of GPUs that it was not given, by cause.")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("team", "hour", "pool"), name="one_hour_owed_to_team"),
        )
        indexes = (models.Index(fields=("hour",), name="what_was_owed_in_an_hour"),)

    def __str__(self) -> str:
        return f"{self.team} in {self.pool} at {self.hour:%Y-%m-%dT%H}"
