"""Where does the next page of a list of jobs begin? A cursor names the last job of the page."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Q, QuerySet

from jobs.errors import BadCursor
from jobs.models import Job
from jobs.queries import listed_jobs
from jobs.spec.timestamps import parse_timestamp

ORDER: Final = ("-submitted_at", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    """Some jobs, newest first, and where to go on; `next_cursor` None: these were the last."""

    jobs: Sequence[Job]
    next_cursor: str | None


def page_of(jobs: QuerySet[Job], *, limit: int, cursor: str) -> JobPage:
    """Cut one page. New jobs never shift a page, because a cursor names a place, not a number.

    Raises:
        BadCursor: this function did not make the cursor.
    """
    if cursor:
        jobs = jobs.filter(_after(cursor))
    found = listed_jobs.read(jobs, order=ORDER, most=limit + 1)
    more = len(found) > limit
    return JobPage(jobs=found[:limit], next_cursor=_cursor(found[limit - 1]) if more else None)


def _cursor(job: Job) -> str:
    return base64.urlsafe_b64encode(f"{job.submitted_at.isoformat()} {job.id}".encode()).decode()


def _after(cursor: str) -> Q:
    try:
        at, job_id = base64.urlsafe_b64decode(cursor).decode().split(" ")
        submitted_at = parse_timestamp(at)
    except (binascii.Error, ValueError) as error:
        raise BadCursor from error
    if "\0" in job_id:
        raise BadCursor
    return Q(submitted_at__lt=submitted_at) | Q(submitted_at=submitted_at, id__gt=job_id)
