"""Are plans applied, and if not, since when?

Everybody may read this: it says which pools, not why. The cause may name teams and their jobs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from cluster.models import Pool
from django.conf import settings

from jobs.commands import quarantine

_STANDS_STILL_AFTER: Final = timedelta(seconds=60)  # guessed, or so many ticks if they are long
_LATE_TICKS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningStatus:
    """Do jobs start, grow and shrink as they should, and how many are left out of plans?"""

    are_applied: bool
    since: datetime | None
    message: str
    jobs_left_out: int


def read(*, last_looked_at: datetime | None, now: datetime) -> PlanningStatus:
    """Read the status in two statements."""
    without = Pool.objects.exclude(unplanned_since=None).order_by("name")
    unplanned = dict(without.values_list("name", "unplanned_since"))
    since = min(filter(None, unplanned.values()), default=None)
    message = _of_pools(list(unplanned)) if unplanned else ""
    patience = max(_STANDS_STILL_AFTER, _LATE_TICKS * timedelta(seconds=_tick_seconds()))
    if last_looked_at is not None and now - last_looked_at > patience:
        since = min(filter(None, (since, last_looked_at)))
        message = (
            "The control loop stands still: no job starts, changes its size or is looked after."
            " An admin finds out more with `./dev status` or in the log of control."
        )
    return PlanningStatus(
        are_applied=not message,
        since=since,
        message=message,
        jobs_left_out=quarantine.count(),
    )


def _tick_seconds() -> float:
    return float(settings.CONCERTINA.tick_seconds)


def _of_pools(names: list[str]) -> str:
    pools = f"pool {names[0]}" if len(names) == 1 else f"pools {', '.join(names)}"
    return (
        f"No sound plan can be made for {pools}: no job starts or changes its size there, running"
        " jobs train on. An admin finds the cause in the log of control, at `action=alarm`."
    )
