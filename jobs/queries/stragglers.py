"""On which nodes and GPUs were workers slower than their peers, lately?

Jobs report it of themselves. So for the jobs of a team counts what its own said; what those of
other teams said counts once two teams say it of the same node or GPU.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final, TypeVar

from django.db.models import QuerySet

from jobs.models import Worker

LATELY: Final = timedelta(hours=1)
TOO_MANY: Final = 2  # of one node: the substitute was slow as well, or two jobs were
_TEAMS_TO_BELIEVE: Final = 2

_Place = TypeVar("_Place")


def stragglers_by_node(now: datetime, *, teams: Collection[int] | None) -> Mapping[str, int]:
    """Different workers found slow within the hour, as these teams may believe; one statement.

    None: all that was said by anybody, for those who run the machines.
    """
    workers = set(_found(now).values_list("node__name", "id", "job__team_id"))
    believed = _believed({(node, team) for node, _, team in workers}, teams)
    return Counter(node for node, _, team in workers if (node, team) in believed)


def slow_nodes(now: datetime, *, team: int) -> tuple[str, ...]:
    """Nodes that one straggler after the other comes from."""
    counts = stragglers_by_node(now, teams={team})
    return tuple(sorted(node for node, count in counts.items() if count >= TOO_MANY))


def slow_gpus(now: datetime, *, team: int) -> frozenset[tuple[str, int]]:
    """(node, index) of the GPUs these workers had: the GPU may have been at fault, not the node."""
    found = _found(now).values_list("node__name", "straggler_gpus", "job__team_id")
    said = {((node, index), whose) for node, gpus, whose in found for index in gpus}
    return frozenset(gpu for gpu, _ in _believed(said, {team}))


def _believed(
    said: Collection[tuple[_Place, int]], teams: Collection[int] | None
) -> frozenset[tuple[_Place, int]]:
    """What was said of places by these teams, or by two."""
    voices = Counter(place for place, _ in said)
    return frozenset(
        (place, whose)
        for place, whose in said
        if teams is None or whose in teams or voices[place] >= _TEAMS_TO_BELIEVE
    )


def _found(now: datetime) -> QuerySet[Worker]:
    """Those on nodes that are still there."""
    return Worker.objects.filter(node__isnull=False, straggler_found_at__gt=now - LATELY)
