"""What has this worker of a model and its optimizers? Rows of each tensor, and what is small.

What an optimizer remembers of a parameter is laid out like that parameter, or is the same on all
workers: the number of steps, say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Shard

from concertina_worker.sharding.exchange import MovingTensor, RowExchange
from concertina_worker.sharding.laying_out import ShardableModel
from concertina_worker.sharding.rows import RowOwners


@dataclass(frozen=True, slots=True, order=True)
class TensorKey:
    """A parameter, or what an optimizer remembers of it."""

    parameter: str
    optimizer: int = -1  # its number; -1: the parameter itself
    state: str = ""

    @property
    def text(self) -> str:
        """Its name in a file."""
        return f"{self.optimizer}/{self.parameter}/{self.state}"


@dataclass(frozen=True, slots=True)
class TensorKind:
    """What all of a tensor is like."""

    shape: torch.Size
    dtype: torch.dtype


Kinds = Mapping[TensorKey, TensorKind]
Small = Mapping[TensorKey, Any]
"""What optimizers remember and is the same on all workers."""


class HeldTensors:
    """The rows of one worker, between two steps."""

    def __init__(self, model: ShardableModel, optimizers: Sequence[torch.optim.Optimizer]) -> None:
        """Take the parameters of the optimizers over, which have no state yet."""
        self.model = model
        self.place = (0, 1)  # the rank of this worker, of how many
        self.on_gradient: Callable[[nn.Parameter], None] = lambda _: None
        self._optimizers = optimizers
        self._members = [
            [[model.name_of(one) for one in group["params"]] for group in optimizer.param_groups]
            for optimizer in optimizers
        ]
        self._mesh: DeviceMesh | None = None
        self._give(model.whole)

    # -- the layout ----------------------------------------------------------------------------

    def lay_out(self, mesh: DeviceMesh, *, rank: int) -> None:
        """Have room for nothing yet, over this mesh."""
        self.let_go()
        self._mesh = mesh
        self.place = (rank, mesh.size())
        self.model.lay_out(mesh)

    def let_go(self) -> None:
        """Hold nothing any more."""
        for optimizer in self._optimizers:
            optimizer.state.clear()
        self.model.take_apart()
        self._give(self.model.whole)

    def own_rows(self, shape: torch.Size) -> range:
        """Return which rows of a tensor are this worker's."""
        rank, size = self.place
        owners = RowOwners(tuple(map(str, range(size))))
        return owners.rows_of(str(rank), shape[0])

    # -- what is held --------------------------------------------------------------------------

    def tensors(self) -> Iterator[tuple[TensorKey, torch.Tensor]]:
        """Yield each parameter, then what optimizers remember of it by rows."""
        for name, parameter in self.model.parameters().items():
            yield TensorKey(name), parameter
            for number, optimizer in enumerate(self._optimizers):
                for state, value in sorted(optimizer.state.get(parameter, {}).items()):
                    if isinstance(value, DTensor):
                        yield TensorKey(name, number, state), value

    def kinds(self) -> Kinds:
        return {key: TensorKind(one.shape, one.dtype) for key, one in self.tensors()}

    def small(self) -> Small:
        return {
            TensorKey(name, number, state): value
            for name, parameter in self.model.parameters().items()
            for number, optimizer in enumerate(self._optimizers)
            for state, value in optimizer.state.get(parameter, {}).items()
            if not isinstance(value, DTensor)
        }

    def optimized(self) -> Iterator[tuple[int, str]]:
        """Yield the numbers of optimizers with the names of their parameters."""
        for number, groups in enumerate(self._members):
            for names in groups:
                yield from ((number, name) for name in names)

    def give_up(self) -> dict[TensorKey, torch.Tensor]:
        """Give the layout of now up; what was held of it is in the answer alone."""
        held = {key: rows_in(one) for key, one in self.tensors() if isinstance(one, DTensor)}
        self.let_go()
        return held

    # -- what comes ----------------------------------------------------------------------------

    def receive(
        self, exchange: RowExchange, kinds: Kinds, held: dict[TensorKey, torch.Tensor]
    ) -> None:
        """Exchange all rows, and have what is this worker's. Raises GroupLostError."""
        moving = [
            MovingTensor(shape=kind.shape, dtype=kind.dtype, held=held.pop(key, None))
            for key, kind in kinds.items()
        ]
        is_member = exchange.me in exchange.after.names
        for key, tensor in zip(kinds, exchange.move(moving), strict=True):
            rows, tensor.taken = tensor.taken, None
            if rows is not None and is_member:
                self.put(key, rows, tensor.shape)
        if is_member:
            self.settle({})

    def put(self, key: TensorKey, rows: torch.Tensor, shape: torch.Size) -> None:
        """Have these rows; those of a parameter come before what is remembered of it."""
        if not key.state:
            parameter = self.model.fill(key.parameter, rows)
            parameter.register_post_accumulate_grad_hook(self.on_gradient)
            return
        assert self._mesh is not None  # noqa: S101 - parts are laid out over one
        stride = torch.empty(shape, device="meta").stride()
        all_of_it = DTensor.from_local(
            rows, self._mesh, (Shard(0),), run_check=False, shape=shape, stride=stride
        )
        self._state_of(key)[key.state] = all_of_it

    def settle(self, small: Small) -> None:
        """All rows are there: let the optimizers know, and remember what is small."""
        self._give(self.model.parameter)
        for key, value in small.items():
            own = value.clone() if isinstance(value, torch.Tensor) else value
            self._state_of(key)[key.state] = own

    def _state_of(self, key: TensorKey) -> dict[str, Any]:
        state: dict[str, Any] = self._optimizers[key.optimizer].state[
            self.model.parameter(key.parameter)
        ]
        return state

    def _give(self, parameter: Callable[[str], nn.Parameter]) -> None:
        """Let the optimizers know of the parameters as they are now."""
        for optimizer, groups in zip(self._optimizers, self._members, strict=True):
            for group, names in zip(optimizer.param_groups, groups, strict=True):
                group["params"] = [parameter(name) for name in names]


def rows_in(tensor: torch.Tensor) -> torch.Tensor:
    """Return what this worker has of a tensor that is laid out."""
    assert isinstance(tensor, DTensor)  # noqa: S101 - it is
    local: torch.Tensor = tensor.detach().to_local()  # type: ignore[attr-defined]
    return local
