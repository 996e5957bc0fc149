"""Which checkpoints are to stay, and which no more? Names are made and taken away here."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final

from cluster.files.discarding import discard
from django.db.models import Exists, OuterRef
from storage.errors import ResultUnknown
from storage.models import HeldCheckpoint
from storage.results import held
from storage.results.held import HeldFolder

from autoscaler.control_loop.lease.orders import FencedOrders
from jobs.lifecycle import LIVE
from jobs.models import Job

MOST_AT_ONCE: Final = 50  # guessed: each is a few calls of the file system
_PAUSE: Final = timedelta(minutes=1)  # guessed: until a disk that refuses is asked again
_ASIDE: Final = ".discarded"
_State = HeldCheckpoint.State

_log = logging.getLogger(__name__)


def hold_checkpoints(orders: FencedOrders, now: datetime) -> None:
    """Hold what is wanted, and let go of what no live job or model is for.

    Raises:
        LeaseLost: another process holds the lease now.
    """
    _hold(orders, now)
    _let_go(orders)


def _hold(orders: FencedOrders, now: datetime) -> None:
    found: dict[str, list[int]] = {state: [] for state in (*_State, "")}
    due = HeldCheckpoint.objects.filter(state=_State.WANTED, due_at__lte=now)
    for one in due[:MOST_AT_ONCE]:
        try:
            with orders.giving():
                held.make(one, orders.state_dir)
        except ResultUnknown:
            found[_State.LOST].append(one.pk)
        except OSError as problem:
            extra = {"action": "hold_checkpoint", "job_id": one.source_job}
            _log.warning("%s cannot be held, later perhaps: %s", one, problem, extra=extra)
            found[""].append(one.pk)
        else:
            found[_State.HELD].append(one.pk)
    if not any(found.values()):
        return
    with orders.fence.transaction():
        for state in (_State.HELD, _State.LOST):
            HeldCheckpoint.objects.filter(pk__in=found[state]).update(state=state)
        HeldCheckpoint.objects.filter(pk__in=found[""]).update(due_at=now + _PAUSE)


def _let_go(orders: FencedOrders) -> None:
    """The folder first: a row without one is looked at again, a folder without a row never."""
    live = Job.objects.filter(pk=OuterRef("for_job"), state__in=LIVE)
    unneeded = HeldCheckpoint.objects.filter(version=None).exclude(Exists(live))
    gone = list[int]()
    for number in unneeded.values_list("pk", flat=True)[:MOST_AT_ONCE]:
        folder = HeldFolder(state_dir=orders.state_dir, number=number)
        with orders.giving():
            discard(folder.folder, aside=folder.jobs_dir / _ASIDE)
        gone.append(number)
    if gone:
        with orders.fence.transaction():
            HeldCheckpoint.objects.filter(pk__in=gone).delete()
