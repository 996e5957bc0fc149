"""Is GET /events/stream as promised: what happens as it happens, and after a break the rest?"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Callable, Collection
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from cluster.models import Node, Pool
from control_plane.api.events import endpoint, stream, tail
from control_plane.api.logs import followed_grants
from control_plane.api.logs.event_stream import stream_slots
from django.db import connection, connections
from django.test import AsyncClient
from rest_framework.test import APIClient
from tenancy.access.keys import tokens
from tenancy.models import Team, Token

from jobs.changes.numbering import number_events
from jobs.queries import event_feed
from tests.service.conftest import client_of, make_team, spec

Act = Callable[[], object]


@pytest.fixture
def team(transactional_db: None) -> Team:
    pool = Pool.objects.create(name="default")
    Node.objects.create(pool=pool, name="node-1", gpus=4)
    make_team("language", pool, guaranteed=2, limit=None)
    return make_team("vision", pool, guaranteed=2, limit=None)


@pytest.fixture
def client(team: Team) -> APIClient:
    return client_of(team)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(stream, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(followed_grants, "_ASK_EVERY_SECONDS", 0.0)


def submit(client: APIClient, name: str) -> None:
    answer = client.post("/api/v1/jobs", spec(name=name), format="json")
    assert answer.status_code == 201, answer.json()


def followed(
    client: APIClient,
    *acts: Act,
    until: int,
    query: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
    kept: Collection[str] = ("event", "again"),
    until_id: str = "",
) -> list[dict[str, str]]:
    """The first events of a stream; something happens after its beginning and after each of them.

    It ends after `until` of them, with this id if there is one, or where the stream does.
    """
    shown = {"Authorization": client._credentials["HTTP_AUTHORIZATION"]}  # noqa: SLF001 - no reader

    async def look() -> list[dict[str, str]]:
        answer = await AsyncClient().get(
            "/api/v1/events/stream", query or {}, headers=shown | (headers or {})
        )
        assert answer.headers["Content-Type"] == "text/event-stream", answer.content
        found, left = list[dict[str, str]](), list(acts)
        content: AsyncIterator[bytes] = aiter(answer.streaming_content)  # type: ignore[attr-defined]  # async here
        async for text in content:
            event = dict(line.split(": ", 1) for line in text.decode().splitlines() if ": " in line)
            if event.get("event") in kept:
                found.append(event)
            if left and event.get("event") in {"begin", "event"}:
                await sync_to_async(_alone)(left.pop(0))
            if len(found) >= until and until_id in {"", event.get("id")}:
                break
        await content.aclose()  # type: ignore[attr-defined]  # a generator
        answer.close()
        return found

    async def bounded() -> list[dict[str, str]]:
        async with asyncio.timeout(90):
            return await look()

    try:
        return asyncio.run(bounded())
    finally:
        _close_connections_of_readers()


def _alone(act: Act) -> None:
    act()
    connection.close()  # this thread's own


def _close_connections_of_readers() -> None:
    """So that the database can be emptied; a process of `api` keeps them."""
    readers = stream._readers  # noqa: SLF001 - nobody else ends them
    for closing in [readers.submit(connections.close_all) for _ in range(8)]:
        closing.result()


def names(events: list[dict[str, str]]) -> list[str]:
    return [json.loads(event["data"])["job_name"] for event in events]


def test_what_happens_is_sent_to_those_who_see_it(client: APIClient) -> None:
    foreign = client_of(Team.objects.get(name="language"))
    submit(client, "before")

    def happen() -> None:
        submit(foreign, "theirs")
        submit(client, "ours")

    (found,) = followed(client, happen, until=1)
    document = json.loads(found["data"])
    assert (document["job_name"], document["kind"]) == ("ours", "submitted")
    assert found["id"] == str(document["position"])
    assert document == client.get("/api/v1/events").json()["items"][-1]
    assert not endpoint.tail.is_read
    assert stream_slots.count(f"token {Token.objects.first().pk}") == 0  # type: ignore[union-attr]  # there are two


@pytest.mark.parametrize("most_kept", [2000, 2])
def test_a_follower_who_comes_back_misses_nothing(
    client: APIClient, most_kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also not where the tail keeps no more what came meanwhile."""
    monkeypatch.setattr(tail, "MOST_KEPT", most_kept)
    monkeypatch.setattr(stream, "_MOST_AT_ONCE", 2)
    (first,) = followed(client, lambda: submit(client, "job-0"), until=1)
    for number in range(1, 6):
        submit(client, f"job-{number}")
    rest = followed(
        client,
        lambda: submit(client, "job-6"),
        until=6,
        headers={"Last-Event-ID": first["id"]},
    )
    assert names(rest) == [f"job-{number}" for number in range(1, 7)]


def test_a_place_behind_all_that_is_kept_is_read_once(client: APIClient) -> None:
    """A follower whose past is none of theirs comes to the tail, and reads no more by itself."""
    submit(client_of(Team.objects.get(name="language")), "theirs")
    number_events()
    (found,) = followed(client, lambda: submit(client, "ours"), until=1, query={"after": "0"})
    assert names([found]) == ["ours"]
    assert found["id"] == str(event_feed.last_position())


def test_only_the_kinds_that_were_asked_for_are_sent(client: APIClient) -> None:
    def happen() -> None:
        submit(client, "digits")
        (job,) = client.get("/api/v1/jobs").json()["items"]
        client.post(f"/api/v1/jobs/{job['id']}/pause")

    (found,) = followed(client, happen, until=1, query={"kind": "state_changed"})
    assert json.loads(found["data"])["new_state"] == "paused"


def test_only_what_happens_to_the_job_that_was_asked_for_is_sent(client: APIClient) -> None:
    submit(client, "digits")
    (job,) = client.get("/api/v1/jobs").json()["items"]

    def happen() -> None:
        submit(client, "other")
        client.post(f"/api/v1/jobs/{job['id']}/pause")

    (found,) = followed(client, happen, until=1, query={"job": job["id"]})
    assert json.loads(found["data"])["new_state"] == "paused"
    past = followed(client, until=2, query={"job": job["id"], "after": "0"})
    assert names(past) == ["digits", "digits"]
    page = client.get("/api/v1/events", {"job": job["id"]}).json()
    assert [event["kind"] for event in page["items"]] == ["submitted", "state_changed"]
    foreign = client_of(Team.objects.get(name="language"))
    assert foreign.get("/api/v1/events", {"job": job["id"]}).json()["items"] == []


@pytest.mark.parametrize(
    ("name", "value"), [("job", "no id"), ("quiet", "0"), ("quiet", "16"), ("quiet", "x")]
)
def test_what_is_no_job_or_no_time_is_refused(client: APIClient, name: str, value: str) -> None:
    answer = client.get("/api/v1/events/stream", {name: value})
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, name)


def test_a_follower_says_how_soon_it_wants_to_hear_that_nothing_happened(
    client: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "KEEP_ALIVE_SECONDS", 1e9)
    monkeypatch.setattr(stream, "_LOOK_SECONDS", 1e9)
    (said,) = followed(client, until=1, query={"quiet": "1"}, kept={"still-there"})
    assert said["event"] == "still-there"


def test_whose_token_is_revoked_is_sent_nothing_more(client: APIClient) -> None:
    other = client_of(Team.objects.get(name="vision"), name="other")

    def revoke() -> None:
        tokens.revoke(Token.objects.get(name="ci", team__name="vision"))
        submit(other, "secret")

    events = followed(client, lambda: submit(client, "first"), revoke, until=3)
    assert [event["event"] for event in events] in (["event", "again"], ["event", "event", "again"])


def test_a_stream_ends_in_time(client: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "LONGEST_SECONDS", 0.0)
    (end,) = followed(client, until=1)
    assert end["event"] == "again"


def test_who_hears_nothing_is_told_where_to_go_on(
    client: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "KEEP_ALIVE_SECONDS", 0.0)
    foreign = client_of(Team.objects.get(name="language"))
    (first,) = followed(client, lambda: submit(client, "digits"), until=1)
    told = {"begin", "still-there"}
    events = followed(
        client,
        lambda: submit(foreign, "theirs"),
        until=1,
        headers={"Last-Event-ID": first["id"]},
        kept=told,
        until_id=str(int(first["id"]) + 1),
    )
    assert {event["event"] for event in events} == told
    assert event_feed.last_position() == int(first["id"]) + 1


def test_compressed_events_are_the_same(client: APIClient) -> None:
    submit(client, "digits")
    shown = {"Authorization": client._credentials["HTTP_AUTHORIZATION"]}  # noqa: SLF001 - no reader

    async def first() -> bytes:
        answer = await AsyncClient().get(
            "/api/v1/events/stream", {"after": "0"}, headers=shown | {"Accept-Encoding": "gzip"}
        )
        assert answer.headers["Content-Encoding"] == "gzip"
        inflate, text = zlib.decompressobj(16 + zlib.MAX_WBITS), b""
        content: AsyncIterator[bytes] = aiter(answer.streaming_content)  # type: ignore[attr-defined]  # async here
        while b"event: event" not in text:
            text += inflate.decompress(await anext(content))
        await content.aclose()  # type: ignore[attr-defined]  # a generator
        answer.close()
        return text

    try:
        text = asyncio.run(first())
    finally:
        _close_connections_of_readers()
    assert (
        json.loads(text.partition(b"event: event")[2].partition(b"data: ")[2])["job_name"]
        == "digits"
    )


@pytest.mark.parametrize("place", ["x", "-1", "9" * 19])
def test_a_place_that_is_none_is_refused_in_words(client: APIClient, place: str) -> None:
    answer = client.get("/api/v1/events/stream", headers={"Last-Event-ID": place})
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "Last-Event-ID")


def test_many_followers_are_read_for_once(client: APIClient) -> None:
    reads, is_read_again = list[int | None](), asyncio.Event()

    class Waiting:
        def __init__(self) -> None:
            self.news = asyncio.Event()

        def note_news(self) -> None:
            self.news.set()

    async def follow() -> None:
        async def read(position: int | None) -> tail.FeedNews:
            reads.append(position)
            if position == 7:
                is_read_again.set()
                await asyncio.Event().wait()
            return tail.FeedNews(events=(), reached=7, has_more=False)

        shared, followers = tail.EventTail(read), [Waiting() for _ in range(50)]
        for one in followers:
            shared.join(one)
        for one in followers:
            await one.news.wait()
        await is_read_again.wait()
        for one in followers:
            shared.leave(one)
        assert not shared.is_read

    asyncio.run(follow())
    assert reads == [None, 7]
