"""A small cluster of two teams, and clients that speak for each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import redis
from cluster.docker_host.kind import DockerKind
from cluster.models import Node, Pool
from cluster.variables import EnvironmentVariables
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy.access.keys import tokens
from tenancy.audit.kinds import KINDS
from tenancy.models import Quota, Team

from jobs.lifecycle import JobState
from jobs.models import Assignment, Generation, GpuClaim, Job, Worker

SubmitJob = Callable[..., Job]


@pytest.fixture
def pool(db: None) -> Pool:
    made = Pool.objects.create(name="default")
    for number in (1, 2):
        Node.objects.create(pool=made, name=f"node-{number}", gpus=4)
    return made


def in_docker(settings: Settings, **variables: str) -> None:
    """An installation whose workers are containers."""
    kind = DockerKind.read(EnvironmentVariables(variables), host_id="test")
    settings.CONCERTINA = replace(django_settings.CONCERTINA, worker_host=kind)


@pytest.fixture
def vision(pool: Pool) -> Team:
    return make_team("vision", pool, guaranteed=4, limit=6)


@pytest.fixture
def language(pool: Pool) -> Team:
    return make_team("language", pool, guaranteed=2, limit=None)


def make_team(name: str, pool: Pool, *, guaranteed: int, limit: int | None) -> Team:
    team = Team.objects.create(name=name)
    Quota.objects.create(team=team, pool=pool, guaranteed_gpus=guaranteed, limit_gpus=limit)
    return team


@pytest.fixture
def api(vision: Team) -> APIClient:
    """A program with a token of team vision."""
    return client_of(vision)


@pytest.fixture
def foreign_api(language: Team) -> APIClient:
    """A program with a token of team language."""
    return client_of(language)


def client_of(team: Team, *, name: str = "ci") -> APIClient:
    _, key = tokens.issue(team=team, name=name)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    return client


@pytest.fixture
def admin_user(db: None) -> User:
    return User.objects.create_superuser("root", password="a long password")


@pytest.fixture(autouse=True)
def quick_passwords(settings: Settings) -> None:
    """Slow hashes are for passwords that somebody might steal."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def fresh_cache() -> None:
    """Nobody is throttled for what another test did."""
    cache.clear()
    client = _redis(django_settings.CONCERTINA.redis_url)
    if keys := client.keys("concertina:*"):
        client.delete(*keys)


@pytest.fixture(autouse=True)
def fresh_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's refusals are told less of for those of another test in this hour."""
    monkeypatch.setattr(KINDS, "_known", {})


@functools.cache
def _redis(url: str) -> redis.Redis:
    """One connection for all tests: to make one takes as long as some of them."""
    return redis.Redis.from_url(url)


def spec(**changes: Any) -> dict[str, Any]:
    """The spec of a job that fits."""
    return {
        "name": "digits",
        "command": ["python", "train.py"],
        "elastic": {"min_workers": 1, "max_workers": 4},
        "batch": {"global_batch_size": {"base": 64, "max": 512}},
        **changes,
    }


@pytest.fixture
def submit(api: APIClient) -> SubmitJob:
    """Submit a job of team vision; keywords replace parts of its spec."""

    def submit_one(**changes: Any) -> Job:
        answer = api.post("/api/v1/jobs", spec(**changes), format="json")
        assert answer.status_code == 201, answer.json()
        return Job.objects.get(pk=answer.json()["id"])

    return submit_one


@pytest.fixture
def job(submit: SubmitJob) -> Job:
    return submit()


@pytest.fixture
def workers(job: Job) -> list[Worker]:
    """A job that has just been started with two workers."""
    return run(job, workers=2)


def run(job: Job, *, workers: int, batch: int = 64) -> list[Worker]:
    """Bring a job where the control loop brings it when it starts one: claims, workers, plan."""
    node = Node.objects.order_by("name")[0]
    made = [
        Worker.objects.create(id=f"{job.id}-1-{number}", job=job, attempt=1, node=node)
        for number in range(1, workers + 1)
    ]
    for index, worker in enumerate(made):
        GpuClaim.objects.create(node=node, gpu_index=index, worker=worker)
    assign(job, made, batch=batch, reason="job_arrived")
    long_ago = timezone.now() - timedelta(hours=6)  # before all that tests report, however late
    Job.objects.filter(pk=job.pk).update(state=JobState.STARTING, attempt=1, started_at=long_ago)
    job.refresh_from_db()
    return made


def assign(job: Job, workers: list[Worker], *, batch: int, reason: str) -> Assignment:
    """Write the next revision of what the planner wants."""
    revision = job.revision + 1
    Job.objects.filter(pk=job.pk).update(revision=revision)
    job.refresh_from_db()
    return Assignment.objects.create(
        job=job,
        revision=revision,
        attempt=1,
        worker_ids=[worker.id for worker in workers],
        global_batch_size=batch,
        reason=reason,
        message=f"{len(workers)} workers are best.",
        decision={"price": 0.25},
    )


def generation(job: Job, number: int, **changes: Any) -> Generation:
    """A generation that really ran."""
    fields = {
        "attempt": 1,
        "revision": number,
        "workers": 2,
        "worker_ids": [],
        "global_batch_size": 64,
        "reason": "job_arrived",
        "began_at": job.submitted_at,
        **changes,
    }
    return Generation.objects.create(job=job, number=number, **fields)
