"""How does what was decided about machines come to be? Rows first; the next tick tells the cluster.

A request is a row, and what the cluster is told at each tick is what the rows say: whoever dies
between the two steps leaves nothing that the next one would ask for twice. `cluster.following.
asking` decides. All of it is written in the transaction of whoever may write now.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, Exists, OuterRef, Q

from cluster.following.asking import (
    RATE_OVER,
    AskingNode,
    AskingOutcome,
    AskingPool,
    AskingRules,
    MachineAction,
    MachineStep,
    OpenRequest,
    decide_about_machines,
    note_of_brought,
)
from cluster.following.roster import MachineWish, Roster, RosterKeeper
from cluster.models import MachineEvent, MachineRequest, Node, Pool
from cluster.nodes.following import NEW, Writing
from cluster.worker_host import HostUnavailable

EVENTS_SHOWN: Final = 10
_LONGEST_NAME: Final = 80
_LONGEST_REASON: Final = 300  # of a node's, as its column has
_SERVICE: Final = (
    *("is_schedulable", "is_draining", "leaving_because", "silent_since", "silent_reason"),
    *("giving_back_since", "is_released", "is_unfit", "idle_since"),
)
_ENDS: Final = {MachineAction.ARRIVED, MachineAction.UNUSABLE, MachineAction.WITHDRAWN}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolDemand:
    """What the newest plan says of one pool's need for machines."""

    startable_jobs: int = 0  # they wait, and would start on more nodes
    nodes_to_start: int = 1  # on so many
    price: float | None = None


def tell_the_cluster(keeper: RosterKeeper, *, now: datetime, writing: Writing) -> None:
    """Ask for what is asked for, and for nothing else, and write down which machines came.

    A machine's own lease waits for the one that asked for it, and no node may answer before: so
    this does not wait for the rest of a tick.
    """
    pending = MachineRequest.objects.filter(ended_at=None, brought_at=None).select_related("pool")
    wishes = {_wish(request): request for request in pending if request.pool.follows}
    try:
        brought = keeper.ask_for(*wishes)
    except HostUnavailable as problem:
        extra = {"action": "ask_for_machines"}
        _log.info("Nobody can be asked for machines: %s", problem, extra=extra)
        return
    for wish, request in wishes.items():
        if machine := brought.get(wish.name):
            with writing():
                _carry_out(request.pool, note_of_brought(machine, request.asked_at, now), now)


def pools_that_ask() -> Sequence[Pool]:
    """Return those that ask for machines, and those of which something of that is left over."""
    requests = MachineRequest.objects.filter(pool=OuterRef("pk"), ended_at=None)
    nodes = Node.objects.filter(pool=OuterRef("pk"))
    touched = nodes.exclude(giving_back_since=None, idle_since=None)
    rows = Pool.objects.filter(
        Q(nodes_max__isnull=False)
        | Q(needs_a_node_since__isnull=False)
        | ~Q(asking_note="")
        | Exists(requests)
        | Exists(touched)
    )
    return list(rows.order_by("name"))


def last_events(pools: Collection[Pool]) -> Mapping[str, Sequence[MachineEvent]]:
    """Return what was decided last about machines of each of these pools, newest first."""
    found: defaultdict[str, list[MachineEvent]] = defaultdict(list)
    newest = [
        MachineEvent.objects.filter(pool=pool.name).order_by("-at", "-id")[:EVENTS_SHOWN]
        for pool in pools
    ]
    if newest:
        for event in newest[0].union(*newest[1:], all=True):
            found[event.pool].append(event)
    for events in found.values():
        events.sort(key=lambda one: (one.at, one.pk), reverse=True)
    return found


def as_they_are(
    pools: Sequence[Pool], roster: Roster | None, *, busy: Collection[str], now: datetime
) -> Mapping[str, AskingPool]:
    """Return what is known of these pools, by name, but for what the plan says.

    Args:
        pools: as `pools_that_ask` returned them.
        roster: what the cluster has; None: nobody tells.
        busy: nodes where processes of ours are, whatever rows say.
        now: the time of the tick.
    """
    machines = () if roster is None else roster.machines
    staying = {one.name: not one.leaving_because for one in machines}
    # Where nobody tells, those of a pool that asks no more are its own again, and others wait.
    told_by_nobody = {pool.pk for pool in pools if roster is None and _rules(pool) is None}
    nodes: defaultdict[int, list[AskingNode]] = defaultdict(list)
    rows = Node.objects.filter(pool__in=pools).annotate(claimed=Count("claims"))
    for row in rows.order_by("name"):
        is_busy = bool(row.claimed) or row.name in busy
        is_there = staying.get(row.name, row.pool_id in told_by_nobody)
        nodes[row.pool_id].append(_node(row, is_busy=is_busy, is_there=is_there))
    pending = MachineRequest.objects.filter(pool__in=pools, ended_at=None)
    requests = {request.pool_id: _open(request) for request in pending}
    # What is of a later time was written before a clock was put back: it counts for as long.
    events = MachineEvent.objects.filter(
        pool__in=[pool.name for pool in pools], at__range=(now - RATE_OVER, now + RATE_OVER)
    )
    lately: defaultdict[tuple[str, str], list[datetime]] = defaultdict(list)
    for name, kind, at in events.values_list("pool", "kind", "at"):
        lately[name, kind].append(at)
    found = {}
    for pool in pools:
        names = {node.name for node in nodes[pool.pk]}
        bearing = {one.name for one in machines if one.bears(pool.ray_selector)}
        closed = lately[pool.name, MachineAction.CLOSED]
        given_back = [*closed, *lately[pool.name, MachineAction.GIVEN_BACK]]
        found[pool.name] = AskingPool(
            name=pool.name,
            rules=_rules(pool),
            nodes=tuple(nodes[pool.pk]),
            unused_machines=len(bearing - names),
            need_since=pool.needs_a_node_since,
            note=pool.asking_note,
            request=requests.get(pool.pk),
            asked_lately=len(lately[pool.name, MachineAction.ASKED]),
            given_back_lately=len(closed),
            given_back_at=max((at for at in given_back if at <= now), default=None),
        )
    return found


def decide_and_write(
    pools: Sequence[Pool],
    seen: Mapping[str, AskingPool],
    demand: Mapping[str, PoolDemand],
    *,
    now: datetime,
    writing: Writing,
) -> None:
    """Do what is to be done about the machines of these pools.

    Args:
        pools: as `pools_that_ask` returned them.
        seen: as `as_they_are` returned them.
        demand: what the plan says, by pool; of one that is left out nobody knows what it needs.
        now: the time of the tick.
        writing: begins a transaction. What an admin has changed meanwhile stays.
    """
    for pool in pools:
        known = _with_demand(seen[pool.name], demand.get(pool.name))
        outcome = decide_about_machines(known, now)
        idle = _idle_since(known, now) if known.is_planned else {}
        if not _is_new(pool, outcome, idle):
            continue
        with writing():
            _write(pool, outcome, idle, now)


def _with_demand(pool: AskingPool, demand: PoolDemand | None) -> AskingPool:
    if demand is None:
        return replace(pool, is_planned=pool.rules is None)
    return replace(
        pool,
        startable_jobs=demand.startable_jobs,
        nodes_to_start=demand.nodes_to_start,
        price=demand.price,
    )


def _wish(request: MachineRequest) -> MachineWish:
    """Return what is asked for; where an admin wants other machines now, it is another wish."""
    pool = request.pool
    size = pool.gpus_per_node or 1
    terms = json.dumps([pool.ray_selector, pool.is_of_gpus, size], sort_keys=True)
    return MachineWish(
        name=f"{pool.name}/{request.pk}-{zlib.crc32(terms.encode()):08x}",
        selector=pool.ray_selector,
        gpus=size if pool.is_of_gpus else 0,
        cpus=0 if pool.is_of_gpus else size,
    )


def _node(row: Node, *, is_busy: bool, is_there: bool) -> AskingNode:
    return AskingNode(
        name=row.name,
        takes_work=row.takes_work,
        is_busy=is_busy,
        is_there=is_there,
        idle_since=row.idle_since,
        silent_since=row.silent_since,
        is_cordoned=not row.is_schedulable,
        giving_back_since=row.giving_back_since,
        is_released=row.is_released,
        is_unfit=row.is_unfit,
        why_closed=row.silent_reason or row.leaving_because,
    )


def _rules(pool: Pool) -> AskingRules | None:
    if pool.nodes_max is None or pool.gpus_per_node is None or not pool.follows:
        return None
    return AskingRules(
        nodes_min=pool.nodes_min,
        nodes_max=pool.nodes_max,
        gpus_per_node=pool.gpus_per_node,
        worth_a_node=pool.worth_a_node,
        patience=timedelta(seconds=pool.patience_seconds),
        idle=timedelta(minutes=pool.idle_minutes),
        nodes_per_hour=pool.nodes_per_hour,
    )


def _open(request: MachineRequest) -> OpenRequest:
    return OpenRequest(
        asked_at=request.asked_at,
        is_told_late=request.is_told_late,
        machine=request.machine,
        brought_at=request.brought_at,
    )


def _idle_since(seen: AskingPool, now: datetime) -> dict[str, datetime | None]:
    """Return of each node whose idleness began or ended now what is to be written of it."""
    found = {}
    for node in seen.nodes:
        is_idle = seen.rules is not None and node.takes_work and not node.is_busy
        since = min(node.idle_since or now, now) if is_idle else None
        if since != node.idle_since:
            found[node.name] = since
    return found


def _is_new(pool: Pool, outcome: AskingOutcome, idle: Mapping[str, datetime | None]) -> bool:
    known = (pool.needs_a_node_since, pool.asking_note)
    return bool(outcome.steps or idle) or known != (outcome.need_since, outcome.note)


def _write(
    pool: Pool,
    outcome: AskingOutcome,
    idle: Mapping[str, datetime | None],
    now: datetime,
) -> None:
    for name, since in idle.items():
        Node.objects.filter(pool=pool, name=name).update(idle_since=since)
    for step in outcome.steps:
        _carry_out(pool, step, now)
    Pool.objects.filter(pk=pool.pk).update(
        needs_a_node_since=outcome.need_since, asking_note=outcome.note
    )


def _carry_out(pool: Pool, step: MachineStep, now: datetime) -> None:
    """Do it and tell it, unless somebody else was first."""
    if not _take(pool, step, now):
        return
    MachineEvent.objects.create(
        at=now,
        kind=step.action,
        pool=pool.name,
        node=step.node[:_LONGEST_NAME],
        reason=step.reason,
        numbers=dict(step.numbers),
    )
    extra = {"action": "machines", "pool": pool.name, "node": step.node, **step.numbers}
    what = f"{step.action.value} {step.node}".strip()
    _log.info("Machines of pool %s: %s: %s", pool.name, what, step.reason, extra=extra)


def _take(pool: Pool, step: MachineStep, now: datetime) -> bool:
    """Do it; False: it is not as it was when that was decided."""
    open_requests = pool.machine_requests.filter(ended_at=None)
    match step.action:
        case MachineAction.ASKED:
            pool.machine_requests.create(asked_at=now, reason=step.reason)
            return True
        case MachineAction.LATE:
            return bool(open_requests.update(is_told_late=True))
        case MachineAction.BROUGHT:
            return bool(open_requests.update(machine=step.node[:_LONGEST_NAME], brought_at=now))
        case action if action in _ENDS:
            return bool(open_requests.update(ended_at=now))
        case _:
            return _serve(pool, step, now)


def _serve(pool: Pool, step: MachineStep, now: datetime) -> bool:
    """Close a node, release it, or open it again; saved, so that it is a change of the node.

    What was released is leased anew first, as that of a machine that is new.
    """
    node = Node.objects.select_for_update(no_key=True).filter(pool=pool, name=step.node).first()
    was_closed_by_us = step.action is not MachineAction.CLOSED
    if node is None or was_closed_by_us == (node.giving_back_since is None):
        return False
    if step.action is MachineAction.GIVEN_BACK:
        node.is_released = True
    elif step.action is MachineAction.TAKEN_BACK:
        if node.is_released:
            node.silent_since, node.silent_reason = now, NEW
        node.is_schedulable, node.is_draining, node.leaving_because = True, False, ""
        node.giving_back_since, node.is_released, node.is_unfit = None, False, False
    else:
        if not node.is_schedulable or step.is_unfit == (node.silent_since is None):
            return False
        reason = f"it is given back: {step.reason}"[:_LONGEST_REASON]
        node.is_schedulable, node.is_draining, node.leaving_because = False, True, reason
        node.giving_back_since, node.idle_since = now, None
        node.is_unfit = step.is_unfit
    node.save(update_fields=_SERVICE)
    return True
