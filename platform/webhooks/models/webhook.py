"""Who wants to be told, and of what?"""

from __future__ import annotations

from django.db import models
from tenancy.models import Team, slug_validator


class WebhookShape(models.TextChoices):
    """How messages look."""

    JSON = "json", "json: the event as the API has it, signed"
    SLACK = "slack", "slack: a sentence, as Slack's incoming webhooks take it"
    MATTERMOST = "mattermost", "mattermost: a sentence, as Mattermost's take it"
    MAIL = "mail", "mail: an e-mail, to the address behind `mailto:`"


class Webhook(models.Model):
    """An address that is told of events; only `webhooks.secrets` knows it whole."""

    team = models.ForeignKey(
        Team,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="webhooks",
        help_text="Whose jobs it is about, and those of teams below. Null: all, for admins.",
    )
    name = models.CharField(max_length=40, validators=[slug_validator])
    shape = models.CharField(max_length=10, choices=WebhookShape, default=WebhookShape.JSON)
    kinds = models.JSONField(default=list, help_text="Of events; none: all.")
    states = models.JSONField(
        default=list, help_text="Of changes of state only those to one of these; none: all."
    )
    is_on_request = models.BooleanField(
        default=False, help_text="It is told only of jobs that name it in their `notify`."
    )
    shown_url = models.CharField(max_length=300, help_text="Without what may be secret in it.")
    sealed = models.TextField(editable=False)
    is_enabled = models.BooleanField(default=True)
    after_position = models.BigIntegerField(
        editable=False, help_text="Of the newest event when it was made: it is told of later ones."
    )
    failures = models.PositiveIntegerField(
        default=0, editable=False, help_text="In a row. While there are any, it is tried singly."
    )
    rests_until = models.DateTimeField(
        null=True, editable=False, help_text="Until then nothing is sent there, as it failed."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=200)

    class Meta:
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint(
                fields=("team", "name"),
                nulls_distinct=False,
                name="webhook_names_are_unique_per_team",
            ),
        )

    def __str__(self) -> str:
        return f"{self.team or 'installation'}/{self.name}"
