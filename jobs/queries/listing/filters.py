"""Which jobs does somebody ask for? Each wish narrows the list; without any, it has all."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Q, QuerySet

from jobs.lifecycle import JobState
from jobs.models import Job, JobArray
from jobs.queries.listing.pages import JobOrder
from jobs.spec.stored_fields import POOLS

MOST_LABELS: Final = 8
_WAITING: Final = (JobState.QUEUED, JobState.PAUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """What the jobs must have; empty: whatever they have.

    A job that waits is in each pool in which it may start, any other in the one where it is.

    `labels` are pairs of a name and its value, None: any. `since` and `until` bound the moment that
    the list is ordered by; the first is included, the second is not.
    """

    team: str = ""
    pool: str = ""
    submitted_by: str = ""
    states: Collection[str] = ()
    labels: Collection[tuple[str, str | None]] = ()
    array: str = ""  # its id or its name
    schedule: str = ""  # its id or its name, that submitted them
    search: str = ""  # is part of the name or of a label's value, or is the id
    since: datetime | None = None
    until: datetime | None = None

    def of(self, jobs: QuerySet[Job], order: JobOrder = JobOrder.SUBMITTED) -> QuerySet[Job]:
        """Keep those of the jobs that are asked for."""
        wishes = (
            self._equal(),
            self._in_pool(),
            self._labelled(),
            self._of_array(),
            self._of_schedule(),
            self._found(),
        )
        return jobs.filter(*(one for wish in wishes for one in wish), *self._in_time(order))

    def _equal(self) -> list[Q]:
        wanted = {
            "team__name": self.team,
            "submitted_by": self.submitted_by,
            "state__in": self.states,
        }
        return [Q(**{name: value}) for name, value in wanted.items() if value]

    def _in_pool(self) -> list[Q]:
        if not self.pool:
            return []
        may_start = Q(state__in=_WAITING, **{f"{POOLS.lookup}__contains": [self.pool]})
        return [Q(pool__name=self.pool) | may_start]

    def _labelled(self) -> list[Q]:
        return [
            Q(labels__has_key=name) if value is None else Q(labels__contains={name: value})
            for name, value in self.labels
        ]

    def _of_array(self) -> list[Q]:
        if not self.array:
            return []
        found = JobArray.objects.filter(Q(pk=self.array) | Q(name=self.array))
        return [Q(array__in=found.order_by().values("pk"))]

    def _of_schedule(self) -> list[Q]:
        wanted = self.schedule
        if not wanted:
            return []
        # The names, too, are found by the index of those that a schedule submitted.
        return [~Q(schedule=""), Q(schedule=wanted) | Q(schedule_name=wanted)]

    def _found(self) -> list[Q]:
        text = self.search
        return [Q(name__icontains=text) | Q(id=text) | Q(labels__icontains=text)] if text else []

    def _in_time(self, order: JobOrder) -> list[Q]:
        column, *_ = order.moments
        bounds = {f"{column}__gte": self.since, f"{column}__lt": self.until}
        return [Q(**{name: moment}) for name, moment in bounds.items() if moment is not None]
