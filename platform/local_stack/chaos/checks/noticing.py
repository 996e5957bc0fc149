"""After how long did the platform act on a fault? Seen by what it did, once it is over.

A process of the service that was killed, a coordinator, a zygote: when the next one began. A frozen
process of the service: when the service first said that it is not well, or did not answer; in a
pair that hits two of its processes nobody can tell which of them that was, and the frozen one
counts as not noticed. A worker: when a generation without it was recorded, or it was put on record
as gone. A disk: as a frozen process. A cut network: when a generation that had lost somebody was
recorded. A daemon or a node: when the service noted that the node is silent, or lost its workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from local_stack.chaos.faults import LASTING, OF_MACHINES, OF_THE_NETWORK, OF_THE_SERVICE, Component
from local_stack.chaos.observation.facts import Facts
from local_stack.chaos.observation.processes import JobProcess, JobProcessKind, began_at
from local_stack.chaos.stacks.target_stack import TargetStack
from local_stack.chaos.strikes.strikes import StrikeRecord, Target

PRECISION_SECONDS: Final = 0.01  # of the moments at which processes began
HEARD_OF_SERVICE: Final = frozenset({*OF_THE_SERVICE, Component.DISK})


def noticed_seconds(
    target: Target,
    struck: StrikeRecord,
    *,
    stack: TargetStack,
    facts: Facts,
    running: Sequence[JobProcess],
    unwell_at: float | None,
    silent_at: Sequence[float] = (),
) -> float | None:
    """The seconds from the strike until it was noticed; None if nobody noticed."""
    if target.fault.component in HEARD_OF_SERVICE:
        is_alone = not any(_is_other_of_service(one, target) for one in struck.targets)
        moments = _of_service(target, stack, unwell_at if is_alone else None)
    elif target.fault.component in {Component.COORDINATOR, Component.ZYGOTE}:
        moments = successors(target, struck, running)
    elif target.fault.component in OF_THE_NETWORK:
        moments = _any_losses(target, facts)
    elif target.fault.component in OF_MACHINES:
        moments = chain(silent_at, _losses(target, facts))
    else:
        moments = _losses(target, facts)
    later = [moment - struck.at for moment in moments if moment > struck.at]
    return min(later, default=None)


def _of_service(target: Target, stack: TargetStack, unwell_at: float | None) -> Iterator[float]:
    if unwell_at is not None and target.fault.way in LASTING:
        yield unwell_at
    if target.processes and target.fault.component is not Component.STACK:
        process = stack.process(target.fault.component)
        if process is not None and process.pid != target.processes[0].pid:
            yield began_at(process)


def _is_other_of_service(one: Target, target: Target) -> bool:
    return one is not target and one.fault.component in HEARD_OF_SERVICE


def successors(
    target: Target, struck: StrikeRecord, running: Sequence[JobProcess]
) -> Iterator[float]:
    part = (
        JobProcessKind.ZYGOTE
        if target.fault.component is Component.ZYGOTE
        else JobProcessKind.COORDINATOR
    )
    for one in running:
        is_of_job = not target.job_ids or one.job_id in target.job_ids
        if one.part is part and is_of_job and one.process not in target.processes:
            yield max(one.started_at, struck.at + PRECISION_SECONDS)


def begun_after(moment: float, running: Sequence[JobProcess]) -> set[str]:
    """Ids of workers with a process that began then.

    One that nobody had seen running yet is started again, and is the same worker on record.
    """
    workers = (one for one in running if one.part is JobProcessKind.WORKER)
    return {one.worker_id for one in workers if one.started_at > moment}


def _losses(target: Target, facts: Facts) -> Iterator[float]:
    for job in facts.jobs:
        for worker in job.workers:
            if worker.id in target.worker_ids and worker.gone_at is not None:
                yield worker.gone_at.timestamp()
        for generation in job.generations:
            if target.worker_ids & set(generation.lost_worker_ids):
                yield generation.recorded_at.timestamp()


def _any_losses(target: Target, facts: Facts) -> Iterator[float]:
    for job in facts.jobs:
        if not target.job_ids or job.id in target.job_ids:
            for generation in job.generations:
                if generation.lost_worker_ids:
                    yield generation.recorded_at.timestamp()
