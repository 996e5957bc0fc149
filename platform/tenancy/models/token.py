"""Which keys let a team's programs in?"""

from __future__ import annotations

from django.db import models

from tenancy.models.team import Team


class Token(models.Model):
    """A team's key for programs. Only a digest is kept; the key is shown once."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12, help_text="The first characters, to recognise it by.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("team", "name")

    def __str__(self) -> str:
        return f"{self.team}/{self.name} ({self.prefix}…)"
