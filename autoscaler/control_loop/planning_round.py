"""What is decided in this tick, and about which jobs can nothing be decided?

Observe, plan, check and explain, each of which may fail for one job's data: that job is left out,
its team is told, and it is tried again later. The rest is decided. Should all of it fail, the tick
goes on without a plan, for workers have to be looked after and GPU time counted all the same.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from cluster.models import Pool
from django.db import InterfaceError, OperationalError
from django.db.models import Q

from autoscaler.control_loop.apply.plan import explained_decisions
from autoscaler.control_loop.cluster_view import Seen, cluster_state
from autoscaler.control_loop.deciding import Check, Decided, Planner, decide
from autoscaler.control_loop.exclusive import Overtaken
from autoscaler.control_loop.explained import ExplainedDecision
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.patience import is_given_up
from autoscaler.control_loop.shell import Shell
from autoscaler.planning.decisions.plan import Plan
from jobs.commands import quarantine
from jobs.commands.quarantine import Part, storable

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningRound:
    """A plan with its words, as far as there is one."""

    decided: Decided
    decisions: Sequence[ExplainedDecision]


def plan_what_can_be_planned(
    views: Mapping[str, JobView],
    shell: Shell,
    *,
    planner: Planner,
    check: Check,
    lap: Callable[[str], None],
) -> PlanningRound:
    """Decide about all jobs that can be reckoned with, and note the others.

    Raises:
        Overtaken: another process ticks.
        OperationalError: the database went away.
    """
    try:
        made = _planned(views, shell, planner=planner, check=check, lap=lap)
    except (Overtaken, OperationalError, InterfaceError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
        _log.exception("Nothing can be planned.", extra={"action": "plan"})
        made = PlanningRound(decided=_nothing(error), decisions=())
    _note_unplanned(made.decided.unplanned, shell)
    return made


def _planned(
    views: Mapping[str, JobView],
    shell: Shell,
    *,
    planner: Planner,
    check: Check,
    lap: Callable[[str], None],
) -> PlanningRound:
    tried = quarantine.left_out(Part.PLANNING, shell.now)
    seen = cluster_state(views.values(), shell.now, left_out=tried.job_ids)
    lap("observe")
    decided = decide(seen.state, planner, check)
    silent = tried.job_ids | seen.failing.keys() | decided.failing.keys()
    decisions, unexplained = explained_decisions(
        decided.plan, views, left_out=silent, on_trial=tried.on_trial
    )
    failing = {**seen.failing, **decided.failing, **unexplained}
    healed = (tried.on_trial & _looked_into(seen, decided)) - failing.keys()
    if failing or healed:
        with _noting(shell, of=", ".join(sorted(failing.keys() | healed))):
            quarantine.update(Part.PLANNING, failing=failing, healed=healed, now=shell.now)
    return PlanningRound(decided=decided, decisions=decisions)


@contextmanager
def _noting(shell: Shell, *, of: str) -> Iterator[None]:
    """A transaction for what people are told. A row that is held or gone does not undo the plan.

    Raises:
        Overtaken: another process ticks.
        OperationalError: the database went away.
    """
    try:
        with shell.fence.transaction():
            yield
    except OperationalError as error:
        if not is_given_up(error, job_id=of, action="note"):
            raise
    except (Overtaken, InterfaceError):
        raise
    except Exception:  # noqa: BLE001 - whatever it is, the plan is carried out
        extra = {"action": "note", "job_id": of}
        _log.exception("What could not be planned is noted in a later tick.", extra=extra)


def _looked_into(seen: Seen, decided: Decided) -> frozenset[str]:
    """The jobs of pools that were planned."""
    planned = (job for job in seen.state.jobs if job.pool not in decided.unplanned)
    return frozenset(job.job_id for job in planned)


def _nothing(error: Exception) -> Decided:
    why = f"the cluster cannot be observed: {storable(error)}"
    pools = Pool.objects.values_list("name", flat=True)
    nothing = Plan(decisions=(), pools=())
    return Decided(plan=nothing, alarm=why, unplanned=dict.fromkeys(pools, why))


def _note_unplanned(unplanned: Mapping[str, str], shell: Shell) -> None:
    """Each pool says since when it has no plan, and why; one statement where all have one."""
    unsaid = Q(name__in=unplanned) | ~Q(unplanned_since=None)
    if not Pool.objects.filter(unsaid).exists():
        return
    with _noting(shell, of="pools"):
        planned = Pool.objects.exclude(name__in=unplanned).exclude(unplanned_since=None)
        planned.update(unplanned_since=None, unplanned_because="")
        for name, why in unplanned.items():
            of_name = Pool.objects.filter(name=name)
            of_name.filter(unplanned_since=None).update(unplanned_since=shell.now)
            of_name.filter(~Q(unplanned_because=why)).update(unplanned_because=why)
