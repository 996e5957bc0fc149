"""What happens to jobs and nodes between two plans? Arrivals, starts, stalls, ends, losses."""

from __future__ import annotations

import random
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autoscaler.planning.snapshot.cluster_state import ChangeKind, JobPhase, PoolChange
from autoscaler.simulation.engine.replay.agenda import Agenda, SimulationEvent, SimulationEventKind
from autoscaler.simulation.engine.replay.recorder import PoolBook, Recorder
from autoscaler.simulation.engine.replay.settings import Knowledge
from autoscaler.simulation.engine.replay.simulated_cluster import SimulatedCluster
from autoscaler.simulation.engine.replay.simulated_job import Stage
from autoscaler.simulation.engine.truth.isolation import seconds_per_sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from autoscaler.simulation.engine.replay.measuring import Measuring
    from autoscaler.simulation.engine.replay.settings import Settings
    from autoscaler.simulation.engine.replay.simulated_job import ReplayedJob


@dataclass(slots=True, kw_only=True)
class ReplayedCluster:
    """The simulated cluster with its jobs. `now` is moved on by whoever handles its events.

    Numbers of jobs and nodes in events are their places in `jobs` and in `cluster.nodes`.
    """

    settings: Settings
    now: float
    jobs: tuple[ReplayedJob, ...]
    cluster: SimulatedCluster
    recorder: Recorder
    agenda: Agenda = field(default_factory=Agenda)
    present: dict[str, ReplayedJob] = field(default_factory=dict)  # by job id, as they came
    changes: list[PoolChange] = field(default_factory=list)  # since somebody took them
    ended: int = 0
    to_arrive: int = 0
    changed_at: float  # when a job or a node last changed
    _numbers: dict[str, int] = field(default_factory=dict)
    _chance: dict[str, random.Random] = field(default_factory=dict)
    _runs: dict[tuple[str, str], list[Measuring]] = field(default_factory=dict)  # as they came

    @classmethod
    def of(
        cls, jobs: tuple[ReplayedJob, ...], settings: Settings, *, now: float
    ) -> ReplayedCluster:
        """Begin with empty nodes; the jobs have yet to be announced or to enter."""
        world = cls(
            settings=settings,
            now=now,
            changed_at=now,
            jobs=jobs,
            cluster=SimulatedCluster(pools=settings.pools),
            recorder=Recorder(
                books={p.name: PoolBook(pool=p.name, updated_at=now) for p in settings.pools}
            ),
            _numbers={job.submission.job_id: number for number, job in enumerate(jobs)},
        )
        for number in range(len(world.cluster.nodes)):
            world._await_node_loss(number)
        return world

    @property
    def is_over(self) -> bool:
        return self.ended == len(self.jobs)

    @property
    def is_idle(self) -> bool:
        """Nobody runs, and nobody will come."""
        return not self.to_arrive and not any(job.holds_gpus for job in self.present.values())

    def announce(self, job: ReplayedJob, *, at: float | None = None) -> None:
        """It will come then; by default when it is submitted."""
        self.to_arrive += 1
        number = self._numbers[job.submission.job_id]
        self.agenda.add(
            job.submission.submitted_at if at is None else at, SimulationEventKind.ARRIVAL, number
        )

    def enter(self, job: ReplayedJob) -> None:
        """A job comes, or was there when the simulation began."""
        seen = job.submission
        self.present[seen.job_id] = job
        if self.settings.knowledge is Knowledge.EARLIER_RUNS:
            self._follow_earlier_run(job)
        self.recorder.arrive(job, self.now)
        job.worker_seconds_to_loss = self._worker_life(job)
        held = seen.target or seen.allocation
        if seen.phase is JobPhase.ACTIVE and held is not None:
            job.go_on(held, self.now)
        self._take_up(job)

    def _follow_earlier_run(self, job: ReplayedJob) -> None:
        runs = self._runs.setdefault((job.submission.team, job.profile.name), [])
        measured = next((run for run in reversed(runs) if run.found), None)
        if measured is not None:
            job.measuring.follow(measured)
        runs.append(job.measuring)

    def handle(self, event: SimulationEvent) -> bool:
        """Let one event happen, unless it no longer holds; True when something changed."""
        match event.kind:
            case SimulationEventKind.ARRIVAL:
                self.to_arrive -= 1
                self.enter(self.jobs[event.subject])
            case SimulationEventKind.NODE_LOST:
                self._lose_node(event.subject)
            case SimulationEventKind.REPAIR:
                self._repair_node(event.subject)
            case _:
                job = self.jobs[event.subject]
                if event.version != job.version:
                    return False
                self._change(job, event.kind)
        return True

    @contextmanager
    def changing(self, jobs: Iterable[ReplayedJob]) -> Iterator[None]:
        """Enclose any change of jobs: all their GPUs are given back before any are taken."""
        changed = tuple(jobs)
        for job in changed:
            self.recorder.forget(job)
            self.cluster.give_back(job.submission.pool, job.gpus_by_node)
        yield
        for job in changed:
            if job.stage is Stage.ENDED:
                self._leave(job)
            else:
                self._take_up(job)

    def _change(self, job: ReplayedJob, kind: SimulationEventKind) -> None:
        with self.changing((job,)):
            match kind:
                case SimulationEventKind.FINISH:
                    job.finish(self.now)
                case SimulationEventKind.WORKER_LOST:
                    self._lose_worker(job)
                case _:
                    job.become_ready(self.now)

    def _take_up(self, job: ReplayedJob) -> None:
        """Enter the job into the books as it stands now, with its next events."""
        self.changed_at = self.now
        self.cluster.take(job.submission.pool, job.gpus_by_node)
        self.recorder.account(job, self._speedup(job) if self.settings.keeps_usage else 0.0)
        number = self._numbers[job.submission.job_id]
        for time, kind in (
            (job.ready_at, SimulationEventKind.READY),
            (job.finishes_at, SimulationEventKind.FINISH),
            (job.loses_worker_at, SimulationEventKind.WORKER_LOST),
        ):
            if time is not None:
                self.agenda.add(time, kind, number, job.version)

    def _leave(self, job: ReplayedJob) -> None:
        seen = job.submission
        self.changed_at = self.now
        self.ended += 1
        del self.present[seen.job_id]
        self.recorder.leave(job, self.now)
        self.changes.append(
            PoolChange(kind=ChangeKind.JOB_FINISHED, pool=seen.pool, name=seen.name)
        )

    def _speedup(self, job: ReplayedJob) -> float:
        """The true rate over that of the smallest size with its fastest batch."""
        if not job.rate:
            return 0.0
        rules, smallest = job.submission.batch, job.submission.min_workers
        alone = seconds_per_sample(
            job.profile, rules, workers=smallest, crosses_nodes=False, counts_noise=False
        )
        return job.rate * alone

    # Failures. Chance is drawn per job and per node, so that one does not change the other.

    def _worker_life(self, job: ReplayedJob) -> float | None:
        mtbf = self.settings.failures.worker_mtbf_seconds
        return None if mtbf is None else self._drawn(job.submission.job_id, mtbf)

    def _lose_worker(self, job: ReplayedJob) -> None:
        seen = job.submission
        nodes = [node for node, count in job.held.workers_by_node for _ in range(count)]
        lost = self._source(seen.job_id).choice(nodes)
        job.lose(((lost, 1),), self.now)
        job.worker_seconds_to_loss = self._worker_life(job)
        self.changes.append(
            PoolChange(kind=ChangeKind.WORKER_LOST, pool=seen.pool, name=seen.job_id)
        )

    def _await_node_loss(self, number: int) -> None:
        mtbf = self.settings.failures.node_mtbf_seconds
        if mtbf is not None:
            pool, node = self.cluster.nodes[number]
            self.agenda.add(
                self.now + self._drawn(f"node {pool}/{node}", mtbf),
                SimulationEventKind.NODE_LOST,
                number,
            )

    def _lose_node(self, number: int) -> None:
        pool, node = self.cluster.nodes[number]
        hit = [
            job
            for job in self.present.values()
            if job.submission.pool == pool and node in dict(job.gpus_by_node)
        ]
        with self.changing(hit):
            self.cluster.lose((pool, node))
            for job in hit:
                job.lose(((node, dict(job.held.workers_by_node)[node]),), self.now)
        self.changed_at = self.now
        self.changes.append(PoolChange(kind=ChangeKind.NODE_LOST, pool=pool, name=node))
        repaired_at = self.now + self.settings.failures.node_repair_seconds
        self.agenda.add(repaired_at, SimulationEventKind.REPAIR, number)

    def _repair_node(self, number: int) -> None:
        pool, node = self.cluster.nodes[number]
        self.cluster.repair((pool, node))
        self.changed_at = self.now
        self.changes.append(PoolChange(kind=ChangeKind.NODE_JOINED, pool=pool, name=node))
        self._await_node_loss(number)

    def _drawn(self, name: str, mean: float) -> float:
        return self._source(name).expovariate(1 / mean)

    def _source(self, name: str) -> random.Random:
        if name not in self._chance:
            seed = f"{self.settings.seed} {name}"
            self._chance[name] = random.Random(seed)
        return self._chance[name]
