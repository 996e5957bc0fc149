"""How much of the pool does each subtree take up: what it uses, and what is kept for it?

A team takes up at least what it never lends, and what is held for it; so does its parent. Borrowers
may have the rest. A parent's limit bounds what its subtree takes up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autoscaler.planning.teams.team_tree import POOL, TeamNode, TeamTree

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(slots=True)
class Occupancy:
    """GPUs by team, changed step by step. Each question costs the depth of the tree."""

    tree: TeamTree
    _used: dict[str, int] = field(default_factory=dict)  # by the team's own jobs
    _held: dict[str, int] = field(default_factory=dict)  # for the team's own jobs
    _inside: dict[str, int] = field(default_factory=dict)  # own jobs and subtrees together
    _used_inside: dict[str, int] = field(default_factory=dict)  # of these, used

    def __post_init__(self) -> None:
        for node in self.tree.nodes.values():
            self._used[node.name] = self._held[node.name] = self._used_inside[node.name] = 0
            below = self.tree.children(node)
            self._inside[node.name] = sum(max(self._inside[n.name], n.kept) for n in below)

    @property
    def withheld(self) -> int:
        """GPUs that are kept or held for somebody, and not used."""
        return self._inside[POOL] - self._used_inside[POOL]

    def inside(self, node: TeamNode) -> int:
        """Return what the team's own jobs and its sub-teams take up together."""
        return self._inside[node.name]

    def own(self, team: str) -> int:
        """Return what the team's own jobs use."""
        return self._used[team]

    def takes_up(self, team: str, gpus: int) -> int:
        """Return what more of the pool is taken up when the team uses so many GPUs more."""
        *_, (_, rise) = self._rises(team, self._rise(team, gpus))
        return rise

    def limit_reached(self, team: str, gpus: int) -> TeamNode | None:
        """The first team on the way up whose limit so many GPUs more would break."""
        for node, rise in self._rises(team, self._rise(team, gpus)):
            if node.limit is None:
                continue
            takes_up_more = rise > 0 and self._inside[node.name] + rise > node.limit
            if takes_up_more or self._used_inside[node.name] + gpus > node.limit:
                return node
        return None

    def use(self, team: str, gpus: int) -> None:
        """The team's own jobs use so many GPUs more, or fewer."""
        rise = self._rise(team, gpus)
        self._used[team] += gpus
        for node in (*self.tree.path(team), self.tree.pool):
            self._used_inside[node.name] += gpus
        if rise:
            self._apply(team, rise)

    def hold(self, team: str, gpus: int) -> None:
        """Let the team's own jobs take up at least so many GPUs from now on."""
        used, held = self._used[team], self._held[team]
        self._held[team] = gpus
        self._apply(team, max(used, gpus) - max(used, held))

    def _rise(self, team: str, gpus: int) -> int:
        used, held = self._used[team], self._held[team]
        return max(used + gpus, held) - max(used, held)

    def _rises(self, team: str, rise: int) -> Iterator[tuple[TeamNode, int]]:
        """Yield how the rise of a team's own jobs shows in each team on the way up to the pool."""
        for node in self.tree.path(team):
            yield node, rise
            inside = self._inside[node.name]
            rise = max(inside + rise, node.kept) - max(inside, node.kept)
        yield self.tree.pool, rise

    def _apply(self, team: str, rise: int) -> None:
        for node, more in list(self._rises(team, rise)):
            self._inside[node.name] += more
