"""Is a script that ends before its training is through told from one that is done?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from concertina_worker.protocol import ExitCode
from tests.worker.running_job import SCRIPTS, RunningJob, alone_environment, wait_for
from tests.worker.worker_zygote import WorkerZygote

MakeJob = Callable[..., RunningJob]
SCRIPT = SCRIPTS / "ending.py"
DONE = ("to the end", "finished in an epoch", "finished after an epoch", "behind the last")
EARLY = ("before job.register", "before its epochs began", "in epoch 2 of 3", "after epoch 1 of 3")


def end_of(make_job: MakeJob, where: str) -> tuple[int | None, str]:
    job = make_job("--where", where, script=SCRIPT)
    job.begin_attempt(1, batch=2)
    job.wait("it ends", lambda: job.exit_codes()["w1"] is not None)
    return job.exit_codes()["w1"], job.log_of("w1")


@pytest.mark.parametrize("where", DONE)
def test_a_training_that_is_through_or_said_to_be_is_completed(
    make_job: MakeJob, where: str
) -> None:
    code, said = end_of(make_job, where)
    assert code == ExitCode.COMPLETED
    assert "the script ended" not in said


@pytest.mark.parametrize("where", EARLY)
def test_any_other_end_has_a_code_of_its_own_and_says_where(make_job: MakeJob, where: str) -> None:
    code, said = end_of(make_job, where)
    assert code == ExitCode.ENDED_EARLY
    assert f"concertina: the script ended {where}, and without job.finish()." in said


def test_a_failure_keeps_its_code(make_job: MakeJob) -> None:
    assert end_of(make_job, "by a code of its own")[0] == 3


def test_no_code_that_the_script_may_have_chosen_is_replaced(make_job: MakeJob) -> None:
    """In an interpreter of its own nobody sees what `raise SystemExit` says."""
    job = make_job("--where", "by SystemExit", script=SCRIPT)
    assert job.run_cold("w1") == 3


def test_a_script_that_runs_alone_may_end_where_it_likes(
    zygote: WorkerZygote, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    argv = [str(SCRIPT), "--where", EARLY[2]]
    process = zygote.start(argv, alone_environment(), log)
    wait_for(lambda: process.poll() is not None)
    assert process.poll() == 0
    assert "the script ended" not in log.read_text()
