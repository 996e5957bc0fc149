"""How do the members of a plan find each other? Through a store that lives for one generation.

The first in rank opens it on a free port and has its address announced; the others connect. Gloo
needs it only to build groups; afterwards it carries one word, that a handover begins.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from torch.distributed import TCPStore  # type: ignore[attr-defined] # its stubs forget it
from torch.distributed.distributed_c10d import PrefixStore, ProcessGroupGloo

from concertina_worker.group import Group
from concertina_worker.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """One worker's way to the others."""

    host: str  # of this worker, as the others reach it
    announce: Callable[[str], None]  # the store's address, if this worker opened it
    await_address: Callable[[], str]  # raises RuntimeError when nobody announces one in time


def build(plan: Plan, worker: str, meeting: Meeting) -> Group:
    """Meet the other members; blocks until all are there.

    Raises:
        RuntimeError: somebody did not come within the plan's time.
    """
    group = Group(plan=plan, worker=worker)
    if group.size == 1:
        return group
    store = _open_store(plan, meeting) if group.rank == 0 else _find_store(plan, meeting)
    gloo = _Gloo(store=store, host=meeting.host, timeout=timedelta(seconds=plan.timeout_seconds))
    everyone = gloo.group("everyone", group.rank, group.size)
    if not (group.is_source or group.is_joiner):
        return replace(group, everyone=everyone, store=store)
    some = (plan.source, *plan.joiners)
    handover = gloo.group("handover", some.index(worker), len(some))
    return replace(group, everyone=everyone, handover=handover, store=store)


def _open_store(plan: Plan, meeting: Meeting) -> Any:
    timeout = timedelta(seconds=plan.timeout_seconds)
    store = TCPStore(meeting.host, 0, is_master=True, wait_for_workers=False, timeout=timeout)
    meeting.announce(f"{meeting.host}:{store.port}")
    return store


def _find_store(plan: Plan, meeting: Meeting) -> Any:
    host, _, port = meeting.await_address().rpartition(":")
    return TCPStore(host, int(port), timeout=timedelta(seconds=plan.timeout_seconds))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gloo:
    """Builds process groups that belong to nobody but the caller."""

    store: Any
    host: str
    timeout: timedelta

    def group(self, name: str, rank: int, size: int) -> Any:
        gloo: Any = ProcessGroupGloo
        options = gloo._Options()  # noqa: SLF001 - the only way to choose device and timeout
        options._timeout = self.timeout  # noqa: SLF001
        options._devices = [self._device()]  # noqa: SLF001
        return ProcessGroupGloo(PrefixStore(name, self.store), rank, size, options)

    def _device(self) -> Any:
        interface = os.environ.get("GLOO_SOCKET_IFNAME")
        if interface:
            return ProcessGroupGloo.create_device(interface=interface)
        return ProcessGroupGloo.create_device(hostname=self.host)
