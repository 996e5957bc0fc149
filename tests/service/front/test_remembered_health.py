"""Is whoever asks how the service is told, though it has more to do than it can?"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from control_plane.front import wiring
from control_plane.front.asgi_types import Receive, Scope, Send
from control_plane.front.threads.remembered_health import (
    OLDEST_SECONDS,
    PATIENCE_SECONDS,
    YOUNG_SECONDS,
    RememberedHealth,
)
from control_plane.probe import TIMEOUT_SECONDS
from pytest_django import Settings

from tests.service.front.asking import Answer, ask

HEALTH = "/api/v1/health"


@dataclass
class Django:
    """An application that counts what it is asked, and answers when it may."""

    status: int = 200
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    asked: list[Scope] = field(default_factory=list)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        self.asked.append(scope)
        number = len(self.asked)
        await self.may_answer.wait()
        start = {"type": "http.response.start", "status": self.status, "headers": self.headers}
        await send(start)
        await send({"type": "http.response.body", "body": b'{"number": %d}' % number})


class Asked:
    """Health before an application, at a time that the test sets."""

    def __init__(self, *, patience_seconds: float = 60.0) -> None:
        self.now = 0.0
        self.django = Django()
        self.django.may_answer.set()
        self._health = RememberedHealth(
            self.django,
            is_host_allowed=lambda host: host == "127.0.0.1",
            patience_seconds=patience_seconds,
            clock=lambda: self.now,
        )

    async def ask(self, method: str = "GET", headers: Mapping[str, str] | None = None) -> Answer:
        return await ask(self._health, method, HEALTH, headers=headers)


def test_a_thousand_who_ask_within_a_second_cost_one_question() -> None:
    async def story() -> tuple[int, set[tuple[int, bytes]]]:
        asked = Asked()
        asked.django.may_answer.clear()
        crowd = [asyncio.create_task(asked.ask()) for _ in range(1000)]
        while not asked.django.asked:  # noqa: ASYNC110 - tasks tell of no event
            await asyncio.sleep(0)
        asked.django.may_answer.set()
        answers = await asyncio.gather(*crowd)
        asked.now = 0.9 * YOUNG_SECONDS
        answers.append(await asked.ask())
        return len(asked.django.asked), {(one.status, one.body) for one in answers}

    assert asyncio.run(story()) == (1, {(200, b'{"number": 1}')})


def test_after_a_second_it_is_asked_anew() -> None:
    async def story() -> tuple[bytes, bytes]:
        asked = Asked()
        first = await asked.ask()
        asked.now = YOUNG_SECONDS
        return first.body, (await asked.ask()).body

    assert asyncio.run(story()) == (b'{"number": 1}', b'{"number": 2}')


def test_while_the_question_has_to_wait_the_last_answer_is_told_with_its_age() -> None:
    async def story() -> tuple[list[Answer], Answer, int]:
        asked = Asked(patience_seconds=0.01)
        await asked.ask()
        asked.django.may_answer.clear()
        asked.now = OLDEST_SECONDS - 1
        answers = [await asked.ask() for _ in range(3)]
        asked.django.may_answer.set()
        asked.now = OLDEST_SECONDS + 1
        return answers, await asked.ask(), len(asked.django.asked)

    answers, after, questions = asyncio.run(story())
    assert [(one.status, one.body) for one in answers] == [(200, b'{"number": 1}')] * 3
    assert {one.headers["age"] for one in answers} == {str(int(OLDEST_SECONDS - 1))}
    assert (after.body, after.headers["age"]) == (b'{"number": 2}', "2")
    assert questions == 2  # all three waited for one


def test_who_can_be_told_the_last_answer_does_not_wait_long_for_a_new_one() -> None:
    async def story() -> int:
        asked = Asked(patience_seconds=math.inf)
        await asked.ask()
        asked.django.may_answer.clear()
        asked.now = OLDEST_SECONDS - 1
        return (await asked.ask()).status

    assert asyncio.run(story()) == 200


def test_what_is_too_old_is_not_told_any_more() -> None:
    async def story() -> Answer:
        asked = Asked(patience_seconds=0.01)
        await asked.ask()
        asked.django.may_answer.clear()
        asked.now = OLDEST_SECONDS
        return await asked.ask()

    answer = asyncio.run(story())
    assert (answer.status, answer.json()["code"]) == (503, "overloaded")
    assert answer.headers["retry-after"] == "2"


def test_that_it_is_unavailable_is_health_and_is_remembered() -> None:
    async def story() -> tuple[int, int, int]:
        asked = Asked()
        asked.django.status = 503
        first = await asked.ask()
        return first.status, (await asked.ask()).status, len(asked.django.asked)

    assert asyncio.run(story()) == (503, 503, 1)


@pytest.mark.parametrize(
    ("status", "headers"), [(503, [(b"retry-after", b"2")]), (500, [])], ids=["refused", "failed"]
)
def test_a_question_without_an_answer_does_not_displace_the_last_answer(
    status: int, headers: list[tuple[bytes, bytes]]
) -> None:
    async def story() -> tuple[int, int]:
        asked = Asked()
        await asked.ask()
        asked.now = YOUNG_SECONDS
        asked.django.status, asked.django.headers = status, headers
        known = (await asked.ask()).status
        asked.now = OLDEST_SECONDS
        return known, (await asked.ask()).status

    assert asyncio.run(story()) == (200, status)


def test_who_gives_up_does_not_end_the_question_of_the_others() -> None:
    async def story() -> tuple[bytes, int]:
        asked = Asked()
        asked.django.may_answer.clear()
        impatient, patient = (asyncio.create_task(asked.ask()) for _ in range(2))
        while not asked.django.asked:  # noqa: ASYNC110 - tasks tell of no event
            await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.gather(impatient, return_exceptions=True)
        asked.django.may_answer.set()
        return (await patient).body, len(asked.django.asked)

    assert asyncio.run(story()) == (b'{"number": 1}', 1)


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("HEAD", {}),
        ("POST", {}),
        ("GET", {"Content-Length": "7"}),
        ("GET", {"Transfer-Encoding": "chunked"}),
        ("GET", {"Host": "elsewhere.example"}),
    ],
)
def test_other_requests_go_on_as_they_are(method: str, headers: Mapping[str, str]) -> None:
    async def story() -> Scope:
        asked = Asked()
        await asked.ask()
        await asked.ask(method, headers)
        return asked.django.asked[-1]

    scope = asyncio.run(story())
    assert scope["method"] == method
    for name, value in headers.items():
        assert (name.lower().encode(), value.encode()) in scope["headers"]


def test_nothing_of_who_asks_goes_into_an_answer_that_others_get() -> None:
    async def story() -> Scope:
        asked = Asked()
        await asked.ask(headers={"Cookie": "sessionid=x", "Authorization": "Bearer x"})
        return asked.django.asked[-1]

    assert asyncio.run(story())["headers"] == [(b"host", b"127.0.0.1")]


def test_an_answer_comes_before_a_probe_gives_up() -> None:
    assert PATIENCE_SECONDS < TIMEOUT_SECONDS


def test_a_host_is_allowed_if_django_answers_to_it(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["concertina.example", "127.0.0.1"]
    told = (
        "concertina.example",
        "127.0.0.1:8000",
        "other.example",
        "",
        "a b",
        "concertina.example.",
    )
    assert [wiring.is_host_allowed(one) for one in told] == [True, True, False, False, False, True]
