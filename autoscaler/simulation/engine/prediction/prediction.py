"""When will each job start and finish? The present replayed forward, several times.

Each replay draws another possible world (`uncertainty`) and runs it through the simulator, which
asks the same planner that decides in earnest. The spread of the replays is the answer: the 10th,
50th and 90th percentile of every start and finish.

The cost is bounded whatever the size of the cluster: all replays together hand the planner at most
about `Effort.planned_jobs` jobs, those included that are drawn to come. A larger cluster gets fewer
replays and coarser ticks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.policies import BUILT_IN
from autoscaler.planning.snapshot.cluster_state import JobPhase
from autoscaler.simulation.engine.prediction.past import Past
from autoscaler.simulation.engine.prediction.ranges import Range
from autoscaler.simulation.engine.prediction.uncertainty import (
    draw,
    expected_arrivals,
    is_predictable,
)
from autoscaler.simulation.engine.replay.settings import HotRescale, Settings
from autoscaler.simulation.engine.replay.simulator import Simulation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from autoscaler.planning.policies import Catalogue
    from autoscaler.planning.snapshot.cluster_state import ClusterState
    from autoscaler.simulation.engine.replay.settings import RescaleCost
    from autoscaler.simulation.engine.replay.simulated_job import SimulatedJob


_COST_OF_A_PLAN: Final = 10  # in jobs: measured, a plan of one job takes as long as of ten more


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """`start` None: it has started. `finish` None: nothing is known of how long it takes."""

    job_id: str
    start: Range | None
    finish: Range | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much a prediction may cost, and how far it looks ahead."""

    planned_jobs: int = 20_000  # guessed: some seconds of one core
    replays: int = 19  # the second of them is the 10th percentile: see `_range`
    fewest_replays: int = 9  # the first of them is
    fewest_plans: int = 30  # of one replay
    tick_seconds: float = 5.0  # at the beginning; later on they become longer
    horizon_seconds: float = 3600.0


def predict(
    state: ClusterState,
    *,
    past: Past | None = None,
    rescale: RescaleCost | None = None,
    effort: Effort | None = None,
    policies: Catalogue = BUILT_IN,
    seed: int = 0,
) -> Mapping[str, Prediction]:
    """Start and finish of every job of the snapshot, by job id. Same arguments, same answer."""
    past, effort = past or Past(), effort or Effort()
    if not state.jobs:
        return {}
    replays, plans = _affordable(effort, jobs=_usual_jobs(state, past, effort))
    settings = Settings(
        pools=state.pools,
        policies=policies,
        rescale=rescale or HotRescale(),
        tick_seconds=effort.tick_seconds,
        tick_growth=_tick_growth(plans, effort),
        horizon_seconds=effort.horizon_seconds,
    )
    outcomes = [
        _replay(state, past, settings, np.random.default_rng((seed, n))) for n in range(replays)
    ]
    return {
        job.job_id: Prediction(
            job_id=job.job_id,
            start=_range([one[job.job_id].first_started_at for one in outcomes])
            if job.phase is JobPhase.WAITING
            else None,
            finish=_range([one[job.job_id].finished_at for one in outcomes])
            if is_predictable(job, past)
            else None,
        )
        for job in state.jobs
    }


def _usual_jobs(state: ClusterState, past: Past, effort: Effort) -> int:
    """Return the number of jobs of a plan in the middle of a replay, if none had ended by then."""
    jobs = len(state.jobs)
    arrivals = expected_arrivals(past, jobs=jobs, horizon_seconds=effort.horizon_seconds)
    return jobs + round(arrivals / 2)


def _affordable(effort: Effort, *, jobs: int) -> tuple[int, int]:
    """Return how many replays to make, of how many plans each; each plan costs something."""
    plans_in_all = effort.planned_jobs // (jobs + _COST_OF_A_PLAN)
    replays = effort.replays
    if plans_in_all < effort.replays * effort.fewest_plans:
        replays = effort.fewest_replays
    return replays, max(plans_in_all // replays, effort.fewest_plans)


def _tick_growth(plans: int, effort: Effort) -> float:
    """The growth r at which so many plans reach the horizon H, from ticks of length g on.

    The first 1 / r ticks last g each, those after them grow: plans = (1 + ln(r H / g)) / r.
    """
    ticks = effort.horizon_seconds / effort.tick_seconds
    if ticks <= plans:
        return 1 / ticks
    growth = 1.0
    for _ in range(20):
        growth = (1 + math.log(max(growth * ticks, 1.0))) / plans
    return growth


def _replay(
    state: ClusterState, past: Past, settings: Settings, rng: np.random.Generator
) -> Mapping[str, SimulatedJob]:
    """Return what becomes of every job in one possible world, as far as the horizon."""
    horizon = settings.horizon_seconds or 0.0
    drawn = draw(state, past, rng, horizon_seconds=horizon)
    simulation = Simulation.from_state(
        state,
        settings,
        profiles=drawn.profiles,
        samples=drawn.samples,
        arrivals=drawn.arrivals,
    )
    simulation.run_until(state.now + horizon)
    return {job.submission.job_id: job for job in simulation.world.jobs}


def _range(moments: Sequence[float | None]) -> Range:
    """Percentiles as the replays tell them; none that lies beyond the last of them.

    Of n replays and the true outcome each place in the order is equally likely to be the truth's:
    it is below the k-th smallest with probability k / (n + 1).
    """
    ordered = sorted(math.inf if moment is None else moment for moment in moments)

    def percentile(share: float) -> float | None:
        place = share * (len(ordered) + 1) - 1
        below = min(max(math.floor(place), 0), len(ordered) - 1)
        above = min(below + 1, len(ordered) - 1)
        weight = min(max(place - below, 0.0), 1.0)
        if (math.isinf(ordered[above]) and weight > 0) or math.isinf(ordered[below]):
            return None
        return ordered[below] + weight * (ordered[above] - ordered[below] if weight else 0.0)

    return Range(p10=percentile(0.10), p50=percentile(0.50), p90=percentile(0.90))
