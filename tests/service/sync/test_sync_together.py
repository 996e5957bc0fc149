"""Are reports of several jobs stored in one transaction, and does each fail for itself alone?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.commands.observations.sync import HELD, ArrivedReport, Outcome, record_syncs
from jobs.errors import CoordinatorReplaced, JobNotFound, JobOver
from jobs.lifecycle import JobState
from jobs.models import Event, Generation, GpuClaim, Job, Measurement, MetricPoint, Worker
from jobs.reports.job_token import Credential
from jobs.reports.sync_report import CheckedSyncReport
from tests.service.at_once import ask_at_once
from tests.service.conftest import SubmitJob, run
from tests.service.syncing import began, measured, metric, report


def arrived(job_id: str, **changes: Any) -> ArrivedReport:
    body = CheckedSyncReport.model_validate(report(**changes))
    return ArrivedReport(job_id=job_id, report=body, credential=Credential(term=body.term))


def tell(*told: ArrivedReport) -> dict[str, Outcome]:
    return record_syncs(told, now=timezone.now())


@pytest.fixture
def running(submit: SubmitJob) -> list[tuple[Job, list[Worker]]]:
    """Jobs whose first generations train."""
    jobs = [submit(name=f"job-{number}") for number in range(4)]
    made = []
    for job in jobs:
        workers = run(job, workers=1)
        GpuClaim.objects.all().delete()  # all of them have the first
        made.append((job, workers))
        tell(arrived(job.id, generation=1, generations=[began(1, workers)]))
    return made


def progress(job: Job, workers: Sequence[Worker], step: int, **values: float) -> ArrivedReport:
    seen = [{"worker_id": one.id, "phase": "training", "compute_seconds": step} for one in workers]
    return arrived(
        job.id,
        generation=1,
        workers=seen,
        metrics=[metric(step, values=values), metric(step + 1)],
        measurements=[measured(1, 64, steps=step)],
    )


Running = list[tuple[Job, list[Worker]]]


def test_reports_of_many_jobs_take_as_many_statements_as_one(running: Running) -> None:
    def told(chosen: Running, step: int) -> list[str]:
        with CaptureQueriesContext(connection) as captured:
            answers = tell(*(progress(job, workers, step) for job, workers in chosen))
        assert all(answer["revision"] == 1 for answer in answers.values())  # type: ignore[index]
        return [one["sql"].split()[0] for one in captured]

    assert told(running[:1], 10) == ["SAVEPOINT", "SELECT", "WITH", "RELEASE"]
    assert told(running, 20) == ["SAVEPOINT", "SELECT", "WITH", "RELEASE"]


def test_each_job_keeps_its_own(running: Running) -> None:
    told = [progress(*one, 10 * number) for number, one in enumerate(running, start=1)]
    for _ in range(2):  # what is repeated changes nothing
        tell(*told)
        for number, (job, workers) in enumerate(running, start=1):
            job.refresh_from_db()
            steps = list(MetricPoint.objects.filter(job=job).values_list("step", flat=True))
            assert steps == [10 * number, 10 * number + 1]
            assert (job.step, job.metric_points, job.is_measured) == (10 * number + 1, 2, True)
            assert Measurement.objects.get(job=job).steps == 10 * number
            assert Worker.objects.get(pk=workers[0].pk).compute_seconds == 10 * number


def test_a_worker_of_another_job_that_reports_as_well_is_out_of_reach(running: Running) -> None:
    (first, _), (second, workers) = running[:2]
    tell(progress(first, workers, 10), progress(second, [], 10))
    assert Worker.objects.get(pk=workers[0].pk).compute_seconds is None


def test_who_is_refused_is_refused_alone(running: Running) -> None:
    (good, workers), (over, _), (replaced, _), _ = running
    Job.objects.filter(pk=over.pk).update(state=JobState.CANCELLED)
    answers = tell(
        arrived("nothing"),
        progress(over, [], 10),
        arrived(replaced.id, term=7),
        progress(good, workers, 10),
    )
    assert isinstance(answers["nothing"], JobNotFound)
    assert isinstance(answers[over.id], JobOver)
    assert isinstance(answers[replaced.id], CoordinatorReplaced)
    assert answers[good.id]["action"] == "run"  # type: ignore[index]
    assert set(MetricPoint.objects.values_list("job", flat=True)) == {good.id}


def test_a_clock_of_the_service_that_steps_loses_and_doubles_nothing(running: Running) -> None:
    job, workers = running[0]
    for step, hours in ((10, 0), (20, -3), (20, -3), (30, 5), (40, 0)):
        told = progress(job, workers, step)
        answer = record_syncs([told], now=timezone.now() + timedelta(hours=hours))[job.id]
        assert answer["action"] == "run"  # type: ignore[index]
    job.refresh_from_db()
    steps = list(MetricPoint.objects.filter(job=job).values_list("step", flat=True))
    assert steps == [10, 11, 20, 21, 30, 31, 40, 41]
    assert (job.step, job.metric_points, job.state) == (41, 8, JobState.RUNNING)


def refuse_points_of(job: Job, how: str) -> None:
    """Let the database fail when a point of the job is stored."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION fail_for_one() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN IF NEW.job_id = '{job.id}' THEN {how}; END IF; RETURN NEW; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER fail_for_one BEFORE INSERT ON jobs_metricpoint"
            " FOR EACH ROW EXECUTE FUNCTION fail_for_one()"
        )


@pytest.mark.parametrize(
    "how", ["RAISE EXCEPTION 'bad data'", "PERFORM pg_sleep(60)"], ids=["fails", "takes too long"]
)
def test_what_fails_for_one_job_is_stored_for_all_others(running: Running, how: str) -> None:
    bad, _ = running[0]
    refuse_points_of(bad, how)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = '500ms'")
    lost = began(2, running[1][1], cause="worker_lost", lost_workers=["gone"])
    others = [progress(job, workers, 10) for job, workers in running[2:]]
    begins = arrived(running[1][0].id, generation=2, generations=[lost], metrics=[metric(5)])
    answers = tell(progress(bad, [], 10), begins, *others)
    assert isinstance(answers.pop(bad.id), Exception)
    assert all(answer["action"] == "run" for answer in answers.values())  # type: ignore[index]
    stored = set(MetricPoint.objects.values_list("job", flat=True))
    assert stored == {job.id for job, _ in running[1:]}
    # Nothing is doubled by what was written before it failed.
    assert Event.objects.filter(kind="workers_lost").count() == 1
    assert Generation.objects.filter(number=2).count() == 1


def test_a_database_that_is_away_is_not_asked_for_each(running: Running) -> None:
    asked = 0

    def gone(*_: object) -> None:
        nonlocal asked
        asked += 1
        raise OperationalError("server closed the connection unexpectedly")

    with connection.execute_wrapper(gone):
        answers = tell(*(progress(job, workers, 10) for job, workers in running))
    assert len(answers) == 4
    assert all(isinstance(answer, OperationalError) for answer in answers.values())
    assert asked == 3  # together, and for two


@pytest.mark.django_db(transaction=True)
def test_nobody_waits_for_the_row_that_somebody_else_holds(running: Running) -> None:
    (held, held_workers), (free, workers), *_ = running

    def hold() -> None:
        Job.objects.select_for_update(no_key=True).get(pk=held.pk)

    told = (progress(held, held_workers, 10), progress(free, workers, 10))
    _, answers = ask_at_once(hold, lambda: tell(*told))
    assert answers[held.id] == HELD
    assert answers[free.id]["action"] == "run"  # type: ignore[index]
    assert tell(told[0])[held.id]["action"] == "run"  # type: ignore[index]
    assert set(MetricPoint.objects.values_list("job", flat=True)) == {held.id, free.id}
