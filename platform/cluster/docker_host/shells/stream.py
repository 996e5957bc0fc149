"""How do the attendant's words come through Docker? In frames of Docker's, two kinds of them."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from cluster.worker_host import WorkerHostError

_HEAD: Final = struct.Struct(">BxxxI")
_SAID: Final = 1  # standard output; the rest is what a shell says when there is no Python
_CHUNK: Final = 1 << 16
_MOST_WORDS: Final = 2000
_LOOK_SECONDS: Final = 1.0
_SEND_SECONDS: Final = 10.0  # an attendant always reads
_NOT_NOW: Final = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class ContainerShell:
    """One `docker exec`, whose standard input and output this is.

    One thread reads while another writes, which a connection with TLS does not bear: each waits for
    the socket without the lock, and does not wait with it.
    """

    def __init__(self, connection: Any, *, why_over: Callable[[str], WorkerHostError]) -> None:
        self._opened = connection  # as Docker's client gives it, with its answer
        self._socket = getattr(connection, "_sock", connection)
        self._socket.setblocking(False)
        self._lock = threading.Lock()
        self._rest = b""
        self._words = b""
        self._has_spoken = False
        self._why_over = why_over

    def read(self) -> bytes | None:
        """See `ShellStream`. Raises: CannotEnter, if it ended without a word of the attendant."""
        if not self._has_pending() and not _is_ready(self._socket):
            return None
        try:
            with self._lock:
                data = self._socket.recv(_CHUNK)
        except _NOT_NOW:
            return None
        except OSError:
            data = b""
        if not data:
            if not self._has_spoken and self._words:
                raise self._why_over(self._words.decode(errors="replace").strip())
            return b""
        self._rest += data
        return self._said() or None

    def write(self, data: bytes) -> None:
        give_up_at, rest = time.monotonic() + _SEND_SECONDS, memoryview(data)
        while rest:
            rest = rest[self._sent(rest) :]
            left = max(give_up_at - time.monotonic(), 0.0)
            if rest and not select.select([], [self._socket], [], left)[1]:
                raise TimeoutError("The command's attendant does not answer.")

    def hang_up(self) -> None:
        with contextlib.suppress(OSError), self._lock:
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.hang_up()
        answer = getattr(self._opened, "_response", None)
        for one in (self._opened, self._socket, *([answer] if answer is not None else [])):
            with contextlib.suppress(OSError, ValueError):  # one may have closed another
                one.close()

    def _has_pending(self) -> bool:
        """True if TLS has read more than was asked for; then the socket may be silent."""
        with self._lock:
            return isinstance(self._socket, ssl.SSLSocket) and self._socket.pending() > 0

    def _sent(self, data: memoryview) -> int:
        try:
            with self._lock:
                return int(self._socket.send(data))
        except _NOT_NOW:
            return 0

    def _said(self) -> bytes:
        said = b""
        while len(self._rest) >= _HEAD.size:
            kind, size = _HEAD.unpack_from(self._rest)
            if len(self._rest) < _HEAD.size + size:
                break
            payload, self._rest = (
                self._rest[_HEAD.size : _HEAD.size + size],
                self._rest[_HEAD.size + size :],
            )
            if kind == _SAID:
                said += payload
            elif len(self._words) < _MOST_WORDS:
                self._words += payload
        self._has_spoken = self._has_spoken or bool(said)
        return said


def _is_ready(connection: Any) -> bool:
    return bool(select.select([connection], [], [], _LOOK_SECONDS)[0])
