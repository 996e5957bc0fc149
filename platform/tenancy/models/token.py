"""Which keys let a team's programs in?"""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from tenancy.models.team import Team


class TokenState(models.TextChoices):
    """A token is valid, or its key opens nothing, for one of two reasons."""

    VALID = "valid"
    EXPIRED = "expired"
    REVOKED = "revoked"


class TokenScope(models.TextChoices):
    """A scope is a part of what a token may do; each lets it see the team as well."""

    READ = "read", "read: sees everything of the team, and changes nothing"
    SUBMIT = "submit", "submit: also submits jobs and uploads code"
    MANAGE_JOBS = "manage-jobs", "manage-jobs: also changes all jobs, and names models"


class Token(models.Model):
    """A team's key for programs. Only a digest is kept; the key is shown once."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    created_by = models.CharField(max_length=200, default="", db_default="", editable=False)
    prefix = models.CharField(max_length=12, help_text="The first characters, to recognise it by.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    scopes = models.JSONField(
        null=True, blank=True, help_text="None: it may do all that tokens may."
    )
    last_used_from = models.CharField(
        max_length=64,
        default="",
        db_default="",
        editable=False,
        help_text="An address; of IPv6 the network of 64 bits that it is in.",
    )

    class Meta:
        ordering = ("team", "name")

    def __str__(self) -> str:
        return f"{self.team}/{self.name} ({self.prefix}…)"

    @property
    def state(self) -> str:
        """What it is now: `valid`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return TokenState.REVOKED
        has_expired = self.expires_at is not None and self.expires_at <= timezone.now()
        return TokenState.EXPIRED if has_expired else TokenState.VALID
