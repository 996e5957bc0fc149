"""Who wants to know what other quotas would have meant? Equal questions have one answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from tenancy.access.principal import Principal

from autoscaler.simulation.api import commands, limits, queries
from autoscaler.simulation.api.models import LIVE, BaseRun, Simulation
from autoscaler.simulation.api.previews.clusters import PreviewedClusters
from jobs.models import Job


def preview(
    principal: Principal,
    body: Mapping[str, Any],
    clusters: PreviewedClusters,
    *,
    wake_worker: Callable[[], None],
) -> tuple[Simulation, bool]:
    """Return the preview, and whether it had to be asked for.

    Raises:
        SimulationTooLarge: too many jobs came in these days.
        TooManyWaiting: enough simulations are wanted already.
    """
    with transaction.atomic():
        commands.hold_queue()  # of two who ask at once, the second finds what the first wants
        found = _asked_alike(principal, clusters)
        if found is not None:
            return found, False
        since = timezone.now() - timedelta(days=body["days"])
        limits.check_jobs(Job.objects.filter(submitted_at__gte=since).count(), runs=2)
        made = commands.request(
            title="Quota preview",
            body=body,
            requested_by=principal.name,
            owner_id=principal.person_id,
            kind=Simulation.Kind.QUOTA_PREVIEW,
            digest=clusters.digest,
        )
        transaction.on_commit(wake_worker)
    return made, True


def _asked_alike(principal: Principal, clusters: PreviewedClusters) -> Simulation | None:
    """Return one that waits or runs, or one that is compared with a past that is fresh still.

    Nobody joins what somebody else waits for: whoever stops waiting gives a preview up.
    """
    made_at = BaseRun.objects.filter(
        pk=clusters.base_digest, made_at__gte=timezone.now() - limits.PAST_IS_KEPT
    ).values("made_at")
    is_known = Q(state=Simulation.State.COMPLETED, finished_at__gte=made_at)
    alike = queries.previews_of(principal).filter(digest=clusters.digest)
    is_awaited = Q(state__in=LIVE, owner=principal.person_id)
    return alike.filter(is_awaited | is_known).first()
