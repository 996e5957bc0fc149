"""The same cluster once more, as naively as possible: second by second, for small cases only.

Shares nothing with the event-driven simulator but the planner and the formula of step times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import (
    Allocation,
    ClusterState,
    JobPhase,
    PlannedJob,
)
from autoscaler.planning.snapshot.remaining_work import remaining_samples
from autoscaler.planning.speed.scaling import ScalingModel
from autoscaler.planning.speed.throughput import Configurations

if TYPE_CHECKING:
    from autoscaler.planning.decisions.plan import Decision
    from autoscaler.planning.snapshot.cluster_state import PlannedPool
    from autoscaler.simulation.engine.workload.trace import TraceJob


@dataclass
class Naive:
    """A job: what it trains with now, and what is due when."""

    of: TraceJob
    done: float = 0.0
    holds: Allocation | None = None
    trains: Allocation | None = None
    stall_from: int | None = None
    ready: int | None = None
    started: int | None = None
    finished: int | None = None
    changed: int | None = None
    rescales: int = 0
    gpu_seconds: float = 0.0

    def pass_a_second(self, now: int) -> None:
        """What has happened by `now` since a second ago."""
        if self.holds:
            self.gpu_seconds += self.holds.workers
        self.done += self.rate()
        if self.finished is None and self.done >= self.of.samples - 1e-6:
            self.finished, self.holds, self.trains = now, None, None
        if self.stall_from == now:
            self.trains, self.stall_from = None, None
        if self.ready == now and self.holds:
            self.trains, self.ready = self.holds, None

    def view(self, stall: float) -> PlannedJob:
        job = self.of
        return PlannedJob(
            job_id=job.name,
            name=job.name,
            team=job.team,
            pool=job.pool,
            phase=JobPhase.ACTIVE if self.holds else JobPhase.WAITING,
            priority=job.priority,
            preemptibility=job.preemptibility,
            submitted_at=job.submitted_at,
            min_workers=job.min_workers,
            max_workers=job.max_workers,
            allowed_workers=None,
            gpus_per_worker=1,
            batch=job.batch,
            allocation=self.holds,
            started_at=self.started,
            last_rescaled_at=self.changed,
            rescales=self.rescales,
            stall_seconds=stall,
            attained_gpu_seconds=self.gpu_seconds,
            remaining_samples=remaining_samples(job.declared_samples, self.done + 1e-6),
            can_rescale=self.holds is None or self.ready is None,
            scaling=ScalingModel(
                throughput=job.profile.model,
                measured_workers=job.max_workers,
                measured_batch=job.batch.maximum,
            ),
        )

    def rate(self) -> float:
        if self.trains is None:
            return 0.0
        at = Configurations.of(
            workers=self.trains.workers,
            crosses_nodes=len(self.trains.workers_by_node) > 1,
            global_batch=self.trains.global_batch_size,
        )
        return self.trains.global_batch_size / float(self.of.profile.model.step_seconds(at))


def finish_times(
    jobs: tuple[TraceJob, ...], pool: PlannedPool, *, tick: int, start: int, stall: int, joiner: int
) -> dict[str, tuple[int | None, int | None, int]]:
    """(first start, finish, rescales) by job; finishes are rounded up to whole seconds."""
    cluster = [Naive(of=job) for job in jobs]
    for now in range(100_000):
        for naive in cluster:
            naive.pass_a_second(now)
        if all(naive.finished is not None for naive in cluster):
            break
        present = [n for n in cluster if n.of.submitted_at <= now and n.finished is None]
        if now % tick == 0 and present:
            views = tuple(naive.view(stall) for naive in present)
            decided = plan(ClusterState(now=float(now), pools=(pool,), quotas=(), jobs=views))
            for decision in decided.decisions:
                naive = next(n for n in present if n.of.name == decision.job_id)
                _carry_out(decision, naive, now, start=start, stall=stall, joiner=joiner)
    return {n.of.name: (n.started, n.finished, n.rescales) for n in cluster}


def _carry_out(
    decision: Decision, naive: Naive, now: int, *, start: int, stall: int, joiner: int
) -> None:
    wanted = decision.allocation
    if decision.action is Action.START:
        naive.holds, naive.ready = wanted, now + start
        naive.started = now if naive.started is None else naive.started
    elif decision.action is Action.PAUSE:
        naive.holds, naive.trains, naive.ready = None, None, None
    elif decision.action is Action.RESCALE and wanted:
        _rescale(naive, wanted, now, stall, joiner)


def _rescale(naive: Naive, wanted: Allocation, now: int, stall: int, joiner: int) -> None:
    assert naive.holds is not None
    before, after = dict(naive.holds.workers_by_node), dict(wanted.workers_by_node)
    both = {node: min(before[node], after[node]) for node in before if node in after}
    naive.rescales, naive.changed = naive.rescales + 1, now
    if both == after or not joiner:
        naive.trains, naive.ready = None, now + stall
    elif both:
        naive.trains = replace(naive.holds, workers_by_node=tuple(sorted(both.items())))
        naive.stall_from, naive.ready = now + joiner, now + joiner + stall
    else:
        naive.trains, naive.ready = None, now + joiner + stall
    naive.holds = wanted
