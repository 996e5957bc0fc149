"""How does the service ask the simulator for something? One line of JSON each way, on a socket."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any, Final

from cluster.worker_host import HostUnavailable

SOCKET: Final = "simulator.socket"
PATIENCE_SECONDS: Final = 10.0
HOW_TO_START: Final = "python -m cluster.simulated_host.simulator"


def socket_path(state_dir: Path) -> Path:
    return state_dir / SOCKET


def free_socket_path(state_dir: Path) -> Path:
    """Return the same once nobody is in the way, for whoever is to listen there."""
    state_dir.mkdir(parents=True, exist_ok=True)
    path = socket_path(state_dir)
    path.unlink(missing_ok=True)
    return path


def ask(state_dir: Path, question: str, **arguments: Any) -> Any:
    """Return what the simulator answers.

    Raises:
        HostUnavailable: it does not.
    """
    path = socket_path(state_dir)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(PATIENCE_SECONDS)
            line.connect(str(path))
            line.sendall(json.dumps({"question": question, **arguments}).encode() + b"\n")
            with line.makefile("rb") as answers:
                answer = answers.readline()
        if not answer.endswith(b"\n"):
            raise HostUnavailable(f"The simulator ended while it answered {question!r}.")
        return json.loads(answer)
    except (OSError, ValueError) as trouble:
        raise HostUnavailable(
            f"The simulator does not answer at {path} ({trouble}). Start it: {HOW_TO_START}"
        ) from trouble
