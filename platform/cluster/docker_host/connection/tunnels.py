"""How is a daemon reached whose machine lets us in by SSH? Through one connection that `ssh` keeps.

The remote daemon's socket appears as one in a private folder here. What `ssh` needs (key, known
hosts, a jump host) stands in the service user's own SSH configuration. The connection ends with
this process: a `cat` at its other end reads from our pipe until that closes.
"""

from __future__ import annotations

import socket
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from cluster.worker_host import HostUnavailable

_REMOTE_SOCKET: Final = "/var/run/docker.sock"
_POLL_SECONDS: Final = 0.02
_OPTIONS: Final = {
    "BatchMode": "yes",  # nobody is there to type a password
    "ExitOnForwardFailure": "yes",
    "ServerAliveInterval": "5",  # a cut cable is noticed after ten seconds
    "ServerAliveCountMax": "2",
    "StreamLocalBindUnlink": "yes",
    "StreamLocalBindMask": "0177",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tunnels:
    """One for each address, made when first needed and again when it broke."""

    seconds: float  # for it to stand
    _known: dict[str, _Tunnel] = field(default_factory=dict)

    def local_url(self, url: str) -> str:
        """Return where the daemon of an address like ssh://user@host:22 is found here.

        Raises:
            HostUnavailable: `ssh` cannot connect; with its words.
        """
        tunnel = self._known.setdefault(url, _Tunnel(url=url))
        return f"unix://{tunnel.standing(seconds=self.seconds)}"

    def close(self) -> None:
        for url in list(self._known):
            self._known.pop(url).close()


@dataclass(slots=True, kw_only=True)
class _Tunnel:
    url: str
    _folder: tempfile.TemporaryDirectory[str] | None = None
    _process: subprocess.Popen[bytes] | None = None
    _failures: int = 0
    _said: str = ""  # why the latest attempt was in vain
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def standing(self, *, seconds: float) -> Path:
        """The socket here, once one can connect to it.

        Whoever waited while another tried in vain has the answer, and does not try as well: that
        would take so long for each who waits.
        """
        known = self._failures
        with self._lock:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="concertina-ssh-")
            path = Path(self._folder.name) / "docker.sock"
            if self._process is None or self._process.poll() is not None:
                if self._failures > known:
                    raise HostUnavailable(self._said)
                self._process = _begun(self.url, path)
                self._await(self._process, path, give_up_at=time.monotonic() + seconds)
            return path

    def close(self) -> None:
        with self._lock:
            if self._process is not None:
                _end(self._process)
            if self._folder is not None:
                self._folder.cleanup()

    def _await(self, process: subprocess.Popen[bytes], path: Path, *, give_up_at: float) -> None:
        while not _is_open(path):
            is_late = time.monotonic() >= give_up_at
            if is_late or process.poll() is not None:
                _end(process)
                said = _words(path).read_text(errors="replace").strip()
                self._failures += 1
                self._said = f"{self.url}: {said or 'ssh does not get through'}"
                raise HostUnavailable(self._said)
            time.sleep(_POLL_SECONDS)


def _begun(url: str, path: Path) -> subprocess.Popen[bytes]:
    address = urlsplit(url)
    port = () if address.port is None else ("-p", str(address.port))
    user = () if address.username is None else ("-l", address.username)
    options = [part for name, value in _OPTIONS.items() for part in ("-o", f"{name}={value}")]
    forward = f"{path}:{address.path or _REMOTE_SOCKET}"
    host = ("--", address.hostname or "", "cat")
    with _words(path).open("wb") as words:  # not a pipe: nobody reads while all is well
        return subprocess.Popen(  # noqa: S603 - the admin says where to
            ("ssh", "-T", *options, *port, *user, "-L", forward, *host),  # noqa: S607 - the admin's
            stdin=subprocess.PIPE,  # closes with us
            stdout=subprocess.DEVNULL,
            stderr=words,
            start_new_session=True,
        )


def _words(path: Path) -> Path:
    """Return what `ssh` says."""
    return path.with_name("words")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def _is_open(path: Path) -> bool:
    if not path.exists():
        return False
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
