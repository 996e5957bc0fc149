"""Which nodes do not answer, since when, and why? In the database: a new process counts on.

A node that falls silent is closed at once, and stays closed until it answers and nothing runs there
that nobody wants any more: the GPUs of those processes are not free before. It is news, a change of
the node, only if it lasts: a daemon that is slow now and then would explain plans that it has no
part in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

from django.db.models import Q

from cluster.models import Node, NodeChange
from cluster.nodes import node_changes

LEFTOVERS: Final = "it answers again; what was left running there is being stopped"
_LONGEST: Final = 300  # characters of a reason, as the column has


def concerns_anybody(silent: Collection[str]) -> bool:
    """True where a node is silent, or is still written down as such: then there is to `note`."""
    return bool(silent) or Node.objects.exclude(silent_since=None).exists()


def note(
    silent: Mapping[str, str], *, leftovers: Collection[str], now: datetime, told_after: float
) -> None:
    """Write down who is silent and why, inside the caller's transaction; each change once.

    Args:
        silent: nodes that do not answer, and why.
        leftovers: nodes that answer, where processes run that nobody wants.
        now: when they were asked.
        told_after: seconds of silence that make it a change of the node.
    """
    known = Q(name__in=silent) | ~Q(silent_since=None)
    for node in Node.objects.select_related("pool").filter(known).order_by("name"):
        if node.name in silent:
            _close(node, silent[node.name], now=now, told_after=told_after)
        elif node.name in leftovers:
            _close(node, LEFTOVERS, now=now, told_after=told_after)
        else:
            _open(node)


def close(silent: Mapping[str, str], *, now: datetime, told_after: float) -> None:
    """Write down who is silent, inside the caller's transaction; of the others nothing is known."""
    for node in Node.objects.select_related("pool").filter(name__in=silent).order_by("name"):
        _close(node, silent[node.name], now=now, told_after=told_after)


def _close(node: Node, reason: str, *, now: datetime, told_after: float) -> None:
    since, reason = node.silent_since or now, reason[:_LONGEST]
    if (node.silent_since, node.silent_reason) != (since, reason):
        rows = Node.objects.filter(pk=node.pk)
        rows.update(silent_since=since, silent_reason=reason)
    if (now - since).total_seconds() >= told_after and not _is_told(node, since):
        node_changes.note(NodeChange.Kind.SILENT, node)


def _open(node: Node) -> None:
    rows = Node.objects.filter(pk=node.pk, silent_since=node.silent_since)
    is_opened = rows.update(silent_since=None, silent_reason="")
    if is_opened and node.silent_since and _is_told(node, node.silent_since):
        node_changes.note(NodeChange.Kind.ANSWERING, node)


def _is_told(node: Node, since: datetime) -> bool:
    """True if this silence is a change of the node already."""
    silences = NodeChange.objects.filter(kind=NodeChange.Kind.SILENT, node=node.name, at__gte=since)
    return silences.exists()
