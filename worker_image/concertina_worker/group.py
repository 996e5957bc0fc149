"""How do the members of a generation reach each other? Through a gloo group of their own.

A `Group` is built beside a running one, without the process-wide default group of
torch.distributed, and ends when nobody refers to it any more: gloo closes its sockets in the
destructor, which is also what tells the others of a failure. So nothing else may keep a
reference to a process group or to the work it has under way.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import torch
from torch.distributed import TCPStore  # type: ignore[attr-defined] # its stubs forget it
from torch.distributed.distributed_c10d import BroadcastOptions, PrefixStore, ProcessGroupGloo

from concertina_worker.plan import Plan

_BEGIN = "begin"  # set in the store once the source is about to hand its state over


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The members of one generation as seen by one of them. Alone: no process group at all."""

    plan: Plan
    worker: str
    everyone: Any = None  # ProcessGroupGloo of all members
    handover: Any = None  # of the source (rank 0) and the joiners
    store: Any = None  # of the rendezvous; lives in rank 0

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

    def under(self, plan: Plan) -> Group:
        """The same members under another plan: nothing to build."""
        return replace(self, plan=plan, handover=None)

    def start_sum(self, tensor: torch.Tensor) -> Any:
        """Start to add up over all members, in place; None when alone."""
        return self.everyone.allreduce([tensor]) if self.everyone else None

    def sum(self, tensor: torch.Tensor) -> torch.Tensor:
        """Add up over all members, in place. Raises RuntimeError when a member is lost."""
        if self.everyone:
            self.everyone.allreduce([tensor]).wait()
        return tensor

    def announce_handover(self) -> None:
        if self.store is not None:
            self.store.set(_BEGIN, "1")

    def is_handover_announced(self) -> bool:
        """Raises RuntimeError when the store is gone."""
        return bool(self.store.check([_BEGIN]))


def broadcast(process_group: Any, tensor: torch.Tensor, *, root: int) -> None:
    """Copy the root's values, in place. Raises RuntimeError when a member is lost."""
    options = BroadcastOptions()
    options.rootRank = root
    process_group.broadcast([tensor], options).wait()


def build(
    plan: Plan,
    worker: str,
    *,
    host: str,
    announce: Callable[[str], None],
    await_address: Callable[[], str],
) -> Group:
    """Meet the other members; blocks until all are there.

    Rank 0 opens the store and announces its address, the others await it.

    Raises:
        RuntimeError: somebody did not come within the plan's time.
    """
    group = Group(plan=plan, worker=worker)
    if group.size == 1:
        return group
    timeout = timedelta(seconds=plan.timeout_seconds)
    store = _open_store(host, timeout) if group.rank == 0 else None
    if store is not None:
        announce(f"{host}:{store.port}")
    else:
        store_host, _, port = await_address().rpartition(":")
        store = TCPStore(store_host, int(port), timeout=timeout, use_libuv=True)
    everyone = _process_group(store, "everyone", group.rank, group.size, host, timeout)
    handover = _build_handover(group, store, host, timeout)
    return replace(group, everyone=everyone, handover=handover, store=store)


def _open_store(host: str, timeout: timedelta) -> Any:
    return TCPStore(host, 0, is_master=True, wait_for_workers=False, timeout=timeout)


def _build_handover(group: Group, store: Any, host: str, timeout: timedelta) -> Any:
    if not (group.is_source or group.is_joiner):
        return None
    members = (group.plan.source, *group.plan.joiners)
    rank = members.index(group.worker)
    return _process_group(store, "handover", rank, len(members), host, timeout)


def _process_group(
    store: Any, name: str, rank: int, size: int, host: str, timeout: timedelta
) -> Any:
    gloo: Any = ProcessGroupGloo
    options = gloo._Options()  # noqa: SLF001 - the only way to choose a device
    options._timeout = timeout  # noqa: SLF001
    options._devices = [_device(host)]  # noqa: SLF001
    return ProcessGroupGloo(PrefixStore(name, store), rank, size, options)


def _device(host: str) -> Any:
    interface = os.environ.get("GLOO_SOCKET_IFNAME")
    if interface:
        return ProcessGroupGloo.create_device(interface=interface)
    return ProcessGroupGloo.create_device(hostname=host)
