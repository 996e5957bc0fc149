"""Is GET /jobs/{id}/logs as promised, at once and followed?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async
from cluster.log_store import path_of
from cluster.models import Node, Pool
from control_plane.api import logs
from control_plane.api.final_jobs import FinalJobs
from django.conf import settings
from django.db import connection, connections
from django.test import AsyncClient
from rest_framework.test import APIClient

from jobs.lifecycle import State
from jobs.models import Job
from tests.service.conftest import client_of, make_team, spec

STAMP = "2026-11-21T07:33:{second:02}.000000Z"


def write(job: Job, worker: str, *lines: str, second: int = 0) -> None:
    path: Path = path_of(worker, job_id=job.id, state_dir=settings.CONCERTINA.state_dir)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        for number, text in enumerate(lines):
            file.write(f"{STAMP.format(second=second + number)} stdout {text}\n")


def test_lines_of_all_workers_come_in_order_of_time(api: APIClient, job: Job) -> None:
    write(job, f"{job.id}-1-1", "one", "three", second=1)
    write(job, f"{job.id}-1-2", "zero", second=0)
    items = api.get(f"/api/v1/jobs/{job.id}/logs").json()["items"]
    assert [line["text"] for line in items] == ["zero", "one", "three"]
    assert items[0] == {
        "at": "2026-11-21T07:33:00Z",
        "worker": f"{job.id}-1-2",
        "stream": "stdout",
        "text": "zero",
    }


def test_one_worker_and_the_last_lines_can_be_asked_for(api: APIClient, job: Job) -> None:
    write(job, f"{job.id}-1-1", "a", "b", "c")
    write(job, f"{job.id}-1-2", "d", second=9)
    url = f"/api/v1/jobs/{job.id}/logs"

    def texts(**query: object) -> list[str]:
        return [line["text"] for line in api.get(url, query).json()["items"]]

    assert texts(worker=f"{job.id}-1-1") == ["a", "b", "c"]
    assert texts(tail=2) == ["c", "d"]
    assert texts(worker="nobody") == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"worker": "../../etc/passwd"}, "worker"),
        ({"worker": "a/b"}, "worker"),
        ({"tail": "0"}, "tail"),
        ({"tail": "1000000"}, "tail"),
        ({"follow": "perhaps"}, "follow"),
    ],
)
def test_a_bad_parameter_is_named(
    api: APIClient, job: Job, query: dict[str, str], field: str
) -> None:
    answer = api.get(f"/api/v1/jobs/{job.id}/logs", query)
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, field)


@sync_to_async
def finish(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(state=State.COMPLETED)
    connection.close()  # this thread's own


@pytest.fixture
def followed(transactional_db: None) -> Iterator[tuple[Job, dict[str, str]]]:
    """A job whose rows other threads can see, and the headers to ask for it."""
    pool = Pool.objects.create(name="default")
    Node.objects.create(pool=pool, name="node-1", gpus=4)
    client = client_of(make_team("vision", pool, guaranteed=2, limit=None))
    made = client.post("/api/v1/jobs", spec(), format="json").json()
    authorization = client._credentials["HTTP_AUTHORIZATION"]  # noqa: SLF001 - it has no reader
    yield Job.objects.get(pk=made["id"]), {"Authorization": authorization}
    connection.close()


def test_followed_lines_arrive_as_they_are_written_until_the_job_ends(
    followed: tuple[Job, dict[str, str]],
) -> None:
    job, headers = followed
    write(job, f"{job.id}-1-1", "before")

    async def follow() -> list[str]:
        answer = await AsyncClient().get(
            f"/api/v1/jobs/{job.id}/logs", {"follow": "true"}, headers=headers
        )
        assert answer.headers["Content-Type"] == "text/event-stream"
        stream: AsyncIterator[bytes] = aiter(answer.streaming_content)  # type: ignore[arg-type]  # async here
        events = []
        async for event in stream:
            events.append(event.decode())
            if "before" in events[-1]:
                write(job, f"{job.id}-1-2", "later", second=5)
            if "later" in events[-1]:
                await finish(job)
        return events

    hello, before, later, end = asyncio.run(asyncio.wait_for(follow(), timeout=90))
    assert hello.startswith(":")
    assert json.loads(before.removeprefix("data: "))["text"] == "before"
    assert json.loads(later.removeprefix("data: "))["worker"] == f"{job.id}-1-2"
    assert end == "event: end\ndata: {}\n\n"


def test_a_followed_log_may_begin_with_its_last_lines_and_is_kept_alive(
    followed: tuple[Job, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    job, headers = followed
    monkeypatch.setattr(logs, "KEEP_ALIVE_SECONDS", 0.0)
    write(job, f"{job.id}-1-1", "one", "two", "three")

    async def follow() -> list[str]:
        query = {"follow": "true", "tail": "2"}
        answer = await AsyncClient().get(f"/api/v1/jobs/{job.id}/logs", query, headers=headers)
        stream: AsyncIterator[bytes] = aiter(answer.streaming_content)  # type: ignore[arg-type]  # async here
        events = []
        async for event in stream:
            events.append(event.decode())
            if len(events) == 4:  # nothing was written, and still something was sent
                await finish(job)
        return events

    events = asyncio.run(asyncio.wait_for(follow(), timeout=90))
    data = [event.removeprefix("data: ") for event in events if event.startswith("data")]
    assert [json.loads(line)["text"] for line in data] == ["two", "three"]
    assert events[3] == ": nothing new\n\n"


def test_a_stream_outlives_a_database_that_is_away(
    followed: tuple[Job, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    job, _ = followed

    async def is_final() -> bool:
        final_jobs = FinalJobs()
        final_jobs.follow(job.id)
        return await final_jobs.is_final(job.id)

    Job.objects.filter(pk=job.pk).update(state=State.COMPLETED)
    with monkeypatch.context() as away:
        away.setitem(connections.settings["default"], "HOST", "/nowhere")
        assert not asyncio.run(is_final())
    assert asyncio.run(is_final())


def test_following_a_foreign_job_looks_like_a_missing_one(foreign_api: APIClient, job: Job) -> None:
    answer = foreign_api.get(f"/api/v1/jobs/{job.id}/logs", {"follow": "true"})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
