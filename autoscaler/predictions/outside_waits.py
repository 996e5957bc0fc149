"""For what would a job wait that no plan gives it: the end of others, or a place in its team?

What it would have to fetch first is not asked: nobody knows that before it is there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

from django.db.models import Q

from autoscaler.control_loop.arriving.limited_teams import beyond_limits
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.outside.cluster_records import ClusterRecords
from autoscaler.job_vocabulary import WAITING_OUTSIDE, JobReason
from autoscaler.reconciling.assessments.awaited_jobs import AwaitedJobs, verdict_on
from autoscaler.reconciling.words import sentence_case
from jobs.lifecycle import JobState
from jobs.models import Job
from jobs.spec import stored_spec
from jobs.wait_condition import WaitCondition

_FOR_A_PLACE: Final = frozenset(
    {JobReason.TEAM_JOB_LIMIT, JobReason.TEAM_BUDGET_USED_UP, JobReason.ARRAY_LIMIT}
)
_FOR_SOMETHING_ELSE: Final = WAITING_OUTSIDE - _FOR_A_PLACE


def held_by_limits(
    views: Collection[LiveJob], around: ClusterRecords, now: datetime
) -> Mapping[str, str]:
    """Return by job which limit of its team or of its user it waits for, in a sentence."""
    lacking = {view.id for view in views if view.job.reason in _FOR_SOMETHING_ELSE}
    found = beyond_limits(views, lacking, around, now)
    return {
        job_id: sentence_case(f"{one.note.removesuffix('.')}.") for job_id, one in found.items()
    }


def awaited_by(job: Job) -> str:
    """Return for whom a job waits that is not stored; empty: for nobody any more."""
    entries = stored_spec.read(job.resolved_spec).spec.depends_on
    if not entries:
        return ""
    own = [one.job for one in entries if one.job is not None]
    arrays = {one.array: one.when for one in entries if one.array is not None}
    known = Job.objects.filter(Q(pk__in=own) | Q(array__in=arrays)).order_by("submitted_at", "pk")
    stands: dict[str, tuple[str, str]] = {}
    alike: defaultdict[tuple[WaitCondition, str], list[str]] = defaultdict(list)
    for job_id, name, state, array_id in known.values_list("pk", "name", "state", "array_id"):
        stands[job_id] = name, state
        if array_id in arrays:
            alike[arrays[array_id], state].append(f"{name} ({job_id})")
    for one in entries:
        if one.job is not None:
            name, state = stands.get(one.job, ("", ""))
            alike[one.when, state].append(f"{name} ({one.job})")
    return verdict_on(
        [
            AwaitedJobs(
                condition=when,
                state=JobState(state) if state else None,
                count=len(names),
                names=names,
            )
            for (when, state), names in alike.items()
        ]
    ).waits
