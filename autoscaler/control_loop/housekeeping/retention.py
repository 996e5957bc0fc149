"""What may be forgotten of the control loop, and when? Ticks; what they did stays with the jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from autoscaler.control_loop.models import Tick


def delete_old(
    kept: timedelta | None, *, erase: Callable[[QuerySet[Any]], int]
) -> Mapping[str, int]:
    """Delete what is old, in bounded batches; the newest stays, for its prices."""
    if kept is None:
        return {}
    newest = Tick.objects.order_by("-at").values("pk")[:1]
    old = Tick.objects.filter(at__lt=timezone.now() - kept).exclude(pk__in=newest)
    return {"ticks": erase(old)}
