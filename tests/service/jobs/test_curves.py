"""Are curves rolled up with age, without losing or doubling a point, and read at a bounded cost?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import psycopg2
import pytest
from cluster.models import Node, Pool
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from jobs.commands.removal import job_deletion, rollups
from jobs.lifecycle import JobState
from jobs.models import Job, MetricPoint, MetricRollup
from jobs.models.metric_point import TIERS
from jobs.queries.curves.speeds import samples_per_second
from tests.service.conftest import SubmitJob, client_of, generation, make_team, run, spec
from tests.service.syncing import metric, report, sync

NOW = datetime(2026, 11, 24, 0, 0, 0, tzinfo=UTC) + timedelta(hours=2)

_TRAINED = """
    INSERT INTO jobs_metricpoint (
        job_id, at, generation, step, epoch, samples, samples_per_second, step_seconds,
        compute_seconds, communication_seconds, learning_rate, "values"
    )
    SELECT %s, %s + second * interval '1 second', %s, second + 1, 0, 8 * (second + 1), second, 1,
        1, 0, 0.1, jsonb_build_object('loss', second)
    FROM generate_series(0, %s) AS second
"""


def trained(job: Job, seconds: int, *, until: datetime = NOW, generation: int = 1) -> None:
    """A point a second for so long, with 8 samples each."""
    began = until - timedelta(seconds=seconds - 1)
    earliest = job.started_at or began
    Job.objects.filter(pk=job.pk).update(started_at=min(began, earliest), submitted_at=began)
    job.refresh_from_db()
    with connection.cursor() as cursor:
        cursor.execute(_TRAINED, [job.id, began, generation, seconds - 1])


def roll_up(now: datetime = NOW) -> int:
    return rollups.roll_up(now, lambda: True)


def points_of(width: int) -> int:
    return sum(MetricRollup.objects.filter(width=width).values_list("points", flat=True))


def partitions(width: int) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = %s::regclass",
            [f"jobs_metricrollup_{width}"],
        )
        return {name for (name,) in cursor.fetchall()}


def test_points_older_than_an_hour_become_one_for_each_stretch(job: Job) -> None:
    trained(job, 2 * 3600)
    moved = roll_up()
    assert (moved, MetricPoint.objects.count()) == (3599, 3601)
    assert [points_of(tier.width) for tier in TIERS] == [moved] * 3
    rows = {tier.width: MetricRollup.objects.filter(width=tier.width).count() for tier in TIERS}
    assert rows == {10: 360, 60: 60, 600: 60}  # in the first hour of a job, a minute is the widest
    one = MetricRollup.objects.filter(width=60).order_by("bucket")[1]
    assert one.bucket.second == 0
    told = (one.points, one.first_samples, one.samples, one.step, one.values["loss"])
    assert told == (60, 8 * 60, 8 * 119, 119, 118.0)
    assert one.samples_per_second == pytest.approx(88.5)
    assert one.at == one.bucket + timedelta(seconds=59)


def test_after_its_first_hour_a_job_has_ten_minutes_for_ever(job: Job) -> None:
    trained(job, 3 * 3600)
    roll_up()
    later = MetricRollup.objects.filter(width=600, bucket__gte=NOW - timedelta(hours=2))
    assert later.count() == 6
    assert set(later.values_list("points", flat=True)) <= {599, 600}


def test_what_comes_late_joins_its_stretch_and_a_second_run_moves_nothing(job: Job) -> None:
    trained(job, 7200)
    late = MetricPoint.objects.filter(step__in=range(5, 100, 7))
    kept = list(late)
    late.delete()
    roll_up()
    MetricPoint.objects.bulk_create(kept)
    assert roll_up() == len(kept)
    assert roll_up() == 0
    assert points_of(10) == points_of(600) == 3599
    first = MetricRollup.objects.filter(width=60).order_by("bucket")[0]
    assert (first.step, first.values["loss"]) == (59, 58.0)
    assert first.samples_per_second == pytest.approx(29.0)


def test_of_a_live_job_the_newest_point_stays_and_of_one_that_ended_none(
    job: Job, submit: SubmitJob
) -> None:
    ended = submit(name="ended")
    Job.objects.filter(pk=ended.pk).update(state=JobState.COMPLETED)
    for one in (job, ended):
        trained(one, 60, until=NOW - timedelta(hours=2))
    roll_up()
    (left,) = MetricPoint.objects.all()
    assert (left.job_id, left.step) == (job.id, 60)


def test_a_report_that_comes_late_is_known_as_such_after_the_points_were_rolled_up(
    job: Job,
) -> None:
    run(job, workers=1)
    sync(job, report(metrics=[metric(step=100)]))
    rollups.roll_up(timezone.now() + timedelta(days=1), lambda: True)
    sync(job, report(metrics=[metric(step=50)]))
    job.refresh_from_db()
    assert job.step == 100


def test_a_partition_that_is_missing_at_midnight_is_made_by_whoever_needs_it(job: Job) -> None:
    before = partitions(10)
    trained(job, 4 * 3600)  # over midnight
    assert roll_up() == 3 * 3600 - 1
    assert len(partitions(10) - before) == 2
    assert points_of(10) == points_of(60) == points_of(600) == 3 * 3600 - 1


def test_partitions_are_made_ahead(db: None) -> None:
    moment = timezone.now()
    rollups.make_ahead(moment)
    had = {tier.width: partitions(tier.width) for tier in TIERS}
    rollups.make_ahead(moment)
    assert {tier.width: partitions(tier.width) for tier in TIERS} == had
    for tier in TIERS:
        for at in (moment, moment + timedelta(days=1)):
            begins = int(at.timestamp()) // int(tier.span.total_seconds())
            name = f"jobs_metricrollup_{tier.width}_{begins * int(tier.span.total_seconds())}"
            assert name in had[tier.width]


def test_old_partitions_are_dropped_and_no_row_is_deleted(job: Job) -> None:
    trained(job, 2 * 3600)
    roll_up()
    with CaptureQueriesContext(connection) as made:
        assert rollups.drop_old(NOW + timedelta(hours=20)) == 0
        assert rollups.drop_old(NOW + timedelta(days=2)) == 1
    assert not any("DELETE" in one["sql"] for one in made)
    assert (points_of(10), points_of(60), points_of(600)) == (0, 3599, 3599)
    rollups.drop_old(NOW + timedelta(days=9))
    assert (points_of(60), points_of(600)) == (0, 3599)


@contextmanager
def locked(table: str) -> Iterator[None]:
    """Somebody else has a table for themselves."""
    other = psycopg2.connect(**connection.get_connection_params())
    try:
        other.cursor().execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield
    finally:
        other.close()


@pytest.mark.django_db(transaction=True)
def test_without_its_lock_a_run_moves_nothing_loses_nothing_and_the_next_one_goes_on() -> None:
    pool = Pool.objects.create(name="default")
    Node.objects.create(pool=pool, name="node-1", gpus=4)
    api = client_of(make_team("vision", pool, guaranteed=2, limit=None))
    job = Job.objects.get(pk=api.post("/api/v1/jobs", spec(), format="json").json()["id"])
    trained(job, 60, until=NOW - timedelta(days=40))
    with locked("jobs_metricrollup_600"):
        assert roll_up() == 0
        assert MetricPoint.objects.count() == 60
    assert roll_up() == 59
    assert points_of(600) == 59


def curve(api: APIClient, job: Job, **asked: Any) -> list[dict[str, Any]]:
    answer = api.get(f"/api/v1/jobs/{job.id}/metrics", asked)
    assert answer.status_code == 200, answer.json()
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def test_a_curve_goes_on_over_all_ages_without_a_gap_or_a_step_back(
    api: APIClient, job: Job
) -> None:
    now = timezone.now()
    generation(job, 1, workers=3)
    trained(job, 4 * 3600, until=now)
    rollups.roll_up(now, lambda: True)
    whole = curve(api, job, points=5000)
    steps = [one["step"] for one in whole]
    assert steps == sorted(set(steps))
    assert (steps[0] <= 10, steps[-1]) == (True, 4 * 3600)
    assert max(after - before for before, after in pairwise(steps)) <= 20
    assert {one["workers"] for one in whole} == {3}


@pytest.mark.parametrize("asked", [1, 60, 500, 2000])
def test_a_long_curve_is_thinned_evenly_and_ends_with_the_newest(
    api: APIClient, job: Job, asked: int
) -> None:
    now = timezone.now()
    trained(job, 8 * 3600, until=now)
    rollups.roll_up(now, lambda: True)
    steps = [one["step"] for one in curve(api, job, points=asked)]
    assert asked / 2 <= len(steps) <= asked
    assert steps[-1] == 8 * 3600
    gaps = [after - before for before, after in pairwise(steps)]
    assert not gaps or max(gaps) <= 4 * (8 * 3600 / asked) + 60


def test_a_window_is_read_as_finely_as_it_is_kept(api: APIClient, job: Job) -> None:
    now = timezone.now()
    trained(job, 5 * 3600, until=now)
    rollups.roll_up(now, lambda: True)
    window = {"since": now - timedelta(minutes=30), "until": now - timedelta(minutes=20)}
    found = curve(api, job, points=1000, **{name: at.isoformat() for name, at in window.items()})
    assert len(found) in {600, 601}
    early = {"since": now - timedelta(hours=4), "until": now - timedelta(hours=3)}
    found = curve(api, job, points=1000, **{name: at.isoformat() for name, at in early.items()})
    assert len(found) in {360, 361}


def test_speeds_of_generations_are_the_same_once_their_points_are_rolled_up(job: Job) -> None:
    trained(job, 700, until=NOW - timedelta(hours=3))
    trained(job, 600, until=NOW - timedelta(hours=2), generation=2)
    before = samples_per_second(job)
    assert set(before) == {1, 2}
    roll_up()
    assert samples_per_second(job) == pytest.approx(before)


def test_rolled_up_points_go_with_their_job(job: Job) -> None:
    trained(job, 60, until=NOW - timedelta(hours=3))
    roll_up()
    Job.objects.filter(pk=job.pk).update(state=JobState.CANCELLED)
    job_deletion.delete(job_id=job.id)
    assert not MetricRollup.objects.exists()
