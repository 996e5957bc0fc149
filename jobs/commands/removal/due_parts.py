"""Which parts of ended jobs are old, and when will those of one job be?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Q
from tenancy import retention
from tenancy.models.retention_rule import KeptPart

from jobs.commands.removal.retention_periods import JobRetention
from jobs.lifecycle import FINAL
from jobs.models import Job

REMOVED_AT: Final = {
    KeptPart.CURVES: "curves_removed_at",
    KeptPart.LOGS: "logs_removed_at",
    KeptPart.CHECKPOINTS: "files_removed_at",
    KeptPart.OUTPUTS: "outputs_removed_at",
    KeptPart.CODE: "code_removed_at",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What becomes of one part of a job."""

    part: str
    due_at: datetime | None  # None: never, or not known while the job lives
    removed_at: datetime | None


def due(part: KeptPart, kept: JobRetention, now: datetime) -> Q:
    """Return which jobs that ended are to lose this part now."""
    by_team = retention.days_by_team(kept.days).get(part, {})
    found = _ended_before(now, kept.days[part]) & ~Q(team__in=list(by_team))
    for days in set(by_team.values()):
        teams = [team for team, own in by_team.items() if own == days]
        found |= _ended_before(now, days) & Q(team__in=teams)
    return found


def removals_of(job: Job, kept: JobRetention) -> list[Removal]:
    """Return when each part of a job goes, and at last the job itself."""
    days: dict[str, timedelta | None] = {
        part: timedelta(days=count) if count else None
        for part, count in retention.days_of(job.team, kept.days).items()
    }
    periods = days | {"history": kept.history, "job": kept.jobs}
    removed: dict[str, Any] = {part: getattr(job, mark) for part, mark in REMOVED_AT.items()}
    removed["history"] = job.history_removed_at
    whole = _due_at(job, kept.jobs)
    return [
        Removal(
            part=part,
            due_at=min(filter(None, (_due_at(job, period), whole)), default=None),
            removed_at=removed.get(part),
        )
        for part, period in periods.items()
    ]


def _ended_before(now: datetime, days: int) -> Q:
    return Q(finished_at__lt=now - timedelta(days=days)) if days else Q(pk__in=[])


def _due_at(job: Job, period: timedelta | None) -> datetime | None:
    if period is None or job.is_pinned or job.state not in FINAL or job.finished_at is None:
        return None
    return job.finished_at + period
