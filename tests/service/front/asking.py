"""A server to ASGI applications that sends one request at a time, in the pieces it is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from control_plane.front.asgi_types import Application, Message, Receive, Scope, Send
from control_plane.front.callers import ADDRESS, CALLER


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


async def ask(
    application: Application,
    method: str,
    path: str,
    *,
    headers: Mapping[str, str] | None = None,
    pieces: Iterable[bytes] = (b"",),
    address: str = "192.0.2.1",
    never_ends: bool = False,
    is_given_up: bool = False,
    caller: str | None = None,
) -> Answer:
    """Send a request and wait for its whole answer; no length is announced but by `headers`.

    A body that never ends may be given up by the server after its last piece.
    """
    said: list[Message] = []
    left = list(pieces)

    async def receive() -> Message:
        if left:
            piece = left.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(left) or never_ends}
        if is_given_up:
            return {"type": "http.disconnect"}
        return await asyncio.Future[Message]()

    async def send(message: Message) -> None:
        said.append(message)

    scope = scope_of(method, path, headers or {}, address)
    scope[ADDRESS] = address
    if caller is not None:
        scope[CALLER] = caller
    await application(scope, receive, send)
    return _answer(said)


def scope_of(
    method: str, path: str, headers: Mapping[str, str], address: str = "192.0.2.1"
) -> Scope:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1"), *_raw(headers)],
        "client": (address, 12345),
        "server": ("127.0.0.1", 8000),
    }


def _raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def _answer(said: list[Message]) -> Answer:
    start, *rest = said
    return Answer(
        status=start["status"],
        headers={name.decode().lower(): value.decode() for name, value in start["headers"]},
        body=b"".join(message.get("body", b"") for message in rest),
    )


@dataclass
class Recorder:
    """An application that answers 200 and keeps what it was given."""

    scopes: list[Scope] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    answers: int = 0
    before: Callable[[Scope], Any] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        self.scopes.append(scope)
        self.bodies.append(message["body"])
        if self.before is not None:
            await self.before(scope)
        self.answers += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})
