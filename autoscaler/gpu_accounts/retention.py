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
    OwedSpan,
    PromiseSpan,
    UnseenSpan,
)
from autoscaler.gpu_accounts.models.recordings import RecordedSpan

KEPT: Final = timedelta(days=7)  # guessed: time to look into what the nightly check has found
OWED_KEPT: Final = timedelta(days=100)  # guessed: a quarter's receipt can name moments and jobs
_KEPT: Final[Mapping[type[RecordedSpan], timedelta]] = {
    **dict.fromkeys((HeldSpan, CapacitySpan, PromiseSpan, UnseenSpan), KEPT),
    OwedSpan: OWED_KEPT,
}


def delete_old(*, erase: Callable[[QuerySet[Any]], int]) -> Mapping[str, int]:
    """Delete them in bounded batches, and tell how many of each kind. Accounts stay for ever."""
    last = ClosedHour.objects.aggregate(hour=Max("hour"))["hour"]
    if last is None:
        return {}
    return {
        f"gpu_{kind.__name__.lower()}s": erase(
            kind._default_manager.filter(until__lt=last - kept)  # noqa: SLF001 - its name
        )
        for kind, kept in _KEPT.items()
    }
