"""Does one node produce straggler after straggler? Somebody should look at it: an alarm, once."""

from __future__ import annotations

import logging

from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.shell import Shell
from autoscaler.control_loop.slow_workers import stragglers
from autoscaler.job_vocabulary import EventKind, JobReason
from jobs import events
from jobs.models import Event
from jobs.stragglers import LATELY, slow_nodes

_log = logging.getLogger(__name__)


def warn_of_slow_nodes(view: JobView, shell: Shell) -> bool:
    """An event of the job that suffers from it, and a line for those who run the machines."""
    nodes = {worker.node.name for worker in stragglers(view)}
    for node in _slow(nodes, view, shell) if nodes else ():
        lately = Event.objects.filter(kind=EventKind.NODE_IS_SLOW, at__gt=shell.now - LATELY)
        if not lately.filter(data__node=node).exists():
            _warn(view, node)
    return False


def _slow(nodes: set[str], view: JobView, shell: Shell) -> set[str]:
    return nodes.intersection(slow_nodes(shell.now, team=view.job.team_id))


def _warn(view: JobView, node: str) -> None:
    message = (
        f"Node {node} slows its workers down: several were found slow there within the hour."
        " No substitute is placed on it; drain it and look at it."
    )
    _log.critical(message, extra={"action": "alarm", "job_id": view.id, "node": node})
    events.record(
        job_id=view.id,
        kind=EventKind.NODE_IS_SLOW,
        reason=JobReason.STRAGGLER,
        message=message,
        data={"node": node},
    )
