"""Which data may a job's spec name, and in which way?"""

from __future__ import annotations

from typing import Any

import pytest
from cluster.docker_host import process_environments
from cluster.docker_host.container import containers, secrets_file
from django.db import transaction
from rest_framework.test import APIClient
from storage.models import DataSource
from tenancy.models import Team

from autoscaler.control_loop.carry_out import start_mounts
from jobs.admission import data_use
from jobs.errors import SpecInvalid
from jobs.models import Job
from jobs.spec.parts import data_uses
from tests.service.conftest import spec


@pytest.fixture(autouse=True)
def imagenet(vision: Team, language: Team) -> DataSource:
    """A source of team vision, beside one of another team."""
    made = {}
    for name, team in (("imagenet", vision), ("theirs", language)):
        made[name] = DataSource.objects.create(name=name, kind="folder", place={"path": "/srv"})
        made[name].teams.add(team)
    return made["imagenet"]


def sent(api: APIClient, *data: dict[str, Any]) -> Any:
    return api.post("/api/v1/jobs", spec(data=list(data)), format="json")


def problem(api: APIClient, *data: dict[str, Any]) -> dict[str, Any]:
    answer = sent(api, *data)
    assert answer.status_code == 422, answer.json()
    (found,) = answer.json()["details"]
    return dict(found)


def test_a_spec_names_data_of_its_team(api: APIClient) -> None:
    use = {"source": "imagenet", "path": "train/", "mount": "/datasets/imagenet"}
    answer = sent(api, use)
    assert answer.status_code == 201, answer.json()
    assert Job.objects.get().resolved_spec["data"] == [{**use, "path": "train", "writable": False}]


def test_a_foreign_source_looks_like_one_that_nobody_has(api: APIClient) -> None:
    foreign, unknown = (problem(api, {"source": name}) for name in ("theirs", "nothing"))
    assert foreign["problem"] == "is not a data source of team vision"
    assert foreign["remedy"] == "Use one of: imagenet."
    assert {**foreign, "value": "nothing"} == unknown


def test_writing_takes_a_source_that_allows_it(api: APIClient, imagenet: DataSource) -> None:
    use = {"source": "imagenet", "writable": True}
    assert problem(api, use)["field"] == "data[0].writable"
    imagenet.is_writable = True
    imagenet.save()
    assert sent(api, use).status_code == 201


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"mount": "/data"}, {}),
        ({"mount": "/srv/a"}, {"mount": "/srv/a/"}),
        ({"mount": "/srv/a/b"}, {"mount": "/srv/a"}),
        ({"mount": "/data/coco"}, {}),
    ],
)
def test_mounts_in_conflict_are_refused_with_both_names(
    api: APIClient, first: dict[str, str], second: dict[str, str]
) -> None:
    found = problem(api, {"source": "imagenet", **first}, {"source": "coco", **second})
    assert found["field"] == "data"
    assert "imagenet at" in found["problem"]
    assert "coco at" in found["problem"]


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ({"mount": "data"}, "is not an absolute path"),
        ({"mount": "/"}, "is in conflict with /checkpoints"),
        ({"mount": "/code/data"}, "is in conflict with /code"),
        ({"mount": "/tmp"}, "is in conflict with /tmp"),  # noqa: S108 - of a container
        ({"mount": "/run"}, "is in conflict with /run/concertina"),
        ({"mount": "/proc/data"}, "where the kernel's own files are"),
        ({"mount": "/data/../etc"}, "is not a plain path"),
        ({"path": "../other"}, "is not a plain path"),
        ({"path": "/train"}, "is not a path in the source"),
        ({"path": "train//a"}, "is not a plain path"),
    ],
)
def test_paths_stay_where_they_belong(api: APIClient, use: dict[str, str], said: str) -> None:
    assert said in problem(api, {"source": "imagenet", **use})["problem"]


def test_a_source_is_named_once(api: APIClient) -> None:
    use = {"source": "imagenet"}
    assert "names imagenet twice" in problem(api, use, {**use, "mount": "/b"})["problem"]


def test_what_the_platform_mounts_is_known() -> None:
    ours = {
        process_environments.CHECKPOINTS,
        process_environments.CODE,
        process_environments.COORDINATOR_STATE,
        process_environments.OUTPUTS,
        process_environments.REPORTS,
        containers.SCRATCH,
        secrets_file.MOUNTED_AT,
        start_mounts.TARGET,
        "/tmp",  # noqa: S108 - of a container
    }
    assert set(data_uses.OURS) == ours


def test_a_source_that_goes_while_a_job_is_submitted_is_refused(
    vision: Team, imagenet: DataSource
) -> None:
    with transaction.atomic():
        data_use.hold(vision, {"imagenet"})
    imagenet.teams.clear()
    with pytest.raises(SpecInvalid) as raised, transaction.atomic():
        data_use.hold(vision, {"imagenet"})
    assert [one.value for one in raised.value.problems] == ["imagenet"]
