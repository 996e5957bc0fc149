"""Which nodes does the cluster have? As its head said last, for nobody waits for the head.

While it is away the question hangs, as long as Ray is patient; agents that are known answer all
the time. So it is asked in the background, whenever somebody looks, and its last answer counts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

NODE_LABEL = "concertina.io/node"
DRAINED_UNTIL = "DrainedUntil"  # ours, in rows of the head: milliseconds since 1970; 0: at no time

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RayNode:
    """A node that is alive, as far as the head knows."""

    name: str
    ray_id: str
    gpus: int
    cpus: int
    address: str = field(default="", compare=False)
    labels: Mapping[str, str] = field(default_factory=dict, compare=False)
    leaving_because: str = field(default="", compare=False)

    @property
    def document(self) -> dict[str, Any]:
        """What the service is told of it."""
        return {
            "name": self.name,
            "address": self.address,
            "labels": dict(self.labels),
            "gpus": self.gpus,
            "cpus": self.cpus,
            "leaving_because": self.leaving_because,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """One answer of the head."""

    nodes: Mapping[str, RayNode]  # by name
    why_not: Mapping[str, str]  # of names that cannot be used, or whose nodes died
    twice: Mapping[str, str] = field(default_factory=dict)  # of names that several nodes bear
    alive: Sequence[RayNode] = ()  # all, those of one name as well

    def absence_of(self, name: str) -> str:
        """Say why there is no node of this name."""
        if name in self.why_not:
            return self.why_not[name]
        there = ", ".join(sorted(self.nodes)[:5]) or "none"
        return (
            f"the Ray cluster has no node of this name, by its label {NODE_LABEL} or its host's"
            f" name (it has: {there}). Start one there: ray start --labels={NODE_LABEL}={name}"
        )


def read(rows: Rows) -> Members:
    """Read what `ray.nodes()` returned."""
    alive: dict[str, list[RayNode]] = {}
    dead: dict[str, str] = {}
    for row in rows:
        name = row["Labels"].get(NODE_LABEL) or row["NodeManagerHostname"]
        if row["Alive"]:
            alive.setdefault(name, []).append(_node(name, row))
        else:
            dead[name] = f"Ray says that it is dead: {row.get('DeathReasonMessage') or 'gone'}"
    twice = {name: _twice(nodes) for name, nodes in alive.items() if len(nodes) > 1}
    return Members(
        nodes={name: nodes[0] for name, nodes in alive.items() if name not in twice},
        why_not={**{name: why for name, why in dead.items() if name not in alive}, **twice},
        twice=twice,
        alive=[node for nodes in alive.values() for node in nodes],
    )


def _node(name: str, row: Mapping[str, Any]) -> RayNode:
    resources = row["Resources"]
    return RayNode(
        name=name,
        ray_id=row["NodeID"],
        gpus=int(resources.get("GPU", 0)),
        cpus=int(resources.get("CPU", 0)),
        address=row.get("NodeManagerAddress", ""),
        labels=row["Labels"],
        leaving_because=_leaving(row.get(DRAINED_UNTIL)),
    )


def _leaving(until_milliseconds: int | None) -> str:
    """Say why the cluster takes a node back; None: it does not. 0: nobody said until when."""
    if until_milliseconds is None:
        return ""
    if not until_milliseconds:
        return "Ray drains it"
    until = datetime.fromtimestamp(until_milliseconds / 1000.0, tz=UTC)
    return f"Ray drains it, until {until:%Y-%m-%d %H:%M:%S} UTC"


def _twice(nodes: Iterable[RayNode]) -> str:
    ids = " and ".join(sorted(node.ray_id[:8] for node in nodes))
    return (
        f"several Ray nodes bear this name ({ids}): give each a name of its own with"
        f" --labels={NODE_LABEL}=NAME at `ray start`"
    )


@dataclass(slots=True, kw_only=True)
class ClusterMembership:
    """What the head said last; asked by one thread at a time."""

    ask_head: Callable[[], Rows]  # may hang for minutes
    _members: Members | None = None
    _is_asking: bool = False
    _news: threading.Condition = field(default_factory=threading.Condition)

    def now(self, *, seconds: float) -> Members | None:
        """Return the last answer; the first is waited for so long. Asks for the next one."""
        with self._news:
            if not self._is_asking:
                self._is_asking = True
                threading.Thread(target=self._ask, name="membership", daemon=True).start()
            self._news.wait_for(lambda: self._members is not None, timeout=seconds)
            return self._members

    def roster(self, *, seconds: float) -> dict[str, Any]:
        """All nodes, in words for the service; the first answer of the head is waited for."""
        members = self.now(seconds=seconds)
        if members is None:
            return {"trouble": "Ray's head has not said yet which nodes there are"}
        machines = [node.document for node in members.alive]
        return {"machines": machines, "unusable": dict(members.twice)}

    def _ask(self) -> None:
        members: Members | None = None
        try:
            members = read(self.ask_head())
        finally:
            with self._news:
                self._is_asking = False
                self._members = members or self._members
                self._news.notify_all()
