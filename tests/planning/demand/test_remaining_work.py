"""Is what a job declared believed as long as it can be true, and no longer?"""

from __future__ import annotations

import pytest

from autoscaler.planning.snapshot.remaining_work import remaining_samples


@pytest.mark.parametrize(
    ("declared", "done", "left"),
    [
        (None, 500.0, None),
        (1000, 0.0, 1000),
        (1000, 400.5, 600),
        (1000, 1000.0, 0),
        (1000, 1040.0, 0),  # the last epoch was padded
    ],
)
def test_a_declaration_is_believed_until_it_is_proven_wrong(
    declared: int | None, done: float, left: int | None
) -> None:
    assert remaining_samples(declared, done) == left


def test_a_job_beyond_its_declaration_is_taken_to_be_half_way() -> None:
    assert remaining_samples(1000, 1100.0) == 1100
    assert remaining_samples(1000, 2500.0) == 2500
