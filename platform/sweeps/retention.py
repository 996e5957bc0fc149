"""When are sweeps forgotten? With the last of their jobs, as arrays are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db.models import QuerySet

from jobs.models import JobArray
from sweeps.models import Sweep


def delete_old(*, erase: Callable[[QuerySet[Any]], int]) -> Mapping[str, int]:
    """Delete sweeps without jobs, and then their arrays; the marks of trials went with the jobs.

    One that goes on has trials that are still to come.
    """
    deleted = erase(Sweep.objects.filter(array__jobs=None, ended_at__isnull=False))
    erase(JobArray.objects.filter(jobs=None, is_swept=True, sweep=None))
    return {"sweeps": deleted}
