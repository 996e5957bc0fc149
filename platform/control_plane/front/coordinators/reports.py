"""Who answers the report of a coordinator? Threads of their kind, without Django's way there.

Django's middleware serves people: sessions, languages, pages. Half of it runs on the event loop and
half in the thread, and to go to and fro costs several times what it takes to store a report.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from django.db import close_old_connections

from concertina_worker.protocol import LONGEST_REST_SECONDS, REST_SECONDS, SYNC_PATH
from control_plane.front.asgi_types import Application, Receive, Scope, Send, header
from control_plane.front.callers import caller_of, name_of_job
from control_plane.front.coordinators.batches import Answer, Batches, ReceivedReport
from control_plane.front.coordinators.pace import ReportPacing
from control_plane.front.refusal import Refusal
from control_plane.front.threads.lanes import Busy, ShareIsUsed
from control_plane.web.answers.error_body import envelope
from jobs.commands.observations.sync import ArrivedReport
from jobs.errors import NotTheCoordinator

RETRY_AFTER_SECONDS: Final = 2.0
_SYNC: Final = re.compile(re.escape(SYNC_PATH).replace(r"\{job_id\}", "([0-9a-z]{1,12})"))
_PAUSE: Final = "report_after_seconds"  # of an answer

_NOT_THE_COORDINATOR: Final = Refusal(
    status=401, code=NotTheCoordinator.code, message=str(NotTheCoordinator())
)

Read = Callable[[str, str, bytes], ArrivedReport | Answer]
Answers = Callable[[Sequence[ArrivedReport]], Sequence[Answer | None]]

_log = logging.getLogger(__name__)


def job_that_reports(path: str) -> str | None:
    """Return the job whose report goes to this path."""
    found = _SYNC.fullmatch(path)
    return found[1] if found else None


class ReportEndpoint:
    """ASGI application: answers reports, and leaves everything else to another.

    Before it, somebody has read the body whole, and noted whose token the sender has.
    """

    def __init__(
        self,
        others: Application,
        batches: Batches,
        pace: ReportPacing,
        *,
        refusal_seconds: float = 0.0,
    ) -> None:
        self._others = others
        self._batches = batches
        self._pace = pace
        self._refusal_seconds = refusal_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        job_id = job_that_reports(scope["path"]) if is_post else None
        if job_id is None:
            await self._others(scope, receive, send)
            return
        if caller_of(scope) != name_of_job(job_id):
            await _NOT_THE_COORDINATOR.answer(send)
            return
        authorization = (header(scope, b"authorization") or b"").decode("latin-1")
        body: bytes = (await receive())["body"]
        report = ReceivedReport(job_id=job_id, authorization=authorization, body=body)
        try:
            status, document = await self._batches.answer(report)
        except Busy as busy:
            # It takes a moment: who asks again at once has asked less.
            await asyncio.sleep(self._refusal_seconds)
            await self._refusal(busy).answer(send)
            return
        await _answer(status, self._with_pause(document), send)

    def _with_pause(self, document: dict[str, Any]) -> dict[str, Any]:
        if _PAUSE not in document:
            return document
        pause = document[_PAUSE]
        longest = LONGEST_REST_SECONDS if pause >= REST_SECONDS else REST_SECONDS
        return {**document, _PAUSE: max(pause, min(self._pace.rest_seconds(), longest))}

    def _refusal(self, busy: Busy) -> Refusal:
        after = math.ceil(max(RETRY_AFTER_SECONDS, self._pace.rest_seconds()))
        if isinstance(busy, ShareIsUsed):
            status, code = 429, "too_many_requests"
            message = "The reports of this job cost the service more than their share; report less."
        else:
            status, code = 503, "overloaded"
            message = "The service has more reports than it can store now; report again."
        return Refusal(status=status, code=code, message=message, retry_after_seconds=after)


def storing(
    read: Read, answers: Answers
) -> Callable[[Sequence[ReceivedReport]], list[Answer | None]]:
    """Return what stores reports in a thread, with its own connection to the database."""

    def store(reports: Sequence[ReceivedReport]) -> list[Answer | None]:
        close_old_connections()
        try:
            given = [read(one.job_id, one.authorization, one.body) for one in reports]
            arrived = [one for one in given if isinstance(one, ArrivedReport)]
            stored = iter(answers(arrived) if arrived else ())
            return [next(stored) if isinstance(one, ArrivedReport) else one for one in given]
        except Exception:  # noqa: BLE001 - Django would answer so, too
            _log.exception("Reports could not be stored.", extra={"action": "sync"})
            document = envelope("internal_error", "Something went wrong here; report again.")
            return [(500, document)] * len(reports)
        finally:
            close_old_connections()

    return store


async def _answer(status: int, document: dict[str, Any], send: Send) -> None:
    content = json.dumps(document).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(content)),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
