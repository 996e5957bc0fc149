"""What is one machine with a Docker daemon, and how does it burn down and come back?"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from local_stack.containers import endpoint, mounts, own_cgroup
from local_stack.containers.own_cgroup import CONTROLLERS
from local_stack.processes.child_process import ProcessSpec
from local_stack.processes.servers import answers
from local_stack.processes.supervisor import StackSupervisor

SHIM: Final = "containerd-shim"
START_SECONDS: Final = 120.0  # three daemons side by side on a busy machine
STOP_SECONDS: Final = 40.0
# A machine that starts finds nothing of what ran before: no file says that a daemon runs.
FORGET_FIRST: Final = ("sh", "-c", 'rm -f "$1" "$2"; shift 2; exec "$@"', "sh")
LINK_IMAGES: Final = """
    umount --lazy "$1" 2>/dev/null
    cp --archive --link "$1/image" "$1/overlay2" "$2" && rm -rf "$2"/image/*/layerdb/mounts
"""


@dataclass(slots=True, kw_only=True)
class ChaosMachine:
    """A network namespace, and a daemon in it that is started again whenever it ends.

    As a swarm demands, the daemon runs without live-restore: containers outlive it, and the next
    one ends them.
    """

    name: str
    address: str
    namespace: str
    folder: Path  # short: it holds sockets
    data: Path  # images and containers
    supervisor: StackSupervisor
    is_away: bool = False

    @property
    def url(self) -> str:
        return f"unix://{self.folder / 'docker.sock'}"

    @property
    def daemon(self) -> psutil.Process | None:
        """The daemon as it runs now."""
        for record in self.supervisor.records():
            with suppress(psutil.NoSuchProcess):
                process = psutil.Process(record.pid)
                return process if process.status() != psutil.STATUS_ZOMBIE else None
        return None

    def start(self) -> None:
        """Raises: NotReady."""
        self.supervisor.start(self._spec())

    def look_after(self) -> None:
        """Start the daemon again if it has ended, as systemd would."""
        if not self.is_away:
            self.supervisor.run_once()

    def burn_down(self) -> None:
        """The daemon and every container end at once, and stay away until `come_back`."""
        self.is_away = True
        daemon = self.daemon
        doomed = [] if daemon is None else [daemon, *daemon.children(recursive=True)]
        for shim in self.shims():
            doomed += [shim, *_below(shim)]
        for process in doomed:
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def come_back(self) -> None:
        """Its daemon starts with the next `look_after`."""
        self.is_away = False

    def shims(self) -> list[psutil.Process]:
        """The parents of its containers' processes."""
        found = psutil.process_iter(["cmdline"])
        return [one for one in found if container_of(one.info["cmdline"] or [], self.folder)]

    def leave(self) -> None:
        """Leave nothing behind but its namespace, which is not ours, and its data.

        Not in order: a manager of a swarm whose majority is gone takes minutes to stop.
        """
        self.burn_down()
        self.supervisor.stop()
        for folder in (self.data, self.folder):
            mounts.unmount_below(folder)
        _remove_groups(self.folder.name)
        shutil.rmtree(self.folder, ignore_errors=True)

    def link_images(self, source: ChaosMachine) -> None:
        """Have all images of another machine, before the first start: seconds and gigabytes saved.

        Layers are never changed once they are there, so the same files will do. A running daemon
        mounts its folder upon itself, and no link leads out of a mount: hence `unshare`.
        """
        self.data.mkdir()
        folders = (str(source.data), str(self.data))
        command = ("unshare", "--mount", "sh", "-c", LINK_IMAGES, "sh", *folders)
        subprocess.run(command, check=True)

    def _spec(self) -> ProcessSpec:
        cgroup = own_cgroup.ensure(self.folder.name)
        run = self.folder / "exec"
        configuration = self.folder / "daemon.json"  # not that of the machine's own daemon
        configuration.write_text("{}")
        pid_files = (self.folder / "docker.pid", run / "containerd" / "containerd.pid")
        return ProcessSpec(
            name=f"dockerd of {self.name}",
            command=(
                *(*FORGET_FIRST, *map(str, pid_files)),
                *("nsenter", f"--net=/run/netns/{self.namespace}"),
                *("dockerd", "--config-file", str(configuration)),
                *("--bridge", "none", "--host", self.url),
                *("--data-root", str(self.data), "--exec-root", str(run)),
                *("--pidfile", str(pid_files[0])),
                *(("--cgroup-parent", cgroup) if cgroup else ()),
            ),
            log=self.folder / "log",
            working_directory=Path("/"),
            is_ready=lambda: answers(endpoint.reach, self.url),
            ready_seconds=START_SECONDS,
            stop_seconds=STOP_SECONDS,
        )


def container_of(command: Sequence[str], folder: Path) -> str:
    """The id of the container whose shim has this command line; empty: it is none of this folder's.

    `containerd-shim-runc-v2 -namespace moby -id ID -address FOLDER/exec/containerd/….sock`
    """
    words = list(command)
    if not words or not Path(words[0]).name.startswith(SHIM) or "-id" not in words[:-1]:
        return ""
    is_ours = any(word.startswith(f"{folder}/") for word in words)
    return words[words.index("-id") + 1] if is_ours else ""


def processes_below(shim: psutil.Process) -> Iterator[psutil.Process]:
    """Yield those in its container, the first one first."""
    yield from _below(shim)


def _below(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return process.children(recursive=True)
    return []


def _remove_groups(name: str) -> None:
    """The control groups of its containers, the deepest first."""
    for top in CONTROLLERS.glob(f"*/{name}"):
        below = [path for path in top.rglob("*") if path.is_dir()]
        for group in sorted(below, key=lambda path: len(path.parts), reverse=True):
            with suppress(OSError):
                group.rmdir()
    own_cgroup.remove(name)
