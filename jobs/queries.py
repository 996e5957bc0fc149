"""What can be asked about jobs? Every question of the API, scoped to who asks."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db.models import F, IntegerField, Max, OuterRef, Q, QuerySet, Subquery, Sum, Window
from django.db.models.functions import Coalesce, Mod, Now, RowNumber
from tenancy.access import Principal

from jobs.errors import JobNotFound
from jobs.models import Assignment, Event, Generation, Job, MetricPoint, Worker
from jobs.speeds import measured_gain, samples_per_second

MOST_ROWS = 1000  # of a job's history in one answer


def jobs_of(principal: Principal) -> QuerySet[Job]:
    """The jobs the principal may see, with the numbers of `with_numbers`."""
    return with_numbers(Job.objects.filter(team__in=principal.team_ids))


def find_job(principal: Principal, job_id: str) -> Job:
    """Return one job of the principal's teams.

    Raises:
        JobNotFound: unknown, or of another team, which looks the same.
    """
    job = jobs_of(principal).filter(pk=job_id).first()
    if job is None:
        raise JobNotFound
    return job


def matching(
    jobs: QuerySet[Job], *, team: str, states: Collection[str], search: str
) -> QuerySet[Job]:
    """Keep the jobs of a team, in some states, whose name, id or a label value has the text."""
    if team:
        jobs = jobs.filter(team__name=team)
    if states:
        jobs = jobs.filter(state__in=states)
    if search:
        jobs = jobs.filter(Q(name__icontains=search) | Q(id=search) | Q(labels__icontains=search))
    return jobs


def with_numbers(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """Add what histories tell of each job, in the same statement.

    `workers_now` and `batch_now`: of the generation that trains, None when none does;
    `wanted_workers` and `wanted_batch`: of the newest assignment; `longest_stall`, `all_stalls`
    and `lost_work`: seconds; `trained`: for how long, as a timedelta. None: it never trained.
    """
    trains = Generation.objects.filter(job=OuterRef("pk"), ended_at=None).order_by("-number")
    wanted = Assignment.objects.filter(job=OuterRef("pk"), revision=OuterRef("revision"))
    ran = Generation.objects.filter(job=OuterRef("pk")).order_by().values("job")
    length = Coalesce("ended_at", Now()) - F("began_at")
    return jobs.select_related("team", "pool").annotate(
        workers_now=Subquery(trains.values("workers")[:1]),
        batch_now=Subquery(trains.values("global_batch_size")[:1]),
        wanted_workers=Subquery(wanted.values("worker_ids")[:1]),
        wanted_batch=Subquery(wanted.values("global_batch_size")[:1]),
        longest_stall=Subquery(ran.annotate(most=Max("stall_seconds")).values("most")),
        all_stalls=Subquery(ran.annotate(all=Sum("stall_seconds")).values("all")),
        lost_work=Subquery(ran.annotate(all=Sum("lost_work_seconds")).values("all")),
        trained=Subquery(ran.annotate(all=Sum(length)).values("all")),
    )


def events_after(job: Job, event_id: int) -> QuerySet[Event]:
    return Event.objects.filter(job=job, pk__gt=event_id).order_by("id")[:MOST_ROWS]


def generations_of(job: Job, *, for_admin: bool = False) -> list[Generation]:
    """The newest generations, oldest first, each with its assignment's `decision`.

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
    """The newest workers, oldest first, with node and claims at hand."""
    newest = (
        Worker.objects.filter(job=job)
        .select_related("node")
        .prefetch_related("claims")
        .order_by("-created_at", "-id")[:MOST_ROWS]
    )
    return list(reversed(newest))


def metrics_of(job: Job, *, points: int) -> list[MetricPoint]:
    """At most so many points, spread evenly over all there are; the newest is always there.

    Each comes with the `workers` and `global_batch_size` of its generation.
    Point n of N is kept where n·points/N passes a whole number.
    """
    rows = MetricPoint.objects.filter(job=job)
    total = rows.count()
    if total > points:
        place = Window(RowNumber(), order_by=[F("at").asc(), F("id").asc()])
        past = Mod(F("place") * points, total, output_field=IntegerField())
        rows = rows.annotate(place=place).annotate(past=past).filter(past__lt=points)
    ran = Generation.objects.filter(job=OuterRef("job"), number=OuterRef("generation"))
    sized = rows.annotate(
        workers=Subquery(ran.values("workers")[:1]),
        global_batch_size=Subquery(ran.values("global_batch_size")[:1]),
    )
    return list(sized.order_by("at", "id"))
