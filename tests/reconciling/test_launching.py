"""Which processes are started, as a map: a sentence -> (job, what is done)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cluster.worker_host import Failing

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.instructions import ReleaseWorker, Stop
from autoscaler.reconciling.questions import NodeNamed
from autoscaler.reconciling.snapshot import RefusedProcesses, RescaleMode
from autoscaler.reconciling.worker_snapshot import NodeSnapshot
from concertina_worker.protocol import ExitCode
from jobs.lifecycle import JobState
from jobs.worker_phase import WorkerPhase
from tests.reconciling.builders import (
    NOW,
    ago,
    beginning,
    coordinator,
    gone,
    job,
    look,
    process,
    spec,
    starting,
    summary,
    unheard,
    worker,
)

if TYPE_CHECKING:
    from autoscaler.reconciling.questions import Question
    from autoscaler.reconciling.snapshot import CoordinatorSnapshot, JobSnapshot

ON_N1 = {NodeNamed("n1"): NodeSnapshot(name="n1")}
NEW = {"process": None, "created_at": NOW}
MISSING = coordinator(process=None, seen_at=None)
TELL = "tell coordinator_restarted"
RESTART = spec(elastic={"mode": "restart"})
NO_LAUNCH = RefusedProcesses(reason=JobReason.LAUNCH_REFUSED, why="no such user", workers=("w1",))


def died(
    code: int | None = -9, *, before: float = 0.0, restarts: int = 0, **fields: object
) -> CoordinatorSnapshot:
    """The coordinator has ended so many seconds ago."""
    over = process("coordinator", exit_code=code, ended_at=ago(before), **fields)
    return coordinator(process=over, restarts=restarts)


def lost_since(seconds: float) -> dict[Question[object], object]:
    return {NodeNamed("n1"): NodeSnapshot(name="n1", silent_since=ago(seconds))}


EXPECTED: dict[str, tuple[JobSnapshot, list[str]]] = {
    "a job that has just got its workers gets its processes": (
        beginning(
            starting("w1", **NEW),
            starting("w2", **NEW),
            coordinator=coordinator(node="", process=None, seen_at=None),
        ),
        ["start coordinator on n1", "start w1 w2"],
    ),
    "what was asked for is not asked for again in the same tick": (
        beginning(
            starting("w1", **NEW, is_being_started=True),
            coordinator=coordinator(process=None, is_being_started=True),
        ),
        [],
    ),
    "a job that declares restart mode has no coordinator": (
        beginning(
            starting("w1", **NEW),
            mode=RescaleMode.RESTART,
            spec=RESTART,
            coordinator=coordinator(node="", process=None),
        ),
        ["start w1"],
    ),
    "one that is taken for a plain script keeps it": (
        job(worker(), mode=RescaleMode.RESTART, coordinator=MISSING, answers=ON_N1),
        ["start coordinator on n1"],
    ),
    "one that died is started again": (
        job(worker(), coordinator=died(), answers=ON_N1),
        ["begin term on n1", TELL, "start coordinator on n1"],
    ),
    "one that dies again and again waits": (
        job(worker(), coordinator=died(before=3, restarts=2), answers=ON_N1),
        [],
    ),
    "longer each time": (
        job(worker(), coordinator=died(before=4, restarts=2), answers=ON_N1),
        ["begin term on n1", TELL, "start coordinator on n1"],
    ),
    "but not without end": (
        job(worker(), coordinator=died(before=60, restarts=20), answers=ON_N1),
        ["begin term on n1", TELL, "start coordinator on n1"],
    ),
    "one that ended well may be done": (job(worker(), coordinator=died(0, before=4)), []),
    "unless somebody trains on": (
        job(worker(), coordinator=died(0, before=5), answers=ON_N1),
        ["begin term on n1", TELL, "start coordinator on n1"],
    ),
    "if all are leaving it is done": (
        job(worker(phase=WorkerPhase.LEAVING), coordinator=died(0, before=60)),
        [],
    ),
    "one that died before its last word is started again to say it": (
        job(
            gone(gone_at=ago(1)),
            state=JobState.STOPPING,
            state_since=ago(2),
            ends_as=JobState.COMPLETED,
            coordinator=died(),
            answers=ON_N1,
        ),
        ["begin term on n1", TELL, "start coordinator on n1"],
    ),
    "a port in use leads to another attempt": (
        beginning(starting(created_at=NOW), coordinator=died(ExitCode.PORT_IN_USE)),
        ["stop as queued: port_in_use"],
    ),
    "a coordinator that nobody can start ends a job that has not begun": (
        beginning(
            starting(created_at=NOW),
            coordinator=died(None, failing=Failing.IMAGE_UNAVAILABLE, note="not found"),
        ),
        ["stop as failed: image_unavailable"],
    ),
    "one on a silent node may be there": (
        job(worker(), coordinator=MISSING, answers=lost_since(59)),
        [],
    ),
    "one on a lost node moves to where its workers are": (
        job(
            worker(node=NodeSnapshot(name="n3")),
            coordinator=MISSING,
            answers=lost_since(60),
        ),
        ["begin term on n3", f"{TELL}: node_lost", "start coordinator on n3"],
    ),
    "where nobody is heard there is nowhere to go": (
        job(
            unheard(since=ago(9)),
            coordinator=MISSING,
            answers=lost_since(60),
        ),
        [],
    ),
    "a refused launch ends the job": (
        beginning(
            starting("w1", **NEW),
            refused=NO_LAUNCH,
        ),
        ["stop as failed: launch_refused"],
    ),
    "but costs a job that trains its newcomers only, told once": (
        job(
            worker(),
            starting("w2", **NEW),
            starting("w3", **NEW),
            refused=RefusedProcesses(
                reason=JobReason.LAUNCH_REFUSED, why="no", workers=("w2", "w3")
            ),
        ),
        ["release w2: told", "release w3"],
    ),
    "a refused coordinator ends it all the same": (
        job(
            worker(),
            coordinator=MISSING,
            refused=RefusedProcesses(reason=JobReason.SECRET_UNAVAILABLE, why="no", workers=()),
        ),
        ["stop as failed: secret_unavailable"],
    ),
}


@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: case.replace(" ", "_"))
def test_what_should_run_is_started(case: str) -> None:
    snapshot, expected = EXPECTED[case]
    assert summary(look(snapshot)) == expected


def test_a_refusal_is_told_in_the_words_of_who_refused() -> None:
    (stop,) = look(beginning(starting("w1", **NEW), refused=NO_LAUNCH))
    assert isinstance(stop, Stop)
    assert stop.message == "The worker host refuses this job: no such user"
    newcomer = job(
        worker(),
        starting("w2", **NEW),
        refused=RefusedProcesses(
            reason=JobReason.SECRET_UNAVAILABLE, why="no secret", workers=("w2",)
        ),
    )
    (release,) = look(newcomer)
    assert isinstance(release, ReleaseWorker)
    assert (release.failing, release.error) == (Failing.CANNOT_START, "no secret")
