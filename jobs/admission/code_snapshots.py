"""Is the code there that a job is to run? It was uploaded before; while a job lives, it stays."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from django.db.models.functions import Now
from storage.models import CodeSnapshot
from tenancy.models import Team

from jobs.admission.team_records import TeamRecords
from jobs.errors import Problem, SpecInvalid
from jobs.spec.job_spec import JobSpec


def problems_of(spec: JobSpec, records: TeamRecords) -> Iterator[Problem]:
    """Find that the team has no such snapshot."""
    if spec.code is not None and spec.code.digest not in records.code_digests:
        yield _unknown(spec.code.digest, records.team)


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


def _unknown(digest: str, team: Team) -> Problem:
    return Problem(
        field="code.digest",
        value=digest,
        problem=f"is no snapshot that team {team.name} has uploaded",
        remedy="Upload it first; `concertina submit` and `concertina run` do so by themselves.",
        code="unknown_code",
    )
