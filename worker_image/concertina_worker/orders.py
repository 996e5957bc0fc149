"""Must this worker end? Asked between steps and while waiting.

Ways to end before the training does: the coordinator releases the worker, somebody sends
SIGTERM, or there has been no coordinator for so long that the worker cannot know whether it
still owns its GPUs.
"""

from __future__ import annotations

import signal
import threading
import time
from typing import Any, Final

from concertina_worker.control import Control
from concertina_worker.protocol import ExitCode

ABANDONED_SECONDS: Final = 5.0  # how long a worker told to end waits to be replanned first


class Orders:
    """What others want of this process beyond training."""

    def __init__(self, control: Control, *, lost_seconds: float) -> None:
        self._control = control
        self._lost_seconds = lost_seconds
        self._told_to_end_at: float | None = None
        self.is_training = False  # member of a generation: may not end in the middle of a step

    def listen(self) -> None:
        """Handle SIGTERM, where Python allows it: in the main thread."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._on_sigterm)

    @property
    def while_waiting(self) -> ExitCode | None:
        """The exit code for a worker that trains in no generation; None: go on."""
        if self._control.release_reason is not None or self._told_to_end_at is not None:
            return ExitCode.RELEASED
        return self._if_lost

    @property
    def while_training(self) -> ExitCode | None:
        """The same for a worker that others count on: it ends only when nobody replans it."""
        if self._control.release_reason is not None:
            return ExitCode.RELEASED
        if self._told_to_end_at is not None:
            is_abandoned = time.monotonic() - self._told_to_end_at > ABANDONED_SECONDS
            return ExitCode.RELEASED if is_abandoned and self._control.silent_seconds else None
        return self._if_lost

    @property
    def _if_lost(self) -> ExitCode | None:
        is_lost = self._control.silent_seconds > self._lost_seconds
        return ExitCode.COORDINATOR_LOST if is_lost else None

    def _on_sigterm(self, *_: Any) -> None:
        self._told_to_end_at = self._told_to_end_at or time.monotonic()
        if not self.is_training:
            raise SystemExit(ExitCode.RELEASED)
        self._control.ask_to_leave()
