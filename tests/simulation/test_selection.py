"""Is a part of a trace what was asked for, and always the same?"""

from __future__ import annotations

import pytest

from autoscaler.simulation.engine.workload.selection import Selection
from tests.simulation.workloads import job, trace

TRACE = trace(
    *(job(f"j{number:03}", at=60.0 * number, deadline=1e5) for number in reversed(range(1000)))
)


def names(selection: Selection) -> list[str]:
    return [job.name for job in selection.of(TRACE).jobs]


def test_all_of_a_trace_is_left_without_bounds() -> None:
    assert sorted(names(Selection())) == sorted(job.name for job in TRACE.jobs)


def test_a_stretch_of_time_begins_at_zero_and_ends_before_its_end() -> None:
    part = Selection(since=600.0, until=780.0).of(TRACE).jobs
    assert [(one.name, one.submitted_at) for one in part] == [
        ("j010", 0.0),
        ("j011", 60.0),
        ("j012", 120.0),
    ]
    assert {one.deadline for one in part} == {1e5 - 600}


def test_at_most_so_many_jobs_are_the_first_ones() -> None:
    assert names(Selection(since=600.0, most_jobs=2)) == ["j010", "j011"]
    assert len(names(Selection(most_jobs=5000))) == 1000


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_a_share_is_about_as_large_as_asked_for(share: float) -> None:
    assert len(names(Selection(share=share))) == pytest.approx(1000 * share, abs=60)


def test_a_seed_draws_the_same_jobs_each_time_and_another_seed_others() -> None:
    assert names(Selection(share=0.3, seed=7)) == names(Selection(share=0.3, seed=7))
    assert names(Selection(share=0.3, seed=7)) != names(Selection(share=0.3, seed=8))


def test_a_smaller_share_is_part_of_a_larger_one() -> None:
    assert set(names(Selection(share=0.1))) < set(names(Selection(share=0.2)))


def test_no_share_is_no_job() -> None:
    assert names(Selection(share=0.0)) == []
