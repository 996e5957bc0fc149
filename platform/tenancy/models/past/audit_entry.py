"""Who did what, and who was refused what? Rows that nobody changes, each about one request.

The database refuses to change them, and lets go of old ones by one function alone; see the
migration that makes the table.
"""

from __future__ import annotations

from django.db import models


class AuditOutcome(models.TextChoices):
    """A request was carried out, or was not, for one of two kinds of reasons."""

    DONE = "done"
    REFUSED = "refused", "refused: for who asked"
    FAILED = "failed", "failed: for another reason"


class AuditSenderKind(models.TextChoices):
    """A sender is known, and then how, or is not."""

    PERSON = "person"
    TOKEN = "token"  # noqa: S105 - a kind of sender
    SERVICE = "service", "service: its own commands and rules"
    UNKNOWN = "unknown"


class AuditEntry(models.Model):
    """One request that changed something, or requests of one kind that were not carried out."""

    at = models.DateTimeField(help_text="Of several, the first.")
    outcome = models.CharField(max_length=10, choices=AuditOutcome)
    sender_kind = models.CharField(max_length=10, choices=AuditSenderKind)
    sender = models.CharField(max_length=200, help_text="Empty: nobody knows.")
    person_id = models.BigIntegerField(null=True)
    token_id = models.BigIntegerField(null=True)
    token_prefix = models.CharField(max_length=12)
    address = models.CharField(max_length=64)
    operation = models.CharField(max_length=100)
    target = models.CharField(max_length=300, help_text="An address below /api/v1, or of a page.")
    team_id = models.BigIntegerField(null=True)  # no foreign key: it outlives the team
    answer = models.PositiveSmallIntegerField(help_text="An HTTP status; 0: it was no request.")
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    repeats_key = models.CharField(
        max_length=64, help_text="Empty: such a row stands for one request."
    )

    class Meta:
        ordering = ("-id",)
        indexes = (
            models.Index(fields=("at",), name="audit_by_moment"),
            models.Index(fields=("team_id", "id"), name="audit_by_team"),
            models.Index(fields=("sender", "id"), name="audit_by_sender"),
            models.Index(fields=("operation", "id"), name="audit_by_operation"),
            models.Index(
                fields=("target",), opclasses=("varchar_pattern_ops",), name="audit_by_target"
            ),
        )

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.sender or 'somebody'}: {self.operation}"


class AuditRepeats(models.Model):
    """How often what an entry tells of happened within its hour."""

    key = models.CharField(max_length=64, primary_key=True)
    times = models.PositiveBigIntegerField()
    last_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.times} times until {self.last_at}"
