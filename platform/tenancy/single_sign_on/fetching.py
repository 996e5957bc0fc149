"""How does a request to the provider stay within bounds of time, size and place?

It follows no redirect, reads so many bytes for so long, and no more requests are under way than a
few: each takes one of the threads that answer everybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from socket import SHUT_RDWR, socket
from threading import BoundedSemaphore, Lock, Timer
from typing import Any, Final

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from requests.exceptions import ConnectionError as NotReached
from requests.exceptions import RequestException
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from tenancy.single_sign_on.refusals import ProviderBusy

MOST_BYTES: Final = 256 * 1024  # of an answer; guessed: keys and claims have a few thousand
WAIT_SECONDS: Final = 5.0  # for a connection, and for each byte
WHOLE_SECONDS: Final = 10.0  # for an answer
AT_ONCE: Final = 2  # of one process, of whose threads most so stay free
_PIECE: Final = 16 * 1024

_free: Final = BoundedSemaphore(AT_ONCE)


@contextmanager
def one_of_few() -> Iterator[None]:
    """Hold a place while the provider is asked. Raises: ProviderBusy, at once."""
    if not _free.acquire(blocking=False):
        raise ProviderBusy
    try:
        yield
    finally:
        _free.release()


class BoundedAdapter(HTTPAdapter):
    """Sends requests of a session of `requests`."""

    def __init__(
        self, *, whole_seconds: float = WHOLE_SECONDS, most_bytes: int = MOST_BYTES
    ) -> None:
        self._whole_seconds = whole_seconds
        self._most_bytes = most_bytes
        super().__init__()

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = {"http": _PlainPool, "https": _EncryptedPool}

    def send(self, request: PreparedRequest, *_: Any, **options: Any) -> Response:
        """Return the answer, read whole. Raises: NotReached."""
        options |= {"stream": True, "timeout": (WAIT_SECONDS, WAIT_SECONDS)}
        request.headers["Connection"] = "close"  # one that is used again is not watched
        with _deadline(self._whole_seconds) as deadline:
            try:
                response = self._read(super().send(request, **options))
            except RequestException as problem:
                if deadline.is_over:
                    raise _too_much(request) from problem
                raise
        if deadline.is_over:  # what was cut may look as if it ended there
            raise _too_much(request)
        return response

    def _read(self, response: Response) -> Response:
        if response.is_redirect:
            response.close()
            raise NotReached(f"{response.url} redirects elsewhere; name its last address.")
        content = b""
        for piece in response.iter_content(_PIECE):
            content += piece
            if len(content) > self._most_bytes:
                response.close()
                raise _too_much(response.request)
        response._content = content  # noqa: SLF001 - `requests` has no other way to bound an answer
        return response


class _Deadline:
    """Cuts the connections of a request when its time is over, whatever they are waiting for.

    A timeout of a socket is for its next byte, so a byte now and then would hold a thread for ever.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._lock = Lock()
        self._watched: list[socket] = []

    def watch(self, connection: socket) -> None:
        with self._lock:
            self._watched.append(connection.dup())  # TLS takes the original over

    def cut(self) -> None:
        with self._lock:
            self.is_over = True
            for connection in self._watched:
                with suppress(OSError):  # it has ended by itself
                    connection.shutdown(SHUT_RDWR)

    def close(self) -> None:
        with self._lock:
            for connection in self._watched:
                connection.close()
            self._watched.clear()


_CURRENT: Final[ContextVar[_Deadline]] = ContextVar("deadline")


@contextmanager
def _deadline(seconds: float) -> Iterator[_Deadline]:
    deadline = _Deadline()
    timer = Timer(seconds, deadline.cut)
    timer.daemon = True
    timer.start()
    before = _CURRENT.set(deadline)
    try:
        yield deadline
    finally:
        _CURRENT.reset(before)
        timer.cancel()
        deadline.close()


class _PlainConnection(HTTPConnection):
    def _new_conn(self) -> socket:
        made = super()._new_conn()
        _CURRENT.get().watch(made)
        return made


class _EncryptedConnection(HTTPSConnection):
    def _new_conn(self) -> socket:
        made = super()._new_conn()
        _CURRENT.get().watch(made)
        return made


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _PlainConnection


class _EncryptedPool(HTTPSConnectionPool):
    ConnectionCls = _EncryptedConnection


def _too_much(request: PreparedRequest) -> NotReached:
    return NotReached(f"{request.url} answers too much, or too slowly.")
