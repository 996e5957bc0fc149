"""How large may a job be? Read once for each job that is shown."""

from __future__ import annotations

from typing import Final

from jobs.models import Job
from jobs.spec.stored_spec import JobExtent, read_extent

_KEPT: Final = "_extent"  # with the row, which is of one request


def extent_of(job: Job) -> JobExtent:
    known: JobExtent | None = job.__dict__.get(_KEPT)
    if known is None:
        known = job.__dict__[_KEPT] = read_extent(job.resolved_spec)
    return known
