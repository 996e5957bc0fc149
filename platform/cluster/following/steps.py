"""What has to change so that a pool has the nodes that its cluster has? Pure, and each step once.

A machine is told by its name: one that comes back under another id of the cluster is the node that
it was. A node that the cluster has no more keeps its row until its silence has lasted, and until
nothing claims it any more; who decides on that is the database, when the row is deleted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from cluster.following.labels import written
from cluster.following.roster import Roster, RosterMachine

_LONGEST_NAME: Final = 80
_LONGEST_ADDRESS: Final = 200
_LONGEST_REASON: Final = 300
MOST_GPUS: Final = 1024  # of a node
_MOST_NAMED: Final = 5
_MOST_TOLD: Final = 20  # lines about machines


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowingPool:
    """A pool whose nodes are made from a cluster's machines."""

    name: str
    selector: Mapping[str, str]
    is_of_gpus: bool  # else a slot is a GPU, or a processor where there are none
    gpus_per_node: int | None = None  # None: all that a machine has
    guaranteed: int = 0  # to all teams together


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNode:
    """A node as its row tells."""

    name: str
    pool: str
    gpus: int
    address: str
    is_claimed: bool = False
    is_schedulable: bool = True
    is_draining: bool = False
    leaving_because: str = ""
    is_given_back: bool = False  # or is about to be: `following.asking` opens it again, if at all
    silent_since: datetime | None = None


class StepKind(Enum):
    """What becomes of a node."""

    JOIN = "join"  # it is new in its pool, and closed until somebody looked what runs there
    ADJUST = "adjust"  # its machine has another address, or other GPUs
    DRAIN = "drain"  # the cluster takes it back
    REOPEN = "reopen"  # it does not, any more
    REMOVE = "remove"  # the cluster has it no more, or it is not the pool's


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of following."""

    kind: StepKind
    node: str
    pool: str
    gpus: int = 0
    address: str = ""
    reason: str = ""


@dataclass(slots=True, kw_only=True)
class FollowingPlan:
    """The steps, and what admins should know of each pool, in words."""

    steps: list[Step] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)


def plan_following(
    pools: Sequence[FollowingPool],
    known: Iterable[KnownNode],
    roster: Roster,
    *,
    now: datetime,
    lost_after: timedelta,
) -> FollowingPlan:
    """Return what has to change. `known`: all nodes of these pools, and those of the same names."""
    told: defaultdict[str, list[str]] = defaultdict(list)
    rows = {node.name: node for node in known}
    wanted = _wanted(pools, rows, roster, told)
    alive = {machine.name: machine for machine in roster.machines}
    found = FollowingPlan()
    for name, (pool, machine) in wanted.items():
        row = rows.get(name)
        if row is None:
            found.steps.append(_join(pool, machine))
        elif row.pool == pool.name:
            found.steps.extend(_kept(row, pool, machine))
        elif row.pool not in {one.name for one in pools}:
            told[pool.name].append(
                f"{name} is a node of pool {row.pool}, which follows no cluster: remove it there."
            )
    for row in rows.values():
        own_pool = next((one for one in pools if one.name == row.pool), None)
        if own_pool is None or (row.name in wanted and wanted[row.name][0] is own_pool):
            continue
        found.steps.extend(_left(row, own_pool, alive, roster, gone_since=now - lost_after))
    for pool in pools:
        own = [_gpus_of(pool, machine) for one, machine in wanted.values() if one is pool]
        found.notes[pool.name] = "\n".join([*_notes(pool, own), *_some(told[pool.name])])
    return found


def _some(told: Iterable[str]) -> Iterator[str]:
    """Each once, and no more than anybody reads."""
    lines = sorted(set(told))
    yield from lines[:_MOST_TOLD]
    if len(lines) > _MOST_TOLD:
        yield f"And {len(lines) - _MOST_TOLD} more."


def _wanted(
    pools: Sequence[FollowingPool],
    rows: Mapping[str, KnownNode],
    roster: Roster,
    told: Mapping[str, list[str]],
) -> dict[str, tuple[FollowingPool, RosterMachine]]:
    """Return the machines of each pool, by name; what cannot be a node is told.

    Of several pools that choose one the pool has it that has its node, or else the first: jobs of
    one pool do not have to leave because another one was made.
    """
    found: dict[str, tuple[FollowingPool, RosterMachine]] = {}
    for machine in roster.machines:
        choosing = [pool for pool in pools if machine.bears(pool.selector)]
        if not choosing:
            continue
        row = rows.get(machine.name)
        pool, *others = sorted(choosing, key=lambda one: row is None or row.pool != one.name)
        if why_not := _why_no_node(pool, machine, roster):
            told[pool.name].append(why_not)
            continue
        for other in others:
            told[other.name].append(
                f"{machine.name} bears the labels of pool {pool.name} as well, which has it."
            )
        found[machine.name] = (pool, machine)
    return found


def _why_no_node(pool: FollowingPool, machine: RosterMachine, roster: Roster) -> str:
    name = machine.name
    if name in roster.unusable:
        return f"{name[:_LONGEST_NAME]}: {roster.unusable[name]}"
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable() or set(name) & set(" /?#%"):
        return (
            f"{name[:_LONGEST_NAME]!r} cannot be a node's name. Give that machine one with"
            " --labels=concertina.io/node=NAME."
        )
    if not _gpus_of(pool, machine):
        has = "no GPUs" if pool.is_of_gpus else "neither GPUs nor processors"
        return f"{name} has {has} in the cluster (--num-gpus), so that it is left out."
    return ""


def _gpus_of(pool: FollowingPool, machine: RosterMachine) -> int:
    """Return how many its node has; more than there are, and it is silent, with that reason."""
    there = machine.gpus if pool.is_of_gpus else machine.gpus or machine.cpus
    return min(pool.gpus_per_node or there, MOST_GPUS) if there else 0


def _join(pool: FollowingPool, machine: RosterMachine) -> Step:
    return Step(
        kind=StepKind.JOIN,
        node=machine.name,
        pool=pool.name,
        gpus=_gpus_of(pool, machine),
        address=machine.address[:_LONGEST_ADDRESS],
        reason=machine.leaving_because[:_LONGEST_REASON],
    )


def _kept(row: KnownNode, pool: FollowingPool, machine: RosterMachine) -> Iterator[Step]:
    """Yield what is different of a node that stays in its pool."""
    now = _join(pool, machine)
    gpus = row.gpus if row.is_claimed else now.gpus  # nobody may lose one of which it has several
    if (row.gpus, row.address) != (gpus, now.address):
        yield Step(
            kind=StepKind.ADJUST, node=row.name, pool=pool.name, gpus=gpus, address=now.address
        )
    yield from _serving(row, now.reason)


def _serving(row: KnownNode, leaving_because: str) -> Iterator[Step]:
    """Drain what the cluster takes back, and open it again; what admins closed stays closed."""
    if row.is_given_back:
        return
    if leaving_because and not row.is_draining:
        yield Step(kind=StepKind.DRAIN, node=row.name, pool=row.pool, reason=leaving_because)
    elif row.leaving_because and not leaving_because:
        yield Step(kind=StepKind.REOPEN, node=row.name, pool=row.pool)


def _left(
    row: KnownNode,
    pool: FollowingPool,
    alive: Mapping[str, RosterMachine],
    roster: Roster,
    *,
    gone_since: datetime,
) -> Iterator[Step]:
    """Yield what becomes of a node that the cluster does not have for this pool."""
    if row.name in roster.unusable:
        return  # several of this name: it is silent with that reason
    is_alive = row.name in alive
    if is_alive:
        labels = written(dict(pool.selector))
        reason = f"in the cluster it has not the labels {labels} any more, or no GPUs"
        yield from _serving(row, reason[:_LONGEST_REASON])
    if row.silent_since is not None and row.silent_since > gone_since:
        return  # it may come back, or what was left running there is being stopped
    if row.silent_since is None and not is_alive and not row.is_given_back:
        return  # its agent answers, whatever Ray says
    if not row.is_claimed:
        yield Step(kind=StepKind.REMOVE, node=row.name, pool=row.pool)


def _notes(pool: FollowingPool, gpus: Sequence[int]) -> Iterator[str]:
    labels = written(dict(pool.selector))
    if not gpus:
        yield f"No machine of the cluster bears {labels}. Start one: ray start --labels={labels}"
    sizes = sorted(set(gpus))
    if len(sizes) > 1:
        listed = ", ".join(map(str, sizes[:_MOST_NAMED]))
        yield (
            f"Its nodes have different numbers of GPUs ({listed}). Give each group of machines a"
            " label and a pool of its own, or set gpus_per_node."
        )
    if (there := sum(gpus)) < pool.guaranteed:
        yield (
            f"Teams are guaranteed {pool.guaranteed} GPUs, and {there} are there now. Guarantees"
            " stay; they are met as far as there are GPUs."
        )
