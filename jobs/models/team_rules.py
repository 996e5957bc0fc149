"""What does a team say of the specs of its jobs, and which templates does it keep?"""

from __future__ import annotations

from django.db import models
from tenancy.models import Team, slug_validator

LONGEST_DESCRIPTION = 500


class TeamRules(models.Model):
    """Rules of a team and the teams below it. Without a row: none."""

    team = models.OneToOneField(
        Team, on_delete=models.CASCADE, related_name="rules", primary_key=True
    )
    defaults = models.JSONField(default=dict, db_default={}, blank=True)
    bounds = models.JSONField(default=dict, db_default={}, blank=True)
    labels = models.JSONField(default=dict, db_default={}, blank=True)
    pools = models.JSONField(null=True, blank=True, help_text="Null: all.")
    modes = models.JSONField(null=True, blank=True, help_text="Null: all.")
    is_locked = models.BooleanField(
        default=False,
        db_default=False,
        help_text="True: leads of the team change nothing of them; admins and leads above do.",
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "rules of teams"

    def __str__(self) -> str:
        return f"rules of {self.team_id}"


class JobTemplate(models.Model):
    """A part of a job spec with a name, for a team and the teams below it."""

    team = models.ForeignKey(
        Team, on_delete=models.CASCADE, related_name="job_templates", db_index=False
    )
    name = models.CharField(max_length=40, validators=[slug_validator])
    description = models.CharField(max_length=LONGEST_DESCRIPTION, default="", blank=True)
    spec = models.JSONField(help_text="What a job gets where its own spec says nothing.")
    version = models.PositiveIntegerField(
        default=1, db_default=1, help_text="Counts up with each change."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)
    changed_by = models.CharField(max_length=150, default="", blank=True)

    class Meta:
        ordering = ("team", "name")
        constraints = (
            models.UniqueConstraint(
                fields=("team", "name"), name="template_names_are_unique_per_team"
            ),
        )

    def __str__(self) -> str:
        return f"{self.team_id}/{self.name} (version {self.version})"
