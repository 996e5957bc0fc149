"""Checkpoint, stop all workers, start all: what a launcher without elasticity can do."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from benchmarks.rescale_stall.contender import ROOT, Contender, environment, free_port

SCRIPT = Path(__file__).with_name("plain_script.py")


class Cold(Contender):
    """Workers are processes of this one."""

    name = "cold restart"

    def __init__(self, model: str, folder: Path) -> None:
        super().__init__(model, folder)
        self._workers: list[subprocess.Popen[bytes]] = []

    def want(self, count: int) -> None:
        for worker in self._workers:
            worker.send_signal(signal.SIGTERM)
        for worker in self._workers:
            worker.wait()
        common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        common |= {"WORLD_SIZE": str(count)}
        self._workers = [self._start({**common, "RANK": str(rank)}) for rank in range(count)]

    def stop(self) -> None:
        for worker in self._workers:
            worker.kill()
            worker.wait()

    def _start(self, variables: dict[str, str]) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, str(SCRIPT), self.model, str(self.folder)],
                cwd=ROOT,
                env={**environment(), **variables},
                stdout=log,
                stderr=log,
            )
