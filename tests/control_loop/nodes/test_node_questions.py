"""Are all nodes asked, though one of them does not answer?"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cluster.background.background_jobs import BackgroundJobs
from cluster.models import Node

from autoscaler.control_loop.housekeeping.node_questions import AT_ONCE, NodeQuestions
from tests import polling


@dataclass
class Moment:
    """What is asked of a tick: when it is."""

    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def seconds_since(self, before: datetime | None) -> float:
        return float("inf") if before is None else (self.now - before).total_seconds()


class Farm:
    """Nodes, of which some answer only when they may."""

    def __init__(self, *silent: str) -> None:
        self.silent = set(silent)
        self.may_answer = threading.Event()
        self.asked: list[str] = []
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()

    def question(self, node: str) -> str:
        with self._lock:
            self.asked.append(node)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        if node in self.silent:
            assert self.may_answer.wait(60)
        with self._lock:
            self.at_once -= 1
        return f"{node} is well"


@pytest.fixture
def questions() -> NodeQuestions[str]:
    return NodeQuestions(background=BackgroundJobs(name="ask"), again_seconds=10.0)


def nodes(*names: str) -> list[Node]:
    return [Node(name=name) for name in names]


def answers(questions: NodeQuestions[str], count: int) -> list[str]:
    return sorted(_collected(questions, count))


def _collected(questions: NodeQuestions[str], count: int) -> Iterator[str]:
    began = time.monotonic()
    while count:
        for answer in questions.new_answers():
            assert answer.value == f"{answer.node.name} is well"
            count -= 1
            yield answer.node.name
        polling.pause(began)


def test_a_node_that_hangs_keeps_no_other_from_being_asked_again(
    questions: NodeQuestions[str],
) -> None:
    farm, moment = Farm("n1"), Moment()
    asked: Any = (nodes("n1", "n2", "n3"), farm.question, moment)
    questions.ask(*asked)
    assert answers(questions, 2) == ["n2", "n3"]
    moment.now += timedelta(seconds=11)
    questions.ask(*asked)
    assert answers(questions, 2) == ["n2", "n3"]
    assert farm.asked.count("n1") == 1
    farm.may_answer.set()
    assert answers(questions, 1) == ["n1"]
    moment.now += timedelta(seconds=11)
    questions.ask(*asked)
    assert answers(questions, 3) == ["n1", "n2", "n3"]


def test_only_so_many_are_asked_at_once(questions: NodeQuestions[str]) -> None:
    names = [f"n{number}" for number in range(3 * AT_ONCE)]
    farm: Any = Farm(*names)
    questions.ask(nodes(*names), farm.question, Moment())
    farm.may_answer.set()
    assert len(answers(questions, len(names))) == len(names)
    assert farm.most_at_once <= AT_ONCE
