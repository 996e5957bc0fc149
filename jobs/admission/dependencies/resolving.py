"""Which job does each entry of `depends_on` mean, and can it still end as it has to?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from jobs.admission.dependencies.naming import (
    MOST_ARRAYS,
    MOST_NAMED,
    CallNames,
    JobsOfTeam,
    NamedJob,
)
from jobs.errors import Problem
from jobs.lifecycle import FINAL
from jobs.models import Dependency
from jobs.spec.job_spec import JobSpec
from jobs.spec.parts.dependencies import AwaitedJob, circle_in
from jobs.wait_condition import MET_BY


@dataclass(frozen=True, slots=True, kw_only=True)
class MeantDependency:
    """An entry of a spec, and a job that it means; one of the same call has no id yet."""

    entry: AwaitedJob
    name: str
    job_id: str | None
    array_id: str | None = None  # whose jobs the entry means
    ended_as: str = ""  # its last state, of one that has ended: it may be deleted any moment

    def id_among(self, made: Mapping[str, str]) -> str:
        """Return its id; `made` has those of the call's own jobs by name."""
        return made[self.name] if self.job_id is None else self.job_id

    def stored(self, made: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """Return the entry with ids, alike for all jobs of an array."""
        named = ("array", self.array_id) if self.array_id else ("job", self.id_among(made))
        return named, ("when", self.entry.when)

    def row(self, job_id: str, made: Mapping[str, str]) -> Dependency:
        """Return what is stored for the job that waits."""
        return Dependency(
            job_id=job_id,
            on_id=self.id_among(made),
            on_name=self.name,
            condition=self.entry.when,
            ended_as=self.ended_as,
        )


def meant_by(spec: JobSpec, named: JobsOfTeam) -> tuple[MeantDependency, ...]:
    """Return what entries mean; those that mean nothing are left out."""
    return tuple(_meant(spec, named))


def problems_of(spec: JobSpec, named: JobsOfTeam) -> Iterator[Problem]:
    """Find entries that mean no job of the team, the job itself, an ended one, or one twice."""
    if spec.depends_on and (found := _too_many(named)) is not None:
        problem, remedy = found
        yield Problem(field="depends_on", value=None, problem=problem, remedy=remedy)
        return
    first_words: dict[str, str] = {}  # by the id of what they mean
    for number, entry in enumerate(spec.depends_on):
        if entry.array is not None:
            found = _problem_of_array(entry, named)
        else:
            found = _problem_of(entry, spec, named)
        found = found or _repetition(entry, named, first_words)
        if found is not None:
            problem, remedy = found
            field = f"depends_on[{number}]"
            yield Problem(field=field, value=entry.word, problem=problem, remedy=remedy)


def circle_among(specs: Iterable[JobSpec], names: CallNames) -> tuple[str, Problem] | None:
    """Return the name of a job of the call that waits for itself through others, and what to do."""
    awaited = {
        spec.name: [one.word for one in spec.depends_on if one.job in names.own] for spec in specs
    }
    circle = circle_in(awaited)
    if not circle:
        return None
    shown = " for ".join([*circle[1:4], *(["…"] if len(circle) > 4 else []), circle[0]])  # noqa: PLR2004 - of names
    return circle[0], Problem(
        field="depends_on",
        value=[*awaited[circle[0]][:3]],
        problem=f"waits for itself: {circle[0]} waits for {shown}",
        remedy="Let one of them wait for none of the others.",
    )


def _meant(spec: JobSpec, named: JobsOfTeam) -> Iterator[MeantDependency]:
    for entry in spec.depends_on:
        if entry.array is not None:
            if (array := named.arrays.get(entry.array)) is not None:
                yield from (_meant_job(entry, one, array_id=array.id) for one in array.jobs)
        elif entry.job in named.names.own:
            yield MeantDependency(entry=entry, name=entry.word, job_id=None)
        elif (job := named.found.get(entry.word)) is not None:
            yield _meant_job(entry, job)


def _meant_job(entry: AwaitedJob, job: NamedJob, *, array_id: str | None = None) -> MeantDependency:
    ended_as = job.state if job.state in FINAL else ""
    return MeantDependency(
        entry=entry, name=job.name, job_id=job.id, array_id=array_id, ended_as=ended_as
    )


def _too_many(named: JobsOfTeam) -> tuple[str, str] | None:
    """Find a call that names too much; how many jobs arrays have is only asked if they are few."""
    if (arrays := len(named.names.arrays)) > MOST_ARRAYS:
        return (
            f"is one of lists that name {arrays} arrays in one call",
            f"Name at most {MOST_ARRAYS} in one call, or send it in parts.",
        )
    jobs = named.names.entries if named.names.entries > MOST_NAMED else named.awaited
    if jobs > MOST_NAMED:
        return (
            f"is one of lists with {jobs} entries in one call",
            f"Name at most {MOST_NAMED} in one call, or send it in parts.",
        )
    return None


def _problem_of_array(entry: AwaitedJob, named: JobsOfTeam) -> tuple[str, str] | None:
    array = named.arrays.get(entry.array or "")
    if array is None:
        return (
            f"is neither the id nor the name of an array of team {named.team.name}",
            "Name one that is there: `concertina arrays ls` lists them.",
        )
    wrong = [job for job in array.jobs if job.state in FINAL - MET_BY[entry.when]]
    if not wrong:
        return None
    return (
        (
            f"has jobs that ended already: {wrong[0].name} ({wrong[0].id}) is {wrong[0].state}, and"
            f" each was to end as `{entry.when}`"
        ),
        "Wait for another end, such as `any`, or for each job by itself.",
    )


def _problem_of(entry: AwaitedJob, spec: JobSpec, named: JobsOfTeam) -> tuple[str, str] | None:
    if entry.job == spec.name:
        return "is the job itself", "Name another, or an earlier one of this name by its id."
    if entry.job in named.names.own:
        return None
    job = named.found.get(entry.word)
    if job is None:
        return (
            f"is neither the id nor the name of a job of team {named.team.name}",
            "Name one of its jobs: `concertina ps --all` lists them.",
        )
    if job.state in FINAL and job.state not in MET_BY[entry.when]:
        return (
            (
                f"has ended already: job {job.name} ({job.id}) is {job.state},"
                f" and was to end as `{entry.when}`"
            ),
            "Run that job again and name the new one, or leave it out.",
        )
    return None


def _repetition(
    entry: AwaitedJob, named: JobsOfTeam, first_words: dict[str, str]
) -> tuple[str, str] | None:
    """Find an id and a name of the same: what is stored has one entry for each."""
    if entry.array is not None:
        array = named.arrays.get(entry.word)
        meant = None if array is None else (array.id, f"array {array.id}")
    else:
        job = None if entry.job in named.names.own else named.found.get(entry.word)
        meant = None if job is None else (job.id, f"job {job.name} ({job.id})")
    if meant is None or (first := first_words.setdefault(meant[0], entry.word)) == entry.word:
        return None
    return f"is {meant[1]}, which {first} means as well", "Name it once."
