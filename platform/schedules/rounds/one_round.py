"""The whole round: record what is due, then submit what waits, as long as there is time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from jobs.admission.pool_capacity import PoolCapacity
from schedules.rounds import recording, trying

MOST_RECORDED: Final = 200  # schedules, a few milliseconds each
MOST_TRIED: Final = 50  # runs
_log: Final = logging.getLogger(__name__)


def run_round(
    read_pools: Callable[[], Sequence[PoolCapacity]],
    *,
    clock: Callable[[], datetime],
    has_time: Callable[[], bool],
) -> None:
    """Do what is due now; the rest is done in the next round. One that fails stops no other.

    It takes two statements where nothing is due.
    """
    for schedule_id, seen in recording.due(clock(), MOST_RECORDED):
        try:
            recording.record(schedule_id, seen, clock())
        except Exception:  # noqa: BLE001 - whatever it is, the others go on
            _tell(schedule_id)
        if not has_time():
            break
    runs = trying.waiting(clock(), MOST_TRIED)
    pools = read_pools() if runs else ()
    for run in runs:
        try:
            trying.attempt(run, pools, clock())
        except Exception:  # noqa: BLE001 - whatever it is, the others go on
            _tell(run.schedule_id)
        if not has_time():
            break


def _tell(schedule_id: str) -> None:
    extra = {"action": "schedules", "schedule": schedule_id}
    _log.exception("Schedule %s could not be handled; it is tried again.", schedule_id, extra=extra)
