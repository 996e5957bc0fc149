"""Can people list, download and delete a job's checkpoints, and are they nobody else's?"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from pytest_django import Settings
from rest_framework.test import APIClient
from storage.models import UnwantedResult
from storage.results import checkpoints
from storage.results.folders import ResultFolder, Results

from jobs.lifecycle import JobState
from jobs.models import Job
from tests.left_checkpoints import PICKLED, leave, leave_as_before, weights_of
from tests.service.conftest import SubmitJob


@pytest.fixture
def folder(settings: Settings, tmp_path: Path, job: Job) -> Path:
    settings.CONCERTINA = replace(django_settings.CONCERTINA, state_dir=tmp_path)
    return Results(state_dir=tmp_path, job_id=job.id, place=ResultFolder.CHECKPOINTS).folder


def address(job: Job, *more: str) -> str:
    return "/".join((f"/api/v1/jobs/{job.id}/checkpoints", *more))


def steps(api: APIClient, job: Job, **asked: str | int) -> list[int]:
    answer = api.get(address(job), asked)
    assert answer.status_code == 200, answer.json()
    return [item["step"] for item in answer.json()["items"]]


def content(answer: Any) -> bytes:
    async def read(pieces: AsyncIterator[bytes]) -> bytes:
        return b"".join([piece async for piece in pieces])

    assert answer.status_code == 200, answer
    return asyncio.run(read(answer.streaming_content))


def test_a_checkpoint_tells_what_it_holds(api: APIClient, job: Job, folder: Path) -> None:
    told = leave(folder, 20, val_loss=0.25)
    (found,) = api.get(address(job)).json()["items"]
    state = (folder / "step-000000000020.pt").stat()
    assert found.pop("written_at").endswith("Z")
    assert found == {
        "step": 20,
        "epoch": 2.0,
        "samples": 160,
        "bytes": state.st_size + told.weights_bytes,
        "weights_bytes": told.weights_bytes,
        "digest": told.weights_digest,
        "metrics": [{"name": "val_loss", "value": 0.25, "step": 20}],
    }
    assert api.get(address(job, "20")).json()["step"] == 20


def test_a_job_without_any_has_an_empty_list(api: APIClient, job: Job, folder: Path) -> None:
    assert api.get(address(job)).json() == {"items": [], "next_cursor": None}
    for which in ("7", "latest", "best", "20/weights", "latest/state"):
        assert api.get(address(job, which)).status_code == 404
    assert api.get(address(job, "newest")).status_code == 404


def test_they_come_newest_first_in_pages(api: APIClient, job: Job, folder: Path) -> None:
    for step in (10, 20, 30, 40):
        leave(folder, step)
    leave(folder, 20, start=2)  # of a later start, which made step 20 again
    first = api.get(address(job), {"limit": 2}).json()
    second = api.get(address(job), {"limit": 2, "cursor": first["next_cursor"]}).json()
    found = [item["step"] for item in (*first["items"], *second["items"])]
    assert found == [20, 40, 30, 10]
    assert second["next_cursor"] is None
    assert api.get(address(job, "latest")).json()["step"] == 20


def test_one_of_an_earlier_release_is_listed_without_a_description(
    api: APIClient, job: Job, folder: Path
) -> None:
    leave_as_before(folder, 5)
    (found,) = api.get(address(job)).json()["items"]
    assert (found["step"], found["epoch"], found["digest"], found["metrics"]) == (5, None, None, [])
    refused = api.get(address(job, "5", "weights"))
    assert refused.status_code == 404
    assert "An earlier release wrote this checkpoint" in refused.json()["message"]
    assert api.delete(address(job, "5")).status_code == 409  # the newest of a live job


def test_what_a_job_puts_beside_them_is_not_shown(
    api: APIClient, job: Job, folder: Path, tmp_path: Path
) -> None:
    leave(folder, 1)
    (folder / "step-2.pt").write_bytes(b"of the script")
    (folder / "step-000000000003.pt").mkdir()
    os.mkfifo(folder / "step-000000000004.pt")
    (tmp_path / "secret").write_bytes((folder / "step-000000000001.pt").read_bytes())
    (folder / "step-000000000005.pt").symlink_to(tmp_path / "secret")
    leave(folder, 6)
    next(folder.glob("step-000000000006.*.safetensors")).unlink()  # it is no longer whole
    leave(folder, 7)
    one, other = folder / "step-000000000007.pt", folder / "step-000000000008.pt"
    one.rename(other)  # which tells of another step
    (folder / "step-000000000009.pt").write_bytes(b"[" * 100_000 + one.name.encode())
    assert steps(api, job) == [1]


def test_weights_and_the_rest_come_as_files(api: APIClient, job: Job, folder: Path) -> None:
    leave(folder, 20, weights=weights_of(1.0, 2.0))
    weights = api.get(address(job, "20", "weights"))
    assert content(weights) == weights_of(1.0, 2.0)
    assert weights.headers["Content-Type"] == "application/octet-stream"
    assert "digits-step-20.safetensors" in weights.headers["Content-Disposition"]
    assert content(api.get(address(job, "latest", "state"))).startswith(PICKLED)
    part = api.get(address(job, "20", "weights"), headers={"Range": "bytes=0-7"})
    assert (part.status_code, part.headers["Content-Length"]) == (206, "8")


@pytest.mark.parametrize(("goal", "best"), [("min", 30), ("max", 10)])
def test_the_best_is_that_of_which_the_best_was_measured(
    api: APIClient, submit: SubmitJob, folder: Path, goal: str, best: int
) -> None:
    rule = {"metric": "val_loss", "goal": goal, "n": 2}
    job = submit(name="watched", checkpoint={"keep_best": rule})
    own = folder.parents[1] / job.id / "checkpoints"
    leave(own, 10, val_loss=3.0)
    leave(own, 20, val_loss=1.0)
    leave(own, 30, val_loss=1.0)
    leave(own, 40)
    assert api.get(address(job, "best")).json()["step"] == best


def test_best_means_nothing_where_the_spec_does_not_say_what_is(
    api: APIClient, job: Job, folder: Path
) -> None:
    leave(folder, 10, val_loss=3.0)
    refused = api.get(address(job, "best"))
    assert refused.status_code == 404
    assert "its spec has no checkpoint.keep_best" in refused.json()["message"]


def test_older_ones_of_a_live_job_can_be_deleted(api: APIClient, job: Job, folder: Path) -> None:
    leave(folder, 10)
    leave(folder, 20)
    for start in ("", ".start-2"):  # of parts of a model, and of another start's
        (folder / f"step-000000000010{start}.{'a' * 16}.moments").touch()
    refused = api.delete(address(job, "20"))
    assert (refused.status_code, refused.json()["code"]) == (409, "checkpoint_in_use")
    assert api.delete(address(job, "10")).status_code == 204
    assert steps(api, job) == [20]
    assert api.get(address(job, "10", "weights")).status_code == 404
    assert api.delete(address(job, "10")).status_code == 404
    wished = UnwantedResult.objects.values_list("path", flat=True)
    assert sorted(path.rpartition(".")[2] for path in wished) == ["moments", "pt", "safetensors"]


def test_all_of_an_ended_job_can_be_deleted(api: APIClient, job: Job, folder: Path) -> None:
    leave(folder, 10)
    Job.objects.filter(pk=job.pk).update(state=JobState.COMPLETED)
    assert api.delete(address(job, "latest")).status_code == 204
    assert steps(api, job) == []


def test_another_team_sees_none(foreign_api: APIClient, job: Job, folder: Path) -> None:
    leave(folder, 10)
    for more in ((), ("10",), ("latest", "weights"), ("10", "state")):
        assert foreign_api.get(address(job, *more)).status_code == 404
    assert foreign_api.delete(address(job, "10")).status_code == 404
    assert not UnwantedResult.objects.exists()


def test_a_look_is_at_a_bounded_number_of_names(
    job: Job, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "MOST", 3)
    for step in range(5):
        leave(folder, step)
    results = Results(state_dir=folder.parents[2], job_id=job.id, place=ResultFolder.CHECKPOINTS)
    assert len(list(checkpoints.newest_first(results))) <= 3


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"metric": ""}, "checkpoint.keep_best.metric"),
        ({"metric": "a", "goal": "lowest"}, "checkpoint.keep_best.goal"),
        ({"metric": "a", "n": 0}, "checkpoint.keep_best.n"),
        ({"metric": "a", "n": 101}, "checkpoint.keep_best.n"),
        ({"metric": "a" * 201}, "checkpoint.keep_best.metric"),
        ({}, "checkpoint.keep_best.metric"),
    ],
)
def test_what_is_best_has_bounds(api: APIClient, rule: dict[str, Any], said: str) -> None:
    body = {"name": "a", "command": ["true"], "checkpoint": {"keep_best": rule}}
    answer = api.post("/api/v1/jobs:validate", body, format="json").json()
    assert [problem["field"] for problem in answer["problems"]] == [said]
