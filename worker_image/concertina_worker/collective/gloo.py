"""How does a wait end for what gloo has forgotten? It looks up now and then: is the group cut?

When a connection ends, gloo tells whoever waits for a message that has not begun to travel. One
of which a part is under way, or that was written when the connection had ended already, it
forgets (`Pair::signalException` in its source); the wait for that goes on until the collective
times out. It happens to survivors that exchange large tensors when a member is lost, and to a
worker that wakes up when the others have gone on without it.

Gloo's own thread then waits as long, and the end of a process group waits for its threads. So
such a group is left to itself; its sockets are closed, and the process ends without asking it.
"""

from __future__ import annotations

import ctypes
import time
import weakref
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

import torch

from concertina_worker.collective.wires import Wires

LOOK: Final = timedelta(seconds=0.5)
# Of its own time, which a stopped process does not have: gloo hears of closed sockets in the first.
LOOKS_AFTER_CUT: Final = 2
ENDING_SECONDS: Final = 1.0  # for what has failed in the same group; guessed: it fails at once
_POLL_SECONDS: Final = 0.005


class GlooExchange:
    """A process group; ends when nobody refers to it any more."""

    def __init__(self, process_group: Any, wires: Wires) -> None:
        self._process_group = process_group
        self._wires = wires
        self._under_way: list[Any] = []
        weakref.finalize(self, _let_go, process_group, self._under_way)

    def allreduce(self, tensors: Sequence[torch.Tensor]) -> GlooWork:
        """Start to add up over all members, in place. Raises RuntimeError when one is lost."""
        return self._watched(self._process_group.allreduce(list(tensors)))

    def broadcast(self, tensors: Sequence[torch.Tensor], options: Any) -> GlooWork:
        """Start to copy the root's values, in place. Raises RuntimeError when one is lost."""
        return self._watched(self._process_group.broadcast(list(tensors), options))

    def gather(self, whole: torch.Tensor, part: torch.Tensor) -> GlooWork:
        """Start to put everybody's part together, by rank. Raises RuntimeError when one is lost."""
        return self._watched(self._process_group._allgather_base(whole, part))  # noqa: SLF001

    def scatter_sum(self, part: torch.Tensor, whole: torch.Tensor) -> GlooWork:
        """Start to add up, of which each gets its part. Raises RuntimeError when one is lost."""
        return self._watched(self._process_group._reduce_scatter_base(part, whole))  # noqa: SLF001

    def reduce(self, tensors: Sequence[torch.Tensor], options: Any) -> GlooWork:
        """Start what the options say, in place. Raises RuntimeError when one is lost."""
        return self._watched(self._process_group.allreduce(list(tensors), options))

    def all_to_all(
        self, room: torch.Tensor, sent: torch.Tensor, room_sizes: list[int], sizes: list[int]
    ) -> GlooWork:
        """Start to give each its part of what is sent. Raises RuntimeError when one is lost."""
        return self._watched(self._process_group.alltoall_base(room, sent, room_sizes, sizes))

    def _watched(self, work: Any) -> GlooWork:
        self._under_way[:] = [one for one in self._under_way if not one.is_completed()]
        self._under_way.append(work)
        return GlooWork(work, self._wires)


class GlooWork:
    """A collective under way."""

    def __init__(self, work: Any, wires: Wires) -> None:
        self._work = work
        self._wires = wires

    def wait(self) -> None:
        """Return when it is over. Raises RuntimeError when it has failed, or never will be."""
        looks = 0
        while not self._ends_soon():
            looks += self._wires.are_cut
            if looks > LOOKS_AFTER_CUT:
                raise RuntimeError("the group was given up")
        self._work.wait()  # raises what gloo has found

    def _ends_soon(self) -> bool:
        try:
            self._work.wait(LOOK)
        except RuntimeError:  # it has failed, or the time is over
            return bool(self._work.is_completed())
        return True


def _let_go(process_group: Any, under_way: list[Any]) -> None:
    """Nobody refers to this process group any more, unless it must never end."""
    give_up_at = time.monotonic() + ENDING_SECONDS
    while not all(work.is_completed() for work in under_way):
        if time.monotonic() > give_up_at:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(process_group))
            return
        time.sleep(_POLL_SECONDS)
