"""What does an operation cost this process and PostgreSQL? Measured on a server of its own.

Processor time and counts are the same on a busy machine and on an idle one, so they are what is
measured here; times on the clock are not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT: Final = Path(__file__).parents[2]
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a number of operations took."""

    python_seconds: float
    postgres_seconds: float
    statements: int


@contextmanager
def own_service() -> Iterator[int]:
    """Django over a new, migrated database; tells the process number of its PostgreSQL."""
    from local_stack.processes import embedded_postgres, embedded_valkey  # noqa: PLC0415
    from local_stack.processes.child_process import ChildProcess  # noqa: PLC0415

    with ExitStack() as at_the_end:
        name = at_the_end.enter_context(tempfile.TemporaryDirectory(prefix="concertina-benchmark-"))
        folder = Path(name)
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "control_plane.settings",
            "DATABASE_URL": embedded_postgres.url(folder),
            "REDIS_URL": embedded_valkey.url(folder),
            "CONCERTINA_SECRET_KEY": "for-benchmarks-only-" + "x" * 40,
            "CONCERTINA_STATE": str(folder / "state"),
            "CONCERTINA_HOST_ID": folder.name,
        }
        for server in (embedded_postgres, embedded_valkey):
            spec = server.spec(
                data_dir=folder / server.__name__, runtime_dir=folder, log=folder / "log"
            )
            child = ChildProcess(spec)
            at_the_end.callback(child.stop)
            child.wait_until_ready()
        embedded_postgres.ensure_database(folder)
        migrate = (sys.executable, "manage.py", "migrate", "--verbosity=0")
        subprocess.run(migrate, cwd=ROOT, check=True)
        import django  # noqa: PLC0415

        django.setup()
        pid_file = folder / embedded_postgres.__name__ / "postmaster.pid"
        yield int(pid_file.read_text().split()[0])


def cost_of(postgres: int, operation: Callable[[], Any]) -> Cost:
    """Do it once, and say what it took."""
    from django.db import connection  # noqa: PLC0415

    statements = 0

    def counted(execute: Any, *arguments: Any) -> Any:
        nonlocal statements
        statements += 1
        return execute(*arguments)

    before = time.process_time(), processor_seconds(postgres)
    with connection.execute_wrapper(counted):
        operation()
    after = time.process_time(), processor_seconds(postgres)
    return Cost(
        python_seconds=after[0] - before[0],
        postgres_seconds=after[1] - before[1],
        statements=statements,
    )


def table_cells(costs: list[Cost]) -> str:
    """Return the means of several rounds: milliseconds of both, and statements."""
    rounds = len(costs)
    api = 1000 * sum(one.python_seconds for one in costs) / rounds
    postgres = 1000 * sum(one.postgres_seconds for one in costs) / rounds
    return f"{api:.1f} | {postgres:.1f} | {costs[0].statements}"


def processor_seconds(postmaster: int) -> float:
    """Of a PostgreSQL server: of its processes, and of those that have ended."""
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    of_children = sum(_ticks(int(one), slice(11, 13)) for one in children)
    return _ticks(postmaster, slice(11, 15)) + of_children


def _ticks(pid: int, fields: slice) -> float:
    """Sum some of utime, stime, cutime and cstime, counted after the name, as seconds."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    return sum(map(int, stat.rpartition(")")[2].split()[fields])) / _TICKS
