"""Which arrays of jobs may a caller see, and how do their jobs stand?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Q, QuerySet
from tenancy.access.principal import Principal
from tenancy.audit import records

from jobs.errors import ArrayNotFound, BadCursor
from jobs.lifecycle import LIVE
from jobs.models import Job, JobArray
from jobs.queries import visible_jobs

MOST_ON_A_PAGE: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayStanding:
    """An array, and how many of its jobs are in each state; those that were deleted are in none."""

    array: JobArray
    states: Mapping[str, int]
    may_change: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayPage:
    """Some arrays, the newest first; `next_cursor` None: these were the last."""

    items: Sequence[ArrayStanding]
    next_cursor: str | None


def arrays_of(principal: Principal) -> QuerySet[JobArray]:
    """Return the arrays the principal may see."""
    return JobArray.objects.filter(team__in=principal.seen_ids).select_related("team")


def find_array(principal: Principal, array_id: str) -> JobArray:
    """Return one array. Raises: ArrayNotFound (unknown, or of another team)."""
    array = arrays_of(principal).filter(pk=array_id).first()
    if array is None:
        raise ArrayNotFound
    records.note_target(team_id=array.team_id)
    return array


def page_of(principal: Principal, *, team: str, name: str, limit: int, cursor: str) -> ArrayPage:
    """Return arrays of a team and of a name, if these are given, in three statements at most.

    Raises:
        BadCursor: it names no array that the principal sees.
    """
    seen = arrays_of(principal)
    wanted = {"team__name": team, "name": name}
    found = seen.filter(**{column: value for column, value in wanted.items() if value})
    if cursor:
        last = seen.filter(pk=cursor).first()
        if last is None:
            raise BadCursor
        at = last.submitted_at
        found = found.filter(Q(submitted_at__lt=at) | Q(submitted_at=at, pk__gt=last.pk))
    rows = list(found[: limit + 1])
    page = rows[:limit]
    more = page[-1].pk if len(rows) > limit else None
    return ArrayPage(items=standing_of(principal, page), next_cursor=more)


def standing_of(principal: Principal, arrays: Collection[JobArray]) -> list[ArrayStanding]:
    """Return how the jobs of these arrays stand, in one statement."""
    counted = Job.objects.filter(array__in=[one.pk for one in arrays]).order_by()
    states: defaultdict[str, Counter[str]] = defaultdict(Counter)
    owners: dict[str, Job] = {}
    rows = counted.values_list("array_id", "state", "team_id", "person_id").annotate(Count("pk"))
    for array_id, state, team_id, person_id, jobs in rows:
        states[array_id][state] += jobs
        owners[array_id] = Job(team_id=team_id, person_id=person_id)
    return [
        ArrayStanding(
            array=one,
            states=dict(states[one.pk]),
            may_change=one.pk in owners and visible_jobs.may_change(principal, owners[one.pk]),
        )
        for one in arrays
    ]


def live_jobs_to_change(principal: Principal, array: JobArray) -> list[str]:
    """Return the live jobs of an array, in the order of their trials.

    Raises:
        JobNotYours: some of them the principal only sees.
    """
    live = Job.objects.filter(array=array, state__in=LIVE).order_by("submitted_at", "pk")
    jobs = list(live.only("id", "name", "team_id", "person_id"))
    if not jobs:
        nobodys = Job(pk=array.pk, name=array.name, team_id=array.team_id)  # all are deleted
        any_job = Job.objects.filter(array=array).first() or nobodys
        visible_jobs.check_all_may_be_changed(principal, [any_job])
    visible_jobs.check_all_may_be_changed(principal, jobs)
    return [job.pk for job in jobs]
