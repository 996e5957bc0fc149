"""When may a job start that waits for others, and when will it never?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from autoscaler.reconciling.assessments.awaited_jobs import (
    AwaitedJobs,
    DependencyVerdict,
    verdict_on,
)
from jobs.lifecycle import FINAL, LIVE, JobState
from jobs.spec.parts.dependencies import circle_in
from jobs.wait_condition import WaitCondition

OK, ANY, FAILED = WaitCondition


def group(
    condition: WaitCondition, state: JobState | None, *names: str, count: int = 1
) -> AwaitedJobs:
    names = names or ("prepare (k2)",)
    return AwaitedJobs(
        condition=condition, state=state, count=max(count, len(names)), names=names[:3]
    )


MET = {
    "it completed": group(OK, JobState.COMPLETED),
    "it failed, as it was to": group(FAILED, JobState.FAILED),
    "it was cancelled, and any end will do": group(ANY, JobState.CANCELLED),
    "it was deleted, and any end will do": group(ANY, None),
}
IN_VAIN = {
    "it failed": (
        group(OK, JobState.FAILED),
        "It waited for prepare (k2) to complete, which is failed.",
    ),
    "it was cancelled": (
        group(OK, JobState.CANCELLED),
        "It waited for prepare (k2) to complete, which is cancelled.",
    ),
    "it completed, and was to fail": (
        group(FAILED, JobState.COMPLETED),
        "It waited for prepare (k2) to fail, which is completed.",
    ),
    "a person cancelled it, which is no failure": (
        group(FAILED, JobState.CANCELLED),
        "It waited for prepare (k2) to fail, which is cancelled.",
    ),
    "it was deleted": (
        group(OK, None),
        (
            "It waited for prepare (k2) to complete, which was deleted before anybody knew how it"
            " ended."
        ),
    ),
}
WAITS: dict[str, tuple[Sequence[AwaitedJobs], str]] = {
    "one": ([group(OK, JobState.RUNNING)], "Waits for prepare (k2) to complete (running)."),
    "one that changes its workers": (
        [group(OK, JobState.RESCALING)],
        "Waits for prepare (k2) to complete (running).",
    ),
    "some alike": (
        [group(ANY, JobState.QUEUED, "a (1)", "b (2)")],
        "Waits for a (1) and b (2) to end (queued).",
    ),
    "many alike": (
        [group(ANY, JobState.QUEUED, "a (1)", "b (2)", "c (3)", count=9)],
        "Waits for a (1), b (2), c (3) and 6 more to end (queued).",
    ),
    "some met": (
        [group(OK, JobState.COMPLETED, "a (1)"), group(FAILED, JobState.STARTING, "b (2)")],
        "Waits for b (2) to fail (starting).",
    ),
    "different ends": (
        [group(OK, JobState.PAUSED, "a (1)"), group(ANY, JobState.RUNNING, "b (2)")],
        "Waits for a (1) to complete (paused), and for b (2) to end (running).",
    ),
}


@pytest.mark.parametrize("sentence", MET)
def test_it_may_start_if(sentence: str) -> None:
    assert verdict_on([MET[sentence]]) == DependencyVerdict()


@pytest.mark.parametrize("sentence", IN_VAIN)
def test_it_never_starts_if(sentence: str) -> None:
    broken, said = IN_VAIN[sentence]
    others = [group(OK, JobState.RUNNING, "else (x)"), *MET.values()]
    assert verdict_on([*others, broken]) == DependencyVerdict(in_vain=said)


@pytest.mark.parametrize("sentence", WAITS)
def test_it_says_for_whom_it_waits(sentence: str) -> None:
    awaited, said = WAITS[sentence]
    assert verdict_on(awaited) == DependencyVerdict(waits=said)


@pytest.mark.parametrize("condition", WaitCondition)
def test_while_a_job_lives_others_wait_and_once_it_ended_none_does(
    condition: WaitCondition,
) -> None:
    for state in LIVE:
        assert verdict_on([group(condition, state)]).waits
    for state in FINAL:
        assert not verdict_on([group(condition, state)]).waits


def test_circles_are_found_however_long_and_wide_what_waits_is() -> None:
    chain = {f"j{n}": [f"j{n + 1}"] for n in range(5000)} | {"j5000": []}
    assert circle_in(chain) == ()
    assert len(circle_in(chain | {"j5000": ["j0"]})) == 5001
    ladder = {f"r{n}": [f"r{n + 1}", f"r{n + 2}"] for n in range(500)} | {"r500": [], "r501": []}
    assert circle_in(ladder) == ()
    assert set(circle_in(ladder | {"r500": ["r499"]})) == {"r499", "r500"}
    assert circle_in({"a": ["a"]}) == ["a"]
