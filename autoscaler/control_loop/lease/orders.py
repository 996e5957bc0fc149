"""Who may order something of nodes and disks? A tick that nobody has overtaken, while it orders.

Rows are fenced by the lease. Processes and folders know nothing of it, so orders are given under a
lock of the state folder, after one more look at the lease; and a tick begins with taking that lock.
A process that is frozen before it orders finds out that it was overtaken. One that is frozen in the
middle of its orders keeps others from ticking until it goes on or is ended; the kernel then lets go
of its lock. Where controls of several machines do not share the folder, a process that is frozen in
that very moment may still order what its successor has ordered or taken back: the next tick finds
it without a record, and removes it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cluster.files.lock_files import holding

from autoscaler.control_loop.lease.exclusive import Fence, LeaseLost

FILE_NAME: Final = "orders.lock"
_PATIENCE_SECONDS: Final = 2.0  # guessed: whoever was overtaken has it for one statement

_log = logging.getLogger(__name__)


class OrderUnderWay(LeaseLost):
    """Another process is in the middle of an order; if it is frozen, end it or let it go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FencedOrders:
    """The right of one tick to order."""

    fence: Fence
    state_dir: Path

    @contextmanager
    def giving(self) -> Iterator[bool]:
        """Hold it while something is ordered; True: nobody else can order anything meanwhile.

        Raises:
            LeaseLost: another process holds the lease now, or is in the middle of an order.
        """
        with ExitStack() as stack:
            is_ours = stack.enter_context(self._lock())
            if is_ours is False:
                raise OrderUnderWay
            self.fence.check()
            yield is_ours is True

    @contextmanager
    def _lock(self) -> Iterator[bool | None]:
        """None: there is none. A disk that refuses it, or has no room, costs it and no tick."""
        with ExitStack() as stack:
            try:
                lock = holding(self.state_dir / FILE_NAME, seconds=_PATIENCE_SECONDS)
                is_ours: bool | None = stack.enter_context(lock)
            except OSError as problem:
                _log.warning("Orders are not locked: %s", problem, extra={"action": "order"})
                is_ours = None
            yield is_ours
