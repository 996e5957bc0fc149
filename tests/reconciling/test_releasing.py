"""What the end of a worker counts as, as a map: a sentence -> (job, what is done)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cluster.worker_host import Failing

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.assessments.last_words import LINES_READ
from autoscaler.reconciling.instructions import ReleaseWorker
from autoscaler.reconciling.questions import LastLines, MemoryLimit
from autoscaler.reconciling.snapshot import RescaleMode
from concertina_worker.protocol import ExitCode
from jobs.lifecycle import JobState
from tests.reconciling.builders import (
    GIB,
    NOW,
    ago,
    assignment,
    beginning,
    ended,
    gone,
    job,
    line,
    look,
    process,
    starting,
    summary,
    unheard,
    worker,
)

if TYPE_CHECKING:
    from autoscaler.reconciling.questions import Question
    from autoscaler.reconciling.snapshot import JobSnapshot
    from autoscaler.reconciling.worker_snapshot import WorkerSnapshot

BEFORE = gone("w0", 1, counted_revision=0)


def after_another(*workers: WorkerSnapshot, **fields: object) -> JobSnapshot:
    """The failure of another worker of the same revision was counted in an earlier tick."""
    return job(*workers, BEFORE, assignment=job(*workers).assignment, **fields)


def wrote(*names: str, at: float = 1.0, text: str = "") -> dict[Question[object], object]:
    """What these workers wrote last, so many seconds ago."""
    lines = (line(text, at=ago(at)),) if text else ()
    return {LastLines(name, LINES_READ): lines for name in names}


LOST = ["release w1: loss, told", "forget w1"]

EXPECTED: dict[str, tuple[JobSnapshot, list[str]]] = {
    "who was killed is lost": (job(ended("w1", -9), answers=wrote("w1")), LOST),
    "and so is a process that nobody finds any more": (
        job(worker(process=None), answers=wrote("w1")),
        LOST,
    ),
    "or one whose machine ran out of GPU memory": (
        job(ended("w1", ExitCode.OUT_OF_MEMORY), answers=wrote("w1")),
        LOST,
    ),
    "whoever crashed has failed": (
        job(ended("w1", 1), answers=wrote("w1")),
        ["release w1: failure, told", "forget w1"],
    ),
    "what breaks all of them counts as one failure": (
        job(ended("w1", 1), ended("w2", 1), answers=wrote("w1", "w2")),
        ["release w1: failure, told", "release w2: ", "forget w1", "forget w2"],
    ),
    "also if one of them was seen before": (
        after_another(ended("w1", 1), answers=wrote("w1")),
        ["release w1: ", "forget w1"],
    ),
    "a loss explains the failures that follow": (
        job(ended("w1", -9), ended("w2", 1), answers=wrote("w1", "w2")),
        ["release w1: loss, told", "release w2: ", "forget w1", "forget w2"],
    ),
    "a crash before a loss is a failure of its own": (
        job(ended("w1", 1), ended("w2", -9), answers=wrote("w1", "w2")),
        ["release w1: failure, told", "release w2: loss, told", "forget w1", "forget w2"],
    ),
    "who ran to the end counts as nothing": (
        job(ended()),
        ["release w1", "forget w1"],
    ),
    "nor does who was told to leave": (
        job(ended("w1", ExitCode.RELEASED), worker("w2"), assignment=assignment("w2")),
        ["release w1", "forget w1"],
    ),
    "a leaver that is killed is no loss of the job": (
        job(ended("w1", -9), worker("w2"), assignment=assignment("w2"), answers=wrote("w1")),
        ["release w1", "forget w1"],
    ),
    "what a node refuses is told once": (
        beginning(
            starting("w1", process=process("w1", failing=Failing.CANNOT_START)),
            starting("w2", process=process("w2", failing=Failing.CANNOT_START)),
        ),
        ["release w1: told", "release w2", "forget w1", "forget w2"],
    ),
    "whoever ran for long without a word has lived": (
        job(ended("w1", -9), mode=RescaleMode.RESTART, answers=wrote("w1")),
        ["release w1: loss, life, told", "forget w1"],
    ),
    "whoever was lost soon has not": (
        job(
            ended("w1", -9, started_at=ago(100)),
            mode=RescaleMode.RESTART,
            answers=wrote("w1"),
        ),
        LOST,
    ),
    "unless it wrote after it had started": (
        job(
            ended("w1", -9, started_at=ago(100)),
            mode=RescaleMode.RESTART,
            answers=wrote("w1", text="epoch 1"),
        ),
        ["release w1: loss, life, told", "forget w1"],
    ),
    "what it wrote while it started tells nothing": (
        job(
            ended("w1", -9, started_at=ago(100)),
            mode=RescaleMode.RESTART,
            answers=wrote("w1", text="loading", at=90),
        ),
        LOST,
    ),
    "who waited for its coordinator has not lived": (
        job(ended("w1", ExitCode.COORDINATOR_LOST), mode=RescaleMode.RESTART, answers=wrote("w1")),
        LOST,
    ),
    "one that was asked for in this tick is not looked for yet": (
        beginning(starting(process=None, is_being_started=True, created_at=NOW)),
        [],
    ),
    "one whose node is silent may well train on": (job(unheard("w2", since=ago(5))), []),
    "after a minute of silence it counts as lost": (
        job(unheard("w2", since=ago(61))),
        ["release w2: loss, told"],
    ),
    "of a job that is not active any more nothing is lost that it wants": (
        job(ended("w1", -9), state=JobState.PAUSED, assignment=None, answers=wrote("w1")),
        ["release w1", "forget w1"],
    ),
}


@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: case.replace(" ", "_"))
def test_each_end_is_counted_as_what_it_is(case: str) -> None:
    snapshot, expected = EXPECTED[case]
    assert summary(look(snapshot)) == expected


KILLED = (
    "w1 was killed because it needed more than {}. Raise `resources.memory` or lower the batch."
)
SAID: dict[str, tuple[JobSnapshot, str]] = {
    "a crash is told by its last exception": (
        job(ended("w1", 1), answers=wrote("w1", text="ValueError: 3")),
        "w1 ended with exit code 1: ValueError: 3",
    ),
    "a signal by its name": (
        job(ended("w1", -9), answers=wrote("w1")),
        "w1 ended with signal SIGKILL.",
    ),
    "the kernel's kill by the limit": (
        job(
            ended("w1", -9, failing=Failing.OUT_OF_MEMORY),
            answers={**wrote("w1"), MemoryLimit("w1"): 4 * GIB},
        ),
        KILLED.format("its 4GiB of memory"),
    ),
    "where no limit is known, by the node's share": (
        job(
            ended("w1", 1, failing=Failing.OUT_OF_MEMORY),
            answers={**wrote("w1"), MemoryLimit("w1"): None},
        ),
        KILLED.format("its share of the node's memory"),
    ),
    "a refusal in the words of the node": (
        beginning(
            starting(process=process(failing=Failing.IMAGE_UNAVAILABLE, note="manifest unknown")),
        ),
        "w1 could not be started: manifest unknown",
    ),
    "a silent node by when it was heard last": (
        job(unheard("w2", since=ago(61))),
        "w2 counts as lost: node n2 has not answered since 11:58 UTC (connection refused).",
    ),
}


@pytest.mark.parametrize("case", SAID, ids=lambda case: case.replace(" ", "_"))
def test_an_end_is_told_so_that_people_know_why(case: str) -> None:
    snapshot, expected = SAID[case]
    release = look(snapshot)[0]
    assert isinstance(release, ReleaseWorker)
    assert release.count is not None
    assert release.count.tell is not None
    assert release.count.tell.message == expected


def test_a_worker_keeps_how_it_ended() -> None:
    snapshot = job(ended("w1", -9), answers=wrote("w1", text="Killed"))
    release = look(snapshot)[0]
    assert isinstance(release, ReleaseWorker)
    assert (release.exit_code, release.gone_at, release.error) == (-9, NOW, "Killed")
    assert release.count is not None
    assert release.count.tell is not None
    assert release.count.tell.reason == JobReason.NODE_LOST
    assert release.count.tell.data == {
        "worker": "w1",
        "exit_code": -9,
        "attempt": 1,
        "revision": 0,
        "log": ["Killed"],
    }
