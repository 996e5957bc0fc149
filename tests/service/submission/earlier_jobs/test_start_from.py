"""From what may a submitted job start, and what does its spec say of it?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from pytest_django import DjangoAssertNumQueries, Settings
from rest_framework.test import APIClient
from storage.models import HeldCheckpoint

from jobs.lifecycle import JobState
from jobs.models import Job
from tests.left_checkpoints import leave, leave_as_before
from tests.service.conftest import SubmitJob, spec


@pytest.fixture
def source(settings: Settings, tmp_path: Path, submit: SubmitJob) -> Job:
    """A job with three checkpoints, the second of which is the best."""
    settings.CONCERTINA = replace(django_settings.CONCERTINA, state_dir=tmp_path)
    best = {"metric": "val_loss", "n": 1}
    source = submit(name="source", checkpoint={"keep_best": best})
    for step, loss in ((10, 3.0), (20, 1.0), (30, 2.0)):
        leave(tmp_path / "jobs" / source.id / "checkpoints", step, val_loss=loss)
    return source


def sent(api: APIClient, **start: Any) -> Any:
    return api.post("/api/v1/jobs", spec(name="follower", start_from=start), format="json")


def problem(answer: Any) -> tuple[str, str]:
    assert answer.status_code == 422, answer.json()
    (found,) = answer.json()["details"]
    return found["field"], f"{found['problem']} {found['remedy']}"


@pytest.mark.parametrize(("step", "meant"), [("latest", 30), ("best", 20), (10, 10)])
def test_the_spec_says_for_ever_with_which_step_a_job_began(
    api: APIClient, source: Job, step: str | int, meant: int
) -> None:
    made = sent(api, job="source", step=step).json()
    assert made["resolved_spec"]["start_from"] == {
        "job": source.id,
        "step": meant,
        "model": None,
        "what": "weights",
        "skip": [],
    }
    row = HeldCheckpoint.objects.get()
    assert (row.for_job, row.source_job, row.step, row.state) == (
        made["id"],
        source.id,
        meant,
        "wanted",
    )
    assert [*row.names.values()] == ["model.safetensors"]


def test_the_whole_training_is_its_weights_and_the_rest(api: APIClient, source: Job) -> None:
    assert sent(api, job=source.id, what="all").status_code == 201
    assert sorted(HeldCheckpoint.objects.get().names.values()) == [
        "model.safetensors",
        "training.pt",
    ]


def test_of_jobs_of_one_name_the_newest_is_meant(
    api: APIClient, source: Job, submit: SubmitJob
) -> None:
    Job.objects.filter(pk=source.pk).update(state=JobState.COMPLETED)
    newer = submit(name="source")
    field, said = problem(sent(api, job="source"))
    assert field == "start_from.step"
    assert newer.id in said
    assert "The job has no such checkpoint." in said


def test_a_start_that_is_gone_hides_no_other_mistake(api: APIClient, source: Job) -> None:
    """Nor lets it anything through that a live job may not ask for."""
    follower = sent(api, job="source").json()["id"]
    Job.objects.filter(pk=source.pk).delete()
    address = f"/api/v1/jobs/{follower}"
    assert api.patch(address, {"priority": 60}, format="json").status_code == 200
    too_large = {"elastic": {"min_workers": 7, "max_workers": 8}}
    answer = api.patch(address, too_large, format="json")
    assert problem(answer)[0] == "elastic.min_workers"
    both = spec(name="other", start_from={"job": "none"}, **too_large)
    details = api.post("/api/v1/jobs", both, format="json").json()["details"]
    assert [one["field"] for one in details] == ["start_from.job", "elastic.min_workers"]


@pytest.mark.parametrize(
    ("start", "field", "said"),
    [
        ({"job": "none"}, "start_from.job", "neither the id nor the name of a job of team vision"),
        ({"job": "source", "step": 15}, "start_from.step", "is no checkpoint of job source"),
        ({"job": "source", "step": -1}, "start_from.step", ""),
        ({"job": "source", "step": "first"}, "start_from.step", ""),
        ({"job": "source", "what": "optimizer"}, "start_from.what", ""),
        ({"step": 10}, "start_from", "Name the job whose checkpoint it is, or a model"),
        ({"job": ""}, "start_from.job", ""),
        ({"job": "a" * 161}, "start_from.job", ""),
        ({"job": "source", "what": "all", "skip": ["a"]}, "start_from", "Use what: weights"),
        ({"job": "source", "skip": [""]}, "start_from.skip[0]", ""),
        ({"job": "source", "skip": ["a" * 201]}, "start_from.skip[0]", ""),
        ({"job": "source", "skip": ["a"] * 101}, "start_from.skip", ""),
        ({"job": "source", "skip": "head.*"}, "start_from.skip", ""),
        ({"job": "source", "also": 1}, "start_from.also", ""),
    ],
)
def test_what_cannot_be_begun_with_is_refused(
    api: APIClient, source: Job, start: dict[str, Any], field: str, said: str
) -> None:
    found, told = problem(sent(api, **start))
    assert found == field
    assert said in told
    assert not HeldCheckpoint.objects.exists()


def test_jobs_of_other_teams_are_unknown(foreign_api: APIClient, source: Job) -> None:
    for name in ("source", source.id):
        body = spec(name="follower", team="language", start_from={"job": name})
        field, said = problem(foreign_api.post("/api/v1/jobs", body, format="json"))
        assert field == "start_from.job"
        assert "of team language" in said


def test_one_of_an_earlier_release_has_no_weights_to_begin_with(
    api: APIClient, source: Job, tmp_path: Path
) -> None:
    leave_as_before(tmp_path / "jobs" / source.id / "checkpoints", 40)
    field, said = problem(sent(api, job="source"))
    assert field == "start_from.step"
    assert "without plain weights" in said


def test_nothing_of_a_checkpoint_is_deleted_before_it_is_held(api: APIClient, source: Job) -> None:
    assert sent(api, job="source", step=10).status_code == 201
    address = f"/api/v1/jobs/{source.id}"
    refused = api.delete(f"{address}/checkpoints/10")
    assert (refused.status_code, refused.json()["code"]) == (409, "checkpoint_in_use")
    assert "a job that starts from it" in refused.json()["message"]
    Job.objects.filter(pk=source.pk).update(state=JobState.COMPLETED)
    assert api.delete(address).status_code == 409
    HeldCheckpoint.objects.update(state="held")  # as the next tick does
    assert api.delete(f"{address}/checkpoints/10").status_code == 204
    assert api.delete(address).status_code == 204


def test_a_bulk_looks_at_each_checkpoint_once(
    api: APIClient, source: Job, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    jobs = [spec(name=f"a-{n}", start_from={"job": "source", "step": "best"}) for n in range(30)]
    with django_assert_max_num_queries(45):
        answer = api.post("/api/v1/jobs:bulk", {"jobs": jobs}, format="json")
    assert answer.status_code == 201, answer.json()
    assert HeldCheckpoint.objects.filter(step=20).count() == 30
