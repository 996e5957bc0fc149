"""For how long does a team keep what its jobs leave behind, and what do admins allow?"""

from __future__ import annotations

from typing import Final

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q

from tenancy.models.team import Team

MOST_DAYS: Final = 36_500
_DAYS: Final = (MaxValueValidator(MOST_DAYS),)


class KeptPart(models.TextChoices):
    """A part of what jobs leave behind that is kept for a time of its own."""

    CURVES = "curves", "curves: what they logged over time"
    LOGS = "logs", "logs: what their processes wrote"
    CHECKPOINTS = "checkpoints", "checkpoints, and what else they worked with"
    OUTPUTS = "outputs", "outputs: what they handed over"
    CODE = "code", "code: the snapshot that they ran"


class RetentionRule(models.Model):
    """How long one part of a team's ended jobs stays; the installation says what it leaves open."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="retention_rules")
    part = models.CharField(max_length=20, choices=KeptPart)
    days = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=_DAYS,
        help_text="After a job's end. 0: for ever. Empty: the installation's number.",
    )
    least_days = models.PositiveIntegerField(
        null=True, blank=True, validators=_DAYS, help_text="The team keeps it no shorter."
    )
    most_days = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=(MinValueValidator(1), *_DAYS),
        help_text="The team keeps it no longer. Empty: as long as it likes.",
    )

    class Meta:
        ordering = ("team", "part")
        constraints = (
            models.UniqueConstraint(fields=("team", "part"), name="one_retention_rule_per_part"),
            models.CheckConstraint(
                condition=Q(least_days=None)
                | Q(most_days=None)
                | Q(least_days__lte=F("most_days")),
                name="kept_no_longer_than_kept_at_least",
            ),
            models.CheckConstraint(condition=~Q(most_days=0), name="kept_at_most_a_day_or_more"),
        )

    def __str__(self) -> str:
        return f"{self.part} of {self.team}"

    def days_after(self, default: int) -> int:
        """Return how long it is kept; 0: for ever. Bounds count for the default as well."""
        wanted = default if self.days is None else self.days
        if wanted:
            wanted = max(wanted, self.least_days or 0)
        if self.most_days is not None:
            wanted = min(wanted or self.most_days, self.most_days)
        return wanted
