"""Is /data-sources as promised, and does a source show what lies below allowed folders alone?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from pytest_django import Settings
from rest_framework.test import APIClient
from storage.models import DataSource
from tenancy.models import Team

from jobs.lifecycle import JobState
from jobs.models import Job
from tests.service.conftest import SubmitJob, in_docker

SOURCES = "/api/v1/data-sources"


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    """The one below which data may lie."""
    allowed = tmp_path / "datasets"
    (allowed / "imagenet" / "train").mkdir(parents=True)
    settings.CONCERTINA = replace(
        django_settings.CONCERTINA, state_dir=tmp_path / "state", data_folders=(allowed,)
    )
    return allowed


@pytest.fixture
def admin(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_login(admin_user)
    return client


def put(admin: APIClient, path: Path | str, name: str = "imagenet", **more: Any) -> Any:
    body = {"path": str(path), "teams": ["vision"], **more}
    return admin.put(f"{SOURCES}/{name}", body, format="json")


def problem(answer: Any) -> str:
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_source")
    return str(answer.json()["message"])


def test_an_admin_adds_a_source_which_its_teams_see(
    admin: APIClient, api: APIClient, foreign_api: APIClient, folder: Path
) -> None:
    answer = put(admin, folder / "imagenet")
    assert answer.status_code == 201, answer.json()
    (shown,) = api.get(SOURCES).json()["items"]
    assert (shown["name"], shown["kind"]) == ("imagenet", "folder")
    assert shown["path"] == str(folder / "imagenet")
    assert (shown["teams"], shown["is_writable"], shown["jobs_count"]) == (["vision"], False, 0)
    assert foreign_api.get(SOURCES).json() == {"may_change": False, "items": []}
    assert put(admin, folder / "imagenet", teams=["vision", "language"]).status_code == 200
    (foreign,) = foreign_api.get(SOURCES).json()["items"]
    assert foreign["teams"] == ["language"], "with whom else it is shared is not told"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("datasets/imagenet", "Begin it with /"),
        ("/etc", "is not below a folder of data"),
        ("{allowed}/../state", "is not plain"),
        ("{allowed}/elsewhere", "cannot be found"),
        ("{allowed}/file", "is not a folder"),
        ("{allowed}/out", "leads to /etc, out of the folders of data"),
        ("{allowed}/out/ssl", "out of the folders of data"),
        ("{allowed}/circle", "cannot be found"),
    ],
)
def test_only_folders_below_allowed_ones_may_be_sources(
    admin: APIClient, vision: Team, folder: Path, path: str, said: str
) -> None:
    (folder / "out").symlink_to("/etc")
    (folder / "circle").symlink_to(folder / "circle")
    (folder / "file").touch()
    assert said in problem(put(admin, path.format(allowed=folder)))
    assert not DataSource.objects.exists()


def test_a_link_may_lead_to_another_folder_of_data(
    admin: APIClient, vision: Team, folder: Path
) -> None:
    (folder / "newest").symlink_to(folder / "imagenet")
    assert put(admin, folder / "newest").status_code == 201


def test_the_services_own_files_are_no_data(
    admin: APIClient, vision: Team, folder: Path, settings: Settings
) -> None:
    settings.CONCERTINA = replace(settings.CONCERTINA, state_dir=folder / "imagenet" / "state")
    assert "the service's own files" in problem(put(admin, folder / "imagenet"))


def test_without_allowed_folders_there_are_no_sources(
    admin: APIClient, vision: Team, tmp_path: Path
) -> None:
    assert "set CONCERTINA_DATA_FOLDERS" in problem(put(admin, tmp_path))


def test_what_only_nodes_see_is_left_to_them(
    admin: APIClient, vision: Team, settings: Settings, tmp_path: Path
) -> None:
    in_docker(settings)
    settings.CONCERTINA = replace(settings.CONCERTINA, data_folders=(tmp_path / "nfs",))
    assert put(admin, tmp_path / "nfs" / "imagenet").status_code == 201
    (tmp_path / "nfs").mkdir()
    assert "cannot be found" in problem(put(admin, tmp_path / "nfs" / "imagenet"))


def test_what_jobs_write_to_lies_beside_other_sources(
    admin: APIClient, vision: Team, folder: Path
) -> None:
    assert put(admin, folder / "imagenet", "imagenet").status_code == 201
    assert put(admin, folder / "imagenet" / "train", "train").status_code == 201
    said = problem(put(admin, folder, "all", is_writable=True))
    assert "overlaps with source imagenet" in said
    (folder / "scratch").mkdir()
    assert put(admin, folder / "scratch", "scratch", is_writable=True).status_code == 201
    (folder / "alias").symlink_to(folder / "scratch")
    assert "overlaps with source scratch" in problem(put(admin, folder / "alias", "alias"))


def test_names_and_teams_are_checked(admin: APIClient, vision: Team, folder: Path) -> None:
    assert "is not a source's name" in problem(put(admin, folder / "imagenet", "Image Net"))
    unknown = put(admin, folder / "imagenet", teams=["vision", "nobody"])
    assert unknown.status_code == 400
    assert "There is no team 'nobody'." in str(unknown.json())


def test_what_live_jobs_use_stays(
    admin: APIClient, folder: Path, submit: SubmitJob, language: Team
) -> None:
    put(admin, folder / "imagenet")
    job = submit(data=[{"source": "imagenet"}])
    for answer in (
        admin.delete(f"{SOURCES}/imagenet"),
        put(admin, folder / "imagenet" / "train"),
        put(admin, folder / "imagenet", teams=["language"]),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "source_in_use")
        assert f"Live jobs use it: vision/digits ({job.id})." in answer.json()["message"]
    more = put(admin, folder / "imagenet", teams=["vision", "language"], is_writable=True)
    assert more.status_code == 200
    assert more.json()["jobs"] == [{"id": job.id, "name": "digits", "team": "vision"}]
    assert put(admin, folder / "imagenet", is_writable=True).status_code == 409
    Job.objects.update(state=JobState.COMPLETED)
    assert admin.delete(f"{SOURCES}/imagenet").status_code == 204
    assert admin.delete(f"{SOURCES}/imagenet").status_code == 404


def test_jobs_of_other_teams_are_not_shown(
    admin: APIClient, foreign_api: APIClient, folder: Path, submit: SubmitJob
) -> None:
    put(admin, folder / "imagenet", teams=["vision", "language"])
    submit(data=[{"source": "imagenet"}])
    (shown,) = foreign_api.get(SOURCES).json()["items"]
    assert (shown["jobs"], shown["jobs_count"]) == ([], 0)
