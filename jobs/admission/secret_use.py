"""Which secrets does a job need, may it have them, and which live jobs need a secret?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tenancy.access.token_bounds import TokenBounds
from tenancy.image_names import registry_of
from tenancy.models import Secret, Team

from jobs.admission.team_records import TeamRecords
from jobs.errors import Problem
from jobs.lifecycle import LIVE
from jobs.models import Job
from jobs.spec.job_spec import JobSpec
from jobs.spec.stored_fields import IMAGE, SECRETS


@dataclass(frozen=True, slots=True, kw_only=True)
class UsingJob:
    """A live job, as one names it."""

    id: str
    name: str


def problems_of(spec: JobSpec, records: TeamRecords) -> Iterator[Problem]:
    """Find secrets that the team does not keep, or that set what something else sets as well."""
    if not spec.secrets:
        return
    team, kept = records.team, records.secrets
    set_by = dict.fromkeys(spec.env, "env")
    for place, name in enumerate(spec.secrets):
        field = f"secrets[{place}]"
        if name not in kept:
            yield _unknown(field, name, kept, team)
            continue
        if kept[name].kind == Secret.Kind.REGISTRY:
            yield _login(field, name)
        for variable in kept[name].variables:
            if variable in set_by:
                yield _set_twice(field, name, variable, set_by[variable])
            set_by[variable] = f"secret {name}"


def live_jobs_by_secret(
    team: Team, bounds: TokenBounds | None = None
) -> Mapping[str, list[UsingJob]]:
    """Return them by the secret's name, newest job first; within the bounds of a limited token.

    Jobs whose image is in a secret's registry need it as a login.
    """
    logins = Secret.objects.filter(team=team).exclude(registry="")
    login_of = dict(logins.values_list("registry", "name"))
    live = Job.objects.filter(team=team, state__in=LIVE)
    if bounds is not None:
        live = live.filter(bounds.condition())
    rows = live.values_list("id", "name", SECRETS.lookup, IMAGE.lookup)
    found: defaultdict[str, list[UsingJob]] = defaultdict(list)
    for job_id, name, secrets, image in rows:
        login = login_of.get(registry_of(image or "")) if login_of else None
        for secret in (*(secrets or ()), *filter(None, [login])):
            found[secret].append(UsingJob(id=job_id, name=name))
    return found


def _unknown(field: str, name: str, kept: Mapping[str, Secret], team: Team) -> Problem:
    named = [secret.name for secret in kept.values() if secret.kind == Secret.Kind.ENVIRONMENT]
    return Problem(
        field=field,
        value=name,
        problem=f"is not a secret of team {team.name}",
        remedy=f"Use one of: {', '.join(named)}."
        if named
        else f"The team has none yet: `concertina secrets set {name} VARIABLE` stores one.",
    )


def _login(field: str, name: str) -> Problem:
    return Problem(
        field=field,
        value=name,
        problem="is the login of a registry, which sets no variables",
        remedy="Remove it; the login is used whenever an image is from that registry.",
    )


def _set_twice(field: str, name: str, variable: str, other: str) -> Problem:
    return Problem(
        field=field,
        value=name,
        problem=f"sets {variable}, which {other} sets as well",
        remedy="Let only one of them set it.",
    )
