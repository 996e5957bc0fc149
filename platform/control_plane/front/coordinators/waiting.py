"""What becomes of a coordinator's request that waits? It is held here, and never reaches Django."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Final, Protocol
from urllib.parse import parse_qs

from concertina_worker.protocol import HELD_SECONDS, WAKE_PATH
from control_plane.front.asgi_types import Application, Receive, Scope, Send, header
from control_plane.front.coordinators.held_jobs import HeldJobs, Word
from control_plane.front.refusal import Refusal

RETRY_AFTER_SECONDS: Final = 10.0
_WAKE: Final = re.compile(re.escape(WAKE_PATH).replace(r"\{job_id\}", "([0-9a-z]{1,12})"))
_STATUS: Final = {Word.REPORT_NOW: 200, Word.NOTHING: 204}
_LONGEST_HEARD_SECONDS: Final = 3600.0

TermOf = Callable[[str, Scope], int | None]


class Line(Protocol):
    """The line by which wake-ups arrive."""

    async def is_open(self) -> bool: ...


def job_that_waits(path: str) -> str | None:
    """Return the job whose coordinator waits at this path."""
    found = _WAKE.fullmatch(path)
    return found[1] if found else None


class WaitingCoordinators:
    """ASGI middleware: holds requests of coordinators until their job has changed."""

    def __init__(
        self,
        application: Application,
        *,
        held: HeldJobs,
        line: Line,
        term_of: TermOf,
        longest_seconds: float = HELD_SECONDS,
    ) -> None:
        """`term_of` tells the term that a request's token speaks for; None: it may not wait."""
        self._application = application
        self._held = held
        self._line = line
        self._term_of = term_of
        self._longest_seconds = longest_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        job_id = job_that_waits(scope["path"]) if scope["type"] == "http" else None
        if job_id is None:
            await self._application(scope, receive, send)
            return
        term = self._term_of(job_id, scope)
        try:
            if term is None:
                raise _refused(401, "not_authenticated", "Only the job's coordinator waits here.")
            if scope["method"] != "GET" or _has_body(scope):
                raise _refused(405, "method_not_allowed", "Wait with a GET that has no body.")
            word = await self._wait(job_id, term, _heard_seconds(scope), receive)
            await _answer(word, send)
        except Refusal as refusal:
            await refusal.answer(send)

    async def _wait(self, job_id: str, term: int, heard_seconds: float, receive: Receive) -> Word:
        if not await self._line.is_open():
            return Word.NOBODY_HOLDS
        word = self._held.hold(job_id, term=term, heard_seconds=heard_seconds)
        gone = asyncio.ensure_future(_gone(receive))
        try:
            waited_for: set[Awaitable[object]] = {word, gone}
            await asyncio.wait(
                waited_for,  # type: ignore[type-var] # futures of different results
                timeout=self._longest_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            return word.result() if word.done() else Word.NOTHING
        finally:
            gone.cancel()
            self._held.let_go(job_id, word)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _has_body(scope: Scope) -> bool:
    announced = header(scope, b"content-length") or b"0"
    return announced != b"0" or header(scope, b"transfer-encoding") is not None


def _heard_seconds(scope: Scope) -> float:
    """Return how long ago the coordinator was heard, as it says; anything else counts as never."""
    heard = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("heard", [""])[-1]
    try:
        seconds = float(heard)
    except ValueError:
        return _LONGEST_HEARD_SECONDS
    return seconds if 0 <= seconds <= _LONGEST_HEARD_SECONDS else _LONGEST_HEARD_SECONDS


async def _answer(word: Word, send: Send) -> None:
    if word is Word.REPLACED:
        raise _refused(409, "coordinator_replaced", "Another coordinator speaks for the job.")
    if word is Word.NOBODY_HOLDS:
        raise _refused(503, "unavailable", "Nobody can be woken now.", after=RETRY_AFTER_SECONDS)
    headers = [] if word is Word.NOTHING else [(b"content-length", b"0")]
    await send({"type": "http.response.start", "status": _STATUS[word], "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def _refused(status: int, code: str, message: str, *, after: float | None = None) -> Refusal:
    """Refuse, and close the connection: nothing is gained by keeping it for the next try."""
    close = ((b"connection", b"close"),)
    return Refusal(
        status=status, code=code, message=message, retry_after_seconds=after, headers=close
    )
