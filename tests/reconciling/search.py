"""In which orders can things happen in a small world, and is every promise kept in each of them?

From its beginning all orders of a few happenings are tried: ticks, ticks that are killed behind
any of their steps, deaths, silences, reports, time. Worlds that differ in nothing that a rule could
see are looked at once. In each of them nothing is booked twice and nothing runs without a record;
and once nothing goes wrong any more, every job gets on.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import replace

from jobs.lifecycle import FINAL, JobState
from tests.reconciling.small_ticks import tick
from tests.reconciling.small_world import GPUS, World, beginning, passed, reported

Happening = tuple[str, World]
Story = tuple[str, ...]
LONG = 70.0  # seconds: every usual patience is over then
_ROUNDS = 120
LONGEST = 1000.0  # older than that is all the same


class PromiseBroken(Exception):
    """What is wrong in a world, and what happened before."""


def happenings(world: World) -> Iterator[Happening]:
    """All that may happen next."""
    after, steps = tick(passed(world, 1.0))
    yield "tick", after
    for step in range(1, steps):
        yield f"tick killed after step {step}", tick(passed(world, 1.0), killed_after=step)[0]
    for job_id in world.rows:
        yield f"report of {job_id}", reported(world, job_id)
    for process_id in world.processes:
        if world.runs(process_id):
            yield f"death of {process_id}", world.exit(process_id, -9)
            yield f"end of {process_id}", world.exit(process_id, 0)
    for node in GPUS:
        silent = {name: since for name, since in world.silent.items() if name != node}
        if node in world.silent:
            yield f"{node} answers", replace(world, silent=silent)
        else:
            yield f"{node} is silent", replace(world, silent={**silent, node: world.now})
    for job_id, row in world.rows.items():
        if row.job.is_active:
            cancelled = world.moved(job_id, JobState.STOPPING, ends_as=JobState.CANCELLED)
            yield f"{job_id} is cancelled", cancelled
    yield "time", passed(world, LONG)


def left_undone(world: World, settling: set[object]) -> list[str]:
    """What is still to be done long after the last thing went wrong; empty: nothing is.

    `settling` are worlds after which nothing is, as was seen before; what leads to one joins them.
    """
    world, way = replace(world, silent={}), list[object]()
    undone: list[str] = []
    for _ in range(_ROUNDS):
        if (mark := key(world)) in settling:
            undone = []
            break
        way.append(mark)
        world = passed(tick(world)[0], 9.0)
        for job_id in world.rows:
            world = reported(world, job_id)
        undone = [*stuck(world), *unrecorded(world)]
        if not undone:
            break
    if not undone:
        settling.update(way)
    return undone


def wrongs(world: World) -> Iterator[str]:
    """What must never be."""
    claimed = Counter(worker.node.name for row in world.rows.values() for worker in row.job.live)
    for node, count in claimed.items():
        if count > GPUS[node]:
            yield f"{node} has {GPUS[node]} GPUs, of which {count} are claimed"
    for job_id, row in world.rows.items():
        if row.job.state in FINAL | {JobState.QUEUED, JobState.PAUSED} and row.job.live:
            yield f"{job_id} is {row.job.state} and has workers"
    running = Counter(
        found.node
        for name, found in world.processes.items()
        if world.runs(name) and "coordinator" not in name
    )
    yield from (f"{node} runs {count}" for node, count in running.items() if count > GPUS[node])


def unrecorded(world: World) -> Iterator[str]:
    """Workers that run though nobody has them on record."""
    known = {one.id for row in world.rows.values() for one in row.job.live}
    for name in world.processes:
        if world.runs(name) and "coordinator" not in name and name not in known:
            yield name


def stuck(world: World) -> Iterator[str]:
    """Jobs that neither train with all that they want nor are over; who waits finds no GPU free."""
    for job_id, row in world.rows.items():
        job = row.job
        trains = job.state is JobState.RUNNING and all(world.runs(one.id) for one in job.live)
        waits = job.state is JobState.QUEUED and not any(world.free(node) for node in GPUS)
        if not (trains and job.live) and not waits and job.state not in FINAL:
            yield f"{job_id} is {job.state}"


def key(world: World) -> object:
    """Equal for worlds that no rule can tell apart: moments count by how long ago they were."""

    def since(moment: object) -> object:
        return None if moment is None else min((world.now - moment).total_seconds(), LONGEST)  # type: ignore[operator]

    rows = tuple(
        (
            row.job.state,
            row.job.mode,
            row.job.is_mode_known,
            row.job.ends_as,
            row.job.failures,
            row.job.attempt,
            row.job.wanted,
            row.job.assignment and since(row.job.assignment.at),
            row.job.generation and row.job.generation.worker_ids,
            since(row.job.state_since),
            since(row.job.coordinator.seen_at),
            since(row.not_before),
            row.job.coordinator.node,
            row.job.coordinator.restarts,
            row.job.notices,
            row.term,
            row.seats,
            row.job.life.losses_in_a_row,
            since(row.job.life.lost_at),
            since(row.job.life.progress_at),
            tuple(
                (
                    one.id,
                    one.phase,
                    one.exit_code,
                    one.counted_revision,
                    one.node.name,
                    since(one.created_at),
                    since(one.gone_at),
                    since(one.silence_notice_at),
                )
                for one in row.job.workers
            ),
        )
        for row in world.rows.values()
    )
    processes = tuple(
        sorted(
            (name, one.phase, one.exit_code, since(one.started_at))
            for name, one in world.processes.items()
        )
    )
    return rows, processes, tuple(sorted((n, since(at)) for n, at in world.silent.items()))


def training() -> World:
    """Both jobs train, the one that is led by a coordinator with two workers."""
    world = beginning()
    for _ in range(3):
        world = tick(passed(world, 1.0))[0]
        for job_id in world.rows:
            world = reported(world, job_id)
    return world


def searched(first: World, depth: int) -> Counter[int]:
    """Try everything so deep; returns how many worlds there are at each depth."""
    seen, counts, settling = {key(first)}, Counter({0: 1}), set[object]()
    waiting: deque[tuple[World, Story]] = deque([(first, ())])
    while waiting:
        world, past = waiting.popleft()
        for name, after in happenings(world):
            if (mark := key(after)) in seen:
                continue
            seen.add(mark)
            story = (*past, name)
            counts[len(story)] += 1
            _check(after, story, settling)
            if len(story) < depth:
                waiting.append((after, story))
    return counts


def wandered(first: World, depth: int, seed: int) -> Story:
    """Try one story of so many happenings, which the seed chooses."""
    chance, world = random.Random(seed), first  # noqa: S311 - a sample, not a secret
    story: Story = ()
    settling = set[object]()
    for _ in range(depth):
        name, world = chance.choice(list(happenings(world)))
        story = (*story, name)
        _check(world, story, settling)
    return story


def _check(world: World, story: Story, settling: set[object]) -> None:
    broken = [*wrongs(world)] or left_undone(world, settling)
    if broken:
        raise PromiseBroken(broken, story)
