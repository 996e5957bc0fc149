"""What becomes of a job that has used up what its spec lets it, and when is that looked at?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from autoscaler.reconciling.assessments.limits_of_use import limits_of_use
from autoscaler.reconciling.rest import rests_until
from autoscaler.reconciling.snapshot import Context, LimitsTold, Notices, UsedUp
from autoscaler.team_budget import WhenUsedUp, month_after, month_of
from jobs.lifecycle import JobState
from tests.reconciling.builders import NOW, job, look, spec, spent, summary, worker

if TYPE_CHECKING:
    from autoscaler.reconciling.snapshot import JobSnapshot
    from autoscaler.team_budget import TeamBudget

HOUR = 3600.0
TOLD = LimitsTold(max_duration=10 * HOUR, budget_gpu_hours=40)
BOUNDED = {"max_duration": "10h", "budget_gpu_hours": 40}
LEAVE = ["stop w1 within 5 s", "stop w2 within 5 s"]
TOLD_OF_DURATION = ["tell limit_near: max_duration_over", "RecordNotice"]
TOLD_OF_BUDGET = ["tell limit_near: budget_used_up", "RecordNotice"]


def having_used(
    hours: float = 0.0, gpu_hours: float = 0.0, *, known: bool = False, **fields: Any
) -> JobSnapshot:
    """A job of two workers with both limits; `known`: its people know that both are near."""
    given = {
        "spec": spec(**BOUNDED),
        "used_up": UsedUp(held_seconds=hours * HOUR, gpu_seconds=gpu_hours * HOUR),
        "notices": Notices(limits=TOLD if known else LimitsTold()),
        **fields,
    }
    return job(worker("w1"), worker("w2"), **given)


EXPECTED: dict[str, tuple[JobSnapshot, list[str]]] = {
    "it is left alone while there is enough": (having_used(7.9, 31.9), []),
    "it is told of when four fifths of its time are over": (having_used(8.0), TOLD_OF_DURATION),
    "it is told of when four fifths of its budget are gone": (
        having_used(gpu_hours=32.0),
        TOLD_OF_BUDGET,
    ),
    "it is told of once": (having_used(9.9, 39.9, known=True), []),
    "it is told of again after the limit was changed": (
        having_used(9.0, notices=Notices(limits=LimitsTold(max_duration=8 * HOUR))),
        TOLD_OF_DURATION,
    ),
    "it is told of each limit": (
        having_used(8.5, 39.0, notices=Notices(limits=LimitsTold(max_duration=10 * HOUR))),
        TOLD_OF_BUDGET,
    ),
    "it is told of before it is ended, however much is used up": (
        having_used(100.0, 1.0),
        TOLD_OF_DURATION,
    ),
    "it is not queued again when nothing is left": (
        having_used(2.0, 40.0, state=JobState.STOPPING, ends_as=JobState.QUEUED),
        ["end as failed: budget_used_up"],
    ),
    "it may pause when nothing is left": (
        having_used(2.0, 40.0, state=JobState.STOPPING, ends_as=JobState.PAUSED),
        LEAVE,
    ),
    "it is ended when its time is over": (
        having_used(10.0, known=True),
        ["stop as failed: max_duration_over"],
    ),
    "it is ended when its budget is gone": (
        having_used(2.0, 40.0, known=True),
        ["stop as failed: budget_used_up"],
    ),
    "it is ended while it starts as well": (
        having_used(11.0, state=JobState.STARTING, known=True),
        ["stop as failed: max_duration_over"],
    ),
    "nothing ends a job without limits": (having_used(1e6, 1e6, spec=spec()), []),
}


@pytest.mark.parametrize("what", EXPECTED, ids=lambda name: name.replace(" ", "_"))
def test_of_a_job_with_limits(what: str) -> None:
    bounded, expected = EXPECTED[what]
    assert summary(look(bounded)) == expected


def test_the_sentences_name_the_limit_and_how_to_go_on() -> None:
    duration, budget = limits_of_use(having_used(8.5, 32.25))
    assert duration.limit.warning == (
        "It has used 8.50 h of 10h (`max_duration`). When all is used up, it is ended"
        " and counts as failed. `concertina edit` gives it more."
    )
    assert budget.sentence("digits") == (
        "It has used 32.25 of 40 GPU-hours (`budget_gpu_hours`), and is not tried again."
        " `concertina rerun digits --set budget_gpu_hours=... --set start_from.job=digits` goes on"
        " from its last checkpoint."
    )


def test_half_of_what_is_left_until_it_is_told_of_is_waited_for() -> None:
    soon = spec(**{**BOUNDED, "elastic": {"progress_timeout": "7d"}})
    assert rests_until(having_used(7.8, spec=soon)) == NOW + timedelta(minutes=6)
    two_gpus = having_used(gpu_hours=31.0, spec=soon)
    assert rests_until(two_gpus) == NOW + timedelta(minutes=15)


def test_near_its_limits_it_is_looked_at_each_time() -> None:
    assert rests_until(having_used(7.97)) is None
    assert rests_until(having_used(8.0, known=True)) is not None
    assert rests_until(having_used(9.97, known=True)) is None
    paused = replace(having_used(20.0), state=JobState.PAUSED)
    assert summary(look(paused)) == []


@pytest.mark.parametrize("state", [JobState.STARTING, JobState.RUNNING, JobState.RESCALING])
def test_a_job_gives_way_when_its_teams_budget_is_used_up_and_waits_for_more(
    state: JobState,
) -> None:
    def found(budget: TeamBudget) -> list[str]:
        return summary(
            look(having_used(state=state, context=Context(now=NOW, used_up_budget=budget)))
        )

    stops = ["stop as queued: team_budget_used_up"]
    assert found(spent()) == stops
    assert found(spent(told_share=0.8)) != stops, "its people hear of it before"
    assert found(spent(then=WhenUsedUp.NO_NEW)) != stops
    assert found(replace(spent(), used_gpu_hours=9.9)) != stops


def test_a_budget_is_told_of_at_four_fifths_and_when_it_is_used_up_once_each() -> None:
    def told(used: float, known: float) -> float | None:
        return replace(spent(), used_gpu_hours=used, told_share=known).share_to_tell

    assert [told(7.9, 0), told(8, 0), told(9, 0.8)] == [None, 0.8, None]
    assert [told(10, 0.8), told(10, 0), told(11, 1.0)] == [1.0, 1.0, None]


def test_what_was_told_of_but_never_used_is_told_of_again() -> None:
    """A clock that leapt ahead, or a team that was moved away, made it seem to be used."""

    def told(used: float, known: float) -> tuple[float, float | None]:
        budget = replace(spent(), used_gpu_hours=used, told_share=known)
        return budget.share_still_told, budget.share_to_tell

    assert told(5, 1.0) == (0.0, None)
    assert told(8.5, 1.0) == (0.8, None)
    assert told(10, 0.8) == (0.8, 1.0)
    assert told(9.95, 1.0) == (1.0, None), "counted again, it may be a little less"


def test_a_forecast_goes_on_as_now_to_the_end_of_the_month() -> None:
    last_day = datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert spent().forecast_gpu_hours(gpus=2, now=last_day) == 10 + 2 * 12
    assert spent().forecast_gpu_hours(gpus=2, now=last_day + timedelta(days=1)) == 10
    assert month_of(datetime(2026, 12, 1, 0, 30, tzinfo=timezone(timedelta(hours=1)))) == date(
        2026, 11, 1
    )
    assert month_after(date(2026, 12, 1)) == date(2027, 1, 1)
