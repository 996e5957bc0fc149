"""The whole service on this machine: up, damaged, repaired, killed, up again, and gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import psutil
import psycopg2
import pytest
from control_plane.process_priority import (
    NICENESS_OF_ANSWERS,
    NICENESS_OF_THE_BACKGROUND,
    NICENESS_OF_TICKS,
)
from local_stack import checkout as checkouts
from local_stack import secrets_file, stack_record
from local_stack.checkout import Checkout
from local_stack.processes import embedded_postgres
from local_stack.stack.service import health
from local_stack.stack_record import ProcessRecord, StackRecord

PATIENCE_SECONDS = 150.0
KEPT = """
SELECT count(*) FROM pg_stat_activity
WHERE usename = 'concertina_control' AND query_start > backend_start + interval '4 seconds'
"""
LESS_URGENT = {
    "control": 0,
    "api": NICENESS_OF_ANSWERS,
    "io": NICENESS_OF_THE_BACKGROUND,
}
GIVEN = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE")


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.1)


class Stack:
    """A stack with a home of its own, used through its commands as a person would."""

    def __init__(self, home: Path) -> None:
        self.checkout: Checkout = checkouts.find(home=home)
        ours = {name: os.environ[name] for name in os.environ if name not in GIVEN}
        kept = {name: ours[name] for name in ours if not name.startswith("CONCERTINA_")}
        self._environment = {**kept, "CONCERTINA_HOME": str(self.checkout.state_dir)}

    def run(self, *arguments: str) -> str:
        command = (sys.executable, "-m", "local_stack", *arguments)
        ran = subprocess.run(
            command, cwd="/", env=self._environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    @property
    def record(self) -> StackRecord:
        record = stack_record.current(self.checkout)
        assert record is not None
        return record

    def process(self, name: str) -> ProcessRecord:
        return next(process for process in self.record.processes if process.name == name)

    def niceness(self, name: str) -> set[int]:
        """Of what it started to do its work."""
        return {one.nice() for one in psutil.Process(self.process(name).pid).children()}

    def niceness_of_session(self, name: str) -> int | None:
        """None where Linux does not share processors out among sessions."""
        autogroup = Path(f"/proc/{self.process(name).pid}/autogroup")
        return int(autogroup.read_text().split()[-1]) if autogroup.exists() else None

    def keeps_its_connection(self) -> bool:
        """Whether one in which ticks ask has been open for longer than a tick lasts."""
        with (
            closing(
                psycopg2.connect(embedded_postgres.url(self.checkout.runtime_dir))
            ) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(KEPT)
            return bool(cursor.fetchone()[0])

    @property
    def is_healthy(self) -> bool:
        return health(self.record.url).get("status") == "ok"

    def prepared_at(self) -> dict[str, int]:
        """When the database was last given what it must hold, in nanoseconds."""
        stamps = self.checkout.state_dir.glob("*.stamp")
        return {stamp.name: stamp.stat().st_mtime_ns for stamp in stamps}

    def running(self) -> list[psutil.Process]:
        """Every process on the machine that belongs to this stack, by its environment."""
        return [process for process in psutil.process_iter() if self._owns(process)]

    def wait_until_nothing_runs(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while left := self.running():
            assert time.monotonic() < deadline, [_described(process) for process in left]
            time.sleep(0.1)

    def _owns(self, process: psutil.Process) -> bool:
        try:
            return process.environ().get("CONCERTINA_HOME") == str(self.checkout.state_dir)
        except psutil.Error:
            return False


def _described(process: psutil.Process) -> str:
    with suppress(psutil.NoSuchProcess):
        return f"{process.pid} ({process.status()}): {' '.join(process.cmdline())}"
    return f"{process.pid}: gone by now"


@pytest.fixture
def stack() -> Iterator[Stack]:
    with tempfile.TemporaryDirectory(prefix="concertina-test-") as home:
        made = Stack(Path(home))
        yield made
        made.run("down")
        made.wait_until_nothing_runs()
        assert not made.checkout.runtime_dir.exists()


@pytest.mark.thorough  # the supervisor, its commands and a stack from up to down: in each run
@pytest.mark.timeout(900)  # it starts all of it twice
def test_the_service_survives_what_happens_to_it_and_leaves_nothing_behind(stack: Stack) -> None:
    assert "Ready in" in stack.run("up", "--detach", "--slots", "2")
    wait_for(lambda: stack.is_healthy)
    assert "already up" in stack.run("up")
    assert "control" in stack.run("status")
    assert set(secrets_file.load_or_create(stack.checkout).tokens) == {"vision", "language"}
    for name, less_urgent in LESS_URGENT.items():
        expected = {min(os.nice(0) + less_urgent, 19)}
        wait_for(lambda name=name, expected=expected: stack.niceness(name) == expected)
    may_go_first = {NICENESS_OF_TICKS} if os.geteuid() == 0 else {NICENESS_OF_TICKS, 0}
    wait_for(lambda: stack.niceness_of_session("control") in {*may_go_first, None})
    wait_for(stack.keeps_its_connection)

    for name in ("postgres", "api"):
        os.kill(stack.process(name).pid, signal.SIGKILL)
        wait_for(lambda name=name: stack.process(name).restarts == 1)
        wait_for(lambda: stack.is_healthy)
    assert stack.process("api").last_exit == "was ended by SIGKILL"

    url, prepared = stack.record.url, stack.prepared_at()
    os.kill(stack.record.supervisor_pid, signal.SIGKILL)
    stack.wait_until_nothing_runs()  # the kernel ends what a killed supervisor started
    stack.run("up", "--detach", "--slots", "2")
    assert stack.prepared_at() == prepared  # nothing is prepared twice
    assert stack.record.url == url
