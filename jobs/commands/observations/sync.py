"""What do reports of coordinators change? The answer to each is the state that is wanted.

Reports are whole states, so a repeated or late one changes nothing: histories are keyed by their
numbers, the rest is overwritten. Reports of several jobs take two statements in one transaction,
however much they hold, and no host calls: one reads the jobs, another writes what was reported.
What happens rarely (a generation began, a worker is slow, a job's state changes) takes some more.

One job keeps no other back: where somebody holds its row its report waits for the next round, and
if something goes wrong nothing is kept, and each report is stored by itself.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q

from autoscaler.job_vocabulary import StoredReason
from concertina_worker.protocol import Desired, DesiredAction
from jobs.changes import demand_signal
from jobs.changes.transitions import move
from jobs.commands.observations import reporting_job
from jobs.commands.observations.generations import cost_of, store_generations
from jobs.commands.observations.job_as_a_whole import known_now
from jobs.commands.observations.pauses import between_points, until_next_report
from jobs.commands.observations.reported_events import ReportedEvents
from jobs.commands.observations.reporting_job import ReportingJob
from jobs.commands.observations.rows import one_statement
from jobs.commands.observations.rows.measurements import (
    MEASUREMENTS,
    keep_the_newest,
    rows_of_measurements,
)
from jobs.commands.observations.rows.metrics import METRICS, progress_of, rows_of_metrics
from jobs.commands.observations.rows.one_statement import ObservationDraft
from jobs.commands.observations.rows.workers import WORKERS, rows_of_workers
from jobs.commands.observations.script_warnings import store_warnings
from jobs.commands.observations.service_time import ServiceTime
from jobs.errors import (
    CoordinatorReplaced,
    JobNotFound,
    JobOver,
    JobsError,
    NotTheCoordinator,
)
from jobs.lifecycle import ACTIVE, FINAL, JobState
from jobs.models import Generation, MetricPoint
from jobs.reports.job_token import Credential
from jobs.reports.sync_report import CheckedSyncReport

PARTS: Final = (METRICS, MEASUREMENTS, WORKERS)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivedReport:
    """A report, and by which credential it came."""

    job_id: str
    report: CheckedSyncReport
    credential: Credential


MOST_UNANSWERED: Final = 2  # each may have taken as long as a statement may
HELD: Final = "held"  # by somebody else: nothing was stored, and it may be tried again
Outcome = Desired | Exception | Literal["held"]


def record_sync(
    *, job_id: str, report: CheckedSyncReport, credential: Credential, now: datetime
) -> Desired:
    """Store what one coordinator reports, and return what it should do; wait for the job's row.

    Raises:
        JobNotFound: there is no such job.
        NotTheCoordinator: the credential is that of a worker.
        JobOver: it has ended, and what it said until then is all there is to be known.
        CoordinatorReplaced: it was on a node that was lost, say; another speaks for the job now.
    """
    with transaction.atomic():
        job = reporting_job.hold(job_id)
        if job is None:
            raise JobNotFound
        arrived = ArrivedReport(job_id=job_id, report=report, credential=credential)
        outcome = _stored({job_id: job}, [arrived], now)[job_id]
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def record_syncs(arrived: Sequence[ArrivedReport], *, now: datetime) -> dict[str, Outcome]:
    """Store reports, each of another job; return what becomes of each: by job, as `record_sync`.

    Nobody is waited for who holds a job's row.
    """
    try:
        return _together(arrived, now)
    except Exception as problem:  # noqa: BLE001 - whatever it is, it is of one of them
        if len(arrived) == 1:
            return {arrived[0].job_id: problem}
        extra = {"action": "sync"}
        _log.warning("Reports are stored one by one: %s", problem, extra=extra)
        return _one_by_one(arrived, now)


def _one_by_one(arrived: Sequence[ArrivedReport], now: datetime) -> dict[str, Outcome]:
    """Find the one to blame. A database that does not answer for two is not asked again."""
    outcomes: dict[str, Outcome] = {}
    unanswered: list[Exception] = []
    for one in arrived:
        if len(unanswered) >= MOST_UNANSWERED:
            outcomes[one.job_id] = unanswered[-1]
            continue
        outcome = outcomes[one.job_id] = record_syncs([one], now=now)[one.job_id]
        if isinstance(outcome, OperationalError | InterfaceError):
            unanswered.append(outcome)
    return outcomes


def _together(arrived: Sequence[ArrivedReport], now: datetime) -> dict[str, Outcome]:
    with transaction.atomic():
        job_ids = [one.job_id for one in arrived]
        jobs = reporting_job.hold_free(job_ids)
        outcomes: dict[str, Outcome] = {**_stored(jobs, arrived, now)}
        left = [job_id for job_id in job_ids if job_id not in jobs]
        there = reporting_job.there(left) if left else set()
        outcomes |= {job_id: HELD if job_id in there else JobNotFound() for job_id in left}
    return outcomes


def _stored(
    jobs: Mapping[str, ReportingJob], arrived: Sequence[ArrivedReport], now: datetime
) -> dict[str, Desired | JobsError]:
    """Store the reports of jobs whose rows are held, as far as they are to be believed."""
    outcomes: dict[str, Desired | JobsError] = {}
    taken: list[tuple[ReportingJob, CheckedSyncReport, ObservationDraft]] = []
    for one in arrived:
        job = jobs.get(one.job_id)
        if job is None:
            continue
        if refusal := _refusal(job, one):
            outcomes[job.id] = refusal
        else:
            taken.append((job, one.report, _draft(job, one.report, now)))
    answers = one_statement.write([draft for _, _, draft in taken], PARTS, now) if taken else {}
    for job, report, draft in taken:
        keep_the_newest(job.id, answers[job.id][PARTS.index(MEASUREMENTS)])
        began = draft.changes.get("generation")
        if _is_up_to_date(job, report) or began is not None:
            demand_signal.announce_demand(job.id)
        outcomes[job.id] = _desired(job, report, began or job.newest_generation or 0, now)
    return outcomes


def _refusal(job: ReportingJob, arrived: ArrivedReport) -> JobsError | None:
    credential = arrived.credential
    if credential.term is None and not job.takes_workers_token:
        return NotTheCoordinator()
    if job.state in FINAL:
        return JobOver()
    if {arrived.report.term, credential.term} - {None} != {job.coordinator_term}:
        return CoordinatorReplaced()
    return None


def _draft(job: ReportingJob, report: CheckedSyncReport, now: datetime) -> ObservationDraft:
    """Say what is new, and write what happens rarely."""
    time, reported_events = ServiceTime.of(job, now), ReportedEvents(job.id)
    is_late = _is_late(job, report)
    changes = store_generations(job, report.generations, reported_events, time)
    seen = () if is_late else report.workers
    rows = {
        METRICS.name: rows_of_metrics(job, report.metrics, time),
        MEASUREMENTS.name: rows_of_measurements(job, report.measurements),
        WORKERS.name: rows_of_workers(job, seen, reported_events, now),
    }
    changes |= store_warnings(job, report.warnings, reported_events)
    reported_events.write(now)
    if report.metrics and not is_late:
        changes |= progress_of(job, report.metrics, now)
    changes |= known_now(job, report, now)
    return ObservationDraft(job_id=job.id, changes=changes, rows=rows)


def _is_late(job: ReportingJob, report: CheckedSyncReport) -> bool:
    """True if a newer point is known: this report took longer to arrive than the one after it.

    A late report adds to histories, but does not say how far the workers or the job are now. A
    coordinator's last report is never late.
    """
    if report.finished or not report.metrics:
        return False
    generation, step = max((point.generation, point.step) for point in report.metrics)
    if generation >= job.generation and step > job.step:
        return False
    later = Q(generation__gt=generation) | Q(generation=generation, step__gt=step)
    return MetricPoint.objects.filter(later, job=job.id).exists()


def _is_up_to_date(job: ReportingJob, report: CheckedSyncReport) -> bool:
    """Move the job to running if the newest assignment is what trains now."""
    wanted = job.wanted
    is_changing = job.state in {JobState.STARTING, JobState.RESCALING}
    if not is_changing or wanted is None or not report.generation:
        return False
    trains = Generation.objects.filter(
        job=job.id, number=report.generation, revision=wanted.revision, ended_at=None
    ).first()
    return trains is not None and move(
        job.id,
        {JobState.STARTING, JobState.RESCALING},
        JobState.RUNNING,
        reason=StoredReason(wanted.reason),
        message=wanted.message,
        data={"revision": wanted.revision, **cost_of(trains)},
    )


def _desired(
    job: ReportingJob, report: CheckedSyncReport, newest_generation: int, now: datetime
) -> Desired:
    wanted, time = job.wanted, ServiceTime.of(job, now)
    is_at_rest = job.state == JobState.RUNNING and not report.finished
    is_there = wanted is not None and report.revision == wanted.revision
    runs = wanted is not None and job.state in ACTIVE
    return Desired(
        action=(DesiredAction.RUN if runs else DesiredAction.STOP).value,
        revision=wanted.revision if wanted else 0,
        attempt=wanted.attempt if wanted else job.attempt,
        workers=wanted.worker_ids if wanted else [],
        global_batch_size=wanted.global_batch_size if wanted else 0,
        next_generation=newest_generation + 1,
        report_after_seconds=until_next_report(time, is_at_rest=is_at_rest and is_there),
        point_seconds=between_points(time),
    )
