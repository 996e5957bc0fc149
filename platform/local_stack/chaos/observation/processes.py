"""Which processes do the jobs of one stack have at this moment? Read from `/proc`.

All that the process host starts is marked in its environment with the folder of its record.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import psutil
from cluster.process_host.record import environments
from cluster.process_host.record.records import LABELS_VARIABLE, RECORD_VARIABLE

from concertina_worker.protocol import Env

DEAD: Final = frozenset({psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD})


class JobProcessKind(StrEnum):
    """What a process is to its job."""

    WORKER = "worker"
    COORDINATOR = "coordinator"
    KEEPER = "supervisor"
    ZYGOTE = "zygote"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProcess:
    """One process, seen once."""

    process: psutil.Process
    part: JobProcessKind
    job_id: str = ""
    worker_id: str = ""  # of a worker, or of the one it supervises
    gpus: tuple[str, ...] = ()
    started_at: float = 0.0

    def __str__(self) -> str:
        return f"{self.part} {self.worker_id or self.job_id} (pid {self.process.pid})"

    @property
    def lives(self) -> bool:
        return self.process.is_running() and self.process.status() not in DEAD


def running(state_dir: Path) -> list[JobProcess]:
    """The processes of the stack that keeps its state there."""
    marks = str(state_dir / "state" / "processes") + "/"
    return [
        found
        for process in psutil.process_iter()
        if (found := _of_stack(process, marks)) is not None
    ]


def began_at(process: psutil.Process) -> float:
    """Seconds since the epoch, to a hundredth.

    The kernel tells when the machine was started in whole seconds only, and since when it runs to
    the nanosecond. Half a second too early, a successor would be taken for whoever was killed.
    """
    seconds_after_boot = process.create_time() - psutil.boot_time()
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + seconds_after_boot


def drawn(names: set[str], of: Sequence[JobProcess], lot: float) -> str:
    """One of the names, which stand in the order in which their processes began.

    Args:
        names: ids of workers or of jobs.
        of: the processes to which they belong.
        lot: 0 to 1: which of them.
    """
    began = {name: _began(name, of) for name in names}
    ordered = sorted(names, key=lambda name: (began[name], name))
    return ordered[int(lot * len(ordered))] if ordered else ""


def _began(name: str, of: Sequence[JobProcess]) -> float:
    return min(one.started_at for one in of if name in {one.worker_id, one.job_id})


def _of_stack(process: psutil.Process, marks: str) -> JobProcess | None:
    try:
        environ = environments.parsed(environments.raw(process.pid))
        if not environ.get(RECORD_VARIABLE, "").startswith(marks):
            return None
        if process.status() in DEAD:
            return None
        return _described(process, environ)
    except (OSError, psutil.Error):  # it ended while we looked
        return None


def _described(process: psutil.Process, environ: dict[str, str]) -> JobProcess | None:
    words = process.cmdline()
    started_at = began_at(process)
    if LABELS_VARIABLE in environ:
        labels = json.loads(environ[LABELS_VARIABLE])
        is_of_worker = labels["role"] == "worker"
        return JobProcess(
            process=process,
            part=JobProcessKind.KEEPER,
            job_id=labels["job_id"],
            worker_id=labels["process_id"] if is_of_worker else "",
            started_at=started_at,
        )
    if "concertina_worker.zygote" in words:
        return JobProcess(process=process, part=JobProcessKind.ZYGOTE, started_at=started_at)
    is_coordinator = "concertina_worker.coordinator" in words
    return JobProcess(
        process=process,
        part=JobProcessKind.COORDINATOR if is_coordinator else JobProcessKind.WORKER,
        job_id=environ.get(Env.JOB_ID, ""),
        worker_id=environ.get(Env.WORKER_ID, ""),
        gpus=tuple(_gpus(environ)),
        started_at=started_at,
    )


def _gpus(environ: dict[str, str]) -> Iterator[str]:
    yield from filter(None, environ.get(Env.GPU_INDICES, "").split(","))
