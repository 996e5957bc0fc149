"""Who has to end and when it is over, as a map: a sentence -> (job, what is done)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.questions import HasRoomForNextSet, OwnersWaitSince
from autoscaler.reconciling.snapshot import DiskUse, RescaleMode
from concertina_worker.protocol import ExitCode
from jobs.lifecycle import JobState
from jobs.worker_phase import WorkerPhase
from tests.reconciling.builders import (
    GIB,
    NOW,
    ago,
    assignment,
    beginning,
    coordinator,
    gone,
    job,
    look,
    process,
    spec,
    starting,
    summary,
    worker,
)

if TYPE_CHECKING:
    from autoscaler.reconciling.snapshot import JobSnapshot
    from autoscaler.reconciling.worker_snapshot import WorkerSnapshot

HOUR = spec(elastic={"grace_period": "1h"})
OVER = {"process": None, "coordinator": coordinator(process=None)}
LEAVING = worker("w2", phase=WorkerPhase.LEAVING)
NOBODY_WAITS = {OwnersWaitSince(): None}
ALONE = gone(gone_at=ago(10))


def stopping(*workers: WorkerSnapshot, **fields: Any) -> JobSnapshot:
    """Since ten seconds, on the way to be cancelled."""
    given = {"state": JobState.STOPPING, "state_since": ago(10), "ends_as": JobState.CANCELLED}
    return job(*workers, **{**given, **fields})


def shrinking(since: float, **fields: Any) -> JobSnapshot:
    """w2 is to leave, since so many seconds."""
    return job(worker(), LEAVING, **{"assignment": assignment("w1", at=ago(since)), **fields})


def said(code: int | None, **fields: Any) -> JobSnapshot:
    """Nobody is left, and its coordinator has ended just now."""
    ended = process("coordinator", exit_code=code)
    return stopping(ALONE, coordinator=coordinator(process=ended), **fields)


EXPECTED: dict[str, tuple[JobSnapshot, list[str]]] = {
    "the workers of a job that stops are asked with its grace period": (
        stopping(worker(), worker("w2")),
        ["stop w1 within 30 s", "stop w2 within 30 s"],
    ),
    "not those that pause: their coordinator tells them": (
        stopping(worker(), ends_as=JobState.PAUSED),
        [],
    ),
    "until they had the time for it": (
        stopping(worker(), ends_as=JobState.PAUSED, state_since=ago(31)),
        ["stop w1 within 5 s"],
    ),
    "a script that does not listen is asked at once": (
        stopping(starting(), ends_as=JobState.PAUSED, mode=RescaleMode.RESTART),
        ["stop w1 within 30 s"],
    ),
    "a job that writes more than it may gets no time for more": (
        stopping(worker(), disk=DiskUse(disk_bytes=51 * GIB, disk_files=1), spec=HOUR),
        ["stop w1 within 5 s"],
    ),
    "an hour of grace is the job's own affair": (
        stopping(worker(), spec=HOUR, answers=NOBODY_WAITS),
        ["stop w1 within 3600 s"],
    ),
    "until another team waits for what it is guaranteed": (
        stopping(worker(), spec=HOUR, answers={OwnersWaitSince(): ago(5)}),
        ["stop w1 within 50 s"],
    ),
    "or takes it back": (
        stopping(worker(), spec=HOUR, reason=JobReason.RECLAIM_GUARANTEE.value),
        ["stop w1 within 45 s"],
    ),
    "a leaver is told by its coordinator": (shrinking(10), []),
    "until it is overdue": (shrinking(31), ["stop w2 within 5 s"]),
    "in the middle of a rescale joiners are waited for first": (
        shrinking(149, state=JobState.RESCALING, state_since=ago(149), answers=NOBODY_WAITS),
        [],
    ),
    "for as long as that may take": (
        shrinking(151, state=JobState.RESCALING, state_since=ago(151)),
        ["stop w2 within 5 s"],
    ),
    "another team that claims its own need not wait so long": (
        shrinking(
            56,
            spec=HOUR,
            assignment=assignment("w1", at=ago(56), reason=JobReason.RECLAIM_GUARANTEE.value),
        ),
        ["stop w2 within 5 s"],
    ),
    "a leaver that never registered is ended": (
        job(worker(), starting("w2"), assignment=assignment("w1", at=ago(1))),
        ["stop w2 within 5 s"],
    ),
    "the workers of a restart are asked with their grace period": (
        job(
            worker(),
            mode=RescaleMode.RESTART,
            state=JobState.RESCALING,
            assignment=assignment("w2"),
        ),
        ["stop w1 within 30 s"],
    ),
    "then the next set sits down": (
        job(
            mode=RescaleMode.RESTART,
            state=JobState.RESCALING,
            assignment=assignment("w2"),
            answers={HasRoomForNextSet(): True},
        ),
        ["SeatNextSet"],
    ),
    "or waits, where its GPUs are gone": (
        job(
            mode=RescaleMode.RESTART,
            state=JobState.RESCALING,
            assignment=assignment("w2"),
            answers={HasRoomForNextSet(): False},
        ),
        ["stop as queued: waiting_for_capacity"],
    ),
    "a script trains when all its workers run": (
        beginning(starting(), starting("w2"), mode=RescaleMode.RESTART),
        ["BeginGeneration"],
    ),
    "also if one of them was through before the others were seen": (
        beginning(gone(), starting("w2"), mode=RescaleMode.RESTART),
        ["BeginGeneration"],
    ),
    "not before": (
        beginning(
            starting(),
            starting("w2", process=None, is_being_started=True),
            mode=RescaleMode.RESTART,
        ),
        [],
    ),
    "a coordinator whose workers have gone may say its last word": (
        stopping(gone(gone_at=ago(4))),
        [],
    ),
    "if it has said it, it is forgotten": (said(ExitCode.COMPLETED), ["forget coordinator"]),
    "and the job is over": (stopping(ALONE, coordinator=coordinator(process=None)), ["Finish"]),
    "one that goes on to speak is ended": (
        stopping(gone(gone_at=ago(6)), coordinator=coordinator(seen_at=NOW)),
        ["stop coordinator within 5 s"],
    ),
    "one that nobody has heard since may be cut off, and gets a minute": (
        stopping(
            gone(gone_at=ago(59)), state_since=ago(90), coordinator=coordinator(seen_at=ago(80))
        ),
        [],
    ),
    "nor since its farewell is over, though it spoke a moment after the last worker had gone": (
        stopping(gone(gone_at=ago(7)), state_since=ago(7), coordinator=coordinator(seen_at=ago(4))),
        [],
    ),
    "and no more": (
        stopping(
            gone(gone_at=ago(61)), state_since=ago(90), coordinator=coordinator(seen_at=ago(80))
        ),
        ["stop coordinator within 5 s"],
    ),
    "if the job starts again the next one tells the rest": (
        stopping(
            gone("w1", ExitCode.RELEASED, gone_at=ago(6)),
            ends_as=JobState.QUEUED,
            coordinator=coordinator(seen_at=ago(80)),
        ),
        ["stop coordinator within 5 s"],
    ),
}


@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: case.replace(" ", "_"))
def test_everybody_has_time_to_end_and_nobody_too_much(case: str) -> None:
    snapshot, expected = EXPECTED[case]
    assert summary(look(snapshot)) == expected
