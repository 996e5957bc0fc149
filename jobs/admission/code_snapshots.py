"""Is the code there that a job is to run? It was uploaded before; while a job lives, it stays."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from django.conf import settings
from django.db.models.functions import Now
from storage import repositories
from storage.models import CodeSnapshot
from tenancy.models import Team

from jobs.admission.team_records import TeamRecords
from jobs.errors import Problem, SpecInvalid
from jobs.spec.job_spec import JobSpec
from jobs.spec.parts.code import CodeOrigin


def problems_of(spec: JobSpec, records: TeamRecords) -> Iterator[Problem]:
    """Find that the team has no such snapshot, or no such secret for the repository."""
    if spec.code is None:
        return
    if spec.code.digest is not None and spec.code.digest not in records.code_digests:
        yield _unknown(spec.code.digest, records.team)
    if spec.code.digest is None and spec.code.git is not None:
        yield from _problems_of_repository(spec.code.git, records)


def hold(team: Team, digests: Collection[str]) -> None:
    """Keep snapshots from being removed until the transaction of the new jobs is over.

    Raises:
        SpecInvalid: one has just been removed.
    """
    if not digests:
        return
    snapshots = CodeSnapshot.objects.filter(team=team, digest__in=digests)
    if snapshots.update(used_at=Now()) < len(digests):
        there = set(snapshots.values_list("digest", flat=True))
        raise SpecInvalid([_unknown(digest, team) for digest in digests if digest not in there])


def _problems_of_repository(git: CodeOrigin, records: TeamRecords) -> Iterator[Problem]:
    if git.secret and git.secret not in records.secrets:
        yield Problem(
            field="code.git.secret",
            value=git.secret,
            problem=f"is no secret of team {records.team.name}",
            remedy="Set it with GIT_PASSWORD, and GIT_USERNAME if it takes one: `concertina secrets"
            " set`. Leave it out for a public repository.",
        )
    if why := repositories.why_not(git.url, settings.CONCERTINA.data_rules):
        yield Problem(
            field="code.git.url",
            value=git.url,
            problem=f"is not to be called: {why}",
            remedy="Use a public repository, or ask an admin to list its network.",
        )


def _unknown(digest: str, team: Team) -> Problem:
    return Problem(
        field="code.digest",
        value=digest,
        problem=f"is no snapshot that team {team.name} has uploaded",
        remedy="Upload it first; `concertina submit` and `concertina run` do so by themselves.",
        code="unknown_code",
    )
