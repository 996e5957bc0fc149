"""What may be forgotten about the cluster, and when? What is older than any chart reaches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from cluster.models import MachineEvent, MachineRequest, NodeChange, UtilisationSample


def delete_old(
    kept: timedelta | None, *, erase: Callable[[QuerySet[Any]], int]
) -> Mapping[str, int]:
    """Delete what is old of each kind, in bounded batches, and tell how many."""
    if kept is None:
        return {}
    before = timezone.now() - kept
    return {
        "utilisation_samples": erase(UtilisationSample.objects.filter(at__lt=before)),
        "node_changes": erase(NodeChange.objects.filter(at__lt=before)),
        "machine_events": erase(MachineEvent.objects.filter(at__lt=before)),
        "machine_requests": erase(MachineRequest.objects.filter(ended_at__lt=before)),
    }
