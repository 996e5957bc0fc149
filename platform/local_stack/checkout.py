"""Where does this checkout keep its things? Folders, sockets and ports, so that two never meet."""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIRST_PORT = 8100
PORTS = 800  # checkouts spread over [FIRST_PORT, FIRST_PORT + PORTS)


class UnsafeFolder(Exception):
    """A folder for private sockets exists but belongs to someone else, or others may enter it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """One copy of the source tree and what belongs to it on this machine."""

    root: Path
    state_dir: Path  # everything that lives on: databases, logs, checkpoints, passwords
    runtime_dir: Path  # sockets only; short, because a unix socket's path ends at 107 characters

    @property
    def identity(self) -> str:
        """Eight hex digits that differ between two stacks on one machine."""
        return identity_of(self.state_dir)

    @property
    def logs_dir(self) -> Path:
        return self.state_dir / "logs"

    @property
    def preferred_port(self) -> int:
        """Return the port that this checkout tries first, so that its address seldom changes."""
        return FIRST_PORT + int(self.identity, 16) % PORTS

    def make_folders(self) -> None:
        """Create the folders, readable by nobody else.

        Raises:
            UnsafeFolder: someone else made the socket folder.
        """
        for folder in (self.state_dir, self.logs_dir):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        make_private_folder(self.runtime_dir)


def find(root: Path = ROOT, *, home: Path | None = None) -> Checkout:
    """The checkout at `root`, by default the one this module lies in.

    `home`, else the variable `CONCERTINA_HOME`, names another folder for its state: a second
    stack of the same sources.
    """
    root = root.resolve()
    named = home or os.environ.get("CONCERTINA_HOME")
    state_dir = Path(named or root / ".concertina").resolve()
    identity = identity_of(state_dir)
    return Checkout(
        root=root,
        state_dir=state_dir,
        runtime_dir=Path(tempfile.gettempdir()) / f"concertina-{identity}",
    )


def identity_of(state_dir: Path) -> str:
    return hashlib.sha256(str(state_dir).encode()).hexdigest()[:8]


def make_private_folder(folder: Path) -> None:
    """Create `folder` for our eyes only, or make sure that it is ours already.

    `/tmp` is everybody's: a folder waiting there under a name that can be guessed is only
    trusted when it is a real folder of our own.

    Raises:
        UnsafeFolder: it is not.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise UnsafeFolder(f"{folder} belongs to someone else: remove it, then try again.")
    folder.chmod(0o700)


def free_port(preferred: int) -> int:
    """The first port from `preferred` on that nobody on this machine listens on.

    Raises:
        OSError: none of the next hundred is free.
    """
    for port in range(preferred, preferred + 100):
        if is_free(port):
            return port
    raise OSError(f"no free port in {preferred}…{preferred + 99}")


def is_free(port: int) -> bool:
    """True if a server could listen on this port of the loopback interface."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
