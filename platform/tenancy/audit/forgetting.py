"""What becomes of old entries? The database lets go of them by one function, and notes that."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from django.db import connection
from django.utils import timezone

AT_ONCE: Final = 5000
LEAST_DAYS: Final = 30  # as the function has it
HasTime = Callable[[], bool]


def forget_old(kept: timedelta, *, has_time: HasTime) -> int:
    """Let go of entries older than this, at least of 30 days, while there is time; count them."""
    forgotten, before = 0, timezone.now() - kept
    while has_time():
        with connection.cursor() as cursor:
            cursor.execute("SELECT tenancy_forget_audit(%s, %s)", [before, AT_ONCE])
            (some,) = cursor.fetchone() or (0,)
        forgotten += some
        if some < AT_ONCE:
            break
    return forgotten
