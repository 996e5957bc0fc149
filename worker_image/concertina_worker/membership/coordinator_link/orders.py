"""Must this worker end? Asked between steps and while waiting.

Ways to end before the training does: the coordinator releases the worker, somebody sends
SIGTERM, or there has been no coordinator for so long that the worker cannot know whether it
still owns its GPUs.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from typing import Any, Final, NoReturn

from concertina_worker.membership.coordinator_link.control import Control
from concertina_worker.protocol import ExitCode
from concertina_worker.wire import FromWorker

LEAVE_SECONDS: Final = 60.0  # how long a leaver waits to be released
LEAVE_POLL_SECONDS: Final = 0.003
ABANDONED_SECONDS: Final = 5.0  # how long a worker told to end waits to be replanned first


class CoordinatorOrders:
    """What others want of this process beyond training."""

    def __init__(self, control: Control, *, lost_seconds: float) -> None:
        self._control = control
        self._lost_seconds = lost_seconds
        self._told_to_end_at: float | None = None
        self.has_ended = False  # on its way out, whatever the script does
        self.is_training = False  # member of a generation: may not end in the middle of a step
        self.keep: Callable[[], None] = lambda: None  # what was reached, before ending unreplaced

    def listen(self) -> None:
        """Handle SIGTERM, where Python allows it: in the main thread."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._on_sigterm)

    def heed_while_waiting(self) -> None:
        """Heed orders while the worker trains in no whole generation: it may go at once."""
        if self._control.release_reason is not None:
            self.exit(ExitCode.RELEASED)
        if self._told_to_end_at is not None or self._is_lost:
            self.keep()
            self.exit(ExitCode.COORDINATOR_LOST if self._is_lost else ExitCode.RELEASED)

    def while_training(self) -> ExitCode | None:
        """Return an exit code only if nobody will replan this worker: others count on it."""
        if self._control.release_reason is not None:
            return ExitCode.RELEASED
        if self._told_to_end_at is not None and self._control.silent_seconds:
            is_abandoned = time.monotonic() - self._told_to_end_at > ABANDONED_SECONDS
            return ExitCode.RELEASED if is_abandoned else None
        return ExitCode.COORDINATOR_LOST if self._is_lost else None

    def await_release(self) -> None:
        """Wait, as a leaver, until the others have switched too: they may still be reading."""
        deadline = time.monotonic() + LEAVE_SECONDS
        while self._control.release_reason is None and time.monotonic() < deadline:
            time.sleep(LEAVE_POLL_SECONDS)

    def exit(self, code: ExitCode) -> NoReturn:
        """End the process the way a script does, so that its own clean-up runs."""
        self.has_ended = True
        raise SystemExit(int(code))

    @property
    def _is_lost(self) -> bool:
        return self._control.silent_seconds > self._lost_seconds

    def _on_sigterm(self, *_: Any) -> None:
        self._told_to_end_at = self._told_to_end_at or time.monotonic()
        if not self.is_training:
            self.exit(ExitCode.RELEASED)
        self._control.send(FromWorker.LEAVING)
