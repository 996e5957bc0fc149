"""Does an old prediction say what is known by now, instead of what was thought then?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.queries.predictions.ageing import OLD_AFTER, finish_now, old_at

THEN = datetime(2026, 11, 26, 8, tzinfo=UTC)


def moment(seconds: float | None) -> str | None:
    return None if seconds is None else (THEN + timedelta(seconds=seconds)).isoformat()


def span(*seconds: float | None) -> dict[str, str | None]:
    return dict(zip(("p10", "p50", "p90"), map(moment, seconds), strict=True))


def stored(
    finish: tuple[float | None, ...] | None = (70.0, 81.0, 100.0),
    start: tuple[float | None, ...] | None = None,
    samples_left: int | None = 1000,
) -> dict[str, Any]:
    return {
        "made_at": moment(0.0),
        "start": start and span(*start),
        "finish": finish and span(*finish),
        "samples_left": samples_left,
    }


def told(
    prediction: Mapping[str, Any], *, after: float, left: int = 500, has_started: bool = True
) -> list[float | None] | None:
    """Seconds since it was made."""
    finish = finish_now(
        prediction,
        now=THEN + timedelta(seconds=after),
        has_started=has_started,
        samples_left=left,
    )
    return finish and [
        at and (datetime.fromisoformat(at) - THEN).total_seconds() for at in finish.values()
    ]


def test_a_job_that_has_half_of_its_work_left_has_half_of_its_time_left() -> None:
    """And not one second, though 80 of 81 have passed."""
    assert told(stored(), after=80) == [115.0, 120.5, 130.0]


def test_a_young_prediction_is_told_as_it_was_made() -> None:
    assert told(stored(), after=OLD_AFTER.total_seconds() - 1) == [70.0, 81.0, 100.0]
    assert old_at(stored()) == THEN + OLD_AFTER


@pytest.mark.parametrize(
    ("prediction", "left"),
    [
        pytest.param(stored(samples_left=None), 500, id="nobody knew how much was left"),
        pytest.param(stored(samples_left=0), 500, id="nothing was left"),
        pytest.param(stored(), 0, id="it has done all that it declared"),
        pytest.param(stored(), -20, id="it has done more than it declared"),
        pytest.param({**stored(), "samples_left": None}, 500, id="of the release before"),
    ],
)
def test_where_the_work_is_not_known_only_time_passes(
    prediction: Mapping[str, Any], left: int
) -> None:
    assert told(prediction, after=80, left=left) == [70.0, 81.0, 100.0]


def test_what_was_later_than_was_looked_ahead_still_is() -> None:
    assert told(stored((70.0, 81.0, None)), after=80) == [115.0, 120.5, None]
    assert told(stored(None), after=80) is None


def test_a_job_that_waits_longer_than_was_predicted_ends_later_by_as_much() -> None:
    waiting = stored((130.0, 150.0, 170.0), start=(40.0, 50.0, 60.0))
    assert told(waiting, after=70, left=1000, has_started=False) == [150.0, 170.0, 190.0]
    far = stored((None, None, None), start=(None, None, None))
    assert told(far, after=70, left=1000, has_started=False) == [None, None, None]


def test_a_job_that_waits_for_as_long_as_was_predicted_ends_when_it_was_said_to() -> None:
    waiting = stored((230.0, 250.0, 270.0), start=(140.0, 150.0, 160.0))
    assert told(waiting, after=70, left=1000, has_started=False) == [230.0, 250.0, 270.0]


def test_a_job_that_began_meanwhile_has_its_time_of_training_before_it() -> None:
    waiting = stored((130.0, 150.0, 170.0), start=(40.0, 50.0, 60.0))
    assert told(waiting, after=70, left=1000) == [150.0, 170.0, 190.0]
    assert told(waiting, after=70, left=500) == [110.0, 120.0, 130.0]


def test_work_that_grew_beyond_all_measure_does_not() -> None:
    """A script that tells another length may not push its end beyond the calendar."""
    assert told(stored(), after=80, left=10**30) == [780.0, 890.0, 1080.0]
