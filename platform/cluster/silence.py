"""Which nodes do not answer, since when, and why? In the database: a new process counts on.

A node that falls silent is closed, and stays closed until it answers and nothing runs there that
nobody wants any more: the GPUs of those processes are not free before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

from django.db.models import Q

from cluster import node_changes
from cluster.models import Node, NodeChange

LEFTOVERS: Final = "it answers again; what was left running there is being stopped"
_LONGEST: Final = 300  # characters of a reason, as the column has


def note(silent: Mapping[str, str], *, leftovers: Collection[str], now: datetime) -> None:
    """Write down who is silent and why, inside the caller's transaction; each change once.

    Args:
        silent: nodes that do not answer, and why.
        leftovers: nodes that answer, where processes run that nobody wants.
        now: when they were asked.
    """
    known = Q(name__in=silent) | ~Q(silent_since=None)
    for node in Node.objects.select_related("pool").filter(known).order_by("name"):
        if node.name in silent:
            _close(node, silent[node.name], now)
        elif node.name in leftovers:
            _close(node, LEFTOVERS, now)
        else:
            _open(node)


def close(silent: Mapping[str, str], *, now: datetime) -> None:
    """Write down who is silent, inside the caller's transaction; of the others nothing is known."""
    for node in Node.objects.select_related("pool").filter(name__in=silent).order_by("name"):
        _close(node, silent[node.name], now)


def _close(node: Node, reason: str, now: datetime) -> None:
    reason = reason[:_LONGEST]
    rows = Node.objects.filter(pk=node.pk)
    if rows.filter(silent_since=None).update(silent_since=now, silent_reason=reason):
        node_changes.note(NodeChange.Kind.SILENT, node)
    elif node.silent_reason != reason:
        rows.update(silent_reason=reason)


def _open(node: Node) -> None:
    rows = Node.objects.filter(pk=node.pk).exclude(silent_since=None)
    if rows.update(silent_since=None, silent_reason=""):
        node_changes.note(NodeChange.Kind.ANSWERING, node)
