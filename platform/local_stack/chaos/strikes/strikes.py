"""How does a fault hit? All processes of a component at once, or what is around them; found before.

Processes are killed or frozen; a disk or a part of the network is taken away for a while.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import psutil

from local_stack.chaos.faults import (
    LASTING,
    OF_MACHINES,
    OF_THE_SERVICE,
    Component,
    Fault,
    Way,
)
from local_stack.chaos.observation.processes import JobProcess, JobProcessKind, drawn
from local_stack.chaos.stacks.target_stack import TargetStack
from local_stack.chaos.strikes import aims, outages
from local_stack.chaos.strikes.outages import Outage

LOOK_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Whom a fault hits."""

    fault: Fault
    processes: tuple[psutil.Process, ...] = ()
    job_ids: frozenset[str] = frozenset()
    worker_ids: frozenset[str] = frozenset()
    outage: Outage | None = None  # what is taken away, if the fault hits no process
    what: str = ""  # that is, for people

    def __str__(self) -> str:
        whom = ", ".join(sorted(self.worker_ids or self.job_ids))
        pids = ", ".join(str(process.pid) for process in self.processes)
        what = self.what or f"pid {pids}"
        return f"{self.fault} ({whom + ': ' if whom else ''}{what})"

    def begin(self) -> bool:
        """The first process first: from then on it has no new ones. False: all had ended before."""
        if self.outage is not None:
            self.outage.begin(self.fault.seconds)
            return True
        hit = 0
        for process in self.processes:
            with suppress(psutil.NoSuchProcess):
                process.kill() if self.fault.way is Way.KILL else process.suspend()
                hit += 1
        return hit > 0

    def go_on(self) -> None:
        """It lasts."""
        if self.outage is not None:
            self.outage.go_on()

    def end(self) -> None:
        """It is over; more than once does no harm."""
        if self.outage is not None:
            self.outage.end()
        for process in self.processes:
            with suppress(psutil.NoSuchProcess):
                process.resume()


@dataclass(frozen=True, slots=True, kw_only=True)
class StrikeRecord:
    """What was done, and when; seconds since the epoch."""

    targets: tuple[Target, ...]
    at: float
    over_at: float  # when the last that lasted was over


def find(fault: Fault, stack: TargetStack, jobs: Collection[str]) -> Target | None:
    """Return what this fault would hit now; None: there is nothing. Of jobs it hits those alone."""
    if fault.component in OF_THE_SERVICE:
        return _of_service(fault, stack)
    if fault.component not in _HITS and fault.component not in OF_MACHINES:
        return _of_outages(fault, stack)
    running = [one for one in stack.job_processes() if not one.job_id or one.job_id in jobs]
    if fault.component in OF_MACHINES:
        return _of_machines(fault, stack, running)
    hit = _HITS[fault.component](running, fault.lot)
    if not hit:
        return None
    return Target(
        fault=fault,
        processes=tuple(one.process for one in hit),
        job_ids=frozenset(one.job_id for one in hit if one.job_id),
        worker_ids=frozenset(one.worker_id for one in hit if one.worker_id),
    )


def inflict(targets: Sequence[Target], *, meanwhile: Callable[[], object]) -> StrikeRecord:
    """All at once; what lasts is over after its time, and `meanwhile` is called till then.

    Whom it was too late for is not among those that were struck.
    """
    lasting = [target for target in targets if target.fault.way in LASTING]
    lasting.sort(key=lambda target: target.fault.seconds)
    try:
        at = time.time()
        hit = tuple([target for target in targets if target.begin()])
        for target in lasting:
            _last(lasting, until=at + target.fault.seconds, meanwhile=meanwhile)
            target.end()
            lasting = lasting[1:]
    finally:
        for target in lasting:
            target.end()
    is_lasting = any(target.fault.way in LASTING for target in hit)
    return StrikeRecord(targets=hit, at=at, over_at=time.time() if is_lasting else at)


def _last(lasting: Sequence[Target], *, until: float, meanwhile: Callable[[], object]) -> None:
    while time.time() < until:
        for target in lasting:
            target.go_on()
        meanwhile()
        time.sleep(LOOK_SECONDS)


def _of_machines(fault: Fault, stack: TargetStack, running: Sequence[JobProcess]) -> Target | None:
    aim = aims.find(fault, stack.machines, running) if stack.machines is not None else None
    if aim is None:
        return None
    return Target(
        fault=fault,
        processes=aim.processes,
        outage=aim.outage,
        what=aim.what,
        worker_ids=aim.worker_ids,
    )


def _of_outages(fault: Fault, stack: TargetStack) -> Target | None:
    found = outages.find(fault, stack)
    if found is None:
        return None
    return Target(fault=fault, outage=found.outage, what=found.what, job_ids=found.job_ids)


def _of_service(fault: Fault, stack: TargetStack) -> Target | None:
    if fault.component is Component.STACK:
        supervisor = stack.supervisor
        return Target(fault=fault, processes=(supervisor,)) if supervisor else None
    process = stack.process(fault.component)
    if process is None:
        return None
    with suppress(psutil.NoSuchProcess):
        return Target(fault=fault, processes=(process, *process.children(recursive=True)))
    return None


def _one_worker(running: Sequence[JobProcess], lot: float) -> list[JobProcess]:
    workers = _parts(running, JobProcessKind.WORKER)
    chosen = drawn({one.worker_id for one in workers}, workers, lot)
    return [one for one in workers if one.worker_id == chosen]


def _all_workers(running: Sequence[JobProcess], lot: float) -> list[JobProcess]:
    workers = _parts(running, JobProcessKind.WORKER)
    chosen = drawn({one.job_id for one in workers}, workers, lot)
    return [one for one in workers if one.job_id == chosen]


def _keeper(running: Sequence[JobProcess], lot: float) -> list[JobProcess]:
    keepers = [one for one in _parts(running, JobProcessKind.KEEPER) if one.worker_id]
    chosen = drawn({one.worker_id for one in keepers}, keepers, lot)
    return [one for one in keepers if one.worker_id == chosen]


def _coordinator(running: Sequence[JobProcess], lot: float) -> list[JobProcess]:
    coordinators = _parts(running, JobProcessKind.COORDINATOR)
    chosen = drawn({one.job_id for one in coordinators}, coordinators, lot)
    return [one for one in coordinators if one.job_id == chosen]


def _zygotes(running: Sequence[JobProcess], _lot: float) -> list[JobProcess]:
    return _parts(running, JobProcessKind.ZYGOTE)


def _parts(running: Iterable[JobProcess], part: JobProcessKind) -> list[JobProcess]:
    return [one for one in running if one.part is part]


_HITS: Final[dict[Component, Callable[[Sequence[JobProcess], float], list[JobProcess]]]] = {
    Component.WORKER: _one_worker,
    Component.ALL_WORKERS: _all_workers,
    Component.KEEPER: _keeper,
    Component.COORDINATOR: _coordinator,
    Component.ZYGOTE: _zygotes,
}
