"""Are generated workloads what their recipes say, and the same for the same seed?"""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from autoscaler.planning.speed.throughput import Configurations
from autoscaler.simulation.engine.truth.profiles import efficiency
from autoscaler.simulation.engine.workload.applications import KINDS, PROFILES
from autoscaler.simulation.engine.workload.arrivals import (
    DAY_SECONDS,
    ArrivalProcess,
    Bursty,
    DailyCycle,
    Poisson,
    rate_for_load,
)
from autoscaler.simulation.engine.workload.generators import (
    THREE_KINDS,
    WorkloadRecipe,
    generate,
    mean_length_seconds,
)
from autoscaler.simulation.engine.workload.lengths import (
    FullRuns,
    LengthDistribution,
    LogNormal,
    Uniform,
    seconds_on_one_gpu,
)

RECIPE = WorkloadRecipe(arrivals=Poisson(per_second=0.01), jobs=50, teams=(("a", 3.0), ("b", 1.0)))


@pytest.mark.parametrize(
    "arrivals", [Poisson(per_second=0.1), Bursty(per_second=0.1), DailyCycle(per_second=0.1)]
)
def test_arrivals_ascend_and_keep_their_mean_rate(arrivals: ArrivalProcess) -> None:
    until = 20 * DAY_SECONDS
    times = list(itertools.takewhile(lambda t: t < until, arrivals.times(random.Random(7))))
    assert times == sorted(times)
    assert len(times) / until == pytest.approx(0.1, rel=0.1)


def test_bursts_come_close_together_and_leave_long_gaps() -> None:
    def crowding(arrivals: ArrivalProcess) -> float:
        times = list(itertools.islice(arrivals.times(random.Random(3)), 3000))
        gaps = [b - a for a, b in itertools.pairwise(times)]
        mean = sum(gaps) / len(gaps)
        return sum((gap - mean) ** 2 for gap in gaps) / len(gaps) / mean**2

    assert crowding(Poisson(per_second=0.1)) == pytest.approx(1.0, rel=0.2)
    assert crowding(Bursty(per_second=0.1)) > 5.0


def test_more_comes_at_noon_than_at_midnight() -> None:
    times = itertools.islice(DailyCycle(per_second=0.1).times(random.Random(5)), 20_000)
    hours = [int(time % DAY_SECONDS // 3600) for time in times]
    assert hours.count(12) > 3 * hours.count(0)


def test_the_load_is_what_arrives_over_what_one_gpu_per_job_can_serve() -> None:
    assert rate_for_load(0.8, gpus=40, mean_length_seconds=2100.0) == pytest.approx(0.8 * 40 / 2100)


@pytest.mark.parametrize("lengths", [Uniform(), LogNormal(), FullRuns(factor=0.1)])
def test_lengths_have_the_mean_they_promise(lengths: LengthDistribution) -> None:
    chance, profile = random.Random(1), KINDS[0]
    drawn = [lengths.draw(profile, chance) for _ in range(20_000)]
    assert sum(drawn) / len(drawn) == pytest.approx(lengths.mean_seconds(profile), rel=0.05)


def test_the_mean_length_of_a_mix_weighs_its_kinds() -> None:
    full = FullRuns()
    expected = sum(full.mean_seconds(profile) for profile in KINDS) / 3
    assert mean_length_seconds(THREE_KINDS, full) == pytest.approx(expected)


def test_the_same_seed_draws_the_same_trace() -> None:
    assert generate(RECIPE, seed=1) == generate(RECIPE, seed=1)
    assert generate(RECIPE, seed=1).jobs != generate(RECIPE, seed=2).jobs


def test_a_longer_trace_begins_like_a_shorter_one() -> None:
    longer = generate(
        WorkloadRecipe(arrivals=Poisson(per_second=0.01), jobs=60, teams=(("a", 3.0), ("b", 1.0))),
        seed=1,
    )
    assert longer.jobs[:50] == generate(RECIPE, seed=1).jobs


def test_a_job_of_a_length_takes_that_long_on_one_gpu() -> None:
    for job in generate(RECIPE, seed=1).jobs:
        assert 600.0 <= job.samples * seconds_on_one_gpu(job.profile) <= 3600.0


def test_users_declare_within_the_factors_or_nothing() -> None:
    recipe = WorkloadRecipe(
        arrivals=Poisson(per_second=1.0), jobs=400, declared_factors=(1 / 3, 3.0), undeclared=0.25
    )
    jobs = generate(recipe, seed=4).jobs
    silent = [job for job in jobs if job.declared_samples is None]
    assert len(silent) / len(jobs) == pytest.approx(0.25, abs=0.07)
    factors = [job.declared_samples / job.samples for job in jobs if job.declared_samples]
    assert min(factors) < 0.5
    assert max(factors) > 2.0
    assert all(0.33 <= factor <= 3.01 for factor in factors)


def test_a_recipe_without_an_end_is_refused() -> None:
    with pytest.raises(ValueError, match="how many jobs"):
        generate(WorkloadRecipe(arrivals=Poisson(per_second=1.0)), seed=1)


TABLE = {  # step seconds on 1, 4 and 8 GPUs; samples/s on 1; speedups on 2, 4, 5, 8, 12, 16
    "cifar10-resnet18": (0.8090, 0.8091, 0.4173, 1266, 2.00, 4.00, 4.96, 7.75, 10.96, 13.25),
    "imagenet-resnet50": (0.9629, 0.9637, 0.9845, 207.7, 2.00, 4.00, 4.91, 7.82, 11.68, 15.49),
    "bert-squad": (0.9276, 0.9581, 1.7011, 12.94, 2.00, 3.87, 2.77, 4.36, 6.42, 8.41),
    "deepspeech2": (2.7252, 2.7266, 2.7322, 29.36, 2.00, 4.00, 4.99, 7.98, 11.68, 14.80),
    "yolov3": (0.4310, 0.5934, 1.1306, 18.56, 2.00, 2.91, 1.96, 3.05, 4.42, 5.70),
    "ncf": (0.0344, 0.0191, 0.0283, 9.519e05, 1.46, 1.80, 1.20, 1.21, 1.16, 1.10),
}


@pytest.mark.parametrize("name", TABLE)
def test_the_six_applications_scale_as_they_were_measured(name: str) -> None:
    """Nodes of four, the largest local batch that fits the GPU and the total limit."""
    profile, expected = PROFILES[name], TABLE[name]
    rules = profile.batch

    def at(k: int) -> tuple[float, float]:
        local = min(rules.max_per_gpu or 0, rules.maximum / k)
        seconds = profile.model.step_seconds(
            Configurations(
                workers=np.array(float(k)),
                crosses_nodes=np.array(k > 4),
                local_batch=np.array(local),
                micro_batches=np.array(1.0),
            )
        )
        return float(seconds), k * local / float(seconds)

    assert [at(k)[0] for k in (1, 4, 8)] == pytest.approx(expected[:3], abs=1e-4)
    assert at(1)[1] == pytest.approx(expected[3], rel=2e-3)
    speedups = [at(k)[1] / at(1)[1] for k in (2, 4, 5, 8, 12, 16)]
    assert speedups == pytest.approx(expected[4:], abs=0.011)


@pytest.mark.parametrize(
    ("name", "multiple", "measured"),
    [
        ("cifar10-resnet18", 4, (0.42, 0.88, 0.95, 0.99)),
        ("imagenet-resnet50", 4, (0.83, 0.91, 0.95, 0.96)),
        ("bert-squad", 4, (0.92, 0.92, 0.97, 0.97)),
        ("yolov3", 4, (0.84, 0.95, 0.97, 1.0)),
    ],
)
def test_noise_from_the_largest_batch_predicts_the_efficiency_of_smaller_ones(
    name: str, multiple: int, measured: tuple[float, ...]
) -> None:
    profile = PROFILES[name]
    base = profile.batch.base
    for fraction, expected in zip((0.02, 0.25, 0.60, 0.95), measured, strict=True):
        phi = profile.noise_at(fraction)
        assert phi is not None
        found = efficiency(phi, base=base, batch=multiple * base)
        assert found == pytest.approx(expected, abs=0.06)
