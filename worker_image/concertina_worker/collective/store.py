"""Where do the members of a generation leave their addresses for each other? On a small board.

It lives in the first member, for one generation. Not torch's TCPStore, because that looks up the
*name* of every peer: where name service is slow or away, each connection then takes seconds.

The first line of a connection is the job's token: what members tell each other is trusted, down to
objects that are unpickled, so a stranger must not be able to put an address of its own on a board.
"""

from __future__ import annotations

import contextlib
import hmac
import socket
import threading
import time
import weakref
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from torch.distributed import Store  # type: ignore[attr-defined] # its stubs forget it

from concertina_worker.collective.wires import Wires
from concertina_worker.wire import Message, PeerConnection, ProtocolError

CONNECT_SECONDS: Final = 10.0
HELLO_SECONDS: Final = 15.0  # for a connection to say the token
LONG_POLL_SECONDS: Final = 5.0  # a wait is asked anew after this, so that no socket hangs
CUT_POLL_SECONDS: Final = 0.5  # whoever waits for a member notices after this that it is no use


class Board:
    """Keys and values; whoever waits for a key gets it as soon as it is there."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._changed = threading.Condition()

    def put(self, key: str, value: str) -> None:
        with self._changed:
            self._values[key] = value
            self._changed.notify_all()

    def take(self, key: str, *, seconds: float) -> str | None:
        """The value, as soon as it is there; None after this time."""
        with self._changed:
            self._changed.wait_for(lambda: key in self._values, timeout=seconds)
            return self._values.get(key)


class BoardServer:
    """A board that others reach over TCP; closed when nobody refers to it any more."""

    def __init__(self, host: str, token: str) -> None:
        self.board = Board()
        listener = socket.create_server((host, 0))
        self.port = int(listener.getsockname()[1])
        arguments = (listener, self.board, token)
        threading.Thread(
            target=_accept, args=arguments, name="concertina_board", daemon=True
        ).start()
        weakref.finalize(self, _close, listener)


class RemoteBoard:
    """Another worker's board. Every method raises RuntimeError when that worker is gone."""

    def __init__(self, host: str, port: int, token: str) -> None:
        try:
            stream = socket.create_connection((host, port), timeout=CONNECT_SECONDS)
        except OSError as error:
            raise RuntimeError(f"cannot reach the board at {host}:{port}: {error}") from error
        stream.settimeout(CONNECT_SECONDS + LONG_POLL_SECONDS)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = PeerConnection(stream)
        self._asking = threading.Lock()
        weakref.finalize(self, self._connection.close)
        self._ask({"type": "hello", "token": token})

    def put(self, key: str, value: str) -> None:
        self._ask({"type": "put", "key": key, "value": value})

    def take(self, key: str, *, seconds: float) -> str | None:
        deadline = time.monotonic() + seconds
        while True:
            left = max(0.0, min(deadline - time.monotonic(), LONG_POLL_SECONDS))
            answer = self._ask({"type": "take", "key": key, "seconds": left})
            if answer["value"] is not None or time.monotonic() >= deadline:
                return str(answer["value"]) if answer["value"] is not None else None

    def _ask(self, question: Message) -> Message:
        try:
            with self._asking:
                self._connection.send(question)
                answer = self._connection.receive()
        except (OSError, ProtocolError, ValueError) as error:
            raise RuntimeError(f"the board is gone: {error}") from error
        if answer is None:
            raise RuntimeError("the board is gone")
        return answer


class GlooStore(Store):
    """A board as gloo wants to see it."""

    def __init__(
        self, board: Board | RemoteBoard, wires: Wires, *, prefix: str, timeout_seconds: float
    ) -> None:
        super().__init__()
        self._board = board
        self._wires = wires
        self._prefix = prefix
        self._timeout_seconds = timeout_seconds

    def set(self, key: str, value: bytes | str) -> None:
        text = value if isinstance(value, str) else value.decode("latin-1")
        self._wires.note(text.encode("latin-1"))
        self._board.put(self._prefix + key, text)

    def get(self, key: str) -> bytes:
        value = self._get(key, self._timeout_seconds).encode("latin-1")
        self._wires.note(value)
        return value

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        seconds = timeout.total_seconds() if timeout else self._timeout_seconds
        for key in keys:
            self._get(key, seconds)

    def _get(self, key: str, seconds: float) -> str:
        deadline = time.monotonic() + seconds
        while not self._wires.are_cut:
            left = deadline - time.monotonic()
            value = self._board.take(self._prefix + key, seconds=min(left, CUT_POLL_SECONDS))
            if value is not None:
                return value
            if left <= 0:
                raise RuntimeError(f"nobody told {key} in {seconds:.0f} s")
        raise RuntimeError("the group was given up")


def _accept(listener: socket.socket, board: Board, token: str) -> None:
    """Accept connections until the listener is closed."""
    with contextlib.suppress(OSError):
        while True:
            stream, _ = listener.accept()
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            arguments = (stream, board, token)
            threading.Thread(
                target=_serve, args=arguments, name="concertina_board", daemon=True
            ).start()


def _serve(stream: socket.socket, board: Board, token: str) -> None:
    stream.settimeout(HELLO_SECONDS)
    connection = PeerConnection(stream)
    with contextlib.suppress(OSError, ProtocolError, ValueError, KeyError):
        _check(connection.receive(), token)
        stream.settimeout(None)
        connection.send({"type": "answer", "value": None})
        while question := connection.receive():
            connection.send({"type": "answer", "value": _answer(question, board)})
    connection.close()


def _check(hello: Message | None, token: str) -> None:
    """Raises ProtocolError when this is no member of the job."""
    said = str(hello.get("token", "")) if hello and hello["type"] == "hello" else ""
    if not hmac.compare_digest(said.encode(), token.encode()):
        raise ProtocolError("wrong token")


def _answer(question: Message, board: Board) -> Any:
    if question["type"] == "take":
        return board.take(str(question["key"]), seconds=float(question["seconds"]))
    board.put(str(question["key"]), str(question["value"]))
    return None


def _close(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)  # wakes `accept`
    listener.close()
