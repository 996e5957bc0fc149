"""The daemon is asked to end a container until it heard, and then no more."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import requests
from cluster.docker_host.connection.connections import Connections
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.lifecycle import stopping
from cluster.docker_host.lifecycle.stopping import Stopper, note_wish
from cluster.docker_host.record.records import ContainerRecord, Records
from cluster.files import json_files

from tests.docker_daemon import await_threads

GRACE = 60.0
NOW = 1_800_000_000.0


@dataclass
class Answer:
    status_code: int
    text: str = "said the daemon"


@dataclass
class Daemon:
    """Answers each request as scripted; afterwards it obeys. Stands for its connections as well."""

    script: list[int | Exception] = field(default_factory=list)
    pings: list[Exception] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)  # seconds, of each request
    killed: list[str] = field(default_factory=list)
    kills: threading.Event = field(default_factory=threading.Event)  # at once, unless cleared
    base_url: str = "http+docker://localhost"
    api_version: str = "1.41"

    def quick(self, _: DaemonEndpoint) -> Daemon:
        return self

    patient = quick

    def post(self, _: str, *, params: dict[str, int], timeout: float) -> Answer:
        assert timeout
        self.asked.append(params["t"])
        said = self.script.pop(0) if self.script else 204
        if isinstance(said, Exception):
            raise said
        return Answer(said)

    def ping(self) -> None:
        if self.pings:
            raise self.pings.pop(0)

    def kill(self, container: str, _: str) -> None:
        self.killed.append(container)
        assert self.kills.wait(90)

    def __post_init__(self) -> None:
        self.kills.set()


@pytest.fixture(autouse=True)
def _standing_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a busy machine takes, none of the grace is over."""
    monkeypatch.setattr(stopping, "time", SimpleNamespace(time=lambda: NOW))


@pytest.fixture
def record(tmp_path: Path) -> ContainerRecord:
    return Records(state_dir=tmp_path).of("w1")


def stopper(daemon: Daemon) -> Stopper:
    return Stopper(connections=cast("Connections", daemon))


def settled(work: Callable[[], None]) -> None:
    """Do it, and wait for the threads that do the rest."""
    work()
    await_threads("stop_container")


def stop(stopper: Stopper, record: ContainerRecord, seconds: float = GRACE) -> None:
    settled(
        lambda: stopper.stop("c1", DaemonEndpoint(url="unix:///x"), record, grace_seconds=seconds)
    )


def go_on(stopper: Stopper, record: ContainerRecord) -> None:
    settled(lambda: stopper.go_on("c1", DaemonEndpoint(url="unix:///x"), record))


@pytest.mark.parametrize(
    "daemon",
    [
        Daemon(script=[500]),
        Daemon(script=[requests.ConnectionError()]),
        Daemon(script=[requests.ReadTimeout()], pings=[requests.ConnectionError()]),
    ],
    ids=["it failed", "it hung up", "it is silent"],
)
def test_one_that_did_not_hear_is_asked_again(daemon: Daemon, record: ContainerRecord) -> None:
    ours = stopper(daemon)
    stop(ours, record)
    go_on(ours, record)
    stop(ours, record)
    go_on(ours, record)
    assert len(daemon.asked) == 2


@pytest.mark.parametrize("said", [204, 304, 404, requests.ReadTimeout()])
def test_one_that_heard_is_not_asked_again_by_any_service(
    said: int | Exception, record: ContainerRecord
) -> None:
    daemon = Daemon(script=[said])
    stop(stopper(daemon), record)
    stop(stopper(daemon), record)
    go_on(stopper(daemon), record)
    assert daemon.asked == [GRACE]


def test_what_was_only_wished_is_asked_of_it(record: ContainerRecord) -> None:
    daemon = Daemon()
    note_wish(record, grace_seconds=GRACE)
    stop(stopper(daemon), record, seconds=2 * GRACE)
    assert daemon.asked == [GRACE]


def test_less_time_is_asked_for_again_and_no_time_kills(record: ContainerRecord) -> None:
    daemon = Daemon()
    ours = stopper(daemon)
    for seconds in (GRACE, GRACE / 2, GRACE, 0.0):
        stop(ours, record, seconds=seconds)
    assert (daemon.asked, daemon.killed) == ([GRACE, GRACE / 2], ["c1"])


def test_one_that_does_not_die_at_once_is_killed_by_one_thread_at_a_time(
    record: ContainerRecord,
) -> None:
    """In the kernel, where no signal reaches it: the daemon answers late, and looks go on."""
    daemon = Daemon()
    daemon.kills.clear()
    ours = stopper(daemon)
    for _ in range(3):
        ours.stop("c1", DaemonEndpoint(url="unix:///x"), record, grace_seconds=0.0)
    daemon.kills.set()
    await_threads("stop_container")
    assert daemon.killed == ["c1"]
    go_on(ours, record)
    assert daemon.killed == ["c1", "c1"], "it still runs"


def test_a_full_disk_keeps_nobody_from_being_ended(
    record: ContainerRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(json_files, "replace", full)
    daemon = Daemon()
    ours = stopper(daemon)
    stop(ours, record)
    stop(ours, record)
    assert daemon.asked == [GRACE]
    stop(ours, record, seconds=0.0)
    assert daemon.killed == ["c1"]
