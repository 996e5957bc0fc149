"""What may be forgotten of simulations, and when? All of one that ended long ago."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from django.utils import timezone

from autoscaler.simulation.api import limits
from autoscaler.simulation.api.models import BaseRun, Simulation

SIMULATIONS_AT_ONCE: Final = 200  # each with a report of some hundred kilobytes


def delete_old(kept: timedelta | None, *, has_time: Callable[[], bool]) -> Mapping[str, int]:
    """Delete old simulations with their reports, in bounded batches, and tell how many."""
    BaseRun.objects.filter(made_at__lt=timezone.now() - limits.PAST_IS_KEPT).delete()
    if kept is None:
        return {}
    old = Simulation.objects.filter(finished_at__lt=timezone.now() - kept).order_by("finished_at")
    count = 0
    while has_time() and (some := list(old.values_list("pk", flat=True)[:SIMULATIONS_AT_ONCE])):
        Simulation.objects.filter(pk__in=some).delete()
        count += len(some)
    return {"simulations": count}
