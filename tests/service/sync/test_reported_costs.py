"""Does what a change cost, and how fast each worker is, reach the people who ask?"""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.models import F
from rest_framework.test import APIClient

from jobs.models import Event, Generation, Job, Worker
from tests.service.jobs.test_histories import items
from tests.service.syncing import began, report, sync

SLOW = {"compute_seconds": 0.2, "samples_per_second": 40.0, "relative_speed": 0.6}


def told(worker: Worker, **changes: Any) -> dict[str, Any]:
    return {"worker_id": worker.id, "phase": "training", **changes}


def test_a_change_tells_what_it_cost(api: APIClient, job: Job, workers: list[Worker]) -> None:
    cost = {"stall_seconds": 0.25, "transfer_seconds": 0.5}
    sync(job, report(generation=1, generations=[began(1, workers, **cost)]))
    (generation,) = items(api, job, "generations")
    assert {name: generation[name] for name in cost} == cost
    (event,) = [one for one in items(api, job, "events") if one["new_state"] == "running"]
    assert event["data"] == {
        "generation": 1,
        "revision": 1,
        **cost,
        "lost_steps": 0,
        "lost_work_seconds": 0.0,
    }


def test_only_scripts_that_report_nothing_have_costs_of_a_restart(
    api: APIClient, job: Job, workers: list[Worker]
) -> None:
    sync(job, report(generation=1, generations=[began(1, workers)]))
    assert items(api, job, "generations")[0]["restart"] is None
    assert api.get(f"/api/v1/jobs/{job.id}/explain").json()["changes"][0]["cost"] == ""


def test_what_a_restart_cost_is_told_apart_from_what_is_not_known(
    api: APIClient, job: Job, workers: list[Worker]
) -> None:
    sync(job, report(generation=1, generations=[began(1, workers)]))
    generations = Generation.objects.filter(job=job)
    generations.update(restart_ordered_at=F("began_at"))
    unknown = items(api, job, "generations")[0]["restart"]
    assert {unknown[name] for name in ("seconds", "repeated_units", "repeated_seconds")} == {None}
    assert unknown["message"] == "Not known yet: its log has not been asked."
    generations.update(
        restart_seconds=12.5,
        restart_sign="iteration",
        repeated_units=0.0,
        repeated_unit="iteration",
        repeated_seconds=0.0,
        restart_message="No number came twice.",
    )
    known = items(api, job, "generations")[0]["restart"]
    assert (known["seconds"], known["repeated_seconds"]) == (12.5, 0.0)
    (change,) = api.get(f"/api/v1/jobs/{job.id}/explain").json()["changes"]
    assert change["cost"] == known["message"] == "No number came twice."


def test_a_loss_tells_who_was_lost_and_what_it_cost(
    api: APIClient, job: Job, workers: list[Worker]
) -> None:
    first, lost = workers
    survived = {"cause": "worker_lost", "lost_workers": [lost.id], "stall_seconds": 0.5}
    told_of = [began(1, workers), began(2, [first], **survived)]
    sync(job, report(generation=2, generations=told_of))
    assert items(api, job, "generations")[-1]["lost_worker_ids"] == [lost.id]
    event = Event.objects.get(job=job, kind="workers_lost")
    assert (event.data["workers"], event.data["stall_seconds"]) == ([lost.id], 0.5)


def test_steps_made_again_are_an_event(api: APIClient, job: Job, workers: list[Worker]) -> None:
    lost = {"lost_steps": 60, "lost_work_seconds": 30.0, "step": 40}
    sync(job, report(generation=1, generations=[began(1, workers, **lost)]))
    assert items(api, job, "generations")[0]["lost_steps"] == 60
    assert Event.objects.get(job=job, kind="work_lost").message == (
        "Goes on from the checkpoint of step 40: 60 newer steps, 30.0 s of work, are made again."
    )


def test_a_jobs_totals_are_those_of_all_its_generations(
    api: APIClient, job: Job, workers: list[Worker]
) -> None:
    lost = {"lost_steps": 2, "lost_work_seconds": 3.0}
    told_of = [began(1, workers), began(21, workers, **lost), began(31, workers, **lost)]
    sync(job, report(generation=31, generations=told_of))
    Generation.objects.filter(number=31).update(ended_at=Generation.objects.get(number=31).began_at)
    answer = api.get(f"/api/v1/jobs/{job.id}").json()
    assert (answer["stall_seconds"], answer["longest_stall_seconds"]) == (0.375, 0.125)
    assert (answer["lost_work_seconds"], answer["trained_seconds"]) == (6.0, 30.0)


def test_a_job_that_never_trained_cost_nothing(api: APIClient, job: Job) -> None:
    answer = api.get(f"/api/v1/jobs/{job.id}").json()
    names = ("stall_seconds", "lost_work_seconds", "trained_seconds")
    assert [answer[name] for name in names] == [0.0, 0.0, 0.0]


def test_workers_tell_their_speed(api: APIClient, job: Job, workers: list[Worker]) -> None:
    first, second = workers
    gpu = {"gpu_utilisation": 0.9, "gpu_memory_bytes": 2**33, "gpu_memory_total_bytes": 2**34}
    sync(job, report(workers=[told(first, **SLOW, **gpu), told(second)]))
    measured, unmeasured = items(api, job, "workers")
    expected = {**SLOW, **gpu, "is_straggler": False}
    assert {name: measured[name] for name in expected} == expected
    assert {unmeasured[name] for name in (*SLOW, *gpu)} == {None}


def test_what_is_not_told_of_a_worker_this_time_is_as_it_was(
    api: APIClient, job: Job, workers: list[Worker]
) -> None:
    sync(job, report(workers=[told(workers[0], **SLOW)]))
    sync(job, report(workers=[told(workers[0])]))
    assert items(api, job, "workers")[0]["relative_speed"] == 0.6


def test_numbers_that_make_no_sense_cost_a_worker_nothing_else(
    job: Job, workers: list[Worker]
) -> None:
    nonsense = {"compute_seconds": -1.0, "relative_speed": "fast", "gpu_memory_bytes": 1e30}
    sync(job, report(workers=[told(workers[0], **nonsense)]))
    stored = Worker.objects.get(pk=workers[0].id)
    assert (stored.phase, stored.compute_seconds, stored.relative_speed) == ("training", None, None)


def test_a_straggler_is_an_event_once(job: Job, workers: list[Worker]) -> None:
    slow, other = workers
    body = report(workers=[told(slow, **SLOW, is_straggler=True), told(other)])
    sync(job, body)
    sync(job, body)
    event = Event.objects.get(job=job, kind="straggler_found")
    assert event.message == (
        f"{slow.id} on node node-1 is 40 % slower than the median of the job's workers."
    )
    told_of = {"worker": slow.id, "node": "node-1", "gpus": [0]}
    assert event.data == {**told_of, "relative_speed": 0.6}
    sync(job, report(workers=[told(slow, **SLOW, is_straggler=False)]))
    assert not Worker.objects.get(pk=slow.id).is_straggler


def test_unchanged_speeds_are_not_written_again(job: Job, workers: list[Worker]) -> None:
    def versions() -> list[object]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT id, ctid FROM jobs_worker ORDER BY id")
            return list(cursor.fetchall())

    body = report(workers=[told(worker, **SLOW) for worker in workers])
    sync(job, body)
    before = versions()
    sync(job, body)
    assert versions() == before
    sync(job, report(workers=[told(workers[1], **SLOW | {"compute_seconds": 0.3})]))
    assert versions()[0] == before[0]
    assert versions()[1] != before[1]
