"""May a job report as much, as large, as early and as late as it likes?"""

from __future__ import annotations

import time
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from concertina_worker.protocol import (
    LARGEST_REPORT_BYTES,
    MOST_GENERATIONS,
    MOST_MEASUREMENTS,
    MOST_METRICS,
)
from jobs.commands.observations import (
    generations as reported_generations,
)
from jobs.commands.observations import (
    reported_events,
)
from jobs.commands.observations.rows import metrics
from jobs.models import Assignment, Event, Generation, Job, Measurement, MetricPoint, Worker
from tests.service.conftest import assign, run
from tests.service.syncing import NOW, began, measured, metric, report, sync

HUGE = 10**400
A_YEAR_AHEAD = NOW + 365 * 86_400


def _full(job: Job, workers: list[Worker], size: int, *, first: int) -> dict[str, Any]:
    """A report with so many entries of everything."""
    numbers = range(first, first + size)
    return report(
        generation=numbers[-1],
        generations=[
            began(n, workers, cause="worker_lost", lost_workers=[], lost_steps=1) for n in numbers
        ],
        metrics=[metric(n, generation=n) for n in numbers],
        measurements=[measured(n % 100 + 1, n + 1, steps=n) for n in numbers],
        workers=[
            {"worker_id": one.id, "phase": "training", "relative_speed": 0.5, "is_straggler": True}
            for one in workers
        ],
    )


def _statements(job: Job, body: dict[str, Any]) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert sync(job, body).status_code == 200
    return len(captured)


def test_a_full_report_takes_as_many_statements_as_a_short_one(job: Job) -> None:
    workers = run(job, workers=4)
    sync(job, report())
    short = _statements(job, _full(job, workers[:1], 1, first=1))
    full = _statements(job, _full(job, workers, MOST_GENERATIONS, first=2))
    assert full <= short <= 35


def test_lists_that_are_too_long_lose_their_oldest_entries(job: Job, workers: list[Worker]) -> None:
    body = report(
        generations=[began(n, workers) for n in range(1, MOST_GENERATIONS + 3)],
        metrics=[metric(n) for n in range(1, MOST_METRICS + 3)],
        measurements=[measured(1, n) for n in range(1, MOST_MEASUREMENTS + 3)],
    )
    assert sync(job, body).status_code == 200
    numbers = Generation.objects.filter(job=job).values_list("number", flat=True)
    assert list(numbers) == list(range(3, MOST_GENERATIONS + 3))
    steps = MetricPoint.objects.filter(job=job).values_list("step", flat=True)
    assert list(steps) == list(range(3, MOST_METRICS + 3))
    batches = Measurement.objects.filter(job=job).values_list("global_batch_size", flat=True)
    assert set(batches) == set(range(3, MOST_MEASUREMENTS + 3))


def test_the_newest_measurements_of_a_job_are_kept(job: Job, workers: list[Worker]) -> None:
    for start in (1, 1 + MOST_MEASUREMENTS):
        batches = range(start, start + MOST_MEASUREMENTS)
        sync(job, report(measurements=[measured(1, batch) for batch in batches]))
    stored = Measurement.objects.filter(job=job).values_list("global_batch_size", flat=True)
    assert set(stored) == set(batches)


def test_measurements_that_have_not_changed_are_not_written_again(
    job: Job, workers: list[Worker]
) -> None:
    body = report(measurements=[measured(2, 64), measured(1, 32)])
    sync(job, body)
    before = set(Measurement.objects.values_list("pk", "updated_at"))
    sync(job, body)
    assert set(Measurement.objects.values_list("pk", "updated_at")) == before


def test_the_newest_generations_of_a_job_are_kept(
    job: Job, workers: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reported_generations, "MOST_KEPT", 5)
    sync(job, report(generations=[began(n, workers) for n in range(1, 5)]))
    sync(job, report(generations=[began(n, workers) for n in range(5, 9)]))
    numbers = Generation.objects.filter(job=job).values_list("number", flat=True)
    assert list(numbers) == [4, 5, 6, 7, 8]


def test_a_job_has_no_more_points_than_it_had_time_for(
    job: Job, workers: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "_POINTS_A_SECOND", 0)  # as if it were no second old
    for start in (1, 1 + MOST_METRICS, 1):  # the last is told again, and is no news
        steps = range(start, start + MOST_METRICS)
        assert sync(job, report(metrics=[metric(step) for step in steps])).status_code == 200
    stored = MetricPoint.objects.filter(job=job).count()
    assert stored == MOST_METRICS
    job.refresh_from_db()
    assert (job.step, job.metric_points) == (MOST_METRICS, stored)


def test_what_a_job_tells_again_and_again_is_an_event_only_so_often(
    job: Job, workers: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reported_events, "MOST_AN_HOUR", 3)
    for number in range(1, 6):
        sync(job, report(generations=[began(number, workers, cause="worker_lost")]))
    assert Event.objects.filter(job=job, kind="workers_lost").count() == 3
    assert Generation.objects.filter(job=job).count() == 5


def test_a_generation_of_a_revision_that_nobody_asked_for_is_left_out(
    job: Job, workers: list[Worker]
) -> None:
    answer = sync(job, report(generations=[began(1, workers), began(2, workers, revision=7)]))
    assert answer.status_code == 200
    assert [one.number for one in Generation.objects.filter(job=job)] == [1]


def test_a_generation_of_fewer_workers_than_asked_for_is_of_no_revision_and_kept(
    job: Job, workers: list[Worker]
) -> None:
    sync(job, report(generation=1, generations=[began(1, workers[:1], revision=0)]))
    assert Generation.objects.get(job=job).revision == 0


@pytest.mark.parametrize("said", [0.0, A_YEAR_AHEAD], ids=["long ago", "ahead"])
def test_times_lie_between_the_start_of_the_job_and_now(
    job: Job, workers: list[Worker], said: float
) -> None:
    before = timezone.now()
    sync(job, report(generations=[began(1, workers, began_at=said)], metrics=[metric(1, at=said)]))
    job.refresh_from_db()
    made, point = Generation.objects.get(job=job), MetricPoint.objects.get(job=job)
    latest = timezone.now() + timedelta(seconds=60)
    assert job.started_at is not None
    assert job.started_at <= made.began_at <= latest
    assert job.started_at <= point.at <= latest
    assert before <= made.recorded_at <= latest
    assert before <= point.recorded_at <= latest


def test_generations_follow_each_other_whatever_their_times_say(
    job: Job, workers: list[Worker]
) -> None:
    times = (NOW, NOW - 300, A_YEAR_AHEAD, NOW - 100)
    sync(job, report(generations=[began(n, workers, began_at=at) for n, at in enumerate(times, 1)]))
    rows = list(Generation.objects.filter(job=job))
    for one, following in pairwise(rows):
        assert one.began_at <= following.began_at == one.ended_at


def test_no_stretch_of_time_is_longer_than_the_job_has_been_there(
    job: Job, workers: list[Worker]
) -> None:
    endless = dict.fromkeys(("stall_seconds", "transfer_seconds", "lost_work_seconds"), 1e12)
    earlier = time.time() - 600
    generations = [
        began(1, workers, began_at=earlier),
        began(2, workers, began_at=earlier, **endless),
    ]
    sync(job, report(generations=generations))
    made = Generation.objects.get(job=job, number=2)
    assert made.stall_seconds < 1000  # since the generation before, ten minutes ago
    assert made.transfer_seconds < 6 * 3600 + 1000
    assert made.lost_work_seconds < 6 * 3600 + 1000


def _everywhere(number: float) -> dict[str, Any]:
    """A report with this number in each place where one can stand."""
    whole = ("noise_scale", "model_bytes", "total_samples", "checkpoint_step", "batch_limit")
    of_worker = (*Worker.MEASURED, "error", "given_up")
    return report(
        **dict.fromkeys(whole, number),
        metrics=[
            *({**metric(step), name: number} for step, name in enumerate(metric(0), 1)),
            metric(100, values={"loss": number}),
        ],
        measurements=[{**measured(1, 64), name: number} for name in measured(1, 64)],
        generations=[{**began(n, []), name: number} for n, name in enumerate(began(1, []), 1)],
        workers=[{"worker_id": "a", "phase": "ready", name: number} for name in of_worker],
    )


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(HUGE, id="401 digits"),
        pytest.param(-HUGE, id="below"),
        *(1e308, 5e-324, float("nan"), float("-inf"), True),
    ],
)
def test_no_number_keeps_the_rest_of_a_report_from_being_stored(
    api: Any, job: Job, workers: list[Worker], number: float
) -> None:
    answer = sync(job, _everywhere(number))
    assert answer.status_code == 200, answer.json()
    assert MetricPoint.objects.filter(job=job, step=100).exists()
    assert api.get("/api/v1/jobs").status_code == 200
    assert api.get(f"/api/v1/jobs/{job.id}/metrics").status_code == 200


@pytest.mark.parametrize("name", ["term", "generation", "revision"])
def test_a_number_of_the_coordinators_own_that_is_none_is_refused(
    job: Job, workers: list[Worker], name: str
) -> None:
    assert sync(job, report(**{name: HUGE})).status_code == 400


def test_a_report_after_one_that_was_too_large_is_taken(job: Job, workers: list[Worker]) -> None:
    padded = report(values="x" * LARGEST_REPORT_BYTES)
    answer = sync(job, padded)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert sync(job, report(metrics=[metric(1)])).status_code == 200


def test_texts_are_cut(job: Job, workers: list[Worker]) -> None:
    long = {"worker_id": workers[0].id, "phase": "lost", "error": "\0" + "x" * 100_000}
    sync(job, report(workers=[long]))
    assert 0 < len(Worker.objects.get(pk=workers[0].pk).error) <= 2000


def test_speeds_that_are_next_to_nothing_are_nothing(
    api: Any, job: Job, workers: list[Worker]
) -> None:
    sync(job, report(generation=1, generations=[began(1, workers)], total_samples=10**15))
    sync(job, report(generation=1, metrics=[metric(1, samples_per_second=1e-300)]))
    sync(job, report(generation=1, noise_scale=1e-300))
    sync(job, report(generation=1, noise_scale=1e15))
    assert api.get("/api/v1/jobs").status_code == 200


def test_an_assignment_after_the_report_counts_as_before(job: Job, workers: list[Worker]) -> None:
    """The revision of a generation is looked for among all that were ever wanted."""
    assign(job, workers, batch=128, reason="fair_share")
    sync(job, report(generation=1, generations=[began(1, workers), began(2, workers, revision=2)]))
    reasons = Generation.objects.filter(job=job).values_list("reason", flat=True)
    assert list(reasons) == ["job_arrived", "fair_share"]
    assert Assignment.objects.filter(job=job).count() == 2
