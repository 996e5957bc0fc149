"""How does this worker get its part of a sharded training, and how does it lose it?

At a switch all who hold rows, and all who shall, meet between two steps. Each knows by arithmetic
what goes from whom to whom; parameter by parameter rows change hands, those of the optimizer with
them. Whoever is new gets the rest from the main worker: where the training is, and what is small.

There is one copy of each row. When a worker is lost, so are its rows, and all members go back to
the newest checkpoint, from which each reads the rows that are its own then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

import torch
from torch import nn

from concertina_worker.collective.group import Group
from concertina_worker.sharding.exchange import RowExchange
from concertina_worker.sharding.holding import HeldTensors, TensorKey, TensorKind
from concertina_worker.sharding.in_files import RowsInFiles
from concertina_worker.sharding.laying_out import ShardableModel
from concertina_worker.sharding.rows import RowOwners
from concertina_worker.sharding.world import PartsLostError, ShardWorld
from concertina_worker.state.parts import HeldParts, KeptRows, StateBesideParts
from concertina_worker.state.transfer import receive_header, send_header, send_or_receive

_MAIN: Final = 0  # rank

Initialise = Callable[[nn.Module], object]


class ShardedParts:
    """One worker's part; does what `state.parts` declares."""

    def __init__(
        self,
        model: ShardableModel,
        optimizers: Sequence[torch.optim.Optimizer],
        device: torch.device,
        init: Initialise | None = None,
    ) -> None:
        """Take model and optimizers over.

        `init`: gives a model its values that was made without any.
        """
        self.device = device
        self.seconds = 0.0
        self.meetings = 0
        self.is_new = False
        self.kept: KeptRows | None = None
        self.world = ShardWorld(device)
        self.model = model
        self._holding = HeldTensors(model, optimizers)
        self._files = RowsInFiles(self._holding, device)
        self._init = init
        self._values: Mapping[str, torch.Tensor] | None = model.take_values()
        self._small: Mapping[Any, Any] = {}  # of a checkpoint that is being read

    # -- in a step -----------------------------------------------------------------------------

    def watch_gradients(self, on_gradient: Callable[[nn.Parameter], None]) -> None:
        self._holding.on_gradient = on_gradient

    def wait_within(self, waiting: Callable[[], AbstractContextManager[None]]) -> None:
        self.world.waiting = waiting

    def waiting(self) -> AbstractContextManager[None]:
        return self.world.waiting()

    @property
    def waited_seconds(self) -> float:
        return self.world.waited_seconds

    def weigh(self, weight: float) -> None:
        self.world.weight = weight

    def begin_step(self) -> None:
        self.world.is_in_step, self.world.is_rehearsing = True, False
        self.world.waited_seconds = 0.0

    def rehearse(self) -> None:
        self.world.is_rehearsing = True

    def end_steps(self) -> None:
        self.world.is_in_step = self.world.is_rehearsing = False

    @property
    def has_failed(self) -> bool:
        return self.world.has_failed

    def fail(self) -> None:
        self.world.fail()

    # -- at a switch ---------------------------------------------------------------------------

    def move(self, group: Group, state: StateBesideParts) -> None:
        began = time.monotonic()
        plan = group.plan
        if plan.holders == plan.members:
            return
        was_complete, state.is_complete = state.is_complete, False
        header = {**state.header(), "kinds": self._holding.kinds(), "small": self._holding.small()}
        header = _from_main(group, header)
        held = self._holding.give_up()
        self._values = None
        if group.worker in plan.members:
            self._lay_out(group)
        exchange = self._exchange(group, before=RowOwners(plan.holders))
        self._holding.receive(exchange, header["kinds"], held)
        if group.rows is not None:  # those who leave have to be asked as well
            send_or_receive(group.rows, state.buffers(), root=_MAIN)
        if group.worker in plan.members:
            self._finish(state, header, is_new=not was_complete)
        self.seconds = time.monotonic() - began

    # -- at the beginning, and after a loss ----------------------------------------------------

    def meet(
        self,
        group: Group,
        state: StateBesideParts,
        begin: Callable[[], None],
        furthest_step: Callable[[], int],
    ) -> int:
        began = time.monotonic()
        reached = _furthest(group, max(state.step, furthest_step()))
        state.is_complete = False
        self.meetings += 1
        header: dict[str, Any] = {}
        if group.rank == _MAIN:
            begin()
            header = {**state.header(), "kept": self.kept, "small": self._small}
        header = _from_main(group, header)
        self._lay_out(group)
        kept: KeptRows | None = header["kept"]
        self.is_new = kept is None or kept.optimizers is None
        if self.is_new:
            self._take_values(group)
        if kept is not None:
            self._files.read(kept, header["small"])
        self._finish(state, header, is_new=group.rank != _MAIN)
        if group.everyone is not None:
            send_or_receive(group.everyone, state.buffers(), root=_MAIN)
        self._values = None
        self.seconds = time.monotonic() - began
        return max(reached, state.step) - state.step

    # -- for a checkpoint ----------------------------------------------------------------------

    @property
    def place(self) -> tuple[int, int]:
        return self._holding.place

    @property
    def model_bytes(self) -> int:
        return sum(self.model.whole(name).nbytes for name in self.model.names)

    def hold(self) -> HeldParts:
        return self._files.hold()

    def take_small(self, small: Mapping[Any, Any]) -> None:
        self._small = small

    # -- in detail -----------------------------------------------------------------------------

    def _lay_out(self, group: Group) -> None:
        self._holding.lay_out(self.world.begin(group), rank=group.rank)
        for module in self.model.sharded_modules():
            self.world.serve(module)

    def _take_values(self, group: Group) -> None:
        """Take what the script made, of the first member that has it.

        Raises:
            PartsLostError: nobody has it any more.
        """
        table = torch.zeros(group.size, dtype=torch.int64)
        table[group.rank] = self._values is not None
        owners = [one for one, has in zip(group.plan.members, group.sum(table), strict=True) if has]
        if not owners:
            raise PartsLostError(
                "A worker was lost with its part of the model, and no checkpoint has that."
            )
        whole = {name: self.model.whole(name) for name in self.model.names}
        if self._init is not None:
            for name, one in whole.items():
                shape = (len(self._holding.own_rows(one.shape)), *one.shape[1:])
                rows = torch.zeros(shape, dtype=one.dtype, device=self.device)
                self._holding.put(TensorKey(name), rows, one.shape)
            self._holding.settle({})
            self._init(self.model.model)
            return
        values = self._values if group.worker == owners[0] else None
        held = {TensorKey(name): value for name, value in (values or {}).items()}
        kinds = {TensorKey(name): TensorKind(one.shape, one.dtype) for name, one in whole.items()}
        self._holding.receive(self._exchange(group, before=RowOwners((owners[0],))), kinds, held)

    def _exchange(self, group: Group, *, before: RowOwners) -> RowExchange:
        return RowExchange(
            me=group.worker,
            everyone=group.plan.participants,
            before=before,
            after=RowOwners(group.plan.members),
            device=self.device,
            all_to_all=group.all_to_all,
        )

    def _finish(self, state: StateBesideParts, header: dict[str, Any], *, is_new: bool) -> None:
        self._holding.settle(header["small"])
        if is_new:
            state.take_header(header)
        state.has_arrived()


def _furthest(group: Group, own: int) -> int:
    table = torch.zeros(group.size, dtype=torch.int64)
    table[group.rank] = own
    return int(group.sum(table).max())


def _from_main(group: Group, header: dict[str, Any]) -> dict[str, Any]:
    """The main worker's header, on all who take part. Raises GroupLostError."""
    line = group.rows or group.everyone
    if line is None:
        return header
    if group.worker == group.plan.members[_MAIN]:
        send_header(line, header, root=_MAIN)
        return header
    return receive_header(line, root=_MAIN)
