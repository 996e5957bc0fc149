"""Where does the next page of a list of jobs begin? A cursor names the last job of the page."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from django.db.models import Q, QuerySet

from jobs.errors import BadCursor
from jobs.models import Job
from jobs.queries.listing import rows
from jobs.spec.timestamps import parse_timestamp

_NONE: Final = "-"


class JobOrder(StrEnum):
    """Which jobs come first."""

    SUBMITTED = "submitted"  # the newest
    FINISHED = "finished"  # those that ended last; who has not ended is left out
    RECENT = "recent"  # who has not ended, the newest first; then those that ended last

    @property
    def moments(self) -> tuple[str, ...]:
        """Return the columns of moments that it goes by, each from the latest backwards."""
        return {
            JobOrder.SUBMITTED: ("submitted_at",),
            JobOrder.FINISHED: ("finished_at",),
            JobOrder.RECENT: ("finished_at", "submitted_at"),
        }[self]

    @property
    def columns(self) -> tuple[str, ...]:
        """Return what a query sorts by; of two moments, none at all comes first."""
        return *(f"-{name}" for name in self.moments), "id"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPage:
    """Some jobs in their order, and where to go on; `next_cursor` None: these were the last.

    `total` is how many the whole list has; None: nobody asked.
    """

    jobs: Sequence[Job]
    next_cursor: str | None
    total: int | None = None


def page_of(
    jobs: QuerySet[Job],
    *,
    limit: int,
    cursor: str,
    order: JobOrder = JobOrder.SUBMITTED,
    is_counted: bool = False,
) -> JobPage:
    """Cut one page. New jobs never shift a page, because a cursor names a place, not a number.

    To count takes a statement more, and longer than the page where there are very many jobs.

    Raises:
        BadCursor: this function did not make the cursor, or in another order.
    """
    if order is JobOrder.FINISHED:
        jobs = jobs.filter(finished_at__isnull=False)
    total = jobs.count() if is_counted else None
    if cursor:
        jobs = jobs.filter(_after(cursor, order))
    found = rows.read(jobs, order=order.columns, most=limit + 1)
    more = len(found) > limit
    last = _cursor(found[limit - 1], order) if more else None
    return JobPage(jobs=found[:limit], next_cursor=last, total=total)


def _cursor(job: Job, order: JobOrder) -> str:
    moments = [getattr(job, name) for name in order.moments]
    written = [_NONE if at is None else at.isoformat() for at in moments]
    return base64.urlsafe_b64encode(
        f"{' '.join((*written, job.id))}{_mark(order)}".encode()
    ).decode()


def _mark(order: JobOrder) -> str:
    """Return what tells a cursor from those of other orders; those of the first have none."""
    return "" if order is JobOrder.SUBMITTED else f" {order}"


def _after(cursor: str, order: JobOrder) -> Q:
    mark = _mark(order)
    try:
        text = base64.urlsafe_b64decode(cursor).decode()
        if not text.endswith(mark):
            raise BadCursor
        *written, job_id = text.removesuffix(mark).split(" ")
        moments = [None if at == _NONE else parse_timestamp(at) for at in written]
        after = _behind(dict(zip(order.moments, moments, strict=True)), job_id)
    except (binascii.Error, ValueError) as error:
        raise BadCursor from error
    if "\0" in job_id:
        raise BadCursor
    return after


def _behind(moments: Mapping[str, datetime | None], job_id: str) -> Q:
    """Return which jobs come behind one with these moments, where none comes before all."""
    behind = Q(id__gt=job_id)
    for name, at in reversed([*moments.items()]):
        if at is None:
            behind = Q(**{f"{name}__isnull": True}) & behind | Q(**{f"{name}__isnull": False})
        else:  # the bound of all lets an index begin there
            behind = Q(**{f"{name}__lte": at}) & (Q(**{f"{name}__lt": at}) | behind)
    return behind
