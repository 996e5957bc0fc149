"""How do the nodes of pools that follow a cluster become those that the cluster has?

Asked of the cluster at each tick, decided by `cluster.following.steps`, written here. An admin
cordons and drains such nodes as any other; neither adds nor removes any.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Final, Protocol

from django.db.models import Count, ProtectedError, Q
from tenancy.models import Team, settings_of_pool
from tenancy.quota_rules import total_promised

from cluster.following.roster import Roster, RosterKeeper
from cluster.following.steps import (
    FollowingPlan,
    FollowingPool,
    KnownNode,
    Step,
    StepKind,
    plan_following,
)
from cluster.models import Node, Pool
from cluster.worker_host import HostUnavailable

NEW: Final = "it is new here; what runs there is looked at first"

_log = logging.getLogger(__name__)


class Writing(Protocol):
    """Begins a transaction of whoever may write now."""

    def __call__(self) -> AbstractContextManager[None]: ...


def follow(
    keeper: RosterKeeper, *, now: datetime, lost_after: timedelta, writing: Writing
) -> Roster | None:
    """Make the nodes of all following pools those of the cluster; without such pools, nothing.

    Returns what the cluster has; None: there are no such pools, or nobody tells.
    """
    rows = list(Pool.objects.exclude(ray_selector={}).order_by("name"))
    if not rows:
        return None
    try:
        roster = keeper.roster()
    except HostUnavailable as problem:
        _log.info("Nobody tells which nodes there are: %s", problem, extra={"action": "follow"})
        return None
    plan = _plan(rows, roster, now=now, lost_after=lost_after)
    noted = [row for row in rows if row.following_note != plan.notes[row.name]]
    if not plan.steps and not noted:
        return roster
    with writing():
        for step in plan.steps:
            _take(step, {row.name: row for row in rows}[step.pool], now)
        for row in noted:
            Pool.objects.filter(pk=row.pk).update(following_note=plan.notes[row.name])
    return roster


def _plan(
    rows: Sequence[Pool], roster: Roster, *, now: datetime, lost_after: timedelta
) -> FollowingPlan:
    parents = Team.parents_by_name()
    pools = [
        FollowingPool(
            name=row.name,
            selector=row.ray_selector,
            is_of_gpus=row.is_of_gpus,
            gpus_per_node=row.gpus_per_node,
            guaranteed=total_promised(settings_of_pool(row.pk), parents),
        )
        for row in rows
    ]
    named = Q(pool__in=rows) | Q(name__in=[machine.name for machine in roster.machines])
    nodes = Node.objects.filter(named).select_related("pool").annotate(claimed=Count("claims"))
    known = [
        KnownNode(
            name=node.name,
            pool=node.pool.name,
            gpus=node.gpus,
            address=node.address,
            is_claimed=bool(node.claimed),
            is_schedulable=node.is_schedulable,
            is_draining=node.is_draining,
            leaving_because=node.leaving_because,
            is_given_back=node.giving_back_since is not None,
            silent_since=node.silent_since,
        )
        for node in nodes
    ]
    return plan_following(pools, known, roster, now=now, lost_after=lost_after)


def _take(step: Step, pool: Pool, now: datetime) -> None:
    _log.info("Node %s of pool %s: %s", step.node, step.pool, step.kind.value, extra=_extra(step))
    if step.kind is StepKind.JOIN:
        is_leaving = bool(step.reason)
        Node.objects.create(
            pool=pool,
            name=step.node,
            gpus=step.gpus,
            address=step.address,
            silent_since=now,
            silent_reason=NEW,
            is_schedulable=not is_leaving,
            is_draining=is_leaving,
            leaving_because=step.reason,
        )
        return
    node = Node.objects.select_for_update(no_key=True).filter(name=step.node, pool=pool).first()
    if node is None:
        return
    match step.kind:
        case StepKind.ADJUST:
            _adjust(node, step)
        case StepKind.DRAIN:
            reason = step.reason if node.is_schedulable else ""  # else an admin has closed it
            _serve(node, is_open=False, reason=reason)
        case StepKind.REOPEN:
            _serve(node, is_open=True, reason="")
        case _:
            _remove(node)


def _adjust(node: Node, step: Step) -> None:
    if node.gpus != step.gpus:
        node.gpus, node.gpu_uuids = step.gpus, []
    node.address = step.address
    node.save(update_fields=["gpus", "gpu_uuids", "address"])


def _serve(node: Node, *, is_open: bool, reason: str) -> None:
    node.is_schedulable, node.is_draining, node.leaving_because = is_open, not is_open, reason
    node.save(update_fields=["is_schedulable", "is_draining", "leaving_because"])


def _remove(node: Node) -> None:
    try:
        node.delete()
    except ProtectedError:  # a job that runs has, or lately had, workers there
        _log.info("Node %s is in use yet.", node.name, extra={"action": "follow"})


def _extra(step: Step) -> dict[str, str]:
    return {"action": "follow", "node": step.node}
