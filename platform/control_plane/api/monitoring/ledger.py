"""What became of GPU time, by team, and of which hours is that not known?

The accounts are kept for ever and do not change, so their sums only grow. They are read by day and
team: jobs do not make them longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from django.db.models import Sum

from autoscaler.gpu_accounts.checking import gaps
from autoscaler.gpu_accounts.models import TeamDay
from control_plane.api.monitoring import families
from control_plane.api.monitoring.families import MetricFamily, MetricReading

_USES: Final = ("guaranteed", "borrowed", "reserved", "idle")
_OTHERS: Final[Mapping[str, MetricFamily]] = {
    "lent": families.LENT_SECONDS,
    "starting": families.STARTING_SECONDS,
    "stalled": families.STALLED_SECONDS,
    "lost": families.LOST_SECONDS,
}
_SECOND: Final = 1_000_000


def readings(now: datetime) -> Iterator[MetricReading]:
    """Yield what is read in two statements."""
    names = (*_USES, *_OTHERS)
    rows = TeamDay.objects.order_by().values_list("pool", "team")
    for pool, team, *sums in rows.annotate(**{f"all_{name}": Sum(name) for name in names}):
        amounts = {
            name: float(all_of_it) / _SECOND for name, all_of_it in zip(names, sums, strict=True)
        }
        for use in _USES:
            yield families.GPU_SECONDS, (pool, team, use), amounts[use]
        if team:
            for name, family in _OTHERS.items():
                yield family, (pool, team), amounts[name]
    known = gaps(now)
    if known.closed_until is not None:
        yield families.LEDGER_CLOSED, (), known.closed_until.timestamp()
    yield families.LEDGER_GAPS, (), known.hours
    yield families.LEDGER_UNSEEN, (), known.unseen_seconds
