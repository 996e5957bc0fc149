"""Who answers the report of a coordinator? A thread of its kind, without Django's own way there.

Django's middleware serves people: sessions, languages, pages. Half of it runs on the event loop and
half in the thread, and to go to and fro costs several times what it takes to store a report.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.db import close_old_connections

from concertina_worker.protocol import SYNC_PATH
from control_plane.front.asgi_types import Application, Receive, Scope, Send, header
from control_plane.web.error_body import envelope

_SYNC: Final = re.compile(re.escape(SYNC_PATH).replace(r"\{job_id\}", "([0-9a-z]{1,12})"))

AnswerOf = Callable[[str, str, Callable[[], bytes]], tuple[int, dict[str, Any]]]

_log = logging.getLogger(__name__)


def job_that_reports(path: str) -> str | None:
    """Return the job whose report goes to this path."""
    found = _SYNC.fullmatch(path)
    return found[1] if found else None


class Reports:
    """ASGI application: answers reports, and leaves everything else to Django.

    Before it, somebody has read the body whole and chosen the thread.
    """

    def __init__(self, django: Application, *, answer: AnswerOf) -> None:
        self._django = django
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        job_id = job_that_reports(scope["path"]) if is_post else None
        if job_id is None:
            await self._django(scope, receive, send)
            return
        authorization = (header(scope, b"authorization") or b"").decode("latin-1")
        body: bytes = (await receive())["body"]
        status, document = await sync_to_async(self._in_thread)(job_id, authorization, body)
        content = json.dumps(document).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(content)),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    def _in_thread(
        self, job_id: str, authorization: str, body: bytes
    ) -> tuple[int, dict[str, Any]]:
        """Answer with the thread's own connection to the database, as Django does."""
        close_old_connections()
        try:
            return self._answer(job_id, authorization, lambda: body)
        except Exception:  # noqa: BLE001 - Django would answer so, too
            _log.exception("A report could not be stored.", extra={"action": "sync"})
            return 500, envelope("internal_error", "Something went wrong here; report again.")
        finally:
            close_old_connections()
