"""What does the planner see of the pools? Nodes, policies, and how they admit and reclaim."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from cluster import models as cluster
from tenancy.models import FairShareSettings

from autoscaler.control_loop.observe.for_planner.team_quotas import reclaim_rules
from autoscaler.installed_policies import installed_policies
from autoscaler.planning.policies import DEFAULT_POLICY, PolicyRefused, text_of
from autoscaler.planning.snapshot import cluster_state as planning
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from autoscaler.planning.speed.all_reduce import AllReduceTable, AllReduceTime

_log = logging.getLogger(__name__)


def pools() -> Iterable[planning.PlannedPool]:
    settings = FairShareSettings.by_pool()
    for pool in cluster.Pool.objects.prefetch_related("nodes"):
        nodes = tuple(
            planning.PlannedNode(
                name=node.name,
                gpus=node.gpus,
                is_schedulable=node.takes_work,
                is_draining=node.is_draining,
                is_silent=node.silent_since is not None,
            )
            for node in pool.nodes.all()
        )
        sharing = settings[pool.pk]
        yield planning.PlannedPool(
            name=pool.name,
            nodes=nodes,
            policy=_policy(pool),
            gpu_type=pool.gpu_type,
            all_reduce=all_reduce(pool),
            reclaim=reclaim_rules(sharing),
            usage_weight=sharing.usage_weight,
            admission=AdmissionVariant(pool.admission),
            dollars_per_gpu_hour=pool.dollars_per_gpu_hour,
        )


def all_reduce(pool: cluster.Pool) -> AllReduceTable | None:
    """The pool's table of measured times, if it has one."""
    if not pool.all_reduce:
        return None
    return AllReduceTable(times=tuple(AllReduceTime(**point) for point in pool.all_reduce))


def _policy(pool: cluster.Pool) -> str:
    """Return its text form; the default's while the extension that it needs is not installed."""
    try:
        installed_policies().made(pool.policy, pool.policy_options)
    except PolicyRefused as problem:
        extra = {"action": "plan", "pool": pool.name}
        _log.error("Pool %s is planned by %s: %s", pool.name, DEFAULT_POLICY, problem, extra=extra)
        return DEFAULT_POLICY
    return text_of(pool.policy, pool.policy_options)
