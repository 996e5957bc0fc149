"""Whatever workers report, a fit ends with a model that predicts finite, positive step times."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoscaler.planning.fitting.fitting import fit
from autoscaler.planning.fitting.observations import usable
from autoscaler.planning.snapshot.cluster_state import StepTime
from autoscaler.planning.snapshot.job_terms import BatchRange
from autoscaler.planning.speed.throughput import Configurations
from tests.campaigns import examples
from tests.planning.speed.explorations import (
    SIX,
    explored,
    measured_at,
    relative_errors,
    unseen,
)

if TYPE_CHECKING:
    from autoscaler.simulation.engine.truth.profiles import Profile

GOOD = StepTime(workers=1, nodes=1, global_batch_size=64, steps=20, step_seconds=0.1)
EVERYWHERE = Configurations.of(
    workers=[1, 2, 3, 8, 9, 64, 4096],
    crosses_nodes=[False, False, True, False, True, True, True],
    global_batch=[1, 64, 3, 10**6, 64, 64, 10**9],
)


@pytest.mark.parametrize(
    "garbage",
    [
        replace(GOOD, step_seconds=0.0),
        replace(GOOD, step_seconds=-1.0),
        replace(GOOD, step_seconds=math.nan),
        replace(GOOD, step_seconds=math.inf),
        replace(GOOD, step_seconds=1e9),
        replace(GOOD, step_seconds=1e-12),
        replace(GOOD, workers=0),
        replace(GOOD, workers=65),
        replace(GOOD, nodes=2),
        replace(GOOD, steps=1),
    ],
)
def test_garbage_is_ignored(garbage: StepTime) -> None:
    assert usable([garbage]) == ()
    assert fit([garbage]) is None
    assert fit([GOOD, garbage]) == fit([GOOD])


seconds = st.one_of(
    st.floats(),
    st.floats(1e-6, 1e5),
    st.sampled_from((0.1, 1e-6, 1e5, 0.0, -1.0, math.nan, math.inf)),
)
reports = st.builds(
    StepTime,
    workers=st.one_of(st.integers(-1, 70), st.sampled_from((1, 2, 4, 8))),
    nodes=st.integers(0, 4),
    global_batch_size=st.one_of(st.integers(-1, 100), st.integers(1, 2**31)),
    steps=st.integers(-1, 10**6),
    step_seconds=seconds,
    gpu_type=st.sampled_from(("", "", "other")),
)


def test_reports_of_batches_outside_of_the_job_s_range_are_ignored() -> None:
    batch = BatchRange(base=64, minimum=32, maximum=256)
    for size in (1, 31, 257, 2**31 - 1):
        absurd = replace(GOOD, global_batch_size=size)
        assert fit([absurd], batch=batch) is None
        assert fit([GOOD, absurd], batch=batch) == fit([GOOD], batch=batch)


@examples(80)
@given(
    measurements=st.lists(reports, max_size=12),
    model_bytes=st.sampled_from((0, 1, 10**8, 10**15)),
    micro_batch=st.sampled_from((None, 1, 64)),
)
def test_no_report_breaks_a_fit(
    measurements: list[StepTime], model_bytes: int, micro_batch: int | None
) -> None:
    batch = BatchRange(base=64, minimum=1, maximum=2**31, max_per_gpu=micro_batch)
    scaling = fit(measurements, model_bytes=model_bytes, batch=batch)
    assert (scaling is None) == (usable(measurements, batch) == ())
    if scaling is None:
        return
    predicted = scaling.throughput.step_seconds(EVERYWHERE)
    errors = scaling.relative_error(EVERYWHERE)
    assert np.isfinite(predicted).all()
    assert (predicted > 0).all()
    assert np.isfinite(errors).all()
    assert (errors >= 0).all()


def test_reports_that_contradict_each_other_lower_the_certainty() -> None:
    agreed = fit([GOOD, replace(GOOD, step_seconds=0.101)])
    torn = fit([GOOD, replace(GOOD, step_seconds=1.0)])
    there = Configurations.of(workers=[1], crosses_nodes=[False], global_batch=[64])
    assert agreed is not None
    assert torn is not None
    assert 0.09 < torn.throughput.step_seconds(there)[0] < 1.1
    assert torn.relative_error(there)[0] > 2 * agreed.relative_error(there)[0]


@pytest.mark.parametrize("seconds", [1e-6, 1e5])
@pytest.mark.parametrize("profile", SIX, ids=lambda profile: profile.name)
def test_one_report_that_contradicts_six_others_is_left_out(
    profile: Profile, seconds: float
) -> None:
    for seed in range(4):
        seen = explored(profile, 6, seed)
        absurd = replace(seen[0], global_batch_size=profile.batch.minimum, step_seconds=seconds)
        assert fit([*seen, absurd], batch=profile.batch) == fit(seen, batch=profile.batch)


@pytest.mark.parametrize("factor", [100.0, 0.01])
@pytest.mark.parametrize("profile", SIX, ids=lambda profile: profile.name)
def test_the_first_report_being_a_hundred_times_off_does_not_poison_the_rest(
    profile: Profile, factor: float
) -> None:
    """The one from which the prior would be taken."""
    errors = []
    for seed in range(3):
        first, *others = explored(profile, 6, seed)
        off = replace(first, step_seconds=factor * first.step_seconds)
        scaling = fit([off, *others], batch=profile.batch)
        assert scaling is not None
        errors.append(relative_errors(scaling, profile, unseen(profile, (first, *others))))
    assert np.median(np.concatenate(errors)) <= 0.20


@pytest.mark.parametrize("profile", SIX, ids=lambda profile: profile.name)
def test_a_fifth_of_the_reports_being_a_hundred_times_off_does_not_poison_the_rest(
    profile: Profile,
) -> None:
    errors = []
    for seed in range(6):
        rng = random.Random(seed)  # noqa: S311 - chance, no secret
        seen = list(explored(profile, 10, seed))
        for index in rng.sample(range(10), 2):
            factor = rng.choice((100.0, 0.01))
            seen[index] = replace(seen[index], step_seconds=factor * seen[index].step_seconds)
        scaling = fit(seen)
        assert scaling is not None
        errors.append(relative_errors(scaling, profile, unseen(profile, tuple(seen))))
    assert np.median(np.concatenate(errors)) <= 0.20


@pytest.mark.parametrize("profile", SIX, ids=lambda profile: profile.name)
def test_a_hasty_first_report_that_is_much_too_slow_falls_once_the_job_was_timed_elsewhere(
    profile: Profile,
) -> None:
    """Nobody goes back to one worker to time that again."""
    rng = random.Random(0)  # noqa: S311 - chance, no secret
    alone = measured_at(profile, profile.batch.base, 1, rng)
    shared = replace(measured_at(profile, 8 * profile.batch.base, 8, rng), steps=1000)
    hasty = replace(alone, steps=4, step_seconds=100 * alone.step_seconds)
    assert fit([hasty, shared], batch=profile.batch) == fit([shared], batch=profile.batch)
    assert fit([alone, shared], batch=profile.batch) != fit([shared], batch=profile.batch)


@pytest.mark.parametrize(
    ("steps_alone", "steps_shared", "believed"),
    [(4, 1000, {8}), (1000, 4, {1}), (4, 9, {1, 8}), (1000, 1000, {1, 8})],
)
def test_of_two_that_cannot_both_be_right_the_one_timed_longer_is_believed(
    steps_alone: int, steps_shared: int, believed: set[int]
) -> None:
    """Eight workers that each do as much as one worker did would take a hundredth of its time."""
    alone = replace(GOOD, steps=steps_alone, step_seconds=10.0)
    shared = replace(GOOD, steps=steps_shared, workers=8, global_batch_size=512)
    assert {one.workers for one in usable([alone, shared])} == believed


def test_a_job_that_gains_all_that_its_workers_explain_is_believed() -> None:
    shared = replace(GOOD, steps=1000, workers=8, step_seconds=GOOD.step_seconds / 8)
    other = replace(shared, gpu_type="other", step_seconds=1e-4)
    assert len(usable([replace(GOOD, steps=4), shared, other])) == 3
