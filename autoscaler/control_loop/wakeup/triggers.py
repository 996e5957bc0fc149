"""What makes the control loop act before its time? Changed demand, and processes that ended."""

from __future__ import annotations

from typing import Any, Final

from celery import signals as celery_signals

from autoscaler.control_loop import wiring
from autoscaler.control_loop.wakeup import ask, watch
from jobs.changes.demand_signal import demand_changed

CONTROL_QUEUE: Final = "control"
_NAME: Final = "autoscaler.control_loop"


def connect() -> None:
    """Listen, once per process however often it is called."""
    demand_changed.connect(_on_demand_changed, dispatch_uid=_NAME)
    celery_signals.celeryd_after_setup.connect(_on_worker_set_up, dispatch_uid=_NAME)
    celery_signals.worker_ready.connect(_on_worker_ready, dispatch_uid=_NAME)


def _on_demand_changed(**_: Any) -> None:
    ask.ask_for_tick()


def _on_worker_set_up(instance: Any, **_: Any) -> None:
    """Load the planner before the worker forks, so that the first tick need not."""
    if _serves_control(instance.app):
        wiring.control_loop()


def _on_worker_ready(sender: Any, **_: Any) -> None:
    """Watch the host from the worker's main process.

    That forks again for each child that dies. So the watch has a host of its own: a child ticks
    with one that its parent never used, whose locks nobody holds and whose sockets nobody shares.
    """
    if _serves_control(sender.app):
        watch.start_watching(wiring.new_worker_host(), ask.ask_for_tick)
        ask.ask_for_tick()


def _serves_control(app: Any) -> bool:
    return CONTROL_QUEUE in app.amqp.queues.consume_from
