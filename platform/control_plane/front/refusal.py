"""How is a request refused before Django has seen it? In the API's words for errors."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from control_plane.front.asgi_types import Send
from control_plane.web.answers.error_body import envelope


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal(Exception):
    """A request that goes no further, and when it may come again."""

    status: int
    code: str
    message: str
    retry_after_seconds: float | None = None
    headers: tuple[tuple[bytes, bytes], ...] = ()

    async def answer(self, send: Send) -> None:
        body = json.dumps(envelope(self.code, self.message)).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            *self.headers,
        ]
        if self.retry_after_seconds is not None:
            seconds = max(math.ceil(self.retry_after_seconds), 1)
            headers.append((b"retry-after", b"%d" % seconds))
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
