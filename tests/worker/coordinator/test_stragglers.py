"""Is a slow worker noticed, and nobody blamed who is not slow?"""

from __future__ import annotations

import pytest

from benchmarks.false_alarms import NOISES, false_alarms, pace, reports_until_noticed
from concertina_worker.coordinator import events as on
from concertina_worker.coordinator.stragglers import (
    ROUNDS_TO_CONFIRM,
    Speeds,
    WorkerThroughput,
    compared,
)
from concertina_worker.protocol import WorkerReport
from tests.worker.coordinator_story import Story


def after(rounds: int, **seconds: float) -> Speeds:
    """Workers told so often that their steps take this long."""
    speeds = Speeds()
    for _ in range(rounds):
        for worker, took in seconds.items():
            speeds.note(worker, pace(took))
    return speeds


@pytest.mark.parametrize("workers", [2, 3, 4, 8])
@pytest.mark.parametrize("noise", NOISES)
def test_noise_makes_no_straggler(noise: str, workers: int) -> None:
    assert false_alarms(NOISES[noise], workers=workers, reports=900) == 0


@pytest.mark.parametrize(
    ("slowdown", "workers", "reports"), [(4 / 3, 4, 60), (2.0, 4, 20), (2.0, 2, 25), (4.0, 3, 20)]
)
def test_a_slow_worker_is_noticed_in_noise(slowdown: float, workers: int, reports: int) -> None:
    noticed = reports_until_noticed(NOISES["7 % normal"], slowdown, workers=workers)
    assert noticed is not None
    assert noticed <= reports


def test_the_speed_follows_the_papers_rule() -> None:
    speeds = after(1, a=1.0, b=1.0, c=2.0)
    assert speeds.relative_speed("c") == pytest.approx(0.1 * 0.5 + 0.9)
    speeds.note("c", pace(2.0))
    assert speeds.relative_speed("c") == pytest.approx(0.1 * 0.5 + 0.9 * 0.95)


def test_a_straggler_is_one_once_it_has_been_slow_for_several_rounds() -> None:
    below = next(n for n in range(100) if (after(n, a=1, b=1, c=2).relative_speed("c") or 1) < 0.8)
    last = below + ROUNDS_TO_CONFIRM - 1
    assert not after(last - 1, a=1, b=1, c=2).is_straggler("c")
    assert after(last, a=1, b=1, c=2).is_straggler("c")


def test_one_that_recovers_is_none_any_more() -> None:
    speeds = after(50, a=1, b=1, c=2)
    for _ in range(20):
        speeds.note("c", pace(1.0))
    assert not speeds.is_straggler("c")


def test_of_two_workers_the_slower_is_judged_by_the_mean_of_both() -> None:
    assert not after(200, a=1.0, b=1.4).is_straggler("b")
    assert after(200, a=1.0, b=1.6).is_straggler("b")
    assert not after(200, a=1.0, b=1.6).is_straggler("a")


def test_one_alone_is_never_slow() -> None:
    assert after(50, a=9.0).relative_speed("a") is None


@pytest.mark.parametrize("fixed_part", [0.0, 0.5, 1.0])
def test_uneven_shares_slow_nobody_down(fixed_part: float) -> None:
    """2 + 2 + 1 of a batch of 5, whatever part of a step does not depend on the share."""

    def of(samples: int) -> WorkerThroughput:
        seconds = fixed_part + (1 - fixed_part) * samples / 2
        return WorkerThroughput(steps=10, samples=10 * samples, compute_seconds=10 * seconds)

    paces = {"a": of(2), "b": of(2), "c": of(1)}
    assert all(compared(one, paces) >= 1 for one in paces.values())
    larger = {"a": of(2), "b": of(1), "c": of(1)}
    assert all(compared(one, larger) >= 1 for one in larger.values())


def test_who_stays_keeps_its_name_over_a_rescale_and_who_joins_begins_anew() -> None:
    speeds = after(50, a=1, b=1, c=2)
    speeds.begin_generation(("a", "c", "d"))
    assert speeds.is_straggler("c")
    assert speeds.relative_speed("b") is None
    report: WorkerReport = {"worker_id": "c", "phase": "training"}
    speeds.tell(report)
    assert report == {
        "worker_id": "c",
        "phase": "training",
        "relative_speed": 0.5,
        "is_straggler": True,
    }


def test_the_coordinator_tells_how_fast_each_worker_is() -> None:
    story = Story()
    story.train("a", "b", "c")
    for _ in range(30):
        story.tell(*(told(worker, 2.0 if worker == "c" else 1.0) for worker in "abc"))
    workers = {w["worker_id"]: w for w in story.coordination.sync_report()["workers"]}
    assert (workers["a"]["compute_seconds"], workers["c"]["compute_seconds"]) == (0.1, 0.2)
    assert workers["c"]["samples_per_second"] == 40.0
    assert [name for name, one in workers.items() if one.get("is_straggler")] == ["c"]


def test_a_pace_of_another_generation_does_not_count() -> None:
    story = Story()
    story.train("a", "b")
    story.tell(told("a", 1.0), told("b", 1.0, generation=7))
    assert story.coordination.sync_report()["workers"][1].get("compute_seconds") is None


def told(worker: str, seconds: float, *, generation: int = 1) -> on.PaceTold:
    return on.PaceTold(worker=worker, generation=generation, pace=pace(seconds))
