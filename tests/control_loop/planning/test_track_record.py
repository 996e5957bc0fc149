"""Do the next predictions know how the last ones did?"""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from tenancy.models import Team

from autoscaler.predictions.live_jobs import predict_live_jobs
from autoscaler.predictions.track_record import RecentHits, track_record
from autoscaler.simulation.engine.prediction.correction import Basis
from autoscaler.simulation.engine.prediction.prediction import Effort
from jobs.commands import predictions
from jobs.models import Job, Measurement, Prediction
from tests.control_loop.world import World, fresh

QUICK = Effort(planned_jobs=1_000)


def told(job: Job, made_at: datetime) -> Prediction:
    """An end in 92 to 108 s."""
    span = {f"p{p}": made_at + timedelta(seconds=90 + p / 5) for p in (10, 50, 90)}
    return Prediction.objects.create(
        job=job,
        kind="finish",
        basis=Basis.DECLARED,
        made_at=made_at,
        **span,
        **{f"replayed_{name}": moment for name, moment in span.items()},
    )


def ended(world: World, number: int, *, seconds: float, times: int = 3) -> Job:
    """One job that ended so long after it was predicted for the middle of so many times."""
    job, end = world.job(f"old-{number}"), timezone.now() - timedelta(seconds=number)
    for ahead in range(times):
        told(job, end - timedelta(seconds=seconds + ahead - times // 2))
    Job.objects.filter(pk=job.pk).update(
        state="completed", started_at=end - timedelta(seconds=900), finished_at=end, samples=1000
    )
    return job


def test_people_are_told_how_many_of_the_last_jobs_ended_in_their_range(world: World) -> None:
    for number in range(12):
        ended(world, number, seconds=100 if number < 8 else 300)
    predictions.score()
    assert track_record(timezone.now()).lately == {Basis.DECLARED: RecentHits(held=8, outcomes=10)}


def test_ranges_that_were_too_early_move_and_become_wider(world: World) -> None:
    now = timezone.now()
    before = track_record(now)
    assert before.corrections == {}
    for number in range(20):
        ended(world, number, seconds=100 if number % 2 else 200, times=1)
    predictions.score()
    correction = track_record(now).corrections[Basis.DECLARED]
    assert correction.p90 > 1.3
    assert correction.p10 == pytest.approx(1.07, abs=0.05)


def test_what_is_told_of_a_live_job_is_corrected_and_its_replay_kept_beside_it(
    world: World,
) -> None:
    for number in range(20):
        ended(world, number, seconds=300, times=1)
    job = world.job("live")
    world.running(job, 1)
    Measurement.objects.create(
        job=job,
        gpu_type=job.pool.gpu_type,
        workers=1,
        global_batch_size=32,
        steps=100,
        step_seconds=0.32,
    )
    Job.objects.filter(pk=job.pk).update(
        samples=1000, total_samples=50_000, samples_per_second=100.0
    )
    predict_live_jobs(timezone.now(), effort=QUICK)
    row = Prediction.objects.get(job=job, kind="finish")
    assert row.basis == Basis.DECLARED
    assert row.p50 is not None
    assert row.replayed_p50 is not None
    assert row.p50 - row.made_at > 1.5 * (row.replayed_p50 - row.made_at)
    assert fresh(job).prediction["lately"] == {"held": 0, "outcomes": 10}


def test_no_team_alone_decides_what_others_are_told(world: World) -> None:
    newcomer = Team.objects.create(name="newcomer")
    for number in range(60):
        one = ended(world, number, seconds=100 if number < 20 else 10_000, times=1)
        team = (
            newcomer if number >= 20 else Team.objects.get(name=("vision", "language")[number % 2])
        )
        Job.objects.filter(pk=one.pk).update(team=team)
    predictions.score()
    assert track_record(timezone.now()).corrections[Basis.DECLARED].p50 < 1.1


def test_a_job_that_trains_on_counts_as_longer_than_it_is(world: World) -> None:
    for number in range(10):
        ended(world, number, seconds=50, times=1)
    predictions.score()
    now = timezone.now()
    before = track_record(now).corrections[Basis.DECLARED]
    for number in range(10):
        told(world.job(f"long-{number}"), now - timedelta(seconds=40))
    later = track_record(now + timedelta(seconds=1000)).corrections[Basis.DECLARED]
    assert later.p90 > 2 * before.p90
