"""Which jobs make a computation over all of them fail? Found by halving, in a bounded time.

A group that goes through beside those found sound is sound; one that does not is split, between
two teams where there are several, so that a team with many bad jobs is set apart from the others
in a few tries. Larger groups are tried first. When the tries are used up, what is still together
in groups that failed counts as failing: a later search, which begins without them, goes on.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from autoscaler.planning.snapshot.cluster_state import PlannedJob

    Attempt = Callable[[frozenset[str]], Exception | None]
    Group = tuple[PlannedJob, ...]

MOST_TRIES: Final = 32  # guessed: finds some three among a thousand, in as many plans


@dataclass(slots=True, kw_only=True)
class CulpritReport:
    """The jobs that go through together, and those that do not, each with the error it met."""

    sound: frozenset[str] = frozenset()
    failing: dict[str, Exception] = field(default_factory=dict)


def culprits(
    jobs: Sequence[PlannedJob], attempt: Attempt, *, known: Exception, most_tries: int = MOST_TRIES
) -> CulpritReport:
    """Take apart jobs that failed together with the `known` error.

    `attempt` computes with the named jobs, without looking into the others, and returns what went
    wrong. The last attempt that it lets through is the one with exactly the sound jobs.
    """
    found = CulpritReport()
    ordered = tuple(sorted(jobs, key=lambda job: (job.team, job.job_id)))
    groups: deque[tuple[Group, Exception]] = deque([(ordered, known)] if ordered else [])
    tries = 0
    while groups:
        group, error = groups.popleft()
        halves = _halves(group)
        if len(group) == 1 or tries + len(halves) > most_tries:
            found.failing.update(dict.fromkeys(_ids(group), error))
            continue
        for half in halves:
            tries += 1
            problem = attempt(found.sound | _ids(half))
            if problem is None:
                found.sound |= _ids(half)
            else:
                groups.append((half, problem))
    return found


def _halves(group: Group) -> tuple[Group, ...]:
    """Two parts, of different teams if there are several, as equal as that allows."""
    borders = [n for n in range(1, len(group)) if group[n - 1].team != group[n].team]
    middle = len(group) / 2
    border = min(borders, key=lambda n: abs(n - middle)) if borders else len(group) // 2
    return group[:border], group[border:]


def _ids(group: Group) -> frozenset[str]:
    return frozenset(job.job_id for job in group)
