"""What is to be sent to whom, and how did it go?"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Final

from django.db import models
from django.db.models import Q

from webhooks.models.webhook import Webhook

ASKED_FOR: Final = datetime(1970, 1, 1, tzinfo=UTC)  # due before all that nobody asked for


class DeliveryState(models.TextChoices):
    """How far a delivery is."""

    WAITING = "waiting", "waiting: it is sent, again if it failed before"
    DELIVERED = "delivered", "delivered: the receiver answered that it has it"
    DEAD = "dead", "dead: for a day nobody took it; it is sent again if somebody asks for that"


class WebhookDelivery(models.Model):
    """One message to one webhook: there is exactly one for each event and webhook.

    Its id is sent along and stays the same however often it is sent, so that whoever receives it
    can tell what came twice.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="+", db_index=False)
    event_id = models.BigIntegerField(null=True, help_text="Null: it was asked for, as a test.")
    kind = models.CharField(max_length=40)
    job_id = models.CharField(max_length=12, default="", blank=True)
    body = models.TextField()
    state = models.CharField(max_length=9, choices=DeliveryState, default=DeliveryState.WAITING)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(help_text="Until then it is tried.")
    due_at = models.DateTimeField(help_text="No sooner; while it is sent, when that is over.")
    attempts = models.PositiveIntegerField(default=0, help_text="Which have begun.")
    failures = models.PositiveIntegerField(default=0, help_text="Since it was last asked for.")
    delivered_at = models.DateTimeField(null=True)
    tries = models.JSONField(default=list, help_text="How the last ones went.")

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = (
            models.Index(fields=("webhook", "-created_at", "-id"), name="deliveries_of_a_webhook"),
            models.Index(
                fields=("webhook", "due_at"),
                condition=Q(state=DeliveryState.WAITING),
                name="deliveries_that_are_due",
            ),
            models.Index(
                fields=("expires_at",),
                condition=Q(state=DeliveryState.WAITING),
                name="deliveries_that_wait",
            ),
            models.Index(
                fields=("webhook",),
                condition=Q(state=DeliveryState.DEAD),
                name="deliveries_nobody_took",
            ),
            models.Index(fields=("created_at",), name="old_deliveries"),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("webhook", "event_id"), name="one_delivery_of_an_event_to_a_webhook"
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} to {self.webhook_id}"

    @property
    def shown_due_at(self) -> datetime:
        return max(self.due_at, self.created_at)


class OutboxPlace(models.Model):
    """The only row of its table: up to which position events have been put into the outbox."""

    position = models.BigIntegerField()

    def __str__(self) -> str:
        return f"up to {self.position}"
