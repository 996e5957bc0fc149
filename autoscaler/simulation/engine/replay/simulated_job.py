"""What is a job truly doing at this moment of the simulation?

Its state changes only at events: between two of them its rate is that of its rate schedule, so
progress is brought up to date lazily, whenever something happens to the job or somebody looks at
it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from autoscaler.planning.snapshot.cluster_state import Allocation, PlannedJob
from autoscaler.simulation.engine.results.records import AllocationSpan
from autoscaler.simulation.engine.truth.profiles import Profile, step_seconds
from autoscaler.simulation.engine.truth.progress import RateSchedule, rate_schedule_of

if TYPE_CHECKING:
    from autoscaler.simulation.engine.replay.measuring import Measuring
    from autoscaler.simulation.engine.replay.settings import Settings


class Stage(StrEnum):
    """What a job that has arrived is doing."""

    WAITING = "waiting"  # holds nothing
    STARTING = "starting"  # holds GPUs, trains not yet
    JOINING = "joining"  # trains with its old workers while new ones start
    STALLED = "stalled"  # between two sets of workers, or restarting
    RUNNING = "running"
    ENDED = "ended"  # finished or dropped


HOLDS_NOTHING: Final = frozenset({Stage.WAITING, Stage.ENDED})
TRAINS: Final = frozenset({Stage.JOINING, Stage.RUNNING})
STANDS_STILL: Final = frozenset({Stage.STARTING, Stage.STALLED})

_NOTHING: Final = Allocation(workers_by_node=(), global_batch_size=0)


@dataclass(slots=True, kw_only=True)
class ReplayedJob:
    """One job from its arrival to its end. Every change begins with `advance(now)`."""

    submission: PlannedJob  # as the planner sees it when it arrives, or when the simulation begins
    profile: Profile
    samples: float  # the true work from the beginning of the simulation on
    settings: Settings
    measuring: Measuring
    updated_at: float
    stage: Stage = Stage.WAITING
    allocation: Allocation | None = None  # held, joiners included
    trains_with: Allocation | None = None  # what the present rate comes from
    ready_at: float | None = None  # when the present start, joining or stall is over
    rates: RateSchedule | None = None
    done: float = 0.0
    saved: float = 0.0  # of `done`, at the last checkpoint
    since_checkpoint: float = 0.0  # seconds of training
    steady_since: float = 0.0  # since when it runs undisturbed with this allocation
    version: int = 0  # counts up with every change: events of older versions no longer hold
    first_started_at: float | None = None
    finished_at: float | None = None
    dropped_at: float | None = None
    waiting_since: float | None = None
    last_rescaled_at: float | None = None
    rescales: int = 0
    pauses: int = 0
    losses: int = 0
    stall_seconds: float = 0.0
    gpu_seconds: float = 0.0
    worker_seconds_to_loss: float | None = None
    history: list[AllocationSpan] = field(default_factory=list)

    @property
    def holds_gpus(self) -> bool:
        return self.stage not in HOLDS_NOTHING

    @property
    def held(self) -> Allocation:
        """The allocation, or one of no worker."""
        return self.allocation or _NOTHING

    @property
    def gpus(self) -> int:
        return self.held.workers * self.submission.gpus_per_worker

    @property
    def gpus_by_node(self) -> tuple[tuple[str, int], ...]:
        per_worker = self.submission.gpus_per_worker
        return tuple((node, count * per_worker) for node, count in self.held.workers_by_node)

    @property
    def rate(self) -> float:
        """Raw samples per second at this moment."""
        if self.stage not in TRAINS or self.trains_with is None:
            return 0.0
        return self.trains_with.global_batch_size / self._step_seconds(self.trains_with)

    @property
    def finishes_at(self) -> float | None:
        if self.stage not in TRAINS or self.rates is None:
            return None
        return self.updated_at + self.rates.seconds_to_end(self.done)

    @property
    def loses_worker_at(self) -> float | None:
        if self.worker_seconds_to_loss is None or self.allocation is None:
            return None
        return self.updated_at + self.worker_seconds_to_loss / self.allocation.workers

    def advance(self, now: float) -> None:
        """Bring progress and the sums up to date."""
        seconds = now - self.updated_at
        if seconds <= 0 or self.allocation is None:
            self.updated_at = now
            return
        self.gpu_seconds += seconds * self.gpus
        if self.worker_seconds_to_loss is not None:
            self.worker_seconds_to_loss -= seconds * self.allocation.workers
        if self.stage in STANDS_STILL:
            self.stall_seconds += seconds
        elif self.rates is not None:
            self._train(self.rates, seconds)
        self.updated_at = now

    def measure(self) -> None:
        """Let the present configuration be measured, as far as it has run up to `updated_at`."""
        if self.stage is Stage.RUNNING:
            self.measuring.note(self.held, self.updated_at - self.steady_since)

    def start(self, allocation: Allocation, now: float) -> None:
        self.advance(now)
        if self.first_started_at is None:
            self.first_started_at = now
        self.waiting_since = None
        self._hold(allocation, now)
        self._stand_still(Stage.STARTING, now, self.settings.rescale.start_seconds(self.profile))

    def go_on(self, allocation: Allocation, now: float) -> None:
        """It ran before the simulation began; one that was being changed stalls for the rest."""
        self.first_started_at = self.submission.started_at
        self._hold(allocation, now)
        stalls = not (self.submission.can_rescale or self.submission.can_pause)
        self._stand_still(Stage.STALLED, now, self._stall_left(now) if stalls else 0.0)

    def rescale(self, allocation: Allocation, now: float) -> None:
        """Leavers go at once; joiners start while the others train on; then comes the stall."""
        self.advance(now)
        self.rescales += 1
        self.last_rescaled_at = now
        cost = self.settings.rescale
        stall, joining = cost.stall_seconds(self.profile), cost.joiner_seconds(self.profile)
        stayers = _in_both(self.trains_with, allocation)
        self._hold(allocation, now)
        if stayers == allocation.workers_by_node or joining <= 0:
            self._save()
            self._stand_still(Stage.STALLED, now, stall)
        elif stayers and self.trains_with is not None:
            self._train_with(replace(self.trains_with, workers_by_node=stayers))
            self.stage, self.ready_at = Stage.JOINING, now + joining
        else:
            self._stand_still(Stage.STARTING, now, joining + stall)

    def pause(self, now: float) -> None:
        """Stop at a checkpoint and wait again."""
        self.advance(now)
        self._save()
        self.pauses += 1
        self._let_go(now)

    def become_ready(self, now: float) -> None:
        """The start, the joining or the stall is over."""
        self.advance(now)
        self.version += 1
        if self.stage is Stage.JOINING:
            self._stand_still(Stage.STALLED, now, self.settings.rescale.stall_seconds(self.profile))
            return
        self._run(now)

    def lose(self, workers_by_node: tuple[tuple[str, int], ...], now: float) -> None:
        """These workers are gone. The others go on, or all work since the last checkpoint is."""
        self.advance(now)
        self.losses += 1
        held, lost = self.held, dict(workers_by_node)
        left = tuple(
            (node, count - lost.get(node, 0))
            for node, count in held.workers_by_node
            if count > lost.get(node, 0)
        )
        if not left or not self.settings.rescale.survives_losses:
            self.done = self.saved
            self._let_go(now)
            return
        stall = self.settings.rescale.stall_seconds(self.profile)
        busy = 0.0 if self.ready_at is None else self.ready_at - now
        stage = Stage.STARTING if self.stage is Stage.STARTING else Stage.STALLED
        self._hold(replace(held, workers_by_node=left), now)
        self._stand_still(stage, now, max(stall, busy))

    def finish(self, now: float) -> None:
        self.advance(now)
        self.done = self.samples
        self.finished_at = now
        self._let_go(now)
        self.stage = Stage.ENDED

    def drop(self, now: float) -> None:
        self.version += 1
        self.dropped_at = now
        self.stage = Stage.ENDED

    def _train(self, rates: RateSchedule, seconds: float) -> None:
        every = self.settings.failures.checkpoint_seconds
        checkpoints = int((self.since_checkpoint + seconds) // every)
        if checkpoints:
            self.saved = rates.after(self.done, checkpoints * every - self.since_checkpoint)
        self.since_checkpoint += seconds - checkpoints * every
        self.done = rates.after(self.done, seconds)

    def _save(self) -> None:
        self.saved, self.since_checkpoint = self.done, 0.0

    def _stall_left(self, now: float) -> float:
        """Return the rest of a start or change under way; all of it if nobody knows its begin.

        What began longer ago than it takes is not the one under way.
        """
        seen, cost = self.submission, self.settings.rescale
        if seen.last_rescaled_at is None:
            began, whole = seen.started_at, cost.start_seconds(self.profile)
        else:
            began, whole = seen.last_rescaled_at, cost.stall_seconds(self.profile)
        if began is None or not now - whole < began <= now:
            return cost.stall_seconds(self.profile)
        return began + whole - now

    def _stand_still(self, stage: Stage, now: float, seconds: float) -> None:
        if seconds <= 0:
            self._run(now)
            return
        self.stage, self.ready_at, self.trains_with, self.rates = stage, now + seconds, None, None

    def _run(self, now: float) -> None:
        self.stage, self.ready_at, self.steady_since = Stage.RUNNING, None, now
        self._train_with(self.held)

    def _train_with(self, allocation: Allocation) -> None:
        self.trains_with = allocation
        batch = allocation.global_batch_size
        self.rates = rate_schedule_of(
            self.profile,
            samples=self.samples,
            batch=batch,
            rate=batch / self._step_seconds(allocation),
            counts_noise=self.settings.statistical_efficiency,
        )

    def _step_seconds(self, allocation: Allocation) -> float:
        return step_seconds(
            self.profile,
            self.submission.batch,
            workers=allocation.workers,
            crosses_nodes=len(allocation.workers_by_node) > 1,
            batch=allocation.global_batch_size,
        )

    def _hold(self, allocation: Allocation, now: float) -> None:
        self.version += 1
        self.measure()
        self.allocation = allocation
        self._remember(now)

    def _let_go(self, now: float) -> None:
        self.version += 1
        self.measure()
        self.stage, self.ready_at, self.waiting_since = Stage.WAITING, None, now
        self.allocation, self.trains_with, self.rates = None, None, None
        self._remember(now)

    def _remember(self, now: float) -> None:
        if self.settings.keeps_history:
            self.history.append(
                AllocationSpan(
                    since=now,
                    workers=self.held.workers,
                    nodes=len(self.held.workers_by_node),
                    global_batch_size=self.held.global_batch_size,
                    done=self.done,
                )
            )


def _in_both(before: Allocation | None, after: Allocation) -> tuple[tuple[str, int], ...]:
    """Workers that stay where they are."""
    placement = dict(before.workers_by_node) if before else {}
    both = ((node, min(placement.get(node, 0), count)) for node, count in after.workers_by_node)
    return tuple((node, count) for node, count in both if count)
