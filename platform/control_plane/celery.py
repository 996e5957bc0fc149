"""Which background tasks run when, and on which queue?

`control` has one worker process and carries nothing but ticks; `io` carries the rest. Tasks keep
no result and may be lost or repeated: each finds in the database what is to be done.
"""

from __future__ import annotations

import gc
import os
import signal
from importlib import import_module
from typing import Any, Final

from celery import Celery
from celery.signals import (
    heartbeat_sent,
    task_prerun,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, close_old_connections, connections
from tracing import sending

from concertina_worker.process.parent_death import die_with
from control_plane.database.statement_bounds import bounded_in_background

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "control_plane.settings")
# Django's checks load every view: half of what a worker's start costs. `migrate` goes through them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "yes")

celery_app = Celery("concertina")
celery_app.config_from_object("django.conf:settings", namespace="CELERY")
celery_app.autodiscover_tasks()

CONTROL: Final = "control"  # the queue of whoever may reach workers
SHUTDOWN_SECONDS: Final = 8  # less than whoever ends us waits before killing
_LOADED_LATE: Final = (  # they load scipy, aiohttp and serializers
    *("autoscaler.predictions.live_jobs", "autoscaler.simulation.api.execution"),
    *("webhooks.delivery.rounds", "webhooks.outbox", "schedules.rounds.one_round"),
    "sweeps.rounds.one_round",
)


@worker_init.connect
def wait_for_no_row(**_: Any) -> None:
    """Bound waiting before there is a session: no task waits for ever for a row a request holds."""
    databases = connections.settings
    databases[DEFAULT_DB_ALIAS] = bounded_in_background(databases[DEFAULT_DB_ALIAS])


@worker_init.connect
def load_before_forking(sender: Any, **_: Any) -> None:
    """Load once, before there are children and before `io` gives way, what its tasks load late.

    Each child did so in its first look ahead, which took it half a minute where all processors
    were busy. What stands in memory by then is taken from the garbage collector, which would write
    to it and so copy it into each child.
    """
    if settings.CELERY_TASK_DEFAULT_QUEUE in sender.app.amqp.queues.consume_from:
        for module in _LOADED_LATE:
            import_module(module)
    if settings.CONCERTINA.sends_traces:
        import_module("tracing.otlp")
    gc.freeze()


@worker_ready.connect
def keep_relay_of_shells(sender: Any, **_: Any) -> None:
    """Let `control`, which alone reaches workers, have a program beside it for people's shells."""
    if settings.CONCERTINA.shells.is_on and CONTROL in sender.app.amqp.queues.consume_from:
        end = import_module("control_plane.shells.keeper").keep_relay()
        worker_shutdown.connect(end, weak=False)  # people are told at once


@worker_process_init.connect
def end_with_the_worker(**_: Any) -> None:
    """Let no child outlive its worker, which would hold on to the queue and to its rows."""
    die_with(os.getppid())


@worker_process_shutdown.connect
def send_last_spans(**_: Any) -> None:
    """Send what waits, because a child of Celery ends without what Python does at exit."""
    sending.end()


@worker_shutting_down.connect
def end_in_time(**_: Any) -> None:
    """Bound an orderly shutdown, which waits for the task at hand and for the broker to answer.

    The alarm's default is to end the process, whatever that is waiting for; the kernel then ends
    its children. A task that this cuts off finds in the database what is left to be done.
    """
    signal.alarm(SHUTDOWN_SECONDS)


@task_prerun.connect
def keep_connection(**_: Any) -> None:
    """Keep the connection of the task before, as requests do, unless it is broken.

    Celery would close it after each, and connecting took a quarter of a tick.
    """
    close_old_connections()


@heartbeat_sent.connect
def show_life(**_: Any) -> None:
    """Touch a file every two seconds while connected to Redis; `probe` looks at its age."""
    if settings.CONCERTINA.heartbeat_file is not None:
        settings.CONCERTINA.heartbeat_file.touch()
