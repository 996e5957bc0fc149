"""Jobs that scale on a metric of their own: a sentence -> (state, what each job gets and why)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.planner import plan
from autoscaler.planning.policies import BUILT_IN
from autoscaler.planning.snapshot.cluster_state import MetricTarget
from tests.planning.builders import (
    NOW,
    SCALES_BADLY,
    SCALES_WELL,
    cluster,
    running,
    said,
    summary,
    waiting,
)

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import PlannedJob

QUEUE = MetricTarget(metric="queue_length", grow_above=100.0, shrink_below=10.0)


def asking(name: str, workers: int, length: float | None, **overrides: object) -> PlannedJob:
    values = {
        "scale_on": QUEUE,
        "reported": () if length is None else (("queue_length", length), ("loss", 0.5)),
        "measurements": SCALES_BADLY,
    }
    return running(name, workers, **(values | overrides))  # type: ignore[arg-type]


EXPECTED = {
    "above the upper value it grows by one size, however badly it scales": (
        [asking("a", 2, 120.0)],
        {"a": ("rescale 3", JobReason.APPLICATION_METRIC)},
    ),
    "it does so even if it was started a moment ago": (
        [asking("a", 2, 120.0, started_at=NOW - 1)],
        {"a": ("rescale 3", JobReason.APPLICATION_METRIC)},
    ),
    "between both values it stays, however well it scales": (
        [asking("a", 2, 50.0, measurements=SCALES_WELL)],
        {"a": ("keep 2", JobReason.BEST_ALLOCATION)},
    ),
    "below the lower value it shrinks by one size though GPUs are free": (
        [asking("a", 3, 5.0, measurements=SCALES_WELL)],
        {"a": ("rescale 2", JobReason.APPLICATION_METRIC)},
    ),
    "at its smallest size it stays whatever it reports": (
        [asking("a", 1, 5.0)],
        {"a": ("keep 1", JobReason.BEST_ALLOCATION)},
    ),
    "until it has reported at its present size, it stays": (
        [asking("a", 2, None, measurements=SCALES_WELL)],
        {"a": ("keep 2", JobReason.BEST_ALLOCATION)},
    ),
    "a new one starts at its smallest size": (
        [waiting("a", scale_on=QUEUE)],
        {"a": ("start 1", JobReason.JOB_ARRIVED)},
    ),
    "it still makes room for others": (
        [asking("a", 4, 120.0), waiting("b")],
        {"a": ("rescale 3", JobReason.JOB_ARRIVED), "b": ("start 1", JobReason.JOB_ARRIVED)},
    ),
}


@pytest.mark.parametrize("sentence", EXPECTED)
def test_scaling_on_a_metric(sentence: str) -> None:
    jobs, expected = EXPECTED[sentence]
    result = plan(cluster(*jobs, quotas={}))
    reasons = {d.job_id: d.reason for d in result.decisions}
    assert {job: (what, reasons[job]) for job, what in summary(result).items()} == expected


@pytest.mark.parametrize("policy", sorted({*BUILT_IN.names} - {"static"}))
def test_the_application_is_heard_under_every_elastic_policy(policy: str) -> None:
    def after(length: float) -> dict[str, str]:
        return summary(plan(cluster(asking("a", 2, length), quotas={}, policy=policy)))

    assert after(120.0) == {"a": "rescale 3"}
    assert after(5.0) == {"a": "rescale 1"}


def test_the_reason_names_the_metric_and_the_value_it_passed() -> None:
    state = cluster(asking("a", 2, 120.0), quotas={})
    assert said(state)["a"].startswith(
        "Grown from 2 to 3 workers: its queue_length of 120 is above 100; "
    )
