"""A slow machine, with real processes: the script registers long after it was taken for plain."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cluster.process_host.host import ProcessHost
from cluster.process_host.process_environments import MachineEnvironments
from cluster.process_host.sweep import sweep
from django.utils import timezone

from autoscaler.control_loop.tick import ControlLoop
from jobs.commands.observations.sync import record_sync
from jobs.models import Event, Generation, Job
from jobs.reports.job_token import Credential
from jobs.reports.sync_report import CheckedSyncReport
from tests.control_loop.clocks import Clock, RunningClock
from tests.control_loop.world import World, fresh, live_workers

ROOT = Path(__file__).parents[3]
REGRESSION = str(ROOT / "tests" / "worker" / "scripts" / "regression.py")
pytestmark = pytest.mark.timeout(600)  # seconds; real processes start, with PyTorch


class _Sync(BaseHTTPRequestHandler):
    """The service's one endpoint for coordinators, answered by the thread that asks for it."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        report = CheckedSyncReport.model_validate(json.loads(body))
        job_id = self.path.split("/")[-2]
        known = Credential(term=report.term)
        now = timezone.now()
        desired = record_sync(job_id=job_id, report=report, credential=known, now=now)
        answer = json.dumps(desired).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def clock() -> Clock:
    return RunningClock()


@pytest.fixture
def service() -> Iterator[HTTPServer]:
    with HTTPServer(("127.0.0.1", 0), _Sync) as server:
        server.timeout = 0.25  # when nobody asks, ticks come no faster
        yield server


@pytest.fixture
def loop(world: World, service: HTTPServer) -> Iterator[ControlLoop]:
    world.environments = MachineEnvironments(
        state_dir=world.state_dir,
        service_url=f"http://127.0.0.1:{service.server_port}",
        interpreter=Path(sys.executable),
    )
    yield world.loop(host=ProcessHost(state_dir=world.state_dir))
    sweep(world.state_dir, grace_seconds=0.0)


def test_a_script_that_registers_late_trains_to_its_end(
    world: World, service: HTTPServer, loop: ControlLoop, tmp_path: Path
) -> None:
    imported = tmp_path / "imported"
    out = tmp_path / "out"
    wait = f"until [ -e {imported} ]; do sleep 0.1; done"
    train = f"exec python {REGRESSION} --epochs 2 --out {out}"
    job = world.job(
        command=["bash", "-c", f"{wait}; {train}"],
        workdir=str(ROOT),
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'worker_image'}"},
        elastic={"max_workers": 1, "registration_timeout": "1s", "grace_period": "1s"},
    )
    world.wish(job, 1)

    def until(is_true: Callable[[Job], object]) -> None:
        give_up_at = time.monotonic() + 240
        while not is_true(fresh(job)):
            assert time.monotonic() < give_up_at, f"{fresh(job).state}, {fresh(job).message}"
            service.handle_request()
            loop.run_once()

    until(lambda now: now.mode == "restart" and now.state == "running")
    first = live_workers(job)
    imported.touch()
    until(lambda now: now.mode == "hot")
    until(lambda now: now.state == "completed")
    done = fresh(job)
    assert (done.attempt, done.failures, done.losses) == (1, 0, 0)
    assert (done.samples, done.total_samples) == (200, 200)
    assert Generation.objects.filter(job=job).latest("number").worker_ids == first
    assert Event.objects.filter(job=job, kind="mode_detected").count() == 2
