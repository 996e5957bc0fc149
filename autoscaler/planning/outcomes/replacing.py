"""Where could a substitute for a slow worker train? On a free GPU, away from what made it slow.

A job that slows down because one of its workers does never shrinks for it: the substitute starts
beside the running job, and the slow worker leaves when it is ready. So a GPU must be free that no
other decision of the plan takes. Which one, the first that is free:

1. on a node where the job stands already, other than the slow worker's: it stays together
2. another one of the slow worker's node: the worker or its GPU may have been slow, not the node
3. on any other node

Nodes on which a substitute would be slow as well (`avoided_nodes`) are left out: others were slow
there, or all that is free are slots on the slow worker's own GPU.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from autoscaler.planning.allocation.split import is_cooling
from autoscaler.planning.decisions.explanation import Substitution
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.snapshot.cluster_state import Allocation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from autoscaler.planning.outcomes.outcome import AllocationOutcome
    from autoscaler.planning.placement.room import Room
    from autoscaler.planning.snapshot.cluster_state import Straggler


def with_substitutes(
    outcomes: Iterable[AllocationOutcome], room: Room, *, now: float
) -> Iterator[AllocationOutcome]:
    """The same outcomes, but jobs that would stay as they are swap their slowest worker."""
    for outcome in outcomes:
        straggler, held = outcome.demand.job.straggler, outcome.allocation
        if straggler is None or held is None or not _may_swap(outcome, straggler, now=now):
            yield outcome
        else:
            yield _swapped(outcome, straggler, held, room)


def _may_swap(outcome: AllocationOutcome, straggler: Straggler, *, now: float) -> bool:
    """True if a free GPU is all that it takes."""
    is_calm = outcome.action is Action.KEEP and not outcome.demand.is_pinned
    return is_calm and straggler.may_be_replaced and not is_cooling(outcome.demand, now)


def _swapped(
    outcome: AllocationOutcome, straggler: Straggler, held: Allocation, room: Room
) -> AllocationOutcome:
    job = outcome.demand.job
    candidates = _best_first(held, straggler.node, room, job.gpus_per_worker)
    fitting = (node for node in candidates if room.free(node) >= job.gpus_per_worker)
    node = next((node for node in fitting if node not in job.avoided_nodes), None)
    if node is None:
        return outcome
    room.take({node: 1}, job.gpus_per_worker)
    return replace(
        outcome,
        action=Action.RESCALE,
        allocation=_moved(held, straggler.node, node),
        substitution=Substitution(straggler=straggler, node=node),
    )


def _best_first(held: Allocation, slow: str, room: Room, gpus: int) -> Iterator[str]:
    own = sorted(held.workers_by_node, key=lambda place: (-place[1], place[0]))
    yield from (node for node, _ in own if node != slow)
    yield slow
    yield from room.tightest(gpus)


def _moved(held: Allocation, source: str, target: str) -> Allocation:
    places = Counter(dict(held.workers_by_node))
    places[source] -= 1
    places[target] += 1
    remaining = tuple(sorted((node, count) for node, count in places.items() if count))
    return replace(held, workers_by_node=remaining)
