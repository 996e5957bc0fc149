"""What may be forgotten of simulations, and when? All of one that ended long ago."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.utils import timezone

from autoscaler.what_if.models import Simulation

SIMULATIONS_KEPT: Final = timedelta(days=90)
MOST_ROWS_AT_ONCE: Final = 200  # each with a report of some hundred kilobytes


def delete_old() -> dict[str, int]:
    """Delete a bounded number of old simulations and tell how many."""
    old = Simulation.objects.filter(finished_at__lt=timezone.now() - SIMULATIONS_KEPT)
    some = list(old.order_by("finished_at").values_list("pk", flat=True)[:MOST_ROWS_AT_ONCE])
    Simulation.objects.filter(pk__in=some).delete()
    return {"simulations": len(some)}
