"""What must a process that loads data know of the worker that forked it? As little as possible.

A fork inherits the worker's connections: while it holds them, the other workers do not notice
that the worker died. It would also outlive a killed worker, and be struck by a signal that asks
the worker to finish its step first. So it closes the connections, dies with the worker, and
leaves the worker's process group.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from collections.abc import Callable
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

from torch.utils.data import _utils, get_worker_info

from concertina_worker.process.parent_death import die_with


class LoaderProcessStart:
    """The `worker_init_fn` of our DataLoaders."""

    def __init__(self, then: Callable[[int], Any] | None, *, reads_stream: bool) -> None:
        """`then`: what the script itself wants to have done."""
        self._then = then
        self._reads_stream = reads_stream

    def __call__(self, number: int) -> None:
        if parent_process() is not None:  # else a thread loads
            _part_from_the_worker()
        info: Any = get_worker_info()
        object.__setattr__(info, "dataset", info.dataset.dataset)  # the script's, not our reader
        if self._then is not None:
            self._then(number)
        if self._reads_stream:
            # Each process reads the whole stream: let no stream take only a part for itself.
            _utils.worker._worker_info = None  # noqa: SLF001 - what get_worker_info returns


def _part_from_the_worker() -> None:
    _die_with_the_worker()
    _close_connections()
    with contextlib.suppress(OSError):  # it may lead a group already
        os.setpgid(0, 0)


def _die_with_the_worker() -> None:
    """The parent may be a fork server instead, which ends with the worker."""
    die_with(os.getppid())
    worker = parent_process()
    if worker is not None and not worker.is_alive():  # so its heir has become the parent
        os._exit(0)


def _close_connections() -> None:
    """Every network socket that came with the fork; pipes and files are left alone.

    Their numbers stay in use: an object of the worker that still knows one must not close a file
    that happens to get the same number.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for entry in Path("/proc/self/fd").glob("*"):
        with contextlib.suppress(OSError):  # the folder's own descriptor is gone by now
            if _is_network(int(entry.name)):
                os.dup2(nothing, int(entry.name))
    os.close(nothing)


def _is_network(descriptor: int) -> bool:
    if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
        return False
    with socket.socket(fileno=os.dup(descriptor)) as copy:
        return copy.family in (socket.AF_INET, socket.AF_INET6)
