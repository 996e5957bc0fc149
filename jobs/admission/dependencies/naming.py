"""Which other jobs do the specs of a call name, and which of them has their team?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from tenancy.access.token_bounds import TokenBounds
from tenancy.models import Team

from jobs.lifecycle import JobState
from jobs.models import Job, JobArray
from jobs.spec.job_spec import JobSpec

MOST_NAMED: Final = 10_000  # jobs of all specs of a call; guessed: a wide step of a pipeline
MOST_ARRAYS: Final = 20  # in one call; guessed: of up to 1000 jobs each, which all are read


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedJob:
    """A job that is there already."""

    id: str
    name: str
    state: JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedArray:
    """An array that is there already, with its jobs."""

    id: str
    jobs: Sequence[NamedJob]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallNames:
    """What the specs of one call are named, and what they name as jobs to wait for."""

    own: frozenset[str] = frozenset()
    entries: int = 0
    others: Sequence[str] = field(default_factory=tuple)  # which are none of the call's own
    arrays: Mapping[str, int] = field(default_factory=dict)  # how often each is named

    @classmethod
    def of(cls, specs: Iterable[JobSpec]) -> CallNames:
        known = [*specs]
        own = frozenset(spec.name for spec in known)
        entries = [one for spec in known for one in spec.depends_on]
        named = [one.job for one in entries if one.job is not None]
        arrays = Counter(one.array for one in entries if one.array is not None)
        others = sorted({word for word in named if word not in own})
        return cls(own=own, entries=len(entries), others=others[:MOST_NAMED], arrays=arrays)


class JobsOfTeam:
    """The jobs of a team that the specs of a call name."""

    def __init__(self, team: Team, names: CallNames, bounds: TokenBounds | None = None) -> None:
        self.team = team
        self.names = names
        self._bounds = bounds

    @cached_property
    def found(self) -> Mapping[str, NamedJob]:
        """Return them by what names them: an id, or the name of which it is the newest.

        Two statements, however many they are; none where no spec names any.
        """
        others = self.names.others
        if not others:
            return {}
        jobs = Job.objects.filter(team=self.team).only("id", "name", "state")
        if self._bounds is not None:
            jobs = jobs.filter(self._bounds.condition())
        newest = jobs.filter(name__in=others).order_by("name", "-submitted_at").distinct("name")
        by_name = {job.name: _named(job) for job in newest}
        return by_name | {job.id: _named(job) for job in jobs.filter(pk__in=others)}

    @cached_property
    def arrays(self) -> Mapping[str, NamedArray]:
        """Return arrays by what names them, as `found`: two statements, or none.

        Of more than `MOST_ARRAYS` none is looked for.
        """
        words = self.names.arrays
        if not words or len(words) > MOST_ARRAYS:
            return {}
        of_team = JobArray.objects.filter(team=self.team).only("id", "name")
        if self._bounds is not None:
            trials = Job.objects.filter(team=self.team, array__isnull=False)
            within = trials.filter(self._bounds.condition())
            others = trials.exclude(pk__in=within.values("pk"))
            of_team = of_team.exclude(pk__in=others.values("array"))
        newest = of_team.filter(name__in=words).order_by("name", "-submitted_at").distinct("name")
        by_word = {one.name: one.pk for one in newest}
        by_word |= {one.pk: one.pk for one in of_team.filter(pk__in=words)}
        jobs: defaultdict[str, list[NamedJob]] = defaultdict(list)
        rows = Job.objects.filter(array__in=by_word.values()).order_by("submitted_at", "pk")
        for job in rows.only("id", "name", "state", "array_id"):
            jobs[job.array_id or ""].append(_named(job))
        return {word: NamedArray(id=pk, jobs=jobs[pk]) for word, pk in by_word.items()}

    @cached_property
    def awaited(self) -> int:
        """Return for how many jobs those of the call wait, each counted as often as it is named."""
        times = self.names.arrays
        of_arrays = sum(len(one.jobs) * times[word] for word, one in self.arrays.items())
        entries = self.names.entries - sum(times.values())
        return entries + of_arrays


def _named(job: Job) -> NamedJob:
    return NamedJob(id=job.id, name=job.name, state=JobState(job.state))
