"""How does what a command writes reach its reader, and when does the answer end?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from cluster.models import Node, Pool
from control_plane.api.logs import followed_grants
from control_plane.api.logs.followed_grants import FollowedGrants
from control_plane.api.shells import stream
from control_plane.configuration.shell_settings import ShellSettings
from control_plane.shells import ended, mailbox
from control_plane.shells.orders import ShellEnd, ShellOrder, ending
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import AsyncClient
from django.utils import timezone
from pytest_django import Settings
from tenancy.access.keys import personal_tokens
from tenancy.models import AuditEntry, Membership, PersonalToken

from autoscaler.control_loop.wakeup_flag import redis_client
from concertina.api.answers import ServerEvent, server_events
from jobs.models import Job
from tests.service.conftest import client_of, make_team, run, spec
from tests.service.shells.test_session import until

Made = tuple[Job, dict[str, str]]


@pytest.fixture
def made(
    transactional_db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Made]:
    """A job that runs, and the headers of a lead of its team."""
    on = ShellSettings(teams=frozenset({"*"}), idle_seconds=60, longest_seconds=600)
    settings.CONCERTINA = replace(django_settings.CONCERTINA, shells=on)
    monkeypatch.setattr(stream, "_WAIT_SECONDS", 0.05)
    monkeypatch.setattr(mailbox, "RENEW_SECONDS", 0.01)
    monkeypatch.setattr(stream, "followed_grants", FollowedGrants())  # its lock is of one loop
    monkeypatch.setattr(followed_grants, "_ASK_EVERY_SECONDS", 0.0)
    pool = Pool.objects.create(name="default")
    Node.objects.create(pool=pool, name="node-1", gpus=4)
    team = make_team("vision", pool, guaranteed=2, limit=None)
    job = Job.objects.get(
        pk=client_of(team).post("/api/v1/jobs", spec(), format="json").json()["id"]
    )
    run(job, workers=1)
    user = User.objects.create_user("lea")
    Membership.objects.create(team=team, user=user, role="lead")
    _, key = personal_tokens.make(user, name="cli", days=1, longest_days=10)
    yield job, {"Authorization": f"Bearer {key}"}
    connection.close()


def followed(made: Made, react: Callable[[bytes], Awaitable[None]]) -> list[ServerEvent]:
    """All events of a shell, each of which `react` hears of."""
    job, headers = made

    async def follow() -> list[bytes]:
        answer = await AsyncClient().post(
            f"/api/v1/jobs/{job.id}/shells", {}, content_type="application/json", headers=headers
        )
        assert answer.status_code == 200, answer.content
        events = []
        async for event in aiter(answer.streaming_content):  # type: ignore[attr-defined]  # async here
            events.append(event)
            await react(event)
        await asyncio.gather(*stream._leaving)  # noqa: SLF001 - nothing else knows of them
        return events

    told = asyncio.run(asyncio.wait_for(follow(), timeout=60))
    return list(server_events([b"".join(told)]))


def order() -> ShellOrder:
    """What the api ordered."""
    return ShellOrder.read(redis_client().lrange(mailbox.ORDERS, 0, -1)[-1])


def last(events: list[ServerEvent]) -> Any:
    assert events[-1].name == "end"
    return json.loads(events[-1].data)


def test_words_come_as_they_are_and_then_the_end_and_nothing_is_left(made: Made) -> None:
    @sync_to_async
    def react(event: bytes) -> None:
        if b"begin" in event:
            client, shell = redis_client(), order().id
            client.set(mailbox.alive(shell), "1", ex=60)
            client.rpush(mailbox.outputs(shell), b"o\xff\x00", b"rno")
            client.rpush(mailbox.outputs(shell), ending(ShellEnd.EXITED, "", exit_code=3))

    events = followed(made, react)

    assert [one.name for one in events] == ["begin", "output", "errors", "end"]
    assert json.loads(events[1].data) == {"data": "/wA="}
    assert last(events)["exit_code"] == 3
    given = order()
    left = [redis_client().exists(mailbox.held(given.id))]
    left += [redis_client().zcard(key) for key in mailbox.slots(given)]
    assert left == [0, 0, 0, 0]


def test_a_shell_ends_soon_after_its_token(made: Made) -> None:
    @sync_to_async
    def react(event: bytes) -> None:
        if b"begin" in event:
            redis_client().set(mailbox.alive(order().id), "1", ex=60)
            PersonalToken.objects.update(revoked_at=timezone.now())
            connection.close()

    assert last(followed(made, react))["end"] == "withdrawn"
    assert redis_client().exists(mailbox.held(order().id)) == 0
    assert redis_client().exists(mailbox.withdrawn(order().id)) == 1


def test_the_relay_writes_the_end_in_the_name_of_whoever_asked(made: Made) -> None:
    @sync_to_async
    def react(event: bytes) -> None:
        if b"begin" in event:
            ended.note_end(order(), ShellEnd.EXITED, exit_code=3)
            redis_client().rpush(mailbox.outputs(order().id), ending(ShellEnd.EXITED, ""))

    followed(made, react)
    written = AuditEntry.objects.get(operation="end_shell")
    assert (written.sender, written.sender_kind, written.address) == ("lea", "person", "127.0.0.1")
    assert (written.target, written.after["exit_code"]) == (order().target, 3)


def test_a_slow_reader_hears_all_of_a_shell_that_is_over(made: Made) -> None:
    @sync_to_async
    def react(event: bytes) -> None:
        if b"begin" in event:  # the relay's mark is gone by the time that this is read
            items = [b"oword"] * 5 + [ending(ShellEnd.EXITED, "", exit_code=0)]
            redis_client().rpush(mailbox.outputs(order().id), *items)

    events = followed(made, react)
    assert [one.name for one in events] == ["begin", *["output"] * 5, "end"]
    assert last(events)["end"] == "exited"


def test_a_client_that_reads_nothing_for_a_while_keeps_its_shell(made: Made) -> None:
    @sync_to_async(thread_sensitive=False)
    def react(event: bytes) -> None:
        if b"begin" in event:
            client, shell = redis_client(), order().id
            client.expire(mailbox.held(shell), 5)
            until(lambda: client.ttl(mailbox.held(shell)) > 5)
            client.rpush(mailbox.outputs(shell), ending(ShellEnd.EXITED, ""))

    assert last(followed(made, react))["end"] == "exited"


def test_an_end_that_both_sides_tell_is_one_entry(made: Made) -> None:
    @sync_to_async
    def react(event: bytes) -> None:
        if b"begin" in event:
            ended.note_end(order(), ShellEnd.RELAY_LOST, exit_code=None)
            ended.note_end(order(), ShellEnd.CLIENT_LEFT, exit_code=None)
            redis_client().rpush(mailbox.outputs(order().id), ending(ShellEnd.EXITED, ""))

    followed(made, react)
    assert AuditEntry.objects.get(operation="end_shell").after["why"] == "relay_lost"


@pytest.mark.parametrize(("was_taken", "end"), [(True, "relay_lost"), (False, "cannot_start")])
def test_a_relay_that_dies_or_is_not_there_is_told_and_written_down(
    made: Made, monkeypatch: pytest.MonkeyPatch, *, was_taken: bool, end: str
) -> None:
    monkeypatch.setattr(stream, "TAKEN_SECONDS", 0.0)

    @sync_to_async
    def react(event: bytes) -> None:
        if b"begin" in event and was_taken:
            redis_client().rpush(mailbox.outputs(order().id), b"oword")

    assert last(followed(made, react))["end"] == end
    written = AuditEntry.objects.get(operation="end_shell")
    assert (written.sender, written.after["why"]) == ("lea", end)
