"""How long is a change expected to take, before and after there were any?"""

from __future__ import annotations

import pytest

from autoscaler.planning.speed.all_reduce import AllReduceTable, AllReduceTime
from autoscaler.planning.speed.change_time import (
    ChangingJob,
    expected_stall,
    first_estimate,
    ratio_of,
)

LARGE = ChangingJob(model_bytes=400_000_000, step_seconds=6.0)  # 100 M parameters on a processor
SMALL = ChangingJob(model_bytes=8_000_000, step_seconds=0.045)


def test_a_large_model_with_long_steps_is_not_expected_to_change_in_half_a_second() -> None:
    assert first_estimate(LARGE) == pytest.approx(6.2, rel=0.1)
    assert first_estimate(SMALL) == pytest.approx(0.05, rel=0.1)


def test_a_job_of_which_nothing_is_known_is_guessed() -> None:
    assert first_estimate(ChangingJob()) == 0.5
    assert first_estimate(ChangingJob(is_hot=False)) == 20.5


def test_a_copy_takes_longer_across_nodes_and_what_was_measured_of_them_counts() -> None:
    within = first_estimate(ChangingJob(model_bytes=10**9, step_seconds=1.0))
    across = first_estimate(ChangingJob(model_bytes=10**9, step_seconds=1.0, crosses_nodes=True))
    assert within < across
    slow = AllReduceTable(
        times=(AllReduceTime(bytes=10**6, workers=2, crosses_nodes=True, seconds=0.1),)
    )
    timed = ChangingJob(model_bytes=10**7, step_seconds=1.0, crosses_nodes=True, all_reduce=slow)
    assert first_estimate(timed) == pytest.approx(2.0)


def test_what_its_own_changes_took_counts_alone() -> None:
    assert expected_stall(LARGE, measured=0.4, ratio=3.0) == 0.4


def test_before_its_first_change_others_between_the_same_nodes_tell_how_far_the_guess_is_off() -> (
    None
):
    ratio = ratio_of(SMALL, 2 * first_estimate(SMALL))
    assert ratio == pytest.approx(2.0)
    assert expected_stall(LARGE, measured=None, ratio=ratio) == 2 * first_estimate(LARGE)
    assert expected_stall(LARGE, measured=None, ratio=None) == first_estimate(LARGE)


@pytest.mark.parametrize("ratio", [0.0, 1e-9, 1e9])
def test_no_report_moves_an_estimate_without_bound(ratio: float) -> None:
    first = first_estimate(SMALL)
    assert first / 20 <= expected_stall(SMALL, measured=None, ratio=ratio) <= first * 20


def test_an_estimate_of_any_model_is_finite() -> None:
    assert first_estimate(ChangingJob(model_bytes=1 << 62, step_seconds=1e9)) == 600.0
