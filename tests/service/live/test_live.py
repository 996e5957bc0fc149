"""Is GET /live as promised: the same answers as the reads themselves, to who may see them?"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from cluster.models import Node, Pool
from control_plane.api.live import endpoint, stream
from control_plane.api.live.reads import SECONDS_OF, Viewpoint, ViewpointChanged, answered
from control_plane.api.logs import followed_grants
from control_plane.api.logs.event_stream import stream_slots
from django.contrib.auth.models import User
from django.db import connection, connections
from django.test import AsyncClient, Client
from rest_framework.test import APIClient
from tenancy.access import grants
from tenancy.access.grants import grants_of
from tenancy.access.keys import personal_tokens, tokens
from tenancy.access.permissions import LEAD
from tenancy.access.principal import TokenUser, principal_of_person, principal_of_user
from tenancy.models import Membership, Team, Token

from tests.service.conftest import SubmitJob, client_of, make_team, spec

READS = [*SECONDS_OF, "/api/v1/jobs?state=queued&limit=1", "/api/v1/teams?pool=nowhere"]


@pytest.mark.parametrize("read", READS)
def test_a_live_read_answers_what_the_read_itself_does(
    read: str, api: APIClient, foreign_api: APIClient, submit: SubmitJob
) -> None:
    read = read.format(job_id=submit().id)
    for client, team in ((api, "vision"), (foreign_api, "language")):
        user = TokenUser(Token.objects.select_related("team").get(team__name=team))
        live, asked = answered(read, user, viewpoint_of(user)), client.get(read)
        assert live.status == asked.status_code
        assert _timeless(json.loads(live.body)) == _timeless(asked.json())
        assert b"\n" not in live.body


@pytest.mark.parametrize("read", READS)
def test_a_person_gets_live_what_is_theirs(
    read: str, vision: Team, admin_user: User, submit: SubmitJob
) -> None:
    read = read.format(job_id=submit().id)
    member = User.objects.create_user("ada")
    Membership.objects.create(user=member, team=vision)
    for user in (member, admin_user):
        client = Client()
        client.force_login(user)
        assert _timeless(json.loads(answered(read, user, viewpoint_of(user)).body)) == _timeless(
            client.get(read).json()
        )


def viewpoint_of(user: User | TokenUser) -> Viewpoint:
    return Viewpoint.of(principal_of_user(user))


def test_who_came_into_another_team_reads_nothing_for_those_who_did_not(
    vision: Team, language: Team
) -> None:
    user = User.objects.create_user("ada")
    Membership.objects.create(user=user, team=vision)
    before = viewpoint_of(user)
    Membership.objects.create(user=user, team=language)
    with pytest.raises(ViewpointChanged):
        answered("/api/v1/jobs", user, before)


def _timeless(document: Any) -> Any:
    """Leave out what moves with the clock."""
    if isinstance(document, dict):
        moving = {"at", "planned_seconds_ago", "position_at", "uptime_seconds"}
        return {name: _timeless(value) for name, value in document.items() if name not in moving}
    return [_timeless(one) for one in document] if isinstance(document, list) else document


@pytest.mark.parametrize("reads", [[], ["/api/v1/session"], ["/api/v1/teams"] * 13])
def test_what_cannot_be_live_is_refused_in_words(api: APIClient, reads: list[str]) -> None:
    answer = api.get("/api/v1/live", {"read": reads})
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "read")


@pytest.fixture
def team(transactional_db: None) -> Team:
    pool = Pool.objects.create(name="default")
    Node.objects.create(pool=pool, name="node-1", gpus=4)
    return make_team("vision", pool, guaranteed=2, limit=None)


Act = Callable[[], None]


def looked_at(*acts: Act, headers: dict[str, str], reads: list[str]) -> list[bytes]:
    """All events of a page, until the stream ends; after each of a read something happens."""

    async def look() -> list[bytes]:
        answer = await AsyncClient().get("/api/v1/live", {"read": reads}, headers=headers)
        assert answer.headers["Content-Type"] == "text/event-stream", answer.content
        events, left = list[bytes](), list(acts)
        content: AsyncIterator[bytes] = aiter(answer.streaming_content)  # type: ignore[attr-defined]  # async here
        async for event in content:
            events.append(event)
            if event.startswith(b"event: read") and left:
                await sync_to_async(_alone)(left.pop(0))
        answer.close()
        return events

    async def bounded() -> list[bytes]:
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


def test_a_page_sees_a_new_job_and_nothing_once_its_token_is_revoked(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followed_grants, "_ASK_EVERY_SECONDS", 0.0)
    monkeypatch.setattr(stream, "_LOOK_SECONDS", 0.01)
    monkeypatch.setitem(SECONDS_OF, "/api/v1/jobs", 0.01)
    client = client_of(team)
    authorization = client._credentials["HTTP_AUTHORIZATION"]  # noqa: SLF001 - it has no reader

    def submit() -> None:
        assert client.post("/api/v1/jobs", spec(), format="json").status_code == 201

    events = looked_at(
        submit,
        lambda: tokens.revoke(Token.objects.get()),
        headers={"Authorization": authorization},
        reads=["/api/v1/jobs"],
    )
    first, second = (
        json.loads(event.split(b"data: ")[1])["body"]["items"]
        for event in events
        if event.startswith(b"event: read")
    )
    assert (len(first), len(second)) == (0, 1)
    assert events[-1].startswith(b"event: again")
    assert stream_slots.count(f"token {Token.objects.get().pk}") == 0
    assert len(endpoint.topics) == 0


def test_whoever_takes_compressed_events_gets_the_same_in_few_bytes(team: Team) -> None:
    client = client_of(team)
    for number in range(10):
        job = spec(name=f"job-{number}")
        assert client.post("/api/v1/jobs", job, format="json").status_code == 201
    authorization = client._credentials["HTTP_AUTHORIZATION"]  # noqa: SLF001 - it has no reader

    async def first_read() -> tuple[bytes, int]:
        answer = await AsyncClient().get(
            "/api/v1/live",
            {"read": ["/api/v1/jobs"]},
            headers={"Authorization": authorization, "Accept-Encoding": "gzip"},
        )
        assert answer.headers["Content-Encoding"] == "gzip"
        inflate, text, count = zlib.decompressobj(16 + zlib.MAX_WBITS), b"", 0
        content: AsyncIterator[bytes] = aiter(answer.streaming_content)  # type: ignore[attr-defined]  # async here
        while b"event: read" not in text:
            part = await anext(content)
            count += len(part)
            text += inflate.decompress(part)
        await content.aclose()  # type: ignore[attr-defined]  # a generator
        answer.close()
        return text, count

    try:
        text, count = asyncio.run(first_read())
    finally:
        _close_connections_of_readers()
    found = json.loads(text.partition(b"event: read\ndata: ")[2])
    assert len(found["body"]["items"]) == 10
    assert count * 5 < len(text)


def test_a_token_is_told_what_it_may_do_with_a_job_and_not_what_its_person_may(team: Team) -> None:
    ada = User.objects.create_user("ada")
    Membership.objects.create(user=ada, team=team, role=LEAD)
    _, key = personal_tokens.make(ada, "reads", days=1, longest_days=30, scopes=["read"])
    job = client_of(team).post("/api/v1/jobs", spec(), format="json").json()["id"]

    async def told() -> list[bool]:
        session, may, opened = AsyncClient(), list[bool](), list[Any]()
        await session.aforce_login(ada)
        by_token = {"Authorization": f"Bearer {key}"}
        for reader, headers in ((session, {}), (AsyncClient(), by_token)):  # both look at once
            read = {"read": [f"/api/v1/jobs/{job}"]}
            answer = await reader.get("/api/v1/live", read, headers=headers)
            assert answer.status_code == 200, answer.content
            content: AsyncIterator[bytes] = aiter(answer.streaming_content)  # type: ignore[attr-defined]  # async here
            opened += [content, answer]
            async for event in content:
                if event.startswith(b"event: read"):
                    may.append(json.loads(event.split(b"data: ")[1])["body"]["may_change"])
                    break
        for one in opened:
            await one.aclose() if hasattr(one, "aclose") else one.close()
        return may

    try:
        assert asyncio.run(told()) == [True, False]
    finally:
        _close_connections_of_readers()


def left(user: User) -> None:
    Membership.objects.filter(user=user).first().delete()  # type: ignore[union-attr]  # there is one


def demoted(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_superuser=False)


def logged_out(user: User) -> None:
    user.set_password("another")
    user.save()


@pytest.mark.parametrize("is_admin", [False, True])
@pytest.mark.parametrize("withdraw", [None, left, demoted, logged_out])
def test_who_sees_less_than_before_has_to_come_again(
    vision: Team, language: Team, withdraw: Callable[[User], None] | None, *, is_admin: bool
) -> None:
    user = User.objects.create_user("ada", password="x", is_superuser=is_admin)
    for one in (vision, language):
        Membership.objects.create(user=user, team=one)
    client = Client()
    client.force_login(user)
    request = client.get("/api/v1/teams").wsgi_request
    request._request = request  # type: ignore[attr-defined]  # noqa: SLF001 - as DRF's has it
    held = grants_of(request, principal_of_person(user))  # type: ignore[arg-type]  # as above
    assert grants.still_valid(held) == held
    assert len(held) == (1 if is_admin else 2)
    if withdraw is not None:
        withdraw(user)
    loses = {None: False, left: not is_admin, demoted: is_admin, logged_out: True}[withdraw]
    assert (grants.still_valid(held) != held) == loses


def test_who_is_in_no_team_holds_what_a_session_holds(db: None) -> None:
    user = User.objects.create_user("ada", password="x")
    client = Client()
    client.force_login(user)
    request = client.get("/api/v1/teams").wsgi_request
    request._request = request  # type: ignore[attr-defined]  # noqa: SLF001 - as above
    held = grants_of(request, principal_of_person(user))  # type: ignore[arg-type]  # as above
    assert grants.still_valid(held) == held
    logged_out(user)
    assert grants.still_valid(held) == set()
