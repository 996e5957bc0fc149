"""Who looks on meanwhile? Somebody who reads all there is to see, over and over."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, Self

from local_stack.soak.users.requests import READS, Caller, RequestOutcome

PAUSE_SECONDS: Final = 0.3  # between two requests: a page asks for so many in a few seconds


class Audience:
    """Reads in a thread of its own, until it is left."""

    def __init__(self, caller: Caller, newest_job: Callable[[], str | None]) -> None:
        self._caller = caller
        self._newest_job = newest_job
        self._is_over = threading.Event()
        self._answers: list[RequestOutcome] = []
        self._thread = threading.Thread(target=self._watch, name="audience")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def answers(self) -> list[RequestOutcome]:
        """Those that came since it was asked last."""
        taken, self._answers = self._answers, []
        return taken

    def _watch(self) -> None:
        while True:
            for path in READS:
                if self._is_over.wait(PAUSE_SECONDS):
                    return
                job = self._newest_job()
                if job is not None:
                    self._answers.append(self._caller.get(path.format(job=job)))
