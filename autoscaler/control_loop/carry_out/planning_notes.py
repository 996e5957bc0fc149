"""What is noted of jobs and pools that could not be planned? Their people read it meanwhile.

A row that is held or gone does not undo the plan: it is noted in a later tick.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from cluster.models import Pool
from django.db import InterfaceError, OperationalError
from django.db.models import Q

from autoscaler.control_loop.database_timeouts import is_given_up
from autoscaler.control_loop.lease.exclusive import LeaseLost
from autoscaler.control_loop.plan.planning_round import PlanningRound
from autoscaler.control_loop.tick_context import TickContext
from jobs.commands import quarantine
from jobs.commands.quarantine import Part

_log = logging.getLogger(__name__)


def note_what_was_planned(planned: PlanningRound, context: TickContext) -> None:
    """Jobs that fail are left out for a while, and told; pools say since when they have no plan.

    Raises:
        LeaseLost: another process ticks.
        OperationalError: the database went away.
    """
    failing, healed = planned.failing, planned.healed
    if failing or healed:
        with _noting(context, of=", ".join(sorted(failing.keys() | healed))):
            quarantine.update(Part.PLANNING, failing=failing, healed=healed, now=context.now)
    _note_pools(planned.decided.unplanned, context)


@contextmanager
def _noting(context: TickContext, *, of: str) -> Iterator[None]:
    """A transaction for what people are told.

    Raises:
        LeaseLost: another process ticks.
        OperationalError: the database went away.
    """
    try:
        with context.fence.transaction():
            yield
    except OperationalError as error:
        if not is_given_up(error, job_id=of, action="note"):
            raise
    except (LeaseLost, InterfaceError):
        raise
    except Exception:  # noqa: BLE001 - whatever it is, the plan is carried out
        extra = {"action": "note", "job_id": of}
        _log.exception("What could not be planned is noted in a later tick.", extra=extra)


def _note_pools(unplanned: Mapping[str, str], context: TickContext) -> None:
    """Each pool says since when it has no plan, and why; one statement where all have one."""
    unsaid = Q(name__in=unplanned) | ~Q(unplanned_since=None)
    if not Pool.objects.filter(unsaid).exists():
        return
    with _noting(context, of="pools"):
        planned = Pool.objects.exclude(name__in=unplanned).exclude(unplanned_since=None)
        planned.update(unplanned_since=None, unplanned_because="")
        for name, why in unplanned.items():
            of_name = Pool.objects.filter(name=name)
            of_name.filter(unplanned_since=None).update(unplanned_since=context.now)
            of_name.filter(~Q(unplanned_because=why)).update(unplanned_because=why)
