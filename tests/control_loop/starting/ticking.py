"""Tick until what fetchers do is there: they take the time they need, the loop's stands still."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from jobs.models import Job
from tests.control_loop.world import World
from tests.polling import pause

_PATIENCE_SECONDS: Final = 60.0


def ticking(world: World, done: Callable[[], object]) -> None:
    """Tick until it is so."""
    began = time.monotonic()
    while not done():
        assert time.monotonic() - began < _PATIENCE_SECONDS, list(
            Job.objects.values("state", "message")
        )
        pause(began)
        world.tick()
