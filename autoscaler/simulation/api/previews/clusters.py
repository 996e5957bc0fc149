"""Which two clusters does a preview compare? The one there is, and the one that somebody thinks of.

Both are as they are meant to be: nodes that are away for the moment count, and past usage does not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autoscaler.control_loop.observe.for_planner.pool_view import pools
from autoscaler.control_loop.observe.for_planner.team_quotas import team_quotas
from autoscaler.installed_policies import installed_policies
from autoscaler.planning.snapshot.cluster_state import PlannedNode, PlannedPool, TeamQuota
from autoscaler.simulation.api.workloads import resized
from autoscaler.simulation.engine.replay.settings import Knowledge, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNow:
    """The cluster as it is; the digest tells equal ones, and how many days are replayed there."""

    settings: Settings
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedClusters:
    """The cluster as it is and as it would be. The digest tells equal questions."""

    now: ClusterNow
    after: Settings
    digest: str


def cluster_now(*, days: float) -> ClusterNow:
    """Return the cluster as it is meant to be; this is a handful of statements."""
    here = [_whole(pool) for pool in pools() if pool.nodes]
    quotas = [replace(quota, decayed_gpu_seconds=0.0) for quota in team_quotas()]
    settings = _settings(here, quotas)
    return ClusterNow(settings=settings, digest=digest_of(days, settings))


def clusters_for(body: Mapping[str, Any]) -> PreviewedClusters:
    """Return both clusters of a checked request.

    Raises:
        WorkloadRefused: more GPUs would go than there are.
    """
    now = cluster_now(days=body["days"])
    after = _settings(_changed_pools(now.settings, body), _changed_quotas(now.settings, body))
    return PreviewedClusters(now=now, after=after, digest=digest_of(now.digest, after))


def _whole(pool: PlannedPool) -> PlannedPool:
    nodes = sorted(pool.nodes, key=lambda node: node.name)
    return replace(pool, nodes=tuple(PlannedNode(name=one.name, gpus=one.gpus) for one in nodes))


def _settings(planned: Sequence[PlannedPool], quotas: Sequence[TeamQuota]) -> Settings:
    """Speeds count as known: the jobs have run before, and nothing has to be fitted anew."""
    return Settings(
        pools=tuple(planned),
        policies=installed_policies(),
        quotas=tuple(quotas),
        paces_events=True,
        knowledge=Knowledge.ORACLE,
        statistical_efficiency=True,
    )


def _changed_pools(here: Settings, body: Mapping[str, Any]) -> list[PlannedPool]:
    added = {change["pool"]: change["add_gpus"] for change in body["pools"]}
    return [replace(pool, nodes=resized(pool, added.get(pool.name, 0))) for pool in here.pools]


def _changed_quotas(here: Settings, body: Mapping[str, Any]) -> list[TeamQuota]:
    changes = {(change["team"], change["pool"]): change for change in body["quotas"]}
    return [
        replace(quota, **_without_place(changes.get((quota.team, quota.pool), {})))
        for quota in here.quotas
    ]


def _without_place(change: Mapping[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in change.items() if field not in {"team", "pool"}}


def digest_of(question: object, settings: Settings) -> str:
    """The policies that there are belong to the release, which outlives no base run for long."""
    parts = (question, settings.pools, settings.quotas)
    return hashlib.sha256(json.dumps(parts, default=repr).encode()).hexdigest()
