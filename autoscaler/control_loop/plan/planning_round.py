"""What is decided in this tick, and about which jobs can nothing be decided?

Observe, plan, check and explain, each of which may fail for one job's data: that job is left out,
its team is told (`carry_out.planning_notes`), and it is tried again later. The rest is decided.
Should all of it fail, the tick goes on without a plan, for workers have to be looked after and GPU
time counted all the same.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from cluster.models import Pool
from django.db import InterfaceError, OperationalError

from autoscaler.control_loop.observation_budget import OBSERVATION_SECONDS, ObservationBudget
from autoscaler.control_loop.observe.for_planner.cluster_view import ObservedCluster, cluster_state
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.plan.deciding import Check, Planner, PoolPlans, decide
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.plan.explaining import explained_decisions
from autoscaler.planning.decisions.plan import Plan
from autoscaler.planning.snapshot.cluster_state import ClusterState
from jobs.commands import quarantine
from jobs.commands.quarantine import Part, storable

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningRound:
    """A plan with its words, as far as there is one."""

    decided: PoolPlans
    decisions: Sequence[ExplainedDecision]
    failing: Mapping[str, Exception] = field(default_factory=dict)  # jobs, and what they make fail
    healed: frozenset[str] = frozenset()  # jobs that did and do no longer
    puts_off: bool = False  # there was no time to look into all jobs
    state: ClusterState | None = None  # what was planned; None: nothing could be seen


def plan_what_can_be_planned(
    views: Mapping[str, LiveJob],
    now: datetime,
    *,
    planner: Planner,
    check: Check,
    lap: Callable[[str], None],
    observation_seconds: float = OBSERVATION_SECONDS,
    shows_others: bool = True,
) -> PlanningRound:
    """Decide about all jobs that can be reckoned with, and tell which cannot.

    Raises:
        OperationalError: the database went away.
    """
    try:
        time = ObservationBudget(seconds=observation_seconds)
        return _planned(
            views,
            now,
            planner=planner,
            check=check,
            lap=lap,
            time=time,
            shows_others=shows_others,
        )
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
        _log.exception("Nothing can be planned.", extra={"action": "plan"})
        return PlanningRound(decided=_nothing(error), decisions=())


def _planned(
    views: Mapping[str, LiveJob],
    now: datetime,
    *,
    planner: Planner,
    check: Check,
    lap: Callable[[str], None],
    time: ObservationBudget,
    shows_others: bool,
) -> PlanningRound:
    tried = quarantine.left_out(Part.PLANNING, now)
    seen = cluster_state(views.values(), now, left_out=tried.job_ids, time=time)
    lap("observe")
    decided = decide(seen.state, planner, check)
    silent = tried.job_ids | seen.failing.keys() | seen.put_off | decided.failing.keys()
    decisions, unexplained = explained_decisions(
        decided.plan,
        views,
        left_out=silent,
        on_trial=tried.on_trial,
        shows_others=shows_others,
    )
    failing = {**seen.failing, **decided.failing, **unexplained}
    healed = (tried.on_trial & _looked_into(seen, decided)) - failing.keys()
    return PlanningRound(
        decided=decided,
        decisions=decisions,
        failing=failing,
        healed=healed,
        puts_off=bool(seen.put_off),
        state=seen.state,
    )


def _looked_into(seen: ObservedCluster, decided: PoolPlans) -> frozenset[str]:
    """The jobs of pools that were planned."""
    planned = (job for job in seen.state.jobs if job.pool not in decided.unplanned)
    return frozenset(job.job_id for job in planned) - seen.put_off


def _nothing(error: Exception) -> PoolPlans:
    why = f"the cluster cannot be observed: {storable(error)}"
    pools = Pool.objects.values_list("name", flat=True)
    nothing = Plan(decisions=(), pools=())
    return PoolPlans(plan=nothing, alarm=why, unplanned=dict.fromkeys(pools, why))
