"""Does one group of callers leave a part of the processor to others, however much it asks for?"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path

import pytest
from control_plane.front.asgi_types import Receive, Scope, Send
from control_plane.front.callers import GROUP
from control_plane.front.threads.bulkheads import Bulkheads, RequestKind
from control_plane.front.threads.lanes import Lanes, LaneSize, ShareIsUsed
from control_plane.front.threads.processor_pressure import Pressure
from control_plane.front.threads.processor_shares import ProcessorShares

from tests.service.front.asking import Answer, ask


@dataclass
class Clock:
    """Goes on as a test says."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def shares(clock: Clock, **changes: float) -> ProcessorShares:
    told = {"share": 0.25, "window_seconds": 8.0, **changes}
    return ProcessorShares(**told, clock=clock, is_short=lambda: True)


def test_a_group_may_use_all_there_is_for_a_moment_and_its_share_for_ever() -> None:
    clock = Clock()
    known = shares(clock)
    known.use("loud", 2.0)
    assert known.wait_seconds("loud") == 0.0
    known.use("loud", 1.0)
    assert known.wait_seconds("loud") == pytest.approx(4.0)  # a quarter of each second is its own
    clock.now += 3.0
    assert known.wait_seconds("loud") == pytest.approx(1.0)
    clock.now += 1.0
    assert known.wait_seconds("loud") == 0.0


def test_what_one_group_uses_is_not_taken_from_another() -> None:
    known = shares(Clock())
    known.use("loud", 100.0)
    assert known.wait_seconds("quiet") == 0.0


def test_a_pause_saves_up_for_one_burst_and_no_more() -> None:
    clock = Clock()
    known = shares(clock)
    known.use("loud", 2.0)
    clock.now += 3600.0
    known.use("loud", 4.0)
    assert known.wait_seconds("loud") == pytest.approx(8.0)


def test_who_may_have_everything_never_waits() -> None:
    known = shares(Clock(), share=inf)
    for name in ("anybody", "address:192.0.2.1"):
        known.use(name, 1e9)
        assert known.wait_seconds(name) == 0.0


def test_whose_credential_nobody_has_accepted_yet_has_less() -> None:
    known = shares(Clock(), part_of_strangers=0.4)
    for name in ("team:1", "address:192.0.2.1"):
        known.use(name, 3.0)
    assert known.wait_seconds("team:1") == pytest.approx(4.0)
    assert known.wait_seconds("address:192.0.2.1") == pytest.approx(22.0)


def test_five_people_who_look_at_live_pages_stay_within_a_teams_share() -> None:
    """Six questions each in two seconds, of 13 ms."""
    clock = Clock()
    known = ProcessorShares(clock=clock, is_short=lambda: True)
    waited = 0.0
    for _ in range(600):
        for _ in range(30):
            waited = max(waited, known.wait_seconds("team"))
            known.use("team", 0.013)
        clock.now += 2.0
    assert waited == 0.0


def test_while_no_processor_is_short_nobody_waits_nor_makes_up_for_it_later() -> None:
    clock, is_short = Clock(), False
    known = ProcessorShares(share=0.25, window_seconds=8.0, clock=clock, is_short=lambda: is_short)
    known.use("loud", 100.0)
    assert known.wait_seconds("loud") == 0.0
    is_short = True
    assert known.wait_seconds("loud") == 0.0
    known.use("loud", 1.0)
    assert known.wait_seconds("loud") == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("some avg10=10.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00", True),
        ("some avg10=9.99 avg60=99.00 avg300=99.00 total=1\nfull avg10=99.00", False),
        ("something else", True),
        (None, True),  # nobody tells
    ],
)
def test_processors_are_short_where_the_kernel_says_so_or_says_nothing(
    tmp_path: Path,
    told: str | None,
    expected: bool,  # noqa: FBT001
) -> None:
    file, clock = tmp_path / "cpu", Clock()
    if told is not None:
        file.write_text(told)
    pressure = Pressure(file, clock=clock, used_seconds=lambda: 0.0)
    clock.now += 1.0
    assert pressure.is_felt() == expected


def test_a_process_that_is_busy_is_under_pressure_however_many_processors_are_free(
    tmp_path: Path,
) -> None:
    file, clock, used = tmp_path / "cpu", Clock(), Clock()
    file.write_text("some avg10=0.00")
    pressure = Pressure(file, clock=clock, used_seconds=used)
    seen = []
    for seconds in (0.8, 0.6):
        clock.now += 1.0
        used.now += seconds
        seen.append(pressure.is_felt())
    assert seen == [True, False]


def test_the_kernel_is_asked_once_a_second(tmp_path: Path) -> None:
    file, clock = tmp_path / "cpu", Clock()
    file.write_text("some avg10=0.00")
    pressure = Pressure(file, clock=clock, used_seconds=lambda: 0.0)
    clock.now += 1.0
    assert not pressure.is_felt()
    file.write_text("some avg10=50.00")
    clock.now += 0.9
    assert not pressure.is_felt()
    clock.now += 0.1
    assert pressure.is_felt()


def lanes(known: ProcessorShares, *, longest_wait_seconds: float = 60.0) -> Lanes:
    size = LaneSize(
        threads=4, places=8, longest_wait_seconds=longest_wait_seconds, shares=lambda: known
    )
    return Lanes("test", size)


def test_who_has_used_their_share_waits_for_it_while_others_go_on() -> None:
    async def story() -> list[bool]:
        clock = Clock()
        known = shares(clock, share=1.0, window_seconds=0.0)
        here = lanes(known)
        known.use("loud", 0.01)
        loud = asyncio.create_task(here.take("loud"))
        await here.take("quiet")
        seen = [loud.done()]
        clock.now += 1.0
        await loud
        return [*seen, loud.done()]

    assert asyncio.run(story()) == [False, True]


def test_who_does_not_get_it_back_in_time_is_told_why() -> None:
    async def story() -> int:
        known = shares(Clock())
        here = lanes(known, longest_wait_seconds=0.01)
        known.use("loud", 3.0)
        with pytest.raises(ShareIsUsed):
            await here.take("loud")
        return here.waiting

    assert asyncio.run(story()) == 0


def test_what_a_thread_has_worked_counts_for_whom_it_worked() -> None:
    def work() -> None:
        began = time.thread_time()
        while time.thread_time() < began + 0.02:
            pass

    async def story() -> tuple[float, float]:
        known = shares(Clock(), share=1.0, window_seconds=0.0)
        here = lanes(known)
        thread = await here.take("loud-1", "loud")
        await asyncio.wrap_future(thread.submit(work))
        here.give_back(thread)
        while not known.wait_seconds("loud"):  # noqa: ASYNC110 - threads tell of no event
            await asyncio.sleep(0)
        return known.wait_seconds("loud"), known.wait_seconds("loud-1")

    loud, caller = asyncio.run(story())
    assert loud >= 0.02
    assert caller == 0.0


def test_what_a_request_cost_counts_for_whose_it_turned_out_to_be() -> None:
    known = shares(Clock(), share=1e-6, window_seconds=0.0)

    async def accepting(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        scope[GROUP] = "team:1"  # as `rates` notes when the answer begins
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def story() -> None:
        size = LaneSize(threads=1, places=4, shares=lambda: known)
        front = Bulkheads(accepting, {RequestKind.PEOPLE: size})
        for _ in range(2):  # the second has the thread when the first is counted
            await ask(front, "GET", "/api/v1/jobs", caller="address:192.0.2.1")

    asyncio.run(story())
    assert known.wait_seconds("team:1") > 0.0
    assert known.wait_seconds("address:192.0.2.1") == 0.0


def test_whose_share_is_used_up_gets_429_and_when_to_come_again() -> None:
    async def quick(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def story() -> list[Answer]:
        size = LaneSize(
            threads=1,
            places=4,
            longest_wait_seconds=0.01,
            shares=partial(ProcessorShares, share=1e-6, window_seconds=0.0, is_short=lambda: True),
        )
        front = Bulkheads(quick, {RequestKind.PEOPLE: size})
        return [await ask(front, "GET", "/api/v1/jobs") for _ in range(2)]

    first, second = asyncio.run(story())
    assert first.status == 200
    assert (second.status, second.json()["code"]) == (429, "too_many_requests")
    assert second.headers["retry-after"] == "2"
