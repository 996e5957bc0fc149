"""Is what is old forgotten, and nothing else?"""

from __future__ import annotations

from datetime import datetime, timedelta

from cluster.models import NodeChange, Pool, UtilisationSample
from control_plane.tasks import forget_what_is_old
from django.utils import timezone
from rest_framework.test import APIClient
from tenancy.models import Team

from autoscaler.control_loop.models import Tick
from jobs.commands import quarantine
from jobs.commands.quarantine import Part
from jobs.models import IdempotencyKey, Job, MetricPoint, Quarantine
from tests.service.conftest import SubmitJob, spec


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

    assert set(MetricPoint.objects.values_list("job__name", flat=True)) == {"b", "c"}
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
