"""How many jobs of a team may run or wait, and how many GPUs and GPU-hours may they use?"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from autoscaler.team_budget import TeamBudget, WhenUsedUp, month_of
from tenancy.models.team import MOST_QUEUED_JOBS, Team

MOST_GPU_HOURS: Final = 1e9
LEAST_GPU_HOURS: Final = 0.01
MOST_GPUS_PER_USER: Final = 100_000
_BOUNDS: Final = (MinValueValidator(1), MaxValueValidator(MOST_QUEUED_JOBS))


class TeamLimits(models.Model):
    """Limits of a team as a whole. Without a row, and where a field is empty: none."""

    team = models.OneToOneField(
        Team, on_delete=models.CASCADE, related_name="limits", primary_key=True
    )
    max_running_jobs = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=_BOUNDS,
        help_text="Most jobs of it and the teams below it that hold GPUs at once. Empty: no limit.",
    )
    max_running_jobs_per_user = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=_BOUNDS,
        help_text="Most of these that one person, or one token, has submitted. Empty: no limit.",
    )
    max_queued_jobs_per_user = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=_BOUNDS,
        help_text="Most jobs of the team that may wait, queued or paused, of those that one person,"
        " or one token, has submitted. Empty: no limit but the team's.",
    )
    max_gpus_per_user = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=(MinValueValidator(1), MaxValueValidator(MOST_GPUS_PER_USER)),
        help_text="Most GPUs that jobs of the team which one person, or one token, has submitted"
        " hold at once, in all pools together. In each team below it holds as well. Empty: no"
        " limit.",
    )
    gpu_hours_per_month = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(LEAST_GPU_HOURS), MaxValueValidator(MOST_GPU_HOURS)],
        help_text="That it and the teams below it may use in a month of UTC. Empty: no limit.",
    )
    when_used_up = models.CharField(
        max_length=12,
        choices=WhenUsedUp.choices(),
        default=WhenUsedUp.NO_NEW,
        db_default=WhenUsedUp.NO_NEW,
        help_text="What becomes of its jobs when these are used up.",
    )
    month = models.DateField(
        null=True, editable=False, help_text="The first day of the month that was counted last."
    )
    month_gpu_hours = models.FloatField(
        default=0.0, db_default=0.0, editable=False, help_text="Used in that month."
    )
    told_month = models.DateField(
        null=True, editable=False, help_text="In which its people heard of its budget last."
    )
    told_gpu_hours = models.FloatField(
        default=0.0, db_default=0.0, editable=False, help_text="How large it was then."
    )
    told_share = models.FloatField(
        default=0.0, db_default=0.0, editable=False, help_text="How much of it was used up then."
    )

    class Meta:
        verbose_name_plural = "limits of teams"
        constraints = (
            models.CheckConstraint(
                condition=Q(gpu_hours_per_month__isnull=True)
                | Q(gpu_hours_per_month__gte=LEAST_GPU_HOURS),
                name="budget_of_a_month_is_positive",
            ),
        )

    def __str__(self) -> str:
        return f"limits of {self.team_id}"

    def budget(self, team: str, now: datetime) -> TeamBudget | None:
        """Return how it stands with its GPU-hours of this month; None: it has no such limit."""
        if self.gpu_hours_per_month is None:
            return None
        month = month_of(now)
        is_told = self.told_month == month and self.told_gpu_hours == self.gpu_hours_per_month
        return TeamBudget(
            team=team,
            gpu_hours=self.gpu_hours_per_month,
            used_gpu_hours=self.month_gpu_hours if self.month == month else 0.0,
            month=month,
            then=WhenUsedUp(self.when_used_up),
            told_share=self.told_share if is_told else 0.0,
        )


def limits_of(team: Team) -> TeamLimits:
    """Return its limits, as they are without a row where it has none."""
    return getattr(team, "limits", None) or TeamLimits(team=team)
