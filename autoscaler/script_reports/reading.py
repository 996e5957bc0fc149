"""Which scripts have told something since the last look? What they say becomes their progress.

Only scripts that did not register are asked: the others have a coordinator that reports. Each look
reads a bounded part of a few files for each job, those that waited longest first; no tick waits.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from django.db import InterfaceError, OperationalError
from django.db.models import F, Q

from autoscaler.script_reports.pace import GenerationThroughput
from autoscaler.script_reports.report_lines import ScriptReport
from autoscaler.script_reports.sources import NewLines, WorkerFiles
from jobs.commands.observations.script_progress import ScriptProgress, record_script_progress
from jobs.job_mode import JobMode
from jobs.lifecycle import JobState
from jobs.models import Assignment, Generation
from jobs.spec import stored_spec
from jobs.spec.parts.logged_metrics import LoggedMetric

_LAST_WORDS: Final = timedelta(minutes=1)  # after its end, what a job wrote last is still read
_MOST_ASKED: Final = 8  # workers of a job: usually the first tells, with some scripts the last
_JOB_SECONDS: Final = 0.25  # of one look at one job; guessed: the patterns of ten thousand lines
_STEP: Final = "step"
_OF_JOB: Final = (
    "job__resolved_spec",
    "job__script_reading__state",
    "job__script_reading__read_at",
)


def read_scripts(now: datetime, state_dir: Path, *, has_time: Callable[[], bool]) -> int:
    """Read what is new of each job; return how many had told something."""
    count = 0
    crews: list[Crew] = [*_generations(now), *_brief_runs(now)]
    for crew in crews:
        if not has_time():
            break
        count += _read(crew, state_dir, now)
    return count


Crew = Generation | Assignment
"""The newest set of workers of a job that may have told something."""


def _generations(now: datetime) -> Iterable[Generation]:
    runs = Q(job__state__in=(JobState.RUNNING, JobState.RESCALING, JobState.STOPPING))
    has_just_ended = Q(job__finished_at__gte=now - _LAST_WORDS)
    return (
        Generation.objects.filter(runs | has_just_ended, job__mode=JobMode.RESTART)
        .filter(number=F("job__generation"))
        .select_related("job", "job__script_reading")
        .only("number", "worker_ids", "global_batch_size", *_OF_JOB)
        .order_by(F("job__script_reading__read_at").asc(nulls_first=True), "job")
    )


def _brief_runs(now: datetime) -> Iterable[Assignment]:
    """Return jobs that were over before anybody saw them run: they have no generation."""
    return (
        Assignment.objects.filter(
            job__finished_at__gte=now - _LAST_WORDS,
            job__mode=JobMode.RESTART,
            job__generation=0,
            revision=F("job__revision"),
        )
        .select_related("job", "job__script_reading")
        .only("worker_ids", "global_batch_size", *_OF_JOB)
    )


def _read(crew: Crew, state_dir: Path, now: datetime) -> bool:
    """True if it told something. One that cannot be read keeps nobody waiting."""
    try:
        return _take(crew, state_dir, now)
    except (OperationalError, InterfaceError):
        raise
    except Exception:  # whatever it is, the others go on
        extra = {"action": "read_script", "job_id": crew.job_id}
        logging.getLogger(__name__).exception("What a script tells cannot be read.", extra=extra)
        return False


def _take(crew: Crew, state_dir: Path, now: datetime) -> bool:
    memory = _Memory.of(crew)
    metrics = stored_spec.read(crew.job.resolved_spec).spec.metrics
    lines, is_counted = _news(crew, memory, state_dir, metrics)
    if not memory.has_moved:
        return False
    points = memory.pace.take(lines, counts_lines=is_counted)
    measurement = memory.pace.measurement
    record_script_progress(
        job_id=crew.job_id,
        progress=ScriptProgress(
            metrics=points,
            measurements=[measurement] if measurement and points else [],
            total_samples=memory.pace.total_samples,
        ),
        state=memory.to_json(),
        now=now,
    )
    return bool(points)


def _news(
    crew: Crew,
    memory: _Memory,
    state_dir: Path,
    metrics: Sequence[LoggedMetric],
) -> tuple[list[ScriptReport], bool]:
    """What the worker that tells most surely has told, and if its lines have to be counted.

    Reports are believed before logs: they are meant for us.
    """
    ends_at = time.monotonic() + _JOB_SECONDS
    workers = [memory.teller] if memory.teller else _asked(crew.worker_ids)
    for worker in workers:
        files = WorkerFiles(job_id=crew.job_id, worker=worker, state_dir=state_dir)
        news = memory.go_on("reports", worker, files.reports_since)
        if news.reports or memory.reports:
            memory.teller, memory.reports = worker, True
            return list(news.reports), False
        if not metrics:
            continue

        def read(position: int, files: WorkerFiles = files) -> NewLines:
            return files.log_since(position, metrics, has_time=lambda: time.monotonic() < ends_at)

        news = memory.go_on("logs", worker, read)
        if news.reports:
            memory.teller = worker
            return list(news.reports), all(one.name != _STEP for one in metrics)
    return [], False


def _asked(workers: Sequence[str]) -> list[str]:
    return list(dict.fromkeys((*workers[: _MOST_ASKED - 1], *workers[-1:])))


@dataclass(slots=True, kw_only=True)
class _Memory:
    """What is remembered from one look to the next."""

    pace: GenerationThroughput
    teller: str | None
    reports: bool  # it tells by its report file
    places: dict[str, dict[str, int]]  # read to there, by kind of file and worker
    has_moved: bool = False

    @classmethod
    def of(cls, crew: Crew) -> _Memory:
        """Those of another generation are forgotten: its workers are others."""
        number = crew.number if isinstance(crew, Generation) else 0
        reading = getattr(crew.job, "script_reading", None)
        state: dict[str, Any] = reading.state if reading else {}
        if state.get("pace", {}).get("generation") == number:
            return cls(**{**state, "pace": GenerationThroughput.from_json(state["pace"])})
        pace = GenerationThroughput(
            generation=number,
            workers=len(crew.worker_ids),
            global_batch_size=crew.global_batch_size,
        )
        return cls(pace=pace, teller=None, reports=False, places={"reports": {}, "logs": {}})

    def go_on(self, kind: str, worker: str, read: Callable[[int], NewLines]) -> NewLines:
        """Read behind the place that was reached, and remember the new one."""
        place = self.places[kind].get(worker, 0)
        news = read(place)
        if news.position != place:
            self.places[kind][worker] = news.position
            self.has_moved = True
        return news

    def to_json(self) -> dict[str, Any]:
        return {
            "pace": self.pace.to_json(),
            "teller": self.teller,
            "reports": self.reports,
            "places": self.places,
        }
