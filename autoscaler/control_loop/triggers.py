"""What makes the control loop act before its time? Changed demand, and processes that ended."""

from __future__ import annotations

from typing import Any

from celery import signals as celery_signals

from autoscaler.control_loop import wakeup, watch, wiring
from autoscaler.control_loop.tasks import QUEUE
from jobs.signals import demand_changed

_NAME = "autoscaler.control_loop"


def connect() -> None:
    """Listen, once per process however often it is called."""
    demand_changed.connect(_on_demand_changed, dispatch_uid=_NAME)
    celery_signals.celeryd_after_setup.connect(_on_worker_set_up, dispatch_uid=_NAME)


def _on_demand_changed(**_: Any) -> None:
    wakeup.ask_for_tick()


def _on_worker_set_up(instance: Any, **_: Any) -> None:
    """In a Celery worker that serves the control queue, watch the host, in its main process."""
    if QUEUE in instance.app.amqp.queues.consume_from:
        watch.start_watching(wiring.worker_host(), wakeup.ask_for_tick)
        wakeup.ask_for_tick()
