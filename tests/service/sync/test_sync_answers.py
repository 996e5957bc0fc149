"""Does a sync answer with what is wanted, and bring the job's state up to date, once?"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from concertina_worker.protocol import OLD_REST_SECONDS, REST_SECONDS, SOON_SECONDS
from jobs.changes.transitions import move
from jobs.job_mode import JobMode
from jobs.lifecycle import FINAL, JobState
from jobs.models import Event, Generation, Job, Measurement, MetricPoint, Worker
from jobs.worker_phase import WorkerPhase
from tests.service.conftest import SubmitJob, assign, run
from tests.service.syncing import began, measured, metric, report, sync


def test_the_answer_is_the_newest_assignment(job: Job, workers: list[Worker]) -> None:
    answer = sync(job, report())
    assert answer.status_code == 200
    assert answer.json() == {
        "action": "run",
        "revision": 1,
        "attempt": 1,
        "workers": [worker.id for worker in workers],
        "global_batch_size": 64,
        "next_generation": 1,
        "report_after_seconds": 0.5,
        "point_seconds": 10,
    }


@pytest.mark.parametrize("term", [0, 2, 2**31 - 1])
def test_a_coordinator_of_another_term_is_turned_away(
    job: Job, workers: list[Worker], term: int
) -> None:
    Job.objects.filter(pk=job.id).update(coordinator_term=1)
    answer = sync(job, report(term=term, generation=1, generations=[began(1, workers)]))
    assert (answer.status_code, answer.json()["code"]) == (409, "coordinator_replaced")
    assert not Generation.objects.filter(job=job).exists()
    assert sync(job, report(term=1)).status_code == 200


def test_the_job_runs_once_the_newest_revision_trains(job: Job, workers: list[Worker]) -> None:
    sync(job, report())
    job.refresh_from_db()
    assert job.state == JobState.STARTING
    answer = sync(job, report(generation=1, generations=[began(1, workers)]))
    job.refresh_from_db()
    assert (job.state, job.generation, job.rescales) == (JobState.RUNNING, 1, 0)
    assert (job.reason, job.message) == ("job_arrived", "2 workers are best.")
    assert answer.json()["next_generation"] == 2
    made = Generation.objects.get(job=job)
    assert (made.workers, made.reason, made.attempt, made.stall_seconds) == (
        2,
        "job_arrived",
        1,
        0.125,
    )


def test_a_rescale_ends_when_its_revision_trains_and_not_before(
    job: Job, workers: list[Worker]
) -> None:
    sync(job, report(generation=1, generations=[began(1, workers)]))
    assign(job, workers[:1], batch=32, reason="reclaim_guarantee")
    move(job.id, {JobState.RUNNING}, JobState.RESCALING, reason="reclaim_guarantee")
    sync(job, report(generation=1, generations=[began(1, workers)]))
    job.refresh_from_db()
    assert job.state == JobState.RESCALING
    second = began(2, workers[:1], revision=2, global_batch_size=32)
    sync(job, report(revision=2, generation=2, generations=[began(1, workers), second]))
    job.refresh_from_db()
    assert (job.state, job.generation, job.rescales) == (JobState.RUNNING, 2, 1)
    assert job.last_rescaled_at is not None
    first, last = Generation.objects.filter(job=job)
    assert first.ended_at == last.began_at
    assert (last.reason, last.ended_at) == ("reclaim_guarantee", None)


def test_a_repeated_sync_changes_nothing(job: Job, workers: list[Worker]) -> None:
    body = report(
        generation=1,
        generations=[began(1, workers)],
        metrics=[metric(1), metric(2)],
        measurements=[measured(2, 64)],
        workers=[{"worker_id": workers[0].id, "phase": "training"}],
    )
    sync(job, body)
    first = sync(job, body).json()
    counts = _rows(job)
    job.refresh_from_db()
    before = {name: value for name, value in vars(job).items() if name[0] != "_"}
    assert sync(job, body).json() == first
    assert _rows(job) == counts
    job.refresh_from_db()
    after = {name: value for name, value in vars(job).items() if name[0] != "_"}
    changed = {name for name in after if after[name] != before[name]}
    assert changed <= {"coordinator_seen_at"}


def test_a_report_that_arrives_after_a_newer_one_takes_nothing_back(
    job: Job, workers: list[Worker]
) -> None:
    def standing() -> list[Any]:
        job.refresh_from_db()
        workers[0].refresh_from_db()
        names = ("state", "step", "samples", "values", "progress_at", "generation")
        return [workers[0].phase, *(getattr(job, name) for name in names)]

    def reported(step: int, phase: str) -> dict[str, Any]:
        entry = {"worker_id": workers[0].id, "phase": phase}
        points = [metric(step, values={"accuracy": step})]
        began_first = [began(1, workers)]
        return report(generation=1, generations=began_first, metrics=points, workers=[entry])

    sync(job, reported(2, "training"))
    before = standing()
    late = reported(1, "ready")
    for _ in range(2):
        assert sync(job, late).status_code == 200
        assert standing() == before
    assert MetricPoint.objects.filter(job=job).count() == 2


def test_a_job_that_only_trains_reports_more_rarely(job: Job, workers: list[Worker]) -> None:
    def pause(**changes: Any) -> float:
        return float(sync(job, report(generation=1, **changes)).json()["report_after_seconds"])

    assert pause(generations=[began(1, workers)]) == SOON_SECONDS  # it was about to start
    assert pause() == OLD_REST_SECONDS
    assert pause(finished=True) == SOON_SECONDS
    assign(job, workers[:1], batch=32, reason="reclaim_guarantee")
    assert pause() == SOON_SECONDS  # it has not heard of that
    move(job.id, {JobState.RUNNING}, JobState.RESCALING, reason="reclaim_guarantee")
    assert pause(revision=2) == SOON_SECONDS
    move(job.id, {JobState.RESCALING}, JobState.STOPPING, reason="paused_by_user")
    assert pause(revision=2) == SOON_SECONDS


@pytest.mark.parametrize(
    ("age_seconds", "pause", "apart"),
    [(0, REST_SECONDS, 0.0), (60, REST_SECONDS, 2.0), (210, 7.0, 7.0), (9000, 10.0, 10.0)],
)
def test_the_older_a_job_is_the_fewer_points_and_reports_it_makes(
    job: Job, workers: list[Worker], age_seconds: float, pause: float, apart: float
) -> None:
    started_at = timezone.now() - timedelta(seconds=age_seconds)
    Job.objects.filter(pk=job.id).update(started_at=started_at, state=JobState.RUNNING)
    told = sync(job, report(generation=1, generations=[began(1, workers)])).json()
    assert (told["report_after_seconds"], told["point_seconds"]) == (pause, apart)


def _rows(job: Job) -> list[int]:
    kinds = (Generation, MetricPoint, Measurement, Event, Worker)
    return [kind.objects.filter(job=job).count() for kind in kinds]  # type: ignore[attr-defined]  # all have one


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.PAUSED, JobState.STOPPING])
def test_a_job_that_should_not_run_is_told_to_stop(
    job: Job, workers: list[Worker], state: JobState
) -> None:
    Job.objects.filter(pk=job.pk).update(state=state)
    assert sync(job, report()).json()["action"] == "stop"


def test_a_late_report_of_a_job_without_workers_is_kept_and_opens_nothing(
    job: Job, workers: list[Worker]
) -> None:
    Job.objects.filter(pk=job.pk).update(state=JobState.PAUSED)
    sync(job, report(generation=1, generations=[began(1, workers)], metrics=[metric(9)]))
    job.refresh_from_db()
    assert job.state == JobState.PAUSED
    assert Generation.objects.get(job=job).ended_at is not None
    assert MetricPoint.objects.filter(job=job).exists()


@pytest.mark.parametrize("state", sorted(FINAL))
def test_a_report_of_a_job_that_is_over_is_refused(
    job: Job, workers: list[Worker], state: JobState
) -> None:
    Job.objects.filter(pk=job.pk).update(state=state)
    answer = sync(job, report(generations=[began(1, workers)], metrics=[metric(9)]))
    assert (answer.status_code, answer.json()["code"]) == (409, "job_over")
    job.refresh_from_db()
    assert (job.samples, job.generation) == (0, 0)
    assert not MetricPoint.objects.filter(job=job).exists()


def test_a_script_that_registers_makes_an_auto_job_hot(job: Job, workers: list[Worker]) -> None:
    sync(job, report(registered=False))
    job.refresh_from_db()
    assert job.mode == JobMode.AUTO
    sync(job, report())
    sync(job, report())
    job.refresh_from_db()
    assert job.mode == JobMode.HOT
    assert Event.objects.filter(job=job, kind="mode_detected").count() == 1


@pytest.mark.parametrize("mode", ["hot", "restart", "fixed"])
def test_a_declared_mode_stays(submit: SubmitJob, mode: str) -> None:
    job = submit(elastic={"mode": mode})
    run(job, workers=1)
    sync(job, report())
    job.refresh_from_db()
    assert job.mode == mode


def test_survivors_of_a_loss_are_a_generation_with_its_event(
    job: Job, workers: list[Worker]
) -> None:
    sync(job, report(generation=1, generations=[began(1, workers)]))
    lost = began(2, workers[:1], cause="worker_lost", lost_workers=[workers[1].id])
    lost["stall_seconds"] = 0.31
    sync(job, report(generation=2, generations=[lost]))
    made = Generation.objects.get(job=job, number=2)
    assert made.reason == "node_lost"
    assert made.message == f"{workers[1].id} was lost; 1 went on after 0.31 s."
    event = Event.objects.get(job=job, kind="workers_lost")
    assert (event.data["workers"], event.data["generation"]) == ([workers[1].id], 2)


def test_workers_follow_the_coordinators_view_but_stay_gone(
    job: Job, workers: list[Worker]
) -> None:
    third = Worker.objects.create(
        id=f"{job.id}-1-3", job=job, attempt=1, node=workers[0].node, phase=WorkerPhase.GONE
    )
    assign(job, workers[:1], batch=32, reason="reclaim_guarantee")
    sync(
        job,
        report(
            workers=[
                {"worker_id": workers[0].id, "phase": "training"},
                {"worker_id": workers[1].id, "phase": "training", "error": "late\0"},
                {"worker_id": third.id, "phase": "training"},
                {"worker_id": "unknown-1-1", "phase": "training"},
            ]
        ),
    )
    phases = dict(Worker.objects.values_list("id", "phase"))
    assert phases == {
        workers[0].id: "training",
        workers[1].id: "leaving",
        third.id: "gone",
    }
    assert Worker.objects.get(pk=workers[1].id).error == "late"


def test_an_ordinary_sync_reads_the_job_and_writes_all_that_is_new(
    job: Job, workers: list[Worker]
) -> None:
    body = report(
        generation=1,
        generations=[began(1, workers)],
        workers=[{"worker_id": worker.id, "phase": "training"} for worker in workers],
    )
    sync(job, body)
    seen = [{"worker_id": one.id, "phase": "training", "compute_seconds": 0.5} for one in workers]
    body |= {"generations": [], "workers": seen}
    body |= {"metrics": [metric(3), metric(4)], "measurements": [measured(2, 64)]}
    with CaptureQueriesContext(connection) as captured:
        assert sync(job, body).status_code == 200
    told = [one["sql"].split()[0] for one in captured]
    assert told == ["SAVEPOINT", "SELECT", "WITH", "RELEASE"]
    assert MetricPoint.objects.filter(job=job).count() == 2
    assert Measurement.objects.filter(job=job).exists()
    assert set(Worker.objects.values_list("compute_seconds", flat=True)) == {0.5}
