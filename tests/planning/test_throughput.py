from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from autoscaler.planning.cluster_state import Measurement
from autoscaler.planning.fitting import fit
from autoscaler.planning.throughput import Configurations, ThroughputModel

if TYPE_CHECKING:
    from collections.abc import Sequence

# a_c, b_c, a_r, b_r, a_n, b_n, overlap: fitted to public measurements of T4 GPUs, 4 per node.
PROFILES = {
    "cifar10": (0.0103, 0.00078, 0.0408, 0.0047, 0.1306, 0.0027, 2.84),
    "imagenet": (0.0629, 0.0045, 0.0021, 0.0512, 0.3090, 0.0066, 2.73),
    "bert": (0.2436, 0.0570, 1e-12, 0.1311, 1.3979, 0.0095, 2.10),
    "deepspeech2": (0.0532, 0.0334, 0.5035, 0.0843, 0.9225, 0.0090, 4.37),
    "yolov3": (0.1686, 0.0328, 1e-12, 0.1547, 0.8776, 0.0108, 1.49),
    "ncf": (0.0069, 8.4e-7, 0.0029, 0.0012, 0.0144, 0.0006, 1.00),
}
LOCAL_BATCH = {  # per-GPU maximum, total maximum
    "cifar10": (1024, 4096),
    "imagenet": (200, 12800),
    "bert": (12, 384),
    "deepspeech2": (80, 640),
    "yolov3": (8, 512),
    "ncf": (32768, 32768),
}


def profile(name: str) -> ThroughputModel:
    return ThroughputModel(**dict(zip(ThroughputModel.__slots__, PROFILES[name], strict=True)))


def seconds(model: ThroughputModel, name: str, workers: int) -> float:
    per_gpu, total = LOCAL_BATCH[name]
    local = min(per_gpu, total // workers)
    return step_seconds(model, workers, workers * local, crosses_nodes=workers > 4)


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


def fitted(measurements: Sequence[Measurement], model_bytes: int = 0) -> ThroughputModel:
    scaling = fit(measurements, model_bytes=model_bytes)
    assert scaling is not None
    return scaling.throughput


def speedup(model: ThroughputModel, name: str, workers: int) -> float:
    per_gpu, total = LOCAL_BATCH[name]
    batch = workers * min(per_gpu, total // workers)
    rate = batch / seconds(model, name, workers)
    return rate / (min(per_gpu, total) / seconds(model, name, 1))


@pytest.mark.parametrize(
    ("name", "steps", "speedups"),
    [
        ("cifar10", (0.8090, 0.8091, 0.4173), (2.00, 4.00, 4.96, 7.75, 10.96, 13.25)),
        ("imagenet", (0.9629, 0.9637, 0.9845), (2.00, 4.00, 4.91, 7.82, 11.68, 15.49)),
        ("bert", (0.9276, 0.9581, 1.7011), (2.00, 3.87, 2.77, 4.36, 6.42, 8.41)),
        ("deepspeech2", (2.7252, 2.7266, 2.7322), (2.00, 4.00, 4.99, 7.98, 11.68, 14.80)),
        ("yolov3", (0.4310, 0.5934, 1.1306), (2.00, 2.91, 1.96, 3.05, 4.42, 5.70)),
        ("ncf", (0.0344, 0.0191, 0.0283), (1.46, 1.80, 1.20, 1.21, 1.16, 1.10)),
    ],
)
def test_the_step_times_of_the_published_profiles(
    name: str, steps: tuple[float, ...], speedups: tuple[float, ...]
) -> None:
    model = profile(name)
    assert [seconds(model, name, k) for k in (1, 4, 8)] == pytest.approx(steps, rel=5e-3)
    sizes = (2, 4, 5, 8, 12, 16)
    assert [speedup(model, name, k) for k in sizes] == pytest.approx(speedups, rel=1e-2)


def test_one_measurement_is_met_and_a_second_worker_is_expected_to_help() -> None:
    only = Measurement(workers=1, nodes=1, global_batch_size=64, steps=20, step_seconds=0.1)
    model = fitted([only], model_bytes=1_000_000)
    alone, two = step_seconds(model, 1, 64), step_seconds(model, 2, 64)
    assert alone == pytest.approx(0.1, rel=0.02)
    assert 0.5 * alone < two < 0.9 * alone


def test_a_larger_model_is_expected_to_scale_worse() -> None:
    only = Measurement(workers=1, nodes=1, global_batch_size=64, steps=20, step_seconds=0.1)
    steps = [step_seconds(fitted([only], size), 4, 64) for size in (10**6, 10**8, 10**9)]
    assert steps == sorted(steps)
    assert steps[-1] > 2 * steps[0]


def test_a_size_that_was_measured_slower_is_predicted_slower() -> None:
    points = [
        Measurement(workers=k, nodes=1, global_batch_size=64, steps=20, step_seconds=t)
        for k, t in ((1, 0.1), (2, 0.12))
    ]
    model = fitted(points)
    assert step_seconds(model, 2, 64) > 1.03 * step_seconds(model, 1, 64)


def test_accumulation_pays_the_fixed_time_of_every_micro_batch() -> None:
    model = profile("bert")
    once = step_seconds(model, 1, 24)
    twice = step_seconds(model, 1, 24, micro_batch=12)
    assert twice - once == pytest.approx(model.compute_fixed)
