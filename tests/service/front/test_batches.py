"""Are reports that come together stored together, within bounds, and does none keep others back?"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from control_plane.front.coordinators.batches import (
    MOST_BYTES_TOGETHER,
    MOST_TOGETHER,
    THREADS,
    Answer,
    Batches,
    ReceivedReport,
)
from control_plane.front.coordinators.held_jobs import HeldJobs
from control_plane.front.coordinators.pace import ReportPacing
from control_plane.front.threads.lanes import Busy, ShareIsUsed
from control_plane.front.threads.processor_shares import ProcessorShares

OK: Answer = (200, {})


def told(job: object, size: int = 10) -> ReceivedReport:
    return ReceivedReport(job_id=str(job), authorization="", body=b"x" * size)


class Store:
    """Notes what is stored together; waits until it is let, if a test says so."""

    def __init__(self, *, is_free: bool = True) -> None:
        self.batches: list[list[str]] = []
        self.held: set[str] = set()  # jobs whose rows somebody else holds
        self.may_go = threading.Event()
        if is_free:
            self.may_go.set()

    def __call__(self, told: Sequence[ReceivedReport]) -> list[Answer | None]:
        self.batches.append([one.job_id for one in told])
        self.may_go.wait()
        return [None if one.job_id in self.held else OK for one in told]


def line(store: Store, **changes: Any) -> Batches:
    given = {"pause_seconds": 0.0, "shares": ProcessorShares(is_short=lambda: False)}
    return Batches(store, pace=ReportPacing(), **{**given, **changes})


def run(story: Callable[[], Awaitable[Any]]) -> Any:
    async def bounded() -> Any:
        async with asyncio.timeout(30):
            return await story()

    return asyncio.run(bounded())


async def until(happened: Callable[[], bool]) -> None:
    while not happened():  # noqa: ASYNC110 - threads make it so
        await asyncio.sleep(0)


async def taken(batches: Batches, store: Store) -> list[asyncio.Task[Answer]]:
    """Let every thread have one report, which it cannot store yet."""
    tasks = []
    for number in range(THREADS):
        tasks.append(asyncio.create_task(batches.answer(told(f"taken{number}"))))
        await until(lambda number=number: len(store.batches) > number)  # type: ignore[misc]
    return tasks


def test_reports_of_jobs_that_were_woken_go_before_all_that_wait() -> None:
    """The last of many to come was woken, and another one while it waited already."""
    store, held, many = Store(is_free=False), HeldJobs(most=5), 2 * MOST_TOGETHER

    async def story() -> None:
        batches = line(store, expected=held.expected)
        tasks = await taken(batches, store)
        held.wake([str(many - 1)])
        tasks += [asyncio.create_task(batches.answer(told(number))) for number in range(many)]
        await until(lambda: len(batches) == many)
        held.wake([str(many - 2), "elsewhere"])
        store.may_go.set()
        await asyncio.gather(*tasks)

    run(story)
    first = store.batches[THREADS]
    assert first[:2] == [str(many - 2), str(many - 1)]
    assert first[2:] == [str(number) for number in range(MOST_TOGETHER - 2)]
    assert [str(many - 1) in held.expected, "elsewhere" in held.expected] == [False, True]


def test_those_that_wait_when_a_thread_begins_go_together_and_each_gets_its_answer() -> None:
    store, many = Store(is_free=False), MOST_TOGETHER + 10

    async def story() -> list[Answer]:
        batches = line(store)
        tasks = await taken(batches, store)
        tasks += [asyncio.create_task(batches.answer(told(number))) for number in range(many)]
        await until(lambda: len(batches) == many)
        store.may_go.set()
        return list(await asyncio.gather(*tasks))

    assert run(story) == [OK] * (many + THREADS)
    names = [str(number) for number in range(many)]
    assert sorted(store.batches[THREADS:]) == sorted([names[:MOST_TOGETHER], names[MOST_TOGETHER:]])


def test_long_reports_do_not_go_together() -> None:
    store = Store(is_free=False)

    async def story() -> None:
        batches = line(store)
        tasks = await taken(batches, store)
        for number, size in enumerate((10, MOST_BYTES_TOGETHER, 10)):
            tasks.append(asyncio.create_task(batches.answer(told(number, size))))
        await until(lambda: len(batches) == 3)
        store.may_go.set()
        await asyncio.gather(*tasks)

    run(story)
    assert sorted(store.batches[THREADS:]) == [["0"], ["1"], ["2"]]


def test_of_one_job_only_one_is_stored_at_a_time_and_the_newest_waits() -> None:
    store = Store(is_free=False)

    async def story() -> list[Any]:
        batches = line(store)
        tasks = [asyncio.create_task(batches.answer(told("same")))]
        await until(lambda: bool(store.batches))
        tasks += [asyncio.create_task(batches.answer(told("same"))) for _ in range(2)]
        await until(tasks[1].done)
        store.may_go.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    first, second, third = run(story)
    assert (first, third) == (OK, OK)
    assert isinstance(second, Busy)
    assert store.batches == [["same"], ["same"]]


def test_ten_times_what_may_wait_is_refused_and_afterwards_everybody_is_answered() -> None:
    store = Store(is_free=False)

    async def story() -> tuple[list[Any], Answer]:
        batches = line(store, most_waiting=10)
        tasks = await taken(batches, store)
        crowd = [asyncio.create_task(batches.answer(told(number))) for number in range(100)]
        await until(lambda: sum(one.done() for one in crowd) == 90)
        store.may_go.set()
        answers = await asyncio.gather(*tasks, *crowd, return_exceptions=True)
        return answers, await batches.answer(told("later"))

    answers, later = run(story)
    assert sum(answer == OK for answer in answers) == 10 + THREADS
    assert sum(isinstance(answer, Busy) for answer in answers) == 90
    assert later == OK


def test_whoever_hangs_up_while_it_waits_is_not_stored() -> None:
    store = Store(is_free=False)

    async def story() -> None:
        batches = line(store)
        tasks = await taken(batches, store)
        gone = asyncio.create_task(batches.answer(told("gone")))
        await until(lambda: len(batches) == 1)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        assert len(batches) == 0
        store.may_go.set()
        await asyncio.gather(*tasks)

    run(story)
    assert len(store.batches) == THREADS


def test_a_job_whose_row_is_held_is_tried_again_and_keeps_no_other_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("control_plane.front.coordinators.batches.AGAIN_SECONDS", 0.0)
    store = Store()
    store.held = {"held"}

    async def story() -> Answer:
        batches = line(store)
        held = asyncio.create_task(batches.answer(told("held")))
        assert await batches.answer(told("other")) == OK
        await until(lambda: len(store.batches) > 5)
        assert not held.done()
        store.held = set()
        return await held

    assert run(story) == OK


def test_whoever_waits_too_long_is_told_to_come_again() -> None:
    store = Store()
    store.held = {"held"}

    async def story() -> int:
        batches = line(store, longest_wait_seconds=0.05)
        with pytest.raises(Busy):
            await batches.answer(told("held"))
        return len(batches)

    assert run(story) == 0


def test_what_is_being_stored_is_answered_however_long_it_takes() -> None:
    store = Store(is_free=False)

    async def story() -> Answer:
        batches = line(store, longest_wait_seconds=0.0)
        slow = asyncio.create_task(batches.answer(told("slow")))
        await until(lambda: bool(store.batches))
        await asyncio.sleep(0)
        assert not slow.done()
        store.may_go.set()
        return await slow

    assert run(story) == OK


def test_a_fault_of_the_store_is_told_to_all_that_went_together_and_to_no_other() -> None:
    def breaks(told: Sequence[ReceivedReport]) -> list[Answer | None]:
        if told[0].job_id == "bad":
            raise ZeroDivisionError
        return [OK for _ in told]

    async def story() -> Answer:
        batches = Batches(
            breaks,
            pace=ReportPacing(),
            shares=ProcessorShares(is_short=lambda: False),
            pause_seconds=0.0,
        )
        with pytest.raises(ZeroDivisionError):
            await batches.answer(told("bad"))
        return await batches.answer(told("good"))

    assert run(story) == OK


def test_a_job_whose_reports_cost_too_much_is_turned_away_for_a_while() -> None:
    now = 100.0
    shares = ProcessorShares(share=0.06, clock=lambda: now, is_short=lambda: True)
    shares.use("dear", 60.0)
    store = Store()

    async def story() -> Answer:
        batches = line(store, shares=shares)
        with pytest.raises(ShareIsUsed):
            await batches.answer(told("dear"))
        return await batches.answer(told("cheap"))

    assert run(story) == OK
    assert store.batches == [["cheap"]]
