"""What may be forgotten about the cluster, and when? Samples older than any chart reaches."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.utils import timezone

from cluster.models import UtilisationSample

SAMPLES_KEPT: Final = timedelta(days=30)
MOST_ROWS_AT_ONCE: Final = 20_000  # guessed: a second of work, so that nothing waits for it


def delete_old() -> dict[str, int]:
    """Delete a bounded number of old rows and tell how many."""
    old = UtilisationSample.objects.filter(at__lt=timezone.now() - SAMPLES_KEPT)
    some = list(old.order_by("pk").values_list("pk", flat=True)[:MOST_ROWS_AT_ONCE])
    deleted, _ = UtilisationSample.objects.filter(pk__in=some).delete()
    return {"utilisation_samples": deleted}
