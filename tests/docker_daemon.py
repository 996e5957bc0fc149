"""On which Docker daemon do the tests run? The one DOCKER_HOST names, else a private one.

A private one needs root and an installed `dockerd`. It is of one pytest process, has a folder, an
address range and networks of its own, and leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

import docker
import pytest
import requests
from cluster.docker_host import host
from cluster.docker_host.lifecycle import listing, starting
from local_stack.containers import own_bridge, own_cgroup

from tests import image_shelf

TINY_IMAGE: Final = "concertina-tests/tiny:1"
_START_SECONDS: Final = 240.0
_BUSYBOX: Final = Path("/bin/busybox")


@dataclass
class DockerDaemon:
    """A daemon that tests may use; `kill` and `run` only where it is private."""

    url: str
    folder: Path | None = None
    options: tuple[str, ...] = ("--live-restore",)
    namespace: str | None = None  # of the network it lives in; None: that of the tests
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def client(self) -> docker.APIClient:
        return docker.APIClient(base_url=self.url, version="auto", timeout=60)

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def run(self) -> None:
        """Start it, and return when it answers."""
        assert self.folder is not None
        if self.namespace is None:
            own_bridge.ensure(self._bridge)
        cgroup = own_cgroup.ensure(self.folder.name)
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                (
                    *(("nsenter", f"--net=/run/netns/{self.namespace}") if self.namespace else ()),
                    *("dockerd", "--bridge", self._bridge, "--host", self.url),
                    *("--data-root", str(self.folder / "data")),
                    *("--exec-root", str(self.folder / "exec")),
                    *("--pidfile", str(self.folder / "docker.pid")),
                    *(("--cgroup-parent", cgroup) if cgroup else ()),
                    *self.options,
                ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.await_answer()

    def await_answer(self) -> None:
        give_up_at = time.monotonic() + _START_SECONDS
        while not self._answers():
            assert self._process is None or self._process.poll() is None, self._last_words()
            assert time.monotonic() < give_up_at, self._last_words()
            time.sleep(0.05)

    def kill(self) -> None:
        """As a machine's trouble would; its containers go on."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._end_containerd()  # it may stay a zombie, for which the next one would wait

    def end(self) -> None:
        """Remove all that is in it, and it."""
        assert self.folder is not None
        if self._process is not None:
            if not self.is_running:
                self.run()  # only it can end the containers that survived it
            remove_everything(
                self.client(), networks=self.namespace is None
            )  # else they go with it
            self._process.terminate()
            try:
                self._process.wait(120)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._end_containerd()
        _unmount(self.folder)
        if self.namespace is None:
            own_bridge.remove(self._bridge)
        own_cgroup.remove(self.folder.name)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end_containerd(self) -> None:
        assert self.folder is not None
        path = self.folder / "exec" / "containerd" / "containerd.pid"
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int(path.read_text()), signal.SIGKILL)
        path.unlink(missing_ok=True)

    @property
    def _bridge(self) -> str:
        """One of its own: a daemon that has none removes the machine's docker0."""
        assert self.folder is not None
        return "none" if self.namespace else self.folder.name

    def _answers(self) -> bool:
        try:
            return bool(self.client().ping())
        except (docker.errors.DockerException, requests.RequestException):
            return False

    def _last_words(self) -> str:
        assert self.folder is not None
        return f"dockerd: {(self.folder / 'log').read_text(errors='replace')[-2000:]}"


@pytest.fixture
def unhurried_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start returns when all has started, an end is told with the whole log; however slow."""
    monkeypatch.setattr(host, "_START_SECONDS", 90.0)
    monkeypatch.setattr(starting, "_LOCK_SECONDS", 90.0)
    monkeypatch.setattr(listing, "_LOG_SECONDS", 90.0)


@pytest.fixture(scope="session")
def docker_daemon() -> Iterator[DockerDaemon]:
    """A daemon with the tiny image."""
    url = os.environ.get("DOCKER_HOST")
    daemon = DockerDaemon(url=url) if url else private_daemon(has_images=True)
    import_tiny_image(daemon.client())
    yield daemon
    if daemon.folder is not None:
        daemon.end()


def private_daemon(*options: str, has_images: bool = False) -> DockerDaemon:
    """A new daemon, for who must harm it; the caller ends it. Skips where there can be none.

    It is empty, or has the images that others of this run made for theirs.
    """
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        pytest.skip("needs Docker: set DOCKER_HOST, or be root where dockerd is installed")
    folder = Path(tempfile.mkdtemp(prefix="cd-", dir="/tmp"))  # short: it holds sockets
    pool = f"base=10.{100 + os.getpid() % 100}.0.0/16,size=24"  # another's are others, most likely
    daemon = DockerDaemon(
        url=f"unix://{folder}/docker.sock",
        folder=folder,
        options=("--live-restore", "--default-address-pool", pool, *options),
    )
    if has_images:
        image_shelf.take(folder / "data")
    try:
        daemon.run()
    except BaseException:
        daemon.end()
        raise
    return daemon


def import_tiny_image(
    client: docker.APIClient,
    image: str = TINY_IMAGE,
    programs: Mapping[str, str] = MappingProxyType({}),
    *,
    volumes: tuple[str, ...] = (),
) -> None:
    """A shell and its usual companions, 2 MB, further files by path, and volumes."""
    if client.images(image):
        return
    applets = subprocess.run((str(_BUSYBOX), "--list"), check=True, capture_output=True, text=True)
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.add(_BUSYBOX.resolve(), arcname="bin/busybox")
        for name in applets.stdout.split():
            link = tarfile.TarInfo(f"bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, "/bin/busybox"
            if name != "busybox":
                tar.addfile(link)
        for path, text in programs.items():
            program = tarfile.TarInfo(path)
            program.mode, program.size = 0o755, len(text.encode())
            tar.addfile(program, io.BytesIO(text.encode()))
    repository, _, tag = image.partition(":")
    client.import_image_from_data(
        archive.getvalue(),
        repository=repository,
        tag=tag,
        changes=[f"VOLUME {volume}" for volume in volumes],
    )


def remove_everything(client: docker.APIClient, *, networks: bool = True, **filters: str) -> None:
    """Containers, running or not, and networks, once hosts of this process remove none."""
    for chore in ("tidy_up", "remove_networks"):
        await_threads(chore)
    for container in client.containers(all=True, filters=filters):
        client.remove_container(container["Id"], force=True, v=True)
    for network in client.networks(filters={"type": "custom", **filters}) if networks else ():
        client.remove_network(network["Id"])


def await_threads(name: str) -> None:
    """Wait until what is done in the background under this name is done."""
    for thread in threading.enumerate():
        if thread.name == name:
            thread.join(20)


def _unmount(folder: Path) -> None:
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for mount in sorted((m for m in mounts if m.startswith(f"{folder}/")), reverse=True):
        subprocess.run(("umount", "--lazy", mount), check=False)
