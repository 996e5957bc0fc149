"""Does a coordinator wait for the service's word on one connection, and ask anew if that breaks?"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from concertina_worker.coordinator.connections.held_call import HttpWaker
from concertina_worker.coordinator.connections.service import ServiceUnavailableError


class Holding:
    """A server of one connection after the other, that answers what it is told, or hangs up."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self.calls: list[asyncio.Task[Any] | None] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.calls.append(asyncio.current_task())
        while self.answers:
            try:
                self.requests.append(await reader.readuntil(b"\r\n\r\n"))
            except EOFError:
                break
            answer = self.answers.pop(0)
            if not answer:
                break
            writer.write(answer)
        writer.close()
        await writer.wait_closed()


def asked(holding: Holding, times: int) -> list[Any]:
    """What each of so many requests came to."""

    async def run() -> list[Any]:
        server = await asyncio.start_server(holding, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/at"
        waker = HttpWaker(url=url, job_id="abc", token=lambda: "secret")
        said: list[Any] = []
        for _ in range(times):
            try:
                said.append(await waker.is_woken(heard_seconds=1.5))
            except ServiceUnavailableError:
                said.append(None)
        waker.hang_up()
        server.close()
        await asyncio.gather(*filter(None, holding.calls))
        return said

    return asyncio.run(run())


def test_requests_that_wait_share_a_connection() -> None:
    holding = Holding(
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    )
    assert asked(holding, 3) == [True, False, None]
    assert len(holding.calls) == 1
    first = holding.requests[0].decode()
    assert first.startswith("GET /at/internal/v1/jobs/abc/wake?heard=1.500 HTTP/1.1\r\n")
    assert "\r\nAuthorization: Bearer secret\r\n" in first


@pytest.mark.parametrize(
    "answer",
    [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"],
    ids=["hangs up", "nonsense", "too long"],
)
def test_a_service_that_dies_while_it_holds_a_request_is_asked_anew(answer: bytes) -> None:
    holding = Holding(answer, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    assert asked(holding, 2) == [None, True]
    assert len(holding.calls) == 2
