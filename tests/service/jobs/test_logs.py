"""Is GET /jobs/{id}/logs as promised, at once and followed?"""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async
from cluster.logs.log_files import path_of
from cluster.models import Node, Pool
from control_plane.api.logs import event_stream, final_jobs, followed_grants, stream, stream_slots
from control_plane.api.logs.final_jobs import FinalJobs
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection, connections
from django.http.response import HttpResponseBase
from django.test import AsyncClient, Client
from django.utils import timezone
from rest_framework.test import APIClient
from tenancy.access import grants
from tenancy.access.grants import Grant
from tenancy.access.keys import tokens
from tenancy.models import Membership, Token

from concertina.api.answers import ServerEvent, server_events
from jobs.lifecycle import JobState
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
    Job.objects.filter(pk=job.pk).update(state=JobState.COMPLETED)
    connection.close()  # this thread's own


@pytest.fixture
def followed(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Job, dict[str, str]]]:
    """A job whose rows other threads can see, and the headers to ask for it.

    Streams look for news, and for the job's end, more often than they need to for people.
    """
    monkeypatch.setattr(stream, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(stream, "_LONGEST_POLL_SECONDS", 0.05)
    monkeypatch.setattr(final_jobs, "_ASK_EVERY_SECONDS", 0.01)
    pool = Pool.objects.create(name="default")
    Node.objects.create(pool=pool, name="node-1", gpus=4)
    client = client_of(make_team("vision", pool, guaranteed=2, limit=None))
    made = client.post("/api/v1/jobs", spec(), format="json").json()
    authorization = client._credentials["HTTP_AUTHORIZATION"]  # noqa: SLF001 - it has no reader
    yield Job.objects.get(pk=made["id"]), {"Authorization": authorization}
    connection.close()


Made = tuple[Job, dict[str, str]]


def stream_of(answer: HttpResponseBase) -> AsyncIterator[bytes]:
    content: AsyncIterator[bytes] = aiter(answer.streaming_content)  # type: ignore[attr-defined]  # async here
    return content


def followed_to_its_end(
    made: Made,
    *,
    query: dict[str, str] | None = None,
    headers: dict[str, str] | None = None,
    react: Callable[[bytes], Awaitable[None]] | None = None,
) -> list[ServerEvent]:
    """All events, but those that `react` heard of first."""
    job, authorization = made

    async def follow() -> list[bytes]:
        answer = await AsyncClient().get(
            f"/api/v1/jobs/{job.id}/logs",
            {"follow": "true", **(query or {})},
            headers={**authorization, **(headers or {})},
        )
        assert answer.headers["Content-Type"] == "text/event-stream", answer.content
        events = []
        async for event in stream_of(answer):
            events.append(event)
            if react:
                await react(event)
        return events

    told = asyncio.run(asyncio.wait_for(follow(), timeout=90))
    return list(server_events([b"".join(told)]))


def texts_of(events: list[ServerEvent]) -> list[str]:
    return [json.loads(event.data)["text"] for event in events if event.name == "message"]


def test_followed_lines_arrive_as_they_are_written_until_the_job_ends(followed: Made) -> None:
    job, _ = followed
    write(job, f"{job.id}-1-1", "before")

    async def react(event: bytes) -> None:
        if b"before" in event:
            write(job, f"{job.id}-1-2", "later", second=5)
        if b"later" in event:
            await finish(job)

    begin, before, later, end = followed_to_its_end(followed, react=react)
    assert json.loads(begin.data) == {"has_earlier": False, "is_trimmed": False}
    assert json.loads(before.data) == {
        "at": "2026-11-21T07:33:00Z",
        "worker": f"{job.id}-1-1",
        "stream": "stdout",
        "text": "before",
    }
    assert json.loads(later.data)["worker"] == f"{job.id}-1-2"
    assert (end.name, end.data) == ("end", "{}")


def test_a_followed_log_may_begin_with_its_last_lines_and_is_kept_alive(
    followed: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, _ = followed
    monkeypatch.setattr(stream, "KEEP_ALIVE_SECONDS", 0.0)
    write(job, f"{job.id}-1-1", "one", "two", "three")

    async def react(event: bytes) -> None:
        if event == b": nothing new\n\n":  # nothing was written, and still something was sent
            await finish(job)

    events = followed_to_its_end(followed, query={"tail": "2"}, react=react)
    assert json.loads(events[0].data)["has_earlier"] is True
    assert texts_of(events) == ["two", "three"]


@pytest.mark.parametrize("by", ["header", "query"])
def test_a_reader_goes_on_behind_the_last_event_it_has(followed: Made, by: str) -> None:
    job, _ = followed
    for number in range(4):
        write(job, f"{job.id}-1-{number % 2}", f"line {number}", second=number)
    Job.objects.filter(pk=job.pk).update(state=JobState.COMPLETED)
    whole = followed_to_its_end(followed)
    assert texts_of(whole) == [f"line {number}" for number in range(4)]
    for number, event in enumerate(whole[:-1]):
        position = {"Last-Event-ID": event.id} if by == "header" else {"after": event.id}
        rest = followed_to_its_end(
            followed,
            headers=position if by == "header" else {},
            query={"tail": "1", **(position if by == "query" else {})},
        )
        assert texts_of(rest) == [f"line {left}" for left in range(number, 4)]


def test_what_is_no_log_position_is_refused(api: APIClient, job: Job) -> None:
    url = f"/api/v1/jobs/{job.id}/logs"
    by_query = api.get(url, {"follow": "true", "after": "x"})
    by_header = api.get(url, {"follow": "true"}, headers={"Last-Event-ID": "a:1\0"})
    for answer in (by_query, by_header):
        assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "after")


def revoked(token: Token) -> None:
    tokens.revoke(token)


def expired(token: Token) -> None:
    Token.objects.filter(pk=token.pk).update(expires_at=timezone.now())


@pytest.mark.parametrize("withdraw", [revoked, expired])
def test_a_stream_ends_soon_after_its_token(
    followed: Made, monkeypatch: pytest.MonkeyPatch, withdraw: Callable[[Token], None]
) -> None:
    monkeypatch.setattr(followed_grants, "_ASK_EVERY_SECONDS", 0.0)
    job, _ = followed
    write(job, f"{job.id}-1-1", "before")

    @sync_to_async
    def react(event: bytes) -> None:
        if b"before" in event:
            withdraw(Token.objects.get())
            write(job, f"{job.id}-1-1", "secret")
            connection.close()

    events = followed_to_its_end(followed, react=react)
    assert texts_of(events) == ["before"]
    assert (events[-1].name, json.loads(events[-1].data)["code"]) == (
        "refused",
        "not_authenticated",
    )


def logged_out(user: User) -> None:
    Session.objects.all().delete()


def expelled(user: User) -> None:
    Membership.objects.filter(user=user).delete()


def locked_out(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def with_a_new_password(user: User) -> None:
    user.set_password("another")
    user.save()


@pytest.mark.parametrize("withdraw", [None, logged_out, expelled, locked_out, with_a_new_password])
def test_a_stream_ends_when_its_person_may_see_the_job_no_longer(
    followed: Made, withdraw: Callable[[User], None] | None
) -> None:
    job, _ = followed
    user = User.objects.create_user("ada", password="x")
    Membership.objects.create(user=user, team=job.team)
    client = Client()
    client.force_login(user)
    session = client.session
    grant = Grant(team_id=job.team_id, user_id=user.pk, session_key=session.session_key or "")
    other = replace(grant, team_id=job.team_id + 1)
    assert grants.still_valid([grant, other]) == {grant}
    if withdraw is not None:
        withdraw(user)
        assert grants.still_valid([grant, other]) == set()


def test_one_token_follows_so_many_logs_and_leaves_no_place_taken(
    followed: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, headers = followed
    monkeypatch.setattr(stream_slots, "MOST_OF_ONE", 2)
    holder = f"token {Token.objects.get().pk}"
    url = f"/api/v1/jobs/{job.id}/logs"

    async def ask() -> HttpResponseBase:
        return await AsyncClient().get(url, {"follow": "true"}, headers=headers)

    async def follow() -> None:
        first, second = await ask(), await ask()
        reading = stream_of(first)
        await anext(reading)
        refused = await ask()
        assert refused.status_code == 429
        assert "2 streams" in json.loads(refused.content)["message"]  # type: ignore[attr-defined]  # no stream
        assert refused.headers["Retry-After"] == "5"
        await sync_to_async(connections.close_all)()  # those of the thread that refused
        first.close()
        assert event_stream.stream_slots.count(holder) == 1
        del second  # nobody ever read it
        gc.collect()
        assert event_stream.stream_slots.count(holder) == 0

    asyncio.run(asyncio.wait_for(follow(), timeout=90))


def test_no_stream_goes_on_for_long_if_nobody_can_say_who_may_follow(
    followed: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followed_grants, "_ASK_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(followed_grants, "_VALID_SECONDS", 0.0)
    with monkeypatch.context() as away:

        async def react(event: bytes) -> None:
            away.setitem(connections.settings["default"], "HOST", "/nowhere")

        assert followed_to_its_end(followed, react=react)[-1].name == "interrupted"


def test_a_stream_outlives_a_database_that_is_away(
    followed: tuple[Job, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    job, _ = followed

    async def is_final() -> bool:
        final_jobs = FinalJobs()
        final_jobs.follow(job.id)
        return await final_jobs.is_final(job.id)

    Job.objects.filter(pk=job.pk).update(state=JobState.COMPLETED)
    with monkeypatch.context() as away:
        away.setitem(connections.settings["default"], "HOST", "/nowhere")
        assert not asyncio.run(is_final())
    assert asyncio.run(is_final())


def test_following_a_foreign_job_looks_like_a_missing_one(foreign_api: APIClient, job: Job) -> None:
    answer = foreign_api.get(f"/api/v1/jobs/{job.id}/logs", {"follow": "true"})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
