"""What does Celery run of this application? Simulations, one after the other, on the io queue.

The database is the queue: a task takes up whatever waits longest. A lost message costs at most
until `look_after` runs again, which also finds simulations whose worker died.
"""

from __future__ import annotations

import logging
from typing import Final

from celery import shared_task
from kombu.exceptions import OperationalError

from autoscaler.simulation.api import commands, limits

logger: Final = logging.getLogger(__name__)
KILLED_AFTER_SECONDS: Final = int(limits.MOST_SECONDS) + 60  # it should have given up by itself


@shared_task(name="autoscaler.what_if.tasks.run_next", time_limit=KILLED_AFTER_SECONDS)
def run_next() -> bool:
    """Carry out one simulation, if one waits and none runs; then ask for the next."""
    from autoscaler.simulation.api import execution  # noqa: PLC0415 - it loads scipy

    has_run = execution.run_next()
    if has_run and commands.is_one_waiting():
        ask()
    return has_run


@shared_task(name="autoscaler.what_if.tasks.look_after")
def look_after() -> None:
    """Queue what a dead worker left behind, and ask for what waits."""
    recovered = commands.recover_lost()
    if recovered:
        logger.warning(
            "%s simulations had lost their worker.",
            recovered,
            extra={"action": "simulation_recover"},
        )
    if commands.is_one_waiting():
        ask()


def ask() -> None:
    """Wake the background worker; when Redis is away, `look_after` will do it."""
    try:
        run_next.delay()
    except OperationalError:
        logger.warning("Redis does not answer.", extra={"action": "simulation_ask"})
