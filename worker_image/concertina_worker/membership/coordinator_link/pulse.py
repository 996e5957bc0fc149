"""What is this worker's main thread busy with? Told to the coordinator with each heartbeat.

Heartbeats come from a thread of their own: they stop when the process stops, and go on when the
script hangs. So each says besides where the main thread is, and since when.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from concertina_worker.wire import ScriptPlace


class Pulse:
    """Tells where the main thread is. Only that thread writes it, any reads it, without a lock."""

    def __init__(self) -> None:
        self._steps = 0
        self._place_since = (ScriptPlace.ELSEWHERE, time.monotonic())

    def move_to(self, place: ScriptPlace) -> None:
        self._place_since = (place, time.monotonic())

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Wait for the others; afterwards the thread is where it was, as if just come there."""
        place, _ = self._place_since
        self.move_to(ScriptPlace.WAITING)
        try:
            yield
        finally:
            self.move_to(place)

    def begin_generation(self) -> None:
        """The first steps of a generation may take long: nothing is warm for this batch."""
        self._steps = 0

    def count_step(self) -> None:
        self._steps += 1

    def beat(self) -> dict[str, Any]:
        """The fields of a heartbeat."""
        place, since = self._place_since
        return {"place": place, "seconds": time.monotonic() - since, "steps": self._steps}
