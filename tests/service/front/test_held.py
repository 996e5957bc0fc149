"""Is a coordinator that waits woken when something else is wanted, and nobody else heard?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
import redis.asyncio
from control_plane.front.asgi_types import Message, Scope
from control_plane.front.coordinators.held_jobs import HeldJobs, Word
from control_plane.front.coordinators.publishing import CHANNEL, Publisher
from control_plane.front.coordinators.waiting import WaitingCoordinators
from control_plane.front.coordinators.wake_line import WakeLine
from control_plane.front.wiring import job_opened_by, term_of_coordinator
from django.conf import settings
from django.utils import timezone

from jobs.reports import job_token
from tests.service.front.asking import Answer, Recorder, ask, scope_of

WAKE = "/internal/v1/jobs/abc/wake"
NEVER = 0.0  # seconds ago


class ManualClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class OpenLine:
    def __init__(self, *, is_there: bool = True) -> None:
        self.is_there = is_there

    async def is_open(self) -> bool:
        return self.is_there


def token(term: int = 1) -> str:
    return job_token.of_coordinator("abc", term=term, now=timezone.now())


def front(
    held: HeldJobs, *, seconds: float = 60.0, line: OpenLine | None = None
) -> WaitingCoordinators:
    return WaitingCoordinators(
        Recorder(),
        held=held,
        line=line or OpenLine(),
        term_of=term_of_coordinator,
        longest_seconds=seconds,
    )


def run(story: Callable[[], Awaitable[Any]]) -> Any:
    async def bounded() -> Any:
        async with asyncio.timeout(30):
            return await story()

    return asyncio.run(bounded())


async def asked(application: WaitingCoordinators, *, term: int = 1, **more: Any) -> Answer:
    headers = {"authorization": f"Bearer {token(term)}"}
    return await ask(application, "GET", WAKE, headers=headers, **more)


async def until(held: HeldJobs, count: int) -> None:
    while len(held) != count:  # noqa: ASYNC110 - requests come in by themselves
        await asyncio.sleep(0)


def test_whoever_waits_is_told_as_soon_as_its_job_has_changed_and_no_other() -> None:
    held = HeldJobs(most=5)

    async def story() -> int:
        waiting = asyncio.create_task(asked(front(held)))
        await until(held, 1)
        held.wake(["another", "abd"])
        await asyncio.sleep(0)
        assert not waiting.done()
        held.wake(["another", "abc"])
        return (await waiting).status

    assert run(story) == 200
    assert len(held) == 0


def test_where_nothing_happens_the_answer_says_so() -> None:
    held = HeldJobs(most=5)
    assert run(lambda: asked(front(held, seconds=0.0))).status == 204
    assert len(held) == 0


def test_who_hangs_up_is_forgotten() -> None:
    held = HeldJobs(most=5)
    run(lambda: asked(front(held), is_given_up=True))
    assert len(held) == 0


@pytest.mark.parametrize(
    ("woken_ago", "heard_seconds", "word"),
    [(1.0, 3.0, Word.REPORT_NOW), (3.0, 1.0, None), (1.0, 1.0, Word.REPORT_NOW)],
    ids=["since it was heard", "before it was heard", "in the same moment"],
)
def test_a_reason_that_came_between_two_requests_counts_once(
    woken_ago: float, heard_seconds: float, word: Word | None
) -> None:
    clock = ManualClock()
    held = HeldJobs(most=5, clock=clock)

    async def story() -> Word | None:
        held.wake(["abc"])
        clock.now += woken_ago
        said = held.hold("abc", term=1, heard_seconds=heard_seconds)
        return said.result() if said.done() else None

    assert run(story) is word


def test_the_second_request_of_a_job_takes_the_place_of_the_first() -> None:
    held = HeldJobs(most=1)

    async def story() -> list[Any]:
        first = held.hold("abc", term=1, heard_seconds=NEVER)
        second = held.hold("abc", term=1, heard_seconds=NEVER)
        older = held.hold("abc", term=0, heard_seconds=NEVER)
        other = held.hold("abd", term=0, heard_seconds=NEVER)
        held.let_go("abc", first)
        assert len(held) == 1
        assert not second.done()
        return [one.result() for one in (first, older, other)]

    assert run(story) == [Word.NOTHING, Word.REPLACED, Word.NOBODY_HOLDS]


def test_a_process_that_ends_lets_everybody_go_and_holds_nobody() -> None:
    held = HeldJobs(most=5)

    async def story() -> list[Answer]:
        waiting = asyncio.create_task(asked(front(held)))
        await until(held, 1)
        held.end()
        return [await waiting, await asked(front(held))]

    for answer in run(story):
        assert answer.status == 503
        assert answer.headers["connection"] == "close"
        assert int(answer.headers["retry-after"]) > 0


def test_only_the_coordinator_of_the_job_waits() -> None:
    held, recorder = HeldJobs(most=5), Recorder()
    application = WaitingCoordinators(
        recorder, held=held, line=OpenLine(), term_of=term_of_coordinator
    )

    def status(path: str, method: str, bearer: str, **headers: str) -> int:
        told = {"authorization": f"Bearer {bearer}", **headers}
        return int(run(lambda: ask(application, method, path, headers=told)).status)

    strangers = ("", "x", job_token.of_workers("abc"))
    assert {status(WAKE, "GET", one) for one in strangers} == {401}
    assert status("/internal/v1/jobs/abd/wake", "GET", token()) == 401
    assert status(WAKE, "POST", token()) == 405
    assert status(WAKE, "GET", token(), **{"content-length": "3"}) == 405
    assert not recorder.scopes
    assert status("/internal/v1/jobs/abc/sync", "POST", token()) == 200
    assert len(recorder.scopes) == 1


def test_a_request_that_waits_counts_as_one_of_its_job() -> None:
    assert job_opened_by(WAKE, token()) == "abc"
    assert job_opened_by(WAKE, "x") is None


@pytest.mark.parametrize("told", ["", "heard=", "heard=nan", "heard=-1", "heard=1e99", "heard=x"])
def test_who_does_not_say_when_it_was_heard_counts_as_never_heard(told: str) -> None:
    held = HeldJobs(most=5)

    async def story() -> int:
        held.wake(["abc"])
        scope: Scope = scope_of("GET", WAKE, {"authorization": f"Bearer {token()}"})
        scope["query_string"] = told.encode()
        said: list[Message] = []

        async def receive() -> Message:
            return await asyncio.Future[Message]()

        async def send(message: Message) -> None:
            said.append(message)

        await front(held)(scope, receive, send)
        return int(said[0]["status"])

    assert run(story) == 200


def test_while_nobody_hears_of_changes_nobody_is_held() -> None:
    held = HeldJobs(most=5)
    assert run(lambda: asked(front(held, line=OpenLine(is_there=False)))).status == 503


def test_what_is_published_reaches_who_waits_here() -> None:
    held = HeldJobs(most=5)

    async def story() -> Word:
        line = WakeLine(settings.CONCERTINA.redis_url, held)
        assert await line.is_open()
        word = held.hold("abc", term=1, heard_seconds=NEVER)
        await asyncio.to_thread(Publisher().publish, ["abd", "abc"])
        said = await word
        await line.close()
        return said

    assert run(story) is Word.REPORT_NOW


def test_who_publishes_often_has_one_connection_to_redis() -> None:
    with redis.Redis.from_url(settings.CONCERTINA.redis_url) as client:

        def made() -> int:
            return int(client.info("stats")["total_connections_received"])

        publisher = Publisher()
        publisher.publish(["abc"])
        before = made()
        for number in range(20):
            publisher.publish([f"job-{number}"])
        assert made() == before


def test_whoever_was_not_woken_while_redis_was_away_is_woken_with_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("control_plane.front.coordinators.publishing._NOT_ASKED_SECONDS", 0.0)
    held = HeldJobs(most=5)
    here = settings.CONCERTINA
    publisher = Publisher()

    def publish(job_id: str, *, redis_url: str) -> None:
        monkeypatch.setattr(settings, "CONCERTINA", replace(here, redis_url=redis_url))
        publisher.publish([job_id])

    async def story() -> Word:
        line = WakeLine(here.redis_url, held)
        assert await line.is_open()
        word = held.hold("abc", term=1, heard_seconds=NEVER)
        await asyncio.to_thread(publish, "abc", redis_url="unix:///nowhere/at/all")
        assert not word.done()
        await asyncio.to_thread(publish, "abd", redis_url=here.redis_url)
        said = await word
        await line.close()
        return said

    assert run(story) is Word.REPORT_NOW


def test_a_line_that_is_cut_drops_who_waits_and_is_opened_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("control_plane.front.coordinators.wake_line._AGAIN_SECONDS", 0.0)
    held = HeldJobs(most=5)

    async def story() -> list[Word]:
        line = WakeLine(settings.CONCERTINA.redis_url, held)
        assert await line.is_open()
        word = held.hold("abc", term=1, heard_seconds=NEVER)
        async with redis.asyncio.Redis.from_url(settings.CONCERTINA.redis_url) as client:
            await client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
            dropped = await word
            held.let_go("abc", word)
            again = held.hold("abc", term=1, heard_seconds=NEVER)
            while not again.done():
                await client.publish(CHANNEL, json.dumps(["abc"]))
                await asyncio.sleep(0)
        await line.close()
        return [dropped, again.result()]

    assert run(story) == [Word.NOBODY_HOLDS, Word.REPORT_NOW]


def test_without_redis_nobody_is_held_and_publishing_goes_on(settings: Any) -> None:
    settings.CONCERTINA = type("Nowhere", (), {"redis_url": "unix:///nowhere/redis"})
    held = HeldJobs(most=5)

    async def story() -> bool:
        line = WakeLine("unix:///nowhere/redis", held)
        is_open = await line.is_open()
        await line.close()
        return is_open

    publisher = Publisher()
    publisher.publish(["abc"])
    publisher.publish(["abc"])
    assert run(story) is False
