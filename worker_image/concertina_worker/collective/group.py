"""How do the members of a generation reach each other? Through a gloo group of their own.

A `Group` is built beside a running one, without the process-wide default group of
torch.distributed, and ends when nobody refers to it any more: gloo closes its sockets in the
destructor, which is also what tells the others of a failure. So nothing else may keep a
reference to a process group or to the work it has under way.

PyTorch raises a plain RuntimeError when a member is lost, and for nearly everything that may be
wrong in a script. So it is given a name of its own here, where nothing but the collective runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.distributed.distributed_c10d import BroadcastOptions

from concertina_worker.collective.nccl import NcclExchange
from concertina_worker.collective.store import Board, BoardServer, RemoteBoard
from concertina_worker.collective.wires import Wires
from concertina_worker.plan import GenerationPlan

_BEGIN = "begin"  # put on the board once the source is about to hand its state over


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The members of one generation as seen by one of them. Alone: no process group at all."""

    plan: GenerationPlan
    worker: str
    everyone: Any = None  # GlooExchange of all members
    handover: Any = None  # of the source (rank 0) and the joiners
    rows: Any = None  # of `plan.participants`, between whom rows of a sharded model move
    nccl: NcclExchange | None = None  # of all members, if each has a GPU of its own
    board: Board | RemoteBoard | None = None  # of the rendezvous
    server: BoardServer | None = None  # keeps the board up, in rank 0
    wires: Wires = field(default_factory=Wires)  # of both process groups

    @property
    def rank(self) -> int:
        return self.plan.members.index(self.worker)

    @property
    def size(self) -> int:
        return len(self.plan.members)

    @property
    def is_source(self) -> bool:
        return self.worker == self.plan.source

    @property
    def is_joiner(self) -> bool:
        return self.worker in self.plan.joiners and not self.plan.is_recovery

    def under(self, plan: GenerationPlan) -> Group:
        """The same members under another plan: nothing to build."""
        return replace(self, plan=plan, handover=None, rows=None)

    def start_sum(self, tensor: torch.Tensor) -> Any:
        """Start to add up over all members, in place; None when alone.

        Raises GroupLostError; what it returns raises RuntimeError when waited for.
        """
        with _loss_of_a_member():
            if self.nccl and self.nccl.takes(tensor):
                return self.nccl.start_sum(tensor)
            return self.everyone.allreduce([tensor]) if self.everyone else None

    def sum(self, tensor: torch.Tensor) -> torch.Tensor:
        """Add up over all members, in place. Raises GroupLostError."""
        if self.everyone:
            with _loss_of_a_member():
                self.everyone.allreduce([tensor]).wait()
        return tensor

    def gather(self, whole: torch.Tensor, part: torch.Tensor) -> None:
        """Put everybody's part together, by rank. Raises GroupLostError."""
        with _loss_in_a_pass():
            if self.everyone is None:
                whole.copy_(part)
            elif self.nccl and self.nccl.takes(whole):
                self.nccl.start(whole.device, lambda all_: all_._allgather_base(whole, part)).wait()  # noqa: SLF001
            else:
                on_host = whole.cpu()
                self.everyone.gather(on_host, part.cpu()).wait()
                _bring_back(on_host, whole)

    def scatter_sum(self, part: torch.Tensor, whole: torch.Tensor) -> None:
        """Add up over all members, of which each gets its part. Raises GroupLostError."""
        with _loss_in_a_pass():
            if self.everyone is None:
                part.copy_(whole)
            elif self.nccl and self.nccl.takes(whole):
                self.nccl.start(
                    whole.device,
                    lambda all_: all_._reduce_scatter_base(part, whole),  # noqa: SLF001
                ).wait()
            else:
                on_host = part.cpu()
                self.everyone.scatter_sum(on_host, whole.cpu()).wait()
                _bring_back(on_host, part)

    def reduce(self, tensors: Sequence[torch.Tensor], options: Any) -> None:
        """Do what the options of an all-reduce say, in place. Raises GroupLostError."""
        if self.everyone is None:
            return
        with _loss_in_a_pass():
            for tensor in tensors:
                on_host = tensor.cpu()
                self.everyone.reduce([on_host], options).wait()
                _bring_back(on_host, tensor)

    def all_to_all(
        self, room: torch.Tensor, sent: torch.Tensor, room_sizes: list[int], sizes: list[int]
    ) -> None:
        """Give each participant its part of what is sent. Raises GroupLostError."""
        exchange = self.rows or self.everyone
        if exchange is None:
            room.copy_(sent)
            return
        with _loss_of_a_member():
            exchange.all_to_all(room, sent, room_sizes, sizes).wait()

    def part(self) -> None:
        """Wait until nobody's GPU reads from another's any more; then memory may go."""
        if self.nccl:
            with contextlib.suppress(GroupLostError):  # somebody has gone without waiting
                self.sum(torch.zeros(1))

    def announce_handover(self) -> None:
        if self.board is not None:
            with _loss_of_a_member():
                self.board.put(_BEGIN, "")

    def await_handover(self, *, seconds: float) -> bool:
        """True if the handover is announced within this time. Raises GroupLostError."""
        with _loss_of_a_member():
            return self.board is not None and self.board.take(_BEGIN, seconds=seconds) is not None


def alone(worker: str) -> Group:
    """Return the group of a worker that nobody else trains with."""
    plan = GenerationPlan(
        generation=0,
        members=(worker,),
        joiners=(),
        is_recovery=True,
        global_batch_size=1,
        revision=0,
        timeout_seconds=0.0,
    )
    return Group(plan=plan, worker=worker)


def broadcast(process_group: Any, tensor: torch.Tensor, *, root: int) -> None:
    """Copy the root's values, in place. Raises GroupLostError."""
    options = BroadcastOptions()
    options.rootRank = root
    with _loss_of_a_member():
        process_group.broadcast([tensor], options).wait()


def _bring_back(on_host: torch.Tensor, tensor: torch.Tensor) -> None:
    """Bring a result to the GPU, unless it was made in place."""
    if on_host is not tensor:
        tensor.copy_(on_host)


class GroupLostError(RuntimeError):
    """A member was lost, and with it the group: nothing more can be exchanged in it."""


@contextlib.contextmanager
def _loss_of_a_member() -> Iterator[None]:
    """Is what a RuntimeError means in here."""
    try:
        yield
    except RuntimeError as error:
        raise GroupLostError(str(error)) from None


@contextlib.contextmanager
def _loss_in_a_pass() -> Iterator[None]:
    """The same, where what does not fit into this worker's memory is the script's to hear of."""
    try:
        with _loss_of_a_member():
            yield
    except GroupLostError as error:
        if isinstance(error.__context__, torch.OutOfMemoryError):
            raise error.__context__ from None
        raise
