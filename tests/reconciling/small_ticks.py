"""A tick of the small world: the real rules, and instructions carried out on values.

What a rule gives is carried out as the control loop does it: what is written at once, then one
order after the other. A tick may be killed behind any of these steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import singledispatch
from typing import TYPE_CHECKING

from cluster.worker_host import ProcessPhase

from autoscaler.reconciling.instructions import (
    BeginGeneration,
    BeginTerm,
    ChangeMode,
    EndAs,
    Finish,
    Forget,
    HostInstruction,
    Instruction,
    Reassign,
    RecordNotice,
    ReleaseWorker,
    Remember,
    Say,
    SeatNextSet,
    StartCoordinator,
    StartWorkers,
    Stop,
    StopProcess,
    Tell,
    change_the_job,
)
from autoscaler.reconciling.questions import Unanswered
from autoscaler.reconciling.rest import rests_until
from autoscaler.reconciling.snapshot import CoordinatorSnapshot, GenerationSnapshot
from autoscaler.reconciling.table import rules_for
from concertina_worker.protocol import ExitCode
from jobs.lifecycle import ACTIVE, JobState
from jobs.worker_phase import WorkerPhase
from tests.reconciling.builders import process
from tests.reconciling.small_world import World, answer, assigned, planned, seated, snapshot

if TYPE_CHECKING:
    from autoscaler.reconciling.instructions import Instructions
    from autoscaler.reconciling.snapshot import JobSnapshot
    from autoscaler.reconciling.table import Rule

_MOST_LOOKS = 20


class Killed(Exception):
    """The tick ends here; what was done so far stays."""


class NodeSilent(Exception):
    """An order for it cannot be given; the job waits for the next tick."""


@dataclass(slots=True)
class Tick:
    """One tick under way, with so many steps before it is killed; None: it is not."""

    world: World
    steps_left: int | None = None
    steps: int = 0

    def step(self, world: World) -> None:
        self.world = world
        self.steps += 1
        if self.steps == self.steps_left:
            raise Killed


def tick(world: World, *, killed_after: int | None = None) -> tuple[World, int]:
    """Everything that one tick does; returns the world, and how many steps that took."""
    under_way = Tick(world=_without_orphans(replace(world, started=frozenset())))
    under_way.steps_left = killed_after
    try:
        for job_id in world.rows:
            _reconcile(job_id, under_way)
        under_way.step(planned(under_way.world))
        for job_id in world.rows:
            _reconcile(job_id, under_way)
    except Killed:
        pass
    return replace(under_way.world, started=frozenset()), under_way.steps


def _without_orphans(world: World) -> World:
    """What has no live row is stopped; what has ended is forgotten."""
    kept = dict(world.processes)
    for process_id, found in world.processes.items():
        is_known = any(
            process_id == row.coordinator_id
            if "coordinator" in process_id
            else process_id in {worker.id for worker in row.job.live}
            for row in world.rows.values()
        )
        if not is_known and found.node not in world.silent:
            del kept[process_id]
    return replace(world, processes=kept)


def _reconcile(job_id: str, under_way: Tick) -> None:
    for _ in range(_MOST_LOOKS):
        job = snapshot(under_way.world, job_id)
        if not (job.is_active or job.state is JobState.STOPPING or job.live):
            return
        try:
            _compare_with_rest(job, under_way)
            if not any(_follow(rule, job, under_way) for rule in rules_for(job)):
                return
        except NodeSilent:
            return
    raise AssertionError(f"{job_id} does not come to rest")


def _compare_with_rest(job: JobSnapshot, under_way: Tick) -> None:
    """No rule does anything for a job that is said to be at rest."""
    until = rests_until(job)
    if until is None or job.context.now >= until:
        return
    last = replace(job.context, now=until - timedelta(microseconds=1))
    for moment in (job, replace(job, context=last)):
        for rule in rules_for(moment):
            done = decided(rule, moment, under_way.world)
            assert not done, f"{job.id} is at rest until {until}, but {rule.__name__}: {done}"


def _follow(rule: Rule, job: JobSnapshot, under_way: Tick) -> bool:
    instructions = decided(rule, job, under_way.world)
    rows = [one for one in instructions if not isinstance(one, HostInstruction)]
    world = under_way.world
    for one in rows:
        world = write(one, world, job.id)
    if rows:
        under_way.step(world)
    for one in instructions:
        if isinstance(one, HostInstruction):
            under_way.step(obey(one, under_way.world, job.id))
    return change_the_job(instructions)


def decided(rule: Rule, job: JobSnapshot, world: World) -> Instructions:
    """What the rule gives, once it has been told all that it asks."""
    while True:
        try:
            return rule(job)
        except Unanswered as missing:
            found = answer(world, job.id, missing.question)
            job = replace(job, answers={**job.answers, missing.question: found})


@singledispatch
def write(instruction: Instruction, world: World, job_id: str) -> World:
    raise NotImplementedError(instruction)


@write.register
def _stop(one: Stop, world: World, job_id: str) -> World:
    assert world.rows[job_id].job.state in ACTIVE
    counters, job = one.counters, world.rows[job_id].job
    life = job.life
    if counters.losses_in_a_row is not None:
        life = replace(life, losses_in_a_row=counters.losses_in_a_row, lost_at=counters.lost_at)
    if counters.not_before is not None:
        world = world.row(job_id, not_before=counters.not_before)
    return world.moved(
        job_id,
        JobState.STOPPING,
        ends_as=one.ends_as,
        reason=one.reason,
        life=life,
        attempt=job.attempt if counters.attempt is None else counters.attempt,
        failures=job.failures if counters.failures is None else counters.failures,
    )


@write.register
def _end_as(one: EndAs, world: World, job_id: str) -> World:
    assert world.rows[job_id].job.state is JobState.STOPPING
    return world.job(job_id, ends_as=one.ends_as, reason=one.reason)


@write.register
def _finish(_: Finish, world: World, job_id: str) -> World:
    row = world.rows[job_id]
    assert row.job.ends_as is not None
    world = world.row(job_id, term=row.term + 1)
    return world.moved(
        job_id, row.job.ends_as, ends_as=None, coordinator=CoordinatorSnapshot(node="")
    )


@write.register
def _change_mode(one: ChangeMode, world: World, job_id: str) -> World:
    return world.job(job_id, mode=one.mode)


@write.register
def _remember(one: Remember, world: World, job_id: str) -> World:
    life = world.rows[job_id].job.life
    return world.job(
        job_id,
        life=replace(
            life,
            progress_at=one.life_at or life.progress_at,
            told_of_silence_at=one.told_of_silence_at or life.told_of_silence_at,
        ),
    )


@write.register
def _reassign(one: Reassign, world: World, job_id: str) -> World:
    if one.begins_rescale:
        assert world.rows[job_id].job.state is JobState.RUNNING
        world = world.moved(job_id, JobState.RESCALING)
    return assigned(world, job_id, one.workers)


@write.register
def _seat_next_set(_: SeatNextSet, world: World, job_id: str) -> World:
    return seated(world, job_id, world.rows[job_id].seats)


@write.register
def _begin_generation(one: BeginGeneration, world: World, job_id: str) -> World:
    job = world.rows[job_id].job
    workers = tuple(
        replace(worker, phase=WorkerPhase.TRAINING)
        if worker.id in job.wanted and not worker.is_gone
        else worker
        for worker in job.workers
    )
    group = GenerationSnapshot(number=one.number, worker_ids=job.wanted, began_at=world.now)
    return world.moved(job_id, JobState.RUNNING, workers=workers, generation=group)


@write.register
def _release(one: ReleaseWorker, world: World, job_id: str) -> World:
    job = world.rows[job_id].job
    is_on_record = one.count is not None and one.count.tell is not None and job.is_active
    workers = tuple(
        replace(
            worker,
            phase=WorkerPhase.GONE,
            gone_at=one.gone_at,
            exit_code=one.exit_code,
            failing=one.failing,
            error=one.error,
            counted_revision=job.revision if is_on_record else None,
        )
        if worker.id == one.worker
        else worker
        for worker in job.workers
    )
    world = world.job(job_id, workers=workers)
    if one.count is None or job.state not in ACTIVE:
        return world
    return world.job(job_id, failures=job.failures + one.count.failures)


@write.register
def _tell(_: Tell, world: World, __: str) -> World:
    return world


@write.register
def _record_notice(one: RecordNotice, world: World, job_id: str) -> World:
    job = world.rows[job_id].job
    workers = tuple(
        replace(worker, silence_notice_at=world.now) if worker.id in one.silence_of else worker
        for worker in job.workers
    )
    notices = job.notices
    if one.preparation_revision is not None:
        notices = replace(notices, preparation_revision=one.preparation_revision)
    return world.job(job_id, workers=workers, notices=notices)


@write.register
def _say(one: Say, world: World, job_id: str) -> World:
    return world.job(job_id, message=one.message)


@write.register
def _begin_term(one: BeginTerm, world: World, job_id: str) -> World:
    row = world.rows[job_id]
    heard = row.job.coordinator
    heard = replace(heard, node=one.node, restarts=heard.restarts + 1)
    return world.row(job_id, term=row.term + 1).job(job_id, coordinator=heard)


@singledispatch
def obey(order: HostInstruction, world: World, job_id: str) -> World:
    raise NotImplementedError(order)


@obey.register
def _start_coordinator(order: StartCoordinator, world: World, job_id: str) -> World:
    row = world.rows[job_id]
    world = world.job(job_id, coordinator=replace(row.job.coordinator, node=order.node))
    return _start(row.coordinator_id, order.node, world)


@obey.register
def _start_workers(order: StartWorkers, world: World, job_id: str) -> World:
    for worker in world.rows[job_id].job.workers:
        if worker.id in order.workers:
            world = _start(worker.id, worker.node.name, world)
    return world


@obey.register
def _stop_process(order: StopProcess, world: World, _: str) -> World:
    _check(order.process, world)
    code = ExitCode.RELEASED if order.grace_seconds else -9
    return world.exit(order.process, code)


@obey.register
def _forget(order: Forget, world: World, _: str) -> World:
    _check(order.process, world)
    left = {name: one for name, one in world.processes.items() if name != order.process}
    return replace(world, processes=left)


def _start(process_id: str, node: str, world: World) -> World:
    """Unless one with its id is, or was, there already."""
    if node in world.silent:
        raise NodeSilent
    started = world.started | {process_id}
    if process_id in world.processes:
        return replace(world, started=started)
    role = "coordinator" if "coordinator" in process_id else process_id
    found = process(role, node=node, started_at=world.now, phase=ProcessPhase.RUNNING)
    found = replace(found, labels=replace(found.labels, process_id=process_id))
    return replace(world, processes={**world.processes, process_id: found}, started=started)


def _check(process_id: str, world: World) -> None:
    found = world.processes.get(process_id)
    if found and found.node in world.silent:
        raise NodeSilent
