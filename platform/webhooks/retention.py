"""When are deliveries forgotten? Those that wait never; they stop waiting within a day."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from webhooks.models import DeliveryState, WebhookDelivery


def delete_old(
    kept: timedelta | None, *, erase: Callable[[QuerySet[Any]], int]
) -> Mapping[str, int]:
    """Delete what is old, in bounded batches, and tell how many."""
    if kept is None:
        return {}
    old = WebhookDelivery.objects.filter(created_at__lt=timezone.now() - kept)
    return {"deliveries": erase(old.exclude(state=DeliveryState.WAITING))}
