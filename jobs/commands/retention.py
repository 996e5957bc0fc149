"""What may be forgotten about jobs, and when? Old curves and outlived keys; never a job itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.db.models import QuerySet
from django.utils import timezone

from jobs.commands.submission import IDEMPOTENCY_WINDOW
from jobs.lifecycle import FINAL
from jobs.models import IdempotencyKey, MetricPoint, Quarantine

METRICS_KEPT: Final = timedelta(days=90)
MOST_ROWS_AT_ONCE: Final = 20_000  # guessed: a second of work, so that nothing waits for it


def delete_old() -> dict[str, int]:
    """Delete a bounded number of old rows and tell how many of each kind."""
    now = timezone.now()
    metrics = MetricPoint.objects.filter(
        at__lt=now - METRICS_KEPT, job__finished_at__lt=now - METRICS_KEPT
    )
    keys = IdempotencyKey.objects.filter(created_at__lt=now - IDEMPOTENCY_WINDOW)
    healed = Quarantine.objects.filter(job__state__in=FINAL)
    return {
        "metrics": _delete_some(metrics),
        "idempotency_keys": _delete_some(keys),
        "quarantines": _delete_some(healed),
    }


def _delete_some(
    rows: QuerySet[MetricPoint] | QuerySet[IdempotencyKey] | QuerySet[Quarantine],
) -> int:
    some = list(rows.order_by("pk").values_list("pk", flat=True)[:MOST_ROWS_AT_ONCE])
    deleted, _ = rows.model._default_manager.filter(pk__in=some).delete()  # noqa: SLF001 - its name
    return deleted
