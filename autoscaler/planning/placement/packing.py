"""Which nodes suit one job best? The fewest, away from other distributed jobs, and the tightest.

In this order:

1. one node, where one takes all workers: the tightest, so that large holes stay whole
2. otherwise nodes without another distributed job, as few as possible: the widest ones whole, and
   for what is left over the tightest node that takes it
3. only where these do not suffice: as few nodes of other distributed jobs as possible besides
"""

from __future__ import annotations

from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from autoscaler.planning.placement.room import Room

NOWHERE: Final[Mapping[str, int]] = MappingProxyType({})


def fewest_nodes(
    room: Room,
    workers: int,
    *,
    gpus_per_worker: int,
    own: Mapping[str, int] = NOWHERE,
    is_distributed: bool = False,
) -> dict[str, int] | None:
    """Workers by node, or None where the room does not take them.

    `own` workers stand there now; among equals, nodes where the job has most of them.
    `is_distributed`: the job stands on other nodes as well, so that the first rule does not help.
    """
    alone = None if is_distributed else _alone(room, workers * gpus_per_worker, own)
    if alone is not None:
        return {alone: workers}
    quiet = list(_fill(_quiet(room, gpus_per_worker, own), workers))
    if sum(count for _, count in quiet) == workers:
        return dict(_tighten(room, quiet, gpus_per_worker))
    return _share(room, workers, gpus_per_worker, own)


def _alone(room: Room, gpus: int, own: Mapping[str, int]) -> str | None:
    fitting = [node for node in own if room.free(node) >= gpus]
    if fitting:
        return min(fitting, key=lambda node: (-own[node], room.free(node), node))
    return next(room.tightest(gpus), None)


def _quiet(room: Room, gpus_per_worker: int, own: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    return _own_first(room.widest_quiet(gpus_per_worker), own)


def _own_first(
    widest: Iterable[tuple[str, int]], own: Mapping[str, int]
) -> Iterator[tuple[str, int]]:
    """The same order, but among nodes that take equally many workers the own ones first."""
    if not own:
        yield from widest
        return
    for _, equals in groupby(widest, key=lambda item: item[1]):
        yield from sorted(equals, key=lambda item: -own.get(item[0], 0))


def _fill(widest: Iterable[tuple[str, int]], workers: int) -> Iterator[tuple[str, int]]:
    for node, fitting in widest:
        if workers == 0:
            return
        yield node, min(fitting, workers)
        workers -= min(fitting, workers)


def _tighten(
    room: Room, filled: list[tuple[str, int]], gpus_per_worker: int
) -> list[tuple[str, int]]:
    """Put what is left over, beside the full nodes, on the tightest node that takes it."""
    *full, (_, left) = filled
    taken = {node for node, _ in full}
    tightest = room.tightest_quiet(left * gpus_per_worker)
    return [*full, (next(node for node in tightest if node not in taken), left)]


def _share(
    room: Room, workers: int, gpus_per_worker: int, own: Mapping[str, int]
) -> dict[str, int] | None:
    """The widest nodes of other distributed jobs, as few as it takes; the rest on quiet ones."""
    quiet = list(_quiet(room, gpus_per_worker, own))
    lacking = workers - sum(fitting for _, fitting in quiet)
    shared: dict[str, int] = {}
    for node, fitting in room.widest_shared(gpus_per_worker):
        if lacking <= 0:
            break
        shared[node] = min(fitting, workers - sum(shared.values()))
        lacking -= fitting
    if lacking > 0:
        return None
    return shared | dict(_fill(quiet, workers - sum(shared.values())))
