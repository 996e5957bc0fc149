"""What do an ASGI application and its parts look like to a type checker?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def header(scope: Scope, name: bytes) -> bytes | None:
    """Return a request's header, the last one of several; `name` is in lower case."""
    return next((value for key, value in reversed(scope["headers"]) if key == name), None)
