"""Does what one team's jobs report change what others are told, predicted or given?"""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from cluster.models import Node, Pool
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient
from tenancy.models import Team

from autoscaler.control_loop.observe.for_planner.change_times import ChangeTimes
from autoscaler.predictions.recent_past import past_until
from jobs.lifecycle import JobState
from jobs.models import Event, Job, Worker
from jobs.queries.stragglers import believed_gpus, said_of_gpus, slow_nodes
from tests.service.conftest import SubmitJob, generation, spec


def slow_gpus(now: datetime, *, team: int) -> frozenset[tuple[str, int]]:
    return believed_gpus(said_of_gpus(now), team=team)


@pytest.fixture
def theirs(foreign_api: APIClient, language: Team) -> Job:
    made = foreign_api.post("/api/v1/jobs", spec(name="theirs"), format="json")
    return Job.objects.get(pk=made.json()["id"])


def _slow(job: Job, worker: str, node: str = "node-1") -> None:
    Worker.objects.create(
        id=f"{job.id}-{worker}",
        job=job,
        attempt=1,
        node=Node.objects.get(name=node),
        straggler_found_at=timezone.now(),
        straggler_gpus=[0],
    )


def test_a_node_is_slow_for_others_once_two_teams_say_so(
    job: Job, theirs: Job, vision: Team, language: Team
) -> None:
    now = timezone.now() + timedelta(seconds=1)
    for worker in ("a", "b", "c"):
        _slow(theirs, worker)
    assert slow_nodes(now, team=language.pk) == ("node-1",)
    assert slow_gpus(now, team=language.pk) == {("node-1", 0)}
    assert (slow_nodes(now, team=vision.pk), slow_gpus(now, team=vision.pk)) == ((), frozenset())
    _slow(job, "d")
    assert slow_nodes(now, team=vision.pk) == ("node-1",)
    assert slow_gpus(now, team=vision.pk) == {("node-1", 0)}


def test_nodes_show_a_team_what_its_own_jobs_said_and_admins_everything(
    api: APIClient, foreign_api: APIClient, admin_user: object, theirs: Job
) -> None:
    _slow(theirs, "a")
    admin_api = APIClient()
    admin_api.force_authenticate(admin_user)
    seen = {}
    for who, client in (("ours", api), ("theirs", foreign_api), ("admin", admin_api)):
        nodes = client.get("/api/v1/nodes").json()["items"]
        seen[who] = next(one["stragglers"] for one in nodes if one["name"] == "node-1")
    assert seen == {"ours": 0, "theirs": 1, "admin": 1}


def test_stalls_of_one_team_are_not_expected_of_the_jobs_of_others(
    job: Job,
    theirs: Job,
    vision: Team,
    language: Team,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    """Their own team believes them; of another's changes nobody knows more than before."""
    Job.objects.filter(pk=theirs.pk).update(samples_per_second=64.0, model_bytes=10**6)
    _slow(theirs, "a")
    for number in range(1, 60):
        generation(theirs, number, stall_seconds=1e6, worker_ids=[f"{theirs.pk}-a"])
    with django_assert_max_num_queries(4):
        changes = ChangeTimes.of([job.pk])
    assert changes.own_seconds == {}
    assert changes.ratio(frozenset({"node-1"}), is_hot=True, team_id=vision.pk) is None
    theirs_say = changes.ratio(frozenset({"node-1"}), is_hot=True, team_id=language.pk)
    assert theirs_say is not None
    assert theirs_say > 1e5
    assert changes.ratio(frozenset({"node-2"}), is_hot=True, team_id=language.pk) is None
    assert changes.ratio(frozenset({"node-1"}), is_hot=False, team_id=language.pk) is None


def test_jobs_of_one_team_are_not_all_of_the_past(
    submit: SubmitJob, theirs: Job, pool: Pool
) -> None:
    now = timezone.now()
    ours = submit(name="ours")
    others = [theirs]
    for number in range(34):
        copy = Job.objects.get(pk=theirs.pk)
        copy.pk, copy.name = f"copy{number}", f"copy{number}"
        copy.save(force_insert=True)
        others.append(copy)
    for age, one in enumerate((*others, ours)):
        Job.objects.filter(pk=one.pk).update(
            state=JobState.COMPLETED,
            started_at=now - timedelta(hours=2),
            finished_at=now - timedelta(minutes=age),
            samples=10**15,
            total_samples=100,
        )
    past = past_until(now)
    assert len(past.ended) == 11
    assert {one.samples for one in past.ended} == {1000.0}


def test_stalls_in_the_summary_are_of_the_teams_that_ask(
    api: APIClient, foreign_api: APIClient, job: Job, theirs: Job
) -> None:
    generation(job, 2, stall_seconds=0.5)
    generation(theirs, 2, stall_seconds=1e6)
    assert api.get("/api/v1/cluster/summary").json()["longest_stall_seconds"] == 0.5
    assert foreign_api.get("/api/v1/cluster/summary").json()["longest_stall_seconds"] == 1e6
    assert Event.objects.filter(job=job).exists()
    assert Node.objects.exists()
