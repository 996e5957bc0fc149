"""What was decided, and why, stands on the job itself, whether or not it changed anything."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from autoscaler.control_loop import decision_document
from autoscaler.control_loop.explained import ExplainedDecision
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.shell import Shell
from autoscaler.job_vocabulary import EventKind, JobReason
from autoscaler.planning.decisions import Action
from autoscaler.planning.explanations.deadline_sentences import warned
from jobs import events
from jobs.lifecycle import State
from jobs.models import Job

_SAYS_NOTHING_NEW = {JobReason.NOT_RESCALABLE}


def explain(view: JobView, decision: ExplainedDecision, shell: Shell) -> bool:
    """Keep the decision on the job, if it differs from the one that is there."""
    document = decision_document.document(decision, decided_at=shell.now)
    changes: dict[str, object] = {}
    if {**document, "decided_at": ""} != {**view.job.explanation, "decided_at": ""}:
        changes["explanation"] = document
        changes["explanation_for_admins"] = _for_admins(decision, shell)
    if _is_about_now(view, decision):
        sentence = {"reason": str(decision.reason), "message": decision.message}
        if sentence != {"reason": view.job.reason, "message": view.job.message}:
            changes |= sentence
    if not changes:
        return False
    with shell.fence.transaction():
        is_written = Job.objects.filter(pk=view.id, state=view.job.state).update(**changes)
        if is_written:
            _warn_once(view, decision)
    return bool(is_written)


def _warn_once(view: JobView, decision: ExplainedDecision) -> None:
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


def _for_admins(decision: ExplainedDecision, shell: Shell) -> dict[str, Any]:
    """Kept only where it names more than the team may read."""
    if not decision_document.names_other_teams_jobs(decision):
        return {}
    return decision_document.document_for_admins(decision, decided_at=shell.now)


def _is_about_now(view: JobView, decision: ExplainedDecision) -> bool:
    """Whether the sentence may replace that of the job's last change of state."""
    if view.state is State.QUEUED:
        return decision.action in {Action.WAIT, Action.START}
    return (
        view.state is State.RUNNING
        and decision.action is Action.KEEP
        and (decision.reason not in _SAYS_NOTHING_NEW or view.is_plain)
    )
