"""Are threads bounded, and is everybody's turn kept however much one caller asks for?"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from control_plane.front.asgi_types import Message, Receive, Scope, Send
from control_plane.front.callers import CALLER
from control_plane.front.threads.bulkheads import Bulkheads, RequestKind, kind_of, sizes
from control_plane.front.threads.delivery import Delivery
from control_plane.front.threads.lanes import Busy, Lanes, LaneSize
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.http import HttpResponse

from tests.service.front.asking import Answer, ask, scope_of


def size(**changes: Any) -> LaneSize:
    return LaneSize(**{"threads": 1, "places": 4, "longest_wait_seconds": 60.0, **changes})


async def settle() -> None:
    """Let everything run that can."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_callers_take_turns_however_many_requests_one_has_waiting() -> None:
    async def story() -> list[str]:
        lanes = Lanes("test", size(places=6))
        thread = await lanes.take("loud")
        order: list[str] = []

        async def request(caller: str) -> None:
            own = await lanes.take(caller)
            order.append(caller)
            lanes.give_back(own)

        waiting = [asyncio.create_task(request("loud")) for _ in range(3)]
        await settle()
        waiting.append(asyncio.create_task(request("quiet")))
        await settle()
        lanes.give_back(thread)
        await asyncio.gather(*waiting)
        return order

    assert asyncio.run(story()) == ["loud", "quiet", "loud", "loud"]


def test_one_caller_takes_half_of_the_places_at_most_and_all_of_them_together_no_more() -> None:
    async def story() -> tuple[int, bool, bool]:
        lanes = Lanes("test", size(places=4))
        await lanes.take("loud")
        tasks = [asyncio.create_task(lanes.take("loud")) for _ in range(2)]
        await settle()
        with pytest.raises(Busy):
            await lanes.take("loud")
        tasks += [asyncio.create_task(lanes.take(f"other-{number}")) for number in range(2)]
        await settle()
        waiting = lanes.waiting
        with pytest.raises(Busy):
            await lanes.take("other-0")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return waiting, lanes.waiting == 0, all(task.cancelled() for task in tasks)

    assert asyncio.run(story()) == (4, True, True)


def test_where_two_callers_have_all_places_the_newest_of_the_longest_queue_makes_room() -> None:
    async def story() -> tuple[list[str], list[str], list[str]]:
        lanes = Lanes("test", size(places=4))
        thread = await lanes.take("loud")
        order: list[str] = []

        async def request(caller: str, name: str) -> str:
            try:
                own = await lanes.take(caller)
            except Busy:
                return name
            order.append(name)
            lanes.give_back(own)
            return ""

        tasks = []
        for caller in ("loud", "loud", "louder", "louder", "late", "later", "latest"):
            tasks.append(asyncio.create_task(request(caller, f"{caller}-{len(tasks)}")))
            await settle()
        early = [task.result() for task in tasks if task.done()]
        lanes.give_back(thread)
        return early, order, [name for name in await asyncio.gather(*tasks) if name]

    early, order, refused = asyncio.run(story())
    assert early == refused == ["loud-1", "louder-3", "latest-6"]  # all wait with one in the end
    assert order == ["loud-0", "louder-2", "late-4", "later-5"]


def test_callers_of_a_group_share_half_of_the_threads_and_its_turns() -> None:
    async def story() -> tuple[list[str], int]:
        lanes = Lanes("test", size(threads=4, places=10))
        order: list[str] = []

        async def request(caller: str, group: str) -> None:
            own = await lanes.take(caller, group)
            order.append(caller)
            lanes.give_back(own)

        held = [await lanes.take(f"loud-{number}", "loud") for number in range(2)]
        waiting = [
            asyncio.create_task(request(f"loud-{number}", "loud")) for number in (2, 2, 3, 4)
        ]
        await settle()
        had_to_wait = lanes.waiting
        others = [await lanes.take("quiet-1", "quiet"), await lanes.take("late", "late")]
        waiting.append(asyncio.create_task(request("quiet-2", "quiet")))
        await settle()
        for thread in (held[0], others[0]):
            lanes.give_back(thread)
        await asyncio.gather(*waiting)
        return order, had_to_wait

    order, had_to_wait = asyncio.run(story())
    assert had_to_wait == 4
    assert order.index("quiet-2") <= 1
    assert [caller for caller in order if caller != "quiet-2"] == [
        "loud-2", "loud-3", "loud-4", "loud-2",
    ]  # fmt: skip


def test_a_group_with_most_requests_makes_room_however_many_callers_it_has() -> None:
    async def story() -> tuple[list[bool], bool]:
        lanes = Lanes("test", size(places=3))
        await lanes.take("loud-0", "loud")
        crowd = [
            asyncio.create_task(lanes.take(f"loud-{number}", "loud")) for number in range(1, 4)
        ]
        await settle()
        quiet = asyncio.create_task(lanes.take("quiet", "quiet"))
        await settle()
        pushed_out = [isinstance(task.exception(), Busy) for task in crowd if task.done()]
        waits = not quiet.done()
        for task in (*crowd, quiet):
            task.cancel()
        await asyncio.gather(*crowd, quiet, return_exceptions=True)
        return pushed_out, waits

    assert asyncio.run(story()) == ([True], True)


def test_who_waits_too_long_is_told_so_and_leaves_the_queue() -> None:
    async def story() -> int:
        lanes = Lanes("test", size(longest_wait_seconds=0.01))
        await lanes.take("first")
        with pytest.raises(Busy):
            await lanes.take("second")
        return lanes.waiting

    assert asyncio.run(story()) == 0


def test_a_thread_counts_as_taken_until_it_has_done_what_a_lost_client_left_behind() -> None:
    async def story() -> tuple[bool, bool]:
        lanes = Lanes("test", size())
        thread = await lanes.take("gone")
        may_end = threading.Event()
        left_behind = thread.submit(may_end.wait)
        lanes.give_back(thread)
        waiting = asyncio.create_task(lanes.take("next"))
        await settle()
        was_early = waiting.done()
        may_end.set()
        await waiting
        return was_early, left_behind.done()

    assert asyncio.run(story()) == (False, True)


class Slow:
    """An application whose people's requests wait, in their threads, until they may end."""

    def __init__(self, content_type: bytes = b"text/plain") -> None:
        self.may_end = threading.Event()
        self.threads: set[str] = set()
        self.running = 0
        self._content_type = content_type

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        self.running += 1
        await sync_to_async(self._work, thread_sensitive=True)(scope["path"])
        headers = [(b"content-type", self._content_type)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _work(self, path: str) -> None:
        self.threads.add(threading.current_thread().name)
        if path == "/api/v1/jobs":
            self.may_end.wait()


def test_beyond_its_places_the_service_refuses_and_still_tells_its_health_and_signs_in() -> None:
    async def story() -> tuple[list[Answer], list[Answer], set[str]]:
        slow = Slow()
        bulkheads = Bulkheads(slow, {**sizes(1), RequestKind.PEOPLE: size(threads=4, places=2)})
        crowd = [asyncio.create_task(ask(bulkheads, "GET", "/api/v1/jobs")) for _ in range(8)]
        while slow.running < 2 or sum(task.done() for task in crowd) < 5:  # noqa: ASYNC110 - as below
            await asyncio.sleep(0)
        others = [
            await ask(bulkheads, "GET", "/api/v1/health"),
            await ask(bulkheads, "POST", "/api/v1/session"),
            await ask(bulkheads, "POST", "/admin/login/"),
            await ask(bulkheads, "POST", "/internal/v1/jobs/a/sync"),
        ]
        slow.may_end.set()
        return list(await asyncio.gather(*crowd)), others, slow.threads

    crowd, others, threads = asyncio.run(story())
    refused = [answer for answer in crowd if answer.status == 503]
    # One caller: two of the four threads, and one place of the two.
    assert (len(refused), len(crowd) - len(refused)) == (5, 3)
    assert refused[0].json()["code"] == "overloaded"
    assert refused[0].headers["retry-after"] == "2"
    assert [answer.status for answer in others] == [200] * 4
    assert sum(name.startswith("people") for name in threads) == 2


def test_a_stream_gives_its_thread_back_when_it_begins() -> None:
    async def story() -> list[int]:
        slow = Slow(content_type=b"text/event-stream")
        goes_on = asyncio.Event()

        async def streaming(scope: Scope, receive: Receive, send: Send) -> None:
            await slow(scope, receive, send)
            await goes_on.wait()

        bulkheads = Bulkheads(streaming, {RequestKind.PEOPLE: size()})
        first = asyncio.create_task(ask(bulkheads, "GET", "/stream"))
        second = asyncio.create_task(ask(bulkheads, "GET", "/stream"))
        while slow.running < 2:  # noqa: ASYNC110 - threads tell of no event
            await asyncio.sleep(0)
        goes_on.set()
        return [answer.status for answer in await asyncio.gather(first, second)]

    assert asyncio.run(story()) == [200, 200]


class Unread:
    """An application with an answer in one piece, and a client of it that reads on demand."""

    def __init__(self) -> None:
        self.reads = asyncio.Event()
        self.begun = 0
        self.cut = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's
        await receive()
        await sync_to_async(str, thread_sensitive=True)()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            await send({"type": "http.response.body", "body": b"long"})
        except asyncio.CancelledError:
            self.cut += 1  # as Django takes it: the client is gone

    async def sent_to(self, bulkheads: Bulkheads) -> None:
        async def send(message: Message) -> None:
            if message["type"] == "http.response.body":
                self.begun += 1
                await self.reads.wait()

        asked: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> Message:
            return asked.pop() if asked else await asyncio.Future[Message]()

        await bulkheads({**scope_of("GET", "/x", {}), CALLER: "idle"}, receive, send)


def test_who_does_not_read_answers_holds_no_thread_and_gets_so_many_and_no_more() -> None:
    async def story() -> tuple[list[int], int]:
        unread = Unread()
        bulkheads = Bulkheads(
            unread,
            {RequestKind.PEOPLE: size()},
            delivery=Delivery(longest_seconds=60.0, most_unread=3),
        )
        waiting = [asyncio.create_task(unread.sent_to(bulkheads)) for _ in range(3)]
        while unread.begun < 3:  # noqa: ASYNC110 - threads tell of no event
            await asyncio.sleep(0)
        answers = [await ask(bulkheads, "GET", "/x", caller=caller) for caller in ("idle", "other")]
        unread.reads.set()
        await asyncio.gather(*waiting)
        answers.append(await ask(bulkheads, "GET", "/x", caller="idle"))
        return [answer.status for answer in answers], unread.cut

    assert asyncio.run(story()) == ([503, 200, 200], 0)


def test_of_long_answers_that_a_group_does_not_read_so_many_bytes_are_held() -> None:
    async def story() -> tuple[bool, bool, bool]:
        delivery = Delivery(most_unread_bytes=100)
        answers = [delivery.begin("idle") for _ in range(2)]
        head = {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"Content-Length", b"50")],
        }

        async def send(_: Message) -> None:
            """It is taken at once."""

        for answer in answers:
            await answer.send(send, head)
        has_room = delivery.has_room("idle"), delivery.has_room("other")
        answers[0].end()
        return *has_room, delivery.has_room("idle")

    assert asyncio.run(story()) == (False, True, True)


def test_an_answer_that_is_not_read_in_time_is_cut_off() -> None:
    async def story() -> int:
        unread = Unread()
        delivery = Delivery(longest_seconds=0.01)
        await unread.sent_to(Bulkheads(unread, {RequestKind.PEOPLE: size()}, delivery=delivery))
        return unread.cut

    assert asyncio.run(story()) == 1


def test_django_ends_an_answer_that_is_cut_off_and_closes_it() -> None:
    closed: list[str] = []

    class Handler(ASGIHandler):
        def load_middleware(self, is_async: bool = False) -> None:  # noqa: FBT001, FBT002 - Django's
            pass

        async def get_response_async(self, request: ASGIRequest) -> HttpResponse:  # noqa: ARG002 - Django's
            response = HttpResponse(b"x")
            response._resource_closers.append(lambda: closed.append("closed"))  # noqa: SLF001 - as files do
            return response

    async def story() -> None:
        delivery = Delivery(longest_seconds=0.01)
        await Unread().sent_to(
            Bulkheads(Handler(), {RequestKind.PEOPLE: size()}, delivery=delivery)
        )

    asyncio.run(story())
    assert closed == ["closed"]


def test_each_address_goes_through_the_lanes_of_its_kind() -> None:
    assert kind_of("/api/v1/jobs") is RequestKind.PEOPLE
    assert kind_of("/admin/tenancy/team/") is RequestKind.PEOPLE
    assert kind_of("/admin/login/") is RequestKind.SIGN_IN
    assert kind_of("/internal/v1/jobs/x/sync") is RequestKind.COORDINATORS
