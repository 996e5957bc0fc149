"""What may only the jobs of a team know?"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from tenancy.models.slug import slug_validator
from tenancy.models.team import Team


class Secret(models.Model):
    """Something that only a team's jobs may know; only `secrets.team_secrets` decrypts it."""

    class Kind(models.TextChoices):
        ENVIRONMENT = "environment", "environment: variables for the jobs that name it"
        REGISTRY = "registry", "registry: a login, for images of the team's jobs"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="secrets")
    name = models.CharField(max_length=40, validators=[slug_validator])
    kind = models.CharField(max_length=11, choices=Kind)
    variables = models.JSONField(default=list, help_text="Names of what it sets, in order.")
    registry = models.CharField(max_length=255, default="", blank=True, help_text="Of a login.")
    sealed = models.TextField(editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.CharField(max_length=150)

    class Meta:
        ordering = ("team", "name")
        constraints = (
            models.UniqueConstraint(
                fields=("team", "name"), name="secret_names_are_unique_per_team"
            ),
            models.UniqueConstraint(
                fields=("team", "registry"),
                condition=~Q(registry=""),
                name="one_login_per_team_and_registry",
            ),
        )

    def __str__(self) -> str:
        return f"{self.team}/{self.name} ({self.kind})"
