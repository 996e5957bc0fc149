"""What may be forgotten of the control loop, and when? Ticks; what they did stays with the jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.utils import timezone

from autoscaler.control_loop.models import Tick

TICKS_KEPT: Final = timedelta(days=30)
MOST_ROWS_AT_ONCE: Final = 20_000  # guessed: a second of work, so that nothing waits for it


def delete_old() -> dict[str, int]:
    """Delete a bounded number of old rows and tell how many."""
    old = Tick.objects.filter(at__lt=timezone.now() - TICKS_KEPT)
    some = list(old.order_by("at").values_list("pk", flat=True)[:MOST_ROWS_AT_ONCE])
    deleted, _ = Tick.objects.filter(pk__in=some).delete()
    return {"ticks": deleted}
