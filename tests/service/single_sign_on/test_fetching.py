"""Is an answer of the provider bounded, however it comes?"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

import pytest
import requests
from requests.exceptions import ConnectionError as NotReached
from tenancy.single_sign_on.fetching import BoundedAdapter

BEGINNING = b"HTTP/1.1 200 OK\r\n"
Writer = Callable[[Callable[[bytes], None]], None]


@contextmanager
def listening(write: Writer) -> Iterator[str]:
    """A server for one connection, which writes what it likes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.recv(65536)
                write(connection.sendall)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        thread.join()


def fetched(address: str, *, whole_seconds: float = 60, most_bytes: int = 1000) -> bytes:
    with requests.Session() as session:
        session.trust_env = False
        session.mount("http://", BoundedAdapter(whole_seconds=whole_seconds, most_bytes=most_bytes))
        return session.get(address).content


def dripping(beginning: bytes) -> Writer:
    """A byte now and then, each sooner than any timeout of a socket, until nobody listens."""

    def write(send: Callable[[bytes], None]) -> None:
        send(beginning)
        while not Event().wait(0.02):
            send(b"x")

    return write


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        BEGINNING + b"X-Long: ",
        BEGINNING + b"Content-Length: 100000\r\n\r\n",
        BEGINNING + b"\r\n",
    ],
    ids=["first line", "header", "announced body", "body until the end"],
)
def test_an_answer_that_drips_ends_when_its_time_is_over(beginning: bytes) -> None:
    with listening(dripping(beginning)) as address, pytest.raises(NotReached, match="too slowly"):
        fetched(address, whole_seconds=0.3, most_bytes=100_000)


def test_an_answer_is_read_whole_up_to_its_bound() -> None:
    with listening(lambda send: send(BEGINNING + b"\r\n" + b"x" * 1000)) as address:
        assert fetched(address) == b"x" * 1000
    with (
        listening(lambda send: send(BEGINNING + b"\r\n" + b"x" * 1001)) as address,
        pytest.raises(NotReached, match="too much"),
    ):
        fetched(address)


def test_no_redirect_is_followed() -> None:
    told = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    with (
        listening(lambda send: send(told)) as address,
        pytest.raises(NotReached, match="elsewhere"),
    ):
        fetched(address)
