"""In which database does it happen? One of its own, in a folder that is gone afterwards."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django
from django.core.management import call_command
from local_stack.processes import embedded_postgres
from local_stack.processes.child_process import ChildProcess


@contextmanager
def database() -> Iterator[Path]:
    """Set Django up on a server that is not durable; yields a folder for the state of jobs."""
    with tempfile.TemporaryDirectory(prefix="tick-cost-") as name:
        folder = Path(name)
        spec = embedded_postgres.spec(
            data_dir=folder / "data", runtime_dir=folder, log=folder / "log", is_durable=False
        )
        server = ChildProcess(spec)
        try:
            server.wait_until_ready()
            embedded_postgres.ensure_database(folder)
            os.environ |= {
                "DJANGO_SETTINGS_MODULE": "control_plane.settings",
                "DATABASE_URL": embedded_postgres.url(folder),
                "REDIS_URL": f"unix://{folder}/nowhere",
                "CONCERTINA_SECRET_KEY": "for-a-benchmark-" + "x" * 40,
                "CONCERTINA_STATE": str(folder / "state"),
            }
            django.setup()
            call_command("migrate", verbosity=0)
            yield folder / "state"
        finally:
            server.stop()
