"""How do the members of a plan find each other? Through a board that lives for one generation.

The first in rank opens it on a free port and has its address announced; the others connect. Gloo
needs it only to build groups; afterwards it carries one word, that a handover begins.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final

from torch.distributed.distributed_c10d import ProcessGroupGloo

from concertina_worker.collective.gloo import GlooExchange
from concertina_worker.collective.gpu_offer import GpuOffer, is_possible
from concertina_worker.collective.group import Group
from concertina_worker.collective.nccl import NcclExchange
from concertina_worker.collective.store import BoardServer, GlooStore, RemoteBoard
from concertina_worker.collective.wires import Wires
from concertina_worker.plan import GenerationPlan

MEETING_SECONDS: Final = 30.0  # guessed: all are warm; above any hiccup of a loaded machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """One worker's way to the others."""

    host: str  # of this worker, as the others reach it
    token: str  # of the job: lets in its members and nobody else
    announce: Callable[[str], None]  # the board's address, if this worker opened it
    await_address: Callable[[], str]  # raises RuntimeError when nobody announces one in time
    gpu: GpuOffer = field(default_factory=GpuOffer)


def build(plan: GenerationPlan, worker: str, meeting: Meeting, wires: Wires) -> Group:
    """Meet the other members; blocks until all are there, or until `wires` are cut.

    Raises:
        RuntimeError: somebody did not come within `MEETING_SECONDS`.
    """
    group = Group(plan=plan, worker=worker, wires=wires)
    if plan.participants == (worker,):
        return group
    server = _open_board(meeting) if worker == plan.members[0] else None
    board = server.board if server else _find_board(meeting)

    def store_of(name: str) -> GlooStore:
        return GlooStore(board, wires, prefix=f"{name}/", timeout_seconds=MEETING_SECONDS)

    def gloo(name: str, place: tuple[int, int]) -> GlooExchange:
        process_group = gloo_group(
            store_of(name), meeting.host, place, timeout_seconds=plan.timeout_seconds
        )
        return GlooExchange(process_group, wires)

    group = replace(group, board=board, server=server)
    if plan.holders:
        place = plan.participants.index(worker), len(plan.participants)
        group = replace(group, rows=gloo("rows", place))
    if worker not in plan.members or group.size == 1:
        return group
    everyone = gloo("everyone", (group.rank, group.size))
    some = (plan.source, *plan.joiners)
    hands_over = worker in some and not plan.holders
    handover = gloo("handover", (some.index(worker), len(some))) if hands_over else None
    group = replace(group, everyone=everyone, handover=handover)
    return replace(group, nccl=_nccl(group, store_of("nccl"), meeting.gpu))


def gloo_group(
    store: GlooStore, host: str, place: tuple[int, int], *, timeout_seconds: float
) -> Any:
    """A process group that belongs to nobody but the caller; `place` is its rank, of how many.

    Meeting is quick, or somebody is lost; a collective may have to wait for as long as a member
    evaluates or saves.
    """
    gloo: Any = ProcessGroupGloo
    options = gloo._Options()  # noqa: SLF001 - the only way to choose device and timeout
    options._timeout = timedelta(seconds=MEETING_SECONDS)  # noqa: SLF001
    options._devices = [_device(host)]  # noqa: SLF001
    process_group = ProcessGroupGloo(store, *place, options)
    process_group.set_timeout(timedelta(seconds=timeout_seconds))
    return process_group


def _open_board(meeting: Meeting) -> BoardServer:
    server = BoardServer(meeting.host, meeting.token)
    meeting.announce(f"{meeting.host}:{server.port}")
    return server


def _find_board(meeting: Meeting) -> RemoteBoard:
    host, _, port = meeting.await_address().rpartition(":")
    return RemoteBoard(host, int(port), meeting.token)


def _nccl(group: Group, store: GlooStore, gpu: GpuOffer) -> NcclExchange | None:
    """All members come to the same answer, because they tell each other what they have."""
    store.set(f"gpu-{group.rank}", gpu.name)
    if not gpu.name:
        return None
    names = [store.get(f"gpu-{rank}").decode() for rank in range(group.size)]
    if not is_possible(names):
        return None
    seconds = group.plan.timeout_seconds
    process_group = gpu.build(store, (group.rank, group.size))
    return NcclExchange(process_group, group.wires, gpu, timeout_seconds=seconds)


def _device(host: str) -> Any:
    interface = os.environ.get("GLOO_SOCKET_IFNAME")
    if interface:
        return ProcessGroupGloo.create_device(interface=interface)
    return ProcessGroupGloo.create_device(hostname=host)
