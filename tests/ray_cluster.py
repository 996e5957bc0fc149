"""A real Ray cluster for the tests: one machine, which is its head and its only node.

It is made once in a process of pytest, when a test first asks for it, lets in who has its token
only, and is ended by the ids of what carries its mark. Without Ray such tests are skipped.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from cluster.process_host.record import identity
from cluster.process_host.sweep import sweep
from cluster.ray_host.kind import link_command, link_environment, link_options
from cluster.ray_host.link_process import Link
from local_stack.processes.own_ray import PORTS_OF_HELPERS

from tests.ports import free_port

NODE: Final = "n1"
POOL: Final = "default"  # by its label
INSTALLATION: Final = "tests"
WHY_NOT: Final = "Ray is not installed: .venv/bin/uv pip install -r requirements-ray.lock"
_MARK: Final = "CONCERTINA_TESTS_RAY"
_START_SECONDS: Final = 240.0  # 4 s on a quiet machine
_TRIES: Final = 3
_LEASES: Final = """
import json, ray, sys
ray.init(address=sys.argv[1], namespace="concertina", log_to_driver=False)
rows = ray.util.placement_group_table().values()
print(json.dumps([row["name"] for row in rows if row["state"] != "REMOVED"]))
"""
_REQUESTS: Final = """
import json, ray, sys
ray.init(address=sys.argv[1], namespace="concertina", log_to_driver=False)
rows = ray.util.placement_group_table().values()
print(json.dumps([row["state"] for row in rows if "/asked/" in row["name"]]))
"""
_END_AGENTS: Final = """
import ray, sys
ray.init(address=sys.argv[1], namespace="concertina", log_to_driver=False)
for name in ray.util.list_named_actors():
    ray.kill(ray.get_actor(name), no_restart=True)
"""
_PROVIDER: Final = "ray.autoscaler._private.fake_multi_node.node_provider"
_HEAD_ID: Final = "f" * 51 + "00000"
_AUTOSCALED: Final = {
    "RAY_FAKE_CLUSTER": "1",
    "RAY_enable_autoscaler_v2": "1",
    "RAY_CLOUD_INSTANCE_ID": _HEAD_ID,
    "RAY_OVERRIDE_NODE_ID_FOR_TESTING": _HEAD_ID,
    "AUTOSCALER_UPDATE_INTERVAL_S": "1",
}
_COMMANDS: Final = (
    *("initialization", "setup", "head_setup", "worker_setup"),
    *("head_start_ray", "worker_start_ray"),
)
TOO_BUSY: Final = ("timed out during startup", "Timed out", "timed out", "in time")


@dataclass
class RayCluster:
    """The cluster, and what the service needs to get into it."""

    folder: Path
    port: int = 0
    pools: tuple[str, ...] = ()  # of which its own autoscaler brings a machine each, when asked

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def token_file(self) -> Path:
        return self.folder / "token"

    @property
    def node_dir(self) -> Path:
        """What the nodes of this machine have on their own disk."""
        return self.folder / "nodes"

    def run(self) -> None:
        """Start it, and return when it answers."""
        self.token_file.write_text("0123456789abcdef0123456789abcdef")
        self.token_file.chmod(0o600)
        _tried(self._start_head, self.burn_down)

    def add_node(self, name: str = NODE, *, pool: str = POOL) -> None:
        """Start Ray's daemon of a node, once more after it was killed."""
        _tried(lambda: self._start_node(name, pool), lambda: None)

    def drain(self, ray_id: str, *, seconds: int) -> None:
        """Tell Ray's head that a machine goes away, as a cloud's notice would."""
        command = (
            *(sys.executable, "-m", "ray.scripts.scripts", "drain-node"),
            *(f"--address={self.address}", f"--node-id={ray_id}"),
            *("--reason=DRAIN_NODE_REASON_PREEMPTION", "--reason-message=spot notice"),
            f"--deadline-remaining-seconds={seconds}",
        )
        ran = self._run(command)
        assert ran.returncode == 0, ran.stdout + ran.stderr

    def requests(self) -> list[str]:
        """States of all leases with which machines were asked for, ever."""
        ran = self._run((sys.executable, "-c", _REQUESTS, self.address))
        assert ran.returncode == 0, ran.stdout + ran.stderr
        states: list[str] = json.loads(ran.stdout.splitlines()[-1])
        return states

    def leases(self) -> set[str]:
        """Names of the nodes of which Ray leases something, or still means to."""
        ran = self._run((sys.executable, "-c", _LEASES, self.address))
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return {name.split(":")[1] for name in json.loads(ran.stdout.splitlines()[-1])}

    def end_agents(self) -> None:
        """End them for good, but leave their leases."""
        ran = self._run((sys.executable, "-c", _END_AGENTS, self.address))
        assert ran.returncode == 0, ran.stdout + ran.stderr

    def _start_head(self) -> str | None:
        self.port = free_port()
        return self._start(
            *("--head", f"--port={self.port}", f"--ray-client-server-port={free_port()}"),
            *(f"--temp-dir={self.folder}/{self.port}", "--include-dashboard=false"),
            *((f"--autoscaling-config={self._autoscaling()}",) if self.pools else ()),
            cpus=0 if self.pools else 2,
        )

    def _autoscaling(self) -> Path:
        """Write what Ray's autoscaler brings: raylets of this machine, by its provider for tests.

        It is named as one of somebody else, because Ray's wheel lacks the defaults of its own.
        """
        bounds = {"node_config": {}, "min_workers": 0, "max_workers": 1}
        resources = {"CPU": 2, "object_store_memory": 80_000_000}
        kinds = {
            pool: {**bounds, "resources": resources, "labels": _labels(f"{pool}-1", pool)}
            for pool in self.pools
        }
        head = {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0}
        document = {
            "cluster_name": "tests",
            "max_workers": len(kinds),
            "idle_timeout_minutes": 0.1,
            "upscaling_speed": 1.0,
            "provider": {
                "type": "external",
                "module": f"{_PROVIDER}.FakeMultiNodeProvider",
                "gcs_address": self.address,
                "head_node_id": _HEAD_ID,
                "launch_multiple": True,
                "use_node_id_as_ip": True,
                "disable_node_updaters": True,
                "disable_launch_config_check": True,
            },
            "head_node_type": "ray.head.default",
            "available_node_types": {"ray.head.default": head, **kinds},
            "auth": {},
            "file_mounts": {},
            "file_mounts_sync_continuously": False,
            **dict.fromkeys(("cluster_synced_files", "rsync_exclude", "rsync_filter"), ()),
            **{f"{part}_commands": [] for part in _COMMANDS},
        }
        file = self.folder / "autoscaling.json"
        file.write_text(json.dumps(document))
        return file

    def _start_node(self, name: str, pool: str) -> str | None:
        return self._start(f"--address={self.address}", name=name, pool=pool)

    def _start(
        self, *options: str, name: str = NODE, pool: str = POOL, cpus: int = 2
    ) -> str | None:
        """Return what Ray says if it does not start."""
        is_head_alone = self.pools and "--head" in options
        labels = _labels("head", "none") if is_head_alone else _labels(name, pool)
        command = (
            *(sys.executable, "-m", "ray.scripts.scripts", "start", *options),
            *("--node-ip-address=127.0.0.1", "--min-worker-port=0", "--max-worker-port=0"),
            *(f"--num-cpus={cpus}", "--num-gpus=0", "--object-store-memory=80000000"),
            *("--include-log-monitor=false", "--disable-usage-stats"),
            *(f"--{helper}={free_port()}" for helper in PORTS_OF_HELPERS),
            "--labels=" + ",".join(f"{key}={value}" for key, value in labels.items()),
        )
        ran = self._run(command)
        return None if ran.returncode == 0 else ran.stdout + ran.stderr

    def _run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        environment = link_environment(os.environ, token_file=self.token_file)
        return subprocess.run(
            command,
            env={
                **environment,
                **(_AUTOSCALED if self.pools else {}),
                _MARK: str(self.folder),
            },
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_START_SECONDS,
        )

    def link(
        self,
        *,
        address: str | None = None,
        worker_python: Path | None = None,
        first_user: int | None = None,
        only_looks: bool = False,
    ) -> Link:
        """A link of its own into the cluster."""
        return Link(
            command=link_command(Path(sys.executable)),
            env=link_environment(os.environ, token_file=self.token_file),
            options=link_options(
                address=address or self.address,
                installation=INSTALLATION,
                node_dir=self.node_dir,
                state_dir=self.folder / "state",
                worker_python=worker_python or Path(sys.executable),
                first_user=first_user,
                only_looks=only_looks,
            ),
            begin_seconds=120.0,  # the tests' machine may be busy
        )

    def sweep(self) -> None:
        """End what jobs have on the nodes, and forget that it was there; agents stay."""
        for node in (self.node_dir / INSTALLATION).glob("*"):
            sweep(node, grace_seconds=0.0)
            for part in ("processes", "logs", "jobs"):
                shutil.rmtree(node / part, ignore_errors=True)

    def processes(self, word: str) -> list[identity.ProcessIdentity]:
        """Of the cluster, whose command has this word in it; "": all."""
        found = []
        mark = f"{_MARK}={self.folder}".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if mark in (entry / "environ").read_bytes().split(b"\0") and word in command:
                    found.append(identity.of(int(entry.name)))
        return list(filter(None, found))

    def end(self) -> None:
        """All of it, and what runs on its nodes."""
        self.sweep()
        self.burn_down()

    def burn_down(self) -> None:
        """End all of Ray at once, and what is begun meanwhile; what runs on its nodes goes on."""
        while left := self.processes(""):
            for process in left:
                process.signal(signal.SIGKILL)
            for process in left:
                process.await_end(seconds=10.0)


def _labels(name: str, pool: str) -> dict[str, str]:
    return {"concertina.io/node": name, "concertina.io/pool": pool}


def _tried(start: Callable[[], str | None], clear: Callable[[], None]) -> None:
    """Start it, three times at most.

    Ray gives a node that starts half a minute, which no option changes. On a machine that is too
    busy for that each time its tests are skipped; any other trouble fails them.
    """
    for _ in range(_TRIES):
        told = start()
        if told is None:
            return
        assert any(words in told for words in TOO_BUSY), told
        clear()
    pytest.skip(f"This machine is too busy for Ray, which says: {told[-200:]}")


@contextlib.contextmanager
def cluster_of_its_own(*, pools: tuple[str, ...] = ()) -> Iterator[RayCluster]:
    """One that tests may do anything to. Skips the test where Ray is not installed.

    `pools`: it is a head without resources, and has an autoscaler that brings a machine for each.
    """
    if importlib.util.find_spec("ray") is None:
        pytest.skip(WHY_NOT)
    folder = Path(tempfile.mkdtemp(prefix="cray-"))  # short: sockets lie below it
    cluster = RayCluster(folder=folder, pools=pools)
    try:
        cluster.run()
        yield cluster
    finally:
        cluster.end()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[RayCluster]:
    with cluster_of_its_own() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def ray_link(ray_cluster: RayCluster) -> Iterator[Link]:
    """A link for all tests that do not strike it."""
    link = ray_cluster.link()
    yield link
    link.close()
