"""How did the recent past go on the cluster as it is? It is replayed once for many previews.

What is replayed is kept with what came of it, because the jobs of today go on: so a preview that
changes nothing shows no change, also some minutes later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.utils import timezone

from autoscaler.simulation.api import history, limits
from autoscaler.simulation.api.errors import WorkloadRefused
from autoscaler.simulation.api.models import BaseRun
from autoscaler.simulation.api.previews.clusters import ClusterNow
from autoscaler.simulation.api.previews.pacing import paced
from autoscaler.simulation.engine.comparison.before_after import from_document, to_document
from autoscaler.simulation.engine.comparison.by_team import OutcomeByTeam, outcome_by_team
from autoscaler.simulation.engine.replay.simulator import run
from autoscaler.simulation.engine.workload.importers.concertina_json import from_json, to_json

if TYPE_CHECKING:
    from autoscaler.simulation.engine.results.records import SimulationProgress
    from autoscaler.simulation.engine.workload.trace import Trace

MOST_KEPT: Final = 20  # guessed: each has some megabytes when the past was busy


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownPast:
    """The jobs that came until `made_at`, and how each team fared with them."""

    trace: Trace
    made_at: datetime
    outcome: OutcomeByTeam | None  # None: nobody has replayed it yet


def past_for(cluster: ClusterNow, *, days: float, runs: int) -> KnownPast:
    """Return what is kept of the past, if it is fresh; else read it. It is replayed `runs` times.

    Raises:
        WorkloadRefused: there is nothing to replay.
        SimulationTooLarge: there is too much.
    """
    now = timezone.now()
    fresh = BaseRun.objects.filter(
        pk=cluster.digest, made_at__gte=now - limits.PAST_IS_KEPT
    ).first()
    if fresh is not None:
        trace = from_json(fresh.trace)
        limits.check_size(trace, runs=runs)
        return KnownPast(
            trace=trace,
            made_at=fresh.made_at,
            outcome=from_document(fresh.outcome),
        )
    known = {pool.name for pool in cluster.settings.pools}
    trace = history.trace(days=days)
    trace = replace(trace, jobs=tuple(job for job in trace.jobs if job.pool in known))
    if not trace.jobs:
        raise WorkloadRefused(
            f"No job of the last {days:g} days has run long enough for its speed to be measured,"
            " so there is nothing to replay. Look further back."
        )
    limits.check_size(trace, runs=runs)
    return KnownPast(trace=trace, made_at=now, outcome=None)


def replayed(
    past: KnownPast,
    cluster: ClusterNow,
    on_progress: Callable[[SimulationProgress], None],
) -> OutcomeByTeam:
    """Replay the past on the cluster as it is, and keep it for other previews."""
    settings = paced(cluster.settings, past.trace)
    result = run(past.trace, settings, on_progress=on_progress)
    outcome = outcome_by_team(result, cluster.settings)
    BaseRun.objects.update_or_create(
        digest=cluster.digest,
        defaults={
            "made_at": past.made_at,
            "trace": to_json(past.trace),
            "outcome": to_document(outcome),
        },
    )
    newest = BaseRun.objects.order_by("-made_at", "pk").values("pk")[:MOST_KEPT]
    BaseRun.objects.exclude(pk__in=newest).delete()
    return outcome
