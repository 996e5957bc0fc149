"""How long does training stand still when a worker joins or leaves? Hot against cold, in one run.

Hot: a real coordinator and real workers; the stall is what the workers report (the longest gap
between two optimizer steps round the switch, less the median step). Cold: the same script is
stopped after a checkpoint and started again; the stall is the gap between the last step before
and the first step after. Both alternate, so that they meet the same load of the machine.

    python benchmarks/rescale_stall.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "worker_image"))

from concertina_worker.protocol import Desired, DesiredAction, Env, GenerationReport

BATCH = 64


def train() -> None:
    """The job of this benchmark: about two million parameters with Adam."""
    import torch  # noqa: PLC0415 - the measuring process does without
    from torch import nn  # noqa: PLC0415
    from torch.utils.data import TensorDataset  # noqa: PLC0415

    import concertina_worker as elastic  # noqa: PLC0415

    torch.set_num_threads(1)
    job = elastic.init()
    model = nn.Sequential(nn.Linear(256, 1280), nn.ReLU(), nn.Linear(1280, 1280), nn.ReLU())
    model.append(nn.Linear(1280, 64))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    data = TensorDataset(torch.rand(6400, 256), torch.rand(6400, 64))
    job.register(
        model, optimizer, warm_up=lambda: model(data.tensors[0][:8]).square().mean().backward()
    )
    for _ in job.epochs(1_000_000):
        for inputs, targets in job.batches(data, BATCH):
            nn.functional.mse_loss(model(inputs), targets).backward()
            optimizer.step()
            optimizer.zero_grad()


class Job:
    """A coordinator, workers, and the service's side of a sync."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.generations: list[GenerationReport] = []
        self.steps_at: list[float] = []
        self.desired: Desired = {
            "action": DesiredAction.RUN,
            "revision": 0,
            "attempt": 1,
            "workers": [],
            "global_batch_size": BATCH,
            "next_generation": 1,
        }
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._start("coordinator", [sys.executable, "-m", "concertina_worker.coordinator"])

    def want(self, count: int) -> GenerationReport:
        """Rescale to this many workers; returns the report once it is complete."""
        workers = [name for name in self.desired["workers"] if self._processes[name].poll() is None]
        workers = workers[:count]
        while len(workers) < count:
            name = f"w{len(self._processes)}"
            self._start(name, [sys.executable, __file__, "--train"])
            workers.append(name)
        revision = self.desired["revision"] + 1
        self.desired = {**self.desired, "revision": revision, "workers": workers}
        return self._wait_for(revision)

    def stop(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()
        self._server.shutdown()

    def _wait_for(self, revision: int) -> GenerationReport:
        while True:
            for report in self.generations:
                if report["revision"] == revision:
                    return report
            time.sleep(0.02)

    def _start(self, name: str, command: list[str]) -> None:
        environment = _environment(self.folder) | {
            Env.JOB_ID: "benchmark",
            Env.TOKEN: "benchmark",
            Env.WORKER_ID: name,
            Env.ATTEMPT: "1",
            Env.COORDINATOR: f"127.0.0.1:{self._port}",
            Env.SERVICE_URL: f"http://127.0.0.1:{self._server.server_address[1]}",
            Env.STATE_DIR: str(self.folder / "coordinator"),
        }
        with (self.folder / f"{name}.log").open("wb") as log:
            self._processes[name] = subprocess.Popen(
                command, env={**os.environ, **environment}, stdout=log, stderr=log
            )


def _handler(job: Job) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            report = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            job.generations += report["generations"]
            content = json.dumps(job.desired).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """The benchmark prints results only."""

    return Handler


def _environment(folder: Path) -> dict[str, str]:
    return {
        Env.CHECKPOINT_DIR: str(folder / "checkpoints"),
        Env.SAMPLE_AUDIT_DIR: str(folder / "audit"),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(Path(__file__).resolve().parents[1] / "worker_image"),
    }


class ColdJob:
    """The same script, which can only be stopped and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._audit = folder / "audit" / "alone.jsonl"
        self._start()
        self._wait_for_steps(20)

    def restart(self) -> float:
        """Checkpoint, stop, start: seconds without an optimizer step."""
        before = self._newest_step_at()
        self._process.send_signal(signal.SIGTERM)
        self._process.wait()
        began = max(before, self._newest_step_at())
        steps = self._steps()
        self._start()
        self._wait_for_steps(steps + 1)
        return self._newest_step_at() - began

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def _start(self) -> None:
        with (self.folder / "cold.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, __file__, "--train"],
                env={**os.environ, **_environment(self.folder)},
                stdout=log,
                stderr=log,
            )

    def _steps(self) -> int:
        return self._audit.read_bytes().count(b"\n") if self._audit.exists() else 0

    def _newest_step_at(self) -> float:
        return self._audit.stat().st_mtime if self._audit.exists() else time.time()

    def _wait_for_steps(self, count: int) -> None:
        while self._steps() < count:
            if self._process.poll() is not None:
                raise SystemExit((self.folder / "cold.log").read_text())
            time.sleep(0.005)


def _row(name: str, seconds: list[float]) -> str:
    return (
        f"{name:<28} median {median(seconds):7.3f} s   max {max(seconds):7.3f} s"
        f"   ({len(seconds)} times)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of 1 -> 2 -> 1 and one restart")
    parser.add_argument("--train", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.train:
        train()
        return
    load_before = os.getloadavg()[0]
    joining: list[float] = []
    leaving: list[float] = []
    restarting: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("hot", "cold"):
            (Path(folder) / name).mkdir()
        hot, cold = Job(Path(folder) / "hot"), None
        try:
            hot.want(1)
            cold = ColdJob(Path(folder) / "cold")
            for number in range(arguments.rounds):
                joining.append(hot.want(2)["stall_seconds"])
                leaving.append(hot.want(1)["stall_seconds"])
                restarting.append(cold.restart())
                print(
                    f"round {number + 1}: joining {joining[-1]:.3f} s, leaving {leaving[-1]:.3f} s,"
                    f" cold restart {restarting[-1]:.2f} s",
                    flush=True,
                )
        finally:
            hot.stop()
            if cold:
                cold.stop()
    print()
    print(_row("hot, a worker joins", joining))
    print(_row("hot, a worker leaves", leaving))
    print(_row("cold checkpoint and restart", restarting))
    ratio = median(restarting) / max(median(joining + leaving), 0.001)
    print(f"cold / hot, medians: {ratio:.0f} x (hot counted as at least 1 ms)")
    load = f"load average {load_before:.1f} before, {os.getloadavg()[0]:.1f} after"
    print(f"{load}, on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
