"""Which change would start a waiting job? The newest answer is kept on the job."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from jobs.lifecycle import JobState
from jobs.models import Job


def keep(found: Mapping[str, Mapping[str, Any]], *, found_at: datetime) -> None:
    """Put each remedy on its job, if that still waits; all others have none.

    A job whose row is locked at this moment keeps the remedy before.
    """
    _write(Job.objects.exclude(remedy={}).exclude(pk__in=list(found)), {})
    for job_id, remedy in found.items():
        document = {**remedy, "found_at": found_at.isoformat()}
        _write(Job.objects.filter(pk=job_id, state=JobState.QUEUED), document)


@transaction.atomic
def _write(jobs: QuerySet[Job], remedy: Mapping[str, Any]) -> None:
    free = jobs.select_for_update(no_key=True, skip_locked=True).values_list("pk", flat=True)
    Job.objects.filter(pk__in=list(free)).update(remedy=remedy)
