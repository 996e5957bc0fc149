"""When will each job start and finish? The present replayed forward, several times.

Each replay draws another possible world (`uncertainty`) and runs it through the simulator, which
asks the same planner that decides in earnest. The spread of the replays is the answer: the 10th,
50th and 90th percentile of every start and finish.

Jobs that may be in several pools are replayed in the one that a plan made now puts them into.

The cost is bounded: all replays together hand the planner about `Effort.planned_jobs` jobs, those
included that are drawn to come. A larger cluster gets fewer replays and coarser ticks, in the end
the fewest. Where these are fewer than were wanted, each job's own luck is drawn several times on
the course that it takes in each (`own_luck`): of many jobs, the luck of the others averages out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from autoscaler.planning.decisions.pool_moves import after_moves
from autoscaler.planning.planner import plan
from autoscaler.planning.policies import BUILT_IN
from autoscaler.planning.snapshot.cluster_state import JobPhase
from autoscaler.simulation.engine.prediction.own_luck import ends_with
from autoscaler.simulation.engine.prediction.past import RecentPast
from autoscaler.simulation.engine.prediction.ranges import (
    ENOUGH_TO_TELL,
    Range,
    range_of,
    range_of_few,
)
from autoscaler.simulation.engine.prediction.uncertainty import (
    draw,
    draw_own,
    expected_arrivals,
    is_predictable,
)
from autoscaler.simulation.engine.replay.settings import HotRescale, Settings
from autoscaler.simulation.engine.replay.simulator import Replay

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from autoscaler.planning.policies import Catalogue
    from autoscaler.planning.snapshot.cluster_state import ClusterState
    from autoscaler.simulation.engine.prediction.uncertainty import Draw
    from autoscaler.simulation.engine.replay.settings import RescaleCost
    from autoscaler.simulation.engine.replay.simulated_job import ReplayedJob

    World = Mapping[str, ReplayedJob]  # what became of each job in it


_COST_OF_A_PLAN: Final = 10  # in jobs: measured, a plan of one job takes as long as of ten more


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPrediction:
    """`start` None: it has started. `finish` None: nothing is known of how long it takes."""

    job_id: str
    start: Range | None
    finish: Range | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much a prediction may cost, and how far it looks ahead."""

    planned_jobs: int = 20_000  # guessed: some seconds of one core
    replays: int = 19
    enough_plans: int = 30  # of one replay
    fewest_replays: int = 3  # guessed: of the largest cluster
    fewest_plans: int = 6  # guessed; where jobs end all the time these bring up to thrice as many
    tick_seconds: float = 5.0  # at the beginning; later on they become longer
    horizon_seconds: float = 3600.0


def predict(
    state: ClusterState,
    *,
    past: RecentPast | None = None,
    rescale: RescaleCost | None = None,
    effort: Effort | None = None,
    policies: Catalogue = BUILT_IN,
    seed: int = 0,
) -> Mapping[str, JobPrediction]:
    """Start and finish of every job of the snapshot, by job id. Same arguments, same answer."""
    past, effort = past or RecentPast(), effort or Effort()
    if not state.jobs:
        return {}
    state = in_chosen_pools(state, policies)
    replays, plans = affordable(state, past, effort)
    again = math.ceil(effort.replays / replays) - 1
    settings = Settings(
        pools=state.pools,
        policies=policies,
        rescale=rescale or HotRescale(),
        tick_seconds=effort.tick_seconds,
        tick_growth=_tick_growth(plans, effort),
        horizon_seconds=effort.horizon_seconds,
        keeps_history=bool(again),
        keeps_usage=False,
    )
    generators = [np.random.default_rng((seed, number)) for number in range(replays)]
    worlds = [_replay(state, past, settings, rng) for rng in generators]
    others = [draw_own(state, past, rng, times=again) if again else [] for rng in generators]
    ends_by = state.now + effort.horizon_seconds
    return {
        job.job_id: JobPrediction(
            job_id=job.job_id,
            start=range_of_few([one[job.job_id].first_started_at for one in worlds], state.now)
            if job.phase is JobPhase.WAITING
            else None,
            finish=range_of(_ends(job.job_id, worlds, others, ends_by))
            if is_predictable(job, past)
            else None,
        )
        for job in state.jobs
    }


def in_chosen_pools(state: ClusterState, policies: Catalogue = BUILT_IN) -> ClusterState:
    """Return the snapshot with each job in one pool; to choose again and again costs too much.

    Who may choose is refused for good by no single pool.
    """
    if not any(job.other_pools for job in state.jobs):
        return state
    placed = after_moves(state, plan(state, policies))
    jobs = (replace(job, other_pools=(), may_be_dropped=not job.other_pools) for job in placed.jobs)
    return replace(placed, jobs=tuple(jobs))


def _ends(
    job_id: str, worlds: Sequence[World], others: Sequence[Sequence[Draw]], ends_by: float
) -> list[float | None]:
    """Return when the job ends in each world, and would with other luck of its own."""
    ends = [world[job_id].finished_at for world in worlds]
    for world, luck in zip(worlds, others, strict=True):
        models = [one.profiles[job_id].model for one in luck]
        own = ends_with(world[job_id], models, [one.samples[job_id] for one in luck])
        ends += [None if end is None or end > ends_by else end for end in own]
    return ends


def _usual_jobs(state: ClusterState, past: RecentPast, effort: Effort) -> int:
    """Return the number of jobs of a plan in the middle of a replay, if none had ended by then."""
    jobs = len(state.jobs)
    arrivals = expected_arrivals(past, jobs=jobs, horizon_seconds=effort.horizon_seconds)
    return jobs + round(arrivals / 2)


def affordable(state: ClusterState, past: RecentPast, effort: Effort) -> tuple[int, int]:
    """Return how many replays to make, of how many plans each; each plan costs something."""
    jobs = _usual_jobs(state, past, effort)
    plans_in_all = effort.planned_jobs // (jobs + _COST_OF_A_PLAN)
    for replays in (effort.replays, ENOUGH_TO_TELL):
        if plans_in_all >= replays * effort.enough_plans:
            return replays, effort.enough_plans
    replays = max(plans_in_all // effort.enough_plans, effort.fewest_replays)
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
    state: ClusterState, past: RecentPast, settings: Settings, rng: np.random.Generator
) -> World:
    """Return what becomes of every job in one possible world, as far as the horizon."""
    horizon = settings.horizon_seconds or 0.0
    drawn = draw(state, past, rng, horizon_seconds=horizon)
    simulation = Replay.from_state(
        state,
        settings,
        profiles=drawn.profiles,
        samples=drawn.samples,
        arrivals=drawn.arrivals,
    )
    simulation.run_until(state.now + horizon)
    for job in simulation.world.jobs:
        job.advance(simulation.world.now)
    return {job.submission.job_id: job for job in simulation.world.jobs}
