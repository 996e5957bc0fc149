"""Who comes second finds the stack up, and is told nothing of how the other one started it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from local_stack import checkout as checkouts
from local_stack import stack_record
from local_stack.stack import background
from local_stack.stack.stack import Options
from local_stack.stack_record import AlreadyUp, StackPhase, StackRecord


def test_the_slower_of_two_starts_is_told_that_it_is_up_already(folder: Path) -> None:
    checkout = checkouts.find(home=folder)
    checkout.make_folders()
    (checkout.logs_dir / "supervisor.log").write_text("  said before\n")
    told: list[str] = []
    with stack_record.exclusive(checkout):
        record = StackRecord(
            phase=StackPhase.STARTING, doing="x", supervisor_pid=1, started_at=time.time(), url=""
        )
        stack_record.write(checkout, record)
        with pytest.raises(AlreadyUp):
            background.start(checkout, Options(), ends_with_us=False, say=told.append)
    assert told == []
