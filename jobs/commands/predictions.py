"""How are predictions kept, and held against what came of them?

The newest stands on the job. Every now and then one is kept as a row: the first, and later ones
the more rarely the longer the job has been there, so that a job leaves tens of rows and not
thousands. When it starts or is completed, each row is scored.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import F, QuerySet

from jobs.lifecycle import FINAL, State
from jobs.models import Job, Prediction

Span = Mapping[str, datetime | None]

KEPT_EVERY: Final = timedelta(seconds=30)
KEPT_EVERY_SHARE: Final = 0.1  # of the job's age: 24 rows from a minute to a day


@transaction.atomic
def keep(job_id: str, spans: Mapping[str, Span | None], *, made_at: datetime) -> None:
    """Put the newest prediction on the job; keep a row of it from time to time.

    A job whose row is held at this moment keeps the one before.
    """
    free = Job.objects.select_for_update(no_key=True, skip_locked=True)
    job = free.filter(pk=job_id).exclude(state__in=FINAL).first()
    if job is None:
        return
    document = {"made_at": made_at.isoformat()} | {
        kind: None if span is None else {name: _text(moment) for name, moment in span.items()}
        for kind, span in spans.items()
    }
    Job.objects.filter(pk=job_id).update(prediction=document)
    gap = max(KEPT_EVERY, (made_at - job.submitted_at) * KEPT_EVERY_SHARE)
    kept = Prediction.objects.filter(job=job, made_at__gt=made_at - gap).values("kind")
    recent = {row["kind"] for row in kept}
    Prediction.objects.bulk_create(
        Prediction(job=job, kind=kind, made_at=made_at, **span)
        for kind, span in spans.items()
        if span is not None and kind not in recent and _is_to_come(job, kind)
    )


def score() -> int:
    """Hold what was foretold against what has happened by now; returns how many it was."""
    started = _open(Prediction.Kind.START).filter(job__started_at__isnull=False)
    completed = _open(Prediction.Kind.FINISH).filter(job__state=State.COMPLETED)
    scored = _score(started, "started_at") + _score(completed, "finished_at")
    _open(Prediction.Kind.START).filter(job__started_at__isnull=True, job__state__in=FINAL).delete()
    _open(Prediction.Kind.FINISH).filter(job__state__in=FINAL - {State.COMPLETED}).delete()
    return scored


def _open(kind: Prediction.Kind) -> QuerySet[Prediction]:
    return Prediction.objects.filter(kind=kind, happened_at=None)


def _score(rows: QuerySet[Prediction], moment: str) -> int:
    """A null percentile lies later than anything that has happened."""
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
