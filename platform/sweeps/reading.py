"""Which sweeps may a caller see, and how did their trials go?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection
from django.db.models import Q
from django.utils import timezone
from tenancy.access.principal import Principal
from tenancy.audit import records

from jobs.errors import BadCursor
from jobs.models import Job, JobArray
from jobs.queries.curves import of_many
from jobs.queries.listing import arrays
from jobs.queries.listing.arrays import ArrayStanding
from sweeps import standings
from sweeps.errors import SweepNotFound
from sweeps.models import Sweep, SweepMark
from sweeps.search import halving, terms
from sweeps.search.terms import SweepTerms
from sweeps.standings import TrialJob

MOST_ON_A_PAGE: Final = 200
MOST_CURVES: Final = 100  # guessed: more lines than a chart can show apart
_MOST_POINTS: Final = 60  # of a curve
_CURVES: Final = """
    {every},
    placed AS (
        SELECT *, count(*) OVER (PARTITION BY job) AS total,
            row_number() OVER (PARTITION BY job ORDER BY at, generation, step) AS place
        FROM every WHERE value IS NOT NULL
    )
    SELECT job, resource, value FROM placed
    WHERE total <= %(points)s OR place * %(points)s %% total < %(points)s
    ORDER BY job, place
"""
_LOGGED: Final = """CASE WHEN jsonb_typeof("values" -> metric) = 'number'
    THEN ("values" ->> metric)::float8 END"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepStanding:
    """A sweep, and how the jobs of its array stand."""

    sweep: Sweep
    wanted: SweepTerms
    standing: ArrayStanding


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPage:
    """Some sweeps, the newest first; `next_cursor` None: these were the last."""

    items: Sequence[SweepStanding]
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTrial:
    """A trial, with what is known of it."""

    job: Job
    trial: TrialJob
    marks: Sequence[SweepMark]
    is_best: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSweep(SweepStanding):
    """A sweep with its trials, and what to know when it was just submitted."""

    items: Sequence[ShownTrial]
    notes: Sequence[str]

    @property
    def best(self) -> str | None:
        return next((one.job.pk for one in self.items if one.is_best), None)


def page_of(principal: Principal, *, team: str, limit: int, cursor: str) -> SweepPage:
    """Return sweeps of a team, if one is given, in three statements at most.

    Raises:
        BadCursor: it names no sweep that the principal sees.
    """
    seen = Sweep.objects.filter(array__team__in=principal.seen_ids).select_related("array__team")
    found = seen.filter(array__team__name=team) if team else seen
    if cursor:
        last = seen.filter(pk=cursor).first()
        if last is None:
            raise BadCursor
        at = last.array.submitted_at
        earlier = Q(array__submitted_at__lt=at) | Q(array__submitted_at=at, pk__gt=last.pk)
        found = found.filter(earlier)
    rows = list(found.defer("spec").order_by("-array__submitted_at", "pk")[: limit + 1])
    page = rows[:limit]
    more = page[-1].pk if len(rows) > limit else None
    return SweepPage(items=standing_of(principal, page), next_cursor=more)


def find(principal: Principal, sweep_id: str) -> Sweep:
    """Return one sweep. Raises: SweepNotFound (unknown, or of another team)."""
    seen = Sweep.objects.filter(array__team__in=principal.seen_ids)
    sweep = seen.select_related("array__team").filter(pk=sweep_id).first()
    if sweep is None:
        raise SweepNotFound
    records.note_target(team_id=sweep.array.team_id)
    return sweep


def standing_of(principal: Principal, sweeps: Sequence[Sweep]) -> Sequence[SweepStanding]:
    """Return how these stand, in one statement."""
    by_array = {sweep.array: sweep for sweep in sweeps}
    return [
        SweepStanding(
            sweep=by_array[one.array], wanted=terms.read(by_array[one.array].terms), standing=one
        )
        for one in arrays.standing_of(principal, list[JobArray](by_array))
    ]


def shown(principal: Principal, sweep: Sweep, *, notes: Sequence[str] = ()) -> ShownSweep:
    """Return a sweep with its trials; five statements, however many these are."""
    (found,) = standing_of(principal, [sweep])
    return ShownSweep(
        sweep=sweep,
        wanted=found.wanted,
        standing=found.standing,
        items=_trials_of(sweep, found.wanted),
        notes=notes,
    )


def curves_of(sweep: Sweep) -> Sequence[Mapping[str, Any]]:
    """Return the metric over the resource, of the first trials; two statements."""
    wanted = terms.read(sweep.terms)
    column = standings.COLUMN[wanted.asha.resource if wanted.asha else "epochs"]
    ran = Job.objects.filter(array=sweep.pk, started_at__isnull=False)
    jobs = list(ran.only("id", *of_many.COLUMNS).order_by("submitted_at", "pk")[:MOST_CURVES])
    found: dict[str, list[tuple[float, float]]] = {job.id: [] for job in jobs}
    if jobs:
        metrics = {job.id: wanted.metric.name for job in jobs}
        asked = of_many.parameters(jobs, metrics, points=_MOST_POINTS, now=timezone.now())
        every = of_many.every(f"{column}::float8 AS resource, {_LOGGED} AS value")
        with connection.cursor() as cursor:
            cursor.execute(_CURVES.format(every=every), asked)
            for job, resource, value in cursor.fetchall():
                found[job].append((resource, value))
    return [
        {
            "job_id": job,
            "resources": [resource for resource, _ in points],
            "values": [value for _, value in points],
        }
        for job, points in found.items()
    ]


def _trials_of(sweep: Sweep, wanted: SweepTerms) -> Sequence[ShownTrial]:
    """Return all trials that were submitted and are there, by their numbers."""
    trials = standings.read(sweep.pk, wanted)
    rungs = len(wanted.asha.levels) if wanted.asha else 0
    best = halving.best_of(standings.at_the_end(trials, rungs), wanted.metric.goal)
    marks: dict[str, list[SweepMark]] = {}
    for mark in SweepMark.objects.filter(sweep=sweep.pk).order_by("job_id", "rung"):
        marks.setdefault(mark.job_id, []).append(mark)
    columns = ("id", "name", "trial", "state", "ends_as", "reason", "message", "gpu_seconds")
    jobs = {job.id: job for job in Job.objects.filter(array=sweep.pk).only(*columns)}
    return [
        ShownTrial(
            job=jobs[one.id], trial=one, marks=marks.get(one.id, ()), is_best=one.number == best
        )
        for one in trials
        if one.id in jobs
    ]
