"""Snapshots of small jobs, each written as what is special about it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from cluster.worker_host import Labels, LogLine, ObservedProcess, ProcessPhase, ProcessRole

from autoscaler.reconciling.instructions import (
    BeginTerm,
    EndAs,
    Forget,
    Instruction,
    Reassign,
    ReleaseWorker,
    Say,
    StartCoordinator,
    StartWorkers,
    Stop,
    StopProcess,
    Tell,
    change_the_job,
)
from autoscaler.reconciling.snapshot import (
    AssignmentSnapshot,
    Context,
    CoordinatorSnapshot,
    GenerationSnapshot,
    JobSnapshot,
)
from autoscaler.reconciling.table import rules_for
from autoscaler.reconciling.worker_snapshot import NodeSnapshot, WorkerSnapshot
from autoscaler.team_budget import TeamBudget, WhenUsedUp
from jobs.lifecycle import JobState
from jobs.spec.job_spec import parse
from jobs.worker_phase import WorkerPhase

if TYPE_CHECKING:
    from autoscaler.reconciling.instructions import Instructions
    from jobs.spec.job_spec import JobSpec

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
GIB = 1 << 30


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def spec(**fields: Any) -> JobSpec:
    return parse({"name": "digits", "command": ["python", "train.py"], **fields})


def process(name: str = "w1", **fields: Any) -> ObservedProcess:
    """It runs on n1 since ten minutes; with an exit code it has ended just now."""
    role = ProcessRole.COORDINATOR if name == "coordinator" else ProcessRole.WORKER
    given = {"node": "n1", "phase": ProcessPhase.RUNNING, "started_at": ago(600), **fields}
    if "exit_code" in fields or "failing" in fields:
        given = {"ended_at": NOW, **given, "phase": ProcessPhase.EXITED}
    labels = Labels(process_id=name, job_id="digits", role=role, attempt=1, fence=1)
    return ObservedProcess(labels=labels, **given)


def preparing(name: str = "w1", *, since: datetime = NOW, note: str = "") -> ObservedProcess:
    return process(name, phase=ProcessPhase.PREPARING, started_at=since, note=note)


def worker(name: str = "w1", **fields: Any) -> WorkerSnapshot:
    """It trains on n1 since ten minutes."""
    given = {
        "node": NodeSnapshot(name="n1"),
        "created_at": ago(600),
        "phase": WorkerPhase.TRAINING,
        "process": process(name),
        **fields,
    }
    return WorkerSnapshot(id=name, **given)


def starting(name: str = "w1", **fields: Any) -> WorkerSnapshot:
    """Its script has not registered yet."""
    return worker(name, **{"phase": WorkerPhase.STARTING, **fields})


def gone(name: str = "w1", exit_code: int | None = 0, **fields: Any) -> WorkerSnapshot:
    """It ended before, and its process is forgotten."""
    given = {"phase": WorkerPhase.GONE, "gone_at": ago(10), "process": None, **fields}
    return worker(name, exit_code=exit_code, **given)


def ended(name: str = "w1", exit_code: int | None = 0, **fields: Any) -> WorkerSnapshot:
    """Its process has ended, and nobody has counted that yet."""
    return worker(name, process=process(name, exit_code=exit_code, **fields))


def unheard(name: str = "w1", *, since: datetime, **fields: Any) -> WorkerSnapshot:
    """Its node n2 does not answer."""
    node = NodeSnapshot(name="n2", silent_since=since, silent_reason="connection refused")
    return worker(name, **{"node": node, "process": None, **fields})


def job(*workers: WorkerSnapshot, **fields: Any) -> JobSnapshot:
    """A hot job that runs with these workers since ten minutes and is heard by its coordinator."""
    names = tuple(one.id for one in workers)
    given = {
        "state": JobState.RUNNING,
        "state_since": ago(600),
        "spec": spec(),
        "context": Context(now=NOW),
        "coordinator": coordinator(),
        "assignment": assignment(*names),
        "generation": GenerationSnapshot(number=1, worker_ids=names, began_at=ago(600)),
        **fields,
    }
    return JobSnapshot(id="digits", workers=workers, **given)


def beginning(*workers: WorkerSnapshot, **fields: Any) -> JobSnapshot:
    """As `job`, for one that starts and has not trained yet."""
    return job(*workers, **{"state": JobState.STARTING, "generation": None, **fields})


def coordinator(**fields: Any) -> CoordinatorSnapshot:
    given = {"node": "n1", "port": 20_000, "seen_at": NOW, "process": process("coordinator")}
    return CoordinatorSnapshot(**{**given, **fields})


def assignment(*names: str, **fields: Any) -> AssignmentSnapshot:
    return AssignmentSnapshot(worker_ids=names, **{"at": ago(600), **fields})


def generation(*names: str, **fields: Any) -> GenerationSnapshot:
    return GenerationSnapshot(worker_ids=names, **{"number": 1, "began_at": ago(600), **fields})


def line(text: str, *, at: datetime = NOW, name: str = "w1") -> LogLine:
    return LogLine(at=at, process_id=name, stream="stderr", text=text)


def look(snapshot: JobSnapshot) -> Instructions:
    """What all rules give in one look: up to the first that changes the job."""
    given: list[Instruction] = []
    for rule in rules_for(snapshot):
        instructions = rule(snapshot)
        given.extend(instructions)
        if change_the_job(instructions):
            break
    return tuple(given)


def summary(instructions: Instructions) -> list[str]:
    """A short line for each instruction."""
    return [_line(instruction) for instruction in instructions]


_LINES: dict[type[Instruction], Callable[[Any], str]] = {
    Stop: lambda one: f"stop as {one.ends_as}: {one.reason}",
    EndAs: lambda one: f"end as {one.ends_as}: {one.reason}",
    Tell: lambda one: f"tell {one.kind}: {one.reason}" if one.reason else f"tell {one.kind}",
    Say: lambda one: f"say {one.message}",
    ReleaseWorker: lambda one: f"release {one.worker}{_counted(one)}",
    Reassign: lambda one: f"go on with {' '.join(one.workers)}",
    StartWorkers: lambda one: f"start {' '.join(one.workers)}",
    StartCoordinator: lambda one: f"start coordinator on {one.node}",
    BeginTerm: lambda one: f"begin term on {one.node}",
    StopProcess: lambda one: f"stop {one.process} within {one.grace_seconds:g} s",
    Forget: lambda one: f"forget {one.process}",
}


def _line(one: Instruction) -> str:
    line = _LINES.get(type(one))
    return line(one) if line else type(one).__name__


def _counted(release: ReleaseWorker) -> str:
    count = release.count
    if count is None:
        return ""
    parts = {
        "loss": count.losses,
        "failure": count.failures,
        "life": count.lived_at,
        "told": count.tell,
    }
    return f": {', '.join(name for name, value in parts.items() if value)}"


def spent(*, then: WhenUsedUp = WhenUsedUp.PAUSE, told_share: float = 1.0) -> TeamBudget:
    """A budget of the team's of which nothing is left."""
    return TeamBudget(
        team="vision",
        gpu_hours=10,
        used_gpu_hours=10,
        month=date(2026, 11, 1),
        then=then,
        told_share=told_share,
    )
