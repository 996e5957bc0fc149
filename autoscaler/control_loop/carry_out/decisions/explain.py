"""What was decided, and why, stands on the job itself, whether or not it changed anything.

Of however many jobs that is said anew, it is written in a statement for each part of them: a change
anywhere moves all the queue, and one team's may be long; and while all rows were held, no
coordinator would hear what is wanted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from django.db import connection

from autoscaler.control_loop.carry_out.decisions.other_pool import pool_of
from autoscaler.control_loop.carry_out.held_together import parts
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.plan.decision_document import says_the_same
from autoscaler.control_loop.plan.explained import ExplainedDecision
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.explanations.sentences.deadline_sentences import warned
from jobs.changes import events
from jobs.lifecycle import JobState

_SAYS_NOTHING_NEW = {JobReason.NOT_RESCALABLE}

# A job whose row is held, or that went into another state meanwhile, keeps what it has.
_WRITE: Final = """
    WITH free AS MATERIALIZED (
        SELECT id FROM jobs_job WHERE id = ANY(%(id)s) FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE jobs_job SET
        explanation = coalesce(said.explanation::jsonb, jobs_job.explanation),
        explanation_for_admins = coalesce(said.for_admins::jsonb, jobs_job.explanation_for_admins),
        reason = coalesce(said.reason, jobs_job.reason),
        message = coalesce(said.message, jobs_job.message),
        pool_id = coalesce(said.pool, jobs_job.pool_id)
    FROM unnest(
        %(id)s::text[], %(state)s::text[], %(explanation)s::text[], %(for_admins)s::text[],
        %(reason)s::text[], %(message)s::text[], %(pool)s::bigint[], %(version)s::bigint[]
    ) AS said (id, state, explanation, for_admins, reason, message, pool, version)
    WHERE jobs_job.id = said.id AND jobs_job.state = said.state
        AND jobs_job.id IN (SELECT id FROM free)
        AND (said.pool IS NULL OR jobs_job.version = said.version)
    RETURNING jobs_job.id
"""
_COLUMNS: Final = (
    *("id", "state", "explanation", "for_admins", "reason", "message", "pool", "version"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _WantedExplanation:
    """What shall stand on one job; None: what stands there."""

    id: str
    state: str
    explanation: str | None = None
    for_admins: str | None = None
    reason: str | None = None
    message: str | None = None
    pool: int | None = None  # where it waits from now on, if its people changed nothing since
    version: int | None = None


def explain(view: LiveJob, decision: ExplainedDecision, context: TickContext) -> bool:
    """Keep the decision on the job, if it differs from the one that is there."""
    return bool(explain_all([decision], {view.id: view}, context))


def explain_all(
    decisions: Sequence[ExplainedDecision], views: Mapping[str, LiveJob], context: TickContext
) -> frozenset[str]:
    """Keep each decision on its job, if it differs from the one there; returns whose did."""
    by_job = {decision.job_id: decision for decision in decisions}
    found = (_said(views[one.job_id], one, context) for one in decisions)
    written: set[str] = set()
    for said in parts([one for one in found if one is not None]):
        with context.fence.transaction():
            of_this_part = _write(said)
            for job_id in of_this_part:
                _warn_once(views[job_id], by_job[job_id])
        written |= of_this_part
    return frozenset(written)


def _write(said: Sequence[_WantedExplanation]) -> frozenset[str]:
    columns = {name: [getattr(one, name) for one in said] for name in _COLUMNS}
    with connection.cursor() as cursor:
        cursor.execute(_WRITE, columns)
        return frozenset(job_id for (job_id,) in cursor.fetchall())


def _said(
    view: LiveJob, decision: ExplainedDecision, context: TickContext
) -> _WantedExplanation | None:
    changes: dict[str, Any] = {}
    if not says_the_same(decision.document_for_team, view.job.explanation):
        document = decision.document(decided_at=context.now)
        changes["explanation"] = json.dumps(document)
        changes["for_admins"] = json.dumps(_for_admins(decision, context))
    if _is_about_now(view, decision):
        sentence = {"reason": str(decision.reason), "message": decision.message}
        if sentence != {"reason": view.job.reason, "message": view.job.message}:
            changes |= sentence
    if decision.action is Action.WAIT and (pool := pool_of(view, decision)) is not None:
        changes |= {"pool": pool.pk, "version": view.job.version}
    return _WantedExplanation(id=view.id, state=view.job.state, **changes) if changes else None


def _warn_once(view: LiveJob, decision: ExplainedDecision) -> None:
    """An event when a deadline first comes into danger, not with each prediction after that."""
    warning = decision.decision.deadline_warning
    if warning is not None and not view.job.explanation.get("deadline_warning"):
        events.record(
            job_id=view.id,
            kind=EventKind.DEADLINE_AT_RISK,
            reason=JobReason.DEADLINE,
            message=warned(warning),
            data=asdict(warning),
        )


def _for_admins(decision: ExplainedDecision, context: TickContext) -> dict[str, Any]:
    """Kept only where it names more than the team may read."""
    if not decision.names_other_teams_jobs:
        return {}
    return decision.document_for_admins(decided_at=context.now)


def _is_about_now(view: LiveJob, decision: ExplainedDecision) -> bool:
    """True if the sentence may replace that of the job's last change of state."""
    if view.state is JobState.QUEUED:
        return decision.action in {Action.WAIT, Action.START}
    return (
        view.state is JobState.RUNNING
        and decision.action is Action.KEEP
        and (decision.reason not in _SAYS_NOTHING_NEW or view.is_plain)
    )
