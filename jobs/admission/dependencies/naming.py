"""Which other jobs do the specs of a call name, and which of them has their team?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from tenancy.models import Team

from jobs.lifecycle import JobState
from jobs.models import Job
from jobs.spec.job_spec import JobSpec

MOST_NAMED: Final = 10_000  # entries of all specs of a call; guessed: a wide step of a pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedJob:
    """A job that is there already."""

    id: str
    name: str
    state: JobState


@dataclass(frozen=True, slots=True, kw_only=True)
class CallNames:
    """What the specs of one call are named, and what they name as jobs to wait for."""

    own: frozenset[str] = frozenset()
    entries: int = 0
    others: Sequence[str] = field(default_factory=tuple)  # which are none of the call's own

    @classmethod
    def of(cls, specs: Iterable[JobSpec]) -> CallNames:
        known = [*specs]
        own = frozenset(spec.name for spec in known)
        named = [one.job for spec in known for one in spec.depends_on]
        others = sorted({word for word in named if word not in own})
        return cls(own=own, entries=len(named), others=others[:MOST_NAMED])


class JobsOfTeam:
    """The jobs of a team that the specs of a call name."""

    def __init__(self, team: Team, names: CallNames) -> None:
        self.team = team
        self.names = names

    @cached_property
    def found(self) -> Mapping[str, NamedJob]:
        """Return them by what names them: an id, or the name of which it is the newest.

        Two statements, however many they are; none where no spec names any.
        """
        others = self.names.others
        if not others:
            return {}
        jobs = Job.objects.filter(team=self.team).only("id", "name", "state")
        newest = jobs.filter(name__in=others).order_by("name", "-submitted_at").distinct("name")
        by_name = {job.name: _named(job) for job in newest}
        return by_name | {job.id: _named(job) for job in jobs.filter(pk__in=others)}


def _named(job: Job) -> NamedJob:
    return NamedJob(id=job.id, name=job.name, state=JobState(job.state))
