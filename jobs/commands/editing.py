"""How is a job changed while it lives, or run once more with changes?

A change counts from the next tick on: the planner reads a job's spec in each of them. What a
process was started with never changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db import transaction
from django.db.models.functions import Now
from tenancy.access.token_bounds import TokenBounds
from tenancy.audit import records
from tenancy.models import Team

from autoscaler.job_vocabulary import EventKind, JobReason
from jobs.admission import call
from jobs.admission.pool_capacity import PoolCapacity
from jobs.admission.rules import line, preparing, token_bounds
from jobs.changes import demand_signal, events
from jobs.commands import submission
from jobs.errors import ChangedMeanwhile, IllegalTransition, JobNotFound, Problem, SpecInvalid
from jobs.job_mode import JobMode
from jobs.lifecycle import ACTIVE, FINAL, LIVE, JobState
from jobs.models import Job
from jobs.queries.listing import dependencies
from jobs.spec import changes as spec_changes
from jobs.spec import stored_spec
from jobs.spec.bulk import SentSpec
from jobs.spec.changes import FieldChange
from jobs.spec.job_spec import JobSpec
from jobs.spec.rules import checking
from jobs.spec.rules.merging import with_defaults_for_nulls

_WITHOUT_GPUS: Final = (JobState.QUEUED, JobState.PAUSED)
_MOST_TOLD: Final = 50  # fields that an event names: whoever is told of it reads all of them
_TEMPLATE_OF_OLD: Final = Problem(
    field=preparing.FIELD,
    value=None,
    problem="fills in what a spec leaves out, and the spec of a job that was submitted is whole",
    remedy="Leave it out, or submit a new job with it.",
)


@transaction.atomic
def edit(
    *,
    job_id: str,
    changes: object,
    pools: Sequence[PoolCapacity],
    actor: str,
    version: int | None = None,
    bounds: TokenBounds | None = None,
) -> list[str]:
    """Change what a live job asks for; return what its user should know.

    Args:
        job_id: of a job that has not ended.
        changes: a part of a spec; see `jobs.spec.changes`.
        pools: all there are.
        actor: who changes it.
        version: the job's, as its user has seen it; None: whatever it is.
        bounds: of the token that changes it, which may not take the job out of them.

    Raises:
        JobNotFound: there is no such job.
        ChangedMeanwhile: it has another version by now.
        IllegalTransition: it has ended.
        SpecInvalid: with every problem that the changes bring; nothing is changed.
    """
    locked = Job.objects.select_for_update(no_key=True, of=("self",))
    job = locked.select_related("team", "pool").filter(pk=job_id).first()
    if job is None or (bounds is not None and not bounds.hold(job.pool.name, job.labels)):
        raise JobNotFound
    if version not in {None, job.version}:
        raise ChangedMeanwhile(
            f"The job has version {job.version} now, not {version}: somebody has changed it."
            " Read it again, then change it."
        )
    if job.state in FINAL:
        allowed = [state for state in JobState if state in LIVE]
        raise IllegalTransition(verb="changed", state=JobState(job.state), allowed=allowed)
    before = _document(job)
    defaults = checking.defaults_of(line.read(job.team).rules)
    spec, found = spec_changes.changed(before, with_defaults_for_nulls(changes, defaults))
    if bounds is not None:
        token_bounds.check(spec.labels, pools=spec.pool_fields, bounds=bounds)
    notes = _admitted(spec, before, job, pools)
    _check_place(job, found)
    if found:
        _write(job, spec, found, actor, pools)
    return [*notes, *_comes_later(job, found)]


def rerun(
    *,
    job: Job,
    changes: object,
    teams: Mapping[str, Team],
    pools: Sequence[PoolCapacity],
    by: submission.Submitter,
    idempotency_key: str | None = None,
    bounds: TokenBounds | None = None,
    traceparent: str = "",
) -> submission.SubmissionResult:
    """Submit a job's spec again, as it was in the end, with these changes of any of its fields.

    It waits no more for jobs, and arrays, that ended as they had to, and were deleted since.

    Raises: what `submission.submit` raises.
    """
    before = _document(job)
    entries = before["depends_on"]
    gone = dependencies.met_by_deleted(
        job.id, arrays=[one["array"] for one in entries if "array" in one]
    )
    awaited = [one for one in entries if (one.get("job") or one.get("array")) not in gone]
    document = spec_changes.merged({**before, "depends_on": awaited}, changes)
    if preparing.FIELD in document:
        raise SpecInvalid([_TEMPLATE_OF_OLD])
    template = job.template if document.get("team") == before["team"] else {}
    return submission.submit(
        sent=[SentSpec(document=document, template=template)],
        body=spec_changes.merged(before, changes),
        teams=teams,
        pools=pools,
        by=by,
        idempotency_key=idempotency_key,
        bounds=bounds,
        traceparent=traceparent,
    )


def _document(job: Job) -> dict[str, Any]:
    """Raises: SpecInvalid (nobody can tell what an unreadable field asked for)."""
    stored = stored_spec.read(job.resolved_spec)
    if stored.unreadable:
        raise SpecInvalid(
            [
                Problem(
                    field=field,
                    value=None,
                    problem="cannot be read in the stored spec of this job",
                    remedy="Submit the job anew with a spec of today.",
                )
                for field in stored.unreadable
            ]
        )
    return stored.spec.resolved(team=job.team.name, pool=job.pool.name)


def _admitted(
    spec: JobSpec, before: Mapping[str, Any], job: Job, pools: Sequence[PoolCapacity]
) -> list[str]:
    """Refuse what would be refused of a new job, unless that was wrong before."""
    teams = {job.team.name: job.team}
    try:
        return list(call.admit_one(spec, teams=teams, pools=pools).notes)
    except SpecInvalid as error:
        try:
            call.admit_one(JobSpec.from_resolved(before), teams=teams, pools=pools)
        except SpecInvalid as known:
            new = [problem for problem in error.problems if problem not in known.problems]
        else:
            new = list(error.problems)
        if new:
            raise SpecInvalid(new) from error
        return []


def _check_place(job: Job, found: Sequence[FieldChange]) -> None:
    """Raises: SpecInvalid, where another pool is asked for while the job holds GPUs in one."""
    moves = [one for one in found if one.field in spec_changes.OF_PLACE]
    if moves and job.state not in _WITHOUT_GPUS:
        raise SpecInvalid(
            [
                Problem(
                    field=one.field,
                    value=one.after,
                    problem=f"cannot be changed while the job is {job.state}: it holds GPUs of"
                    f" pool {job.pool.name}",
                    remedy="Pause the job first, change it, and resume it.",
                    code="not_changeable",
                )
                for one in moves
            ]
        )


def _place(
    job: Job, spec: JobSpec, found: Sequence[FieldChange], pools: Sequence[PoolCapacity]
) -> tuple[str, int]:
    """Return where the job is now: where it was, unless it was told to be elsewhere.

    What it named before may not be there any more: a pool may be renamed, or deleted.
    """
    is_told = any(one.field in spec_changes.OF_PLACE for one in found)
    if is_told and job.pool.name not in spec.named_pools:
        known = {one.name: one.pool_id for one in pools}
        for name in spec.named_pools:
            if name in known:
                return name, known[name]
    return job.pool.name, job.pool_id


def _write(
    job: Job,
    spec: JobSpec,
    found: Sequence[FieldChange],
    actor: str,
    pools: Sequence[PoolCapacity],
) -> None:
    pool, pool_id = _place(job, spec, found, pools)
    Job.objects.filter(pk=job.id).update(
        resolved_spec=spec.resolved(team=job.team.name, pool=pool),
        pool_id=pool_id,
        priority=spec.priority,
        labels=dict(spec.labels),
        version=job.version + 1,
        changed_at=Now(),
        **_no_longer_said(job),
    )
    more = f", and {len(found) - _MOST_TOLD} more" if len(found) > _MOST_TOLD else ""
    events.record(
        job_id=job.id,
        kind=EventKind.TERMS_CHANGED,
        message=f"Changed by {actor}: {', '.join(map(str, found[:_MOST_TOLD]))}{more}.",
        data={
            "version": job.version + 1,
            "changes": {one.field: one.as_data() for one in found[:_MOST_TOLD]},
        },
    )
    records.note_change(
        before={one.field: one.before for one in found},
        after={one.field: one.after for one in found},
    )
    demand_signal.announce_demand(job.id)


def _no_longer_said(job: Job) -> dict[str, Any]:
    """It may fit by now: until it is planned anew, it does not stand behind others for that."""
    if job.state != JobState.QUEUED:
        return {}
    said: dict[str, Any] = {}
    if job.explanation.get("reason") == JobReason.EXCEEDS_LIMIT:
        said |= {"explanation": {}, "explanation_for_admins": {}}
    if job.reason == JobReason.EXCEEDS_LIMIT:
        said |= {
            "reason": JobReason.PENDING_EVALUATION,
            "message": "It was changed, and is planned anew.",
        }
    return said


def _comes_later(job: Job, found: Sequence[FieldChange]) -> list[str]:
    is_about_size = any(one.field.startswith(("elastic.", "batch.")) for one in found)
    if job.mode != JobMode.FIXED or job.state not in ACTIVE or not is_about_size:
        return []
    return ["Its mode is fixed: it keeps its workers and its batch until it starts again."]
