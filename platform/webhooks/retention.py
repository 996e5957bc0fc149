"""When are deliveries forgotten? Those that wait never; they stop waiting within a day."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone

from webhooks.models import DeliveryState, Webhook, WebhookDelivery

MOST_OF_ONE: Final = 20_000  # deliveries of a webhook that are kept, at some 2 KB; guessed


def delete_old(
    kept: timedelta | None, *, erase: Callable[[QuerySet[Any]], int], most: int = MOST_OF_ONE
) -> Mapping[str, int]:
    """Delete what is old or beyond so many of a webhook, in bounded batches, and tell how many."""
    deleted = sum(erase(rows.exclude(state=DeliveryState.WAITING)) for rows in _crowds(most))
    if kept is not None:
        old = WebhookDelivery.objects.filter(created_at__lt=timezone.now() - kept)
        deleted += erase(old.exclude(state=DeliveryState.WAITING))
    return {"deliveries": deleted}


def _crowds(most: int) -> Iterator[QuerySet[WebhookDelivery]]:
    """Yield for each webhook that has more than so many what came before those, or nearly."""
    newest = WebhookDelivery.objects.filter(webhook=OuterRef("pk")).order_by("-created_at", "-id")
    until = Subquery(newest.values("created_at")[most - 1 : most])
    crowded = Webhook.objects.annotate(until=until).filter(until__isnull=False)
    for webhook, until_then in crowded.values_list("pk", "until"):
        yield WebhookDelivery.objects.filter(webhook_id=webhook, created_at__lt=until_then)
