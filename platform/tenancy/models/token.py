"""Which keys let a team's programs in, and which ones people? And who waits for one?"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
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
    MANAGE_JOBS = "manage-jobs", "manage-jobs: also changes jobs, and names models"
    MANAGE_TEAM = "manage-team", "manage-team: also sets up the team, and says who is in it"
    ADMIN = "admin", "admin: whatever an admin may do; for personal tokens of admins alone"


class Key(models.Model):
    """A key that lets somebody in. Only a digest is kept; the key is shown once."""

    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12, help_text="The first characters, to recognise it by.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_from = models.CharField(
        max_length=64,
        default="",
        db_default="",
        editable=False,
        help_text="An address; of IPv6 the network of 64 bits that it is in.",
    )

    pools = models.JSONField(
        null=True, blank=True, help_text="The only pools whose jobs it reaches. Empty: any."
    )
    labels = models.JSONField(
        null=True, blank=True, help_text="What all jobs that it reaches have. Empty: any."
    )
    line = models.BigIntegerField(
        null=True,
        editable=False,
        help_text="The first of those that took each other's place; null: it is the first.",
    )

    class Meta:
        abstract = True

    @property
    def line_id(self) -> int:
        """What stays the same when it is rotated."""
        return int(self.pk) if self.line is None else self.line

    @property
    def state(self) -> str:
        """What it is now: `valid`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return TokenState.REVOKED
        has_expired = self.expires_at is not None and self.expires_at <= timezone.now()
        return TokenState.EXPIRED if has_expired else TokenState.VALID


class Token(Key):
    """A team's key for programs."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="tokens")
    created_by = models.CharField(max_length=200, default="", db_default="", editable=False)
    scopes = models.JSONField(
        null=True, blank=True, help_text="None: it may do all that tokens may."
    )

    class Meta:
        ordering = ("team", "name")

    def __str__(self) -> str:
        return f"{self.team}/{self.name} ({self.prefix}…)"


class PersonalToken(Key):
    """A person's key: it may do what they may, as far as its scopes say."""

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="personal_tokens"
    )
    scopes = models.JSONField(default=list)

    class Meta:
        ordering = ("person", "name")

    def __str__(self) -> str:
        return f"{self.person}: {self.name} ({self.prefix}…)"


class DeviceLogin(models.Model):
    """A command line that asks for a personal token. Only digests of its codes are kept."""

    class State(models.TextChoices):
        """A person says yes or no once; what was answered with a key is deleted."""

        PENDING = "pending"
        CONFIRMED = "confirmed"
        REFUSED = "refused"

    device_digest = models.CharField(max_length=64, unique=True, editable=False)
    user_digest = models.CharField(max_length=64, unique=True, editable=False)
    name = models.CharField(max_length=80, help_text="Of the token, as the command line says.")
    scopes = models.JSONField(default=list)
    days = models.PositiveIntegerField(null=True, help_text="Until the token expires; None: never.")
    address = models.CharField(max_length=64, help_text="From where it was asked for.")
    state = models.CharField(max_length=16, choices=State.choices, default=State.PENDING)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.CASCADE,
        related_name="device_logins",
        help_text="Who said yes or no.",
    )
    asked_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(state="pending", person=None)
                | (~Q(state="pending") & Q(person__isnull=False)),
                name="who_answered_a_login_is_known",
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} from {self.address}: {self.state}"
