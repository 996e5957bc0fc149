"""How well are speeds predicted that nobody has measured, and does the model know how well?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from autoscaler.planning.fitting.fitting import fit
from autoscaler.planning.snapshot.cluster_state import StepTime
from autoscaler.planning.speed.all_reduce import AllReduceTable, AllReduceTime
from autoscaler.planning.speed.throughput import Configurations, log_step_seconds
from tests.planning.speed.explorations import SIX, Point, at, explored, relative_errors, unseen

if TYPE_CHECKING:
    from autoscaler.planning.speed.scaling import ScalingModel
    from autoscaler.simulation.engine.truth.profiles import Profile
    from tests.planning.speed.explorations import Column

SEEDS = range(12)
by_name = pytest.mark.parametrize("profile", SIX, ids=lambda profile: profile.name)


def known(profile: Profile, seed: int, points: int = 6) -> tuple[ScalingModel, tuple[Point, ...]]:
    """What is known after so many points of an exploration, and all that was not measured."""
    seen = explored(profile, points, seed)
    scaling = fit(seen)
    assert scaling is not None
    return scaling, unseen(profile, seen)


def errors_and_claims(profile: Profile, points: int = 6) -> tuple[Column, Column]:
    found = [known(profile, seed, points) for seed in SEEDS]
    errors = [relative_errors(scaling, profile, rest) for scaling, rest in found]
    claims = [scaling.relative_error(at(rest)) for scaling, rest in found]
    return np.concatenate(errors), np.concatenate(claims)


@by_name
def test_six_noisy_points_predict_unseen_throughput_within_a_tenth(profile: Profile) -> None:
    """7 % noise; the median over every other feasible batch and worker count."""
    errors, claims = errors_and_claims(profile)
    assert np.median(errors) <= 0.10
    assert np.mean(errors <= 2 * claims) >= 0.75


@by_name
def test_predictions_the_model_is_sure_of_are_right(profile: Profile) -> None:
    errors, claims = errors_and_claims(profile)
    sure = claims <= 0.10
    assert sure.any()
    assert np.quantile(errors[sure], 0.9) <= 0.25


def only(workers: int = 1, seconds: float = 0.1, gpu_type: str = "", **changes: int) -> StepTime:
    values = {"nodes": 1, "global_batch_size": 64, "steps": 20} | changes
    return StepTime(workers=workers, step_seconds=seconds, gpu_type=gpu_type, **values)


def where(*workers: int, per_node: int = 8, batch: int = 64) -> Configurations:
    return Configurations.of(
        workers=workers,
        crosses_nodes=[k > per_node for k in workers],
        global_batch=[batch] * len(workers),
    )


def test_the_error_grows_away_from_what_was_measured() -> None:
    scaling = fit([only(1), only(2, 0.06)])
    assert scaling is not None
    errors = scaling.relative_error(where(2, 4, 8, 16)).tolist()
    assert errors == sorted(errors)
    assert errors[0] < 0.5 * errors[1]
    assert errors[-1] > 1


def test_an_all_reduce_table_makes_predictions_surer_and_different() -> None:
    def table(seconds: float) -> AllReduceTable:
        return AllReduceTable(
            times=tuple(
                AllReduceTime(bytes=10**8, workers=k, crosses_nodes=False, seconds=k * seconds)
                for k in (2, 4, 8)
            )
        )

    guessed = fit([only()], model_bytes=10**8)
    slow = fit([only()], model_bytes=10**8, all_reduce=table(0.05))
    fast = fit([only()], model_bytes=10**8, all_reduce=table(0.0005))
    assert guessed is not None
    assert slow is not None
    assert fast is not None
    there = where(4)
    assert (fast.relative_error(there) < 0.5 * guessed.relative_error(there)).all()
    assert (slow.throughput.step_seconds(there) > 2 * fast.throughput.step_seconds(there)).all()


def test_a_job_that_moves_to_another_gpu_type_keeps_the_shape_of_its_curve() -> None:
    """Known on slow GPUs at 1, 2, 4; measured once on GPUs that compute three times as fast."""
    before = [only(k, 0.3 / k + 0.02 * (k > 1), "slow", global_batch_size=64) for k in (1, 2, 4)]
    unknown = fit(before, gpu_type="fast")
    once = fit([*before, only(1, 0.1, "fast")], gpu_type="fast")
    assert unknown is not None
    assert once is not None
    assert unknown.measured_workers == 0
    assert once.measured_workers == 1
    assert unknown.relative_error(where(1)) > 5 * once.relative_error(where(1))
    assert once.throughput.step_seconds(where(1)) == pytest.approx(0.1, rel=0.05)
    assert once.throughput.step_seconds(where(4)) == pytest.approx(0.1 / 4 + 0.02, rel=0.35)


def test_measurements_of_its_own_gpu_type_outweigh_those_of_another() -> None:
    before = [only(k, 0.3 / k, "slow") for k in (1, 2, 4)]
    here = [only(k, 0.1 / k + 0.2 * (k > 1), "fast") for k in (1, 2, 4)]
    scaling = fit([*before, *here], gpu_type="fast")
    assert scaling is not None
    seconds = scaling.throughput.step_seconds(where(1, 2, 4)).tolist()
    assert seconds == pytest.approx([0.1, 0.25, 0.225], rel=0.2)


def test_drawn_errors_scatter_about_as_far_as_is_claimed() -> None:
    """Wider, where directions that are harmless alone leave the valley of good fits together."""
    scaling = fit([only(1), only(2, 0.06), only(4, 0.04)])
    assert scaling is not None
    rng = np.random.default_rng(1)
    theta = scaling.throughput.logarithms()
    drawn = np.array([theta + scaling.error(rng.standard_normal(7)) for _ in range(2000)])
    scatter = log_step_seconds(drawn, where(2, 4)).std(axis=0)
    claimed = scaling.relative_error(where(2, 4))
    assert (0.7 * claimed < scatter).all()
    assert (scatter < 3 * claimed).all()
