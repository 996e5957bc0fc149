"""Who gives way where all processors are busy? What is asked gives way to ticks and training.

All teams wait for a tick, and for the steps of their jobs; one person for an answer, which may
come a moment later. Predictions and simulations give way to answers as well: they use whole seconds
of a processor at a time, and more of them the longer the queues are.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from celery.signals import celeryd_after_setup

NICENESS_OF_ANSWERS: Final = 5  # about a third of what another process gets beside it
NICENESS_OF_THE_BACKGROUND: Final = 10  # about a tenth
BACKGROUND_QUEUE: Final = "io"
_TRIES: Final = 20
_BETWEEN_TRIES_SECONDS: Final = 0.1  # as long as Linux refuses the next
_AUTOGROUP: Final = Path("/proc/self/autogroup")


def connect() -> None:
    """Listen, once per process however often it is called."""
    celeryd_after_setup.connect(_on_worker_set_up, dispatch_uid="control_plane.giving_way")


def _on_worker_set_up(instance: Any, **_: Any) -> None:
    if is_in_the_background(instance.app.amqp.queues.consume_from):
        give_way(NICENESS_OF_THE_BACKGROUND, leader=os.getpid())


def is_in_the_background(queues: Iterable[str]) -> bool:
    """Whether a worker of these queues does nothing that is urgent, such as a tick."""
    return set(queues) == {BACKGROUND_QUEUE}


def give_way(niceness: int, *, leader: int, autogroup: Path = _AUTOGROUP) -> None:
    """Be less urgent, before there are children, which then are as well.

    Linux may share processors out among sessions, where niceness counts within a session only:
    then the whole session is less urgent, if it is that of `leader`, a process of ours.
    """
    os.nice(niceness)
    if os.getsid(0) == leader:
        with suppress(OSError):  # there are none on this machine
            _write(autogroup, niceness)


def _write(autogroup: Path, niceness: int) -> None:
    """Try for a while: of all sessions of a machine, only one at a time may be made nicer."""
    for _ in range(_TRIES):
        with suppress(BlockingIOError):
            autogroup.write_text(str(niceness))
            return
        time.sleep(_BETWEEN_TRIES_SECONDS)
