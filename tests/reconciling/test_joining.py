"""Who joins, who is late and who hangs, as a map: a sentence -> (job, what is done)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from cluster.worker_host import Failing

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.instructions import Stop, Tell
from autoscaler.reconciling.limits import LIMITS
from autoscaler.reconciling.questions import BusyCores, CoresOf, OwnersWaitSince, Question
from autoscaler.reconciling.snapshot import Notices
from jobs.lifecycle import JobState
from jobs.worker_phase import WorkerPhase
from tests.reconciling.builders import (
    ago,
    assignment,
    beginning,
    coordinator,
    generation,
    gone,
    job,
    look,
    preparing,
    process,
    spec,
    starting,
    summary,
    unheard,
    worker,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autoscaler.reconciling.snapshot import JobSnapshot

UNHEARD = coordinator(seen_at=ago(LIMITS.coordinator_silence + 1))
NEVER_HEARD = coordinator(seen_at=None)
LATE = {"created_at": ago(61), "process": process(started_at=ago(61))}
NEW = {"created_at": ago(10), "process": process(started_at=ago(10))}
DROPPED = "tell joiner_dropped: node_lost"
HOT = spec(elastic={"mode": "hot"})
KNOWN = Notices(preparation_revision=0)
PATIENT = spec(elastic={"registration_timeout": "1h"})


def took(
    name: str, usually: float, lately: float | None = None
) -> Mapping[Question[object], object]:
    """So many cores on average, as read from outside; `lately` as many unless it is told."""
    return {CoresOf(name): BusyCores(usually=usually, lately=usually if lately is None else lately)}


UNREAD: Mapping[Question[object], object] = {CoresOf("w1"): None, CoresOf("w2"): None}


def since(seconds: float) -> dict[str, Any]:
    return {"created_at": ago(seconds), "process": process(started_at=ago(seconds))}


def rescaling(*workers: object, **fields: object) -> JobSnapshot:
    """w1 trains, the others join since a minute and a half."""
    given = {
        "state": JobState.RESCALING,
        "state_since": ago(90),
        "generation": generation("w1"),
        "answers": {OwnersWaitSince(): None, **UNREAD},
        "notices": KNOWN,
    }
    return job(*workers, **{**given, **fields})  # type: ignore[arg-type]


EXPECTED: dict[str, tuple[JobSnapshot, list[str]]] = {
    "who ended before it joined is gone on without": (
        rescaling(worker("w1"), gone("w2", 1)),
        ["go on with w1", DROPPED],
    ),
    "unless it ran to its end, for then the others do too": (
        rescaling(worker("w1"), worker("w3"), gone("w2")),
        [],
    ),
    "a straggler is called back when its substitute has ended": (
        rescaling(
            worker("w1"),
            worker("slow", phase=WorkerPhase.LEAVING),
            gone("w2", -9),
            assignment=assignment("w1", "w2", replaces="slow", at=ago(10)),
        ),
        ["go on with w1 slow", DROPPED],
    ),
    "a joiner that is late is dropped": (
        rescaling(worker("w1"), starting("w2", **LATE)),
        ["go on with w1", DROPPED],
    ),
    "one that has just begun to run is not": (rescaling(worker("w1"), starting("w2", **NEW)), []),
    "nor one of which its coordinator could not tell": (
        rescaling(worker("w1"), starting("w2", **LATE), coordinator=UNHEARD),
        [],
    ),
    "nor while its image is fetched": (
        rescaling(
            worker("w1"),
            starting("w2", created_at=ago(600), process=preparing("w2", since=ago(600))),
            message="w2: being prepared.",
        ),
        [],
    ),
    "an image that is fetched for half an hour never comes": (
        rescaling(
            worker("w1"),
            starting("w2", process=preparing("w2", since=ago(1801), note="120 of 480 MB")),
            message="w2: 120 of 480 MB.",
        ),
        ["go on with w1", DROPPED],
    ),
    "and ends a job of which nobody trains": (
        beginning(
            starting("w1", process=preparing(since=ago(1801), note="120 of 480 MB")),
            message="w1: 120 of 480 MB.",
            notices=KNOWN,
        ),
        ["stop as failed: image_unavailable"],
    ),
    "a joiner is dropped at once when another team claims its own": (
        rescaling(
            worker("w1"),
            starting("w2", **NEW),
            spec=PATIENT,
            assignment=assignment("w1", "w2", at=ago(90), reason=JobReason.RECLAIM_GUARANTEE.value),
        ),
        ["go on with w1", DROPPED],
    ),
    "a script that does not register in time is run as it is": (
        beginning(starting("w1", **LATE), starting("w2", **LATE)),
        ["ChangeMode", "tell mode_detected: restart"],
    ),
    "not if one of its workers has time left": (
        beginning(starting("w1", **LATE), starting("w2", **NEW)),
        [],
    ),
    "not if it registered in an earlier attempt": (
        beginning(starting("w1", **LATE), is_mode_known=True, state_since=ago(90)),
        [],
    ),
    "the time of the coordinator counts, too": (
        beginning(
            starting("w1", **LATE),
            coordinator=coordinator(process=process("coordinator", started_at=ago(10))),
        ),
        [],
    ),
    "nor is anybody late while the coordinator's image is fetched": (
        beginning(
            starting("w1", **LATE),
            coordinator=coordinator(process=preparing("coordinator")),
            message="its coordinator: being prepared.",
            notices=KNOWN,
        ),
        [],
    ),
    "one worker that is ready is enough to know the script": (
        beginning(worker("w1"), starting("w2", **LATE), answers=UNREAD),
        ["go on with w1", DROPPED],
    ),
    "one that says that it registers has failed": (
        beginning(starting("w1", **LATE), spec=HOT, answers=UNREAD),
        ["stop as failed: not_registered"],
    ),
    "not if others took the processor from it": (
        beginning(starting("w1", **since(300)), spec=HOT, answers=took("w1", 0.19)),
        [],
    ),
    "until it has had its time of the processor": (
        beginning(starting("w1", **since(300)), spec=HOT, answers=took("w1", 0.21)),
        ["stop as failed: not_registered"],
    ),
    "or does nothing more, as one that sleeps": (
        beginning(starting("w1", **since(61)), spec=HOT, answers=took("w1", 0.19, 0.0)),
        ["stop as failed: not_registered"],
    ),
    "or ten times as long by the clock, whatever it does": (
        beginning(
            starting("w1", **since(601)),
            coordinator=coordinator(process=process("coordinator", started_at=ago(601))),
            spec=HOT,
        ),
        ["stop as failed: not_registered"],
    ),
    "nor if one of its workers is only slowed down": (
        beginning(
            starting("w1", **LATE),
            starting("w2", **LATE),
            spec=HOT,
            answers={**UNREAD, **took("w2", 0.1)},
        ),
        [],
    ),
    "a joiner that others take the processor from is waited for": (
        rescaling(
            worker("w1"),
            starting("w2", **since(300)),
            answers={OwnersWaitSince(): None, **took("w2", 0.1)},
        ),
        [],
    ),
    "unless another team claims its own": (
        rescaling(
            worker("w1"),
            starting("w2", **since(300)),
            answers=took("w2", 0.1),
            assignment=assignment("w1", "w2", at=ago(90), reason=JobReason.RECLAIM_GUARANTEE.value),
        ),
        ["go on with w1", DROPPED],
    ),
    "while nobody hears its coordinator nothing is known": (
        beginning(starting("w1", **LATE), state_since=ago(299), coordinator=NEVER_HEARD),
        [],
    ),
    "for five minutes, then it starts again": (
        beginning(starting("w1", **LATE), state_since=ago(301), coordinator=NEVER_HEARD),
        ["stop as queued: coordinator_silent"],
    ),
    "a change in which nothing moves is given up": (
        rescaling(worker("w1", **since(931)), worker("w2", **since(931)), state_since=ago(931)),
        ["stop as queued: stuck"],
    ),
    "sooner where nobody was to join": (
        rescaling(
            worker("w1"), worker("w2"), generation=generation("w1", "w2"), state_since=ago(391)
        ),
        ["stop as queued: stuck"],
    ),
    "and fails when that happens too often": (
        rescaling(
            worker("w1", **since(931)),
            worker("w2", **since(931)),
            state_since=ago(931),
            spec=spec(retry={"max_restarts": 0}),
        ),
        ["stop as failed: stuck"],
    ),
    "what has just begun to run is not stuck": (
        rescaling(
            worker("w1"), worker("w2", process=process(started_at=ago(30))), state_since=ago(931)
        ),
        [],
    ),
    "who was given up is killed at once": (
        job(worker("w1"), worker("w2", is_given_up=True)),
        ["stop w2 within 0 s"],
    ),
    "who was left out and still runs is killed after a while": (
        job(worker("w1"), worker("w2"), generation=generation("w1", began_at=ago(21))),
        ["stop w2 within 0 s"],
    ),
    "for it may be about to end by itself": (
        job(worker("w1"), worker("w2"), generation=generation("w1", began_at=ago(19))),
        [],
    ),
    "who was lost with its node is left behind": (
        job(
            worker("w1"),
            unheard("w2", since=ago(70), phase=WorkerPhase.GONE),
        ),
        ["go on with w1"],
    ),
    "a node that refuses a joiner costs the joiner only": (
        rescaling(worker("w1"), gone("w2", None, failing=Failing.CANNOT_START, error="no room")),
        ["go on with w1", DROPPED],
    ),
    "a node that refuses the first workers ends the job": (
        beginning(gone("w1", None, failing=Failing.CANNOT_START, error="no room")),
        ["stop as failed: cannot_start"],
    ),
    "how far an image is fetched is shown, and told when it begins": (
        beginning(
            starting(process=preparing(note="fetching")),
            starting("w2", process=preparing("w2", note="fetching")),
        ),
        ["tell preparing", "RecordNotice", "say w1 and w2: fetching."],
    ),
    "and afterwards the planner's words are shown again": (
        beginning(
            starting(**NEW),
            assignment=assignment("w1", message="One GPU is free."),
            message="w1: fetching.",
            notices=KNOWN,
        ),
        ["say One GPU is free."],
    ),
    "the image of its coordinator is shown as well": (
        beginning(
            starting(**NEW),
            coordinator=coordinator(process=preparing("coordinator", note="fetching")),
        ),
        ["tell preparing", "RecordNotice", "say its coordinator: fetching."],
    ),
}


@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: case.replace(" ", "_"))
def test_nobody_is_held_up_by_who_does_not_come(case: str) -> None:
    snapshot, expected = EXPECTED[case]
    assert summary(look(snapshot)) == expected


SAID: dict[str, tuple[JobSnapshot, str]] = {
    "a fixed job keeps its number of workers": (
        beginning(starting("w1", **LATE), spec=spec(elastic={"mode": "fixed"})),
        "did not register within 60 s: it keeps its number of workers",
    ),
    "one whose workers form a group is rescaled": (
        beginning(starting("w1", **LATE), forms_group=True),
        "it is rescaled by restarting it",
    ),
    "any other may say that it shares the work": (
        beginning(starting("w1", **LATE)),
        "submit it with `mode: restart`",
    ),
    "who says that it registers reads what to call": (
        beginning(starting("w1", **LATE), spec=HOT, answers=UNREAD),
        "did not call `concertina_worker.init()` and `register` within 60 s",
    ),
    "a node that cannot start it is named": (
        beginning(gone("w1", None, failing=Failing.CANNOT_START, error="no such device.")),
        "Node n1 cannot start w1: no such device. Correct `image`",
    ),
    "an image that cannot be fetched is the user's": (
        beginning(
            gone("w1", None, failing=Failing.IMAGE_UNAVAILABLE, error="manifest unknown"),
            spec=spec(image="docker.io/vision/train:7"),
        ),
        (
            "manifest unknown. Correct `image`, push it, or ask for your team to be let into its"
            " registry."
        ),
    ),
    "or the platform's own": (
        beginning(gone("w1", None, failing=Failing.IMAGE_UNAVAILABLE, error="manifest unknown")),
        "manifest unknown. It is the platform's own image: ask an admin",
    ),
    "who is late reads how long the others waited": (
        rescaling(worker("w1"), starting("w2", **since(600)), spec=spec()),
        "w2 was not ready after 600 s; 1 goes on.",
    ),
    "what is never made ready is told by its last note": (
        beginning(
            starting("w1", process=preparing(since=ago(1801), note="120 of 480 MB")),
            message="w1: 120 of 480 MB.",
            notices=KNOWN,
        ),
        "w1 could not be made ready to run within 30 min: 120 of 480 MB. Submit again",
    ),
}


@pytest.mark.parametrize("case", SAID, ids=lambda case: case.replace(" ", "_"))
def test_people_read_what_to_do(case: str) -> None:
    snapshot, words = SAID[case]
    said = look(snapshot)[-1]
    assert isinstance(said, Stop | Tell)
    assert words in said.message


@pytest.mark.parametrize(("failures", "seconds"), [(0, 1), (1, 2), (2, 4)])
def test_each_change_in_which_nothing_moves_delays_the_next_attempt_longer(
    failures: int, seconds: int
) -> None:
    still = worker("w1", **since(931))
    (stop,) = look(rescaling(still, state_since=ago(931), failures=failures, attempt=failures + 1))
    assert isinstance(stop, Stop)
    assert f"Attempt {failures + 2} starts in {seconds} s." in stop.message
