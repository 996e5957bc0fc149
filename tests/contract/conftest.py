"""The same bench for every worker host: start a process, let it write, let it end."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import pytest
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.host import DockerHost
from cluster.docker_host.record.records import Records
from cluster.files import json_files
from cluster.in_memory_host import InMemoryHost
from cluster.process_host.host import ProcessHost
from cluster.process_host.sweep import sweep
from cluster.ray_host.host import RayHost
from cluster.ray_host.link_process import Link
from cluster.simulated_host.host import SimulatedHost
from cluster.worker_host import (
    HostUnavailable,
    Labels,
    Launch,
    Mount,
    ObservedProcess,
    ProcessPhase,
    ProcessRole,
    WorkerHost,
)

from tests import polling
from tests.contract.simulated_host.simulator_in_thread import (
    SimulatorInThread,
    simulator_in_thread,
)
from tests.docker_daemon import TINY_IMAGE, DockerDaemon, remove_everything
from tests.ray_cluster import NODE, RayCluster

T = TypeVar("T")
SCRIPTS: Final = Path(__file__).parent / "scripts"
OBEDIENT = """
while :; do
  if [ -e "$CONTROL.say" ]; then mv "$CONTROL.say" "$CONTROL.said"; cat "$CONTROL.said"; fi
  if [ -e "$CONTROL.exit" ]; then exit "$(cat "$CONTROL.exit")"; fi
  sleep 0.05
done
"""


def until(look: Callable[[], T], *, seconds: float = 90.0) -> T:
    """What `look` returns, as soon as that is true."""
    began = time.monotonic()
    while not (seen := look()):
        assert time.monotonic() < began + seconds, "the condition did not come true in time"
        polling.pause(began)
    return seen


def put(path: Path, text: str) -> None:
    """Whole at once."""
    temporary = path.with_name("temporary")
    temporary.write_text(text)
    temporary.rename(path)


def labels(process_id: str) -> Labels:
    return Labels(process_id=process_id, job_id="job1", role=ProcessRole.WORKER, attempt=2, fence=7)


class Bench(Protocol):
    """What a test does to a host's processes from outside."""

    @property
    def host(self) -> WorkerHost: ...

    def start(self, process_id: str, *, is_deaf: bool = False) -> None:
        """A process that runs until told otherwise; a deaf one ignores SIGTERM."""

    def start_command(self, process_id: str, command: tuple[str, ...]) -> None: ...

    def say(self, process_id: str, text: str) -> None: ...

    def end(self, process_id: str, exit_code: int) -> None: ...


@dataclass
class DrivenByFiles:
    """Drives real processes, one shell each, through files beside them."""

    host: WorkerHost
    folder: Path

    @property
    def known(self) -> dict[str, Any]:
        """What a launch says unless the test says otherwise."""
        return {"env": {}, "node": "n1"}

    @property
    def seen_as(self) -> Path:
        """The folder, as the processes see it."""
        return self.folder

    def launch(self, process_id: str, command: tuple[str, ...], **options: Any) -> None:
        known = {"labels": labels(process_id), **self.known}
        self.host.start(Launch(command=command, **{**known, **options}))

    def start_command(self, process_id: str, command: tuple[str, ...]) -> None:
        self.launch(process_id, command, env={"CONTROL": str(self.seen_as / process_id)})

    def start(self, process_id: str, *, is_deaf: bool = False) -> None:
        script = f"trap '' TERM; {OBEDIENT}" if is_deaf else OBEDIENT
        self.start_command(process_id, ("sh", "-c", f"echo up; {script}"))
        until(lambda: "up" in texts(self, process_id))

    def say(self, process_id: str, text: str) -> None:
        put(self.folder / f"{process_id}.say", f"{text}\n")

    def end(self, process_id: str, exit_code: int) -> None:
        put(self.folder / f"{process_id}.exit", str(exit_code))


@dataclass
class ProcessBench(DrivenByFiles):
    """Processes of this machine."""

    host: ProcessHost


def our_path() -> str:
    """Where this process looks for modules now: libraries add to it as they are imported."""
    return os.pathsep.join(path for path in sys.path if path)


@dataclass
class WarmBench(ProcessBench):
    """The same by Python scripts, which a zygote starts."""

    def launch(self, *arguments: Any, env: Mapping[str, str] | None = None, **options: Any) -> None:
        super().launch(*arguments, env={"PYTHONPATH": our_path(), **(env or {})}, **options)

    def start(self, process_id: str, *, is_deaf: bool = False) -> None:
        deaf = ("deaf",) if is_deaf else ()
        script = (sys.executable, str(SCRIPTS / "obedient.py"), str(self.folder / process_id))
        self.launch(process_id, (*script, *deaf))
        until(lambda: "up" in texts(self, process_id))

    def make_zygote(self) -> None:
        """Have one that is warm for every launch of this bench; it imports nothing of ours."""
        self.launch("first", (sys.executable, "-m", "this"))
        exited(self.host, "first")
        until(lambda: list(self.host.state_dir.glob("zygotes/*/socket")))
        self.host.forget("first")


@dataclass
class DockerBench(DrivenByFiles):
    """Real containers, into which the files are mounted."""

    host: DockerHost

    @property
    def known(self) -> dict[str, Any]:
        mount = Mount(source=self.folder, target=str(self.seen_as))
        return {**super().known, "mounts": (mount,)}

    @property
    def seen_as(self) -> Path:
        return Path("/control")


@dataclass
class InMemoryBench:
    """Drives the twin through its own script."""

    host: InMemoryHost = field(
        default_factory=lambda: InMemoryHost(exit_codes_by_command={"no-such-command": 127})
    )

    def start(self, process_id: str, *, is_deaf: bool = False) -> None:
        if is_deaf:
            self.host.deaf.add(process_id)
        self.start_command(process_id, ("sh",))

    def start_command(self, process_id: str, command: tuple[str, ...]) -> None:
        self.host.start(Launch(labels=labels(process_id), command=command, env={}, node="n1"))

    def say(self, process_id: str, text: str) -> None:
        self.host.write(process_id, text)

    def end(self, process_id: str, exit_code: int) -> None:
        self.host.exit(process_id, exit_code)


@pytest.fixture
def process_bench(tmp_path: Path) -> Iterator[ProcessBench]:
    state_dir = tmp_path / "state"
    control = tmp_path / "control"
    control.mkdir()
    yield ProcessBench(host=ProcessHost(state_dir=state_dir), folder=control)
    sweep(state_dir, grace_seconds=0.0)


@pytest.fixture
def warm_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WarmBench]:
    """However busy the machine is, no start is made in the ordinary way for want of time."""
    monkeypatch.setattr("cluster.process_host.starting._WARM_TIMEOUT_SECONDS", 60.0)
    monkeypatch.setattr("cluster.process_host.commands.zygotes._ASK_SECONDS", 60.0)
    state_dir = tmp_path / "warm_state"
    control = tmp_path / "warm_control"
    control.mkdir()
    host = ProcessHost(state_dir=state_dir, warm_modules=("json",), warm_after_seconds=0.0)
    bench = WarmBench(host=host, folder=control)
    bench.make_zygote()
    yield bench
    sweep(state_dir, grace_seconds=0.0)


def docker_host(endpoints: Mapping[str, DaemonEndpoint], state_dir: Path) -> DockerHost:
    installation = f"t{os.getpid()}"
    return DockerHost(
        state_dir=state_dir,
        installation=installation,
        endpoints=lambda: endpoints,
        worker_image=TINY_IMAGE,
        user="10001:10001",
        coordinator_network=f"{installation}-coordinators",
        answer_seconds=90.0,  # the tests' machine may be busy
    )


@pytest.fixture(autouse=True)
def _unhurried(unhurried_hosts: None) -> None:
    """Here nobody looks at what the limits are for."""


@contextlib.contextmanager
def bench_on(daemon: DockerDaemon, folder: Path) -> Iterator[DockerBench]:
    control = folder / "control"
    control.mkdir()
    control.chmod(0o777)  # the container's user is somebody else
    host = docker_host({"n1": DaemonEndpoint(url=daemon.url)}, folder / "docker_state")
    bench = DockerBench(host=host, folder=control)
    try:
        yield bench
    finally:
        host.close()
        label = f"concertina.installation={host.installation}"
        remove_everything(daemon.client(), label=label)


@pytest.fixture
def docker_bench(docker_daemon: DockerDaemon, tmp_path: Path) -> Iterator[DockerBench]:
    with bench_on(docker_daemon, tmp_path) as bench:
        yield bench


@dataclass
class SimulatedBench:
    """Processes that only seem to run; what a script would do is done to them from outside."""

    host: SimulatedHost
    simulator: SimulatorInThread

    def start(self, process_id: str, *, is_deaf: bool = False) -> None:
        deaf = ("--deaf",) if is_deaf else ()
        self.start_command(process_id, ("simulated", *deaf))

    def start_command(self, process_id: str, command: tuple[str, ...]) -> None:
        known = ("simulated",) if command == ("sh",) else command
        self.host.start(Launch(labels=labels(process_id), command=known, env={}, node="n1"))

    def say(self, process_id: str, text: str) -> None:
        self.simulator.do(lambda world: world.write(process_id, text))

    def end(self, process_id: str, exit_code: int) -> None:
        self.simulator.do(lambda world: world.end(process_id, exit_code))


@pytest.fixture
def simulated_bench(tmp_path: Path) -> Iterator[SimulatedBench]:
    host = SimulatedHost(state_dir=tmp_path, real=InMemoryHost(), real_nodes=frozenset)
    with simulator_in_thread(tmp_path) as simulator:
        yield SimulatedBench(host=host, simulator=simulator)


@dataclass
class RayBench(DrivenByFiles):
    """Processes of a node of a real Ray cluster, which is this machine."""

    host: RayHost


def answers(host: RayHost) -> bool:
    """True once all agents are there."""
    try:
        return not host.list().silent_nodes
    except HostUnavailable:
        return False


@pytest.fixture
def ray_bench(ray_cluster: RayCluster, ray_link: Link, tmp_path: Path) -> Iterator[RayBench]:
    control = tmp_path / "ray_control"
    control.mkdir()
    host = RayHost(
        state_dir=tmp_path / "ray_state",
        link=ray_link,
        nodes=lambda: {NODE: 2},
        answer_seconds=90.0,  # the tests' machine may be busy
    )
    until(lambda: answers(host), seconds=180.0)
    yield RayBench(host=host, folder=control)
    ray_cluster.sweep()


# Ray gives a node half a minute to start, which it needs beside the suite's other processes.
A_REAL_RAY = pytest.param("ray", marks=pytest.mark.thorough)


@pytest.fixture(params=["process", "warm", "docker", "in_memory", A_REAL_RAY, "simulated"])
def bench(request: pytest.FixtureRequest) -> Bench:
    if request.param == "in_memory":
        return InMemoryBench()
    chosen: Bench = request.getfixturevalue(f"{request.param}_bench")
    return chosen


def texts(bench: Bench, process_id: str, *, job_id: str = "job1") -> list[str]:
    """The lines it has written so far."""
    return [line.text for line in bench.host.logs((process_id,), job_id=job_id)]


def observed(host: WorkerHost, process_id: str) -> ObservedProcess | None:
    return host.list().by_id().get(process_id)


def is_running(host: WorkerHost, process_id: str) -> bool:
    """Say whether it runs. A busy daemon may still be starting it when its launch returns."""
    process = observed(host, process_id)
    return process is not None and process.phase is ProcessPhase.RUNNING


def forgotten(host: DockerHost, process_id: str) -> None:
    """Forget it, and wait until nothing is left of it."""
    host.forget(process_id)
    record = Records(state_dir=host.state_dir).of(process_id)
    until(lambda: host.list() is not None and not record.folder.exists())


def exited(host: WorkerHost, process_id: str, *, has_log: bool = True) -> ObservedProcess:
    """The process, once it has ended and its log is there, unless it can have none."""

    def look() -> ObservedProcess | None:
        process = observed(host, process_id)
        return process if process and process.phase is ProcessPhase.EXITED else None

    process = until(look)
    assert process is not None
    if isinstance(host, DockerHost) and process.exit_code is not None and has_log:
        until(lambda: _is_copied(host, process_id))
    return process


def _is_copied(host: DockerHost, process_id: str) -> bool:
    """Another program copies the log, which may be behind."""
    host.list()  # sees to it that somebody does, whoever died
    cursor = Records(state_dir=host.state_dir).of(process_id).log_cursor_path
    with contextlib.suppress(OSError, ValueError):
        document = json_files.read(cursor)
        return document is not None and bool(document["is_complete"])
    return False
