from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from autoscaler.planning.fitting.fitting import fit
from autoscaler.planning.snapshot.cluster_state import StepTime
from autoscaler.planning.speed.throughput import Configurations
from autoscaler.simulation.engine.workload.applications import BERT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autoscaler.planning.speed.throughput import ThroughputModel


def step_seconds(
    model: ThroughputModel,
    workers: int,
    global_batch: int,
    *,
    crosses_nodes: bool = False,
    micro_batch: int | None = None,
) -> float:
    at = Configurations.of(
        workers=[workers],
        crosses_nodes=[crosses_nodes],
        global_batch=[global_batch],
        micro_batch=micro_batch,
    )
    return float(model.step_seconds(at)[0])


def fitted(measurements: Sequence[StepTime], model_bytes: int = 0) -> ThroughputModel:
    scaling = fit(measurements, model_bytes=model_bytes)
    assert scaling is not None
    return scaling.throughput


def test_one_measurement_is_met_and_a_second_worker_is_expected_to_help() -> None:
    only = StepTime(workers=1, nodes=1, global_batch_size=64, steps=20, step_seconds=0.1)
    model = fitted([only], model_bytes=1_000_000)
    alone, two = step_seconds(model, 1, 64), step_seconds(model, 2, 64)
    assert alone == pytest.approx(0.1, rel=0.02)
    assert 0.5 * alone < two < 0.9 * alone


def test_a_larger_model_is_expected_to_scale_worse() -> None:
    only = StepTime(workers=1, nodes=1, global_batch_size=64, steps=20, step_seconds=0.1)
    steps = [step_seconds(fitted([only], size), 4, 64) for size in (10**6, 10**8, 10**9)]
    assert steps == sorted(steps)
    assert steps[-1] > 2 * steps[0]


def test_a_size_that_was_measured_slower_is_predicted_slower() -> None:
    points = [
        StepTime(workers=k, nodes=1, global_batch_size=64, steps=20, step_seconds=t)
        for k, t in ((1, 0.1), (2, 0.12))
    ]
    model = fitted(points)
    assert step_seconds(model, 2, 64) > 1.03 * step_seconds(model, 1, 64)


def test_accumulation_pays_the_fixed_time_of_every_micro_batch() -> None:
    model = BERT.model
    once = step_seconds(model, 1, 24)
    twice = step_seconds(model, 1, 24, micro_batch=12)
    assert twice - once == pytest.approx(model.compute_fixed)
