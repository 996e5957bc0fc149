"""Which processes go first where processors are busy? Training before answers, ticks before all.

All teams wait for a tick, which takes a tenth of a second of a processor, and for the steps of
their jobs; one person waits for an answer, which may come a moment later. Predictions and
simulations give way to answers as well: they use whole seconds of a processor at a time, and more
of them the longer the queues are.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from celery.signals import celeryd_after_setup

NICENESS_OF_TICKS: Final = -10  # about ten times what another process gets beside it
NICENESS_OF_ANSWERS: Final = 5  # about a third of what another process gets beside it
NICENESS_OF_THE_BACKGROUND: Final = 10  # about a tenth
_TICKS_ALONE: Final = frozenset({"control"})
_BACKGROUND_ALONE: Final = frozenset({"io"})
_TRIES: Final = 20
_BETWEEN_TRIES_SECONDS: Final = 0.1  # as long as Linux refuses the next
_AUTOGROUP: Final = Path("/proc/self/autogroup")


def connect() -> None:
    """Listen, once per process however often it is called."""
    celeryd_after_setup.connect(_on_worker_set_up, dispatch_uid="control_plane.process_priority")


def _on_worker_set_up(instance: Any, **_: Any) -> None:
    queues = frozenset(instance.app.amqp.queues.consume_from)
    if queues == _TICKS_ALONE:
        go_first(leader=os.getpid())
    elif queues == _BACKGROUND_ALONE:
        give_way(NICENESS_OF_THE_BACKGROUND, leader=os.getpid())


def go_first(*, leader: int, autogroup: Path = _AUTOGROUP) -> None:
    """Be more urgent than other sessions, if Linux shares processors among them and lets us.

    The process itself stays as nice as it is: what it starts, in sessions of their own, would
    inherit that.
    """
    _share(NICENESS_OF_TICKS, leader=leader, autogroup=autogroup)


def give_way(niceness: int, *, leader: int, autogroup: Path = _AUTOGROUP) -> None:
    """Be less urgent, before there are children, which then are as well.

    Linux may share processors among sessions; then niceness counts within a session only, and the
    whole session becomes less urgent, if it is that of `leader`, a process of ours.
    """
    os.nice(niceness)
    _share(niceness, leader=leader, autogroup=autogroup)


def _share(niceness: int, *, leader: int, autogroup: Path) -> None:
    if os.getsid(0) == leader:
        with suppress(OSError):  # there are none on this machine, or only root may go first
            _write(autogroup, niceness)


def _write(autogroup: Path, niceness: int) -> None:
    """Try for a while: Linux changes only one session of a machine at a time."""
    for _ in range(_TRIES):
        with suppress(BlockingIOError):
            autogroup.write_text(str(niceness))
            return
        time.sleep(_BETWEEN_TRIES_SECONDS)
