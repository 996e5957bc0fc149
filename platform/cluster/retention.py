"""What may be forgotten about the cluster, and when? What is older than any chart reaches."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.utils import timezone

from cluster.models import NodeChange, UtilisationSample

KEPT: Final = timedelta(days=30)
MOST_ROWS_AT_ONCE: Final = 20_000  # guessed: a second of work, so that nothing waits for it


def delete_old() -> dict[str, int]:
    """Delete a bounded number of old rows of each kind and tell how many."""
    return {
        "utilisation_samples": _delete_old(UtilisationSample),
        "node_changes": _delete_old(NodeChange),
    }


def _delete_old(kind: type[UtilisationSample | NodeChange]) -> int:
    old = kind.objects.filter(at__lt=timezone.now() - KEPT)
    some = list(old.order_by("pk").values_list("pk", flat=True)[:MOST_ROWS_AT_ONCE])
    deleted, _ = kind.objects.filter(pk__in=some).delete()
    return deleted
