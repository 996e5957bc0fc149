"""Which jobs of a team keep most on disk?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.db.models import F, Q, QuerySet
from tenancy.models import Team

from jobs.lifecycle import LIVE
from jobs.models import Job

MOST: Final = 20
_READ: Final = ("id", "name", "state", "is_pinned", "finished_at", "disk_bytes", "kept_bytes")


def largest_on_disk(team: Team) -> Sequence[Job]:
    """Return them, the largest first, each with its `bytes_on_disk`; two statements.

    Those that have ended lie in the order of an index; of the others a team has few.
    """
    ours = Job.objects.filter(team=team).only(*_READ)
    measured = ours.filter(kept_bytes__gt=0).order_by("-kept_bytes")
    others = ours.filter(
        Q(state__in=LIVE) | Q(finished_at__isnull=False, kept_bytes=None), disk_bytes__gt=0
    ).order_by("-disk_bytes")
    found = [*_first(measured, "kept_bytes"), *_first(others, "disk_bytes")]
    return sorted(found, key=_bytes, reverse=True)[:MOST]


def _first(jobs: QuerySet[Job], column: str) -> list[Job]:
    return list(jobs.annotate(bytes_on_disk=F(column))[:MOST])


def _bytes(job: Job) -> int:
    return int(job.bytes_on_disk)  # type: ignore[attr-defined]  # annotated
