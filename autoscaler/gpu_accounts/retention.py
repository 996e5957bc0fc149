"""Which recordings may be forgotten? Those that ended well before the last hour that is closed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from django.db.models import Max, QuerySet

from autoscaler.gpu_accounts.models import (
    CapacitySpan,
    ClosedHour,
    HeldSpan,
    PromiseSpan,
    UnseenSpan,
)

KEPT: Final = timedelta(days=7)  # guessed: time to look into what the nightly check has found


def delete_old(*, erase: Callable[[QuerySet[Any]], int]) -> Mapping[str, int]:
    """Delete them in bounded batches, and tell how many of each kind. Accounts stay for ever."""
    last = ClosedHour.objects.aggregate(hour=Max("hour"))["hour"]
    if last is None:
        return {}
    return {
        f"gpu_{kind.__name__.lower()}s": erase(
            kind._default_manager.filter(until__lt=last - KEPT)  # noqa: SLF001 - its name
        )
        for kind in (HeldSpan, CapacitySpan, PromiseSpan, UnseenSpan)
    }
