"""How does a job come into being? It is checked whole, then written once, even if repeated."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.utils import timezone
from tenancy.models import Team

from autoscaler.job_vocabulary import EventKind
from jobs.admission import earlier_runs, spec_checks
from jobs.admission.pool_capacity import PoolCapacity
from jobs.changes import demand_signal, events
from jobs.errors import IdempotencyConflict, NameInUse, TooManyQueued
from jobs.lifecycle import WAITING, State
from jobs.models import IdempotencyKey, Job
from jobs.spec.job_spec import parse

IDEMPOTENCY_WINDOW: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A job, whether this very call made it, and what its user should know."""

    job: Job
    is_new: bool
    notes: tuple[str, ...] = ()


def submit(
    *,
    document: object,
    teams: Mapping[str, Team],
    pools: Sequence[PoolCapacity],
    submitted_by: str,
    idempotency_key: str | None = None,
) -> Submission:
    """Accept a job spec as a queued job.

    The same `idempotency_key` with the same document answers with the job it made before.

    Raises:
        SpecInvalid: with every problem found.
        NameInUse: the team has a live job of this name.
        IdempotencyConflict: the key was used for another document.
        TooManyQueued: as many jobs of the team wait as are allowed to.
    """
    admitted = spec_checks.admit(parse(document), teams=teams, pools=pools)
    key = _Key(team=admitted.team, text=idempotency_key or "", digest=_digest(document))
    notes = tuple(spec_checks.notes(admitted))
    known = key.find()
    if known is not None:
        return Submission(job=known, is_new=False, notes=notes)
    try:
        made, is_new = _create(admitted, document, submitted_by, key)
        return Submission(job=made, is_new=is_new, notes=notes)
    except IntegrityError as error:
        known = key.find()  # somebody sent the same request at the same time
        if known is not None:
            return Submission(job=known, is_new=False, notes=notes)
        if "live_job_names_are_unique_per_team" not in str(error):
            raise
        raise NameInUse(
            f"Team {admitted.team.name} has a live job named {admitted.spec.name!r}."
            " Use another name, or cancel that job first."
        ) from error


def dry_run(
    *, document: object, teams: Mapping[str, Team], pools: Sequence[PoolCapacity]
) -> spec_checks.AdmittedSpec:
    """Check a spec as `submit` would, and change nothing.

    Raises:
        SpecInvalid: with every problem found.
    """
    return spec_checks.admit(parse(document), teams=teams, pools=pools)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    """An idempotency key of a team; an empty text means that none was sent."""

    team: Team
    text: str
    digest: str

    def find(self) -> Job | None:
        if not self.text:
            return None
        row = IdempotencyKey.objects.filter(
            team=self.team, key=self.text, created_at__gt=timezone.now() - IDEMPOTENCY_WINDOW
        ).first()
        if row is None:
            return None
        if row.body_digest != self.digest:
            raise IdempotencyConflict
        return row.job

    def remember(self, job: Job) -> None:
        if self.text:
            outlived = timezone.now() - IDEMPOTENCY_WINDOW
            IdempotencyKey.objects.filter(
                team=self.team, key=self.text, created_at__lte=outlived
            ).delete()
            IdempotencyKey.objects.create(
                team=self.team, key=self.text, body_digest=self.digest, job=job
            )


@transaction.atomic
def _create(
    admitted: spec_checks.AdmittedSpec, document: object, submitted_by: str, key: _Key
) -> tuple[Job, bool]:
    """Return the job and if it is new: the same request may have made it while this one waited."""
    spec = admitted.spec
    most = _most_queued(admitted.team)
    if known := key.find():
        return known, False
    _check_room(admitted.team, most)
    training = earlier_runs.digest_of(spec)
    known_by = earlier_runs.known_at_submission(admitted.team, training)
    job = Job.objects.create(
        team=admitted.team,
        pool_id=admitted.pool.pool_id,
        name=spec.name,
        spec=document,
        resolved_spec=admitted.resolved_spec,
        labels=dict(spec.labels),
        priority=spec.priority,
        mode=spec.elastic.mode,
        submitted_by=submitted_by,
        training=training,
        **known_by,
        message="Waits for the next planning tick.",
    )
    key.remember(job)
    events.record(
        job_id=job.id,
        kind=EventKind.SUBMITTED,
        new_state=State.QUEUED,
        message=" ".join([f"Submitted by {submitted_by}.", *earlier_runs.said_of(job)]),
    )
    demand_signal.announce_demand(job.id)
    return job, True


def _most_queued(team: Team) -> int:
    """Return how many jobs may wait. From here on, a team's submissions go one at a time."""
    ours = Team.objects.select_for_update(no_key=True).filter(pk=team.pk)
    return ours.values_list("max_queued_jobs", flat=True).get()


def _check_room(team: Team, most: int) -> None:
    """Refuse the job if as many wait as are allowed to."""
    waiting = Job.objects.filter(team=team, state__in=WAITING).count()
    if waiting >= most:
        raise TooManyQueued(
            f"Team {team.name} has {waiting} waiting jobs, queued or paused, and may have at most"
            f" {most} (max_queued_jobs). Cancel some, submit later, or ask an admin to raise it."
        )


def _digest(document: Any) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
