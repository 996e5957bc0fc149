"""A full disk stops nothing that runs: what failed is tried again, and a person is told."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from local_stack import checkout as checkouts
from local_stack import stack_record
from local_stack.processes.child_process import ProcessSpec
from local_stack.processes.supervisor import StackSupervisor
from local_stack.stack.note_keeper import NoteKeeper
from local_stack.stack_record import StackPhase, StackRecord

PATIENCE_SECONDS = 90.0


def a_record(phase: StackPhase, *, doing: str) -> StackRecord:
    return StackRecord(
        phase=phase, doing=doing, supervisor_pid=os.getpid(), started_at=time.time(), url=""
    )


def look_after(supervisor: StackSupervisor, is_enough: Callable[[], object]) -> None:
    """Again and again, as `./dev` does."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_enough():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        supervisor.run_once()
        time.sleep(0.02)


def test_the_record_is_written_when_there_is_room_again(folder: Path) -> None:
    told: list[str] = []
    checkout = checkouts.find(home=folder / "home")
    keeper = NoteKeeper(checkout, say=told.append)
    with pytest.raises(OSError, match="No such file"):
        keeper.note(a_record(StackPhase.STARTING, doing="starting"))
    for _ in range(3):
        keeper.note(a_record(StackPhase.READY, doing="ready"))
    assert keeper.is_behind
    assert ["runs on" in line for line in told] == [True]
    checkout.state_dir.mkdir()
    keeper.note(a_record(StackPhase.READY, doing="still ready"))
    assert not keeper.is_behind
    assert "can be written again" in told[-1]
    written = stack_record.read(checkout)
    assert written is not None
    assert written.doing == "still ready"


def test_what_cannot_be_started_is_started_when_it_can_be(folder: Path) -> None:
    """Without the folder of its log, it can as little as on a full disk."""
    told: list[str] = []
    logs = folder / "logs"
    logs.mkdir()
    spec = ProcessSpec(
        name="api",
        command=("sh", "-c", f"[ -e {folder}/healed ] && exec sleep 600"),
        log=logs / "api.log",
        working_directory=folder,
    )
    supervisor = StackSupervisor(say=told.append)
    try:
        supervisor.start(spec)
        (logs / "api.log").unlink()
        logs.rmdir()
        look_after(supervisor, lambda: any("cannot be started" in line for line in told))
        logs.mkdir()
        (folder / "healed").touch()
        look_after(supervisor, lambda: supervisor.records()[0].restarts)
        assert any("api: started again" in line for line in told)
    finally:
        supervisor.stop()


def test_who_speaks_into_a_full_disk_goes_on() -> None:
    code = "from local_stack.terminal import say; say('lost'); import os; os._exit(7)"
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run((sys.executable, "-c", code), stdout=full, check=False)
    assert ran.returncode == 7
