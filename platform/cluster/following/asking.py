"""When does a pool ask its cluster for one more machine, and when is one given back? Pure.

A pool with `nodes_max` asks for one machine at a time. What it asked for, and since when it has had
a need, is in the database, so that whoever decides next goes on where the last one ended.

A node is given back in two steps, each of a tick of its own: it is closed, so that nothing starts
there; and once nothing of ours runs there, its lease is released, and the cluster sees that it is
idle. Until the cluster has taken it, a new need takes it back, and asks for no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

LATE_AFTER: Final = timedelta(minutes=10)  # guessed: clouds take some minutes for a machine
RATE_OVER: Final = timedelta(hours=1)
UNFIT_FOR: Final = timedelta(hours=1)  # guessed: whoever mends machines has looked by then
MOST_NODES: Final = 1000
LONGEST_PATIENCE: Final = 86_400  # seconds
SHORTEST_PATIENCE: Final = 10  # seconds; GPUs that are on their way back are there by then
LONGEST_IDLENESS: Final = 10_080  # minutes: a week
MOST_PER_HOUR: Final = 1000
LARGEST_WORTH: Final = 1e9

Numbers = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingRules:
    """Between which bounds a pool asks for machines and gives them back, and how quickly."""

    nodes_min: int
    nodes_max: int
    gpus_per_node: int
    worth_a_node: float | None  # a price per GPU; None: only jobs that wait count
    patience: timedelta  # a need has to last for so long
    idle: timedelta  # a node that does nothing for so long is given back
    nodes_per_hour: int  # asked for, and as many given back


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRequest:
    """What the pool has asked for, and was not brought yet, or not for long."""

    asked_at: datetime
    is_told_late: bool = False
    machine: str = ""  # that was brought; empty: none yet
    brought_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingNode:
    """A node of the pool, as far as it matters here."""

    name: str
    takes_work: bool = True
    is_busy: bool = False  # a job has GPUs of it, or a process of ours is there
    is_there: bool = True  # the cluster has its machine, and does not take it back by itself
    idle_since: datetime | None = None
    silent_since: datetime | None = None
    is_cordoned: bool = False  # by whomever
    giving_back_since: datetime | None = None
    is_released: bool = False
    is_unfit: bool = False  # it took no work, for which it is given back
    why_closed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingPool:
    """One pool at one moment. `rules` None: it asks for nothing, any more."""

    name: str
    rules: AskingRules | None
    nodes: tuple[AskingNode, ...] = ()
    is_planned: bool = True  # False: nobody knows what it needs now
    unused_machines: int = 0  # they bear its labels, and are no nodes
    startable_jobs: int = 0  # they wait, and more nodes would start them
    nodes_to_start: int = 1  # so many; one after the other
    price: float | None = None  # what one more GPU would add, as the newest plan says
    need_since: datetime | None = None
    note: str = ""  # as it was told last
    request: OpenRequest | None = None
    asked_lately: int = 0  # within `RATE_OVER`
    given_back_lately: int = 0
    given_back_at: datetime | None = None  # the last time

    @property
    def kept(self) -> tuple[AskingNode, ...]:
        """Nodes that are not being given back."""
        return tuple(node for node in self.nodes if node.giving_back_since is None)

    @property
    def count(self) -> int:
        """Return how many machines count against the bounds."""
        return len(self.kept) + self.unused_machines


class MachineAction(StrEnum):
    """What is done about a machine; each is told."""

    ASKED = "asked"  # for one more
    LATE = "late"  # the cluster has brought none for long, and is asked still
    BROUGHT = "brought"  # the cluster has placed the request on a machine
    ARRIVED = "arrived"  # which takes work now
    UNUSABLE = "unusable"  # which takes no work for long
    WITHDRAWN = "withdrawn"  # nobody needs one any more
    CLOSED = "closed"  # a node that is idle: nothing starts there any more
    GIVEN_BACK = "given_back"  # its lease is released
    TAKEN_BACK = "taken_back"  # there is work for it again


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineStep:
    """One thing to do, why, and with which numbers."""

    action: MachineAction
    reason: str
    node: str = ""
    numbers: Numbers = field(default_factory=dict)
    is_unfit: bool = False  # of one that is closed: a need asks for another instead


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingOutcome:
    """What is to be done, what is to be remembered, and what admins should know meanwhile."""

    steps: tuple[MachineStep, ...] = ()
    need_since: datetime | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineNeed:
    """Why the pool could do with one more machine. An urgent one waits for nobody's patience."""

    reason: str
    numbers: Numbers
    is_urgent: bool = False


def decide_about_machines(pool: AskingPool, now: datetime) -> AskingOutcome:
    """Return what is done about this pool's machines now."""
    if pool.rules is None:
        return AskingOutcome(steps=tuple(_steps_of_one_that_asks_no_more(pool)))
    if not pool.is_planned:
        return _of_one_that_nobody_planned(pool, pool.rules, now)
    need = need_of(pool, pool.rules)
    # Whatever a clock said that was put back since, it has not been needed since tomorrow.
    since = None if need is None else min(pool.need_since or now, now)
    if pool.request is not None:
        steps, note = tuple(_about_request(pool, pool.rules, pool.request, need, now)), ""
    elif need is not None:
        steps, note = _about_need(pool, pool.rules, need, since or now, now)
    else:
        steps, note = _about_idle_nodes(pool, pool.rules, now)
    if not any(step.action is MachineAction.CLOSED for step in steps):
        steps = (*steps, *_about_unfit_nodes(pool, pool.rules, now))
    # What somebody works on again is not released; the rest goes on whatever else is decided.
    taken = {step.node for step in steps if step.action is MachineAction.TAKEN_BACK}
    released = (step for step in _releases(pool) if step.node not in taken)
    return AskingOutcome(steps=(*steps, *released), need_since=since, note=note)


def _of_one_that_nobody_planned(
    pool: AskingPool, rules: AskingRules, now: datetime
) -> AskingOutcome:
    """Nothing is asked for and nothing idle closed; what came and is of no use still goes."""
    brought: tuple[MachineStep, ...] = ()
    if pool.request is not None and pool.request.brought_at is not None:
        brought = tuple(_about_brought(pool, pool.request, pool.request.brought_at, now))
    steps = (*brought, *_about_unfit_nodes(pool, rules, now), *_releases(pool))
    return AskingOutcome(steps=steps, need_since=pool.need_since, note=pool.note)


def note_of_brought(machine: str, asked_at: datetime, now: datetime) -> MachineStep:
    """Say that a machine came. There is nothing to decide: what asked for it gives its GPUs up."""
    numbers = {"waited_seconds": (now - asked_at).total_seconds()}
    reason = f"the cluster has brought {machine}"
    return _step(MachineAction.BROUGHT, reason, node=machine, numbers=numbers)


def need_of(pool: AskingPool, rules: AskingRules) -> MachineNeed | None:
    """Say why one more machine is wanted; None: none is."""
    numbers: dict[str, float] = {"nodes": pool.count}
    if pool.count < rules.nodes_min:
        reason = f"it has {_nodes(pool.count)}, and nodes_min is {rules.nodes_min}"
        return MachineNeed(
            reason=reason, numbers={**numbers, "nodes_min": rules.nodes_min}, is_urgent=True
        )
    if pool.startable_jobs:
        numbers["startable_jobs"] = pool.startable_jobs
        jobs = (
            "a waiting job" if pool.startable_jobs == 1 else f"{pool.startable_jobs} waiting jobs"
        )
        more = "one more node" if pool.nodes_to_start == 1 else f"{pool.nodes_to_start} more nodes"
        return MachineNeed(reason=f"{jobs} would start on {more}", numbers=numbers)
    worth = rules.worth_a_node
    if worth is not None and pool.price is not None and pool.price > worth:
        reason = f"one more GPU would add {pool.price:.4g}, more than worth_a_node ({worth:g})"
        numbers |= {"price": pool.price, "worth_a_node": worth}
        return MachineNeed(reason=reason, numbers=numbers)
    return None


def _about_request(
    pool: AskingPool,
    rules: AskingRules,
    request: OpenRequest,
    need: MachineNeed | None,
    now: datetime,
) -> Iterator[MachineStep]:
    """One at a time: nothing else is asked for, and nothing closed, until this one has ended."""
    if request.brought_at is not None:
        yield from _about_brought(pool, request, request.brought_at, now)
        return
    waited = {"waited_seconds": (now - request.asked_at).total_seconds(), "nodes": pool.count}
    if pool.count >= rules.nodes_max:
        numbers = {**waited, "nodes_max": rules.nodes_max}
        reason = f"it has {_nodes(pool.count)}, and nodes_max is {rules.nodes_max}"
        yield _step(MachineAction.WITHDRAWN, reason, numbers=numbers)
    elif need is None:
        reason = "nothing needs one more node any more"
        yield _step(MachineAction.WITHDRAWN, reason, numbers=waited)
    elif not request.is_told_late and now - request.asked_at >= LATE_AFTER:
        reason = (
            "the cluster has brought no machine yet: `ray status` says what its autoscaler does."
            f" It is asked still, because {need.reason}"
        )
        yield _step(MachineAction.LATE, reason, numbers={**waited, **need.numbers})


def _about_brought(
    pool: AskingPool, request: OpenRequest, brought_at: datetime, now: datetime
) -> Iterator[MachineStep]:
    node = next((one for one in pool.nodes if one.name == request.machine), None)
    name, numbers = request.machine, {"seconds": (now - request.asked_at).total_seconds()}
    if node is not None and node.takes_work:
        yield _step(MachineAction.ARRIVED, f"{name} takes work", node=name, numbers=numbers)
    elif now - brought_at >= LATE_AFTER:
        why = "it is no node of the pool" if node is None else node.why_closed or "it is closed"
        reason = f"{name} was brought, and takes no work: {why}"
        yield _step(MachineAction.UNUSABLE, reason, node=name, numbers=numbers)


def _about_need(
    pool: AskingPool, rules: AskingRules, need: MachineNeed, since: datetime, now: datetime
) -> tuple[tuple[MachineStep, ...], str]:
    numbers: dict[str, float] = {**need.numbers, "nodes_max": rules.nodes_max}
    leaving = [node for node in pool.nodes if _may_come_back(node, now)]
    if pool.count >= rules.nodes_max:  # whoever waits gets no more, and what is idle is no help
        note = f"One more node is needed ({need.reason}), and it has nodes_max ({rules.nodes_max})."
        closed, hindrance = _about_idle_nodes(pool, rules, now)
        return closed, " ".join(filter(None, (note, hindrance)))
    if leaving:
        node = min(leaving, key=lambda one: (one.is_released, one.name))
        reason = f"it was being given back, and is there still, while {need.reason}"
        return (_step(MachineAction.TAKEN_BACK, reason, node=node.name, numbers=numbers),), ""
    quiet_since = since if pool.given_back_at is None else max(since, pool.given_back_at)
    lasted = now - quiet_since
    if lasted < rules.patience and not need.is_urgent:
        return (), ""
    if pool.asked_lately >= rules.nodes_per_hour:
        return (), (
            f"One more node is needed ({need.reason}), and {pool.asked_lately} were asked for"
            f" within an hour, which is nodes_per_hour."
        )
    numbers["needed_for_seconds"] = (now - since).total_seconds()
    return (_step(MachineAction.ASKED, need.reason, numbers=numbers),), ""


def _may_come_back(node: AskingNode, now: datetime) -> bool:
    since = node.giving_back_since
    if since is None or not node.is_there:
        return False
    return not node.is_unfit or now - since >= UNFIT_FOR


def _about_idle_nodes(
    pool: AskingPool, rules: AskingRules, now: datetime
) -> tuple[tuple[MachineStep, ...], str]:
    """Close the one that has been idle for longest, if it may go."""
    idle = [
        (node.idle_since, node.name)
        for node in pool.kept
        if node.takes_work
        and node.is_there
        and not node.is_busy
        and node.idle_since is not None
        and now - node.idle_since >= rules.idle
    ]
    if not idle or pool.count <= rules.nodes_min:
        return (), ""
    since, name = min(idle)
    if pool.given_back_lately >= rules.nodes_per_hour:
        return (), (
            f"{name} is idle, and {pool.given_back_lately} were given back within an hour, which"
            " is nodes_per_hour."
        )
    minutes = (now - since).total_seconds() / 60.0
    numbers = {"idle_minutes": minutes, "nodes": pool.count, "nodes_min": rules.nodes_min}
    reason = f"nothing has run there for {minutes:.0f} minutes"
    return (_step(MachineAction.CLOSED, reason, node=name, numbers=numbers),), ""


def _about_unfit_nodes(
    pool: AskingPool, rules: AskingRules, now: datetime
) -> Iterator[MachineStep]:
    """Close the one that has taken no work for longest: it costs as much as one that does.

    Where none of the pool's takes any, those of the fewest stay: it may be on our side.
    """
    long = max(rules.idle, LATE_AFTER)
    unfit = [
        (node.silent_since, node.name, node.why_closed)
        for node in pool.kept
        if node.is_there
        and not node.is_busy
        and not node.is_cordoned
        and node.silent_since is not None
        and now - node.silent_since >= long
    ]
    may_go = pool.count > rules.nodes_min or any(node.takes_work for node in pool.nodes)
    if not unfit or not may_go or pool.given_back_lately >= rules.nodes_per_hour:
        return
    since, name, why = min(unfit)
    minutes = (now - since).total_seconds() / 60.0
    reason = f"it has taken no work for {minutes:.0f} minutes: {why}"
    numbers = {"silent_minutes": minutes, "nodes": pool.count}
    yield MachineStep(
        action=MachineAction.CLOSED, reason=reason, node=name, numbers=numbers, is_unfit=True
    )


def _releases(pool: AskingPool) -> Iterator[MachineStep]:
    """Release those that were closed before, and where nothing is any more."""
    for node in pool.nodes:
        if node.giving_back_since is None or node.is_released or node.is_busy:
            continue
        numbers = {"nodes": pool.count}
        reason = "it is closed, and nothing runs there: the cluster may take it"
        yield _step(MachineAction.GIVEN_BACK, reason, node=node.name, numbers=numbers)


def _steps_of_one_that_asks_no_more(pool: AskingPool) -> Iterator[MachineStep]:
    reason = "the pool has no nodes_max any more"
    if pool.request is not None:
        yield _step(MachineAction.WITHDRAWN, reason, numbers={"nodes": pool.count})
    for node in pool.nodes:
        if node.giving_back_since is not None and node.is_there:
            yield _step(MachineAction.TAKEN_BACK, reason, node=node.name)


def _step(
    action: MachineAction, reason: str, *, node: str = "", numbers: Numbers | None = None
) -> MachineStep:
    return MachineStep(action=action, reason=reason, node=node, numbers=numbers or {})


def _nodes(count: int) -> str:
    return "one node" if count == 1 else f"{count} nodes"
