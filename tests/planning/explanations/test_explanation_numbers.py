"""Which numbers does an explanation carry?"""

from __future__ import annotations

import pytest

from autoscaler.planning.decisions.explanation import (
    Hindrance,
    JobRef,
    Rescaled,
    Running,
    Waiting,
)
from autoscaler.planning.planner import plan
from tests.planning.builders import (
    HARDLY_FASTER,
    NOW,
    batch,
    cluster,
    running,
    waiting,
)


def test_choices_tell_what_a_sample_of_their_batch_counts() -> None:
    wide = batch(64, maximum=4096)
    noisy = running("a", 2, measurements=HARDLY_FASTER, batch=wide, noise_scale=300.0)
    value = plan(cluster(noisy)).explanations["a"]
    assert isinstance(value, Rescaled)
    for choice in (value.before, value.after):
        assert choice is not None
        worth = (300 + 64) / (300 + choice.global_batch_size)
        assert choice.efficiency == pytest.approx(min(worth, 1.0))


def test_a_running_job_knows_its_value_around_its_size_the_price_and_its_rival() -> None:
    state = cluster(running("a", 2, measurements=HARDLY_FASTER), running("b", 2, "language"))
    value = plan(state).explanations["a"]
    assert isinstance(value, Running)
    assert [choice.workers for choice in value.choices] == [1, 2, 3]
    assert value.choices[0].value < value.choices[1].value
    assert value.price is not None
    assert value.price > 0
    assert value.hindrance is Hindrance.RIVAL
    assert value.rival is not None
    assert value.rival.job == JobRef(job_id="b", name="b", team="language")
    assert value.rival.gain == pytest.approx(0.88, abs=0.01)
    assert value.next_step is not None
    assert value.next_step.gain == pytest.approx(0.17, abs=0.01)


def test_a_rescale_knows_before_after_gain_and_cost() -> None:
    value = plan(cluster(running("a", 2, stall_seconds=0.4))).explanations["a"]
    assert isinstance(value, Rescaled)
    assert (value.before.workers, value.after.workers) == (2, 4)
    assert value.gain == pytest.approx(
        value.after.samples_per_second / value.before.samples_per_second - 1
    )
    assert value.stall_seconds == 0.4
    assert value.pays_back_after_seconds == pytest.approx(0.4 / (value.gain or 0))


def test_waiting_jobs_know_their_place_and_what_all_before_them_need() -> None:
    full = running("a", 4, min_workers=4)
    later = [waiting(f"w{i}", submitted_at=NOW - 100 + i, priority=10 * i) for i in range(3)]
    explanations = plan(cluster(full, *later)).explanations
    found = {}
    for job_id in ("w0", "w1", "w2"):
        value = explanations[job_id]
        assert isinstance(value, Waiting)
        found[job_id] = (value.position, value.asked_gpus)
    assert found == {"w2": (1, 1), "w1": (2, 2), "w0": (3, 3)}


def test_what_guests_use_is_saved_up_for_the_large_job() -> None:
    young = {"submitted_at": NOW - 50, "started_at": NOW - 50}
    state = cluster(
        running("old", 2, min_workers=2, max_workers=2),
        running("guest", 1, max_workers=1, **young),
        waiting("big", min_workers=4, submitted_at=NOW - 400),
        quotas={"vision": (2, None)},
    )
    value = plan(state).explanations["big"]
    assert isinstance(value, Waiting)
    assert value.reserved is not None
    assert (value.reserved.gpus, value.reserved.saved_gpus) == (4, 2)  # one idle, one a guest's
    assert value.reserved.since == NOW - 100
    assert value.team.entitled_gpus == 2
