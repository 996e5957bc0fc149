"""Which of what teams have uploaded does nobody refer to?"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet
from storage.models import CodeSnapshot, DataSnapshot, DataSource

from jobs.lifecycle import LIVE
from jobs.models import Job


def code_without_jobs(snapshots: QuerySet[CodeSnapshot]) -> QuerySet[CodeSnapshot]:
    """Return those of the snapshots that no job of their team refers to, ended ones included.

    A job does so until its code is old.
    """
    jobs = Job.objects.filter(team=OuterRef("team"), code=OuterRef("digest"), code_removed_at=None)
    return snapshots.exclude(Exists(jobs))


def data_without_users(snapshots: QuerySet[DataSnapshot]) -> QuerySet[DataSnapshot]:
    """Return those that are no source as it is now, and that no live job has."""
    uploads = DataSource.objects.filter(kind=DataSource.Kind.UPLOAD)
    live = Job.objects.filter(state__in=LIVE).exclude(data_versions={})
    needed = {place["digest"] for place in uploads.values_list("place", flat=True)}
    for versions in live.values_list("data_versions", flat=True):
        needed |= set(versions.values())
    return snapshots.exclude(digest__in=needed)
