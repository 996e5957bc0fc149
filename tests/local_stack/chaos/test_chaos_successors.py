"""Who takes the place of a process that was killed, and since when is it there?"""

from __future__ import annotations

import subprocess
import time

import psutil
from local_stack.chaos.checks.noticing import PRECISION_SECONDS, begun_after, successors
from local_stack.chaos.faults import Component, Fault, Way
from local_stack.chaos.observation.processes import JobProcess, JobProcessKind, began_at
from local_stack.chaos.strikes.strikes import StrikeRecord, Target

KILLED = Fault(component=Component.COORDINATOR, way=Way.KILL)
US = psutil.Process()


def found(*, hit: tuple[psutil.Process, ...], job_id: str = "one") -> list[float]:
    """Successors of a coordinator of job `one`, killed at 100 s, where this process leads a job."""
    target = Target(fault=KILLED, processes=hit, job_ids=frozenset({"one"}))
    struck = StrikeRecord(targets=(target,), at=100.0, over_at=100.0)
    seen = JobProcess(process=US, part=JobProcessKind.COORDINATOR, job_id=job_id, started_at=99.9)
    return list(successors(target, struck, [seen]))


def test_whoever_was_not_hit_is_a_successor_though_it_seems_to_have_begun_before() -> None:
    assert found(hit=()) == [100.0 + PRECISION_SECONDS]


def test_neither_who_was_hit_nor_one_of_another_job_is() -> None:
    assert found(hit=(US,)) == []
    assert found(hit=(), job_id="another") == []


def test_a_worker_that_was_killed_before_it_was_seen_begins_again() -> None:
    seen = JobProcess(process=US, part=JobProcessKind.WORKER, worker_id="one-1-7", started_at=100.1)
    assert begun_after(100.0, [seen]) == {"one-1-7"}
    assert begun_after(100.2, [seen]) == set()


def test_when_a_process_began_is_known_to_a_hundredth() -> None:
    before = time.time()
    with subprocess.Popen(("sleep", "600")) as process:
        after = time.time()
        began = began_at(psutil.Process(process.pid))
        process.kill()
    assert before - 2 * PRECISION_SECONDS < began < after + 2 * PRECISION_SECONDS
