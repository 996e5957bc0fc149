"""Which snapshots of code does no job refer to?"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet
from storage.models import CodeSnapshot

from jobs.models import Job


def without_jobs(snapshots: QuerySet[CodeSnapshot]) -> QuerySet[CodeSnapshot]:
    """Return those of the snapshots that no job of their team refers to, ended ones included.

    A job does so until its code is old.
    """
    jobs = Job.objects.filter(team=OuterRef("team"), code=OuterRef("digest"), code_removed_at=None)
    return snapshots.exclude(Exists(jobs))
