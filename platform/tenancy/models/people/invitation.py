"""Who is invited into which team, and what became of it?"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from tenancy.models.team import Membership, Team


class Invitation(models.Model):
    """A key that makes one person a member of a team, once. Only its digest is kept."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Membership.Role)
    mail = models.CharField(max_length=254, default="", help_text="To whom it was sent, if so.")
    prefix = models.CharField(max_length=12, help_text="The beginning of its key.")
    digest = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="invitations"
    )
    invited_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(revoked_at=None) | Q(accepted_at=None),
                name="an_invitation_ends_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.team} ({self.role}): {self.prefix}…"
