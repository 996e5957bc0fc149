"""Do the later schedulers' policies ask for what their papers ask for?"""

from __future__ import annotations

import pytest

from autoscaler.planning.decisions.invariants import check
from autoscaler.planning.planner import plan
from benchmarks.reproduction.experiments.later_schedulers import ALL
from tests.planning.builders import NOW, cluster, measured, running, summary

PERFECT = measured((1, 100), (2, 200), (3, 300), (4, 400))
POOR = measured((1, 100), (2, 110), (3, 112), (4, 113))

EXPECTED = {
    "optimus gives GPUs to the job that saves most time by them, which is the long one": (
        ("optimus", 4, PERFECT, PERFECT, {"long": "rescale 3", "short": "keep 1"})
    ),
    "power_mean gives equal shares to jobs that scale alike": (
        ("power_mean", 4, PERFECT, PERFECT, {"long": "rescale 2", "short": "rescale 2"})
    ),
    "afs_l gives the next GPU to the shorter of two jobs that scale alike": (
        ("afs_l", 3, PERFECT, PERFECT, {"long": "keep 1", "short": "rescale 2"})
    ),
    "afs_l gives GPUs to a long job that scales, if the short one does not": (
        ("afs_l", 4, PERFECT, POOR, {"long": "rescale 3", "short": "keep 1"})
    ),
}


@pytest.mark.parametrize(
    ("policy", "gpus", "of_long", "of_short", "expected"), EXPECTED.values(), ids=EXPECTED
)
def test_what_each_objective_is_after(
    policy: str, gpus: int, of_long: object, of_short: object, expected: dict[str, str]
) -> None:
    state = cluster(
        running("long", 1, started_at=NOW - 10**6, measurements=of_long, remaining_samples=10**8),
        running("short", 1, started_at=NOW - 10**6, measurements=of_short, remaining_samples=10**4),
        nodes=(gpus,),
        quotas={},
        policy=policy,
    )
    found = plan(state, ALL)
    assert summary(found) == expected
    assert check(state, found, ALL) == ()
