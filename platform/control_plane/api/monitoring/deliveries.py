"""What is still to be sent to webhooks, and what was given up?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Min
from webhooks.models import DeliveryState, WebhookDelivery

from control_plane.api.monitoring import families
from control_plane.api.monitoring.families import MetricReading


def readings(now: datetime) -> Iterator[MetricReading]:
    """Yield what is read in two statements, each by an index of few rows."""
    waiting = WebhookDelivery.objects.filter(state=DeliveryState.WAITING).aggregate(
        deliveries=Count("pk"), since=Min("created_at")
    )
    dead = WebhookDelivery.objects.filter(state=DeliveryState.DEAD).count()
    yield families.DELIVERIES, (DeliveryState.WAITING.value,), waiting["deliveries"]
    yield families.DELIVERIES, (DeliveryState.DEAD.value,), dead
    since = waiting["since"]
    yield families.OLDEST_DELIVERY, (), max((now - since).total_seconds(), 0.0) if since else 0.0
