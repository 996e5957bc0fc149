"""What does a list show of each job? A few columns, and of some documents a few words.

A job's row has more than eighty columns, a dozen of them documents, some of them long. To read them
all, for a page of a hundred jobs, takes several times as long as what is shown of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.db.models import F, Func, JSONField, QuerySet
from django.db.models.functions import JSONObject

from jobs.models import Job
from jobs.queries import visible_jobs
from jobs.spec.stored_fields import BATCH, ELASTIC

_READ: Final = (
    *("id", "name", "team", "pool", "state", "reason", "message", "priority", "mode", "attempt"),
    *("generation", "failures", "losses", "rescales", "submitted_by", "submitted_at"),
    *("started_at", "finished_at", "last_rescaled_at", "epoch", "step", "samples"),
    *("total_samples", "samples_per_second", "values", "gpu_seconds", "noise_scale"),
    *("first_noise_scale", "earlier_run", "batch_limits", "prediction", "labels"),
    *("array_id", "trial", "schedule", "schedule_name", "scheduled_for"),
)
_OWNERS: Final = {"team": ("name",), "pool": ("name", "gpu_type")}
_PARTS: Final = {
    "resolved_spec": JSONObject(elastic=ELASTIC.lookup, batch=BATCH.lookup),
    "explanation": Func(  # what it does not say is left out
        JSONObject(
            action="explanation__action",
            workers="explanation__workers",
            explanation=JSONObject(position="explanation__explanation__position"),
        ),
        function="jsonb_strip_nulls",
        output_field=JSONField(),
    ),
}
"""Documents that are read in part."""


def read(jobs: QuerySet[Job], *, order: Sequence[str], most: int) -> list[Job]:
    """Return the first of these jobs as far as a list shows them; they share teams and pools.

    Documents are taken apart after the first jobs were found, not before all are sorted.
    """
    parts = {f"part_of_{name}": part for name, part in _PARTS.items()}
    owners = {
        f"{owner}_{column}": F(f"{owner}__{column}")
        for owner, columns in _OWNERS.items()
        for column in columns
    }
    first = Job.objects.filter(pk__in=first_of(jobs, order=order, most=most))
    rows = visible_jobs.with_numbers(first).order_by(*order)
    found = list(rows.select_related(None).only(*_READ).annotate(**parts, **owners))
    shared: dict[tuple[str, int], Any] = {}
    for job in found:
        for name in _PARTS:
            setattr(job, name, getattr(job, f"part_of_{name}"))
        for owner, columns in _OWNERS.items():
            _share(job, owner, columns, shared)
    return found


def first_of(jobs: QuerySet[Job], *, order: Sequence[str], most: int) -> QuerySet[Any, Any]:
    """Return which jobs those are, to be read in the same statement."""
    return jobs.order_by(*order).values("pk")[:most]


def _share(
    job: Job, owner: str, columns: tuple[str, ...], shared: dict[tuple[str, int], Any]
) -> None:
    key = getattr(job, f"{owner}_id")
    if (owner, key) not in shared:
        read = {column: getattr(job, f"{owner}_{column}") for column in columns}
        field: Any = Job._meta.get_field(owner)  # noqa: SLF001 - Django's own word
        shared[owner, key] = field.remote_field.model(pk=key, **read)
    setattr(job, owner, shared[owner, key])
