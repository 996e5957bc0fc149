"""How are predictions kept, and compared with what came true?

The newest is on the job. Now and then one is kept as a row: the first, and later ones more rarely
the older the job is, so that a job leaves tens of rows and not thousands. When the job starts or is
completed, each row is scored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import connection
from django.db.models import F, Max, QuerySet

from jobs.lifecycle import FINAL, JobState
from jobs.models import Job, Prediction

Span = Mapping[str, datetime | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedSpan:
    """A range as it is told, the same before it was corrected, and what it rests on."""

    span: Span
    replayed: Span
    basis: str

    @property
    def is_range(self) -> bool:
        """False: all that is told is that it comes later than was looked ahead."""
        return self.span["p10"] is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestPrediction:
    """What is predicted of a job, and in how many of the last cases like it that came true.

    `samples_left` is the work that it had left then; None: nobody knows.
    """

    start: PredictedSpan | None = None
    finish: PredictedSpan | None = None
    lately: Mapping[str, int] | None = None
    samples_left: int | None = None

    @property
    def by_kind(self) -> Mapping[str, PredictedSpan | None]:
        return {"start": self.start, "finish": self.finish}


KEPT_EVERY: Final = timedelta(seconds=30)
KEPT_EVERY_SHARE: Final = 0.1  # of the job's age: 24 rows from a minute to a day

_WRITE: Final = """
    WITH free AS MATERIALIZED (
        SELECT id FROM jobs_job WHERE id = ANY(%(id)s) AND state <> ALL(%(final)s)
        FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE jobs_job SET prediction = predicted.document::jsonb
    FROM unnest(%(id)s::text[], %(document)s::text[]) AS predicted (id, document)
    WHERE jobs_job.id = predicted.id AND jobs_job.id IN (SELECT id FROM free)
    RETURNING jobs_job.id
"""


def keep(newest: Mapping[str, NewestPrediction], *, made_at: datetime) -> None:
    """Put the newest predictions on their jobs; keep rows of them from time to time.

    A job whose row is locked at this moment keeps the prediction before. Rows are locked for one
    statement only: whoever predicts has little of the processor where others want it.
    """
    documents = {job_id: _document(one, made_at) for job_id, one in newest.items()}
    with connection.cursor() as cursor:
        parameters: dict[str, list[str]] = {
            "id": list(documents),
            "document": [json.dumps(document) for document in documents.values()],
            "final": [str(state) for state in FINAL],
        }
        cursor.execute(_WRITE, parameters)
        written = [job_id for (job_id,) in cursor.fetchall()]
    jobs = Job.objects.filter(pk__in=written).only("submitted_at", "started_at")
    known = _kept_at(written)
    Prediction.objects.bulk_create(
        _row(job, kind, prediction, made_at)
        for job in jobs
        for kind, prediction in newest[job.pk].by_kind.items()
        if prediction is not None
        and prediction.is_range
        and _is_to_come(job, kind)
        and _is_long_ago(known.get((job.pk, kind)), job, made_at)
    )


def _row(job: Job, kind: str, prediction: PredictedSpan, made_at: datetime) -> Prediction:
    replayed = {f"replayed_{name}": moment for name, moment in prediction.replayed.items()}
    return Prediction(
        job=job, kind=kind, made_at=made_at, basis=prediction.basis, **prediction.span, **replayed
    )


def _document(newest: NewestPrediction, made_at: datetime) -> dict[str, object]:
    spans = {
        kind: None
        if prediction is None
        else {name: _text(moment) for name, moment in prediction.span.items()}
        for kind, prediction in newest.by_kind.items()
    }
    return {
        "made_at": made_at.isoformat(),
        **spans,
        "lately": newest.lately,
        "samples_left": newest.samples_left,
    }


def _kept_at(job_ids: Sequence[str]) -> Mapping[tuple[str, str], datetime]:
    """Return when a row was last kept, by job and kind."""
    rows = Prediction.objects.filter(job__in=job_ids).order_by()
    newest = rows.values_list("job", "kind").annotate(Max("made_at"))
    return {(job_id, kind): made_at for job_id, kind, made_at in newest}


def _is_long_ago(kept_at: datetime | None, job: Job, made_at: datetime) -> bool:
    gap = max(KEPT_EVERY, (made_at - job.submitted_at) * KEPT_EVERY_SHARE)
    return kept_at is None or kept_at <= made_at - gap


def score() -> int:
    """Compare predictions with what has happened; return how many were compared."""
    started = _open(Prediction.Kind.START).filter(job__started_at__isnull=False)
    completed = _open(Prediction.Kind.FINISH).filter(job__state=JobState.COMPLETED)
    scored = _score(started, "started_at") + _score(completed, "finished_at")
    _open(Prediction.Kind.START).filter(job__started_at__isnull=True, job__state__in=FINAL).delete()
    _open(Prediction.Kind.FINISH).filter(job__state__in=FINAL - {JobState.COMPLETED}).delete()
    return scored


def _open(kind: Prediction.Kind) -> QuerySet[Prediction]:
    return Prediction.objects.filter(kind=kind, happened_at=None)


def _score(rows: QuerySet[Prediction], moment: str) -> int:
    """Compare one prediction; a null percentile lies later than anything that has happened."""
    scored = 0
    for row in rows.annotate(at=F(f"job__{moment}")):
        is_after = row.p10 is not None and row.p10 <= row.at
        is_before = row.p90 is None or row.at <= row.p90
        scored += rows.model.objects.filter(pk=row.pk, happened_at=None).update(
            happened_at=row.at, held=is_after and is_before
        )
    return scored


def _is_to_come(job: Job, kind: str) -> bool:
    return kind != Prediction.Kind.START or job.started_at is None


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
