"""How do `fully_shard` and DTensors reach the other workers? Through the group of the generation.

PyTorch's own default process group is made for each generation, of a class that passes on what is
asked of it: nothing of it has sockets of its own. `fully_shard` is given its two collectives the
way PyTorch means it (`set_custom_all_gather` and `set_custom_reduce_scatter`); there each worker's
gradient is weighted by its part of the batch, so that the sum is the gradient of the whole batch.

When a member is lost, nothing is raised in the middle of a step. What was to be gathered is zero
from then on, the script comes to the end of its step as always, and there the step is found not to
count. The same goes for a rehearsal, in which the others take no part. Outside of steps, where a
script evaluates or saves and nobody would find that what it got is worthless, a loss is an error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from functools import cache
from typing import Any, Final, cast

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule

from concertina_worker.collective.group import Group

_BACKEND: Final = "concertina"


class ShardWorld:
    """The workers of a generation, as PyTorch is to see them."""

    def __init__(self, device: torch.device) -> None:
        self.weight = 1.0  # of this worker's micro-batch, in the batch of all
        self.is_in_step = self.is_rehearsing = False
        self.has_failed = False  # a member was lost
        self.waited_seconds = 0.0  # in collectives, since this was set to zero
        self.waiting: Callable[[], AbstractContextManager[None]] = nullcontext  # for the others
        self._device = device
        self._group: Group | None = None

    def begin(self, group: Group) -> DeviceMesh:
        """Be one of this group's members from now on."""
        self.end()
        self._group = group
        self.has_failed = False
        _register()
        _worlds[:] = [self]
        dist.init_process_group(
            _BACKEND,
            store=dist.HashStore(),  # type: ignore[attr-defined] # its stubs forget it
            rank=group.rank,
            world_size=group.size,
        )
        return DeviceMesh.from_group(cast("dist.ProcessGroup", dist.group.WORLD), self._device.type)

    def end(self) -> None:
        """Let go of the group: it ends when nobody refers to it any more."""
        self._group = None
        if dist.is_initialized():
            dist.destroy_process_group()

    def fail(self) -> None:
        """The group is lost: what is computed until the next one goes nowhere."""
        self.has_failed = True
        self._group = None

    def serve(self, module: FSDPModule) -> None:
        """Let a sharded module gather and sum through this group."""
        size = self._group.size if self._group else 1
        module.set_custom_all_gather(_Gather(self))  # type: ignore[arg-type] # whose base is not public
        module.set_custom_reduce_scatter(_ScatterSum(self))  # type: ignore[arg-type] # the same
        module.set_force_sum_reduction_for_comms(True)
        module.set_reduce_scatter_unused_params(True)
        if size == 1:  # where nothing is summed
            module.set_all_reduce_hook(self._weigh)
        else:
            module.set_gradient_divide_factor(1.0)

    def run(self, collective: Callable[[Group], object]) -> bool:
        """Return whether it came about; False from the loss of a member on, in the same step.

        Raises:
            PartsLostError: a member was lost, and no step is under way.
        """
        group = self._group
        if self.is_rehearsing:
            return False
        if group is None:
            self._check_step()
            return False
        began = time.monotonic()
        try:
            with self.waiting():
                collective(group)
        except torch.OutOfMemoryError:  # which is the script's, as anywhere in a pass
            raise
        except RuntimeError:  # holds on to nothing: the group must become unreferenced
            self.fail()
            group.wires.cut()  # which tells the others
            is_lost = True
        else:
            is_lost = False
        finally:
            self.waited_seconds += time.monotonic() - began
        if is_lost:
            self._check_step()
        return not is_lost

    def _check_step(self) -> None:
        if not self.is_in_step:
            raise PartsLostError

    def gather(self, whole: torch.Tensor, part: torch.Tensor) -> None:
        """Put everybody's part together."""
        if not self.run(lambda members: members.gather(whole, part)):
            whole.zero_()

    def scatter_sum(self, part: torch.Tensor, whole: torch.Tensor) -> None:
        """Add up what everybody has, as far as it counts; each gets a part."""
        if self.weight:
            whole.mul_(self.weight)
        else:  # whatever is in it: of an overflow nothing may remain
            whole.zero_()
        if not self.run(lambda members: members.scatter_sum(part, whole)):
            part.zero_()

    def _weigh(self, gradients: torch.Tensor) -> None:
        gradients.mul_(self.weight)


class _Gather:
    """What `fully_shard` gathers parameters with."""

    def __init__(self, world: ShardWorld) -> None:
        self._world = world

    def allocate(self, size: Sequence[int], *, dtype: Any, device: Any) -> torch.Tensor:
        return torch.empty(*size, dtype=dtype, device=device)

    def __call__(
        self,
        output_tensor: torch.Tensor,
        input_tensor: torch.Tensor,
        group: object,  # noqa: ARG002 - which is the world's
        async_op: bool = False,  # noqa: ARG002, FBT001, FBT002 - PyTorch's own
    ) -> None:
        self._world.gather(output_tensor, input_tensor)


class _ScatterSum:
    """What `fully_shard` sums gradients with."""

    def __init__(self, world: ShardWorld) -> None:
        self._world = world

    def allocate(self, size: Sequence[int], *, dtype: Any, device: Any) -> torch.Tensor:
        return torch.empty(*size, dtype=dtype, device=device)

    def __call__(
        self,
        output_tensor: torch.Tensor,
        input_tensor: torch.Tensor,
        group: object,  # noqa: ARG002 - which is the world's
        op: object,  # noqa: ARG002 - the sum
        async_op: bool = False,  # noqa: ARG002, FBT001, FBT002 - PyTorch's own
    ) -> None:
        self._world.scatter_sum(output_tensor, input_tensor)


class _MeshGroup(dist.ProcessGroup):
    """What DTensors ask: the norm of all gradients, say, is a sum over the workers."""

    def __init__(self, world: ShardWorld, rank: int, size: int) -> None:
        super().__init__(rank, size)  # type: ignore[call-arg] # without a store
        self._world = world
        self._name = ""

    def getBackendName(self) -> str:  # noqa: N802 - PyTorch's own
        return _BACKEND

    @property
    def group_name(self) -> str:  # type: ignore[override] # a name, whatever its type is called
        return self._name

    def _set_group_name(self, name: str) -> None:
        self._name = name

    def allreduce(self, tensors: Sequence[torch.Tensor], options: Any = None) -> Any:  # type: ignore[override]
        self._world.run(lambda members: members.reduce(tensors, options))
        return _Done()

    def allgather_into_tensor_coalesced(
        self,
        outputs: Sequence[torch.Tensor],
        inputs: Sequence[torch.Tensor],
        options: Any = None,  # noqa: ARG002 - PyTorch's own
    ) -> Any:
        for whole, part in zip(outputs, inputs, strict=True):
            self._world.gather(whole, part)
        return _Done()


class _Done(dist.Work):
    """A collective that is over."""

    def wait(self, timeout: timedelta | None = None) -> bool:  # noqa: ARG002 - PyTorch's own
        return True


class PartsLostError(Exception):
    """A worker was lost, and with it its part of the model, while no step was under way.

    The job starts again from its newest checkpoint.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(text or self.__doc__)


_worlds: list[ShardWorld] = []  # the one of this process, for PyTorch to find


@cache
def _register() -> None:
    dist.Backend.register_backend(_BACKEND, _made, devices=["cpu", "cuda"])


def _made(store: object, rank: int, size: int, timeout: object) -> _MeshGroup:  # noqa: ARG001
    return _MeshGroup(_worlds[0], rank, size)
