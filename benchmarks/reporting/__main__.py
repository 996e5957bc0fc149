"""Measure, and print tables: see the package."""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks import reporting
from benchmarks.api_cost.own_database import ROOT, own_service

if TYPE_CHECKING:
    from benchmarks.reporting.crowd import Coordinator
    from benchmarks.reporting.measuring import Servers

HOST: Final = "127.0.0.1"
WORKERS: Final = 4  # of each job
OLD: Final = "1 hour"  # how long jobs have trained, so that they report as most do


def main() -> None:
    parser = argparse.ArgumentParser(
        description=reporting.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, nargs="+", default=[300, 1000])
    parser.add_argument("--seconds", type=float, default=60.0, help="to measure for (default: 60)")
    parser.add_argument("--storm", type=float, metavar="TIMES", help="overload it so many times")
    parser.add_argument(
        "--jobs-of-an-address", type=int, default=8, help="whose coordinators come from it"
    )
    options = parser.parse_args()
    with own_service() as postgres, _api(postgres) as servers:
        from benchmarks.reporting import measuring  # noqa: PLC0415 - once Django is set up

        for jobs in options.jobs:
            coordinators = _coordinators(jobs, servers, together=options.jobs_of_an_address)
            if options.storm:
                storm = asyncio.run(
                    measuring.measure_storm(
                        servers, coordinators, seconds=options.seconds, times=options.storm
                    )
                )
                lines = storm.lines()
            else:
                stretch = measuring.measure(servers, coordinators, seconds=options.seconds)
                lines = asyncio.run(stretch).lines(jobs)
            head = (f"| {jobs} jobs, load {os.getloadavg()[0]:.0f} | |", "|---|---|")
            print("\n".join((*head, *lines, "")), flush=True)


@contextmanager
def _api(postgres: int) -> Iterator[Servers]:
    """The process that answers, as `./dev up` runs it."""
    from local_stack.processes.child_process import ChildProcess, ProcessSpec  # noqa: PLC0415
    from local_stack.stack.service import api_command, health  # noqa: PLC0415

    from benchmarks.reporting.measuring import Servers  # noqa: PLC0415

    with socket.create_server((HOST, 0)) as free:
        port: int = free.getsockname()[1]
    state = Path(os.environ["CONCERTINA_STATE"])
    api = ChildProcess(
        ProcessSpec(
            name="api",
            command=api_command(port, [HOST]),
            log=state.parent / "api.log",
            working_directory=ROOT,
            is_ready=lambda: bool(health(f"http://{HOST}:{port}")),
        )
    )
    try:
        api.wait_until_ready()
        yield Servers(api=api.pid, postgres=postgres, host=HOST, port=port)
    except BaseException:
        sys.stderr.write((state.parent / "api.log").read_text()[-2000:])
        raise
    finally:
        api.stop()


def _coordinators(jobs: int, servers: Servers, *, together: int) -> list[Coordinator]:
    """Fill the database with so many jobs that train, and with nothing else."""
    from cluster.in_memory_host import InMemoryHost  # noqa: PLC0415
    from django.core.management import call_command  # noqa: PLC0415
    from django.db import connection  # noqa: PLC0415
    from django.utils import timezone  # noqa: PLC0415

    from benchmarks.reporting.crowd import Coordinator  # noqa: PLC0415
    from benchmarks.tick_cost.crowd import Crowd  # noqa: PLC0415
    from jobs.models import Job  # noqa: PLC0415
    from jobs.reports import job_token  # noqa: PLC0415

    call_command("flush", interactive=False, verbosity=0)
    Crowd(host=InMemoryHost(), jobs=jobs, workers=WORKERS, is_still=True).settle()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE jobs_job SET started_at = now() - %s::interval", [OLD])
    now = timezone.now()
    return [
        Coordinator(
            job_id=job_id,
            workers=[f"{job_id}-1-{number}" for number in range(1, WORKERS + 1)],
            token=job_token.of_coordinator(job_id, term=term, now=now),
            host=servers.host,
            port=servers.port,
            own_host=_machine(number // together),
        )
        for number, (job_id, term) in enumerate(Job.objects.values_list("id", "coordinator_term"))
    ]


def _machine(number: int) -> str:
    """Return an address of its own: what one address may have of `api` is bounded."""
    return f"127.1.{number // 250}.{number % 250 + 1}"


if __name__ == "__main__":
    main()
