"""Each line that a process writes on its node is in the copy once, whoever dies in between."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cluster.files.lock_files import holding
from cluster.logs import log_files, log_store
from cluster.logs.log_files import LogBounds
from cluster.logs.log_lines import LineLog
from cluster.ray_host import wire
from cluster.ray_host.agent import Agent
from cluster.ray_host.log_copies import LogCopies, NodeLog
from cluster.ray_host.wire import LogPortion
from hypothesis import given
from hypothesis import strategies as st

from tests.campaigns import examples

LARGE = LogBounds()
SMALL = LogBounds(process_bytes=2000, job_bytes=1 << 30)  # a file is full after 500


@dataclass
class Node:
    """A node on which one process writes, and the copy of its log."""

    root: Path
    bounds: LogBounds = LARGE
    copy_bounds: LogBounds = LARGE
    written: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.agent = Agent("n1", str(self.root / "node"))
        self.copies = self.copier()

    def copier(self) -> LogCopies:
        return LogCopies(state_dir=self.root / "service", bounds=self.copy_bounds)

    @property
    def first(self) -> Path:
        return self.folder("node") / "w1.log"

    def folder(self, side: str) -> Path:
        return log_files.folder_of("job1", state_dir=self.root / side)

    def write(self, *lines: str) -> None:
        log = LineLog(self.first, self.bounds)
        log.write("stdout", [line.encode() for line in lines])
        log.close()
        self.written += lines

    @property
    def log(self) -> NodeLog:
        (found,) = log_files.logs_in(self.folder("node"), process_id="w1")
        return NodeLog(job_id="job1", process_id="w1", end=found.end)

    def read(self, _: NodeLog, position: int) -> LogPortion | None:
        line = wire.question("read_log", job_id="job1", process_id="w1", position=position)
        told = json.loads(self.agent.ask(line))["answer"]
        return None if told is None else wire.portion_of(told)

    def catch_up(self, most_bytes: int = 1 << 20) -> bool:
        return self.copies.catch_up("n1", [self.log], self.read, most_bytes=most_bytes)

    def copied(self) -> list[str]:
        state_dir = self.root / "service"
        lines = log_store.read_processes(("w1",), job_id="job1", state_dir=state_dir)
        return [line.text for line in lines]

    def files(self, side: str) -> dict[str, bytes]:
        found = {path.name: path.read_bytes() for path in self.folder(side).glob("w1.log*")}
        return {name: data for name, data in found.items() if data}


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(root=tmp_path)


def test_a_copy_goes_on_where_it_ends(node: Node) -> None:
    node.write("one", "two")
    assert node.copies.are_behind([node.log])
    assert node.catch_up()
    node.write("three")
    assert node.catch_up()
    assert node.copied() == ["one", "two", "three"]
    assert not node.copies.are_behind([node.log])


def test_a_round_has_an_end_and_the_next_goes_on(node: Node) -> None:
    node.agent = Agent("n1", str(node.root / "node"))
    node.write(*(f"{'x' * 1000} {number}" for number in range(3000)))
    rounds = 1
    while not node.catch_up(most_bytes=1 << 20):
        rounds += 1
    assert rounds == 3
    assert node.files("service") == node.files("node")


def test_two_copiers_take_turns(node: Node) -> None:
    node.write("one")
    with holding(node.root / "service" / "ray" / "copying" / "n1"):
        assert not node.catch_up()
    assert node.copied() == []
    assert node.catch_up()
    assert node.copied() == ["one"]


def test_what_the_node_dropped_is_left_out_and_all_else_is_there(node: Node) -> None:
    node.bounds = SMALL
    node.write("first")
    node.catch_up()
    for number in range(100):
        node.write(f"line {number}")
    node.catch_up()
    for number in range(100, 120):
        node.write(f"line {number}")
        node.catch_up()
    copied = node.copied()
    assert copied[0] == "first"
    assert copied[1] != "line 0"
    beginning = node.written.index(copied[1])
    assert copied[1:] == node.written[beginning:]


def test_what_our_bounds_dropped_does_not_come_again(node: Node) -> None:
    node.copy_bounds = SMALL
    node.copies = node.copier()
    for number in range(100):
        node.write(f"line {number}")
    node.catch_up()
    for path in node.folder("service").glob("*"):
        path.unlink()  # as trimming may, where a job has many logs
    assert not node.copies.are_behind([node.log])
    node.write("last")
    node.catch_up()
    assert node.copied() == ["last"]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 20)),
        st.tuples(st.just("copy"), st.integers(1, 2000)),
        st.tuples(st.just("die"), st.integers(0, 700)),
    ),
    max_size=20,
)


@examples(100)
@given(steps=STEPS)
def test_each_line_is_there_once_wherever_copiers_die(steps: Sequence[tuple[str, int]]) -> None:
    """One that dies has written a part of what it read, and the next one knows nothing of it."""
    with tempfile.TemporaryDirectory() as folder:
        _live(Node(root=Path(folder), bounds=LogBounds(process_bytes=2400)), steps)


def _live(node: Node, steps: Sequence[tuple[str, int]]) -> None:
    node.write("first")
    for step, number in steps:
        if step == "write":
            node.write(*(f"{len(node.written)} {'y' * number}" for _ in range(number % 4)))
        elif step == "copy":
            node.catch_up(most_bytes=number)
        else:
            _write_a_part(node, number)
            node.copies = node.copier()
    node.catch_up()
    kept = node.files("node")
    assert {name: data for name, data in node.files("service").items() if name in kept} == kept


def _write_a_part(node: Node, size: int) -> None:
    """As a copier that is killed does."""
    end = node.copies._end(node.log)  # noqa: SLF001 - it is what one that dies is in the midst of
    portion = node.read(node.log, end)
    if portion is not None and size:
        part = LogPortion(
            file_start=portion.file_start, position=portion.position, data=portion.data[:size]
        )
        node.copies._append(node.log, part)  # noqa: SLF001 - as above
