"""What does each way of rescaling do in a round? Change the number of workers, again and again."""

from __future__ import annotations

import os
import socket
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path

from benchmarks.rescale_stall.timeline import Stall, Timeline

ROOT = Path(__file__).resolve().parents[2]
STEPS_BEFORE = 8  # with a number of workers, before the next change
LONGEST_SECONDS = 300.0


class Contender(ABC):
    """One job, from its first worker on."""

    name: str
    are_survivors = False  # do workers live through a change?

    def __init__(self, model: str, folder: Path) -> None:
        self.model = model
        self.folder = folder
        self.timeline = Timeline(folder / "steps")

    @abstractmethod
    def want(self, count: int) -> None:
        """Ask for this many workers; returns at once, or when it has been done."""

    @abstractmethod
    def stop(self) -> None:
        """End all processes."""

    def change_to(self, count: int) -> Stall:
        since = time.monotonic()
        self.want(count)
        self._wait_for_steps(count, since)
        return self.timeline.stall(since=since, are_survivors=self.are_survivors)

    def begin(self) -> None:
        since = time.monotonic()
        self.want(1)
        self._wait_for_steps(1, since)

    def _wait_for_steps(self, count: int, since: float) -> None:
        while self.timeline.steps_with(count, since=since) < STEPS_BEFORE:
            if time.monotonic() - since > LONGEST_SECONDS:
                raise SystemExit(f"{self.name} does not get to {count} workers: see {self.folder}")
            time.sleep(0.1)


def environment() -> dict[str, str]:
    """The same for the workers of all."""
    path = os.pathsep.join(str(ROOT / part) for part in (".", "worker_image", "platform"))
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": os.environ.get("HOME", "/"),
        "PYTHONPATH": path,
        "OMP_NUM_THREADS": "1",
        "GLOO_SOCKET_IFNAME": "lo",
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
