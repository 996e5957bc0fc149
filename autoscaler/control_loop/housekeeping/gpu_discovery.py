"""Which GPUs does each node have? Its daemon is asked, so that nobody has to type their UUIDs.

The last thing a tick does. A driver that wakes its GPUs takes long, so a later tick writes down
what it was told.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from cluster.background.background_jobs import BackgroundJobs
from cluster.background.told_once import ToldOnce
from cluster.gpu_listing import Gpu
from cluster.models import Node
from cluster.worker_host import NodeSurvey

from autoscaler.control_loop.carry_out import launches
from autoscaler.control_loop.housekeeping.node_questions import NodeAnswer, NodeQuestions
from autoscaler.control_loop.tick_context import TickContext

_AGAIN_SECONDS: Final = 300.0  # guessed: each question is a container; somebody has to act first

_log = logging.getLogger(__name__)


def _questions() -> NodeQuestions[tuple[Gpu, ...]]:
    background = BackgroundJobs(name="find-gpus")
    return NodeQuestions(background=background, again_seconds=_AGAIN_SECONDS)


@dataclass(slots=True)
class GpuDiscovery:
    """Asks nodes for their GPUs; remembers answers and warnings from tick to tick."""

    _questions: NodeQuestions[tuple[Gpu, ...]] = field(default_factory=_questions)
    _told: ToldOnce = field(default_factory=ToldOnce)  # of nodes

    def go_on(self, survey: NodeSurvey, context: TickContext) -> None:
        """Write down what was told since the last tick, and ask nodes that nobody has named."""
        for answer in self._questions.new_answers():
            self._write_down(answer, context)
        self._questions.ask(_nameless(), survey.gpus, context)

    def _write_down(self, answer: NodeAnswer[tuple[Gpu, ...]], context: TickContext) -> None:
        """Write unless the node was changed meanwhile, or its GPUs are not as many as expected.

        Raises:
            LeaseLost: another process holds the lease now.
        """
        node, uuids = answer.node, [gpu.uuid for gpu in answer.value or ()]
        if answer.problem or len(uuids) != node.gpus:
            self._warn(node, answer.problem or _mismatch(node, len(uuids)))
            return
        as_asked = Node.objects.filter(
            pk=node.pk, host_url=node.host_url, gpus=node.gpus, gpu_uuids=[]
        )
        with context.fence.transaction():
            is_written = as_asked.update(gpu_uuids=uuids)
        if is_written:
            self._told.is_new(node.name, "")
            _log.info("GPUs of node %s: %s", node.name, ", ".join(uuids), extra=_extra(node))

    def _warn(self, node: Node, warning: str) -> None:
        if self._told.is_new(node.name, warning):
            _log.warning("GPUs of node %s: %s", node.name, warning, extra=_extra(node))


def _nameless() -> Iterator[Node]:
    """Nodes that answer, and have GPUs of which nobody knows the names."""
    nodes = Node.objects.select_related("pool").filter(
        gpu_uuids=[], silent_since=None, is_released=False
    )
    return (node for node in nodes if launches.is_of_gpus(node.pool))


def _mismatch(node: Node, count: int) -> str:
    advice = (
        "correct the node's number of GPUs, or write its GPU UUIDs yourself if GPUs are shared"
        if count
        else "install NVIDIA's container toolkit there, which registers the runtime `nvidia`"
    )
    return f"its daemon lists {count}, but the node is said to have {node.gpus}; {advice}."


def _extra(node: Node) -> dict[str, str]:
    return {"action": "find_gpus", "node": node.name}
