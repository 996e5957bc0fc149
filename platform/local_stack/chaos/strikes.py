"""How is a component killed or frozen? All of its processes at once, found beforehand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import psutil

from local_stack.chaos import processes
from local_stack.chaos.faults import OF_THE_SERVICE, Component, Fault, Way
from local_stack.chaos.private_stack import PrivateStack
from local_stack.chaos.processes import JobProcess, Part

LOOK_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Whom a fault hits."""

    fault: Fault
    processes: tuple[psutil.Process, ...]
    job_ids: frozenset[str] = frozenset()
    worker_ids: frozenset[str] = frozenset()

    def __str__(self) -> str:
        whom = ", ".join(sorted(self.worker_ids or self.job_ids))
        pids = ", ".join(str(process.pid) for process in self.processes)
        return f"{self.fault} ({whom + ': ' if whom else ''}pid {pids})"

    def begin(self) -> bool:
        """The first process first: from then on it has no new ones. False: all had ended before."""
        hit = 0
        for process in self.processes:
            with suppress(psutil.NoSuchProcess):
                process.kill() if self.fault.way is Way.KILL else process.suspend()
                hit += 1
        return hit > 0

    def end(self) -> None:
        for process in self.processes:
            with suppress(psutil.NoSuchProcess):
                process.resume()


@dataclass(frozen=True, slots=True, kw_only=True)
class Struck:
    """What was done, and when; seconds since the epoch."""

    targets: tuple[Target, ...]
    at: float
    over_at: float  # when the last that was frozen could go on


def find(fault: Fault, stack: PrivateStack) -> Target | None:
    """The processes that this fault would hit now; None: there are none."""
    if fault.component in OF_THE_SERVICE:
        return _of_service(fault, stack)
    running = processes.running(stack.checkout.state_dir)
    hit = _HITS[fault.component](running, fault.lot)
    if not hit:
        return None
    return Target(
        fault=fault,
        processes=tuple(one.process for one in hit),
        job_ids=frozenset(one.job_id for one in hit if one.job_id),
        worker_ids=frozenset(one.worker_id for one in hit if one.worker_id),
    )


def inflict(targets: Sequence[Target], *, meanwhile: Callable[[], object]) -> Struck:
    """All at once; what is frozen goes on after its time, and `meanwhile` is called till then.

    Whom it was too late for is not among those that were struck.
    """
    at = time.time()
    hit = tuple([target for target in targets if target.begin()])
    frozen = [target for target in hit if target.fault.way is Way.FREEZE]
    frozen.sort(key=lambda target: target.fault.freeze_seconds)
    try:
        for target in frozen:
            while time.time() < at + target.fault.freeze_seconds:
                meanwhile()
                time.sleep(LOOK_SECONDS)
            target.end()
    finally:
        for target in frozen:
            target.end()
    return Struck(targets=hit, at=at, over_at=time.time() if frozen else at)


def _of_service(fault: Fault, stack: PrivateStack) -> Target | None:
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
    workers = _parts(running, Part.WORKER)
    drawn = _drawn({one.worker_id for one in workers}, workers, lot)
    return [one for one in workers if one.worker_id == drawn]


def _all_workers(running: Sequence[JobProcess], lot: float) -> list[JobProcess]:
    workers = _parts(running, Part.WORKER)
    drawn = _drawn({one.job_id for one in workers}, workers, lot)
    return [one for one in workers if one.job_id == drawn]


def _keeper(running: Sequence[JobProcess], lot: float) -> list[JobProcess]:
    keepers = [one for one in _parts(running, Part.KEEPER) if one.worker_id]
    drawn = _drawn({one.worker_id for one in keepers}, keepers, lot)
    return [one for one in keepers if one.worker_id == drawn]


def _coordinator(running: Sequence[JobProcess], lot: float) -> list[JobProcess]:
    coordinators = _parts(running, Part.COORDINATOR)
    drawn = _drawn({one.job_id for one in coordinators}, coordinators, lot)
    return [one for one in coordinators if one.job_id == drawn]


def _zygotes(running: Sequence[JobProcess], _lot: float) -> list[JobProcess]:
    return _parts(running, Part.ZYGOTE)


def _parts(running: Iterable[JobProcess], part: Part) -> list[JobProcess]:
    return [one for one in running if one.part is part]


def _drawn(names: set[str], of: Sequence[JobProcess], lot: float) -> str:
    """One of the names, which stand in the order in which their processes began."""
    began = {name: _began(name, of) for name in names}
    ordered = sorted(names, key=lambda name: (began[name], name))
    return ordered[int(lot * len(ordered))] if ordered else ""


def _began(name: str, of: Sequence[JobProcess]) -> float:
    return min(one.started_at for one in of if name in {one.worker_id, one.job_id})


_HITS: Final[dict[Component, Callable[[Sequence[JobProcess], float], list[JobProcess]]]] = {
    Component.WORKER: _one_worker,
    Component.ALL_WORKERS: _all_workers,
    Component.KEEPER: _keeper,
    Component.COORDINATOR: _coordinator,
    Component.ZYGOTE: _zygotes,
}
