"""A worker's line to a coordinator in the same process, whose messages are heard at once.

A test may hold a worker's thread up wherever another one may get ahead: at the seams.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Final

from concertina_worker.collective.gpu_offer import GpuOffer
from concertina_worker.collective.group import Group
from concertina_worker.collective.wires import Wires
from concertina_worker.coordinator.connections.messages import to_event
from concertina_worker.environment import Platform
from concertina_worker.membership.coordinator_link.control import Control
from concertina_worker.membership.coordinator_link.coordinator_line import CoordinatorLine
from concertina_worker.membership.coordinator_link.orders import CoordinatorOrders
from concertina_worker.membership.coordinator_link.preparations import PreparedPlan
from concertina_worker.plan import GenerationPlan
from concertina_worker.wire import FromWorker
from tests.worker.memory.group import Rooms

FOREVER: Final = 1e9


class Seam(Enum):
    """A place where another thread may get ahead."""

    SEND = auto()  # something to the coordinator
    BUILD = auto()  # a group
    BUILT = auto()
    WAIT = auto()  # for a group
    FOUND = auto()


Hesitate = Callable[[str, Seam], None]
"""Given the worker that comes to a seam; called by the thread that does, may block it."""


class DirectControl(Control):
    """Whose messages are heard at once."""

    def __init__(self, platform: Platform, line: DirectLine, tell: Callable[[Any], None]) -> None:
        preparations = line.preparations
        super().__init__(
            platform, line.pulse, on_plan=preparations.take, on_release=preparations.end
        )
        self._tell = tell
        self._worker = line.worker
        self._hesitate = line.hesitate

    @property
    def silent_seconds(self) -> float:
        return 0.0

    def send(self, kind: FromWorker, **fields: Any) -> None:
        self._hesitate(self._worker, Seam.SEND)
        self._tell(to_event(self._worker, {"type": kind, **fields}))

    def fall_silent(self) -> None:
        self._tell = lambda _: None


class DirectLine(CoordinatorLine):
    """A worker's line to a coordinator in the same process."""

    def __init__(
        self,
        worker: str,
        rooms: Rooms,
        tell: Callable[[Any], None],
        hesitate: Hesitate,
    ) -> None:
        platform = Platform(worker_id=worker, attempt=1, token="", host="", port=0)
        self.hesitate = hesitate
        super().__init__(platform, GpuOffer(), lost_seconds=FOREVER)
        self.direct = self.control = DirectControl(platform, self, tell)
        self.orders = CoordinatorOrders(self.control, lost_seconds=FOREVER)
        self._rooms = rooms

    def is_to_recover(self, generation: int) -> bool:
        """By a plan that came after this generation."""
        newest = self.preparations.newest
        return newest is not None and newest.is_recovery and newest.generation > generation

    def await_prepared(
        self, accept: Callable[[PreparedPlan], bool], *, newer_than: int
    ) -> PreparedPlan:
        self.hesitate(self.worker, Seam.WAIT)
        prepared = super().await_prepared(accept, newer_than=newer_than)
        self.hesitate(self.worker, Seam.FOUND)
        return prepared

    def _build(self, plan: GenerationPlan, wires: Wires) -> Group:
        self.hesitate(self.worker, Seam.BUILD)
        group = self._rooms.build(plan, self.worker, wires)
        self.hesitate(self.worker, Seam.BUILT)
        return group
