"""On which nodes and GPUs were workers slower than their peers, lately?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from django.db.models import QuerySet

from jobs import events
from jobs.models import Event

LATELY: Final = timedelta(hours=1)
TOO_MANY: Final = 2  # of one node: the substitute was slow as well, or two jobs were


def stragglers_by_node(now: datetime) -> Mapping[str, int]:
    """Different workers found slow within the hour, of all jobs; one statement."""
    workers = set(_found(now).values_list("data__node", "data__worker"))
    return Counter(node for node, _ in workers)


def slow_nodes(now: datetime) -> tuple[str, ...]:
    """Nodes that one straggler after the other comes from."""
    counts = stragglers_by_node(now)
    return tuple(sorted(node for node, count in counts.items() if count >= TOO_MANY))


def slow_gpus(now: datetime) -> frozenset[tuple[str, int]]:
    """(node, index) of the GPUs these workers had: the GPU may have been at fault, not the node."""
    found = _found(now).values_list("data__node", "data__gpus")
    return frozenset((node, index) for node, gpus in found for index in gpus or ())


def _found(now: datetime) -> QuerySet[Event]:
    return Event.objects.filter(kind=events.STRAGGLER_FOUND, at__gt=now - LATELY)
