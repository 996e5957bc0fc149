"""How are many agents asked at once, within one patience? Those that were late are not waited for.

A node that hangs costs one look its patience. Until it has answered that question, it counts as
silent at once.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import ray
from ray.exceptions import (
    ActorDiedError,
    ActorUnavailableError,
    RayActorError,
    RayError,
    RayTaskError,
)

from cluster.ray_host.link.agents import Agents, NoAgent
from cluster.ray_host.link.membership import ClusterMembership, RayNode

_NO_HEAD: Final = "Ray's head has not said yet which nodes there are"


@dataclass(slots=True, kw_only=True)
class _LateQuestion:
    """A question that was not answered in time."""

    reference: Any
    since: float


@dataclass(slots=True, kw_only=True)
class Asking:
    """Asks the agents of one installation."""

    membership: ClusterMembership
    agents: Agents
    _slots: dict[str, int] = field(default_factory=dict)
    _late: dict[str, _LateQuestion] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Ask each node its question; returns who answered what, and who is silent, and why."""
        give_up_at = time.monotonic() + request["seconds"]
        members = self.membership.now(seconds=request["seconds"])
        slots: Mapping[str, int] | None = request.get("slots")  # of all nodes: it is a look
        if slots is not None:
            self._slots = dict(slots)
        questions: Mapping[str, str] = request["questions"]
        if members is None:
            return {"answers": {}, "silent": dict.fromkeys(questions, _NO_HEAD)}
        if slots is not None:
            self.agents.keep(slots, members.alive)
        nodes = {name: members.nodes[name] for name in questions if name in members.nodes}
        self.agents.seek({node: self._slots.get(node.name) for node in nodes.values()})
        silent = {name: members.absence_of(name) for name in questions.keys() - nodes.keys()}
        references: dict[Any, RayNode] = {}
        for name, node in nodes.items():
            try:
                self._check_late(name)
                references[self.agents.of(node).ask.remote(questions[name])] = node
            except NoAgent as problem:
                silent[name] = str(problem)
        answers = self._collect(references, silent, give_up_at, is_look=slots is not None)
        return {"answers": answers, "silent": silent}

    def _collect(
        self,
        references: Mapping[Any, RayNode],
        silent: dict[str, str],
        give_up_at: float,
        *,
        is_look: bool,
    ) -> dict[str, Any]:
        """Only a look that is late makes its node one that is not waited for."""
        if not references:
            return {}
        patience = max(give_up_at - time.monotonic(), 0.0)
        done, late = ray.wait(
            list(references), num_returns=len(references), timeout=patience, fetch_local=True
        )
        for reference in late:
            name = references[reference].name
            silent[name] = f"it did not answer within {patience:.0f} s"
            if is_look:
                late_since = time.monotonic() - patience
                with self._lock:
                    self._late[name] = _LateQuestion(reference=reference, since=late_since)
        answers: dict[str, Any] = {}
        for reference in done:
            node = references[reference]
            try:
                answers[node.name] = json.loads(ray.get(reference))
            except RayError as problem:
                silent[node.name] = self._heard(problem, node)
        return answers

    def _check_late(self, name: str) -> None:
        """Raises: NoAgent, if the last question is not answered yet."""
        with self._lock:
            late = self._late.get(name)
            if late is None:
                return
            done, _ = ray.wait([late.reference], timeout=0)
            if done:
                del self._late[name]
                return
        raise NoAgent(f"it has not answered for {time.monotonic() - late.since:.0f} s")

    def _heard(self, problem: RayError, node: RayNode) -> str:
        if isinstance(problem, ActorUnavailableError):
            return "its agent is being started again, or cannot be reached"
        if isinstance(problem, (ActorDiedError, RayActorError)):
            self.agents.lost(node)
            return "its agent ended; another is being started"
        if isinstance(problem, RayTaskError):
            return f"its agent failed: {problem.cause!r}"[:300]
        return f"{type(problem).__name__}: {problem}"[:300]
