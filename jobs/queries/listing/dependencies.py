"""For which jobs does a job wait, which wait for it, and how do they stand?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection
from django.db.models import Exists, OuterRef

from jobs.lifecycle import LIVE, JobState
from jobs.models import Dependency, Job, JobArray
from jobs.wait_condition import MET_BY, WaitCondition

MOST_SHOWN: Final = 100  # each way
_NAMED: Final = 3  # of those that are waited for alike, and stand alike


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedRows:
    """Jobs that one job waits for alike, and that stand alike."""

    condition: str
    state: str  # empty: they were deleted, and nobody noted how they ended
    count: int
    names: Sequence[str]  # of the first, with their ids


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyLink:
    """One job that is waited for, or that waits, as it stands."""

    job_id: str
    name: str
    condition: str
    state: str  # empty: it was deleted; `ended_as` may tell how it ended
    ended_as: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDependencies:
    """All of them, one way and the other."""

    waits_for: Sequence[DependencyLink]
    awaited_by: Sequence[DependencyLink]
    awaited_by_total: int


_STANDING: Final = f"""
    SELECT one.job_id, one.condition, coalesce(other.state, one.ended_as), count(*),
        (array_agg(one.on_name || ' (' || one.on_id || ')' ORDER BY one.id))[:{_NAMED}]
    FROM jobs_dependency one LEFT JOIN jobs_job other ON other.id = one.on_id
    WHERE one.job_id = ANY(%s)
    GROUP BY 1, 2, 3
    ORDER BY 1, min(one.id)
"""  # noqa: S608 - a number of ours

_AFTER_FAILED: Final = """
    WITH RECURSIVE failed (id) AS (
        SELECT unnest(%(failed)s::text[])
        UNION
        SELECT one.job_id FROM failed JOIN jobs_dependency one ON one.on_id = failed.id
            JOIN jobs_job job ON job.id = one.job_id
        WHERE one.condition = ANY(%(vain)s) AND job.state = %(queued)s
    )
    SELECT DISTINCT ON (one.job_id) one.job_id, one.condition,
        one.on_name || ' (' || one.on_id || ')'
    FROM failed JOIN jobs_dependency one ON one.on_id = failed.id
    WHERE one.condition = ANY(%(vain)s) ORDER BY one.job_id, one.id
"""
_IN_VAIN_AFTER_FAILED: Final = [
    condition for condition in WaitCondition if JobState.FAILED not in MET_BY[condition]
]

_TREE: Final = """
    WITH RECURSIVE tree (id) AS (
        SELECT one.job_id FROM jobs_dependency one JOIN jobs_job job ON job.id = one.job_id
        WHERE one.on_id = %(root)s AND job.state = ANY(%(live)s)
        UNION
        SELECT one.job_id FROM jobs_dependency one JOIN tree ON one.on_id = tree.id
            JOIN jobs_job job ON job.id = one.job_id
        WHERE job.state = ANY(%(live)s)
    )
    SELECT id FROM tree
"""


def standing_of(job_ids: Collection[str]) -> Mapping[str, Sequence[AwaitedRows]]:
    """Return how all stand that each of the jobs waits for, in one statement."""
    found: defaultdict[str, list[AwaitedRows]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_STANDING, [sorted(job_ids)])
        for job_id, condition, state, count, names in cursor.fetchall():
            found[job_id].append(
                AwaitedRows(condition=condition, state=state, count=count, names=names)
            )
    return found


def standing_once_failed(job_ids: Collection[str]) -> Mapping[str, AwaitedRows]:
    """Return by job one that it will have waited for in vain, once these have failed.

    It waits for one of these, or for one that will have waited in vain itself, and so on.
    """
    about: Mapping[str, Any] = {
        "failed": sorted(job_ids),
        "vain": [str(one) for one in _IN_VAIN_AFTER_FAILED],
        "queued": JobState.QUEUED.value,
    }
    with connection.cursor() as cursor:
        cursor.execute(_AFTER_FAILED, about)
        return {
            job_id: AwaitedRows(
                condition=condition, state=JobState.FAILED.value, count=1, names=[name]
            )
            for job_id, condition, name in cursor.fetchall()
        }


def met_by_deleted(job_id: str, *, arrays: Collection[str] = ()) -> Collection[str]:
    """Return deleted jobs that the job waited for, and that had ended as they had to.

    If all had, then also those of these `arrays` that are gone: an array goes with its last job.
    """
    there = Job.objects.filter(pk=OuterRef("on_id"))
    deleted = Dependency.objects.filter(~Exists(there), job=job_id)
    rows = deleted.values_list("on_id", "condition", "ended_as")
    met = {on_id: True for on_id, _, _ in rows}
    for on_id, condition, ended_as in rows:
        met[on_id] &= condition == WaitCondition.ANY or ended_as in MET_BY[WaitCondition(condition)]
    found = {on_id for on_id, is_met in met.items() if is_met}
    if arrays and len(found) == len(met):
        kept = JobArray.objects.filter(pk__in=arrays).values_list("pk", flat=True)
        found |= {*arrays} - {*kept}
    return found


def all_that_wait_for(job_id: str) -> list[Job]:
    """Return live jobs that wait for the job, those that wait for them, and so on."""
    with connection.cursor() as cursor:
        cursor.execute(_TREE, {"root": job_id, "live": sorted(LIVE)})
        ids = [row[0] for row in cursor.fetchall()]
    return list(Job.objects.filter(pk__in=ids).select_related("pool").order_by("pk"))


_LINKS: Final = """
    (SELECT 'waits', one.on_id, one.on_name, one.condition, coalesce(job.state, ''),
        CASE WHEN job.id IS NULL THEN one.ended_as ELSE '' END, 0
     FROM jobs_dependency one LEFT JOIN jobs_job job ON job.id = one.on_id
     WHERE one.job_id = %(job)s ORDER BY one.id LIMIT %(most)s)
    UNION ALL
    (SELECT 'awaited', job.id, job.name, one.condition, job.state, '', count(*) OVER ()
     FROM jobs_dependency one JOIN jobs_job job ON job.id = one.job_id
     WHERE one.on_id = %(job)s ORDER BY one.id LIMIT %(most)s)
"""


def of_job(job: Job) -> JobDependencies:
    """Return for whom it waits and who waits for it, in one statement; of each the first."""
    with connection.cursor() as cursor:
        cursor.execute(_LINKS, {"job": job.id, "most": MOST_SHOWN})
        rows = cursor.fetchall()
    links: dict[str, list[DependencyLink]] = {"waits": [], "awaited": []}
    total = 0
    for way, job_id, name, condition, state, ended_as, count in rows:
        link = DependencyLink(
            job_id=job_id, name=name, condition=condition, state=state, ended_as=ended_as
        )
        links[way].append(link)
        total = max(total, count)
    return JobDependencies(
        waits_for=links["waits"], awaited_by=links["awaited"], awaited_by_total=total
    )
