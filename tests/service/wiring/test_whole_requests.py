"""Does a request go through Django in one thread, whole?"""

from __future__ import annotations

import asyncio
from typing import Any

from control_plane.web.whole_requests import WholeRequestsHandler

from tests.service.front.asking import Answer, ask


class Counting(asyncio.SelectorEventLoop):
    """A loop that counts what threads hand back to it."""

    handed_back = 0

    def call_soon_threadsafe(self, *work: Any, **named: Any) -> Any:
        self.handed_back += 1
        return super().call_soon_threadsafe(*work, **named)


def test_a_request_is_handed_between_loop_and_thread_no_more_than_it_has_to_be() -> None:
    """Of Django's own handler a thread hands something back eleven times."""
    loop = Counting()

    async def story() -> tuple[Answer, int]:
        answer = await ask(WholeRequestsHandler(), "GET", "/api/v1/nothing")
        return answer, loop.handed_back

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        answer, handed_back = runner.run(story())
    assert (answer.status, answer.json()["code"]) == (404, "not_found")
    assert handed_back <= 4
