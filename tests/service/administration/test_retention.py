"""Is what is old forgotten, and nothing else?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from cluster.models import NodeChange, Pool, UtilisationSample
from cluster.nodes import retention as cluster_retention
from cluster.variables import EnvironmentVariables
from control_plane.configuration import retention_settings
from control_plane.database.batch_deletion import Eraser
from control_plane.tasks import forget_what_is_old
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient
from tenancy.models import Team
from tenancy.models.retention_rule import KeptPart

from autoscaler.control_loop.housekeeping import retention as control_loop_retention
from autoscaler.control_loop.models import Tick
from jobs.commands import quarantine
from jobs.commands.quarantine import Part
from jobs.commands.removal import retention
from jobs.commands.removal.retention_periods import JobRetention
from jobs.models import (
    Assignment,
    Event,
    IdempotencyKey,
    Job,
    Leftover,
    MetricPoint,
    MetricRollup,
    PastUsage,
    Prediction,
    Quarantine,
)
from tests.service.conftest import SubmitJob, run, spec


def days_ago(days: float) -> datetime:
    return timezone.now() - timedelta(days=days)


def metric(job: Job, at: datetime) -> None:
    MetricPoint.objects.create(
        job=job,
        at=at,
        generation=1,
        step=1,
        epoch=0,
        samples=0,
        samples_per_second=0,
        step_seconds=0,
        compute_seconds=0,
        communication_seconds=0,
        learning_rate=0,
    )


@dataclass
class Clock:
    """Time that passes with each look at it."""

    seconds_a_look: float
    now: float = 0.0

    def __call__(self) -> float:
        self.now += self.seconds_a_look
        return self.now


KEPT = retention_settings.read(EnvironmentVariables({})).jobs  # as nobody says otherwise


def forget(eraser: Eraser | None = None, kept: JobRetention = KEPT) -> dict[str, int]:
    eraser = eraser or Eraser(seconds=100.0, clock=Clock(0.0))
    return dict(retention.delete_old(kept, erase=eraser, has_time=eraser.has_time))


def ended(job: Job, days: float) -> Job:
    Job.objects.filter(pk=job.pk).update(
        state="completed", finished_at=days_ago(days), gpu_seconds=60.0, metric_points=10**6
    )
    return job


def metrics(job: Job, count: int) -> None:
    metrics_at(job, list(range(count)))


def metrics_at(job: Job, steps: list[int]) -> None:
    MetricPoint.objects.bulk_create(
        MetricPoint(
            job=job, at=timezone.now(), generation=1, step=step, epoch=0, samples=0,
            samples_per_second=0, step_seconds=0, compute_seconds=0, communication_seconds=0,
            learning_rate=0,
        )
        for step in steps
    )  # fmt: skip


def test_a_days_growth_goes_in_one_run_in_batches_of_a_bounded_size(
    submit: SubmitJob, pool: Pool, vision: Team
) -> None:
    """2,000 of a kind where a batch is 100: no statement deletes more, and all of it goes."""
    job = ended(submit(), 181)
    metrics(job, 2000)
    Event.objects.bulk_create(Event(job=job, kind="noise") for _ in range(2000))
    old = {"pool": pool, "team": vision, "gpus": 1, "guaranteed_gpus": 1}
    UtilisationSample.objects.bulk_create(
        UtilisationSample(**old, at=days_ago(31)) for _ in range(2000)
    )
    eraser = Eraser(seconds=100.0, rows_at_once=100, clock=Clock(0.0))
    with CaptureQueriesContext(connection) as captured:
        cluster_retention.delete_old(timedelta(days=30), erase=eraser)
        forget(eraser)
    deletes = [one["sql"] for one in captured if one["sql"].startswith("DELETE")]
    assert len(deletes) >= 60
    assert all("LIMIT 100" in sql for sql in deletes)
    assert not MetricPoint.objects.exists()
    assert not Event.objects.filter(kind="noise").exists()
    assert not UtilisationSample.objects.exists()


def test_a_run_ends_when_its_time_is_over_and_the_next_goes_on(submit: SubmitJob) -> None:
    job = ended(submit(), 181)
    Event.objects.bulk_create(Event(job=job, kind="noise") for _ in range(500))
    events = Event.objects.filter(job=job)
    left = [events.count()]
    while left[-1]:  # each run has time for one look more than the last: some kinds come before
        forget(Eraser(seconds=float(len(left)), rows_at_once=100, clock=Clock(1.0)))
        left.append(events.count())
        assert len(left) < 200
    assert any(0 < count < left[0] for count in left)
    forget()
    job.refresh_from_db()
    assert job.history_removed_at is not None


def test_what_ended_goes_part_by_part_and_at_last_altogether(submit: SubmitJob) -> None:
    ages = {"a": 1, "b": 91, "c": 181, "d": 731}
    jobs = {name: ended(submit(name=name), age) for name, age in ages.items()}
    for job in jobs.values():
        metrics(job, 3)
    forget()

    def left(kind: Any) -> set[str]:
        return set(kind.objects.values_list("job__name", flat=True))

    assert left(MetricPoint) == {"a"}
    assert left(Event) == {"a", "b"}
    assert set(Job.objects.values_list("name", flat=True)) == {"a", "b", "c"}
    names = {job.id: name for name, job in jobs.items()}
    wishes = {(names[one.job_id], one.part) for one in Leftover.objects.all()}
    of_files = {("d", "files"), *((name, part) for name in "cd" for part in ("work", "outputs"))}
    assert wishes == {("b", "logs"), ("c", "logs"), ("d", "logs"), *of_files}
    assert PastUsage.objects.get().gpu_seconds == 60.0


def test_a_pinned_job_keeps_all_it_has_once_it_has_ended(submit: SubmitJob) -> None:
    """While it lives it is as any other, or it would grow without end. Curves are rolled up."""
    over, live = ended(submit(name="over"), 9999), submit(name="live")
    Job.objects.update(is_pinned=True, metric_points=10**6, revision=10**6)
    kinds = (Event, Assignment, Prediction)

    def left(job: Job) -> list[int]:
        return [kind.objects.filter(job=job).count() for kind in kinds]

    for job in (over, live):
        metrics(job, 30)
        MetricPoint.objects.update(at=days_ago(400))
        Event.objects.create(job=job, kind="straggler_found")
        Assignment.objects.create(
            job=job, revision=1, attempt=1, worker_ids=[], global_batch_size=1, reason=""
        )
        Prediction.objects.create(job=job, kind="start", made_at=days_ago(400))
    Event.objects.update(at=days_ago(9999))
    Assignment.objects.update(at=days_ago(9999))
    had, had_alive = left(over), left(live)
    forget()
    assert left(over) == had
    assert MetricRollup.objects.filter(job=over).exists()
    assert MetricPoint.objects.filter(job=live).count() == 1
    assert not Leftover.objects.exists()
    assert all(now < before for now, before in zip(left(live), had_alive, strict=True))
    Job.objects.update(is_pinned=False)
    forget()
    assert all(now < before for now, before in zip(left(over), had, strict=True))
    assert not MetricRollup.objects.filter(job=over).exists()


def test_what_is_kept_for_ever_is_kept(submit: SubmitJob) -> None:
    job = ended(submit(), 9999)
    metrics(job, 3)
    forget(kept=JobRetention(days=dict.fromkeys(KeptPart, 0), history=None, jobs=None))
    assert MetricPoint.objects.count() == 3
    assert Event.objects.filter(job=job).exists()


def test_of_a_live_job_old_events_go_and_nothing_that_the_control_loop_reads(job: Job) -> None:
    run(job, workers=2)
    Event.objects.create(job=job, kind="worker_failed")
    Event.objects.update(at=days_ago(400))
    Event.objects.create(job=job, kind="preparing")
    Assignment.objects.update(at=days_ago(400))
    forget()
    assert [event.kind for event in Event.objects.filter(job=job)] == ["preparing"]
    assert Assignment.objects.filter(job=job, revision=job.revision).exists()
    assert job.workers.count() == 2


@pytest.mark.django_db
def test_the_newest_tick_stays_for_it_tells_prices() -> None:
    fields = {"fence": 1, "observe_seconds": 0, "plan_seconds": 0, "apply_seconds": 0}
    _, newest = (Tick.objects.create(at=days_ago(days), **fields) for days in (99, 98))
    control_loop_retention.delete_old(timedelta(days=30), erase=Eraser(seconds=9.0))
    assert [one.pk for one in Tick.objects.all()] == [newest.pk]


def test_how_long_is_what_kept_is_said_by_the_environment() -> None:
    told = retention_settings.read(
        EnvironmentVariables(
            {"CONCERTINA_KEEP_LOGS_DAYS": "7", "CONCERTINA_KEEP_CHECKPOINTS_DAYS": "0"}
        )
    )
    assert told.jobs.days[KeptPart.LOGS] == 7
    assert told.jobs.days[KeptPart.CHECKPOINTS] == 0
    assert told.jobs.jobs == timedelta(days=730)


def test_old_curves_samples_and_keys_go_and_the_rest_stays(
    api: APIClient, submit: SubmitJob, pool: Pool, vision: Team
) -> None:
    ended_long_ago, ended, live = submit(name="a"), submit(name="b"), submit(name="c")
    Job.objects.filter(pk=ended_long_ago.pk).update(state="completed", finished_at=days_ago(91))
    Job.objects.filter(pk=ended.pk).update(state="completed", finished_at=days_ago(1))
    for job in (ended_long_ago, ended, live):
        metric(job, days_ago(92))
    for days in (1, 31):
        UtilisationSample.objects.create(
            pool=pool, team=vision, at=days_ago(days), gpus=1, guaranteed_gpus=1
        )
        change = NodeChange.objects.create(kind="lost", pool="default", node=f"n{days}")
        NodeChange.objects.filter(pk=change.pk).update(at=days_ago(days))
    for number in range(2):
        headers = {"Idempotency-Key": f"k{number}"}
        api.post("/api/v1/jobs", spec(name=f"k{number}"), format="json", headers=headers)
    IdempotencyKey.objects.filter(key="k0").update(created_at=days_ago(2))
    for days in (1, 31):
        Tick.objects.create(
            at=days_ago(days), fence=days, observe_seconds=0, plan_seconds=0, apply_seconds=0
        )

    forget_what_is_old()

    assert set(MetricPoint.objects.values_list("job__name", flat=True)) == {"c"}
    assert set(MetricRollup.objects.values_list("job__name", flat=True)) == {"b"}
    assert UtilisationSample.objects.count() == 1
    assert set(NodeChange.objects.filter(kind="lost").values_list("node", flat=True)) == {"n1"}
    assert IdempotencyKey.objects.get().key == "k1"
    assert Tick.objects.get().fence == 1
    assert Job.objects.count() == 5


def test_a_job_that_has_ended_is_no_longer_left_out_of_anything(submit: SubmitJob) -> None:
    ended, live = submit(name="ended"), submit(name="live")
    failing = {job.id: ValueError("bad") for job in (ended, live)}
    quarantine.update(Part.PLANNING, failing=failing, healed=(), now=timezone.now())
    Job.objects.filter(pk=ended.pk).update(state="cancelled", finished_at=timezone.now())
    assert quarantine.count() == 1
    forget_what_is_old()
    assert [row.job_id for row in Quarantine.objects.all()] == [live.id]
