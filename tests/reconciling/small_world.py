"""Two jobs, three GPUs, two nodes: rows and processes as values, and all that may happen to them.

The rules are the real ones. Around them is what is left of the service: a planner that gives each
job up to two workers, a host that starts and stops at once, and coordinators that report.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from cluster.worker_host import ProcessPhase

from autoscaler.reconciling.questions import (
    HasRoomForNextSet,
    KeptLines,
    KillsForMemory,
    LastLines,
    NewlySlowNodes,
    NodeNamed,
    Question,
)
from autoscaler.reconciling.snapshot import (
    AssignmentSnapshot,
    Context,
    GenerationSnapshot,
    JobSnapshot,
    RescaleMode,
)
from autoscaler.reconciling.worker_snapshot import NodeSnapshot, WorkerSnapshot
from concertina_worker.protocol import ExitCode
from jobs.lifecycle import JobState
from jobs.worker_phase import WorkerPhase
from tests.reconciling.builders import NOW, spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cluster.worker_host import ObservedProcess

GPUS = {"n1": 2, "n2": 1}
MOST_WORKERS = 2
_WARM = {WorkerPhase.READY, WorkerPhase.TRAINING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A job in the database; the processes of its snapshot are looked up anew each time."""

    job: JobSnapshot
    term: int = 0
    numbered: int = 0  # workers so far
    not_before: datetime = NOW
    seats: tuple[tuple[str, str], ...] = ()  # worker and node, of a set that waits for its GPUs

    @property
    def coordinator_id(self) -> str:
        return f"{self.job.id}-{self.term}-coordinator"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """All rows, all processes, and which nodes are silent since when."""

    now: datetime = NOW
    rows: Mapping[str, Row]
    processes: Mapping[str, ObservedProcess] = field(default_factory=dict)
    silent: Mapping[str, datetime] = field(default_factory=dict)
    started: frozenset[str] = frozenset()  # in this tick: not listed before the next

    def row(self, job_id: str, **changes: Any) -> World:
        return replace(self, rows={**self.rows, job_id: replace(self.rows[job_id], **changes)})

    def job(self, job_id: str, **changes: Any) -> World:
        return self.row(job_id, job=replace(self.rows[job_id].job, **changes))

    def moved(self, job_id: str, state: JobState, **changes: Any) -> World:
        coordinator = replace(self.rows[job_id].job.coordinator, restarts=0)
        given = {"coordinator": coordinator, **changes}
        return self.job(job_id, state=state, state_since=self.now, **given)

    def node(self, name: str) -> NodeSnapshot:
        return NodeSnapshot(name=name, silent_since=self.silent.get(name))

    def seen(self, process_id: str) -> ObservedProcess | None:
        """As the host lists it: not on a silent node, nor before the tick after its start."""
        found = self.processes.get(process_id)
        is_listed = found and found.node not in self.silent and process_id not in self.started
        return found if is_listed else None

    def runs(self, process_id: str) -> bool:
        found = self.processes.get(process_id)
        return found is not None and found.phase is ProcessPhase.RUNNING

    def exit(self, process_id: str, code: int) -> World:
        if not self.runs(process_id):
            return self
        over = replace(
            self.processes[process_id],
            phase=ProcessPhase.EXITED,
            exit_code=code,
            ended_at=self.now,
        )
        return replace(self, processes={**self.processes, process_id: over})

    def free(self, node: str) -> int:
        """GPUs that nobody claims; none where nobody answers."""
        claimed = sum(
            worker.node.name == node for row in self.rows.values() for worker in row.job.live
        )
        return 0 if node in self.silent else GPUS[node] - claimed

    def seats(self, count: int) -> list[str]:
        return [node for node in GPUS for _ in range(self.free(node))][:count]


def beginning() -> World:
    """A job that is led by a coordinator, and one that is a plain script; both wait."""
    modes = {"hot": RescaleMode.HOT, "script": RescaleMode.RESTART}
    elastic = {"hot": "auto", "script": "restart"}
    rows = {
        name: Row(
            job=JobSnapshot(
                id=name,
                state=JobState.QUEUED,
                state_since=NOW,
                mode=modes[name],
                spec=spec(elastic={"mode": elastic[name], "max_workers": MOST_WORKERS}),
                context=Context(now=NOW),
            )
        )
        for name in modes
    }
    return World(rows=rows)


def snapshot(world: World, job_id: str) -> JobSnapshot:
    """As `observe` would see the job now."""
    row = world.rows[job_id]
    workers = tuple(
        replace(
            worker,
            node=world.node(worker.node.name),
            process=world.seen(worker.id),
            is_being_started=worker.id in world.started,
        )
        for worker in row.job.workers
    )
    coordinator = replace(
        row.job.coordinator,
        process=world.seen(row.coordinator_id),
        is_being_started=row.coordinator_id in world.started,
    )
    return replace(
        row.job, context=Context(now=world.now), workers=workers, coordinator=coordinator
    )


def answer(world: World, job_id: str, question: Question[object]) -> object:
    """What `observe` would find out; nobody wrote anything, and no other team waits."""
    row = world.rows[job_id]
    if isinstance(question, NodeNamed):
        return world.node(question.name)
    if isinstance(question, HasRoomForNextSet):
        wanted = [node for _, node in row.seats]
        return all(wanted.count(node) <= world.free(node) for node in GPUS)
    nothing = {LastLines: (), KeptLines: (), NewlySlowNodes: frozenset(), KillsForMemory: 0}
    return nothing.get(type(question))


def assigned(world: World, job_id: str, workers: tuple[str, ...], **fields: Any) -> World:
    """With the next revision of its assignment; warm workers that are not in it are leaving."""
    job = world.rows[job_id].job
    rows = tuple(
        replace(one, phase=WorkerPhase.LEAVING)
        if one.id not in workers and one.phase in _WARM
        else one
        for one in job.workers
    )
    assignment = AssignmentSnapshot(at=world.now, worker_ids=workers, **fields)
    return world.job(job_id, revision=job.revision + 1, assignment=assignment, workers=rows)


def seated(world: World, job_id: str, seats: tuple[tuple[str, str], ...]) -> World:
    """New workers of the job on these nodes; those of earlier attempts are history."""
    new = tuple(
        WorkerSnapshot(id=name, node=NodeSnapshot(name=node), created_at=world.now)
        for name, node in seats
    )
    kept = tuple(one for one in world.rows[job_id].job.workers if not one.is_gone)
    wanted = world.rows[job_id].job.wanted
    gone = tuple(one for one in world.rows[job_id].job.workers if one.is_gone and one.id in wanted)
    return world.job(job_id, workers=(*gone, *kept, *new))


def planned(world: World) -> World:
    """Give each job up to two workers, as far as GPUs are free."""
    for job_id, row in world.rows.items():
        job = row.job
        if job.state is JobState.QUEUED and row.not_before <= world.now:
            world = _started(world, job_id)
        elif job.state is JobState.RUNNING and len(job.live) == len(job.wanted) < MOST_WORKERS:
            world = _grown(world, job_id)
    return world


def _numbered(world: World, job_id: str, nodes: list[str]) -> tuple[World, Any]:
    first = world.rows[job_id].numbered
    names = [f"{job_id}-{first + n}" for n in range(1, len(nodes) + 1)]
    return world.row(job_id, numbered=first + len(nodes)), tuple(zip(names, nodes, strict=True))


def _started(world: World, job_id: str) -> World:
    nodes = world.seats(MOST_WORKERS)
    if not nodes:
        return world
    world, seats = _numbered(world, job_id, nodes)
    world = world.job(job_id, workers=tuple(world.rows[job_id].job.live), assignment=None)
    world = seated(world, job_id, seats)
    world = world.moved(job_id, JobState.STARTING, generation=None)
    return assigned(world, job_id, tuple(name for name, _ in seats))


def _grown(world: World, job_id: str) -> World:
    """Hot: joiners sit down at once. A script: a new set waits until the old one has gone."""
    job = world.rows[job_id].job
    is_hot, nodes = job.mode is RescaleMode.HOT, world.seats(1)
    if not nodes:
        return world
    if not is_hot:
        nodes = [*(worker.node.name for worker in job.live), *nodes]
    world, seats = _numbered(world, job_id, nodes)
    stay = job.wanted if is_hot else ()
    world = seated(world, job_id, seats) if is_hot else world.row(job_id, seats=seats)
    world = world.moved(job_id, JobState.RESCALING)
    return assigned(world, job_id, (*stay, *(name for name, _ in seats)))


def reported(world: World, job_id: str) -> World:
    """The job's coordinator tells the service how its workers are, and does what is wanted."""
    row = world.rows[job_id]
    if not world.runs(row.coordinator_id):
        return world
    world = world.job(job_id, coordinator=replace(row.job.coordinator, seen_at=world.now))
    world = _registered(world, job_id)
    job = world.rows[job_id].job
    alive = [worker for worker in job.live if world.runs(worker.id)]
    if job.state is JobState.STOPPING:
        if job.ends_as in {JobState.QUEUED, JobState.PAUSED}:
            for worker in alive:
                world = world.exit(worker.id, ExitCode.RELEASED)
        return world if job.live else world.exit(row.coordinator_id, ExitCode.COMPLETED)
    trains = tuple(worker.id for worker in alive if worker.id in job.wanted)
    is_whole = set(trains) == set(job.wanted)
    had = set(job.generation.worker_ids) if job.generation else set()
    if not job.is_active or not trains or not (is_whole or had - {one.id for one in alive}):
        return world
    return _regrouped(world, job_id, trains if is_whole else tuple(had.intersection(trains)))


def _registered(world: World, job_id: str) -> World:
    """Its scripts have called the library."""
    workers = tuple(
        replace(one, phase=WorkerPhase.READY)
        if one.phase is WorkerPhase.STARTING and world.runs(one.id)
        else one
        for one in world.rows[job_id].job.workers
    )
    return world.job(job_id, workers=workers)


def _regrouped(world: World, job_id: str, members: tuple[str, ...]) -> World:
    """These train together from now on; who is not wanted any more leaves."""
    job = world.rows[job_id].job
    if not members:
        return world
    last = job.generation.number if job.generation else 0
    workers = tuple(
        replace(one, phase=WorkerPhase.TRAINING) if one.id in members else one
        for one in job.workers
    )
    group = GenerationSnapshot(number=last + 1, worker_ids=members, began_at=world.now)
    world = world.job(job_id, workers=workers, generation=group, is_mode_known=True)
    if set(members) == set(job.wanted) and job.state is not JobState.RUNNING:
        world = world.moved(job_id, JobState.RUNNING)
    for one in job.live:
        if one.id not in job.wanted:
            world = world.exit(one.id, ExitCode.RELEASED)
    return world


def passed(world: World, seconds: float) -> World:
    return replace(world, now=world.now + timedelta(seconds=seconds))
