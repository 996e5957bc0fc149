"""When does a coordinator report? When it is time, when it has news, and when it is woken."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from concertina_worker.coordinator.connections.server import Server
from concertina_worker.coordinator.connections.service import HttpService, ServiceUnavailableError
from concertina_worker.coordinator.connections.synchronising import Synchroniser
from concertina_worker.coordinator.state_file import StateFile
from concertina_worker.protocol import Desired, SyncReport
from tests.worker.coordinator.service_answers import answering
from tests.worker.coordinator_story import Story, hello, progress

A_DAY = 86_400.0
SYNCHRONISING = "concertina_worker.coordinator.connections.synchronising"


@dataclass
class RestfulService:
    """Wants no report for a day, and knows how many it had."""

    story: Story
    had: list[SyncReport] = field(default_factory=list)
    rest_seconds: float = A_DAY

    def sync(self, report: SyncReport) -> Desired:
        self.had.append(report)
        return {**self.story.desired, "report_after_seconds": self.rest_seconds}


@dataclass
class Waker:
    """Says what a test says."""

    said: asyncio.Queue[bool | None] = field(default_factory=asyncio.Queue)
    asked: list[float] = field(default_factory=list)

    async def is_woken(self, *, heard_seconds: float) -> bool:
        self.asked.append(heard_seconds)
        word = await self.said.get()
        if word is None:
            raise ServiceUnavailableError
        return word


@dataclass
class Bench:
    story: Story
    server: Server
    service: RestfulService
    waker: Waker

    async def until_reports(self, count: int) -> None:
        while len(self.service.had) < count:  # noqa: ASYNC110 - a thread brings them
            await asyncio.sleep(0.001)


Tell = Callable[[Bench], Awaitable[None]]


def tell(folder: Path, story: Tell) -> Bench:
    """Let the story happen beside a coordinator that has reported once."""

    async def run() -> Bench:
        told = Story().train("w1", "w2")
        server = Server(told.coordination, StateFile(folder), token="t")
        service, waker = RestfulService(told), Waker()
        synchroniser = Synchroniser(told.coordination, server, service, waker)
        bench = Bench(told, server, service, waker)
        running = asyncio.create_task(synchroniser.run())
        try:
            async with asyncio.timeout(60):
                await bench.until_reports(1)
                await story(bench)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        return bench

    return asyncio.run(run())


def test_whoever_is_woken_reports_at_once_and_waits_again_when_it_was_heard(
    tmp_path: Path,
) -> None:
    async def story(bench: Bench) -> None:
        for count in (2, 3, 4):
            bench.waker.said.put_nowait(True)
            await bench.until_reports(count)
        while len(bench.waker.asked) < 4:  # noqa: ASYNC110 - it asks when it was answered
            await asyncio.sleep(0.001)

    bench = tell(tmp_path, story)
    assert (len(bench.service.had), len(bench.waker.asked)) == (4, 4)


def test_nothing_to_tell_is_not_told(tmp_path: Path) -> None:
    async def story(bench: Bench) -> None:
        for step in range(1, 6):
            bench.server.handle(progress("w1", step=step))
            bench.story.beat("w1", "w2")
            await asyncio.sleep(0)
        bench.waker.said.put_nowait(True)
        await bench.until_reports(2)

    _, second = tell(tmp_path, story).service.had
    assert [point["step"] for point in second["metrics"]] == [1, 2, 3, 4, 5]


def test_what_somebody_may_wait_for_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{SYNCHRONISING}.SYNC_SECONDS", 0.01)

    async def story(bench: Bench) -> None:
        bench.server.handle(hello("w3"))
        await bench.until_reports(2)

    *_, newest = tell(tmp_path, story).service.had
    assert "w3" in {worker["worker_id"] for worker in newest["workers"]}


def test_where_nobody_holds_its_request_it_reports_when_it_is_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{SYNCHRONISING}.NOBODY_HOLDS_SECONDS", 0.0)
    monkeypatch.setattr(f"{SYNCHRONISING}.LISTENING_SECONDS", 0.0)

    async def story(bench: Bench) -> None:
        bench.service.rest_seconds = 0.01
        for _ in range(3):
            bench.waker.said.put_nowait(None)
        bench.waker.said.put_nowait(True)  # it goes on asking
        await bench.until_reports(5)
        assert len(bench.waker.asked) >= 4

    tell(tmp_path, story)


def test_while_its_request_is_held_it_does_not_ask_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{SYNCHRONISING}.LISTENING_SECONDS", A_DAY)

    async def story(bench: Bench) -> None:
        bench.service.rest_seconds = 0.0
        for count in (2, 3):
            bench.waker.said.put_nowait(True)
            await bench.until_reports(count)

    assert len(tell(tmp_path, story).service.had) == 3


def test_a_service_of_a_former_release_is_told_twice_a_second() -> None:
    with answering(200, Story().desired) as url:
        said = HttpService(url=url, job_id="j", token="t").sync(Story().coordination.sync_report())
    assert said["report_after_seconds"] == 0.5


@pytest.mark.parametrize(("told", "kept"), [(5, 5.0), (0.0, 0.1), (1e9, 60.0)])
def test_a_pause_has_bounds(told: float, kept: float) -> None:
    with answering(200, {**Story().desired, "report_after_seconds": told}) as url:
        said = HttpService(url=url, job_id="j", token="t").sync(Story().coordination.sync_report())
    assert said["report_after_seconds"] == kept


@pytest.mark.parametrize(
    ("said", "again_after_seconds"),
    [("7", 7.0), ("999999", 60.0), (None, 0.0), ("soon", 0.0), ("-5", 0.0)],
)
def test_a_service_that_is_overloaded_says_when_to_come_again(
    said: str | None, again_after_seconds: float
) -> None:
    with answering(503, {}, again_after=said) as url:
        service = HttpService(url=url, job_id="j", token="t")
        with pytest.raises(ServiceUnavailableError) as refused:
            service.sync(Story().coordination.sync_report())
    assert refused.value.again_after_seconds == again_after_seconds


@pytest.mark.parametrize(
    ("again_after_seconds", "chance", "pauses"),
    [
        (0.0, 1.0, [1.0, 2.0, 2.0]),
        (8.0, 0.0, [8.0, 8.0, 8.0]),
        (8.0, 1.0, [10.0, 10.0, 10.0]),
    ],
    ids=["it does not say", "the first", "the last of many"],
)
def test_who_is_refused_comes_again_when_it_is_told_and_not_all_at_once(
    tmp_path: Path, again_after_seconds: float, chance: float, pauses: list[float]
) -> None:
    class Overloaded:
        def sync(self, report: SyncReport) -> Desired:  # noqa: ARG002 - the port's
            raise ServiceUnavailableError(again_after_seconds=again_after_seconds)

    async def refused(times: int) -> list[float]:
        told = Story().train("w1")
        server = Server(told.coordination, StateFile(tmp_path), token="t")
        one = Synchroniser(told.coordination, server, Overloaded(), Waker(), chance=lambda: chance)
        made = []
        for _ in range(times):
            await one.run_once()
            made.append(one.pause_seconds)
        return made

    assert asyncio.run(refused(3)) == pauses


def test_a_report_on_a_connection_that_was_closed_meanwhile_is_sent_again() -> None:
    tokens: list[str] = []
    with answering(200, Story().desired, tokens, keeps_for=2) as url:
        service = HttpService(url=url, job_id="j", token="t")
        for _ in range(5):
            service.sync(Story().coordination.sync_report())
        service.close()
    assert len(tokens) == 5
