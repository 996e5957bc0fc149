"""Does the number of live jobs stay the same, whatever becomes of each?"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any, cast

from local_stack.soak.users.population import MOST_AT_ONCE, Population
from local_stack.soak.users.requests import Caller, RequestOutcome


class Service:
    """Takes everything, or nothing."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.names: list[str] = []
        self.asked: list[str] = []

    def submit(self, specs: Iterable[Mapping[str, Any]]) -> list[RequestOutcome]:
        names = [spec["name"] for spec in specs]
        self.names += names
        return [self._answer(f"/jobs/{name}", {"id": name}) for name in names]

    def post(self, path: str, body: Any) -> RequestOutcome:  # noqa: ARG002 - the caller's words
        self.asked.append(path)
        return self._answer(path, {})

    def _answer(self, path: str, document: Any) -> RequestOutcome:
        return RequestOutcome(path=path, seconds=0.0, status=self.status, size=0, document=document)


def population(service: Service, *, jobs: int = 20) -> Population:
    caller = cast("Caller", service)
    return Population(caller=caller, jobs=jobs, life_seconds=60.0, chance=random.Random(7))  # noqa: S311


def test_as_many_come_as_have_left() -> None:
    service = Service()
    people = population(service)
    people.look_after(live=0)
    people.look_after(live=20)
    people.look_after(live=17)
    assert len(service.names) == len(set(service.names)) == 23


def test_not_all_come_at_once() -> None:
    service = Service()
    population(service, jobs=1000).look_after(live=0)
    assert len(service.names) == MOST_AT_ONCE


def test_whoever_is_paused_is_resumed_the_next_time() -> None:
    service = Service()
    people = population(service)
    for _ in range(400):
        people.look_after(live=20 if people.submitted else 0)
    paused = [path.removesuffix("/pause") for path in service.asked if path.endswith("/pause")]
    resumed = [path.removesuffix("/resume") for path in service.asked if path.endswith("/resume")]
    assert paused[: len(resumed)] == resumed
    assert len(paused) - len(resumed) <= 1
    assert any(path.endswith("/cancel") for path in service.asked)


def test_a_service_in_trouble_is_noted() -> None:
    people = population(Service(status=503))
    people.look_after(live=19)
    assert [answer.status for answer in people.trouble] == [503]
    assert people.submitted == []
