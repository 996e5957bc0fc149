"""What does a coordinator's report cost the service?

Run `python benchmarks/reporting/one_report.py`.

Starts a PostgreSQL of its own, lets a job of four workers train, and hands the view reports as its
coordinator would send them, without HTTP: with one point of progress, with ten, and the same
report again. Prints statements, and milliseconds of the processor of Python and of PostgreSQL.

With the folder of another checkout it measures that one as well, in turns with this one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
ROUNDS: Final = 3
REPORTS: Final = 300
WARM_UP: Final = 30
WORKERS: Final = 4
Body = dict[str, Any]


def main(others: list[str]) -> None:
    if os.environ.get("CONCERTINA_MEASURED"):
        measure()
        return
    for _ in range(ROUNDS):
        for checkout in (ROOT, *map(Path, others)):
            paths = (checkout, checkout / "platform", checkout / "worker_image")
            subprocess.run(
                [sys.executable, __file__],
                check=True,
                cwd=checkout,
                env={
                    **os.environ,
                    "CONCERTINA_MEASURED": str(checkout),
                    "PYTHONPATH": os.pathsep.join(map(str, paths)),
                },
            )


def measure() -> None:
    with tempfile.TemporaryDirectory(prefix="report-cost-") as folder, server(Path(folder)):
        from django.db import connection  # noqa: PLC0415 - the server runs from now on

        job_id, token, workers = started_job()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            backend = int(cursor.fetchone()[0])
        sys.stdout.write(f"{os.environ['CONCERTINA_MEASURED']}\n")
        for what, points in (("1 point", 1), ("10 points", 10), ("the same again", 0)):
            step = iter(range(1000 * (points + 1), 10**9))

            def body(points: int = points, step: Iterator[int] = step) -> Body:
                steps = [next(step) for _ in range(points)]
                return report(workers, steps, pace=1 + next(step) % 7 if points else 1)

            line = cost(lambda made: send(job_id, token, made), body, backend)
            sys.stdout.write(f"  {what:15} {line}\n")
        connection.close()


@contextmanager
def server(folder: Path) -> Iterator[None]:
    """A PostgreSQL that Django knows, with all tables."""
    from local_stack.processes import embedded_postgres  # noqa: PLC0415 - of either checkout
    from local_stack.processes.child_process import ChildProcess  # noqa: PLC0415

    spec = embedded_postgres.spec(
        data_dir=folder / "data", runtime_dir=folder, log=folder / "log", is_durable=True
    )
    postgres = ChildProcess(spec)
    try:
        postgres.wait_until_ready()
        embedded_postgres.ensure_database(folder, "measured")
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "control_plane.settings",
            "DATABASE_URL": embedded_postgres.url(folder, "measured"),
            "REDIS_URL": f"unix://{folder}/nobody",
            "CONCERTINA_SECRET_KEY": "measured" * 8,
            "CONCERTINA_STATE": str(folder / "state"),
        }
        import django  # noqa: PLC0415 - with the environment above
        from django.core.management import call_command  # noqa: PLC0415

        django.setup()
        call_command("migrate", verbosity=0)
        yield
    finally:
        postgres.stop()


def started_job() -> tuple[str, str, list[str]]:
    """A job with its first assignment; its id, its coordinator's token, and its workers."""
    from cluster.models import Node, Pool  # noqa: PLC0415
    from django.utils import timezone  # noqa: PLC0415
    from tenancy.models import Team  # noqa: PLC0415

    from jobs.models import Assignment, Job, Worker  # noqa: PLC0415
    from jobs.reports import job_token  # noqa: PLC0415

    pool, _ = Pool.objects.get_or_create(name="measured")
    node = Node.objects.create(pool=pool, name="node", gpus=8)
    now, spec = timezone.now(), {"elastic": {"mode": "hot"}}
    job = Job.objects.create(
        team=Team.objects.create(name="measured"),
        pool=pool,
        name="measured",
        spec=spec,
        resolved_spec=spec,
        state="starting",
        mode="hot",
        attempt=1,
        revision=1,
        started_at=now - timedelta(days=1),
    )
    workers = [f"{job.id}-1-{number}" for number in range(WORKERS)]
    for worker in workers:
        Worker.objects.create(id=worker, job=job, attempt=1, node=node)
    Assignment.objects.create(
        job=job, revision=1, attempt=1, worker_ids=workers, global_batch_size=64, reason="begun"
    )
    token = job_token.of_coordinator(job.id, term=0, now=now)
    began = {"number": 1, "revision": 1, "cause": "desired", "began_at": now.timestamp()}
    generation = {**began, "workers": workers, "global_batch_size": 64, "lost_workers": []}
    send(job.id, token, {**report(workers, [1], pace=1), "generations": [generation]})
    return job.id, token, workers


def report(workers: list[str], steps: list[int], *, pace: int) -> Body:
    speeds = {"phase": "training", "compute_seconds": 0.1 * pace, "samples_per_second": 160.0}
    return {
        "coordinator_started_at": 0.0,
        "registered": True,
        "model_bytes": 10**8,
        "noise_scale": 850.0,
        "total_samples": 10**9,
        "revision": 1,
        "generation": 1,
        "workers": [{"worker_id": worker, **speeds} for worker in workers],
        "generations": [],
        "metrics": [point(step) for step in steps],
        "measurements": [
            {"workers": WORKERS, "global_batch_size": 64, "steps": pace, "step_seconds": 0.1}
        ],
        "checkpoint_step": 1,
        "finished": False,
    }


def point(step: int) -> Body:
    shares = dict.fromkeys(("step_seconds", "compute_seconds", "communication_seconds"), 0.1)
    counts = {"generation": 1, "step": step, "epoch": 0.5, "samples": 64 * step}
    rates = {"samples_per_second": 640.0, "learning_rate": 0.01, "local_batch_size": 16}
    return {"at": time.time(), **counts, **shares, **rates, "values": {"loss": 1 / step}}


def send(job_id: str, token: str, body: Body) -> None:
    from django.test import RequestFactory  # noqa: PLC0415

    from jobs.api.sync import sync  # noqa: PLC0415

    request = RequestFactory().post(
        f"/internal/v1/jobs/{job_id}/sync",
        json.dumps(body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    answer = sync(request, job_id)
    assert answer.status_code == 200, answer.content


def cost(send: Callable[[Body], None], body: Callable[[], Body], backend: int) -> str:
    from django.db import connection  # noqa: PLC0415
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415

    for _ in range(WARM_UP):
        send(body())
    python: list[float] = []
    before = seconds_of(backend)
    for _ in range(REPORTS):
        made, began = body(), time.process_time()
        send(made)
        python.append(time.process_time() - began)
    postgres = (seconds_of(backend) - before) / REPORTS
    with CaptureQueriesContext(connection) as captured:
        send(body())
    return (
        f"{len(captured):2} statements, Python {median(python) * 1e3:5.2f} ms,"
        f" PostgreSQL {postgres * 1e3:5.2f} ms"
    )


def seconds_of(process: int) -> float:
    """Return how long a process had a processor so far."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9


if __name__ == "__main__":
    main(sys.argv[1:])
