"""What would have happened to these jobs? Replays a trace through `planner.plan`, event by event.

    arrivals, ends, losses, repairs  ->  jobs and nodes change
    ticks                            ->  a snapshot, one plan, and what it says is carried out

Between events nothing changes, so a simulated day costs as many steps as things happen on it. The
planner is the one of the control loop, and sees what the control loop would tell it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from autoscaler.planning.decisions.invariants import check
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.demand.batch_growth import BATCH_SETTLES_SECONDS
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import ClusterState
from autoscaler.simulation.engine.replay.agenda import SimulationEventKind
from autoscaler.simulation.engine.replay.measuring import measuring_of
from autoscaler.simulation.engine.replay.outlook import Outlook
from autoscaler.simulation.engine.replay.planner_view import Views, submission_of
from autoscaler.simulation.engine.replay.reporting import record_of
from autoscaler.simulation.engine.replay.simulated_job import ReplayedJob, Stage
from autoscaler.simulation.engine.replay.world import ReplayedCluster
from autoscaler.simulation.engine.results.records import SimulationProgress, SimulationResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from autoscaler.planning.decisions.plan import Decision, Plan
    from autoscaler.planning.snapshot.cluster_state import PlannedJob
    from autoscaler.simulation.engine.replay.settings import Settings
    from autoscaler.simulation.engine.truth.profiles import Profile
    from autoscaler.simulation.engine.workload.trace import Trace

_MOMENTS_PER_SIGN: Final = 1000  # signs of life where nothing is planned
_EVENTS_WAIT: Final = 0.25  # of the time to the next tick, where ticks grow: guessed
PATIENCE_SECONDS: Final = 3600.0  # so long nothing may run or come before the rest is given up

_CHANGES: Final = frozenset({Action.START, Action.RESCALE, Action.PAUSE})


class BrokenPlanError(Exception):
    """A plan of the simulation broke an invariant."""


def run(
    trace: Trace,
    settings: Settings,
    *,
    clock: Callable[[], float] | None = None,
    on_progress: Callable[[SimulationProgress], None] | None = None,
) -> SimulationResult:
    """Replay a whole trace. `clock` measures how long decisions take; it changes nothing else."""
    return Replay.from_trace(trace, settings, clock=clock).run(on_progress)


class Replay:
    """One replay, from its first event to its last. Build it by one of the two class methods."""

    def __init__(
        self,
        name: str,
        world: ReplayedCluster,
        settings: Settings,
        clock: Callable[[], float] | None,
    ) -> None:
        self.name, self.world, self.settings, self.clock = name, world, settings, clock
        self.started_at = world.now
        self.plans = 0
        self.decision_seconds: list[float] = []
        self._views = Views()
        self._tick_at = math.inf
        self._planned_at = -math.inf
        self._awaited: tuple[ReplayedJob, ...] = ()  # it is over when they have ended
        self._outlook = Outlook.of(world, ends_by=self._ends_by)

    @classmethod
    def from_trace(
        cls, trace: Trace, settings: Settings, *, clock: Callable[[], float] | None = None
    ) -> Replay:
        """An empty cluster at time 0, to which the trace's jobs come."""
        pools = {pool.name for pool in settings.pools}
        for job in trace.jobs:
            if job.pool not in pools:
                raise ValueError(f"job {job.name} wants pool {job.pool}, which is not simulated")
        jobs = tuple(
            _simulated(submission_of(job, settings.knowledge), job.profile, job.samples, settings)
            for job in trace.jobs
        )
        world = ReplayedCluster.of(jobs, settings, now=0.0)
        for simulated in jobs:
            world.announce(simulated)
        return cls(trace.name, world, settings, clock)

    @classmethod
    def from_state(
        cls,
        state: ClusterState,
        settings: Settings,
        *,
        profiles: Mapping[str, Profile],
        samples: Mapping[str, float],
        arrivals: Sequence[PlannedJob] = (),
        clock: Callable[[], float] | None = None,
    ) -> Replay:
        """The present, replayed forward: running jobs go on with the work they have left.

        By job id: how fast each job is and how much work it has left, as far as one knows. Pools
        and quotas are the snapshot's, whatever the settings say. Nobody comes but `arrivals`, each
        at its `submitted_at`, and who waits for data when that is there. It is over when the
        snapshot's jobs have ended.
        """
        settings = replace(settings, pools=state.pools, quotas=state.quotas)
        jobs = tuple(
            _simulated(
                job, profiles[job.job_id], samples[job.job_id], settings, updated_at=state.now
            )
            for job in state.jobs
        )
        coming = tuple(
            _simulated(job, profiles[job.job_id], samples[job.job_id], settings) for job in arrivals
        )
        world = ReplayedCluster.of((*jobs, *coming), settings, now=state.now)
        for simulated in jobs:
            _enter_when_ready(simulated, world)
        for simulated in coming:
            world.announce(simulated)
        world.changes += state.changes
        simulation = cls("present", world, settings, clock)
        simulation._awaited = jobs
        simulation._tick_by(state.now)
        return simulation

    def run(
        self, on_progress: Callable[[SimulationProgress], None] | None = None
    ) -> SimulationResult:
        """Run until every job has ended, nothing can happen any more, or the horizon is reached."""
        world, end = self.world, self._ends_by
        for moment in itertools.count(1):
            time = world.agenda.next_time
            if self._is_over():
                break
            if time is None or time > end:
                world.now = max(world.now, min(end, math.inf if time is None else time))
                break
            has_planned = self.step()
            if on_progress is not None and (has_planned or moment % _MOMENTS_PER_SIGN == 0):
                on_progress(self._progress())
        return self._result()

    def run_until(self, time: float) -> None:
        """Everything that happens up to this moment; `run` goes on from there."""
        world = self.world
        while not self._is_over() and (due := world.agenda.next_time) is not None and due <= time:
            self.step()
        world.now = max(world.now, time)

    def present(self) -> ClusterState:
        """Return what a plan made now would see, without taking anything from the next plan."""
        changes = list(self.world.changes)
        state = self._snapshot()
        self.world.changes = changes
        return state

    def step(self) -> bool:
        """Everything that happens at the next moment; True when a plan was made."""
        world = self.world
        world.now, has_planned = world.agenda.next_time or world.now, False
        while world.agenda.next_time == world.now:
            event = world.agenda.pop()
            if event.kind is not SimulationEventKind.TICK:
                if world.handle(event):
                    self._want_plan()
            elif event.time == self._tick_at:
                self._tick()
                has_planned = True
        if self.settings.keeps_usage:
            world.recorder.sample(world.now)
        return has_planned

    @property
    def _ends_by(self) -> float:
        """The horizon on the trace's clock."""
        horizon = self.settings.horizon_seconds
        return math.inf if horizon is None else self.started_at + horizon

    def _is_over(self) -> bool:
        world = self.world
        if self._awaited and all(job.stage is Stage.ENDED for job in self._awaited):
            return True
        gave_up = world.now - world.changed_at > PATIENCE_SECONDS and world.is_idle
        return world.is_over or gave_up

    # Ticks

    def _want_plan(self) -> None:
        """Something changed: at the next tick at the latest there will be a plan."""
        if not self.world.present:
            return
        now, settings = self.world.now, self.settings
        if settings.is_paced:
            soonest = self._planned_at + _EVENTS_WAIT * self._gap()
            self._tick_by(max(now + settings.debounce_seconds, soonest))
            return
        self._tick_by(math.ceil(now / settings.tick_seconds) * settings.tick_seconds)
        if settings.plans_at_events:
            self._tick_by(max(now, self._planned_at) + settings.debounce_seconds)

    def _tick_by(self, time: float) -> None:
        if time < self._tick_at:
            self._tick_at = time
            self.world.agenda.add(time, SimulationEventKind.TICK)

    def _tick(self) -> None:
        self._tick_at, self._planned_at = math.inf, self.world.now
        state = self._snapshot()
        if not state.jobs:
            return
        planned = self._plan(state)
        self._apply(planned)
        if self.world.present:
            self._tick_by(self._next_tick())

    def _next_tick(self) -> float:
        """The first multiple of the tick after now, also where divisions round the wrong way."""
        every, now = self.settings.tick_seconds, self.world.now
        if self.settings.is_paced:
            soonest = now + _EVENTS_WAIT * self._gap()
            return min(max(self._next_settled(), soonest), now + self._gap())
        number = math.floor(now / every) + 1
        return number * every if number * every > now else (number + 1) * every

    def _next_settled(self) -> float:
        """Return when the next job that was changed may grow again; infinite: none was.

        Jobs grow by steps. Were these as rare as plans that lie far ahead, they would come late.
        """
        now, jobs = self.world.now, self.world.present.values()
        running = (job.steady_since for job in jobs if job.stage is Stage.RUNNING)
        settled = (since + BATCH_SETTLES_SECONDS for since in running)
        return min((moment for moment in settled if moment > now), default=math.inf)

    def _gap(self) -> float:
        """Return how long after the last plan the next one is made; it grows where ticks do."""
        settings = self.settings
        elapsed = self.world.now - self.started_at
        return max(settings.tick_seconds, settings.tick_growth * elapsed)

    def _snapshot(self) -> ClusterState:
        world = self.world
        changes, world.changes = tuple(world.changes), []
        return ClusterState(
            now=world.now,
            pools=world.cluster.pools_that_are_up(),
            quotas=self.settings.quotas,
            jobs=self._views.of(world.present.values(), world.now),
            changes=changes,
        )

    def _plan(self, state: ClusterState) -> Plan:
        self.plans += 1
        settings = self.settings
        started = self.clock() if self.clock else 0.0
        planned = plan(state, settings.policies)
        if self.clock:
            self.decision_seconds.append(self.clock() - started)
        if self.settings.checks_invariants and (
            violations := check(state, planned, self.settings.policies)
        ):
            raise BrokenPlanError(f"at {state.now:g} s: {violations}")
        return planned

    def _apply(self, planned: Plan) -> None:
        """Do at once what a plan says; the costs in time are the jobs' own."""
        present, now = self.world.present, self.world.now
        decided = [(present[d.job_id], d) for d in planned.decisions if d.action in _CHANGES]
        dropped = [present[d.job_id] for d in planned.decisions if d.action is Action.DROP]
        with self.world.changing([*(job for job, _ in decided), *dropped]):
            for job, decision in decided:
                _carry_out(decision, job, now)
            for job in dropped:
                job.drop(now)

    # Results

    def _progress(self) -> SimulationProgress:
        world = self.world
        return SimulationProgress(
            now=world.now,
            jobs_ended=world.ended,
            jobs=len(world.jobs),
            look_ahead=self._outlook.ahead,
        )

    def _result(self) -> SimulationResult:
        world = self.world
        return SimulationResult(
            trace=self.name,
            started_at=self.started_at,
            ended_at=world.now,
            jobs=tuple(record_of(job, world) for job in world.jobs),
            usage=tuple(world.recorder.samples),
            plans=self.plans,
            decision_seconds=tuple(self.decision_seconds),
        )


def _simulated(
    job: PlannedJob,
    profile: Profile,
    samples: float,
    settings: Settings,
    *,
    updated_at: float | None = None,
) -> ReplayedJob:
    return ReplayedJob(
        submission=replace(job, other_pools=()),  # a replay has it in one pool from the beginning
        profile=profile,
        samples=samples,
        settings=settings,
        measuring=measuring_of(job, profile, settings),
        updated_at=job.submitted_at if updated_at is None else updated_at,
        waiting_since=job.waiting_since,
    )


def _enter_when_ready(job: ReplayedJob, world: ReplayedCluster) -> None:
    """A job that waits for its data comes when that is there, and never if nobody can tell when.

    Where it should be there already nobody can tell either: it is late.
    """
    ready_at = job.submission.ready_at
    if ready_at is None:
        world.enter(job)
    elif world.now < ready_at < math.inf:
        world.announce(job, at=ready_at)


def _carry_out(decision: Decision, job: ReplayedJob, now: float) -> None:
    if decision.allocation is None:
        job.pause(now)
    elif job.holds_gpus:
        job.rescale(decision.allocation, now)
    else:
        job.start(decision.allocation, now)
