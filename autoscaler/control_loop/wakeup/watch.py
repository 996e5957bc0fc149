"""Who notices that a process has ended, between two ticks? A thread of the control worker."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from cluster.worker_host import HostUnavailable, WorkerHost

POLL_SECONDS: Final = 0.25
_RETRY_SECONDS: Final = 2.0

_log = logging.getLogger(__name__)


def watch(host: WorkerHost, notice: Callable[[], object], *, poll_seconds: float) -> None:
    """Call `notice` for every start and exit, for ever; a host that is away is asked again."""
    while True:
        try:
            for _ in host.events(poll_seconds=poll_seconds):
                notice()
        except HostUnavailable as problem:
            extra = {"action": "watch"}
            _log.warning("The worker host cannot be watched: %s", problem, extra=extra)
        except Exception:  # noqa: BLE001 - the thread must go on
            _log.exception("Watching the worker host failed.", extra={"action": "watch"})
        time.sleep(_RETRY_SECONDS)


def start_watching(host: WorkerHost, notice: Callable[[], object]) -> threading.Thread:
    """Watch in the background, as long as this process lives."""
    thread = threading.Thread(
        target=watch,
        args=(host, notice),
        kwargs={"poll_seconds": POLL_SECONDS},
        name="watch-worker-host",
        daemon=True,
    )
    thread.start()
    return thread
