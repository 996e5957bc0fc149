"""Which Docker can run this checkout's jobs? One that answers, else one of its own.

Standard library only: `./dev doctor` asks before anything is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from local_stack.checkout import Checkout
from local_stack.processes.servers import NoServer, answers

OWN = "CONCERTINA_OWN_DOCKER"  # set: a daemon of the checkout, whatever else there is
SYSTEM_SOCKET = Path("/var/run/docker.sock")
INSTALL = "Install Docker, for example: apt-get install docker.io"
PATIENCE_SECONDS = 10


class NoDocker(NoServer):
    """Nothing here can run containers; the message says what to install."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonAddress:
    """Where a Docker daemon listens."""

    url: str
    is_ours: bool = False  # the stack starts and ends it


def choose(checkout: Checkout, environ: Mapping[str, str] = os.environ) -> DaemonAddress:
    """The daemon that `DOCKER_HOST` names, else the machine's, else one that we may start.

    Raises:
        NoDocker: there is none of them.
    """
    if shutil.which("docker") is None:
        raise NoDocker(f"Docker's command line is not installed. {INSTALL}")
    if not environ.get(OWN):
        if given := environ.get("DOCKER_HOST"):
            return _given(given)
        if SYSTEM_SOCKET.exists() and answers(reach, f"unix://{SYSTEM_SOCKET}"):
            return DaemonAddress(url=f"unix://{SYSTEM_SOCKET}")
    if shutil.which("dockerd") and os.geteuid() == 0:
        return DaemonAddress(url=own_url(checkout), is_ours=True)
    raise NoDocker(_advice())


def own_url(checkout: Checkout) -> str:
    """Return where a daemon of this checkout listens."""
    return f"unix://{checkout.runtime_dir / 'docker.sock'}"


def reach(url: str) -> str:
    """Ask once for the daemon's version.

    Raises:
        NoDocker: with what the daemon, or the lack of one, says.
    """
    return docker(url, "version", "--format", "{{.Server.Version}}", seconds=PATIENCE_SECONDS)


def docker(url: str, *arguments: str, seconds: float | None = None) -> str:
    """Run one of Docker's commands and return what it printed.

    Raises:
        NoDocker: with what it complained of.
    """
    try:
        ran = subprocess.run(
            ("docker", *arguments),
            env={**os.environ, "DOCKER_HOST": url},
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )
    except (OSError, subprocess.TimeoutExpired) as trouble:
        raise NoDocker(f"Docker at {url} does not answer: {trouble}") from trouble
    if ran.returncode:
        said = (ran.stderr.strip().splitlines() or ["without a word"])[-1]
        raise NoDocker(f"Docker at {url} does not do `docker {arguments[0]}`: {said}")
    return ran.stdout.strip()


def _given(url: str) -> DaemonAddress:
    if not url.startswith("unix://"):
        raise NoDocker(
            f"DOCKER_HOST={url}: ./dev runs containers on this machine only, through a socket"
            " such as unix:///var/run/docker.sock. Unset it, or name one."
        )
    reach(url)
    return DaemonAddress(url=url)


def _advice() -> str:
    if SYSTEM_SOCKET.exists() and not os.access(SYSTEM_SOCKET, os.W_OK):
        return f"You may not use {SYSTEM_SOCKET}: let root run `usermod -aG docker $USER`."
    if shutil.which("dockerd"):
        return (
            "Docker is installed but does not run, and only root may start it: `systemctl start"
            " docker`, or run ./dev as root, which starts a daemon of its own."
        )
    return f"No Docker answers at {SYSTEM_SOCKET}, and DOCKER_HOST is not set. {INSTALL}"
