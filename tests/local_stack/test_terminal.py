"""A terminal that knows ASCII only gets question marks, and what was asked for is done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from local_stack import checkout as checkouts
from local_stack import stack_record

ROOT = Path(__file__).parents[2]


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, "-m", "local_stack", *arguments),
        env={**os.environ, "CONCERTINA_HOME": str(home), "PYTHONIOENCODING": "ascii"},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )


SUPERVISOR = """
import os, signal, sys, time
from pathlib import Path
from local_stack import checkout as checkouts, stack_record
from local_stack.stack_record import StackPhase, StackRecord
checkout = checkouts.find(home=Path(sys.argv[1]))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
with stack_record.exclusive(checkout):
    record = StackRecord(
        phase=StackPhase.READY, doing="ready \u2713", supervisor_pid=os.getpid(),
        started_at=time.time(), url="http://127.0.0.1:1",
    )
    stack_record.write(checkout, record)
    print("up", flush=True)
    time.sleep(600)
"""


@pytest.mark.timeout(300)
def test_down_stops_whatever_the_terminal_can_show(folder: Path) -> None:
    checkout = checkouts.find(home=folder)
    checkout.make_folders()
    with subprocess.Popen(
        (sys.executable, "-c", SUPERVISOR, str(folder)), stdout=subprocess.PIPE
    ) as supervisor:
        assert supervisor.stdout is not None
        assert supervisor.stdout.readline() == b"up\n"
        shown = run(folder, "status")
        assert shown.returncode == 0, shown.stderr
        assert "ready ?" in shown.stdout
        stopped = run(folder, "down")
        assert stopped.returncode == 0, stopped.stderr
        assert "Stopping?" in stopped.stdout
        assert supervisor.wait(60) == 0
    assert not stack_record.is_up(checkout)


def test_up_says_what_it_says_in_ascii(folder: Path) -> None:
    """It ends at once, because its folder is a file, and tells so."""
    (folder / "home").write_text("")
    told = run(folder / "home", "up")
    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    assert told.stdout.splitlines()[-2].startswith("? ")
