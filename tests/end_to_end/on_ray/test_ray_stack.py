"""Two teams train on the nodes of a real Ray cluster, beside each other and kept apart."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from local_stack.stack.stack import Options

from tests.end_to_end.running_stack import RunningStack, running
from tests.end_to_end.sample_audit import assert_every_sample_once
from tests.end_to_end.submitted_job import SubmittedJob
from tests.end_to_end.waiting import REGISTRATION, until
from tests.ray_cluster import WHY_NOT

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(1200)]
SAMPLES = 200
SCRIPT = "sleepy_regression.py"
LONG = 400.0  # Ray's daemons take a part of the machine


@pytest.fixture(scope="module")
def stack() -> Iterator[RunningStack]:
    if importlib.util.find_spec("ray") is None:
        pytest.skip(WHY_NOT)
    with running(Options(slots=4, tick_seconds=1.0, host="ray")) as ready:
        yield ready


def spec(name: str, scripts: Path, folder: Path, *, most: int) -> dict[str, Any]:
    stop = str(folder / "stop")
    return {
        "name": name,
        "command": [
            "python",
            str(scripts / SCRIPT),
            "--samples",
            str(SAMPLES),
            "--stop-file",
            stop,
        ],
        "env": {"CONCERTINA_SAMPLE_AUDIT_DIR": str(folder / name)},
        "elastic": {"min_workers": 1, "max_workers": most, "registration_timeout": REGISTRATION},
        "batch": {"global_batch_size": 32},
    }


def users_of(stack: RunningStack, job: SubmittedJob) -> set[int]:
    """The real users of those of its workers that run."""
    workers = job.client.get(f"/api/v1/jobs/{job.job_id}/workers").json()["items"]
    found = (stack.training_process(worker["id"], script=SCRIPT) for worker in workers)
    return {process.uids().real for process in found if process is not None}


def test_a_job_grows_over_two_nodes_and_gives_way_to_another_team(
    stack: RunningStack, scripts: Path, open_folder: Path
) -> None:
    with stack.client("vision") as vision, stack.client("language") as language:
        large = SubmittedJob.submit(vision, spec("over-nodes", scripts, open_folder, most=4))
        until(lambda: large.trains_with(4), what="it has both nodes", seconds=LONG)
        other = SubmittedJob.submit(language, spec("beside-it", scripts, open_folder, most=2))
        until(other.has_begun, what="the other team's job trains", seconds=LONG)
        assert large.document()["state"] == "running"
        users = [users_of(stack, job) for job in (large, other)]
        assert [len(one) for one in users] == [1, 1]
        if os.geteuid() == 0:
            assert len({0}.union(*users)) == 3
        (open_folder / "stop").touch()
        for job in (large, other):
            until(lambda job=job: job.is_in("completed"), what="it completes", seconds=LONG)  # type: ignore[misc]
            document = job.document()
            assert (document["failures"], document["attempt"]) == (0, 1)
            assert_every_sample_once(open_folder / document["name"], samples=SAMPLES, job=document)
