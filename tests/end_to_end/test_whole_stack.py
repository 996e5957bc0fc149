"""One story over the whole stack: grow, reclaim, losses of every kind, and nothing lost."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.end_to_end.running_stack import RunningStack
from tests.end_to_end.sample_audit import assert_every_sample_once
from tests.end_to_end.waiting import job_of, until


def spec(name: str, script: Path, audit: Path, **changes: Any) -> dict[str, Any]:
    command = ["python", str(script), "--samples", "1000", "--epochs", str(changes.pop("epochs"))]
    return {
        "name": name,
        "command": command,
        "env": {"CONCERTINA_SAMPLE_AUDIT_DIR": str(audit)},
        "batch": {"global_batch_size": {"base": 16, "min": 16, "max": 64}},
        **changes,
    }


def submit(client: httpx.Client, body: dict[str, Any]) -> str:
    answer = client.post("/api/v1/jobs", json=body)
    assert answer.status_code == 201, answer.text
    job_id: str = answer.json()["id"]
    return job_id


def generations(client: httpx.Client, job_id: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get(f"/api/v1/jobs/{job_id}/generations").json()["items"]
    return items


def trains_with(client: httpx.Client, job_id: str, workers: int) -> bool:
    job = job_of(client, job_id)
    assert job["state"] not in {"failed", "cancelled"}, job["message"]
    return bool(job["workers"] == workers and job["state"] == "running")


@pytest.mark.timeout(300)
def test_two_teams_share_the_machine_through_growth_reclaim_and_losses(
    stack: RunningStack, scripts: Path, tmp_path: Path
) -> None:
    script = scripts / "sleepy_regression.py"
    audits = {name: tmp_path / name for name in ("borrower", "owner")}
    for folder in audits.values():
        folder.mkdir()
    with stack.client("vision") as vision, stack.client("language") as language:
        # Alone on the machine, a job grows beyond its team's guarantee.
        borrower = submit(
            vision,
            spec(
                "borrower",
                script,
                audits["borrower"],
                epochs=40,
                elastic={"min_workers": 1, "max_workers": 4},
            ),
        )
        until(lambda: trains_with(vision, borrower, 4), seconds=60, what="the job grows to 4")

        # The other team needs its guarantee: the borrower shrinks, nobody is stopped.
        owner = submit(
            language,
            spec(
                "owner",
                script,
                audits["owner"],
                epochs=6,
                elastic={"min_workers": 2, "max_workers": 2},
            ),
        )
        until(lambda: trains_with(language, owner, 2), seconds=60, what="the owner gets its 2")
        until(lambda: trains_with(vision, borrower, 2), seconds=30, what="the borrower keeps 2")
        reclaimed = [g for g in generations(vision, borrower) if g["reason"] == "reclaim_guarantee"]
        assert reclaimed
        assert "owner" in reclaimed[-1]["message"]

        # A worker dies without a word: the survivor goes on, and the worker is replaced.
        lost = generations(vision, borrower)[-1]["worker_ids"][-1]
        victim = stack.training_process(lost, script=script.name)
        assert victim is not None
        victim.send_signal(signal.SIGKILL)
        until(
            lambda: any(g["workers"] == 1 for g in generations(vision, borrower)[2:]),
            seconds=30,
            what="the survivor forms a generation of its own",
        )
        until(lambda: trains_with(vision, borrower, 2), seconds=60, what="the worker is replaced")
        assert job_of(vision, borrower)["failures"] == 0

        # The control worker dies: training goes on, and the stack recovers by itself.
        control = stack.process("control")
        control.send_signal(signal.SIGKILL)
        until(
            lambda: job_of(language, owner)["state"] == "completed",
            seconds=90,
            what="the owner completes",
        )
        assert stack.process("control").pid != control.pid

        # What the owner leaves is used again.
        until(
            lambda: (
                job_of(vision, borrower)["workers"] == 4
                or job_of(vision, borrower)["state"] == "completed"
            ),
            seconds=60,
            what="the borrower grows again",
        )
        until(
            lambda: job_of(vision, borrower)["state"] == "completed",
            seconds=120,
            what="the borrower completes",
        )

    assert_every_sample_once(audits["borrower"], samples=1000, epochs=40)
    assert_every_sample_once(audits["owner"], samples=1000, epochs=6)
    assert stack.claimed_gpus() == 0


@pytest.mark.timeout(120)
def test_a_script_that_crashes_is_retried_and_then_fails_with_its_last_words(
    stack: RunningStack, tmp_path: Path
) -> None:
    script = tmp_path / "crash.py"
    script.write_text("raise SystemExit('the data set is missing')\n")
    with stack.client("language") as language:
        job_id = submit(
            language,
            {"name": "crasher", "command": ["python", str(script)], "max_restarts": 1},
        )
        until(lambda: job_of(language, job_id)["state"] == "failed", seconds=60, what="it fails")
        job = job_of(language, job_id)
        assert job["failures"] == 2
        assert "the data set is missing" in job["message"]


@pytest.mark.timeout(60)
def test_a_command_that_does_not_exist_fails_at_once_and_says_so(stack: RunningStack) -> None:
    with stack.client("language") as language:
        job_id = submit(language, {"name": "typo", "command": ["pyhton", "train.py"]})
        until(lambda: job_of(language, job_id)["state"] == "failed", seconds=30, what="it fails")
        job = job_of(language, job_id)
        assert job["reason"] == "command_not_found"
        assert "pyhton" in job["message"]
