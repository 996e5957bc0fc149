"""How do jobs come into being? They are checked whole, then written once, even if repeated.

One job is submitted as a bulk of one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

from django.db import transaction
from django.utils import timezone
from tenancy.access.token_bounds import TokenBounds
from tenancy.audit import records
from tenancy.models import Team

from autoscaler.job_vocabulary import EventKind
from jobs.admission import call, code_snapshots, data_use, earlier_runs, start_sources
from jobs.admission.call import AdmittedCall
from jobs.admission.pool_capacity import PoolCapacity
from jobs.admission.spec_checks import AdmittedSpec
from jobs.changes import demand_signal, events
from jobs.commands.submission_span import SubmissionTrace, traced_submission
from jobs.commands.team_stock import IDEMPOTENCY_WINDOW, TeamStock, alone, check_names, check_room
from jobs.errors import (
    IdempotencyConflict,
    SpecInvalid,
)
from jobs.lifecycle import JobState
from jobs.models import Dependency, IdempotencyKey, Job, JobArray, new_id
from jobs.spec.bulk import SentSpec

_MOST_NOTED: Final = 20  # of many jobs, in the audit log


class Submitter(Protocol):
    """A person or a token, as principals are."""

    @property
    def name(self) -> str: ...
    @property
    def person_id(self) -> int | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledBy:
    """Which schedule submits, and for which of its times."""

    id: str
    name: str
    due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionResult:
    """What became of a call, and what its user should know."""

    made: Sequence[tuple[str, str]]  # id and name of each job, in the order of the specs
    jobs: Sequence[Job]  # as this very call wrote them; none: an earlier one did
    notes: Sequence[str] = ()

    @property
    def is_new(self) -> bool:
        return bool(self.jobs)


def submit(
    *,
    sent: Sequence[SentSpec],
    body: object,
    teams: Mapping[str, Team],
    pools: Sequence[PoolCapacity],
    by: Submitter,
    idempotency_key: str | None = None,
    scheduled: ScheduledBy | None = None,
    array: JobArray | None = None,
    bounds: TokenBounds | None = None,
    traceparent: str = "",
) -> SubmissionResult:
    """Accept all job specs as queued jobs, or none. `body` is what the specs were sent in.

    The same `idempotency_key` with the same body answers with the jobs it made before. Trials
    belong to `array`, if one is given that is stored, and else to a new one. `bounds` are those of
    the token that submits. `traceparent` is the header that says whose trace goes on here.

    Raises:
        SpecInvalid: with every problem found.
        NameInUse: the team has a live job of such a name.
        IdempotencyConflict: the key was used for another body, or for jobs beyond the bounds.
        TooManyQueued: more jobs of the team would wait than are allowed to.
        TeamDiskFull: the team's jobs keep more files than they may.
    """
    text, digest = idempotency_key or "", _digest(body)

    def try_once(trace: SubmissionTrace) -> SubmissionResult:
        try:
            admitted = call.admit_all(sent, teams=teams, pools=pools, bounds=bounds)
        except SpecInvalid:
            earlier = _made_earlier(teams.values(), text, digest)
            if earlier is None:
                raise
            _see_that_it_reaches(earlier, bounds)
            return SubmissionResult(made=earlier, jobs=())
        key = _Key(team=admitted.team, text=text, digest=digest)
        jobs = new_rows(admitted, sent, by)
        _bind_to_array(jobs, sent, array)
        _bind_to_schedule(jobs, scheduled)
        trace.bind(jobs)
        made = _made_once(admitted, sent, jobs, key)
        if made is not None:
            _see_that_it_reaches(made, bounds)
            jobs = []
        made = made or _names(jobs)
        _note(admitted.team, made)
        ids = [job_id for job_id, _ in made]
        trace.made(ids, team=admitted.team.name, is_new=bool(jobs))
        return SubmissionResult(made=made, jobs=jobs, notes=admitted.notes)

    with traced_submission(traceparent) as trace:
        try:
            return try_once(trace)
        except _RulesChanged as error:
            with transaction.atomic():
                alone(error.team)  # from here on its rules are what they are
                return try_once(trace)


class _RulesChanged(Exception):
    """Somebody has changed a rule since the specs were judged."""

    def __init__(self, team: Team) -> None:
        super().__init__(team.name)
        self.team = team


def _note(team: Team, made: Sequence[tuple[str, str]]) -> None:
    """Note what a request is answered with, for the audit log."""
    first, *others = made
    records.note_target(team_id=team.pk, target=None if others else f"jobs/{first[0]}")
    records.note_change(after=dict(made[:_MOST_NOTED]))


def _made_earlier(
    teams: Iterable[Team], text: str, digest: str
) -> Sequence[tuple[str, str]] | None:
    """Return what the same request made when what it needs was still there: a secret, a pool."""
    if not text:
        return None
    since = timezone.now() - IDEMPOTENCY_WINDOW
    rows = IdempotencyKey.objects.filter(
        team__in=[*teams], key=text, body_digest=digest, created_at__gt=since
    )
    row = rows.values_list("job_id", "job__name", "made").first()
    return None if row is None else _made_by(*row)


def _see_that_it_reaches(made: Sequence[tuple[str, str]], bounds: TokenBounds | None) -> None:
    """Tell a limited token of no jobs of somebody else who sent the same key.

    Raises: IdempotencyConflict.
    """
    if bounds is None:
        return
    jobs = Job.objects.filter(pk__in=[job_id for job_id, _ in made])
    if jobs.exclude(pk__in=jobs.filter(bounds.condition()).values("pk")).exists():
        raise IdempotencyConflict(
            "This Idempotency-Key was used within 24 hours for jobs that this token does not reach."
            " Use another key."
        )


@transaction.atomic
def _made_once(
    admitted: AdmittedCall, sent: Sequence[SentSpec], jobs: Sequence[Job], key: _Key
) -> Sequence[tuple[str, str]] | None:
    """Write the jobs; or return what the same request made, perhaps while this one waited."""
    team = alone(admitted.team)
    there = TeamStock.read(admitted.team, jobs, key.text)
    if there.made is not None:
        return key.made_before(there.made)
    if there.rules_stamp != admitted.rules_stamp:
        raise _RulesChanged(admitted.team)
    check_room(admitted, team, there, more=len(jobs))
    check_names(admitted, sent, there.taken)
    code_snapshots.hold(admitted.team, {job.code for job in jobs if job.code})
    versions = data_use.hold(
        admitted.team, {use.source for one in admitted.specs for use in one.spec.data}
    )
    for job, one in zip(jobs, admitted.specs, strict=True):
        used = {use.source for use in one.spec.data}
        job.data_versions = {name: versions[name] for name in used & versions.keys()}
    if (array := jobs[0].array) is not None and array._state.adding:  # noqa: SLF001 - documented
        array.save(force_insert=True)
    Job.objects.bulk_create(jobs)
    Dependency.objects.bulk_create(_dependencies(admitted, jobs))
    start_sources.want((job.id, one.start) for job, one in zip(jobs, admitted.specs, strict=True))
    key.remember(jobs, is_bulk=bool(sent[0].place or sent[0].trial))
    events.record_all(
        events.new(
            job_id=job.id,
            kind=EventKind.SUBMITTED,
            new_state=JobState.QUEUED,
            message=" ".join([_submitted(job), *earlier_runs.said_of(job)]),
        )
        for job in jobs
    )
    demand_signal.announce_demand(jobs[0].id if len(jobs) == 1 else "")
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    """An idempotency key of a team; an empty text means that none was sent."""

    team: Team
    text: str
    digest: str

    def made_before(self, row: Sequence[Any]) -> Sequence[tuple[str, str]]:
        """Return id and name of each job it made, as its row tells."""
        digest, job_id, name, made = row
        if digest != self.digest:
            raise IdempotencyConflict
        return _made_by(job_id, name, made)

    def remember(self, jobs: Sequence[Job], *, is_bulk: bool) -> None:
        """Keep it, instead of an outlived one; the team's submissions go one at a time."""
        if not self.text:
            return
        row = IdempotencyKey(team=self.team, key=self.text, body_digest=self.digest)
        if is_bulk:
            row.made = _names(jobs)
        else:
            row.job = jobs[0]
        IdempotencyKey.objects.bulk_create(
            [row],
            update_conflicts=True,
            unique_fields=["team", "key"],
            update_fields=["body_digest", "job", "made", "created_at"],
        )


def _made_by(job_id: str | None, name: str, made: Sequence[Any]) -> Sequence[tuple[str, str]]:
    """Read what a key's row tells: one job, or those of a bulk."""
    return [(job_id, name)] if job_id else [(one[0], one[1]) for one in made]


def array_of(result: SubmissionResult) -> str | None:
    """Return the id of the array whose trials a call has made; None: it made none, or it is gone.

    Of what an earlier call made, it is read.
    """
    if result.jobs:
        return result.jobs[0].array_id
    first, _ = result.made[0]
    return Job.objects.filter(pk=first).values_list("array_id", flat=True).first()


def _bind_to_array(jobs: Sequence[Job], sent: Sequence[SentSpec], stored: JobArray | None) -> None:
    """Tell the trials of an array which one they belong to; nothing is stored."""
    first = sent[0].trial
    if first is None:
        return
    array = stored or JobArray(
        team=jobs[0].team,
        name=first.array,
        parameters=[*first.values],
        trials=len(jobs),
        max_running=first.max_running,
        submitted_by=jobs[0].submitted_by,
    )
    for job in jobs:
        job.array = array
        job.trial |= {"is_swept": True} if array.is_swept else {}


def _bind_to_schedule(jobs: Sequence[Job], scheduled: ScheduledBy | None) -> None:
    if scheduled is None:
        return
    for job in jobs:
        job.schedule, job.schedule_name = scheduled.id, scheduled.name
        job.scheduled_for = scheduled.due_at


def _submitted(job: Job) -> str:
    by_schedule = f" by schedule {job.schedule_name}" if job.schedule else ""
    return f"Submitted{by_schedule} {'for' if by_schedule else 'by'} {job.submitted_by}."


def new_rows(admitted: AdmittedCall, sent: Sequence[SentSpec], by: Submitter) -> list[Job]:
    """Return the jobs that a call asks for; nothing is stored."""
    ids = {one.spec.name: new_id() for one in admitted.specs}
    return [
        _row(spec, one, by, admitted.earlier.known_at_submission(spec.training), ids)
        for spec, one in zip(admitted.specs, sent, strict=True)
    ]


def _row(
    admitted: AdmittedSpec,
    sent: SentSpec,
    by: Submitter,
    known_by: Mapping[str, Any],
    ids: Mapping[str, str],
) -> Job:
    spec, trial = admitted.spec, sent.trial
    return Job(
        id=ids[spec.name],
        team=admitted.team,
        pool_id=admitted.pool.pool_id,
        name=spec.name,
        spec=sent.document,
        resolved_spec=admitted.resolved_spec(ids),
        code=(spec.code and spec.code.digest) or "",
        labels=dict(spec.labels),
        priority=spec.priority,
        mode=spec.elastic.mode,
        submitted_by=by.name,
        person_id=by.person_id,
        training=admitted.training,
        message="Waits for the next planning tick.",
        array_limit=None if trial is None else trial.max_running,
        trial={"number": trial.number, "values": trial.values} if trial else {},
        template=admitted.template,
        **known_by,
    )


def _dependencies(admitted: AdmittedCall, jobs: Sequence[Job]) -> list[Dependency]:
    ids = {job.name: job.id for job in jobs}
    pairs = zip(jobs, admitted.specs, strict=True)
    return [one.row(job.id, ids) for job, spec in pairs for one in spec.depends_on]


def _names(jobs: Sequence[Job]) -> list[tuple[str, str]]:
    return [(job.id, job.name) for job in jobs]


def _digest(document: Any) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
