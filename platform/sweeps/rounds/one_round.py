"""The whole round: look at sweeps that go on, the longest unseen first, while there is time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from django.db.models import F

from jobs.admission.pool_capacity import PoolCapacity
from sweeps.models import Sweep
from sweeps.rounds import refilling, weighing

MOST_SWEEPS: Final = 50  # a few milliseconds each
_log: Final = logging.getLogger(__name__)


def run_round(
    read_pools: Callable[[], Sequence[PoolCapacity]],
    *,
    clock: Callable[[], datetime],
    has_time: Callable[[], bool],
) -> None:
    """Look at each sweep that goes on; one that fails stops no other.

    It takes one statement where there is none, and as many for a sweep of a thousand trials as for
    one of ten.
    """
    found = Sweep.objects.filter(ended_at=None).select_related("array__team")
    for sweep in found.order_by(F("looked_at").asc(nulls_first=True), "pk")[:MOST_SWEEPS]:
        try:
            Sweep.objects.filter(pk=sweep.pk).update(looked_at=clock())  # first: it may fail
            weighing.weigh(sweep, clock())
            refilling.refill(sweep, read_pools, clock())
        except Exception:  # noqa: BLE001 - whatever it is, the others go on
            _tell(sweep)
        if not has_time():
            break


def _tell(sweep: Sweep) -> None:
    extra = {"action": "sweeps", "sweep": sweep.pk}
    _log.exception("Sweep %s could not be handled; it is tried again.", sweep.pk, extra=extra)
