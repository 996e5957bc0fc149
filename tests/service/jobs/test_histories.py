"""Are GET /jobs/{id}/events, /generations, /workers and /metrics as promised?"""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from jobs.models import Assignment, Event, Generation, Job, MetricPoint
from tests.service.conftest import assign, generation, run


def items(api: APIClient, job: Job, what: str, **query: Any) -> list[dict[str, Any]]:
    answer = api.get(f"/api/v1/jobs/{job.id}/{what}", query)
    assert answer.status_code == 200, answer.json()
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_events_go_on_after_the_last_one_seen(api: APIClient, job: Job) -> None:
    api.post(f"/api/v1/jobs/{job.id}/pause")
    first, second = items(api, job, "events")
    assert (first["kind"], second["new_state"]) == ("submitted", "paused")
    assert items(api, job, "events", after=first["id"]) == [second]
    assert items(api, job, "events", after=second["id"]) == []


def test_a_long_history_is_cut(api: APIClient, job: Job) -> None:
    Event.objects.bulk_create(Event(job=job, kind="test") for _ in range(1005))
    assert len(items(api, job, "events")) == 1000


@pytest.mark.parametrize("after", ["x", "-1", str(2**70)])
def test_after_must_be_an_events_number(api: APIClient, job: Job, after: str) -> None:
    answer = api.get(f"/api/v1/jobs/{job.id}/events", {"after": after})
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "after")


def test_generations_tell_their_reason_and_the_planners_numbers(api: APIClient, job: Job) -> None:
    run(job, workers=2)
    generation(job, 1, ended_at=job.submitted_at + timedelta(seconds=5), message="Because.")
    generation(job, 2, revision=7)
    first, second = items(api, job, "generations")
    assert (first["number"], first["message"], first["decision"]) == (
        1,
        "Because.",
        {"price": 0.25},
    )
    assert (second["ended_at"], second["decision"]) == (None, {})


def test_generations_tell_for_how_long_nothing_trained_before(api: APIClient, job: Job) -> None:
    run(job, workers=1)
    began = generation(job, 1).began_at
    ended = began + timedelta(seconds=5)
    Generation.objects.update(ended_at=ended)
    generation(job, 2, began_at=ended + timedelta(seconds=8))
    assert [one["idle_seconds"] for one in items(api, job, "generations")] == [0.0, 8.0]


def test_workers_tell_their_node_and_gpus(api: APIClient, job: Job) -> None:
    made = run(job, workers=2)
    first, second = items(api, job, "workers")
    assert [first["id"], second["id"]] == [worker.id for worker in made]
    assert (first["node"], first["gpu_indices"], first["phase"]) == ("node-1", [0], "starting")
    assert second["gpu_indices"] == [1]


def points(job: Job, count: int) -> None:
    MetricPoint.objects.bulk_create(
        MetricPoint(
            job=job,
            at=job.submitted_at + timedelta(seconds=step),
            generation=1,
            step=step,
            epoch=0.0,
            samples=step,
            samples_per_second=1.0,
            step_seconds=1.0,
            compute_seconds=1.0,
            communication_seconds=0.0,
            learning_rate=0.1,
            values={"loss": None},
        )
        for step in range(1, count + 1)
    )


def test_few_metrics_all_come_with_the_size_of_their_generation(api: APIClient, job: Job) -> None:
    generation(job, 1, workers=3, global_batch_size=96)
    points(job, 4)
    found = items(api, job, "metrics")
    assert [point["step"] for point in found] == [1, 2, 3, 4]
    assert {(point["workers"], point["global_batch_size"]) for point in found} == {(3, 96)}
    assert found[0]["values"] == {"loss": None}


@pytest.mark.parametrize(("stored", "asked"), [(10, 3), (100, 7), (1000, 999), (5, 5), (50, 1)])
def test_many_metrics_are_thinned_evenly_and_end_with_the_newest(
    api: APIClient, job: Job, stored: int, asked: int
) -> None:
    points(job, stored)
    steps = [point["step"] for point in items(api, job, "metrics", points=asked)]
    assert len(steps) == asked
    assert steps[-1] == stored
    gaps = {after - before for before, after in pairwise(steps)}
    assert not gaps or max(gaps) - min(gaps) <= 1


def test_metrics_of_an_unknown_generation_have_no_size(api: APIClient, job: Job) -> None:
    points(job, 1)
    assert items(api, job, "metrics")[0]["workers"] is None


@pytest.mark.parametrize("asked", ["0", "100000", "x", ""])
def test_points_are_bounded(api: APIClient, job: Job, asked: str) -> None:
    answer = api.get(f"/api/v1/jobs/{job.id}/metrics", {"points": asked})
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "points")


def point(job: Job, number: int, *, at: datetime, step: int, samples: int) -> None:
    """What a generation reported at one moment."""
    MetricPoint.objects.create(
        job=job,
        at=at,
        generation=number,
        step=step,
        samples=samples,
        epoch=0.0,
        samples_per_second=1.0,
        step_seconds=0.1,
        compute_seconds=0.1,
        communication_seconds=0.0,
        learning_rate=0.1,
    )


def test_a_rescale_is_told_with_what_was_predicted_and_what_was_measured(
    api: APIClient, job: Job
) -> None:
    began = job.submitted_at
    workers = run(job, workers=2)
    grown = assign(job, workers, batch=64, reason="scaling_efficient")
    numbers = {"kind": "rescaled", "gain": 0.31, "stall_seconds": 0.5}
    Assignment.objects.filter(pk=grown.pk).update(decision={"explanation": numbers})
    generation(job, 1, revision=1)
    generation(job, 2, revision=2, began_at=began + timedelta(seconds=10), stall_seconds=0.4)
    for number, speed in ((1, 100), (2, 127)):
        for second in range(3):
            at = began + timedelta(seconds=10 * number + second)
            point(job, number, at=at, step=10 * number + second, samples=speed * second)
    first, second_ = api.get(f"/api/v1/jobs/{job.id}/generations").json()["items"]
    assert (first["predicted_gain"], first["measured_gain"]) == (None, None)
    assert (second_["predicted_gain"], second_["predicted_stall_seconds"]) == (0.31, 0.5)
    assert second_["measured_gain"] == pytest.approx(0.27)
    assert second_["stall_seconds"] == 0.4


def test_over_a_failure_and_before_three_reports_no_gain_is_measured(
    api: APIClient, job: Job
) -> None:
    began = job.submitted_at
    for number, attempt in ((1, 1), (2, 2), (3, 2)):
        generation(job, number, attempt=attempt)
        for second in range(3 if number < 3 else 2):
            at = began + timedelta(seconds=10 * number + second)
            point(job, number, at=at, step=10 * number + second, samples=100 * second)
    items = api.get(f"/api/v1/jobs/{job.id}/generations").json()["items"]
    assert [one["measured_gain"] for one in items] == [None, None, None]


def test_only_admins_read_the_names_of_other_teams_jobs_in_a_generation(
    api: APIClient, admin_user: User, job: Job
) -> None:
    told = assign(job, run(job, workers=2), batch=64, reason="reclaim_guarantee")
    Assignment.objects.filter(pk=told.pk).update(message_for_admins="Gives way to bert.")
    generation(job, 1, revision=told.revision, message=told.message)
    generation(job, 2, revision=told.revision, message="A worker was lost.")
    admin = APIClient()
    admin.force_authenticate(admin_user)

    def messages(client: APIClient) -> list[str]:
        return [one["message"] for one in items(client, job, "generations")]

    assert messages(api) == [told.message, "A worker was lost."]
    assert messages(admin) == ["Gives way to bert.", "A worker was lost."]
