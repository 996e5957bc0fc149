"""Is what will become of jobs predicted, kept, and held against what came of it?"""

from __future__ import annotations

from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cluster.models import Pool
from control_plane import tasks
from django.db import connection
from django.utils import timezone

from autoscaler.control_loop.observe.for_planner.cluster_view import cluster_state
from autoscaler.control_loop.observe.jobs.views import live_jobs
from autoscaler.predictions.last_look import LastLook, likeness_of
from autoscaler.predictions.live_jobs import predict_live_jobs
from autoscaler.simulation.engine.prediction.prediction import Effort
from jobs.commands import predictions
from jobs.models import Job, Measurement, Prediction
from jobs.queries.predictions.calibration import ENOUGH_OUTCOMES, calibration
from tests.control_loop.world import World, fresh
from tests.extension import install_example, policies_found_anew

QUICK = Effort(planned_jobs=1_000)


def a_training_job(world: World, *, total: int = 40_000, done: int = 10_000) -> Job:
    """Trains 100 samples per second with each of its 2 workers, measured on 1, 2 and 4."""
    job = world.job()
    world.running(job, 2)
    for workers in (1, 2, 4):
        Measurement.objects.create(
            job=job,
            gpu_type=job.pool.gpu_type,
            workers=workers,
            global_batch_size=32,
            steps=100,
            step_seconds=0.32 / workers,
        )
    speed = {"samples": done, "total_samples": total, "samples_per_second": 200.0}
    Job.objects.filter(pk=job.pk).update(**speed)
    return fresh(job)


def moments(span: dict[str, str] | None, now: datetime) -> list[float]:
    assert span is not None
    return [(datetime.fromisoformat(span[p]) - now).total_seconds() for p in ("p10", "p50", "p90")]


def test_the_end_of_a_running_job_is_predicted_with_a_range(world: World) -> None:
    job = a_training_job(world)
    now = timezone.now()
    assert predict_live_jobs(now, effort=QUICK) == 1
    prediction = fresh(job).prediction
    assert prediction["start"] is None
    low, middle, high = moments(prediction["finish"], now)
    assert 40 < low <= middle <= high < 250  # 30,000 samples at 200 to 400 per second


def test_of_a_job_that_nobody_knows_only_the_start_is_predicted(world: World) -> None:
    job = world.job()
    predict_live_jobs(timezone.now(), effort=QUICK)
    prediction = fresh(job).prediction
    assert prediction["finish"] is None
    assert prediction["start"] is not None
    assert [row.kind for row in Prediction.objects.filter(job=job)] == ["start"]


class Shelf(dict[str, str]):
    """What Redis remembers, for ever."""

    def set(self, name: str, value: str, /, *, ex: int) -> None:
        assert ex > 0
        self[name] = value


def test_nobody_looks_ahead_again_before_something_happens(world: World) -> None:
    job = a_training_job(world)
    last_look, now = LastLook(Shelf()), timezone.now()
    assert predict_live_jobs(now, effort=QUICK, last_look=last_look) == 1
    made_at = fresh(job).prediction["made_at"]
    Job.objects.filter(pk=job.pk).update(samples=12_000, noise_scale=70.0)  # it trains on
    later = now + timedelta(seconds=30)
    assert predict_live_jobs(later, effort=QUICK, last_look=last_look) == 0
    assert fresh(job).prediction["made_at"] == made_at
    world.job("other")
    assert predict_live_jobs(later, effort=QUICK, last_look=last_look) == 2


def test_only_one_process_looks_ahead_at_a_time(world: World) -> None:
    job = world.job()
    other = connection.copy()
    with closing(other), other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [tasks.LOOKING_AHEAD])
        tasks.look_ahead()
        assert fresh(job).prediction == {}
        cursor.execute("SELECT pg_advisory_unlock(%s)", [tasks.LOOKING_AHEAD])
    tasks.look_ahead()
    assert fresh(job).prediction != {}


def test_a_job_that_ended_lately_tells_how_long_others_take(world: World) -> None:
    now = timezone.now()
    old, other = world.job(), world.job("other")
    times = {"started_at": now - timedelta(seconds=100), "finished_at": now}
    Job.objects.filter(pk=old.pk).update(state="completed", samples=10_000, **times)
    predict_live_jobs(now, effort=QUICK)
    assert fresh(other).prediction["finish"] is not None


def test_a_waiting_job_is_told_what_would_start_it_until_it_has_started(world: World) -> None:
    """The pool has 4 GPUs, 3 of which a job holds that may not have fewer."""
    holder = world.job("holder", elastic={"min_workers": 3, "max_workers": 3})
    world.running(holder, 3)
    job = world.job(elastic={"min_workers": 2, "max_workers": 2})
    predict_live_jobs(timezone.now(), effort=QUICK)
    assert fresh(job).remedy["message"] == "With min_workers 1 it would start now."
    assert fresh(holder).remedy == {}
    Job.objects.filter(pk=job.pk).update(state="completed", finished_at=timezone.now())
    predict_live_jobs(timezone.now(), effort=QUICK)
    assert fresh(job).remedy == {}


def test_what_waits_for_data_starts_no_sooner_and_is_advised_nothing(world: World) -> None:
    old, job, other = world.job("old"), world.job("late"), world.job("other")
    now = timezone.now()
    Job.objects.filter(pk=job.pk).update(
        reason="preparing", prepared_at=now + timedelta(seconds=400)
    )
    ended = {"started_at": now - timedelta(seconds=100), "finished_at": now}
    Job.objects.filter(pk=old.pk).update(state="completed", samples=10_000, **ended)
    predict_live_jobs(now, effort=QUICK)
    late, soon = fresh(job).prediction, fresh(other).prediction
    assert moments(late["start"], now)[0] >= 400
    assert moments(late["finish"], now)[0] > moments(late["start"], now)[0]
    assert moments(soon["start"], now)[0] < 400
    assert fresh(job).remedy == {}
    Job.objects.filter(pk=job.pk).update(prepared_at=None)
    predict_live_jobs(now, effort=QUICK)
    assert fresh(job).prediction["start"]["p10"] is None, "nobody can tell, so nothing is promised"


def test_looks_ahead_are_not_repeated_for_every_byte_that_comes(world: World) -> None:
    job, now = world.job("late"), timezone.now().replace(second=5)
    Job.objects.filter(pk=job.pk).update(reason="preparing")

    def likeness(seconds: float) -> str:
        Job.objects.filter(pk=job.pk).update(prepared_at=now + timedelta(seconds=seconds))
        return likeness_of(cluster_state(live_jobs({}), now).state)

    assert likeness(600.0) == likeness(610.0) != likeness(700.0)


def test_rows_are_kept_more_rarely_the_longer_a_job_is_there(world: World) -> None:
    job = world.job()
    now = timezone.now()
    Job.objects.filter(pk=job.pk).update(submitted_at=now - timedelta(hours=1))
    span = {"p10": now, "p50": now, "p90": now}
    newest = predictions.NewestPrediction(
        start=predictions.PredictedSpan(span=span, replayed=span, basis="start"), finish=None
    )
    for seconds in range(0, 600, 15):
        predictions.keep({job.id: newest}, made_at=now + timedelta(seconds=seconds))
    assert Prediction.objects.filter(job=job).count() == 2  # a tenth of an hour apart


def test_what_is_later_than_was_looked_ahead_is_told_and_not_held_against_what_comes(
    world: World,
) -> None:
    """It is no range: whether it came true nobody can tell who does not know how far was looked."""
    job, now = world.job(), timezone.now()
    far = {"p10": None, "p50": None, "p90": None}
    told = predictions.PredictedSpan(span=far, replayed=far, basis="start")
    predictions.keep({job.id: predictions.NewestPrediction(start=told, finish=None)}, made_at=now)
    assert fresh(job).prediction["start"] == far
    assert not Prediction.objects.filter(job=job).exists()


def predicted(job: Job, kind: str, made_at: datetime, **offsets: float | None) -> Prediction:
    moments = {
        name: None if seconds is None else made_at + timedelta(seconds=seconds)
        for name, seconds in offsets.items()
    }
    return Prediction.objects.create(job=job, kind=kind, made_at=made_at, **moments)


def test_a_range_held_when_the_outcome_fell_into_it(world: World) -> None:
    job, now = world.job(), timezone.now()
    cases: dict[str, tuple[dict[str, Any], bool]] = {
        "within": ({"p10": 50, "p50": 90, "p90": 150}, True),
        "too late": ({"p10": 101, "p50": 120, "p90": 150}, False),
        "too early": ({"p10": 10, "p50": 20, "p90": 99}, False),
        "no upper bound": ({"p10": 50, "p50": 500, "p90": None}, True),
        "later than was looked ahead": ({"p10": None, "p50": None, "p90": None}, False),
    }
    rows = {name: predicted(job, "finish", now, **span) for name, (span, _) in cases.items()}
    assert predictions.score() == 0  # it has not ended yet
    end = now + timedelta(seconds=100)
    Job.objects.filter(pk=job.pk).update(state="completed", started_at=now, finished_at=end)
    assert predictions.score() == len(cases)
    assert predictions.score() == 0
    for row in rows.values():
        row.refresh_from_db()
    assert {name: row.held for name, row in rows.items()} == {
        name: held for name, (_, held) in cases.items()
    }
    found = calibration(since=now)
    assert (found.held, found.outcomes, found.is_rough) == (2, 5, True)
    assert [(one.held, one.outcomes) for one in found.by_horizon] == [
        (0, 0),
        (2, 5),
        (0, 0),
        (0, 0),
    ]


def test_a_job_that_was_cancelled_says_nothing_about_predictions(world: World) -> None:
    job, now = world.job(), timezone.now()
    predicted(job, "start", now, p10=1, p50=2, p90=3)
    predicted(job, "finish", now, p10=1, p50=2, p90=3)
    Job.objects.filter(pk=job.pk).update(state="cancelled", finished_at=now)
    assert predictions.score() == 0
    assert not Prediction.objects.filter(job=job).exists()


def test_with_enough_outcomes_predictions_are_no_longer_called_rough(world: World) -> None:
    job, now = world.job(), timezone.now()
    for _ in range(ENOUGH_OUTCOMES):
        predicted(job, "start", now, p10=1, p50=2, p90=3)
    Job.objects.filter(pk=job.pk).update(started_at=now + timedelta(seconds=2))
    predictions.score()
    found = calibration(since=now)
    assert (found.held, found.outcomes, found.is_rough) == (ENOUGH_OUTCOMES, ENOUGH_OUTCOMES, False)


def test_a_pool_under_a_policy_of_an_extension_is_predicted_too(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with policies_found_anew():
        install_example(tmp_path, monkeypatch)
        Pool.objects.update(policy="thrifty")
        job = a_training_job(world)
        predict_live_jobs(timezone.now(), effort=QUICK)
    assert fresh(job).prediction["finish"] is not None
