"""Why does this job wait, or have the workers it has? The planner's words and numbers say it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import Principal, principal_of

from autoscaler.job_vocabulary import JobReason
from jobs.api.serializers.explanation.details import details_of
from jobs.api.serializers.explanation.explanation import ExplanationSerializer
from jobs.api.serializers.generation import restart_in_words
from jobs.lifecycle import FINAL, JobState
from jobs.models import Generation, Job, Quarantine
from jobs.queries import visible_jobs
from jobs.queries.limits_of_use import HeldLimit, limits_of
from jobs.queries.newest_decision import explanation_of, newest_decision, remedy_of

_CHANGES_SHOWN = 20
SeesTeam = Callable[[Principal, str], bool]


class ExplainView(APIView):
    sees_numbers_of: SeesTeam | None = None  # whoever asks; None: everybody sees those of all teams

    @extend_schema(
        operation_id="explain_job",
        summary="Why a job waits or has the workers it has",
        responses=ExplanationSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        principal = principal_of(request)
        job = visible_jobs.find_job(principal, job_id)
        limits = [
            one
            for one in limits_of(job)
            if one.team is None
            or self.sees_numbers_of is None
            or self.sees_numbers_of(principal, one.team)
        ]
        return Response(explanation(job, limits, for_admin=principal.is_admin))


def explanation(job: Job, limits: Sequence[HeldLimit], *, for_admin: bool) -> dict[str, Any]:
    """The newest decision about the job as it stands; where there is none, its own reason."""
    decided = newest_decision(job, for_admin=for_admin)
    numbers = explanation_of(decided)
    newest = Generation.objects.filter(job=job).order_by("-number")[:_CHANGES_SHOWN]
    allocation = decided.get("allocation") or {}
    counts = [count for _, count in allocation.get("workers_by_node", ())]
    return {
        "job_id": job.id,
        "action": decided.get("action", ""),
        "reason": decided.get("reason") or job.reason,
        "message": decided.get("message") or _own_message(job),
        "workers": decided.get("workers", sum(counts) if counts else None),
        "global_batch_size": decided.get("global_batch_size", allocation.get("global_batch_size")),
        "choices": numbers.get("choices", []),
        "price": numbers.get("price"),
        "position": numbers.get("position"),
        "gpus_asked": numbers.get("needed_gpus"),
        "gpus_free": numbers.get("free_gpus"),
        "decided_at": decided.get("decided_at"),
        "remedy": remedy_of(job, now=timezone.now()),
        "quarantine": _quarantine(job, for_admin=for_admin),
        "warnings": job.warnings,
        "gpu_hours": job.gpu_seconds / 3600,
        "limits": [asdict(one) for one in limits],
        "details": details_of(numbers),
        "changes": [
            {
                "reason": one.reason,
                "message": one.message,
                "at": one.began_at,
                "cost": restart_in_words(one),
            }
            for one in newest
        ],
    }


def _own_message(job: Job) -> str:
    """Return why it stands as it does; whoever waits for data learns what follows, and when."""
    if job.state != JobState.QUEUED or job.reason != JobReason.PREPARING:
        return job.message
    soonest = (job.prediction.get("start") or {}).get("p10")
    when = f": not before {datetime.fromisoformat(soonest):%H:%M} UTC" if soonest else ""
    return f"{job.message} It takes no GPUs until then, and starts when some are free{when}."


def _quarantine(job: Job, *, for_admin: bool) -> dict[str, Any] | None:
    """Describe the quarantine. Only admins read the error: it may quote other teams' data."""
    row = Quarantine.objects.filter(job=job, part=Quarantine.Part.PLANNING).first()
    if row is None or job.state in FINAL:
        return None
    return {
        "since": row.since,
        "failures": row.failures,
        "retry_at": row.retry_at,
        "error": row.error if for_admin else None,
    }
