"""A process that is forked while a thread does something for the first time must not hang."""

from __future__ import annotations

from pathlib import Path

from tests import campaigns
from tests.worker.running_job import alone_environment, wait_for
from tests.worker.worker_zygote import WorkerZygote

FORKING = Path(__file__).parents[1] / "scripts" / "forking.py"


def test_processes_can_be_forked_while_workers_meet_for_the_first_time(
    zygote: WorkerZygote, tmp_path: Path
) -> None:
    tries = str(campaigns.rounds(100))
    process = zygote.start([str(FORKING), tries], alone_environment(), tmp_path / "log")
    wait_for(lambda: process.poll() is not None)
    assert process.poll() == 0, (tmp_path / "log").read_text()
