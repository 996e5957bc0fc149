"""How is the service, as this process has learned last? Whoever asks is told from memory.

One question at a time goes on to Django, and its answer is that of all who ask within a second,
without a thread. Under overload that question itself has to wait. Then whoever asks is told what
the one before was answered, with its age, instead of nothing: monitoring that hears nothing takes
the service for dead, and may end it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from control_plane.front.asgi_types import Application, Message, Receive, Scope, Send, header
from control_plane.front.refusal import Refusal
from control_plane.front.threads.bulkheads import RETRY_AFTER_SECONDS, RequestKind, kind_of

YOUNG_SECONDS: Final = 1.0  # so long nobody asks again
OLDEST_SECONDS: Final = 30.0  # guessed: a database that hangs is noticed so much later
PATIENCE_SECONDS: Final = 3.0  # while nothing is known; less than `probe` waits for an answer
PATIENCE_WITH_ANSWER_SECONDS: Final = 0.5  # guessed: ten times as long as it takes at rest
_TOLD_BY: Final = frozenset({200, 503})


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthAnswer:
    """What Django answered, and when it was asked."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    asked_at: float

    @property
    def tells_health(self) -> bool:
        """False if it was refused or failed, which says nothing of database and Redis."""
        is_refused = any(name.lower() == b"retry-after" for name, _ in self.headers)
        return self.status in _TOLD_BY and not is_refused

    async def send(self, send: Send, *, age_seconds: float) -> None:
        headers = [*self.headers, (b"age", b"%d" % age_seconds)]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


class RememberedHealth:
    """ASGI middleware: has Django asked by one request at a time, however many ask."""

    def __init__(
        self,
        application: Application,
        *,
        is_host_allowed: Callable[[str], bool],
        patience_seconds: float = PATIENCE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._application = application
        self._is_host_allowed = is_host_allowed
        self._patience_seconds = patience_seconds
        self._clock = clock
        self._known: HealthAnswer | None = None
        self._question: asyncio.Task[HealthAnswer] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._is_plain_question(scope):
            await self._application(scope, receive, send)
            return
        answer = self._remembered(YOUNG_SECONDS) or await self._ask_in_time(scope)
        if answer is None or not answer.tells_health:
            answer = self._remembered(OLDEST_SECONDS) or answer
        if answer is None:
            await _too_slow().answer(send)
            return
        await answer.send(send, age_seconds=self._clock() - answer.asked_at)

    def _is_plain_question(self, scope: Scope) -> bool:
        """True if nothing in the request makes its answer another than anybody's."""
        return (
            scope["type"] == "http"
            and scope["method"] == "GET"
            and kind_of(scope["path"]) is RequestKind.HEALTH
            and not scope["query_string"]
            and (header(scope, b"content-length") or b"0") == b"0"
            and header(scope, b"transfer-encoding") is None
            and self._is_host_allowed((header(scope, b"host") or b"").decode("latin-1"))
        )

    def _remembered(self, seconds: float) -> HealthAnswer | None:
        """Return what is known, unless it is older."""
        is_usable = self._known is not None and self._clock() - self._known.asked_at < seconds
        return self._known if is_usable else None

    async def _ask_in_time(self, scope: Scope) -> HealthAnswer | None:
        """Wait for the question that is under way, or a new one; None: it takes too long.

        A question goes on when its asker is gone: others hear the answer.
        """
        question = self._question
        if question is None or question.done():
            question = self._question = asyncio.create_task(self._ask(scope))
        patience_seconds = self._patience_seconds
        if self._remembered(OLDEST_SECONDS) is not None:
            patience_seconds = min(patience_seconds, PATIENCE_WITH_ANSWER_SECONDS)
        await asyncio.wait({question}, timeout=patience_seconds)
        return question.result() if question.done() else None

    async def _ask(self, scope: Scope) -> HealthAnswer:
        asked_at, said = self._clock(), list[Message]()
        messages: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> Message:
            return messages.pop() if messages else await asyncio.Future[Message]()

        async def send(message: Message) -> None:
            said.append(message)

        plain = {**scope, "headers": [(b"host", header(scope, b"host") or b"")]}
        await self._application(plain, receive, send)
        start, *rest = said
        answer = HealthAnswer(
            status=start["status"],
            headers=tuple(start["headers"]),
            body=b"".join(message.get("body", b"") for message in rest),
            asked_at=asked_at,
        )
        if answer.tells_health:
            self._known = answer
        return answer


def _too_slow() -> Refusal:
    return Refusal(
        status=503,
        code="overloaded",
        message="The service has too much to do to find out how it is; ask again in a moment.",
        retry_after_seconds=RETRY_AFTER_SECONDS,
    )
