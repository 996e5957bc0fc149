from __future__ import annotations

import pytest

from autoscaler.planning.decisions.plan import DeadlineWarning
from autoscaler.planning.planner import plan
from tests.planning.builders import NOW, cluster, measured, running, waiting

PERFECT = measured((1, 100), (2, 200), (4, 400))
HOUR = 360_000  # samples at 100 a second


def warned(deadline: float | None, workers: int = 1, **overrides: object) -> DeadlineWarning | None:
    values = {"remaining_samples": HOUR, "max_workers": workers, "measurements": PERFECT}
    job = running("a", workers, deadline=deadline, **(values | overrides))  # type: ignore[arg-type]
    return plan(cluster(job, quotas={})).decisions[0].deadline_warning


def test_a_job_that_ends_in_time_is_not_warned_of() -> None:
    assert warned(NOW + 3700) is None
    assert warned(None) is None


def test_a_job_that_will_end_late_is_warned_of_with_its_predicted_end() -> None:
    warning = warned(NOW + 3300)
    assert warning is not None
    assert warning.expected_at == pytest.approx(NOW + 3600, abs=250)
    assert warning.is_out_of_reach


def test_a_deadline_that_a_larger_size_would_meet_is_not_out_of_reach() -> None:
    rival = running("b", 3, min_workers=3, max_workers=3)
    late = running(
        "a", 1, deadline=NOW + 3000, remaining_samples=HOUR, max_workers=2, measurements=PERFECT
    )
    warning = plan(cluster(late, rival, quotas={})).decisions[0].deadline_warning
    assert warning is not None
    assert not warning.is_out_of_reach
    assert warning.soonest_at == pytest.approx(NOW + 1800, abs=150)


def test_a_job_of_unknown_length_is_not_warned_of() -> None:
    assert warned(NOW + 1, remaining_samples=None) is None


def test_a_waiting_job_is_warned_of_once_even_its_fastest_size_is_too_slow() -> None:
    rival = running("b", 4, min_workers=4, submitted_at=NOW - 5000)

    def waits(deadline: float) -> DeadlineWarning | None:
        job = waiting(
            "a",
            deadline=deadline,
            remaining_samples=HOUR,
            measurements=PERFECT,
            started_at=NOW - 900,
        )
        return plan(cluster(job, rival, quotas={})).decisions[0].deadline_warning

    assert waits(NOW + 1000) is None
    warning = waits(NOW + 800)
    assert warning is not None
    assert warning.expected_at is None
    assert warning.is_out_of_reach
