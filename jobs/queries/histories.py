"""What happened in a job? Its events, generations and workers; the newest count most."""

from __future__ import annotations

from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from jobs.models import Assignment, Event, Generation, Job, Worker
from jobs.queries.curves.speeds import measured_gain, samples_per_second

MOST_ROWS = 1000  # of a job's history in one answer


def events_after(job: Job, event_id: int) -> QuerySet[Event]:
    return Event.objects.filter(job=job, pk__gt=event_id).order_by("id")[:MOST_ROWS]


def generations_of(job: Job, *, for_admin: bool = False) -> list[Generation]:
    """Return the newest generations, oldest first, each with its assignment's `decision`.

    `idle_seconds` is for how long nothing trained before it: while the job was paused, waited, or
    started again after a loss. `measured_gain` is how much faster it trained than the one before,
    0.31 for 31 %; None as long as one of both has hardly trained. An admin reads the names of other
    teams' jobs.
    """
    decision = Assignment.objects.filter(job=job, revision=OuterRef("revision"))
    newest = (
        Generation.objects.filter(job=job)
        .annotate(
            decision=Subquery(decision.values("decision")[:1]),
            planned_message=Subquery(decision.values("message")[:1]),
            message_for_admins=Subquery(decision.values("message_for_admins")[:1]),
        )
        .order_by("-number")[:MOST_ROWS]
    )
    generations: list[Any] = list(reversed(newest))  # rows with annotations
    speeds = samples_per_second(job)
    for before, after in zip([None, *generations], generations, strict=False):
        after.idle_seconds = _idle_between(before, after)
        after.measured_gain = measured_gain(speeds, before, after)
        if for_admin and after.message_for_admins and after.message == after.planned_message:
            after.message = after.message_for_admins
    return generations


def _idle_between(before: Generation | None, after: Generation) -> float:
    if before is None or before.ended_at is None:
        return 0.0
    return max((after.began_at - before.ended_at).total_seconds(), 0.0)


def workers_of(job: Job) -> list[Worker]:
    """Return the newest workers, oldest first, with their nodes and claims."""
    newest = (
        Worker.objects.filter(job=job)
        .select_related("node")
        .prefetch_related("claims")
        .order_by("-created_at", "-id")[:MOST_ROWS]
    )
    return list(reversed(newest))
