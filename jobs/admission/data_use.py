"""Which data does a job use, may it, and which live jobs use a source?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from storage.data import sources
from storage.data.kinds import KINDS
from storage.models import DataSource
from tenancy.models import Team

from jobs.admission.team_records import TeamRecords
from jobs.errors import Problem, SpecInvalid
from jobs.lifecycle import LIVE
from jobs.models import Job
from jobs.spec import stored_spec
from jobs.spec.job_spec import JobSpec
from jobs.spec.stored_fields import DATA


@dataclass(frozen=True, slots=True, kw_only=True)
class DataUser:
    """A live job, as one names it."""

    id: str
    name: str
    team: str

    def __str__(self) -> str:
        return f"{self.team}/{self.name} ({self.id})"


def problems_of(spec: JobSpec, records: TeamRecords) -> Iterator[Problem]:
    """Find sources that the team may not use, or not in this way."""
    for place, use in enumerate(spec.data):
        source = records.data_sources.get(use.source)
        if source is None:
            yield _unknown(f"data[{place}].source", use.source, records.team, records.data_sources)
        elif use.writable and not source.is_writable:
            yield Problem(
                field=f"data[{place}].writable",
                value=True,
                problem=f"is not possible: jobs may only read source {use.source}",
                remedy="Leave it out and write to the job's outputs, or ask an admin to open the"
                " source.",
            )


def hold(team: Team, names: Collection[str]) -> Mapping[str, str]:
    """Keep sources as they are until the transaction of the new jobs is over.

    Return the versions of those that have some at once, which the jobs see for ever, by name.

    Raises:
        SpecInvalid: one has just been taken away.
    """
    if not names:
        return {}
    rows = DataSource.objects.filter(name__in=names).order_by("name")
    list(rows.select_for_update(no_key=True).values_list("pk"))
    known = {one.name: one for one in sources.of_team(team)}  # asked only now: it may have waited
    lost = sorted(set(names) - set(known))
    if lost:
        raise SpecInvalid([_unknown("data", name, team, known) for name in lost])
    versions = {name: KINDS[known[name].kind].version(known[name].place) for name in names}
    return {name: version for name, version in versions.items() if version}


def live_jobs_by_source() -> Mapping[str, list[DataUser]]:
    """Return them by the source's name, newest job first."""
    found: defaultdict[str, list[DataUser]] = defaultdict(list)
    live = Job.objects.filter(state__in=LIVE, **{f"{DATA.lookup}__0__isnull": False})
    for job_id, name, team, uses in live.values_list("id", "name", "team__name", DATA.lookup):
        for use in stored_spec.read_data_uses(uses):
            found[use.source].append(DataUser(id=job_id, name=name, team=team))
    return found


def _unknown(field: str, name: str, team: Team, known: Collection[str]) -> Problem:
    """Say the same of a source that is another team's and of one that nobody has."""
    return Problem(
        field=field,
        value=name,
        problem=f"is not a data source of team {team.name}",
        remedy=f"Use one of: {', '.join(sorted(known))}."
        if known
        else "The team has none yet: an admin adds one.",
    )
