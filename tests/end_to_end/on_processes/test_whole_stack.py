"""One story over the whole stack: grow, reclaim, losses of every kind, and nothing lost."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.sample_audit import assert_every_sample_once
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import REGISTRATION, until

SCRIPT = "sleepy_regression.py"
SAMPLES = 500
pytestmark = pytest.mark.timeout(1200)


def test_two_teams_share_the_machine_through_growth_reclaim_and_losses(
    stack: RunningStack, scripts: Path, tmp_path: Path
) -> None:
    with stack.client("vision") as vision, stack.client("language") as language:
        borrower = SubmittedJob.submit(
            vision, spec("borrower", scripts, tmp_path, min_workers=1, max_workers=4)
        )
        until(lambda: borrower.trains_with(4), what="alone, it grows to the whole pool")

        owner = SubmittedJob.submit(
            language, spec("owner", scripts, tmp_path, min_workers=2, max_workers=2)
        )
        assert_the_guarantee_comes_back(borrower, owner)
        assert_a_killed_worker_is_replaced(stack, borrower)
        while_shared = borrower.newest_generation["number"]
        assert_training_outlives_the_control_worker(stack, owner, stop=tmp_path / "stop-owner")
        assert_what_is_free_is_used_again(borrower, after=while_shared)
        (tmp_path / "stop-borrower").touch()
        until(lambda: borrower.is_in("completed"), what="the borrower completes")

        for job in (borrower.document(), owner.document()):
            assert_every_sample_once(tmp_path / job["name"], samples=SAMPLES, job=job)
    assert stack.claimed_gpus() == 0


def spec(name: str, scripts: Path, folder: Path, **elastic: int) -> dict[str, Any]:
    """It trains until its act is over."""
    return {
        "name": name,
        "command": [
            *("python", str(scripts / SCRIPT), "--samples", str(SAMPLES)),
            *("--stop-file", str(folder / f"stop-{name}")),
        ],
        "env": {"CONCERTINA_SAMPLE_AUDIT_DIR": str(folder / name)},
        "batch": {"global_batch_size": {"base": 16, "min": 16, "max": 64}},
        "elastic": {**elastic, "registration_timeout": REGISTRATION},
    }


def assert_the_guarantee_comes_back(borrower: SubmittedJob, owner: SubmittedJob) -> None:
    """The borrower shrinks, and the reason names the team it makes room for."""
    until(lambda: owner.trains_with(2), what="the owner gets its 2 GPUs")
    until(lambda: borrower.trains_with(2), what="the borrower keeps 2")
    reclaims = [g for g in borrower.generations() if g["reason"] == "reclaim_guarantee"]
    assert reclaims
    assert "team language" in reclaims[-1]["message"]
    assert "owner" not in reclaims[-1]["message"]  # job names stay within their team


def assert_a_killed_worker_is_replaced(stack: RunningStack, job: SubmittedJob) -> None:
    """The survivor goes on in a generation of its own, and nobody counts a failure."""
    before = job.newest_generation
    victim = stack.training_process(before["worker_ids"][-1], script=SCRIPT)
    assert victim is not None
    victim.send_signal(signal.SIGKILL)
    until(
        lambda: [g for g in job.generations(after=before["number"]) if g["reason"] == "node_lost"],
        what="the survivor goes on alone",
    )
    until(lambda: job.trains_with(2), what="the worker is replaced")
    assert job.document()["failures"] == 0


def assert_training_outlives_the_control_worker(
    stack: RunningStack, job: SubmittedJob, *, stop: Path
) -> None:
    killed = stack.pid("control")
    os.kill(killed, signal.SIGKILL)
    until(lambda: stack.pid("control") != killed, what="the control worker returns")
    assert job.is_in("running")
    stop.touch()
    until(lambda: job.is_in("completed"), what="the job completes")


def assert_what_is_free_is_used_again(job: SubmittedJob, *, after: int) -> None:
    until(
        lambda: [g for g in job.generations(after=after) if g["workers"] > 2],
        what="the job grows into what was freed",
    )


def test_a_script_that_crashes_is_retried_and_then_fails_with_its_last_words(
    stack: RunningStack, tmp_path: Path
) -> None:
    script = tmp_path / "crash.py"
    script.write_text("raise SystemExit('the data set is missing')\n")
    with stack.client("language") as language:
        job = SubmittedJob.submit(
            language,
            {"name": "crasher", "command": ["python", str(script)], "max_restarts": 1},
        )
        until(lambda: job.is_in("failed"), what="it fails")
        document = job.document()
        assert document["failures"] == 2
        assert "the data set is missing" in document["message"]


def test_a_command_that_does_not_exist_fails_at_once_and_says_so(stack: RunningStack) -> None:
    with stack.client("language") as language:
        job = SubmittedJob.submit(language, {"name": "typo", "command": ["pyhton", "train.py"]})
        until(lambda: job.is_in("failed"), what="it fails")
        document = job.document()
        assert document["reason"] == "command_not_found"
        assert "pyhton" in document["message"]
