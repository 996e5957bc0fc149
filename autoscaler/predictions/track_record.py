"""How did predictions do lately, and what corrects the next ones? As is on record of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from autoscaler.simulation.engine.prediction.correction import (
    Basis,
    Correction,
    ReplayOutcome,
    corrections,
)
from autoscaler.simulation.engine.prediction.ranges import Range
from jobs.queries.predictions.outcomes import PredictionOutcome, newest_outcomes

_TOLD_OF: Final = 10  # jobs: as many as people count
_OF_ONE_TEAM: Final = 10  # jobs, where others have some as well; guessed


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentHits:
    """Counts how many of the last jobs ended within the range that was told halfway."""

    held: int
    outcomes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackRecord:
    """What was learned of each basis that a prediction may rest on."""

    corrections: Mapping[Basis, Correction] = field(default_factory=dict)
    lately: Mapping[Basis, RecentHits] = field(default_factory=dict)


def track_record(now: datetime) -> TrackRecord:
    """Two bounded queries, whatever the size of the cluster."""
    found = fairly([one for one in newest_outcomes() if one.basis in set(Basis)])
    return TrackRecord(
        corrections=corrections(_outcome(one, now) for one in found), lately=lately(found)
    )


def fairly(newest_first: Sequence[PredictionOutcome]) -> list[PredictionOutcome]:
    """Take so many jobs of each team that no one of them decides what others are told."""
    jobs: dict[int, dict[str, None]] = {}
    for one in newest_first:
        jobs.setdefault(one.team_id, {})[one.job_id] = None
    if len(jobs) < 2:  # noqa: PLR2004 - one team alone
        return list(newest_first)
    kept = {job_id for of_team in jobs.values() for job_id in list(of_team)[:_OF_ONE_TEAM]}
    return [one for one in newest_first if one.job_id in kept]


def lately(newest_first: Iterable[PredictionOutcome]) -> Mapping[Basis, RecentHits]:
    """One prediction of each job: the middle one of those that were kept of it."""
    by_basis: dict[Basis, dict[str, list[PredictionOutcome]]] = {}
    for one in newest_first:
        if one.happened_at is not None:
            by_basis.setdefault(Basis(one.basis), {}).setdefault(one.job_id, []).append(one)
    return {basis: _lately(list(jobs.values())[:_TOLD_OF]) for basis, jobs in by_basis.items()}


def _lately(jobs: Sequence[Sequence[PredictionOutcome]]) -> RecentHits:
    middle = [sorted(of_job, key=lambda one: one.made_at)[len(of_job) // 2] for of_job in jobs]
    return RecentHits(held=sum(bool(one.is_held) for one in middle), outcomes=len(middle))


def _outcome(one: PredictionOutcome, now: datetime) -> ReplayOutcome:
    p10, p50, p90 = _seconds(one.replayed)
    return ReplayOutcome(
        job_id=one.job_id,
        basis=Basis(one.basis),
        made_at=one.made_at.timestamp(),
        replayed=Range(p10=p10, p50=p50, p90=p90),
        until=(one.happened_at or now).timestamp(),
        has_happened=one.happened_at is not None,
    )


def _seconds(moments: Iterable[datetime | None]) -> Iterator[float | None]:
    return (None if moment is None else moment.timestamp() for moment in moments)
