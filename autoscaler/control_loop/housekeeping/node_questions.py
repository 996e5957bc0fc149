"""How are nodes asked what takes them long to answer, without a tick that waits for it?

A few threads ask, so that a node that does not answer holds one of them up and no other node. A
later tick takes the answers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from queue import Empty, SimpleQueue
from typing import Final, Generic, TypeVar

from cluster.background.background_jobs import BackgroundJobs
from cluster.models import Node
from cluster.worker_host import WorkerHostError
from django.db import connections

from autoscaler.control_loop.tick_context import TickContext

T = TypeVar("T")

AT_ONCE: Final = 8  # guessed: threads that mostly wait are cheap, and daemons answer in a second
_AFTER_FAILURE_SECONDS: Final = 60.0  # guessed: a daemon or a tunnel that starts anew takes less

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAnswer(Generic[T]):
    """What a node said; or why it did not."""

    node: Node  # as it was when it was asked
    value: T | None = None
    problem: str = ""


@dataclass(slots=True, kw_only=True)
class NodeQuestions(Generic[T]):
    """Asks nodes, and keeps what it is told; lasts from tick to tick."""

    background: BackgroundJobs
    again_seconds: float  # until a node that answered is asked the same once more
    _asked_at: dict[str, datetime] = field(default_factory=dict)
    _failed: set[str] = field(default_factory=set)  # nodes whose last answer was none
    _unanswered: set[str] = field(default_factory=set)  # nodes that are being asked, or will be
    _waiting: SimpleQueue[Node] = field(default_factory=SimpleQueue)  # for a thread
    _answers: SimpleQueue[NodeAnswer[T]] = field(default_factory=SimpleQueue)

    def ask(
        self, nodes: Iterable[Node], question: Callable[[str], T], context: TickContext
    ) -> None:
        """Ask those that are due."""
        for node in [one for one in nodes if self._is_due(one, context)]:
            self._asked_at[node.name] = context.now
            self._unanswered.add(node.name)
            self._waiting.put(node)
        wanted = self._waiting.qsize()
        for thread in range(AT_ONCE):
            if wanted > 0 and self.background.begin(thread, partial(self._run, question)):
                wanted -= 1

    def new_answers(self) -> Iterator[NodeAnswer[T]]:
        """Yield what was answered since the last time, in the order of the answers."""
        while True:
            try:
                answer = self._answers.get_nowait()
            except Empty:
                return
            self._unanswered.discard(answer.node.name)
            if answer.problem:
                self._failed.add(answer.node.name)
            else:
                self._failed.discard(answer.node.name)
            yield answer

    def _is_due(self, node: Node, context: TickContext) -> bool:
        if node.name in self._unanswered:
            return False
        again = self.again_seconds
        if node.name in self._failed:
            again = min(again, _AFTER_FAILURE_SECONDS)
        return context.seconds_since(self._asked_at.get(node.name)) >= again

    def _run(self, question: Callable[[str], T]) -> None:
        try:
            while True:
                self._answers.put(_answer(self._waiting.get_nowait(), question))
        except Empty:
            return
        finally:
            connections.close_all()  # the host may have looked up where the node is


def _answer(node: Node, question: Callable[[str], T]) -> NodeAnswer[T]:
    try:
        return NodeAnswer(node=node, value=question(node.name))
    except WorkerHostError as problem:
        return NodeAnswer(node=node, problem=f"it cannot be asked: {problem}")
    except Exception as problem:  # noqa: BLE001 - whatever it is, the other nodes are asked
        extra = {"action": "ask_node", "node": node.name}
        _log.exception("A node's answer cannot be understood.", extra=extra)
        return NodeAnswer(node=node, problem=f"its answer cannot be understood: {problem!r}")
