"""PyTorch's own elastic agents: one for each worker, which meet through a c10d rendezvous.

Time-outs are set as short as they work. With the store that agents and workers share by default,
growing hangs in torch 2.13.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from benchmarks.rescale_stall.cold import SCRIPT
from benchmarks.rescale_stall.contender import ROOT, Contender, environment, free_port

_TIMING = "join_timeout=120,last_call_timeout=1,keep_alive_interval=1,keep_alive_max_attempt=3"


class Torchrun(Contender):
    """Grows by one more agent, shrinks by one fewer; the first one holds the rendezvous."""

    name = "torchrun"

    def __init__(self, model: str, folder: Path) -> None:
        super().__init__(model, folder)
        self._agents: list[subprocess.Popen[bytes]] = []
        self._endpoint = f"127.0.0.1:{free_port()}"

    def want(self, count: int) -> None:
        while len(self._agents) < count:
            self._agents.append(self._start())
        while len(self._agents) > count:
            agent = self._agents.pop()
            agent.send_signal(signal.SIGTERM)
            agent.wait()

    def stop(self) -> None:
        for agent in self._agents:
            agent.send_signal(signal.SIGTERM)
        for agent in self._agents:
            try:
                agent.wait(timeout=20)
            except subprocess.TimeoutExpired:
                agent.kill()
                agent.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        options = ["--nnodes=1:3", "--nproc-per-node=1", "--max-restarts=1000"]
        options += ["--rdzv-backend=c10d", f"--rdzv-endpoint={self._endpoint}", "--rdzv-id=stall"]
        options += [f"--rdzv-conf={_TIMING}", "--monitor-interval=0.1", "--local-addr=127.0.0.1"]
        script = [str(SCRIPT), self.model, str(self.folder)]
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "torch.distributed.run", *options, *script],
                cwd=ROOT,
                env={**environment(), "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"},
                stdout=log,
                stderr=log,
            )
