"""When does a shell end, and what reaches whom before? Over a real Valkey, beside no worker."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import redis
from cluster.shells import attendant
from cluster.worker_host import CannotEnter, WorkerHostError, WorkerNotThere
from control_plane.configuration.shell_settings import ShellSettings
from control_plane.shells import mailbox, session
from control_plane.shells.orders import MOST_OUTPUTS, ShellEnd, ShellInput, ShellOrder
from control_plane.shells.session import ShellSession

from autoscaler.control_loop.wakeup_flag import redis_client
from tests import polling

ORDER = ShellOrder(
    id="b" * 32,
    job_id="job1",
    worker="job1-1-1",
    node="n1",
    command=("sh",),
    is_terminal=False,
    rows=24,
    columns=80,
    holder="user 1",
    asked_at=0.0,
)


@dataclass
class ScriptedStream:
    """An attendant that says what the test has it say, and keeps what it is told."""

    said: queue.Queue[bytes] = field(default_factory=queue.Queue)
    told: list[tuple[bytes, bytes]] = field(default_factory=list)
    is_closed: bool = False
    reads: int = 0

    def read(self) -> bytes | None:
        self.reads += 1
        try:
            return self.said.get(timeout=0.02)
        except queue.Empty:
            return None

    def write(self, data: bytes) -> None:
        self.told.extend(attendant.ShellFrames().feed(data))

    def hang_up(self) -> None:
        self.said.put(b"")

    def close(self) -> None:
        self.is_closed = True

    def say(self, kind: bytes, payload: bytes) -> None:
        self.said.put(attendant.packed(kind, payload))


@dataclass
class Door:
    """Leads to the stream, or says why not."""

    stream: ScriptedStream
    problem: WorkerHostError | None = None

    def enter(self, process_id: str, *, node: str) -> ScriptedStream:  # noqa: ARG002 - the port's
        if self.problem is not None:
            raise self.problem
        return self.stream


class Clock:
    """Time that a test moves."""

    def __init__(self) -> None:
        self.now, self.steps = 1000.0, 0

    def __call__(self) -> float:
        return self.now


@dataclass
class Running:
    """A shell in the relay, and its two ends."""

    stream: ScriptedStream = field(default_factory=ScriptedStream)
    clock: Clock = field(default_factory=Clock)
    client: redis.Redis = field(default_factory=redis_client)
    ends: list[tuple[ShellEnd, int | None]] = field(default_factory=list)
    thread: threading.Thread | None = None
    why: str = ""

    def start(self, problem: WorkerHostError | None = None) -> None:
        self.client.set(mailbox.held(ORDER.id), ORDER.mark, ex=60)
        self.client.set(mailbox.heard(ORDER.id), "1", ex=60)
        bounds = ShellSettings(teams=frozenset("*"), idle_seconds=60, longest_seconds=600)
        one = ShellSession(
            order=ORDER,
            entrance=Door(self.stream, problem),
            client=self.client,
            bounds=bounds,
            note_end=lambda _, end, *, exit_code: self.ends.append((end, exit_code)),
            why_gone=lambda _: self.why,
            clock=self.clock,
        )
        self.thread = threading.Thread(target=one.run)
        self.thread.start()

    def type(self, number: int, data: bytes = b"", **more: Any) -> None:
        one = ShellInput(number=number, data=data, **more)
        self.client.rpush(mailbox.inputs(ORDER.id), one.packed())

    def outputs(self) -> list[bytes]:
        found: list[bytes] = self.client.lrange(mailbox.outputs(ORDER.id), 0, -1)
        return found

    def over(self) -> dict[str, Any]:
        """Its last word, once all of it is over."""
        assert self.thread is not None
        self.thread.join(30)
        assert self.stream.is_closed or not self.stream.told
        document: dict[str, Any] = json.loads(self.outputs()[-1][1:])
        return document


def until(look: Callable[[], bool]) -> None:
    began = time.monotonic()
    while not look():
        assert time.monotonic() < began + 30
        polling.pause(began)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    monkeypatch.setattr(session, "_LOOK_SECONDS", 0.02)
    one = Running()
    yield one
    one.client.delete(mailbox.held(ORDER.id))
    if one.thread is not None:
        one.thread.join(30)
    for key in (mailbox.withdrawn, mailbox.inputs, mailbox.outputs):
        one.client.delete(key(ORDER.id))


def test_what_is_typed_arrives_once_and_the_status_comes_back(shell: Running) -> None:
    shell.start()
    shell.type(1, b"ls\n", rows=50, columns=90)
    shell.type(1, b"ls\n")
    shell.type(2, b"", signal="INT")
    shell.type(3, is_last=True)
    until(lambda: len(shell.stream.told) == 5)
    shell.stream.say(attendant.OUTPUT, b"file\n")
    shell.stream.say(attendant.ENDED, b'{"exit_code": 7}')

    assert shell.over() == {"end": "exited", "message": "", "exit_code": 7}
    assert shell.outputs()[0] == b"ofile\n"
    assert [kind for kind, _ in shell.stream.told] == [
        attendant.START,
        attendant.SIZE,
        attendant.INPUT,
        attendant.SIGNAL,
        attendant.END_OF_INPUT,
    ]
    assert shell.ends == [(ShellEnd.EXITED, 7)]


def test_a_slow_reader_slows_the_command_down(shell: Running) -> None:
    shell.start()
    for number in range(MOST_OUTPUTS + 5):
        shell.stream.say(attendant.OUTPUT, str(number).encode())
    until(lambda: len(shell.outputs()) == MOST_OUTPUTS)
    known = shell.stream.reads
    shell.client.lpop(mailbox.outputs(ORDER.id))
    until(lambda: shell.stream.reads > known)

    assert len(shell.outputs()) == MOST_OUTPUTS
    shell.client.delete(mailbox.held(ORDER.id))
    assert shell.over()["end"] == "client_left"


def test_a_command_that_takes_no_input_is_sent_no_more(shell: Running) -> None:
    shell.start()
    for number in range(1, 12):
        shell.type(number, b"x" * 32768)
    until(lambda: sum(kind == attendant.INPUT for kind, _ in shell.stream.told) == 8)
    shell.stream.say(attendant.TAKEN, b"32768")
    until(lambda: sum(kind == attendant.INPUT for kind, _ in shell.stream.told) == 9)

    assert shell.client.llen(mailbox.inputs(ORDER.id)) == 2


def test_it_ends_when_the_client_says_nothing(shell: Running) -> None:
    shell.start()
    until(lambda: bool(shell.stream.told))
    shell.client.delete(mailbox.heard(ORDER.id))

    assert shell.over()["message"] == "The client said nothing for 60 s."


def test_whoever_may_not_have_it_any_more_is_not_said_to_have_left(shell: Running) -> None:
    shell.start()
    shell.client.set(mailbox.withdrawn(ORDER.id), "1", ex=60)
    shell.client.delete(mailbox.held(ORDER.id))

    assert shell.over()["end"] == "withdrawn"


def test_nothing_is_left_out_of_what_was_sent(shell: Running) -> None:
    shell.start()
    shell.type(1, b"a")
    shell.type(3, b"c")

    assert shell.over()["message"] == "A piece of what was sent is missing."
    assert (attendant.INPUT, b"c") not in shell.stream.told


def test_what_waits_for_a_slow_command_or_reader_stays(shell: Running) -> None:
    for number in range(1, 12):
        shell.type(number, b"x" * 32768)
    shell.client.expire(mailbox.inputs(ORDER.id), 100)
    shell.start()
    until(lambda: sum(kind == attendant.INPUT for kind, _ in shell.stream.told) == 8)
    shell.clock.now += mailbox.RENEW_SECONDS

    until(lambda: shell.client.ttl(mailbox.inputs(ORDER.id)) > 100)


@pytest.mark.parametrize("said", [b"{}", b"[]", b'{"exit_code": "x"}'])
def test_its_end_is_told_whatever_is_said_in_place_of_a_status(shell: Running, said: bytes) -> None:
    shell.start()
    shell.stream.say(attendant.ENDED, said)

    assert shell.over()["end"] == "worker_ended"
    assert [end for end, _ in shell.ends] == [ShellEnd.WORKER_ENDED]


@pytest.mark.parametrize(
    ("data", "end"), [(b"", ShellEnd.IDLE), (b"x", ShellEnd.TOO_LONG)], ids=["idle", "too long"]
)
def test_it_ends_when_nothing_happens_or_it_lasts_too_long(
    shell: Running, data: bytes, end: ShellEnd
) -> None:
    shell.start()
    while not shell.ends:
        shell.clock.steps += 1
        shell.type(shell.clock.steps, data)
        until(lambda: bool(shell.ends) or not shell.client.llen(mailbox.inputs(ORDER.id)))
        until(lambda: bool(shell.ends) or not data or len(shell.stream.told) > shell.clock.steps)
        shell.stream.say(attendant.TAKEN, str(len(data)).encode())
        shell.clock.now += 29

    assert shell.over()["end"] == end.value
    assert shell.ends == [(end, None)]


def test_it_ends_with_its_worker(shell: Running) -> None:
    shell.why = "The job was given 1 worker instead, without this one."
    shell.start()
    shell.stream.hang_up()

    assert shell.over() == {
        "end": "worker_ended",
        "message": f"job1-1-1 has ended, and this with it. {shell.why}",
        "exit_code": None,
    }


def test_where_no_row_tells_of_an_end_none_is_claimed(shell: Running) -> None:
    """The command can kill what it runs under, and the worker trains on."""
    shell.start()
    shell.stream.hang_up()

    said = "job1-1-1 has ended, or what ran this beside it was killed."
    assert shell.over()["message"] == said


@pytest.mark.parametrize(
    ("problem", "end"),
    [(WorkerNotThere("gone"), "worker_ended"), (CannotEnter("no python3"), "cannot_start")],
)
def test_what_cannot_be_started_is_told(shell: Running, problem: WorkerHostError, end: str) -> None:
    shell.start(problem)

    assert shell.over() == {"end": end, "message": str(problem), "exit_code": None}


def test_a_frame_that_is_too_large_ends_it(shell: Running) -> None:
    shell.start()
    shell.stream.said.put(attendant.HEAD.pack(attendant.OUTPUT, attendant.LARGEST_FRAME + 1))

    assert "too large" in shell.over()["message"]
