"""How far is each trial of a sweep? Two statements, however many they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from autoscaler.job_vocabulary import JobReason
from jobs.lifecycle import JobState
from jobs.models import Job
from sweeps.models import SweepMark
from sweeps.search.halving import TrialFate, TrialStanding
from sweeps.search.terms import SweepTerms

COLUMN: Final[Mapping[str, str]] = {"epochs": "epoch", "steps": "step", "samples": "samples"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialJob:
    """The job of a trial, with the rungs to which it has come."""

    id: str
    number: int
    state: JobState
    ends_as: str
    reason: str
    resource: float
    value: float | None  # the newest
    has_value: bool
    marks: Mapping[int, float | None]
    promoted: frozenset[int]

    @property
    def fate(self) -> TrialFate:
        if self.state == JobState.COMPLETED:
            return TrialFate.COMPLETED
        is_over = JobState.CANCELLED in {self.state, self.ends_as}
        if is_over and self.reason == JobReason.STOPPED_BY_SWEEP:
            return TrialFate.STOPPED
        if is_over or JobState.FAILED in {self.state, self.ends_as}:
            return TrialFate.LOST
        return TrialFate.LIVES

    @property
    def rests(self) -> bool:
        """Say whether its sweep had it wait at a rung, and nobody else has told it something."""
        return _rests(self.state, self.ends_as, self.reason)

    def standing(self, more: Mapping[int, float | None] | None = None) -> TrialStanding:
        return TrialStanding(
            number=self.number,
            marks={**self.marks, **(more or {})},
            promoted=self.promoted,
            fate=self.fate,
        )


def read(sweep_id: str, wanted: SweepTerms) -> Sequence[TrialJob]:
    """Return the trials that were submitted and are not deleted, by their numbers."""
    marks: defaultdict[str, dict[int, float | None]] = defaultdict(dict)
    promoted: defaultdict[str, set[int]] = defaultdict(set)
    rows = SweepMark.objects.filter(sweep=sweep_id)
    for job_id, rung, value, promoted_at in rows.values_list("job", "rung", "value", "promoted_at"):
        marks[job_id][rung] = value
        if promoted_at is not None:
            promoted[job_id].add(rung)
    column = COLUMN[wanted.asha.resource if wanted.asha else "epochs"]
    jobs = Job.objects.filter(array=sweep_id).only(
        "id", "trial", "state", "ends_as", "reason", "values", column
    )
    found = [
        TrialJob(
            id=job.id,
            number=job.trial["number"],
            state=JobState(job.state),
            ends_as=job.ends_as,
            reason=job.reason,
            resource=getattr(job, column),
            value=_number(job.values.get(wanted.metric.name)),
            has_value=wanted.metric.name in job.values,
            marks=marks[job.id],
            promoted=frozenset(promoted[job.id]),
        )
        for job in jobs.order_by()
    ]
    return sorted(found, key=lambda one: one.number)


def hold(job_ids: Collection[str]) -> frozenset[str]:
    """Hold the rows of these jobs, in the order in which all do; return which rest as above now.

    What is done with them in this transaction is done with what they are, whatever somebody told
    them since they were read.
    """
    held = Job.objects.select_for_update(no_key=True).filter(pk__in=job_ids).order_by("pk")
    rows = held.values_list("pk", "state", "ends_as", "reason")
    return frozenset(job_id for job_id, *told in rows if _rests(*told))


def at_the_end(trials: Sequence[TrialJob], rungs: int) -> list[TrialStanding]:
    """Return their standings, where the end of the training is one more rung."""
    return [
        one.standing({rungs: one.value} if one.fate is TrialFate.COMPLETED else None)
        for one in trials
    ]


def _rests(state: str, ends_as: str, reason: str) -> bool:
    return JobState.PAUSED in {state, ends_as} and reason == JobReason.PAUSED_AT_RUNG


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
