"""What are the machines of the nodes like? Their daemons are asked once in a while.

Submission needs their memory, and admins learn what is too old on them.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Final

from cluster.background.background_jobs import BackgroundJobs
from cluster.machine import NodeMachine
from cluster.models import Node
from cluster.worker_host import NodeSurvey

from autoscaler.control_loop.housekeeping.node_questions import NodeAnswer, NodeQuestions
from autoscaler.control_loop.tick_context import TickContext

_AGAIN_SECONDS: Final = 3600.0  # guessed: machines are upgraded by hand

_log = logging.getLogger(__name__)


def _questions() -> NodeQuestions[NodeMachine]:
    background = BackgroundJobs(name="describe-machines")
    return NodeQuestions(background=background, again_seconds=_AGAIN_SECONDS)


@dataclass(slots=True)
class MachineDiscovery:
    """Asks nodes what their machines are like; remembers whom from tick to tick."""

    _questions: NodeQuestions[NodeMachine] = field(default_factory=_questions)

    def go_on(self, survey: NodeSurvey, context: TickContext) -> None:
        """Write down what was told since the last tick, and ask the nodes that are due."""
        for answer in self._questions.new_answers():
            _write_down(answer, context)
        self._questions.ask(
            Node.objects.filter(silent_since=None, is_released=False), survey.machine, context
        )


def _write_down(answer: NodeAnswer[NodeMachine], context: TickContext) -> None:
    """Keep what is new, unless the node was moved to another machine meanwhile.

    Raises:
        LeaseLost: another process holds the lease now.
    """
    node, machine = answer.node, answer.value
    if machine is None:
        _log.info("Machine of node %s: %s", node.name, answer.problem, extra=_extra(node))
        return
    facts = {
        "memory_bytes": machine.memory_bytes,
        "cpus": machine.cpus,
        "complaints": "\n".join(machine.complaints),
    }
    if all(getattr(node, name) == value for name, value in facts.items()):
        return
    with context.fence.transaction():
        Node.objects.filter(pk=node.pk, host_url=node.host_url).update(**facts)
    for complaint in machine.complaints:
        _log.warning("Machine of node %s: %s", node.name, complaint, extra=_extra(node))


def _extra(node: Node) -> dict[str, str]:
    return {"action": "describe_machine", "node": node.name}
