"""A Ray cluster of several machines on one, each with network, mounts and processes of its own.

A head with its store, a node, and beside the tests a raylet without resources, as one stands beside
the service. Started one after the other: side by side their helpers take longer than Ray waits for.
Needs root; skips with the reason where a part is missing.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Final

import psutil
import pytest
from cluster.ray_host.kind import link_command, link_environment, link_options
from cluster.ray_host.link_process import Link
from local_stack.chaos.containers import cables
from local_stack.processes import embedded_valkey

from tests.ray_cluster import TOO_BUSY, WHY_NOT

NODE: Final = "gpu-1"
POOL: Final = "default"
INSTALLATION: Final = "tests"
_PORT: Final = 6379
_STORE_PORT: Final = 6390
_SUBNET: Final = f"10.{100 + os.getpid() % 50}.{os.getpid() // 50 % 250}"
_HOST: Final = f"{_SUBNET}.1"
_START_SECONDS: Final = 240.0
_letters: Final = cycle("abcdefghij")  # the kernel takes a while to forget a name
_TRIES: Final = 3
_QUICK: Final = {  # of the head: a node is dead after some 15 s instead of 62
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "15",
}
_BEGIN: Final = (
    "hostname {name}; for own in /dev/shm {own} {rays}; do mkdir -p $own;"
    " mount -t tmpfs tmpfs $own; done; sleep infinity & wait"  # it collects those that end
)


@dataclass
class RayMachine:
    """One machine, with a cable that can be taken out."""

    name: str
    address: str
    cable: str
    own: Path  # its own disk
    anchor: psutil.Process

    def words(self, *command: str) -> tuple[str, ...]:
        return ("nsenter", "-t", str(self.anchor.pid), "-m", "-u", "-p", "-n", "--", *command)

    def cut(self) -> None:
        _run("ip", "link", "set", self.cable, "down")

    def heal(self) -> None:
        _run("ip", "link", "set", self.cable, "up")


@dataclass
class RayNodes:
    """The cluster."""

    folder: Path
    head: RayMachine
    node: RayMachine

    @property
    def address(self) -> str:
        return f"{self.head.address}:{_PORT}"

    @property
    def token_file(self) -> Path:
        return self.folder / "token"

    def link(self) -> Link:
        """A link of its own, through the raylet beside the tests."""
        return Link(
            command=link_command(Path(sys.executable)),
            env=link_environment(os.environ, token_file=self.token_file),
            options=link_options(
                address=self.address,
                installation=INSTALLATION,
                node_dir=self.node.own / "records",
                state_dir=self.folder / "state",
                worker_python=Path(sys.executable),
            ),
            begin_seconds=120.0,
        )

    def start_head(self) -> None:
        """Start it, with its store, which it finds again."""
        environment = {**_QUICK, "RAY_REDIS_ADDRESS": f"{_HOST}:{_STORE_PORT}"}
        more = ("--head", f"--port={_PORT}", "--num-cpus=0", "--num-gpus=0")
        self._start(self.head, *more, "--include-dashboard=false", environment=environment)

    def start_node(self) -> None:
        labels = f"--labels=concertina.io/node={NODE},concertina.io/pool={POOL}"
        self._start(self.node, f"--address={self.address}", "--num-cpus=2", "--num-gpus=0", labels)

    def start_beside_the_tests(self) -> None:
        self._start(None, f"--address={self.address}", "--num-cpus=0", "--num-gpus=0")

    def processes(self, word: str, *, on: RayMachine | None) -> list[psutil.Process]:
        """Those of Ray with this word in their command, on a machine, or beside the tests."""
        mark = f"CONCERTINA_TESTS_RAY={self._mark(on)}"
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                is_ours = process.environ().get("CONCERTINA_TESTS_RAY") == mark.partition("=")[2]
                if is_ours and word in " ".join(process.cmdline()):
                    found.append(process)
        return found

    def kill(self, word: str, *, on: RayMachine | None) -> None:
        found = self.processes(word, on=on)
        assert found, word
        for process in found:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL)
        psutil.wait_procs(found, timeout=60.0)

    def end_ray(self, *, on: RayMachine | None) -> None:
        """All of Ray on a machine; what it started outside goes on."""
        while found := self.processes("", on=on):
            for process in found:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(found, timeout=60.0)

    def _mark(self, machine: RayMachine | None) -> str:
        return f"{self.folder}:{machine.name if machine else 'tests'}"

    def _start(
        self,
        machine: RayMachine | None,
        *options: str,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        command = (
            *(sys.executable, "-m", "ray.scripts.scripts", "start", *options),
            f"--node-ip-address={machine.address if machine else _HOST}",
            *("--min-worker-port=0", "--max-worker-port=0", "--object-store-memory=80000000"),
            *("--include-log-monitor=false", "--disable-usage-stats"),
            *((f"--temp-dir={self.folder}/ray",) if "--head" in options else ()),
        )
        given = link_environment(os.environ, token_file=self.token_file)
        given |= {**(environment or {}), "CONCERTINA_TESTS_RAY": self._mark(machine)}
        words = machine.words(*command) if machine else command
        for _ in range(_TRIES):
            ran = subprocess.run(
                words,
                env=given,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=_START_SECONDS,
            )
            if ran.returncode == 0:
                return
            told = ran.stdout + ran.stderr
            assert any(words in told for words in TOO_BUSY), told
            self.end_ray(on=machine)
        pytest.skip(f"This machine is too busy for Ray, which says: {told[-200:]}")


@contextlib.contextmanager
def ray_nodes() -> Iterator[RayNodes]:
    """The whole cluster. Skips the test where it cannot be."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip(WHY_NOT)
    needed = ("ip", "iptables", "nsenter", "unshare")
    if os.geteuid() != 0 or not all(map(shutil.which, needed)):
        pytest.skip(f"needs root and {', '.join(needed)} for machines of their own")
    folder = Path(tempfile.mkdtemp(prefix="crn-"))
    bridge = f"cr{os.getpid()}{next(_letters)}"
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.enter_context(cables.bridge(bridge, f"{_HOST}/24"))
        head = stack.enter_context(_machine("head", 2, bridge, folder))
        node = stack.enter_context(_machine(NODE, 3, bridge, folder))
        cluster = RayNodes(folder=folder, head=head, node=node)
        cluster.token_file.write_text("0123456789abcdef0123456789abcdef")
        cluster.token_file.chmod(0o600)
        stack.enter_context(_store(folder))
        stack.callback(cluster.end_ray, on=None)
        cluster.start_head()
        cluster.start_beside_the_tests()
        cluster.start_node()
        yield cluster


@contextlib.contextmanager
def _store(folder: Path) -> Iterator[None]:
    command = (
        *(str(embedded_valkey.binary()), "--bind", _HOST, "--port", str(_STORE_PORT)),
        *("--dir", str(folder), "--save", "", "--protected-mode", "no"),
    )
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        server.kill()
        server.wait()


@contextlib.contextmanager
def _machine(name: str, number: int, bridge: str, folder: Path) -> Iterator[RayMachine]:
    namespace, address = f"{bridge}-{number}", f"{_SUBNET}.{number}"
    own = folder / name
    for one in (own, folder / "ray"):  # Ray's is at one path on all, and each has its own there
        one.mkdir(exist_ok=True)
    with cables.namespace(namespace, on=bridge, address=f"{address}/24", gateway=_HOST):
        outer = subprocess.Popen(
            (
                *("ip", "netns", "exec", namespace, "unshare", "--uts", "--mount", "--pid"),
                *("--fork", "--kill-child", "--mount-proc", "sh", "-c"),
                _BEGIN.format(name=name, own=own, rays=folder / "ray"),
            )
        )
        try:
            anchor = _found(lambda: _sleeper(outer.pid))
            yield RayMachine(name=name, address=address, cable=namespace, own=own, anchor=anchor)
        finally:
            with contextlib.suppress(psutil.NoSuchProcess):
                for child in psutil.Process(outer.pid).children(recursive=True):
                    child.kill()
            outer.kill()
            outer.wait()


def _sleeper(pid: int) -> psutil.Process | None:
    children = psutil.Process(pid).children(recursive=True)
    return next((one for one in children if one.name() == "sleep"), None)


def _found(look: Callable[[], psutil.Process | None]) -> psutil.Process:
    give_up_at = time.monotonic() + 60.0
    while (found := look()) is None:
        assert time.monotonic() < give_up_at, "the machine did not begin"
        time.sleep(0.02)
    return found


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
