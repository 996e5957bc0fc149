"""Places that are free get the next trials, in the name of whoever submitted the sweep."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from schedules import holders
from schedules.holders import MayNotSubmit

from jobs.admission.pool_capacity import PoolCapacity
from jobs.commands import submission
from jobs.errors import JobsError, NameInUse, TeamDiskFull, TooManyQueued
from jobs.models import JobArray
from sweeps import places
from sweeps.models import Sweep

MOST_REFUSALS: Final = 10  # in a row, then no further trials are made; it takes two hours
_FIRST_REST: Final = timedelta(seconds=30)
_LONGEST_REST: Final = timedelta(minutes=15)
_log: Final = logging.getLogger(__name__)


def refill(sweep: Sweep, read_pools: Callable[[], Sequence[PoolCapacity]], now: datetime) -> None:
    """Submit as many trials as there are places, if any are left."""
    if sweep.ended_at is not None or (sweep.try_at is not None and sweep.try_at > now):
        return
    try:
        _submit(sweep, read_pools)
    except MayNotSubmit as lost:
        _refused(sweep, f"{lost}.", now, ends=True)
    except (TooManyQueued, TeamDiskFull, NameInUse) as full:  # which passes
        _refused(sweep, str(full), now, passes=True)
    except JobsError as refused:
        _refused(sweep, str(refused), now, ends=sweep.refusals + 1 >= MOST_REFUSALS)


@transaction.atomic
def _submit(sweep: Sweep, read_pools: Callable[[], Sequence[PoolCapacity]]) -> None:
    """Submit them, and write down how many there are, or neither.

    Nobody cancels the sweep meanwhile.
    """
    held = JobArray.objects.select_for_update(no_key=True).filter(pk=sweep.pk)
    if not sweep.array.is_open or not held.filter(is_open=True).exists():
        return
    sent = places.next_trials(sweep)
    if not sent:
        return
    team = sweep.team
    submission.submit(
        sent=sent,
        body=None,
        teams={team.name: team},
        pools=read_pools(),
        by=holders.principal_now(sweep),
        array=sweep.array,
    )
    made = sweep.made + len(sent)
    Sweep.objects.filter(pk=sweep.pk).update(made=made, refusals=0, try_at=None, message="")


def _refused(
    sweep: Sweep, message: str, now: datetime, *, passes: bool = False, ends: bool = False
) -> None:
    """Note why, and when it is tried again; if it ends, it makes no more trials.

    Refusals that pass leave half of those that do not until then.
    """
    rest = min(_FIRST_REST * 2 ** min(sweep.refusals, 10), _LONGEST_REST)
    refusals = sweep.refusals + 1
    end = " No further trials are submitted; those that are there go on." if ends else ""
    with transaction.atomic():
        if ends:
            JobArray.objects.filter(pk=sweep.pk).update(is_open=False)
        Sweep.objects.filter(pk=sweep.pk).update(
            message=f"{message[:900]}{end}",
            refusals=min(refusals, MOST_REFUSALS // 2) if passes else refusals,
            try_at=now + rest,
        )
    extra = {"action": "sweeps", "sweep": sweep.pk}
    _log.warning("Trials of sweep %s were refused: %s", sweep.pk, message, extra=extra)
