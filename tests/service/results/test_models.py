"""Do models keep checkpoints that have a name, tell where they came from, and stay in use?"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient
from storage.models import HeldCheckpoint, ModelVersion, NamedModel
from storage.results import named
from tenancy.models import Team

from autoscaler.control_loop.housekeeping.folders.held_checkpoints import hold_checkpoints
from autoscaler.control_loop.lease.exclusive import exclusively
from autoscaler.control_loop.lease.orders import FencedOrders
from jobs.admission import start_sources
from jobs.admission.team_records import TeamRecords
from jobs.errors import SpecInvalid
from jobs.lifecycle import JobState
from jobs.models import Job
from jobs.spec.job_spec import parse
from tests.left_checkpoints import leave, leave_as_before, weights_of
from tests.service.conftest import SubmitJob, spec

TOMORROW = timedelta(days=1)
MODELS = "/api/v1/teams/vision/models"


@pytest.fixture
def source(settings: Settings, tmp_path: Path, submit: SubmitJob) -> Job:
    """A job with two checkpoints, of steps 10 and 20."""
    settings.CONCERTINA = replace(django_settings.CONCERTINA, state_dir=tmp_path)
    source = submit(name="digits", env={"SIZE": "small"})
    for step in (10, 20):
        folder = tmp_path / "jobs" / source.id / "checkpoints"
        leave(folder, step, weights=weights_of(float(step)), val_loss=step / 100)
    return source


def tick(state_dir: Path) -> None:
    """As far as it is about what is held."""
    now = timezone.now()
    with exclusively(holder="test", now=now) as fence:
        assert fence is not None
        hold_checkpoints(FencedOrders(fence=fence, state_dir=state_dir), now)


def add(api: APIClient, name: str = "digits", **more: Any) -> Any:
    return api.post(f"{MODELS}/{name}/versions", {"job": "digits", **more}, format="json")


def start(api: APIClient, **start: Any) -> Any:
    return api.post("/api/v1/jobs", spec(name="follower", start_from=start), format="json")


def content(answer: Any) -> bytes:
    async def read(pieces: AsyncIterator[bytes]) -> bytes:
        return b"".join([piece async for piece in pieces])

    assert answer.status_code == 200, answer
    return asyncio.run(read(answer.streaming_content))


def test_a_version_tells_how_it_came_to_be(api: APIClient, source: Job) -> None:
    uses = [{"source": "photos", "path": "train"}]
    Job.objects.filter(pk=source.pk).update(
        code="c" * 64,
        data_versions={"photos": "d" * 64},
        resolved_spec={**source.resolved_spec, "data": uses},
    )
    made = add(api, step="10", alias="production", note="For the fair.")
    assert made.status_code == 201, made.json()
    told = made.json()
    assert told.pop("spec")["env"] == {"SIZE": "small"}
    assert told.pop("created_at")
    assert told == {
        "model": "digits",
        "version": 1,
        "aliases": ["production"],
        "state": "storing",
        "job_id": source.id,
        "has_job": True,
        "job_name": "digits",
        "step": 10,
        "epoch": 1.0,
        "metrics": {"val_loss": 0.1},
        "bytes": told["bytes"],
        "weights_bytes": len(weights_of(10.0)),
        "digest": HeldCheckpoint.objects.get().digest,
        "note": "For the fair.",
        "created_by": "vision/ci",
        "code": "c" * 64,
        "sources": [{"name": "photos", "path": "train", "version": "d" * 64}],
    }
    assert api.get(f"{MODELS}/digits/versions/production").json()["spec"]["name"] == "digits"


def test_its_weights_outlive_the_job(api: APIClient, source: Job, tmp_path: Path) -> None:
    add(api)
    address = f"{MODELS}/digits/versions/1/weights"
    early = api.get(address)
    assert (early.status_code, early.json()["code"]) == (409, "model_not_stored")
    tick(tmp_path)
    shutil.rmtree(tmp_path / "jobs" / source.id)
    tick(tmp_path)  # it is for no job, and stays
    source.delete()
    (listed,) = api.get(MODELS).json()["items"]
    assert [(one["state"], one["has_job"]) for one in listed["versions"]] == [("stored", False)]
    assert content(api.get(address)) == weights_of(20.0)
    part = api.get(address, headers={"Range": "bytes=0-7"})
    assert (part.status_code, part["Content-Length"]) == (206, "8")


def test_one_whose_checkpoint_went_too_soon_says_so(
    api: APIClient, source: Job, tmp_path: Path
) -> None:
    add(api)
    shutil.rmtree(tmp_path / "jobs" / source.id)
    tick(tmp_path)
    address = f"{MODELS}/digits/versions/1"
    assert api.get(address).json()["state"] == "lost"
    refused = api.get(f"{address}/weights")
    assert (refused.status_code, refused.json()["code"]) == (409, "model_lost")
    (problem,) = start(api, model="digits").json()["details"]
    assert (problem["field"], problem["problem"][:7]) == ("start_from.model", "is lost")
    assert api.delete(address).status_code == 204


def test_nothing_of_a_checkpoint_is_deleted_before_it_is_stored(
    api: APIClient, source: Job
) -> None:
    add(api, step="10")
    refused = api.delete(f"/api/v1/jobs/{source.id}/checkpoints/10")
    assert (refused.status_code, refused.json()["code"]) == (409, "checkpoint_in_use")
    assert "or for a model" in refused.json()["message"]


def test_an_alias_means_one_version_and_can_be_moved(api: APIClient, source: Job) -> None:
    add(api, step="10", alias="production")
    add(api, step="20")
    address = f"{MODELS}/digits/aliases/production"
    assert api.get(f"{MODELS}/digits/versions/production").json()["version"] == 1
    moved = api.put(address, {"version": "latest"}, format="json").json()
    assert (moved["version"], moved["step"], moved["aliases"]) == (2, 20, ["production"])
    (listed,) = api.get(MODELS).json()["items"]
    assert [one["aliases"] for one in listed["versions"]] == [["production"], []]
    assert api.put(address, {"version": "3"}, format="json").status_code == 404
    assert api.put(f"{address}.", {"version": "1"}, format="json").status_code == 404
    assert [api.delete(address).status_code for _ in range(2)] == [204, 404]
    assert api.get(f"{MODELS}/digits/versions/production").status_code == 404


def test_a_version_in_use_is_not_deleted(api: APIClient, source: Job, tmp_path: Path) -> None:
    add(api, alias="production")
    tick(tmp_path)
    for address in (f"{MODELS}/digits/versions/1", f"{MODELS}/digits"):
        refused = api.delete(address)
        assert (refused.status_code, refused.json()["code"]) == (409, "model_in_use")
        assert "It is production (@1)." in refused.json()["message"]
    api.delete(f"{MODELS}/digits/aliases/production")
    made = start(api, model="digits@1", what="all").json()
    for address in (f"{MODELS}/digits/versions/1", f"{MODELS}/digits"):
        refused = api.delete(address)
        assert f"start from it: follower ({made['id']})." in refused.json()["message"]
    tick(tmp_path)
    Job.objects.filter(pk=made["id"]).update(state=JobState.COMPLETED)
    assert api.delete(f"{MODELS}/digits/versions/1").status_code == 204
    tick(tmp_path)
    assert not list((tmp_path / "jobs" / ".held").iterdir())
    assert not HeldCheckpoint.objects.exists()


def test_no_number_is_given_twice(api: APIClient, source: Job) -> None:
    add(api)
    assert api.delete(f"{MODELS}/digits/versions/latest").status_code == 204
    assert api.get(MODELS).json()["items"][0]["versions"] == []
    assert add(api).json()["version"] == 2
    assert api.delete(f"{MODELS}/digits").status_code == 204
    assert api.get(MODELS).json()["items"] == []
    assert api.delete(f"{MODELS}/digits").status_code == 404


def test_a_job_starts_from_a_model_as_it_is_when_it_is_submitted(
    api: APIClient, source: Job, tmp_path: Path
) -> None:
    add(api, step="10", alias="production")
    add(api, step="20")
    made = start(api, model="digits@production", what="all").json()
    assert made["resolved_spec"]["start_from"] == {
        "job": None,
        "step": None,
        "model": "digits@1",
        "what": "all",
        "skip": [],
    }
    HeldCheckpoint.objects.filter(for_job="").update(due_at=timezone.now() + TOMORROW)
    tick(tmp_path)  # which holds the model's as well, because the job's is of that
    row = HeldCheckpoint.objects.get(for_job=made["id"])
    folder = tmp_path / "jobs" / ".held" / str(row.pk)
    assert sorted(one.name for one in folder.iterdir()) == ["model.safetensors", "training.pt"]
    assert (folder / "model.safetensors").read_bytes() == weights_of(10.0)


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({"model": "none"}, "start_from.model"),
        ({"model": "digits@7"}, "start_from.model"),
        ({"model": "digits@../1"}, "start_from.model"),
        ({"model": "digits@99999999999999999999"}, "start_from.model"),
        ({"model": "@1"}, "start_from.model"),
        ({"model": ""}, "start_from.model"),
        ({"model": "digits", "job": "digits"}, "start_from"),
        ({"model": "digits", "step": 3}, "start_from"),
        ({"what": "all"}, "start_from"),
    ],
)
def test_models_that_are_not_there_are_named(
    api: APIClient, source: Job, wanted: dict[str, Any], field: str
) -> None:
    add(api)
    refused = start(api, **wanted)
    assert refused.status_code == 422
    assert [one["field"] for one in refused.json()["details"]] == [field]


def test_a_model_that_goes_while_a_job_is_submitted_is_not_begun_with(
    api: APIClient, source: Job, vision: Team
) -> None:
    add(api)
    asked = parse(spec(name="follower", start_from={"model": "digits"}))
    _, row = start_sources.settled(asked, TeamRecords(vision))
    assert api.delete(f"{MODELS}/digits/versions/1").status_code == 204
    with transaction.atomic(), pytest.raises(SpecInvalid) as refused:
        start_sources.want([("a", row)])
    assert [one.problem for one in refused.value.problems] == ["has just been deleted"]


@pytest.mark.parametrize(
    ("name", "body", "code"),
    [
        ("Digits", {}, 400),
        ("a_b", {}, 400),
        ("a" * 41, {}, 400),
        ("digits", {"alias": "latest"}, 400),
        ("digits", {"alias": "1"}, 400),
        ("digits", {"note": "a" * 501}, 400),
        ("digits", {"note": "a\0"}, 400),
        ("digits", {"job": "none"}, 400),
        ("digits", {"step": "first"}, 400),
        ("digits", {"step": "15"}, 404),
        ("digits", {"step": "best"}, 404),
    ],
)
def test_what_is_no_model_is_refused(
    api: APIClient, source: Job, name: str, body: dict[str, Any], code: int
) -> None:
    assert add(api, name, **body).status_code == code
    assert not NamedModel.objects.exists()
    assert not HeldCheckpoint.objects.exists()


def test_one_of_an_earlier_release_has_no_weights(
    api: APIClient, source: Job, tmp_path: Path
) -> None:
    leave_as_before(tmp_path / "jobs" / source.id / "checkpoints", 30)
    assert add(api).status_code == 404


@pytest.mark.parametrize("bound", ["MOST_MODELS", "MOST_VERSIONS"])
def test_a_team_has_so_many_and_no_more(
    api: APIClient, source: Job, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(named, bound, 1)
    assert add(api).status_code == 201
    refused = add(api, "others")
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_models")
    assert add(api).status_code == (201 if bound == "MOST_MODELS" else 409)


def test_a_team_keeps_so_much_and_no_more(api: APIClient, source: Job, settings: Settings) -> None:
    add(api)
    most = ModelVersion.objects.get().bytes * 2 - 1
    settings.CONCERTINA = replace(settings.CONCERTINA, team_model_bytes=most)
    refused = add(api)
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_models")
    assert "Team vision keeps" in refused.json()["message"]


def test_a_model_has_so_many_words_and_no_more(
    api: APIClient, source: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(named, "MOST_WORDS", 1)
    assert add(api, alias="a").status_code == 201
    assert add(api, alias="b").status_code == 409
    assert add(api, alias="a").status_code == 201
    assert ModelVersion.objects.count() == 2


def test_a_list_takes_as_many_statements_whatever_is_in_it(
    api: APIClient, source: Job, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for name in ("a", "b", "c"):
        add(api, name, alias="production")
    with django_assert_max_num_queries(6):
        assert len(api.get(MODELS).json()["items"]) == 3


def test_models_are_nobody_elses(foreign_api: APIClient, api: APIClient, source: Job) -> None:
    add(api, alias="production")
    assert foreign_api.get(MODELS).status_code == 404
    assert add(foreign_api).status_code == 404
    for more in ("versions/1", "versions/1/weights"):
        assert foreign_api.get(f"{MODELS}/digits/{more}").status_code == 404
    for more in ("", "/versions/1", "/aliases/production"):
        assert foreign_api.delete(f"{MODELS}/digits{more}").status_code == 404
    theirs = "/api/v1/teams/language/models/digits/versions"
    assert foreign_api.post(theirs, {"job": source.id}, format="json").status_code == 400
    body = spec(name="f", team="language", start_from={"model": "digits"})
    assert foreign_api.post("/api/v1/jobs", body, format="json").status_code == 422


def test_a_teams_models_go_with_it(api: APIClient, source: Job, tmp_path: Path) -> None:
    add(api, alias="production")
    tick(tmp_path)
    NamedModel.objects.all().delete()  # as the database does, and the control loop the rest
    tick(tmp_path)
    assert not HeldCheckpoint.objects.exists()
    assert not list((tmp_path / "jobs" / ".held").iterdir())
