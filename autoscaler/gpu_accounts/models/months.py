"""Which months are over and told of, and what is kept of a team's month that jobs do not keep?"""

from __future__ import annotations

from django.db import models


class MonthsPlace(models.Model):
    """The only row of its table: the first month of which no team has been told yet."""

    month = models.DateField(help_text="Its first day, of UTC.")

    def __str__(self) -> str:
        return f"before {self.month:%Y-%m}"


class TeamMonth(models.Model):
    """How many jobs of a team ended in a month: jobs are deleted some day, this is not."""

    month = models.DateField(help_text="Its first day, of UTC.")
    team = models.CharField(max_length=40)
    completed = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    cancelled = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("month", "team"), name="one_row_per_month_and_team"),
        )

    def __str__(self) -> str:
        return f"{self.team} in {self.month:%Y-%m}"
