"""Which GPUs does each node have? Its daemon is asked, so that nobody has to type their UUIDs.

The last thing a tick does. A thread asks one node after the other, because a driver that wakes its
GPUs takes long; a later tick writes down what it was told.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import Final

from cluster.gpu_listing import Gpu, TellsGpus
from cluster.models import Node
from cluster.worker_host import WorkerHost, WorkerHostError
from django.db import connections

from autoscaler.control_loop import launches
from autoscaler.control_loop.shell import Shell

_AGAIN_SECONDS: Final = 300.0  # guessed: each question is a container; somebody has to act first

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What a node said; or why it did not."""

    node: Node  # as it was when it was asked
    gpus: tuple[Gpu, ...] = ()
    problem: str = ""


@dataclass(slots=True)
class GpuDiscovery:
    """What one process asked, and has been told since; lasts from tick to tick."""

    _asked_at: dict[str, datetime] = field(default_factory=dict)
    _warnings: dict[str, str] = field(default_factory=dict)  # by node; each is given once
    _answers: SimpleQueue[_Answer] = field(default_factory=SimpleQueue)
    _thread: threading.Thread | None = None

    def go_on(self, host: WorkerHost, shell: Shell) -> None:
        """Write down what was told since the last tick, and ask nodes that nobody has named."""
        if not shell.surroundings.are_workers_apart or not isinstance(host, TellsGpus):
            return
        for answer in self._told():
            self._write_down(answer, shell)
        is_asking = self._thread is not None and self._thread.is_alive()
        nodes = [] if is_asking else [node for node in _nameless() if self._is_due(node, shell)]
        if nodes:
            self._asked_at.update((node.name, shell.now) for node in nodes)
            self._thread = threading.Thread(
                target=self._ask, args=(host, nodes), name="find-gpus", daemon=True
            )
            self._thread.start()

    def _is_due(self, node: Node, shell: Shell) -> bool:
        return shell.seconds_since(self._asked_at.get(node.name)) >= _AGAIN_SECONDS

    def _ask(self, host: TellsGpus, nodes: Sequence[Node]) -> None:
        try:
            for node in nodes:
                self._answers.put(_asked(host, node))
        finally:
            connections.close_all()  # the host may have looked up where the node is

    def _told(self) -> Iterator[_Answer]:
        while True:
            try:
                yield self._answers.get_nowait()
            except Empty:
                return

    def _write_down(self, answer: _Answer, shell: Shell) -> None:
        """Unless the node was changed meanwhile, or its GPUs are not as many as it is said to have.

        Raises:
            Overtaken: another process holds the lease now.
        """
        node, uuids = answer.node, [gpu.uuid for gpu in answer.gpus]
        if answer.problem or len(uuids) != node.gpus:
            self._warn(node, answer.problem or _mismatch(node, len(uuids)))
            return
        as_asked = Node.objects.filter(
            pk=node.pk, docker_url=node.docker_url, gpus=node.gpus, gpu_uuids=[]
        )
        with shell.fence.transaction():
            is_written = as_asked.update(gpu_uuids=uuids)
        if is_written:
            self._warnings.pop(node.name, None)
            _log.info("GPUs of node %s: %s", node.name, ", ".join(uuids), extra=_extra(node))

    def _warn(self, node: Node, warning: str) -> None:
        if self._warnings.get(node.name) != warning:
            self._warnings[node.name] = warning
            _log.warning("GPUs of node %s: %s", node.name, warning, extra=_extra(node))


def _nameless() -> Iterator[Node]:
    """Nodes that answer, and have GPUs of which nobody knows the names."""
    nodes = Node.objects.select_related("pool").filter(gpu_uuids=[], silent_since=None)
    return (node for node in nodes if launches.is_of_gpus(node.pool))


def _asked(host: TellsGpus, node: Node) -> _Answer:
    try:
        return _Answer(node=node, gpus=host.gpus(node.name))
    except WorkerHostError as problem:
        return _Answer(node=node, problem=f"it cannot be asked: {problem}")


def _mismatch(node: Node, count: int) -> str:
    advice = (
        "correct the node's number of GPUs, or write its GPU UUIDs yourself if GPUs are shared"
        if count
        else "install NVIDIA's container toolkit there, which registers the runtime `nvidia`"
    )
    return f"its daemon lists {count}, but the node is said to have {node.gpus}; {advice}."


def _extra(node: Node) -> dict[str, str]:
    return {"action": "find_gpus", "node": node.name}
