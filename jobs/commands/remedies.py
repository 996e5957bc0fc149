"""How is it kept what would start a waiting job?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from jobs.lifecycle import State
from jobs.models import Job


def keep(found: Mapping[str, Mapping[str, Any]], *, found_at: datetime) -> None:
    """Put each remedy on its job, if that still waits; all others have none."""
    Job.objects.exclude(remedy={}).exclude(pk__in=list(found)).update(remedy={})
    for job_id, remedy in found.items():
        document = {**remedy, "found_at": found_at.isoformat()}
        Job.objects.filter(pk=job_id, state=State.QUEUED).update(remedy=document)
