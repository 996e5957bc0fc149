"""On which nodes and GPUs were workers slower than their peers, lately?

Jobs report this about themselves. So for the jobs of a team, reports of its own jobs count; reports
of other teams' jobs count once two teams report the same node or GPU.
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

Said = tuple[tuple[str, int], int]  # of which GPU, by its node and index; by which team

_Place = TypeVar("_Place")


def stragglers_by_node(now: datetime, *, teams: Collection[int] | None) -> Mapping[str, int]:
    """Count the workers found slow within the hour, by node, as far as these teams may believe it.

    None: all that anybody reported, for those who run the machines.
    """
    workers = set(_found(now).values_list("node__name", "id", "job__team_id"))
    believed = _believed({(node, team) for node, _, team in workers}, teams)
    return Counter(node for node, _, team in workers if (node, team) in believed)


def slow_nodes(now: datetime, *, team: int) -> tuple[str, ...]:
    """Return nodes on which one worker after the other was slow."""
    counts = stragglers_by_node(now, teams={team})
    return tuple(sorted(node for node, count in counts.items() if count >= TOO_MANY))


def said_of_gpus(now: datetime) -> Collection[Said]:
    """Return (node, index) of all these workers' GPUs, for the GPU may be at fault, and whose."""
    found = _found(now).values_list("node__name", "straggler_gpus", "job__team_id")
    return {((node, index), whose) for node, gpus, whose in found for index in gpus}


def believed_gpus(said: Collection[Said], *, team: int) -> frozenset[tuple[str, int]]:
    """Return the GPUs of which this team may believe it."""
    return frozenset(gpu for gpu, _ in _believed(said, {team}))


def _believed(
    said: Collection[tuple[_Place, int]], teams: Collection[int] | None
) -> frozenset[tuple[_Place, int]]:
    """Return the places that these teams reported, or two teams."""
    voices = Counter(place for place, _ in said)
    return frozenset(
        (place, whose)
        for place, whose in said
        if teams is None or whose in teams or voices[place] >= _TEAMS_TO_BELIEVE
    )


def _found(now: datetime) -> QuerySet[Worker]:
    """Return workers found slow lately on nodes that are still there."""
    return Worker.objects.filter(node__isnull=False, straggler_found_at__gt=now - LATELY)
