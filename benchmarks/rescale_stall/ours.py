"""A real coordinator and real workers under the process host, beside a stand-in for the service."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cluster.process_host.host import ProcessHost
from cluster.process_host.sweep import sweep
from cluster.worker_host import Labels, Launch, ProcessRole

from benchmarks.rescale_stall import models
from benchmarks.rescale_stall.contender import ROOT, Contender, environment, free_port
from concertina_worker.protocol import Desired, DesiredAction, Env, GenerationReport

SCRIPT = Path(__file__).with_name("elastic_script.py")
PHASES = ("header_seconds", "transfer_seconds", "waited_seconds", "steps")
_ZYGOTE_SECONDS = 60.0


class Ours(Contender):
    """Workers start through a zygote, as on the platform."""

    name = "ours"
    are_survivors = True
    script = SCRIPT

    def __init__(self, model: str, folder: Path) -> None:
        super().__init__(model, folder)
        self.generations: list[GenerationReport] = []
        self.desired: Desired = {
            "action": DesiredAction.RUN,
            "revision": 0,
            "attempt": 1,
            "workers": [],
            "global_batch_size": self.batch_of(model),
            "next_generation": 1,
        }
        self._host = ProcessHost(state_dir=folder / "state", warm_after_seconds=0.0)
        self._started = 0
        self._port = free_port()
        self._service = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=self._service.serve_forever, daemon=True).start()
        self._start(ProcessRole.COORDINATOR, "coordinator", "-m", "concertina_worker.coordinator")

    def batch_of(self, model: str) -> int:
        return models.BATCH[model]

    def begin(self) -> None:
        super().begin()
        deadline = time.monotonic() + _ZYGOTE_SECONDS
        while not list((self.folder / "state").glob("zygotes/*/socket")):
            if time.monotonic() > deadline:
                raise SystemExit(f"there is no zygote: see {self.folder}/state/zygotes")
            time.sleep(0.1)

    def want(self, count: int) -> None:
        workers = self.desired["workers"][:count]
        while len(workers) < count:
            self._started += 1
            name = f"w{self._started}"
            self._start(ProcessRole.WORKER, name, str(self.script), self.model, str(self.folder))
            workers.append(name)
        revision = self.desired["revision"] + 1
        self.desired = {**self.desired, "revision": revision, "workers": workers}

    def stop(self) -> None:
        sweep(self._host.state_dir, grace_seconds=0.0)
        self._service.shutdown()

    def phases(self) -> list[dict[str, float]]:
        """Where the time of each handover went, as its source has logged it."""
        names = tuple(f"w{number}" for number in range(1, self._started + 1))
        lines = [
            line.text
            for line in self._host.logs(names, job_id="benchmark")
            if "action=handed_over" in line.text
        ]
        return [
            {name: float(value) for name, value in re.findall(r"(\w+)=([\d.]+)", line)}
            for line in lines
        ]

    def _start(self, role: ProcessRole, name: str, *arguments: str) -> None:
        variables = {
            Env.JOB_ID: "benchmark",
            Env.TOKEN: "benchmark",
            Env.WORKER_ID: name,
            Env.ATTEMPT: "1",
            Env.COORDINATOR: f"127.0.0.1:{self._port}",
            Env.SERVICE_URL: f"http://127.0.0.1:{self._service.server_address[1]}",
            Env.STATE_DIR: str(self.folder / "coordinator"),
            Env.CHECKPOINT_DIR: str(self.folder / "checkpoints"),
        }
        self._host.start(
            Launch(
                labels=Labels(process_id=name, job_id="benchmark", role=role, attempt=1, fence=1),
                command=(sys.executable, *arguments),
                env={**environment(), **{str(key): value for key, value in variables.items()}},
                node="here",
                workdir=str(ROOT),
            )
        )


def _handler(job: Ours) -> type[BaseHTTPRequestHandler]:
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
