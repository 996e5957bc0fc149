"""How a job comes to its end, or starts again, as a map: a sentence -> (job, what is done)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from cluster.worker_host import Failing

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.instructions import Counters, Stop, Tell
from autoscaler.reconciling.questions import HasRoomForNextSet, KeptLines, MemoryLimit
from autoscaler.reconciling.snapshot import RescaleMode, SignsOfLife
from concertina_worker.protocol import ExitCode
from jobs.lifecycle import JobState
from tests.reconciling.builders import (
    GIB,
    NOW,
    ago,
    assignment,
    beginning,
    generation,
    gone,
    job,
    look,
    spec,
    starting,
    summary,
    worker,
)

if TYPE_CHECKING:
    from autoscaler.reconciling.snapshot import JobSnapshot

CRASHED = {"exit_code": 1, "error": "ValueError: bad label"}
FAILURE = {KeptLines("w1"): ("ValueError",)}
ONCE = spec(retry={"max_restarts": 1})

EXPECTED: dict[str, tuple[JobSnapshot, list[str]]] = {
    "all ran to their end": (job(gone(), gone("w2")), ["stop as completed: completed"]),
    "also one whose script never registered": (
        beginning(gone()),
        ["stop as completed: completed"],
    ),
    "one of them still runs": (job(gone(), worker("w2")), []),
    "a loss on the way is excused when somebody trained to the end": (
        job(gone("w1", -9), gone("w2")),
        ["stop as completed: completed"],
    ),
    "but not where nobody survives the loss of another": (
        job(gone("w1", -9), gone("w2"), mode=RescaleMode.RESTART),
        ["tell all_workers_lost: node_lost", "stop as queued: node_lost"],
    ),
    "newcomers that never trained have no say": (
        job(gone(), starting("w2"), generation=generation("w1")),
        ["stop as completed: completed"],
    ),
    "nor those that were to replace all who trained to the end": (
        job(
            gone(),
            starting("w2"),
            state=JobState.RESCALING,
            assignment=assignment("w2"),
            generation=generation("w1"),
        ),
        ["stop as completed: completed"],
    ),
    "who was released before anybody could replace it has not trained to the end": (
        job(
            gone("w1", ExitCode.RELEASED),
            starting("w2"),
            state=JobState.RESCALING,
            state_since=NOW,
            assignment=assignment("w2"),
            generation=generation("w1"),
        ),
        [],
    ),
    "a script that ended before its training was through has failed": (
        job(gone("w1", 88)),
        ["stop as failed: ended_early"],
    ),
    "unless its spec says that any end will do": (
        job(gone("w1", 88), spec=spec(early_end="completed")),
        ["stop as completed: ended_early"],
    ),
    "a command that cannot run fails at once": (
        beginning(gone("w1", 127), starting("w2")),
        ["stop as failed: command_not_found"],
    ),
    "a crash while others train is theirs to survive": (
        job(gone("w1", **CRASHED), worker("w2")),
        [],
    ),
    "a crash of all starts the next attempt": (
        job(gone("w1", **CRASHED), gone("w2", **CRASHED), failures=1, answers=FAILURE),
        ["stop as queued: restarting"],
    ),
    "a crash before the first generation takes the others with it": (
        beginning(gone("w1", **CRASHED), starting("w2"), failures=1, answers=FAILURE),
        ["stop as queued: restarting"],
    ),
    "a crash of a script without a coordinator takes the others with it": (
        job(
            gone("w1", **CRASHED),
            worker("w2"),
            failures=1,
            mode=RescaleMode.RESTART,
            answers=FAILURE,
        ),
        ["stop as queued: restarting"],
    ),
    "a job that failed more often than it may is over": (
        job(gone("w1", **CRASHED), worker("w2"), failures=2, spec=ONCE, answers=FAILURE),
        ["stop as failed: job_failed"],
    ),
    "what says itself that it cannot run is not tried again": (
        beginning(gone("w1", 1, error="SyntaxError: invalid syntax"), answers=FAILURE),
        ["stop as failed: job_failed"],
    ),
    "but it is, if it ever got anywhere": (
        beginning(
            gone("w1", 1, error="SyntaxError: invalid syntax"),
            life=SignsOfLife(progress_at=ago(60)),
            failures=1,
            answers=FAILURE,
        ),
        ["stop as queued: restarting"],
    ),
    "who has lost everybody starts again as the same attempt": (
        job(gone("w1", -9), gone("w2", None)),
        ["tell all_workers_lost: node_lost", "stop as queued: node_lost"],
    ),
    "a loss explains the failures beside it": (
        job(gone("w1", -9), gone("w2", **CRASHED)),
        ["tell all_workers_lost: node_lost", "stop as queued: node_lost"],
    ),
    "the fifth loss in a row is the last": (
        job(gone("w1", -9), life=SignsOfLife(lost_at=ago(60), losses_in_a_row=4)),
        ["tell all_workers_lost: node_lost", "stop as failed: workers_lost"],
    ),
    "unless there was a sign of life between": (
        job(
            gone("w1", -9),
            life=SignsOfLife(lost_at=ago(60), losses_in_a_row=4, progress_at=ago(30)),
        ),
        ["tell all_workers_lost: node_lost", "stop as queued: node_lost"],
    ),
    "whoever is always killed for its memory has run out of it": (
        job(
            gone("w1", -9, failing=Failing.OUT_OF_MEMORY),
            life=SignsOfLife(lost_at=ago(60), losses_in_a_row=4),
            answers={MemoryLimit("w1"): 4 * GIB},
        ),
        ["tell all_workers_lost: out_of_memory", "stop as failed: out_of_memory"],
    ),
    "also if its host saw that of a loss before only": (
        job(
            gone("w1", -9, failing=Failing.OUT_OF_MEMORY),
            gone("w2", -9),
            assignment=assignment("w2"),
            life=SignsOfLife(lost_at=ago(60), losses_in_a_row=4),
            answers={MemoryLimit("w1"): 4 * GIB},
        ),
        ["tell all_workers_lost: node_lost", "stop as failed: out_of_memory"],
    ),
    "a restart between two sets of workers is no end": (
        job(
            mode=RescaleMode.RESTART,
            state=JobState.RESCALING,
            assignment=assignment("w2"),
            answers={HasRoomForNextSet(): True},
        ),
        ["SeatNextSet"],
    ),
    "whoever should pause and has run to the end before is completed": (
        job(gone(), state=JobState.STOPPING, ends_as=JobState.PAUSED),
        ["end as completed: completed"],
    ),
    "and is failed if that was too early": (
        job(gone("w1", 88), state=JobState.STOPPING, ends_as=JobState.QUEUED),
        ["end as failed: ended_early"],
    ),
}


@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: case.replace(" ", "_"))
def test_the_ends_of_workers_decide(case: str) -> None:
    snapshot, expected = EXPECTED[case]
    assert summary(look(snapshot)) == expected


def test_a_restart_waits_longer_after_each_failure_and_a_hopeless_one_says_why() -> None:
    crashed = job(gone("w1", **CRASHED), attempt=3, failures=3, answers=FAILURE)
    (stop,) = look(crashed)
    assert stop == Stop(
        ends_as=JobState.QUEUED,
        reason=JobReason.RESTARTING,
        message="Attempt 3 failed: ValueError: bad label. Attempt 4 starts in 4 s.",
        data={"log": ["ValueError"]},
        counters=Counters(attempt=4, not_before=ago(-4)),
    )
    (failed,) = look(replace(crashed, spec=ONCE))
    assert isinstance(failed, Stop)
    why = "w1 ended with exit code 1: ValueError: bad label"
    assert failed.message == f"Failed after 1 restart. {why}"


@pytest.mark.parametrize(("in_a_row", "seconds"), [(0, 0), (1, 2), (3, 8)])
def test_losses_in_a_row_are_counted_and_waited_for(in_a_row: int, seconds: int) -> None:
    life = SignsOfLife(lost_at=ago(60), losses_in_a_row=in_a_row) if in_a_row else SignsOfLife()
    tell, stop = look(job(gone("w1", -9), life=life))
    assert isinstance(tell, Tell)
    assert isinstance(stop, Stop)
    assert tell.data == {"workers": ["w1"], "in_a_row": in_a_row + 1}
    assert stop.counters == Counters(
        losses_in_a_row=in_a_row + 1, lost_at=NOW, not_before=ago(-seconds)
    )


@pytest.mark.parametrize(
    ("snapshot", "words"),
    [
        (
            beginning(gone("w1", 127, error="concertina: command not found: 'pyhton'")),
            "The command cannot run: command not found: 'pyhton'. Correct `command`",
        ),
        (
            beginning(gone("w1", 1, error="SyntaxError: invalid syntax"), answers=FAILURE),
            "Correct the script and submit again. It would fail in the same way again",
        ),
        (
            job(gone("w1", -9), life=SignsOfLife(lost_at=ago(60), losses_in_a_row=4)),
            "5 times in a row without a sign of life between; last w1 with signal SIGKILL. Is",
        ),
    ],
)
def test_an_end_says_why_and_what_to_change(snapshot: JobSnapshot, words: str) -> None:
    stop = look(snapshot)[-1]
    assert isinstance(stop, Stop)
    assert words in stop.message
