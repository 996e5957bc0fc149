"""Groups whose members are threads of one process: twins of gloo's, which work on shared memory.

A group that is cut fails whatever nobody has waited for yet, be it computed or not: so some
members may have the sum of a step while others lost the group.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from concertina_worker.collective.group import Group
from concertina_worker.collective.store import Board
from concertina_worker.collective.wires import Wires
from concertina_worker.plan import GenerationPlan

PATIENCE_SECONDS: Final = 90.0

Tensors = Sequence[torch.Tensor]


@dataclass(slots=True)
class _Collective:
    """What the members do together once all have come."""

    tensors: dict[int, torch.Tensor] = field(default_factory=dict)  # by rank
    is_over: bool = False


class _Ring:
    """What the members of a process group share."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._changed = threading.Condition()
        self._under_way: dict[int, _Collective] = {}
        self._is_cut = False

    def begin(
        self, number: int, rank: int, tensor: torch.Tensor, act: Callable[[Tensors], None]
    ) -> _Collective:
        with self._changed:
            self._check()
            collective = self._under_way.setdefault(number, _Collective())
            collective.tensors[rank] = tensor
            if len(collective.tensors) == self._size:
                tensors = [collective.tensors[place] for place in range(self._size)]
                assert len({(one.shape, one.dtype) for one in tensors}) == 1, "gloo would abort"
                with torch.no_grad():
                    act(tensors)
                collective.is_over = True
                del self._under_way[number]
                self._changed.notify_all()
            return collective

    def wait_for(self, collective: _Collective) -> None:
        with self._changed:
            self._changed.wait_for(
                lambda: collective.is_over or self._is_cut, timeout=PATIENCE_SECONDS
            )
            self._check()
            assert collective.is_over, "a member never came"

    def cut(self) -> None:
        with self._changed:
            self._is_cut = True
            self._changed.notify_all()

    def _check(self) -> None:
        if self._is_cut:
            raise RuntimeError("a member was lost")


@dataclass(frozen=True, slots=True)
class _Work:
    ring: _Ring
    collective: _Collective

    def wait(self) -> None:
        self.ring.wait_for(self.collective)


class MemoryProcessGroup:
    """One member's side of a ring; does what the runtime asks of `ProcessGroupGloo`."""

    def __init__(self, ring: _Ring, rank: int) -> None:
        self._ring = ring
        self._rank = rank
        self._begun = 0

    def allreduce(self, tensors: Tensors) -> _Work:
        return self._begin(tensors[0], _add_up)

    def broadcast(self, tensors: Tensors, options: Any) -> _Work:
        root = int(options.rootRank)
        return self._begin(tensors[0], lambda everyones: _copy(everyones, root))

    def _begin(self, tensor: torch.Tensor, act: Callable[[Tensors], None]) -> _Work:
        self._begun += 1
        return _Work(self._ring, self._ring.begin(self._begun, self._rank, tensor, act))


def _add_up(tensors: Tensors) -> None:
    total = tensors[0].clone()
    for tensor in tensors[1:]:
        total += tensor
    _copy([total, *tensors], 0)


def _copy(tensors: Tensors, root: int) -> None:
    for tensor in tensors:
        if tensor is not tensors[root]:
            tensor.copy_(tensors[root])


class _Room:
    """Where the members of one plan meet."""

    def __init__(self, plan: GenerationPlan) -> None:
        self.board = Board()
        self.everyone = _Ring(len(plan.members))
        self.handover = _Ring(1 + len(plan.joiners))
        self._size = len(plan.members)
        self._arrived = 0
        self._changed = threading.Condition()
        self._is_cut = False

    def enter(self) -> None:
        """Returns when all have."""
        with self._changed:
            self._arrived += 1
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: self._is_cut or self._arrived == self._size, timeout=PATIENCE_SECONDS
            )
            if self._is_cut or self._arrived < self._size:
                raise RuntimeError("somebody did not come")

    def cut(self) -> None:
        with self._changed:
            self._is_cut = True
            self._changed.notify_all()
        self.everyone.cut()
        self.handover.cut()


class Rooms:
    """Builds the groups of a job."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rooms: dict[int, _Room] = {}

    def build(self, plan: GenerationPlan, worker: str, wires: Wires) -> Group:
        """What `rendezvous.build` does."""
        group = Group(plan=plan, worker=worker, wires=wires)
        if group.size == 1:
            return group
        with self._lock:
            room = self._rooms.setdefault(plan.generation, _Room(plan))
        wires.when_cut(room.cut)
        room.enter()
        some = (plan.source, *plan.joiners)
        is_handing_over = worker in some
        return Group(
            plan=plan,
            worker=worker,
            everyone=MemoryProcessGroup(room.everyone, group.rank),
            handover=MemoryProcessGroup(room.handover, some.index(worker))
            if is_handing_over
            else None,
            board=room.board,
            wires=wires,
        )
