"""What would a change have meant for each team? Two simulations of one workload, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from autoscaler.simulation.engine.comparison.by_team import (
    OutcomeByTeam,
    PausedJob,
    TeamInPool,
    TeamOutcome,
)

_HOUR: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAfter:
    """One team in one pool. None: it has neither jobs nor a guarantee on that side."""

    place: TeamInPool
    before: TeamOutcome | None
    after: TeamOutcome | None


def compared(before: OutcomeByTeam, after: OutcomeByTeam) -> tuple[BeforeAfter, ...]:
    """Return each team of either side, by pool and name."""
    places = {*before.teams, *after.teams}
    return tuple(
        BeforeAfter(place=place, before=before.teams.get(place), after=after.teams.get(place))
        for place in sorted(places, key=lambda place: (place.pool, place.team))
    )


def job_hours_saved(row: BeforeAfter) -> float | None:
    """Return how many hours less all of its jobs took together, waiting included.

    None: unless the same number of them finished on both sides, these do not compare.
    """
    before, after = row.before, row.after
    if before is None or after is None or before.finished != after.finished:
        return None
    if before.completion_seconds is None or after.completion_seconds is None:
        return None
    return (before.completion_seconds - after.completion_seconds) * before.finished / _HOUR


def newly_paused(before: OutcomeByTeam, after: OutcomeByTeam) -> tuple[PausedJob, ...]:
    """Return the jobs that the change would have paused, and that were not paused without it."""
    return tuple(sorted(after.paused - before.paused))


def to_document(outcome: OutcomeByTeam) -> dict[str, Any]:
    """Return it as JSON can hold it; `from_document` reads it without loss."""
    return {
        "teams": [
            {"team": place.team, "pool": place.pool, **asdict(one)}
            for place, one in sorted(outcome.teams.items())
        ],
        "paused": [list(job) for job in sorted(outcome.paused)],
    }


def from_document(document: Mapping[str, Any]) -> OutcomeByTeam:
    teams = {}
    for row in document["teams"]:
        figures = dict(row)
        place = TeamInPool(figures.pop("team"), figures.pop("pool"))
        teams[place] = TeamOutcome(**figures)
    return OutcomeByTeam(
        teams=teams, paused=frozenset(PausedJob(*pair) for pair in document["paused"])
    )
