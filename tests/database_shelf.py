"""With which database does a PostgreSQL of the tests begin? With a migrated one, made once.

To migrate takes seconds of a processor, which each process of each run would pay. So the
files of a server that has been through it are kept beside pytest's own cache, until a migration
changes. What is new of models since (permissions, say) Django adds when it looks through them.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import django
from local_stack.processes import embedded_postgres
from local_stack.processes.child_process import ChildProcess

ROOT: Final = Path(__file__).parents[1]
NAME: Final = "test_postgres"  # as Django calls the test database of `postgres`
_SHELF: Final = ROOT / ".pytest_cache" / "databases"
_SOURCES: Final = ("autoscaler", "jobs", "platform")


def take(data_dir: Path) -> None:
    """Into the folder of a server that has not started yet."""
    kept = _SHELF / _digest()
    with _alone():
        if not kept.exists():
            _forget_others()
            _make(kept)
    _copy(kept, data_dir)


def _digest() -> str:
    """Of all that says which tables there are, and of who makes them."""
    server = embedded_postgres.bin_dir() / "postgres"
    found = hashlib.sha256(f"{django.__version__} {server} {server.stat().st_mtime_ns}".encode())
    for source in _SOURCES:
        for file in sorted((ROOT / source).glob("**/migrations/*.py")):
            found.update(f"{file.relative_to(ROOT)} ".encode() + file.read_bytes())
    return found.hexdigest()[:16]


@contextmanager
def _alone() -> Iterator[None]:
    """Of several processes that pytest runs, one makes it and the others wait."""
    _SHELF.mkdir(parents=True, exist_ok=True)
    with (_SHELF / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _forget_others() -> None:
    for old in _SHELF.iterdir():
        if old.is_dir():
            shutil.rmtree(old)


def _make(kept: Path) -> None:
    """By the product's own command."""
    with tempfile.TemporaryDirectory(prefix="concertina-tests-") as runtime:
        folder = Path(runtime)
        data = folder / "data"
        server = ChildProcess(
            embedded_postgres.spec(
                data_dir=data, runtime_dir=folder, log=folder / "log", is_durable=False
            )
        )
        try:
            server.wait_until_ready()
            embedded_postgres.ensure_database(folder, NAME)
            subprocess.run(
                (sys.executable, "manage.py", "migrate", "--verbosity=0"),
                cwd=ROOT,
                env={**os.environ, "DATABASE_URL": embedded_postgres.url(folder, NAME)},
                check=True,
            )
        finally:
            server.stop()
        coming = kept.with_suffix(".coming")
        _copy(data, coming)
    coming.rename(kept)


def _copy(source: Path, target: Path) -> None:
    """With its owner, who may be somebody else: PostgreSQL does not run as root."""
    subprocess.run(("cp", "--archive", source, target), check=True)
