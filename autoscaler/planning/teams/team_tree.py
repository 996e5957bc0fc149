"""How do teams stand above one another in a pool, and what is each subtree promised?

A team's settings hold for its own jobs and those of all teams below it together. A parent without a
guarantee of its own is guaranteed what its children are; what a parent is guaranteed beyond them is
for its own jobs first. A limit below the guarantee cuts it. The pool is the root.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from autoscaler.planning.teams.user_limits import UserLimits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from autoscaler.planning.snapshot.cluster_state import TeamQuota

POOL: Final = ""  # the root's name; no team may bear it


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamNode:
    """A team with all below it. GPUs, unless it says otherwise."""

    name: str
    parent: str | None  # None: this is the pool
    children: tuple[str, ...]
    guaranteed: int
    own_guaranteed: int  # of it, what is promised to none of the children
    limit: int | None
    kept: int  # of the guarantee, what is never lent, even while it lies idle
    weight: float
    usage: float  # decayed GPU-seconds of the past


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamTree:
    """The teams of one pool. `nodes` lists every team after its children, the pool last."""

    nodes: Mapping[str, TeamNode]
    paths: Mapping[str, Sequence[TeamNode]]  # of each team: itself, its parent, and so on
    users: UserLimits = field(default_factory=UserLimits)

    @classmethod
    def of(cls, quotas: Iterable[TeamQuota], users: UserLimits | None = None) -> TeamTree:
        """The tree of these settings. A team named only as a parent has none of its own.

        A parent link that would close a circle is cut, so that every team hangs below the pool.
        """
        settings = {quota.team: quota for quota in sorted(quotas, key=lambda quota: quota.team)}
        parents = _parents(settings)
        children: defaultdict[str, list[str]] = defaultdict(list)
        for team, parent in parents.items():
            children[parent].append(team)
        nodes: dict[str, TeamNode] = {}
        for team in _children_first(children):
            below = [nodes[child] for child in children[team]]
            nodes[team] = _node(team, parents.get(team), below, settings.get(team))
        return cls(
            nodes=nodes,
            paths={team: tuple(_path(nodes, team)) for team in nodes},
            users=users or UserLimits(),
        )

    @property
    def pool(self) -> TeamNode:
        return self.nodes[POOL]

    def children(self, node: TeamNode) -> list[TeamNode]:
        return [self.nodes[child] for child in node.children]

    def path(self, team: str) -> Sequence[TeamNode]:
        """The team, its parent, and so on; the pool is left out."""
        return self.paths[team]

    @property
    def parents(self) -> Mapping[str, str]:
        """The team above each team that has one."""
        return {node.name: node.parent for node in self.nodes.values() if node.parent}


def _path(nodes: Mapping[str, TeamNode], team: str) -> Iterator[TeamNode]:
    node = nodes[team]
    while node.parent is not None:
        yield node
        node = nodes[node.parent]


def _parents(settings: Mapping[str, TeamQuota]) -> dict[str, str]:
    """The team above each team, or the pool."""
    parents: dict[str, str] = {}
    for team, quota in settings.items():
        above = quota.parent or POOL
        parents.setdefault(above, POOL)
        parents[team] = POOL if _leads_to(team, above, parents) else above
    parents.pop(POOL, None)
    return parents


def _leads_to(team: str, above: str, parents: Mapping[str, str]) -> bool:
    """True if the way up from `above` passes `team`."""
    while above != POOL:
        if above == team:
            return True
        above = parents.get(above, POOL)
    return False


def _children_first(children: Mapping[str, list[str]]) -> list[str]:
    """All teams, each after those below it; the pool last."""
    found = [POOL]
    for team in found:  # grows while it is walked
        found += sorted(children.get(team, ()))
    return found[::-1]


def _node(
    team: str, parent: str | None, below: list[TeamNode], quota: TeamQuota | None
) -> TeamNode:
    promised = sum(child.guaranteed for child in below)
    guaranteed = max(quota.guaranteed_gpus if quota else 0, promised)
    limit = quota.limit_gpus if quota else None
    guaranteed = guaranteed if limit is None else min(guaranteed, limit)
    lent_at_most = quota.lending_limit_gpus if quota else None
    return TeamNode(
        name=team,
        parent=parent,
        children=tuple(child.name for child in below),
        guaranteed=guaranteed,
        own_guaranteed=max(guaranteed - promised, 0),
        limit=limit,
        kept=0 if lent_at_most is None else max(guaranteed - lent_at_most, 0),
        weight=quota.over_quota_weight if quota else 1.0,
        usage=(quota.decayed_gpu_seconds if quota else 0.0) + sum(child.usage for child in below),
    )
