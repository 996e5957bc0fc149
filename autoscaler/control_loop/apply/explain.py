"""What was decided, and why, stands on the job itself, whether or not it changed anything."""

from __future__ import annotations

from typing import Any

from autoscaler.control_loop import decision_document
from autoscaler.control_loop.explained import ExplainedDecision
from autoscaler.control_loop.job_view import JobView
from autoscaler.control_loop.shell import Shell
from autoscaler.planning.decisions import Action, Reason
from jobs.lifecycle import State
from jobs.models import Job

_SAYS_NOTHING_NEW = {Reason.NOT_RESCALABLE}


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
        return bool(Job.objects.filter(pk=view.id, state=view.job.state).update(**changes))


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
        and decision.reason not in _SAYS_NOTHING_NEW
    )
